"""A plane in an engine that holds no rectangle, as the parts of a session move and change it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernels.plane.contract import SIDE, Places
from kernels.plane.hashlife.listing import SquareList
from lifesim.grid import BitGrid, Box, GridError, Words, check_size
from lifesim.rule import Rule
from lifesim.squares import live_cells
from lifesim.topology import Topology
from ui.cells.commands import CommandThread
from ui.cells.edits import overwrite
from ui.cells.machine import SLICE, Setting
from ui.cells.moments import Origin
from ui.numbers import shortened
from ui.planes.pictures import FURTHEST, PlanePictures
from ui.planes.universe import SeenUniverse
from ui.session import SessionError

_GRACE = 0.1  # seconds that a stride has before it is broken off for a picture
_SLOW = 5  # times as long as a slice may take, before fewer generations are made in one
_LONGEST = 1 << 40  # generations
_BAND = 1 << 25  # cells that are written at once
_MOST_POURED = 1 << 32  # live cells that are moved to another engine one by one
_MOST_KEPT = 1 << 30  # bytes of a plane of which a copy is kept to come back to


@dataclass(frozen=True, slots=True, eq=False)
class Seed:
    """The cells of a plane at a generation, all of them, to begin from again.

    tree: as a list of squares; else squares: places and words of 64 x 64 cells, as
    kernels.plane.contract has them.
    """

    generation: int
    tree: SquareList | None = None
    squares: tuple[tuple[Places, Words], ...] = ()

    @property
    def nbytes(self) -> int:
        """Return the bytes of its arrays."""
        tree = self.tree
        listed = tree.levels.nbytes + tree.children.nbytes + tree.leaves.nbytes if tree else 0
        return listed + sum(places.nbytes + words.nbytes for places, words in self.squares)


@dataclass(frozen=True, slots=True)
class Lost:
    """Cells that were too many to keep a copy of."""

    generation: int
    nbytes: int = 0


class PlaneMover:
    """Moves a plane on. One thread uses it.

    seconds: spent on steps lately. updates: 0, as nobody counts the cells that an engine updates.
    spent: all seconds.
    """

    def __init__(self, universe: SeenUniverse, generation: int) -> None:
        """Begin with a plane that is at a generation."""
        self._universe: SeenUniverse | None = universe
        self._first = generation - universe.generation
        self._last_engine = universe.engine
        self._span = 1
        self.seconds, self.updates, self.spent = 0.0, 0.0, 0.0

    @property
    def universe(self) -> SeenUniverse:
        """Return the plane. Raises SessionError once it has been released."""
        if self._universe is None:
            raise SessionError("the universe has been closed")
        return self._universe

    @property
    def engine(self) -> str:
        """Return what keeps the plane, or kept it last."""
        universe = self._universe
        return universe.engine if universe else self._last_engine

    def release(self) -> None:
        """Give the memory back, and be at the last generation for ever."""
        self._first, self._last_engine, self._universe = self.generation, self.engine, None

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""
        universe = self._universe
        return self._first + universe.generation if universe else self._first

    @property
    def span(self) -> int:
        """Return how many generations take about the time of a slice. An engine whose strides grow
        by themselves would run away: its pictures are as far apart as was asked for."""
        universe = self.universe
        if universe.sets_pace:
            return 1 if universe.engine == "hashlife" else universe.stride
        return self._span

    def advance(
        self, at_most: int, is_asked: Callable[[], bool], stopped: Callable[[], bool]
    ) -> int:
        """Move on by at most so many generations, about as long as a slice takes; return how many
        were made. Broken off where stopped() says so, and for those who ask when it takes long."""
        universe, before, began = self.universe, self.generation, time.monotonic()

        def is_broken_off() -> bool:
            return stopped() or (time.monotonic() - began > _GRACE and is_asked())

        wanted = min(at_most, universe.stride if universe.sets_pace else self._span)
        if not universe.sets_pace and wanted > universe.stride:
            wanted -= wanted % universe.stride
        universe.target = universe.generation + at_most
        universe.step(wanted, is_broken_off)
        took = time.monotonic() - began
        self.seconds += took
        self.spent += took
        made = self.generation - before
        if made == wanted == self._span and took < SLICE:
            self._span = min(2 * self._span, _LONGEST)
        elif took > _SLOW * SLICE:
            self._span = max(1, self._span // 2)
        return made


class HeldPlane:
    """The cells of a plane without bounds, and the pictures of them.

    One thread changes it and calls its methods. Any thread may read `setting` and `pictures`.
    """

    def __init__(
        self,
        universe: SeenUniverse,
        rule: Rule,
        generation: int,
        reopen: Callable[[Rule], SeenUniverse],
        commands: CommandThread,
    ) -> None:
        """Hold a plane that is at a generation.

        reopen: makes an empty plane of a rule in the same engine. commands: the thread that uses
        this, and that pictures are asked of.
        """
        side = 2 * FURTHEST
        self.setting = Setting(side, side, rule, Topology.PLANE, -FURTHEST, -FURTHEST, (True, True))
        self.machine = PlaneMover(universe, generation)
        self._reopen, self._is_asked = reopen, commands.is_asked
        self.pictures = PlanePictures(self._now, commands.ask)

    def _now(self) -> tuple[SeenUniverse, int]:
        return self.machine.universe, self.generation

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""
        return self.machine.generation

    @property
    def engine(self) -> str:
        """Return what keeps the cells."""
        return self.machine.engine

    @property
    def edge(self) -> None:
        """Return None: there is none that cells could meet."""
        return None

    def close(self) -> None:
        """Give the memory back."""
        self.machine.release()

    # --- reading ---------------------------------------------------------------

    def region(self, box: Box) -> BitGrid:
        """Return the cells of a box. Raises GridError where it is too large for memory."""
        check_size(box.width, box.height, 2)
        return self.machine.universe.part(box)

    def live_box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        return self.machine.universe.box()

    @property
    def leaps(self) -> bool:
        """Tell whether any number of generations may be made, as by HashLife."""
        return self.machine.universe.sets_pace

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells as rows (x, y), ordered by y, then x. Raises GridError for too
        many, and for some too far away."""
        return live_cells(self.machine.universe, self.live_box() or Box(0, 0, 1, 1))

    def population(self) -> int:
        """Return the number of live cells."""
        return self.machine.universe.population()

    def seed(self) -> Seed:
        """Return a copy of all cells. Raises GridError where some lie too far out."""
        universe = self.machine.universe
        tree = universe.squares()
        try:
            squares = () if tree else tuple(universe.all_squares())
        except OverflowError as error:
            raise GridError(str(error)) from None
        return Seed(self.generation, tree, squares)

    def origin(self) -> Origin:
        """Return a copy of all cells, or what says that they are too many."""
        if self.machine.universe.nbytes > _MOST_KEPT:
            return Lost(self.generation)
        try:
            return self.seed()
        except GridError:
            return Lost(self.generation)

    def pour(self, other: SeenUniverse) -> int:
        """Put all cells into an empty plane of any engine, and return their generation. Raises
        GridError where they are too many for it, or lie too far out."""
        universe = self.machine.universe
        tree = universe.squares() if other.engine == "hashlife" else None
        if tree is not None:
            other.take(tree)
            return self.generation
        if (live := universe.population()) > _MOST_POURED:
            raise GridError(f"{shortened(live)} cells live, too many for the engine {other.engine}")
        try:
            other.put_all(universe.all_squares())
        except OverflowError as error:
            raise GridError(str(error)) from None
        return self.generation

    # --- changing --------------------------------------------------------------

    def room_for(self, generations: int) -> int:
        """Return all the generations: what moves on makes its room itself."""
        return generations

    def hold(self, box: Box) -> None:
        """Do nothing: there is room for all cells."""

    def went_back(self, generation: int) -> None:
        """Do nothing: there is no edge that cells could have met."""

    def advance(self, at_most: int, *, brief: bool, stopped: Callable[[], bool]) -> int:
        """Move on by at most so many generations; return how many were made. brief: of no use."""
        made = 0
        try:
            made = self.machine.advance(at_most, self._is_asked, stopped)
        finally:
            self.pictures.changed()
        return made

    def write(self, cells: BitGrid, box: Box) -> None:
        """Replace the cells of a box. Raises OutgrownError."""
        universe = self.machine.universe
        left, right = box.x // SIDE, -(-(box.x + box.width) // SIDE)
        top, bottom = box.y // SIDE, -(-(box.y + box.height) // SIDE)
        step = max(1, _BAND // (SIDE * SIDE * (right - left)))
        for first in range(top, bottom, step):
            end = min(first + step, bottom)
            around = Box(SIDE * left, SIDE * first, SIDE * (right - left), SIDE * (end - first))
            grid = universe.part(around)
            begin = max(around.y, box.y)
            rows = cells.words[begin - box.y : around.y + around.height - box.y]
            band = BitGrid(box.width, len(rows), rows)
            overwrite(grid, band, box.x - around.x, begin - around.y)
            universe.put_all([squares_of(grid, left, first)])
        self.pictures.changed()

    def plant(self, origin: Origin, rule: Rule) -> None:
        """Be at the generation of an origin, whose cells replace all. Raises GridError for one
        that was lost, or that the engine cannot hold."""
        if not isinstance(origin, Seed):
            raise GridError("the cells of then were too many for a copy")
        if origin.tree is not None and rule == self.setting.rule:
            # What the tree remembers of squares is of use again.
            universe = self.machine.universe
            universe.take(origin.tree)
        else:
            universe = self._reopen(rule)
            fill(universe, origin)
        self.machine = PlaneMover(universe, origin.generation)
        self.setting = replace(self.setting, rule=rule)
        self.pictures.changed()


def fill(universe: SeenUniverse, seed: Seed) -> None:
    """Put the cells of a seed into an empty plane. Raises GridError where it cannot hold them."""
    if seed.tree is not None:
        universe.take(seed.tree)
    universe.put_all(seed.squares)


def squares_of(grid: BitGrid, column: int, row: int) -> tuple[Places, Words]:
    """Return places and words of the squares of a grid of whole squares, whose first one is in
    this column and row of squares."""
    down, across = grid.height // SIDE, grid.width // SIDE
    words = grid.words.reshape(down, SIDE, across).swapaxes(1, 2).reshape(-1, SIDE)
    rows, columns = np.divmod(np.arange(down * across), across)
    places = np.stack([columns + column, rows + row], axis=1).astype(np.int64)
    return places, np.ascontiguousarray(words)
