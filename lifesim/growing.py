"""A plane without bounds: a universe that is put into a larger one before it is too small.

News travels as far in a generation as the rule reaches, one cell by most rules. So where no cell
lives closer than n times that to an edge, n generations are those of a plane without bounds, to the
last cell. They are made, it is looked where cells live now, and so on; where little room is left,
the live cells move to a universe with more room around them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.life.contract import LifeShape, LifeUniverse
from kernels.plane.contract import SIDE, Places
from kernels.signals import undisturbed
from kernels.targets.contract import Target
from kernels.targets.memory import available_memory
from lifesim.counting import block_counts
from lifesim.digests import digest
from lifesim.engines import engine_of
from lifesim.grid import BitGrid, Box, GridError, Words, bytes_of, human_bytes, shape_of
from lifesim.live_box import live_box, part_of, population_of
from lifesim.rule import Rule
from lifesim.states import live_words

COPIES = 4  # of a universe, that a run holds at most: two to step, two to write the result
REFERENCE_COPIES = 40  # of one that the reference runs: a byte a cell, in five arrays
# Cells around what lives, at first: as many as cost about what looking where it is costs.
_ROOM, _DEVICE_ROOM = 96, 512
_SHARE = 16  # ... or this part of its longer side
_COUNTED = 1 << 24  # cells that are looked at together, where they are counted
_LEAST = 24  # generations to make before it is looked again where cells live


class OutgrownError(GridError):
    """A plane without bounds takes more memory than may be taken."""


class Sides(NamedTuple):
    """The numbers of cells to the left of something, above it, to the right and below."""

    left: int
    top: int
    right: int
    bottom: int


def never() -> bool:
    """Return False: nobody asks for a stop."""
    return False


def check_birth(rule: Rule) -> None:
    """Raise GridError for a rule under which empty space comes alive: all of a plane without
    bounds would, which nothing holds."""
    if rule.stays_empty:
        return
    other = None if rule.space_blinks else rule.exchanged
    instead = f", or run {other}, which does the same with both states exchanged" if other else ""
    raise GridError(
        f"{rule} brings empty space to life, which a plane without bounds has no end of: "
        f"give it a size (--size){instead}"
    )


def beat_of(rule: Rule, bounds: tuple[int, int], *, torus: bool) -> int:
    """Return how many generations a universe without bounds is moved on at once: 2 where empty
    space is alive in every odd generation everywhere, so that only even ones can be held; else 1.

    Beside the edges of a plane that has bounds along one axis space is no longer all alike.
    """
    return 2 if rule.space_blinks and (torus or not any(bounds)) else 1


def check_space(
    rule: Rule, bounds: tuple[int, int], *numbers: int | None, torus: bool = False
) -> None:
    """Raise GridError where empty space lives after any of some numbers of generations.

    numbers: None for one that nobody knows before.
    """
    if all(bounds) or rule.stays_empty or not any(count != 0 for count in numbers):
        return
    if beat_of(rule, bounds, torus=torus) == 1:
        check_birth(rule)
    if any(count is None or count % 2 for count in numbers):
        raise GridError(
            f"{rule} has all empty space alive in odd generations, which a plane without bounds "
            f"has no end of: ask for an even number of generations, or give it a size (--size)"
        )


class GrowingUniverse:
    """A universe that has no bounds along one axis or both.

    x, y: coordinates of the top-left cell of `cells`, which is what is held just now, in a
    backend. generation: how many it has been moved on. target: up to which it will be, as
    far as that is known: no more room is made than that takes. updates: of cells, so far.
    beat: generations are made in multiples of so many (beat_of()).
    """

    engine = "dense"
    sets_pace = False

    def __init__(
        self,
        backend: Target,
        grid: BitGrid,
        at: tuple[int, int],
        bounds: tuple[int, int],
        rule: Rule,
        *,
        torus: bool,
        memory: int | None = None,
    ) -> None:
        """Put a grid into a universe without bounds. grid: its top-left cell is put at `at`.
        bounds: width and height, 0 for none; along an axis that has them, grid is as long, and put
        at 0. torus: how bounds meet. memory: bytes that may be taken, by default what is free."""
        for side, length, start in zip(bounds, (grid.width, grid.height), at, strict=True):
            if side and (side, 0) != (length, start):
                raise ValueError(f"{length} cells from {start} on do not fill bounds of {side}")
        self.beat = beat_of(rule, bounds, torus=torus)
        # Where space blinks, edges that meet keep it alike everywhere; nothing comes near them.
        self._torus = torus or self.beat > 1
        self._backend, self._rule, self._memory = backend, rule, memory
        self._reach, self._planes = rule.cells.reach, rule.planes
        self._on_device = backend.free_device_memory() is not None
        self.bounds = bounds
        self.x, self.y = at
        self._before = self.updates = 0
        self.target = 0
        self.cells = self._open(grid.words, grid.width, grid.height)
        self._looked = -1  # the generation of which the box is
        self._box: Box | None = None
        self._grown: tuple[int, Sides] | None = None  # generation and edges of what lived then

    @property
    def made(self) -> dict[str, int]:
        """Return how many generations each engine has made: this one all of them."""
        return {self.engine: self.generation} if self.generation else {}

    @property
    def generation(self) -> int:
        """Return how many generations it has been moved on."""
        return self._before + self.cells.generation

    @property
    def stride(self) -> int:
        """Return how many generations are best made at once."""
        return max(self.beat, self.cells.stride // self.beat * self.beat)

    @property
    def work(self) -> int:
        """Return the number of updates of cells so far."""
        return self.updates + self.cells.generation * self.cells.width * self.cells.height

    def step(self, generations: int, stopped: Callable[[], bool] = never) -> None:
        """Move on, in a larger universe where need be, or less far where stopped() says so.

        Interrupted, it stands at a whole generation. Raises OutgrownError, at a whole
        generation, where there is no memory for a larger universe, and GridError where empty space
        would live.
        """
        check_space(self._rule, self.bounds, generations, torus=self._torus)
        stop = self.generation + generations
        self.target = max(self.target, stop)
        while (left := stop - self.generation) > 0 and not stopped():
            wanted = min(_LEAST, self.target - self.generation)
            if self._safe() < wanted:
                if self._live() is None:
                    self._before += left  # nothing lives, and nothing will
                    self._looked += left
                    return
                if self._safe() < wanted:
                    self._grow(wanted)
            made = min(left, self._safe())
            if self.stride < made < left:
                made -= made % self.stride
            try:
                self.cells.step(made - made % self.beat)
            finally:
                self._end_beat()

    def _end_beat(self) -> None:
        """Make what is left of a beat that was broken off."""
        if self.generation % self.beat:
            with undisturbed():
                self.cells.step(self.beat - self.generation % self.beat)

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        live = self._live()
        return live and Box(self.x + live.x, self.y + live.y, live.width, live.height)

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle; dead where nothing is held."""
        self._end_beat()
        inside = box.common(Box(self.x, self.y, self.cells.width, self.cells.height))
        if inside is None:
            return BitGrid(box.width, box.height, planes=self._planes)
        held = part_of(self.cells, inside._replace(x=inside.x - self.x, y=inside.y - self.y))
        if inside == box:
            return held
        grid = BitGrid(box.width, box.height, planes=self._planes)
        grid.paste(held, inside.x - box.x, inside.y - box.y)
        return grid

    def population(self) -> int:
        """Return the number of live cells."""
        live = self._live()
        return population_of(self.cells, live) if live else 0

    def digest(self, frame: Box) -> str:
        """Return the digest of a rectangle that holds all that lives (lifesim.digests)."""
        return digest(self.part(frame))

    def squares(self) -> None:
        """Return None: the cells are no tree."""

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that its cells take just now."""
        return 2 * bytes_of(self.cells.width, self.cells.height, self._planes)

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks, as PlaneUniverse.counts() does."""
        found = np.zeros(shape, np.float64)
        live = self.box()
        if live is None:
            return found
        rows, columns = shape
        left, top = max(x << level, live.x), max(y << level, live.y)
        right = min(x + columns << level, live.x + live.width)
        bottom = min(y + rows << level, live.y + live.height)
        step = max(1, _COUNTED // max(right - left, 1))
        for first in range(top, bottom if left < right else top, step):
            part = self.part(Box(left, first, right - left, min(step, bottom - first)))
            start = (x << level) - left, (y << level) - first
            blocks = Box(*start, columns << level, rows << level)
            for row, column, live_cells in block_counts(part, blocks, level):
                down, across = live_cells.shape
                found[row : row + down, column : column + across] += live_cells
        return found

    def all_squares(self) -> Iterator[tuple[Places, Words]]:
        """Yield all squares with live cells (kernels.plane.contract), whatever their states."""
        live = self.box() or Box(0, 0, 0, 0)
        first, end = live.x // SIDE, -(-(live.x + live.width) // SIDE)
        for row in range(live.y // SIDE, -(-(live.y + live.height) // SIDE)):
            box = Box(SIDE * first, SIDE * row, SIDE * (end - first), SIDE)
            words = live_words(self.part(box).words)
            columns = np.flatnonzero(words.any(axis=0))
            places = np.stack([columns + first, np.full(len(columns), row)], axis=1)
            yield np.ascontiguousarray(places, np.int64), np.ascontiguousarray(words[:, columns].T)

    def take(self, squares: object) -> None:
        """Raise GridError: a tree is not unfolded here."""
        if self._rule.nine_cells is None:
            raise GridError(
                f"cells that lie too far apart for a rectangle are for rules of two states and "
                f"nine cells, as B3/S23, not {self._rule}"
            )
        raise GridError("a list of squares is for HashLife")

    def _live(self) -> Box | None:
        """Return the box of live cells in `cells`."""
        self._end_beat()
        if self._looked != self.generation:
            box, now = live_box(self.cells), self.generation
            self._box, self._looked = box, now
        return self._box

    def _safe(self) -> int:
        """Return how many generations can be made, as far as is known, before an edge is felt."""
        if self._looked < 0 or self._box is None:
            return 0
        room = min(self._room(self._box)) // self._reach
        return max(0, room - (self.generation - self._looked))

    def _room(self, live: Box) -> list[int]:
        """Return the cells between what lives and the edges that are none."""
        room = []
        if not self.bounds[0]:
            room += [live.x, self.cells.width - live.x - live.width]
        if not self.bounds[1]:
            room += [live.y, self.cells.height - live.y - live.height]
        return room

    def _grow(self, least: int) -> None:
        """Put what lives into a universe with cells around it for at least so many generations."""
        live = self._live()
        assert live
        ahead, least = (self.target - self.generation) * self._reach, least * self._reach
        try:
            self._move(live, Sides(*(min(room, ahead) for room in self._wanted(live))))
        except OutgrownError:
            self._move(live, Sides(least, least, least, least))
        here = self.x, self.y, self.x, self.y
        assert self._box
        self._grown = self.generation, Sides(*map(int.__add__, _edges(self._box), here))

    def _wanted(self, live: Box) -> Sides:
        """Return room for as many generations as there were, at the speed of late; so a pattern
        that goes on growing moves to universes twice as large. What only moves needs no more room
        than before."""
        least = _DEVICE_ROOM if self._on_device else _ROOM
        least = max(least, max(live.width, live.height) // _SHARE, _LEAST * self._reach)
        if self._grown is None or self.generation <= self._grown[0]:
            return Sides(least, least, least, least)
        then, were = self._grown
        here = self.x, self.y, self.x, self.y
        now = Sides(*map(int.__add__, _edges(live), here))
        gone = Sides(
            were.left - now.left,
            were.top - now.top,
            now.right - were.right,
            now.bottom - were.bottom,
        )
        passed = self.generation - then
        grown = (far + min(0, gone[(side + 2) % 4]) for side, far in enumerate(gone))
        return Sides(*(max(least, far * self.generation // passed) for far in grown))

    def _move(self, live: Box, room: Sides) -> None:
        x, width = self._span(0, live.x, live.width, room.left, room.right)
        y, height = self._span(1, live.y, live.height, room.top, room.bottom)
        self._check(width, height)
        words = np.zeros(shape_of(width, height, self._planes), np.uint64)
        first, last = live.x // 64, -(-(live.x + live.width) // 64)
        to = first - x // 64
        cells = part_of(
            self.cells,
            Box(
                64 * first,
                live.y,
                min(self.cells.width, 64 * last) - 64 * first,
                live.height,
            ),
        )
        words[live.y - y : live.y - y + live.height, ..., to : to + last - first] = cells.words
        larger = self._open(words, width, height)
        work, now = self.work, self.generation
        box = Box(live.x - x, live.y - y, live.width, live.height)
        # No call, and so no interrupt, between these.
        self.updates, self._before, self.cells = work, now, larger
        self.x, self.y = self.x + x, self.y + y
        self._box, self._looked = box, now

    def _span(self, axis: int, at: int, length: int, before: int, after: int) -> tuple[int, int]:
        """Return where the larger universe begins, by the coordinates of the one that is, and how
        long it is: columns move by whole words, and devices are quicker with whole groups of four
        of them."""
        if self.bounds[axis]:
            return 0, self.bounds[axis]
        start = at - before
        if axis == 1:
            return start, before + length + after
        start -= start % 64
        least = at + length + after - start
        unit = 256 if self._on_device else 64
        return start, -(-least // unit) * unit

    def _check(self, width: int, height: int) -> None:
        most = available_memory() if self._memory is None else self._memory
        copies = REFERENCE_COPIES if self._backend.is_reference else COPIES
        need = copies * bytes_of(width, height, self._planes)
        if need > most:
            raise OutgrownError(
                f"the pattern has outgrown memory at generation {self.generation}: "
                f"{width}x{height} cells need {human_bytes(need)}, "
                f"{human_bytes(most)} may be taken"
            )

    def _open(self, words: Words, width: int, height: int) -> LifeUniverse:
        return engine_of(self._rule, self._backend).universe(
            words, LifeShape(width, height, self._torus, self._planes), self._rule.cells
        )


def _edges(box: Box) -> Sides:
    return Sides(box.x, box.y, box.x + box.width, box.y + box.height)
