"""A universe in memory that pages look at, run and change: somebody's Life."""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.kept import Kept
from lifesim.rule import Rule
from lifesim.tree.picture import TreePicture
from ui.cells.edits import Stroke, overwrite
from ui.picture.coloured import as_coloured, source_of
from ui.picture.sources import Levels, MemorySource, PictureSource
from ui.web.board import Board, BoardError, Facts, Shot, said
from ui.web.orders import PageOrder

_PICTURES = 1 / 40  # seconds between two pictures of a run
_WATCHING = 0.2  # seconds between two looks whether somebody else has changed it
_BUDGET = 256 << 20  # bytes of pictures that are kept, and as many of what can be undone
_SHOTS, _UNDOS = 16, 64  # of each, at most
_LONGEST = 1 << 13  # cells of a line that is drawn at once, and a side of what holds it
_DRAWN = 1 << 28  # cells of a plane that is drawn on, at most
_CLOSING = 0.1  # seconds
_FURTHEST = 1 << 320  # cells from the origin; a multiple of what any pixel shows
_WORD = 64


Moment = tuple[int, int]  # generation and changes of a Life: what tells one picture from another


class _Seen(NamedTuple):
    """Pictures, with the frame and the moment that they are of."""

    shot: Shot
    frame: Box
    moment: Moment


class LivingFarSource:
    """A source of cells that lie too far apart for a rectangle. Its cells are counted from a corner
    that is further out than anything lives."""

    width = height = 2 * _FURTHEST
    at = -_FURTHEST, -_FURTHEST

    def __init__(self, kept: Kept) -> None:
        """Draw the squares of what is kept."""
        self._picture = TreePicture(kept.squares)
        self.generation = kept.generation

    def levels(self, box: Box, scale: int) -> Levels:
        """Return how densely cells live, as PictureSource.levels() does."""
        here = box._replace(x=box.x - _FURTHEST, y=box.y - _FURTHEST)
        return self._picture.levels(here, scale)


def source_of_kept(kept: Kept, rule: Rule) -> PictureSource:
    """Return what pictures of cells are drawn from. Its corner is at whole words, so that pixels of
    up to 64 cells a side stay where they are while a plane grows. Those of more cells may be moved
    by less than a pixel."""
    if kept.squares is not None:
        return LivingFarSource(kept)
    (x, y), grid = kept.at, kept.grid
    right, down = x % _WORD, y % _WORD
    if right or down:
        grid = BitGrid(grid.width + right, grid.height + down, planes=grid.planes)
        grid.paste(kept.grid, right, down)
    return source_of(grid, rule, kept.generation, at=(x - right, y - down))


