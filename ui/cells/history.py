"""The way that led to a universe as it is: what changes its cells, and takes the changes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from lifesim.grid import BitGrid, Box
from ui.cells.edits import overwrite
from ui.cells.machine import Machine, Setting
from ui.cells.moments import Entry, Moment, Route, UndoStacks
from ui.cells.plane import Plane
from ui.cells.snapshots import Interrupted
from ui.cells.vault import StoredCells, Vault, chunk_rows

_WRITTEN, _CELLS = 1000, 4  # parts of a route, and one of so many cells, are written at most


class History:
    """The moments that a universe has been in, and the only way to write its cells.

    All cells of a large universe are not stored at every change of a run: a moment may be
    computed again from what was stored before, if the passes between took no longer than `again`
    seconds.

    One thread uses it; any may read `edited`.

    start: the moment that reset() goes to. edited: says which edits have been made, so that what
    undo has taken back is not taken for something new. _route: to what is there now, but for
    passes since, on the machine _route_on, where _since of Machine.spent had been spent; its
    cells may be still being stored.
    """

    def __init__(self, plane: Plane, vault: Vault, report: Callable[[str], None]) -> None:
        """Begin with the plane as it is. report: is told, in one line, what was lost."""
        self._plane = plane
        self.vault = vault
        self._report = report
        self.again = 1.0
        self.stacks = UndoStacks()
        self.start: Moment | None = None
        self.edited = self._last_edited = 0
        self._route: Route | None = None
        self._route_on: Machine | None = None
        self._since = 0.0

    @property
    def route(self) -> Route | None:
        """Return the route to what is there now, but for passes since; None where there is none."""
        return self._route if self._route_on is self._plane.machine else None

    def _set_route(self, route: Route | None, since: float | None = None) -> None:
        self._route, self._route_on = route, self._plane.machine
        if since is not None:
            self._since = since

    @property
    def undo_title(self) -> str | None:
        """Return what would be undone, in a few words; None where there is nothing."""
        return self.stacks.undo[-1].title if self.stacks.undo else None

    @property
    def redo_title(self) -> str | None:
        """Return what would be redone, in a few words; None where there is nothing."""
        return self.stacks.redo[-1].title if self.stacks.redo else None

    @property
    def first(self) -> int:
        """Return the first generation that can be gone to."""
        return self.stacks.first(self._plane.generation, self.start)

    def nearest(self, generation: int) -> Moment | None:
        """Return the latest whole moment from which a generation can be reached; None if none."""
        return self.stacks.nearest(generation, self._plane.generation, self.start)

    # --- what is there now -----------------------------------------------------

    def moment(
        self, whole: Route | None = None, patches: tuple[tuple[Box, StoredCells], ...] = ()
    ) -> Moment:
        """Return the present moment, with what is needed to come back to it."""
        plane = self._plane
        return Moment(plane.generation, plane.setting, self.edited, self.start, whole, patches)

    def whole_moment(self, stopped: Callable[[], bool] = lambda: False) -> Moment:
        """Return the present moment with all cells. Raises Interrupted where it is stopped before
        they are stored."""
        while True:
            if stopped():
                raise Interrupted
            moment = self.keep_on()
            if moment:
                return moment

    def keep_on(self) -> Moment | None:
        """Store some of the cells, in a few milliseconds; return the moment once all are stored.

        Cells may be changed between the calls, but no pass made.
        """
        plane, route = self._plane, self.route
        setting = plane.setting
        if route is None or not self._is_near(route):
            stored = self.vault.start(setting.width, setting.height)
            route = Route(stored, plane.generation)
            self._set_route(route, plane.machine.spent)
        first = route.stored.height_kept
        end = min(first + chunk_rows(setting.width), setting.height)
        if first < end:
            route.stored.add(plane.rows(first, end))
            self._relieve()
        return self.moment(whole=route) if end == setting.height else None

    def _is_near(self, route: Route, more: int = 0) -> bool:
        """Tell whether to go on storing its cells, or to be here again from them if all are stored.

        more: cells that are to be written.
        """
        plane, written = self._plane, route.written
        width, height = plane.setting.width, plane.setting.height
        area = sum((box.width * box.height for _, box, _ in written), more)
        if _CELLS * area > width * height:
            return False
        if route.stored.height_kept < height:
            return route.generation == plane.generation
        soon = plane.machine.spent - self._since < self.again
        return not plane.pictures.are_copies and soon and len(written) < _WRITTEN

    def store(self, cells: BitGrid) -> StoredCells:
        """Store cells of a region."""
        stored = self.vault.keep(cells)
        self._relieve()
        return stored

    def _relieve(self) -> None:
        """Forget what was rather than what is, where the disk is full."""
        try:
            self.vault.relieve()
        except OSError as error:
            self.stacks.forget()
            self._report(f"earlier changes cannot be undone any more: {error.strerror or error}")

    # --- what has been done ----------------------------------------------------

    def push(self, entry: Entry) -> None:
        """Add an entry for a run that has ended, or a jump in time."""
        self.stacks.push(entry)

    def push_edit(self, entry: Entry) -> None:
        """Add an entry for cells, a rule or a size that have been changed."""
        self._last_edited += 1
        self.edited = self._last_edited
        self.stacks.push(entry)

    def run_begins(self, before: Moment) -> None:
        """Take note that a run begins at a moment: if that is not after the one that reset() goes
        to, reset() goes there now."""
        if self.start is None or self.start.generation >= before.generation:
            self.start = replace(before, start=None)

    def undo(self) -> bool:
        """Undo the last change; False where there is none. Raises HistoryError where what is to be
        put back is lost."""
        return self._swap(self.stacks.undo, self.stacks.redo)

    def redo(self) -> bool:
        """Redo what was undone last; False where there is nothing. Raises HistoryError as undo()
        does."""
        return self._swap(self.stacks.redo, self.stacks.undo)

    def _swap(self, source: list[Entry], target: list[Entry]) -> bool:
        if not source:
            return False
        entry = source[-1]
        other = self._restore(entry.moment, swap=True)
        # Where the disk is full, all has been forgotten.
        if source and source[-1] is entry:
            source.pop()
            target.append(Entry(entry.title, other))
        return True

    def go_to(self, moment: Moment) -> None:
        """Go to a whole moment; reset() goes where it went before. Raises HistoryError."""
        start = self.start
        self._restore(moment)
        self.start = start

    # --- going to them ---------------------------------------------------------

    def _restore(self, moment: Moment, *, swap: bool = False) -> Moment:
        """Go to a moment. Returns what goes back again, if that is to be kept: else itself."""
        plane, other = self._plane, moment
        if moment.whole:
            if swap:
                other = self.whole_moment()
            self._replay(moment, moment.whole)
        elif moment.setting != plane.setting:
            other = self.moment()
            plane.replace(moment.setting, plane.cells())
        else:
            other = self._swap_patches(moment)
        self.start, self.edited = moment.start, moment.edited
        plane.went_back(moment.generation)
        return other

    def _swap_patches(self, moment: Moment) -> Moment:
        # What is there is read before anything is written, so that nothing is half done.
        old = [(box, stored.grid()) for box, stored in reversed(moment.patches)]
        left = min(box.x for box, _ in old)
        top = min(box.y for box, _ in old)
        right = max(box.x + box.width for box, _ in old)
        bottom = max(box.y + box.height for box, _ in old)
        hull = Box(left, top, right - left, bottom - top)
        now = self._plane.machine.read(hull)[0]
        other = self.moment(patches=((hull, self.store(now)),))
        for box, cells in old:
            overwrite(now, cells, box.x - left, box.y - top)
        self.write(now, hull)
        return other

    def _replay(self, moment: Moment, route: Route) -> None:
        plane = self._plane
        self._set_route(None)
        # All that is stored is read before anything is written.
        cells = route.stored.grid()
        written = [(at, box, stored.grid()) for at, box, stored in route.written]
        if moment.setting != plane.setting:
            plane.replace(moment.setting, cells, route.generation)
        began = time.monotonic()
        plane.replay(cells, route.generation, written, moment.generation)
        took = time.monotonic() - began
        self._set_route(route, plane.machine.spent - took)

    # --- writing ---------------------------------------------------------------

    def write(self, cells: BitGrid, box: Box) -> None:
        """Replace the cells of a box that is held."""
        plane, route = self._plane, self.route
        if route and self._is_near(route, box.width * box.height):
            part = plane.generation, box, self.store(cells)
            route = replace(route, written=(*route.written, part))
        else:
            route = None
        self._set_route(None)  # until all is written
        plane.write(cells, box)
        self._set_route(route)

    def rewrite(self, cells: BitGrid, generation: int) -> None:
        """Replace all cells, and the generation."""
        self._set_route(None)
        self._plane.replay(cells, generation, (), generation)

    def replace(self, setting: Setting, cells: BitGrid, generation: int | None = None) -> None:
        """Put another universe in the place of this one, as Plane.replace() does."""
        self._plane.replace(setting, cells, generation)
