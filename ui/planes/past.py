"""The past of a plane without bounds: seeds, and what is computed from them again."""

from __future__ import annotations

import time
from collections.abc import Callable

from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from ui.cells.machine import Setting
from ui.cells.moments import Entry, Moment, Origin
from ui.cells.past import Past
from ui.cells.vault import Vault
from ui.planes.held import HeldPlane, Seed

_BUDGET = 1 << 29  # bytes of seeds that are kept to be undone to


class PlanePast(Past):
    """The past of a plane.

    A copy of all cells is not taken at every change of a run (`again`).

    _origin: from which what is there now can be computed, and what `spent` of the mover was then.
    """

    def __init__(self, plane: HeldPlane, vault: Vault, report: Callable[[str], None]) -> None:
        """Begin with the plane as it is. report: is told, in one line, what was lost."""
        super().__init__(plane, vault, report)
        self._plane = plane
        self._origin: tuple[Origin, float] | None = None

    def keep_on(self) -> Moment:
        """Return the present moment, with a copy of all cells or an earlier one."""
        spent = self._plane.machine.spent
        if self._origin is None or spent - self._origin[1] > self.again:
            self._origin = self._plane.origin(), spent
        return self.moment(self._origin[0])

    def push(self, entry: Entry) -> None:
        """Add an entry, and forget the oldest where copies take too much memory."""
        super().push(entry)
        undo = self.stacks.undo
        while len(undo) > 1 and _bytes(undo) > _BUDGET:
            del undo[0]

    def write(self, cells: BitGrid, box: Box) -> None:
        """Replace the cells of a box."""
        self._origin = None
        self._plane.write(cells, box)

    def replace(self, origin: Origin, rule: Rule) -> None:
        """Put other cells in the place of all, under a rule. Raises GridError."""
        self._origin = None
        self._plane.plant(origin, rule)

    def _replay(self, moment: Moment, origin: Origin) -> None:
        plane = self._plane
        self.replace(origin, moment.setting.rule)
        spent, began = plane.machine.spent, time.monotonic()
        plane.machine.universe.step(moment.generation - plane.generation)
        plane.machine.spent += time.monotonic() - began
        plane.pictures.changed()
        self._origin = origin, spent

    def _resettle(self, setting: Setting) -> None:
        self.replace(self._plane.seed(), setting.rule)


def _bytes(entries: list[Entry]) -> int:
    seeds = {id(entry.moment.whole): entry.moment.whole for entry in entries}
    return sum(seed.nbytes for seed in seeds.values() if isinstance(seed, Seed))
