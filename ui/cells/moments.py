"""Values that say what was, and can be again: moments, the routes to them, changes to be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from lifesim.grid import Box
from ui.cells.machine import Setting
from ui.cells.vault import StoredCells
from ui.session import HistoryLine, HistoryLines

_LINES = 500  # of a history that are told of

Patches = tuple[tuple[Box, StoredCells], ...]


class Origin(Protocol):
    """The cells of a generation, all of them, from which those of later ones are computed."""

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that they take."""


@dataclass(frozen=True, slots=True)
class Route:
    """A way to compute all cells of a moment: from the cells of an earlier generation.

    stored: all cells of `generation`. written: what was written over them on the way, each with
    the generation in which that was done.
    """

    stored: StoredCells
    generation: int
    written: tuple[tuple[int, Box, StoredCells], ...] = ()

    @property
    def nbytes(self) -> int:
        """Return the bytes of all cells, of those that are in memory."""
        return self.stored.nbytes


@dataclass(frozen=True, slots=True)
class Moment:
    """A generation of a universe, and what it takes to be in it again.

    whole: the way to all cells; or patches: the cells that were changed since, of which the last
    are put back first. start: the moment that reset() goes to from here. edited: the number of
    the edits that have been made: equal numbers are equal cells, but for generations.
    """

    generation: int
    setting: Setting
    edited: int
    start: Moment | None = None
    whole: Origin | None = None
    patches: Patches = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A change that can be undone or redone, by going to `moment`.

    It holds one side of the change only: undoing it takes the other side, so that the entry can
    then be redone, and the other way round. number: strokes of one number are one change; 0 is
    none.
    """

    title: str
    moment: Moment
    number: int = 0


@dataclass(slots=True)
class UndoStacks:
    """Two stacks, of what can be undone and what can be redone; the last entries are next.

    One thread uses them.
    """

    undo: list[Entry] = field(default_factory=list)
    redo: list[Entry] = field(default_factory=list)

    def push(self, entry: Entry) -> None:
        """Add what has been done; what had been undone cannot be redone any more."""
        self.redo.clear()
        last = self.undo[-1] if self.undo else None
        if last and entry.number and last.number == entry.number:
            patches = (*last.moment.patches, *entry.moment.patches)
            moment = replace(last.moment, patches=patches)
            self.undo[-1] = Entry(entry.title, moment, entry.number)
        else:
            self.undo.append(entry)

    def forget(self) -> None:
        """Drop all entries."""
        self.undo.clear()
        self.redo.clear()

    def lines(self, now: int, run: Sequence[tuple[str, int]] = ()) -> HistoryLines:
        """Return what the stacks hold, for people. now: the generation of now. run: title and first
        generation of a run that is under way."""
        done = [(entry.title, entry.moment.generation) for entry in self.undo[-_LINES:]]
        done += run
        ends = [start for _, start in done[1:]] + [now] * bool(done)
        return HistoryLines(
            done[0][1] if done else now,
            tuple(HistoryLine(title, end) for (title, _), end in zip(done, ends, strict=True)),
            tuple(
                HistoryLine(entry.title, entry.moment.generation)
                for entry in reversed(self.redo[-_LINES:])
            ),
        )

    def nearest(self, generation: int, now: int, start: Moment | None) -> Moment | None:
        """Return the latest whole moment on the way to now that is not after a generation."""
        known = [entry.moment for entry in reversed(self.undo) if entry.moment.whole]
        for moment in (*known, *([start] if start else [])):
            # Whoever went back in time has left the way at what was later than that.
            if moment.generation <= now:
                if moment.generation <= generation:
                    return moment
                now = moment.generation
        return None

    def first(self, now: int, start: Moment | None) -> int:
        """Return the least generation that nearest() finds a moment for, or now."""
        known = [entry.moment for entry in reversed(self.undo) if entry.moment.whole]
        return min([now, *(m.generation for m in known), *([start.generation] if start else [])])
