"""A universe, and the way that led to it: what changes cells, and takes the changes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from kernels.backend import Backend
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.topology import Topology
from ui.cells.edits import overwrite
from ui.cells.history import History, Kept, Moment, Route, Vault, chunk_rows
from ui.cells.machine import Machine, Setting
from ui.cells.snapshots import Interrupted, Pictures

_WRITTEN, _CELLS = 1000, 4  # parts of a route, and one of so many cells, are written at most


class Timeline:
    """For one thread; pictures may be asked for by any.

    _start: where reset() goes. _edited: says which edits have been made, so that what undo has
    taken back is not taken for something new. _problem: what a person should know.

    All cells of a large universe are not kept at every change of a run: a moment may be
    reached from what was kept before, if the passes between took no longer than _again.
    _route: to what is there now, but for passes since; its cells may be still being kept.
    """

    _again: ClassVar[float] = 1.0  # seconds
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
        self._route: Route | None = None
        self._since = 0.0  # machine.spent where the route began
        self._edited = 0
        self._problem = ""
        self._show(setting)

    def _show(self, setting: Setting) -> None:
        self.width, self.height = setting.width, setting.height
        self.rule, self.topology = setting.rule, setting.topology

    def _moment(
        self, whole: Route | None = None, patches: tuple[tuple[Box, Kept], ...] = ()
    ) -> Moment:
        machine, start = self._machine, self._start
        return Moment(machine.generation, machine.setting, self._edited, start, whole, patches)

    def _whole_moment(self, stopped: Callable[[], bool] = lambda: False) -> Moment:
        """All cells. Raises Interrupted where it is stopped before it is done."""
        while True:
            if stopped():
                raise Interrupted
            moment = self._keep_on()
            if moment:
                return moment

    def _keep_on(self) -> Moment | None:
        """A few milliseconds' work, to be done until all cells are kept: then, the moment.

        Cells may be changed between, but no pass made.
        """
        machine, setting, route = self._machine, self._machine.setting, self._route
        if route is None or not self._is_near(route):
            kept = self._vault.start(setting.width, setting.height)
            self._route = route = Route(kept, machine.generation)
            self._since = machine.spent
        first = route.kept.height_kept
        end = min(first + chunk_rows(setting.width), setting.height)
        if first < end:
            whole = machine.whole()
            if whole:
                route.kept.add(whole.words[first:end])
            else:
                route.kept.add(machine.read(Box(0, first, setting.width, end - first))[0].words)
            self._relieve()
        return self._moment(whole=route) if end == setting.height else None

    def _is_near(self, route: Route, more: int = 0) -> bool:
        """Whether to go on keeping its cells, or to be here again from them if all are kept.

        more: cells that are to be written.
        """
        machine, written = self._machine, route.written
        width, height = machine.setting.width, machine.setting.height
        area = sum((box.width * box.height for _, box, _ in written), more)
        if _CELLS * area > width * height:
            return False
        if route.kept.height_kept < height:
            return route.generation == machine.generation
        small = self._pictures.are_copies
        return not small and machine.spent - self._since < self._again and len(written) < _WRITTEN

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
            self._replay(moment, moment.whole)
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
        self._write(now, hull)
        return other

    def _replay(self, moment: Moment, route: Route) -> None:
        self._route = None
        # All that is kept is read before anything is written.
        cells = route.kept.grid()
        written = [(at, box, kept.grid()) for at, box, kept in route.written]
        if moment.setting != self._machine.setting:
            self._replace(moment.setting, cells, route.generation)
        began = time.monotonic()
        self._machine.replay(cells, route.generation, written, moment.generation)
        took = time.monotonic() - began
        self._route, self._since = route, self._machine.spent - took
        self._pictures.changed()

    def _write(self, cells: BitGrid, box: Box) -> None:
        """Replace a part."""
        machine, route = self._machine, self._route
        if route and self._is_near(route, box.width * box.height):
            part = machine.generation, box, self._kept(cells)
            route = replace(route, written=(*route.written, part))
        else:
            route = None
        self._route = None  # until all is written
        machine.write(cells, box.x, box.y)
        self._route = route
        self._pictures.changed()

    def _rewrite(self, cells: BitGrid, generation: int) -> None:
        """Replace all, and the generation."""
        self._route = None
        self._machine.replay(cells, generation, (), generation)
        self._pictures.changed()

    def _replace(self, setting: Setting, cells: BitGrid, generation: int | None = None) -> None:
        """Another universe in the place of this one, which stays if there is no room."""
        old = self._machine
        if generation is None:
            generation = old.generation
        new = Machine(self._backend, setting, cells.words, generation)
        self._machine, self._route = new, None
        self._pictures.show(new)
        self._show(setting)
        old.close()