class LifeBoard(Board):
    """A Life that is shown, and run by a thread of its own while a page plays it.

    Whoever else has the Life may run it, too: a thread looks for that. A step or a run is no entry
    of what can be undone: to undo a change goes back to the generation of the change.
    """

    def __init__(self, life: Life, name: str = "", *, draws: bool = True) -> None:
        """Show a universe, which stays the caller's. draws: whether cells may be changed."""
        super().__init__()
        self.life = life
        self._name, self._draws = name, draws
        self._looking = threading.Lock()  # of who makes pictures, which may wait for a step
        self._lock = threading.Lock()  # of the pictures that there are
        self._ordering = threading.Lock()  # of who starts and stops runs
        self._shots: OrderedDict[int, _Seen] = OrderedDict()
        self._undos: deque[tuple[int, Kept]] = deque()
        self._first: Kept | None = None
        self._speed, self._problem = 1, ""
        self._plays = False  # whether the run under way has no end
        self._stop = threading.Event()
        self._runner: threading.Thread | None = None
        self._closed = closed = threading.Event()
        seen = self._look().moment
        watcher = threading.Thread(
            target=_watch,
            args=(weakref.ref(self), closed, seen),
            name="life-watching",
            daemon=True,
        )
        watcher.start()
        self._threads = [watcher]
        weakref.finalize(self, _end, closed, self._threads)  # at the end of the process, too

    # --- what is seen ----------------------------------------------------------

    def facts(self) -> Facts:
        """Return the facts of now."""
        shot, frame, (generation, _) = self._look()
        source, life = shot.source, self.life
        coloured = as_coloured(source)
        return Facts(
            version=shot.version,
            generation=generation,
            population=source.population if isinstance(source, MemorySource) else None,
            box=frame,
            bounded=all(life.bounds),
            rule=str(life.rule),
            states=life.rule.states,
            dead=tuple(coloured.colours[0].tolist()) if coloured else None,
            name=self._name,
            running=self.is_running,
            speed=self._speed,
            plays=True,
            draws=self._draws,
            undo=bool(self._undos),
            problem=self._problem,
        )

    @property
    def is_running(self) -> bool:
        """Tell whether generations are being made for a page."""
        runner = self._runner
        return runner is not None and runner.is_alive() and not self._stop.is_set()

    def shot(self, version: int) -> Shot:
        """Return the pictures of a version, or of the newest one. Those that there are do not wait
        for a step that is just being made."""
        with self._lock:
            found = self._shots.get(version)
        return (found or self._look()).shot

    def _moment(self) -> Moment:
        return self.life.generation, self.life.changes

    def _look(self) -> _Seen:
        """Return the newest pictures, made anew if there is something else to be seen."""
        with self._looking:
            with self._lock:
                newest = next(reversed(self._shots.values()), None)
            if newest and newest.moment == self._moment():
                return newest
            changes = self.life.changes  # asked first: what changes now is looked at once more
            kept = self.life.whole()
            width, height = self.life.bounds
            frame = Box(*kept.at, width or kept.grid.width, height or kept.grid.height)
            if kept.squares is not None:
                frame = self.life.frame()
            version = newest.shot.version + 1 if newest else 1
            shot = Shot(version, source_of_kept(kept, self.life.rule))
            made = _Seen(shot, frame, (kept.generation, changes))
            self._keep(made, 2 * kept.nbytes + 1)
            return made

    def _keep(self, made: _Seen, size: int) -> None:
        """Keep pictures beside those made last, as far as they fit. size: of these, in bytes."""
        least = 2 if size <= _BUDGET else 1
        with self._lock:
            self._shots[made.shot.version] = made
            while len(self._shots) > max(least, min(_SHOTS, _BUDGET // size)):
                self._shots.popitem(last=False)

    def notice(self, seen: Moment) -> Moment:
        """Tell of what others have made of the universe. seen: the moment that was seen last.
        Returns the one of now."""
        now = self._moment()
        if now != seen and not self.is_running:
            self.tell()
        return now

    # --- what is asked ---------------------------------------------------------

    def do(self, order: PageOrder) -> None:
        """Do what a page asks for."""
        if order.do in ("draw", "undo") and not self._draws:
            raise BoardError("this universe is shown read only: --edit allows to draw")
        with self._ordering:
            self._problem = ""
            match order.do:
                case "play":
                    self._run(None)
                case "pause":
                    self._pause()
                case "step":
                    self._run(self._checked(order.count))
                case "speed":
                    self._speed = self._checked(order.count)
                case "draw":
                    self._draw(order)
                case "undo":
                    self._undo()
                case "reset":
                    self._reset()
        self.tell()

    def _checked(self, count: int) -> int:
        most = 1 << 60 if self.life.leaps else 1 << 20
        if count > most:
            raise BoardError(f"1 to {most:,} generations at once, not {count:,}")
        return count

    def _run(self, generations: int | None) -> None:
        """Run so many generations, or until it is stopped."""
        if generations is None and self._plays and self.is_running:
            return
        self._pause()
        self._plays = generations is None
        if self._first is None:
            self._first = self.life.whole()
        self._stop = stop = threading.Event()
        self._runner = threading.Thread(
            target=self._work, args=(generations, stop), name="life-running", daemon=True
        )
        self._threads[1:] = [self._runner]
        self._runner.start()

    def _pause(self) -> None:
        """Stop the run under way, and wait for its last generation."""
        self._stop.set()
        if self._runner is not None:
            self._runner.join()

    def _work(self, generations: int | None, stop: threading.Event) -> None:
        try:
            due = time.monotonic()
            while not (stop.is_set() or self._closed.is_set()):
                self.life.run(generations or self._speed, stopped=self._is_stopped(stop))
                if generations is not None:
                    break
                self.tell()
                due = max(due + _PICTURES, time.monotonic())
                stop.wait(due - time.monotonic())
        except (LifesimError, MemoryError) as error:
            self._problem = said(error)
        finally:
            stop.set()
            self.tell()

    def _is_stopped(self, stop: threading.Event) -> Callable[[], bool]:
        return lambda: stop.is_set() or self._closed.is_set()

    def _reset(self) -> None:
        self._pause()
        first = self._first
        if first is not None:
            self.life.change(lambda now: first)
            self._undos.clear()

    # --- drawing ---------------------------------------------------------------

    def _draw(self, order: PageOrder) -> None:
        """Set the cells of a line."""
        stroke = Stroke(order.points, order.state, order.stroke)
        rule, bounds = self.life.rule, self.life.bounds
        kept: list[Kept] = []

        def drawn(now: Kept) -> Kept:
            kept[:] = now, drawn_on(now, stroke, rule, bounds)
            return kept[1]

        plays = self.is_running and self._plays
        self._pause()  # or a long run would have to end first
        try:
            self.life.change(drawn)
            before, after = kept
            if after is not before:
                self._remember(order.stroke, before)
        finally:
            if plays:
                self._run(None)

    def _remember(self, stroke: int, before: Kept) -> None:
        """Take note of a change that can be undone. before: the cells before it."""
        self._begin_here(before.generation)
        last = self._undos[-1][0] if self._undos else 0
        if not stroke or stroke != last:
            self._undos.append((stroke, before))
        size = before.nbytes + 1
        while len(self._undos) > max(1, min(_UNDOS, _BUDGET // size)):
            self._undos.popleft()

    def _undo(self) -> None:
        if not self._undos:
            raise BoardError("there is nothing to undo")
        self._pause()
        _, before = self._undos[-1]
        self.life.change(lambda now: before)
        self._undos.pop()  # only now: there may be no memory for a change
        self._begin_here(before.generation)

    def _begin_here(self, generation: int) -> None:
        """Let the next run begin anew what Reset goes back to, where this generation has been
        changed and is not later than that."""
        if self._first is not None and generation <= self._first.generation:
            self._first = None

    def close(self) -> None:
        """Stop the run; a thread that does not end soon is left to end by itself."""
        self._stop.set()
        _end(self._closed, self._threads)


def _watch(board: weakref.ref[LifeBoard], closed: threading.Event, seen: Moment) -> None:
    """Look whether others move a board's universe on or change it, as long as there is the board.
    seen: the moment of the beginning."""
    while not closed.wait(_WATCHING):
        shown = board()
        if shown is None:
            return
        seen = shown.notice(seen)
        del shown


def _end(closed: threading.Event, threads: list[threading.Thread]) -> None:
    """Ask threads to end, and wait for them, but not long."""
    closed.set()
    for thread in tuple(threads):
        if thread is not threading.current_thread():
            thread.join(_CLOSING / len(threads))


def drawn_on(kept: Kept, stroke: Stroke, rule: Rule, bounds: tuple[int, int]) -> Kept:
    """Return the cells with those of a stroke, in a larger grid where a plane has no bounds. Where
    that changes nothing what is kept is returned itself.

    Raises GridError for a stroke that is too long, cells too far apart for a grid, and a state that
    the rule does not have.
    """
    if kept.squares is not None:
        raise GridError("cells so far apart can be looked at, but not drawn on")
    x, y = kept.at
    held = Box(x, y, kept.grid.width, kept.grid.height)
    points = stroke.points
    if not points:
        return kept
    left, right = min(p[0] for p in points), max(p[0] for p in points)
    top, bottom = min(p[1] for p in points), max(p[1] for p in points)
    if max(right - left, bottom - top) >= _LONGEST:
        raise GridError(f"what is drawn at once is at most {_LONGEST:,} cells wide and high")
    steps = (max(abs(x1 - x0), abs(y1 - y0)) for (x0, y0), (x1, y1) in pairwise(points))
    if sum(steps) > _LONGEST:  # a line may go to and fro
        raise GridError(f"a line that is drawn at once has at most {_LONGEST:,} cells")
    # Along an axis without bounds there is room for the line.
    x0, x1 = (
        (held.x, held.x + held.width)
        if bounds[0]
        else (
            min(held.x, left),
            max(held.x + held.width, right + 1),
        )
    )
    y0, y1 = (
        (held.y, held.y + held.height)
        if bounds[1]
        else (
            min(held.y, top),
            max(held.y + held.height, bottom + 1),
        )
    )
    cells = kept.grid
    if (x0, y0, x1 - x0, y1 - y0) != held:
        if (x1 - x0) * (y1 - y0) > _DRAWN:
            raise GridError("that is too far from what lives")
        cells = BitGrid(x1 - x0, y1 - y0, planes=kept.grid.planes)
        cells.paste(kept.grid, held.x - x0, held.y - y0)
    box = stroke.box(cells.width, cells.height, x0, y0)
    if box is None:
        return kept
    inner = box._replace(x=box.x - x0, y=box.y - y0)
    before = cells.crop(inner)
    after = stroke.apply(before, box, rule)
    if after == before:
        return kept
    changed = cells.copy() if cells is kept.grid else cells
    overwrite(changed, after, inner.x, inner.y)
    return replace(kept, grid=changed, at=(x0, y0))
