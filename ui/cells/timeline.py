"""A universe, and the way that led to it: what changes cells, and takes the changes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernels.backend import Backend
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.edits import overwrite
from ui.cells.history import History, Kept, Moment, Vault, chunk_rows
from ui.cells.machine import Machine, Setting
from ui.cells.snapshots import Interrupted, Pictures


@dataclass(slots=True)
class Keeping:
    """All cells while they are being kept: so many rows are."""

    kept: Kept
    rows: int = 0


class Timeline:
    """For one thread; pictures may be asked for by any.

    _start: where reset() goes. _edited: says which edits have been made, so that what undo has
    taken back is not taken for something new. _problem: what a person should know.
    """

    width: int
    height: int
    rule: Rule
    topology: Topology

    def __init__(
        self,
        backend: Backend,
        setting: Setting,
        cells: BitGrid,
        generation: int,
        budget: int | None,
        small: int,
    ) -> None:
        self._backend = backend
        self._machine = Machine(backend, setting, cells.words, generation)
        self._pictures = Pictures(self._machine, small)
        self._vault = Vault(budget)
        self._history = History()
        self._start: Moment | None = None
        self._edited = 0
        self._problem = ""
        self._show(setting)

    def _show(self, setting: Setting) -> None:
        self.width, self.height = setting.width, setting.height
        self.rule, self.topology = setting.rule, setting.topology

    def _moment(
        self, whole: Kept | None = None, patches: tuple[tuple[Box, Kept], ...] = ()
    ) -> Moment:
        machine, start = self._machine, self._start
        return Moment(machine.generation, machine.setting, self._edited, start, whole, patches)

    def _whole_moment(self, stopped: Callable[[], bool] = lambda: False) -> Moment:
        """All cells. Raises Interrupted where it is stopped before it is done."""
        keeping = self._keep()
        while True:
            if stopped():
                raise Interrupted
            moment = self._keep_on(keeping)
            if moment:
                return moment

    def _keep(self) -> Keeping:
        """All cells, if _keep_on() is called for it as long as it returns None, and nothing
        changes between."""
        setting = self._machine.setting
        return Keeping(self._vault.start(setting.width, setting.height))

    def _keep_on(self, keeping: Keeping) -> Moment | None:
        """A few milliseconds' work; the moment when all is done."""
        setting, first = self._machine.setting, keeping.rows
        keeping.rows = min(first + chunk_rows(setting.width), setting.height)
        whole = self._machine.whole()
        if whole:
            keeping.kept.add(whole.words[first : keeping.rows])
        else:
            box = Box(0, first, setting.width, keeping.rows - first)
            keeping.kept.add(self._machine.read(box)[0].words)
        self._relieve()
        return self._moment(whole=keeping.kept) if keeping.rows == setting.height else None

    def _kept(self, cells: BitGrid) -> Kept:
        kept = self._vault.keep(cells)
        self._relieve()
        return kept

    def _relieve(self) -> None:
        """Where the disk is full, what was is forgotten rather than what is."""
        try:
            self._vault.relieve()
        except OSError as error:
            self._history.forget()
            self._problem = f"earlier changes cannot be undone any more: {error.strerror or error}"

    # --- going to them ---------------------------------------------------------

    def _restore(self, moment: Moment, *, swap: bool = False) -> Moment:
        """Go to a moment. Returns what goes back again, if that is to be kept: else itself."""
        machine, other = self._machine, moment
        if moment.whole:
            if swap:
                other = self._whole_moment()
            cells = moment.whole.grid()
            if moment.setting == machine.setting:
                self._write(cells, 0, 0, moment.generation)
            else:
                self._replace(moment.setting, cells, moment.generation)
        elif moment.setting != machine.setting:
            other = self._moment()
            self._replace(moment.setting, machine.whole() or machine.read(machine.setting.box)[0])
        else:
            other = self._swap_patches(moment)
        self._start, self._edited = moment.start, moment.edited
        return other

    def _swap_patches(self, moment: Moment) -> Moment:
        # What is there is read before anything is written, so that nothing is half done.
        old = [(box, kept.grid()) for box, kept in reversed(moment.patches)]
        left = min(box.x for box, _ in old)
        top = min(box.y for box, _ in old)
        right = max(box.x + box.width for box, _ in old)
        bottom = max(box.y + box.height for box, _ in old)
        hull = Box(left, top, right - left, bottom - top)
        now = self._machine.read(hull)[0]
        other = self._moment(patches=((hull, self._kept(now)),))
        for box, cells in old:
            overwrite(now, cells, box.x - left, box.y - top)
        self._write(now, left, top)
        return other

    def _write(self, cells: BitGrid, x: int, y: int, generation: int | None = None) -> None:
        self._machine.write(cells, x, y, generation)
        self._pictures.changed()

    def _replace(self, setting: Setting, cells: BitGrid, generation: int | None = None) -> None:
        """Another universe in the place of this one, which stays if there is no room."""
        old = self._machine
        if generation is None:
            generation = old.generation
        new = Machine(self._backend, setting, cells.words, generation)
        self._machine = new
        self._pictures.show(new)
        self._show(setting)
        old.close()
