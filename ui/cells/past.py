"""The way that led to a universe as it is, and the way back, however its cells are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from lifesim.grid import BitGrid, Box
from ui.cells.edits import overwrite
from ui.cells.held import Held
from ui.cells.machine import Setting
from ui.cells.moments import Entry, Moment, Origin, Patches, UndoStacks
from ui.cells.snapshots import Interrupted
from ui.cells.vault import StoredCells, Vault


class Past(ABC):
    """The moments that a universe has been in, and the only way to write its cells.

    One thread uses it; any may read `edited`.

    start: the moment that reset() goes to. edited: says which edits have been made, so that what
    undo has taken back is not taken for something new. again: a moment may be computed again from
    what was stored before, if the passes between took fewer seconds.
    """

    def __init__(self, held: Held, vault: Vault, report: Callable[[str], None]) -> None:
        """Begin with the cells as they are. report: is told, in one line, what was lost."""
        self._held = held
        self.vault = vault
        self._report = report
        self.stacks = UndoStacks()
        self.start: Moment | None = None
        self.edited = self._last_edited = 0
        self.again = 1.0

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
        return self.stacks.first(self._held.generation, self.start)

    def nearest(self, generation: int) -> Moment | None:
        """Return the latest whole moment from which a generation can be reached; None if none."""
        return self.stacks.nearest(generation, self._held.generation, self.start)

    # --- what is there now -----------------------------------------------------

    def moment(self, whole: Origin | None = None, patches: Patches = ()) -> Moment:
        """Return the present moment, with what is needed to come back to it."""
        held = self._held
        return Moment(held.generation, held.setting, self.edited, self.start, whole, patches)

    def whole_moment(self, stopped: Callable[[], bool] = lambda: False) -> Moment:
        """Return the present moment with all cells. Raises Interrupted where it is stopped before
        they are stored."""
        while True:
            if stopped():
                raise Interrupted
            moment = self.keep_on()
            if moment:
                return moment

    @abstractmethod
    def keep_on(self) -> Moment | None:
        """Store some of the cells, in a few milliseconds; return the moment once all are stored.

        Cells may be changed between the calls, but no pass made.
        """

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
        self.push(entry)

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
        held, other = self._held, moment
        if moment.whole:
            if swap:
                other = self.whole_moment()
            self._replay(moment, moment.whole)
        elif moment.setting != held.setting:
            other = self.moment()
            self._resettle(moment.setting)
        else:
            other = self._swap_patches(moment)
        self.start, self.edited = moment.start, moment.edited
        held.went_back(moment.generation)
        return other

    @abstractmethod
    def _replay(self, moment: Moment, origin: Origin) -> None:
        """Go to a moment by the way to all its cells."""

    @abstractmethod
    def _resettle(self, setting: Setting) -> None:
        """Have the same cells be under another rule, or have other edges."""

    def _swap_patches(self, moment: Moment) -> Moment:
        # What is there is read before anything is written, so that nothing is half done.
        old = [(box, stored.grid()) for box, stored in reversed(moment.patches)]
        hull = reduce(Box.joined, (box for box, _ in old))
        now = self._held.region(hull)
        other = self.moment(patches=((hull, self.store(now)),))
        for box, cells in old:
            overwrite(now, cells, box.x - hull.x, box.y - hull.y)
        self.write(now, hull)
        return other

    # --- writing ---------------------------------------------------------------

    @abstractmethod
    def write(self, cells: BitGrid, box: Box) -> None:
        """Replace the cells of a box that is held."""
