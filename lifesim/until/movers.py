"""The parts of a pattern that repeat themselves, each by itself, and move in straight lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from lifesim.engine import Life
from lifesim.grid import BitGrid
from lifesim.rule import Rule
from lifesim.topology import Topology
from lifesim.until.apart import NEAR, Ints, never_near, rectangles

_LARGEST = 1 << 28  # cells of a rectangle in which a part is run
_WHOLE = 1 << 60  # products that are compared stay below
_FINEST = 1 << 24  # parts of a cell, at most
_SWOLLEN = 1 << 10  # cells more than at first, and ...
_TIMES = 16  # ... times as many: what grows so does not repeat itself


class UnprovableError(Exception):
    """Numbers are too large for a proof."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A set of cells that repeats itself, with nothing beside it.

    displacement: in `period` generations. phases: its cells in each of these, as rows (x, y)
    ordered by y, then x, by the least coordinates of the first.
    """

    period: int
    displacement: tuple[int, int]
    phases: tuple[Ints, ...]

    @cached_property
    def populations(self) -> tuple[int, ...]:
        """Return the number of cells in each phase."""
        return tuple(len(cells) for cells in self.phases)

    @cached_property
    def pulse(self) -> int:
        """Return the least period of its number of cells."""
        numbers = self.populations
        for period in range(1, self.period):
            if self.period % period == 0 and numbers[period:] == numbers[:-period]:
                return period
        return self.period

    @cached_property
    def _corners(self) -> Ints:
        """Return least and greatest x and y of each phase, (period, 4)."""
        return np.array([[*cells.min(0), *cells.max(0)] for cells in self.phases], np.int64)

    def envelope(self, unit: int) -> Ints:
        """Return a box that holds it at all times, if moved evenly from the first phase on: least
        and greatest x and y. unit: parts of a cell to measure in, a multiple of the period."""
        step = np.array(self.displacement, np.int64) * (unit // self.period)
        moved = np.arange(self.period)[:, None] * np.concatenate([step, step])
        corners = self._corners * unit - moved
        return np.concatenate([corners[:, :2].min(0), corners[:, 2:].max(0)])


@dataclass(frozen=True, eq=False)
class Mover:
    """A shape, and where its first phase has its least coordinates at generation 0."""

    shape: Shape
    at: tuple[int, int]

    @property
    def moves(self) -> bool:
        """Tell whether it does not stay where it is."""
        return any(self.shape.displacement)

    def cells(self, generation: int) -> Ints:
        """Return its cells, also before generation 0."""
        periods, phase = divmod(generation, self.shape.period)
        moved = np.array(self.at) + periods * np.array(self.shape.displacement)
        cells: Ints = self.shape.phases[phase] + moved
        return cells

    def population(self, generation: int) -> int:
        """Return the number of its cells."""
        return self.shape.populations[generation % self.shape.period]


@dataclass(frozen=True)
class Lines:
    """The straight lines on which movers move.

    unit: parts of a cell in which all is measured. boxes: (n, 4), each holds a mover at all times,
    if moved by its speed from generation 0 on. speeds: (n, 2), in a generation.
    """

    unit: int
    boxes: Ints
    speeds: Ints

    @staticmethod
    def of(movers: Sequence[Mover], more: int = 1) -> Lines:
        """Measure movers. more: the unit is a multiple of it, too. Raises UnprovableError."""
        unit = math.lcm(more, *(mover.shape.period for mover in movers))
        if unit > _FINEST:
            raise UnprovableError
        boxes, speeds = np.zeros((len(movers), 4), np.int64), np.zeros((len(movers), 2), np.int64)
        for row, mover in enumerate(movers):
            boxes[row] = mover.shape.envelope(unit) + unit * np.array([*mover.at, *mover.at])
            speeds[row] = np.array(mover.shape.displacement) * (unit // mover.shape.period)
        lines = Lines(unit, boxes, speeds)
        lines.check(0)
        return lines

    def check(self, generations: int) -> None:
        """Raise UnprovableError where products of what is measured, so many generations away, do
        not fit 64 bits."""
        speed = int(np.abs(self.speeds).max(initial=self.unit))
        place = int(np.abs(self.boxes).max(initial=0)) + (abs(generations) + 1) * speed
        if 8 * place * speed * (abs(generations) + 1) > _WHOLE:
            raise UnprovableError

    def moved(self, generations: int) -> Lines:
        """Return the lines as seen from another generation on."""
        self.check(generations)
        boxes = self.boxes + generations * np.concatenate([self.speeds, self.speeds], axis=1)
        return Lines(self.unit, boxes, self.speeds)

    def meetings(self, breathe: Callable[[], None]) -> list[tuple[int, int]]:
        """Return the pairs that are, or may sometime come, near each other. breathe: is called
        often."""
        found: list[tuple[int, int]] = []
        for i in range(len(self.boxes) - 1):
            breathe()
            near = rectangles(self.boxes[i], self.boxes[i + 1 :], self.unit)
            relative = self.speeds[i] - self.speeds[i + 1 :]
            never = never_near(near, relative, np.zeros(2, np.int64))
            found += [(i, i + 1 + int(j)) for j in np.flatnonzero(~never)]
        return found


class Alone:
    """Runs parts of a pattern with nothing beside them, and remembers what became of them."""

    def __init__(self, rule: Rule, breathe: Callable[[], None]) -> None:
        """Run by a rule, on the CPU. breathe: is called often."""
        self._rule, self.breathe = rule, breathe
        try:
            self._backend, self._engine = pick("cpu", threads=1), "tiles"
        except BackendUnavailableError:
            self._backend, self._engine = pick("reference"), "dense"
        self._known: dict[bytes, tuple[int, Shape | None]] = {}

    def universe(self, cells: Ints) -> Life | None:
        """Return a plane with such cells only; None for one too large."""
        low, high = cells.min(0), cells.max(0)
        width, height = (int(side) + 1 for side in high - low)
        if width * height > _LARGEST:
            return None
        grid = BitGrid(width, height)
        x, y = (cells - low).T
        np.bitwise_or.at(grid.words, (y, x >> 6), np.uint64(1) << (x & 63).astype(np.uint64))
        return Life(
            grid,
            rule=self._rule,
            topology=Topology.PLANE,
            bounds=(0, 0),
            at=(int(low[0]), int(low[1])),
            backend=self._backend,
            engine=self._engine,
        )

    def shape(self, cells: Ints, limit: int) -> Shape | None:
        """Return what cells are, if they repeat themselves in at most `limit` generations."""
        own = cells - cells.min(0)
        key = own.tobytes()
        known = self._known.get(key)
        if known and (known[1] or known[0] >= limit):
            return known[1]
        shape = self._found(own, limit)
        self._known[key] = limit, shape
        return shape

    def _found(self, cells: Ints, limit: int) -> Shape | None:
        phases = [cells]
        for now in self.generations(cells, limit):
            moved = now.min(0) - cells.min(0)
            if len(now) == len(cells) and np.array_equal(now - moved, cells):
                return Shape(len(phases), (int(moved[0]), int(moved[1])), tuple(phases))
            phases.append(now)
        return None

    def generations(self, cells: Ints, limit: int) -> list[Ints] | _Generations:
        """Return the cells after 1, 2, 3 ... generations, at most `limit`, fewer where nothing
        lives any more, or so much that it seems to grow for ever."""
        life = self.universe(cells)
        return [] if life is None else _Generations(life, len(cells), limit, self.breathe)


class _Generations:
    """The generations of a universe that is run alone, one after another."""

    def __init__(self, life: Life, population: int, limit: int, breathe: Callable[[], None]):
        self._life, self._left, self._breathe = life, limit, breathe
        self._most = _SWOLLEN + _TIMES * population

    def __iter__(self) -> _Generations:
        return self

    def __next__(self) -> Ints:
        if not self._left:
            raise StopIteration
        self._left -= 1
        self._breathe()
        self._life.run(1, ahead=self._left)
        cells = self._life.live_cells()
        if not 0 < len(cells) <= self._most:
            raise StopIteration
        return cells


def clusters(cells: Ints) -> list[Ints]:
    """Divide cells into those that do not know of each other in the next generation: no two of
    them are NEAR each other. cells: rows (x, y); rows keep their order."""
    if not len(cells):
        return []
    low, high = cells.min(0), cells.max(0)
    height = int(high[1] - low[1]) + 2 * NEAR + 1
    if height * (int(high[0] - low[0]) + 1) > _WHOLE:
        raise UnprovableError
    keys = (cells[:, 0] - low[0]) * height + cells[:, 1] - low[1]
    order = np.argsort(keys)
    keys = keys[order]
    pairs = []
    for dx in range(NEAR + 1):
        for dy in range(-NEAR if dx else 1, NEAR + 1):
            wanted = keys + dx * height + dy
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            near = np.flatnonzero(keys[at] == wanted)
            pairs.append(np.stack([near, at[near]]))
    labels = np.empty(len(cells), np.int64)
    labels[order] = components(len(cells), np.concatenate(pairs, axis=1))
    order = np.argsort(labels, kind="stable")
    ends = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(cells[order], ends)


def components(count: int, pairs: npt.NDArray[np.int64]) -> Ints:
    """Return a number for each of the things that pairs connect, the same for those connected."""
    labels = np.arange(count)
    while True:
        least = np.minimum(labels[pairs[0]], labels[pairs[1]])
        new = labels.copy()
        for end in pairs:
            np.minimum.at(new, labels[end], least)
            np.minimum.at(new, end, least)
        new = new[new]
        if np.array_equal(new, labels):
            return labels
        labels = new
