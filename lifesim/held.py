"""The cells of a universe in memory, with bounds or without, and what is asked of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kernels.life.contract import LifeUniverse, Words
from kernels.targets.contract import Target
from lifesim.colours import Colours, Pixels, pixels_of
from lifesim.digests import digest
from lifesim.grid import BitGrid, Box, GridError
from lifesim.growing import GrowingUniverse, check_space
from lifesim.joined import open_bounded
from lifesim.kept import Kept, give_back, kept_of
from lifesim.live_box import common, live_box
from lifesim.render import density_levels
from lifesim.rule import Rule
from lifesim.squares import live_cells
from lifesim.topology import Edges, Topology
from lifesim.unbounded import UnboundedUniverse, open_unbounded

if TYPE_CHECKING:
    from kernels.plane.hashlife.listing import SquareList
    from kernels.targets.cuda.array import DeviceArray


class HeldUniverse:
    """The cells of a universe at a generation, in the engine that moves them on.

    One thread at a time uses it. Where there are bounds both ways, these are `bounds`, and an
    engine of rectangles holds the cells; else a universe that has no bounds along some axis, 0 in
    `bounds`.
    """

    def __init__(
        self,
        engine: str,
        backend: Target,
        grid: BitGrid,
        at: tuple[int, int],
        bounds: tuple[int, int],
        rule: Rule,
        topology: Edges,
        *,
        generation: int,
        memory: int | None,
        alone: bool,
    ) -> None:
        """Take a copy of a grid, which is of that generation. The arguments are those of Life, and
        raise as there; alone: whether nothing but the backend may compute."""
        self.bounds, self._rule, self._topology = bounds, rule, topology
        self._first = generation
        self._fixed: LifeUniverse | None = None
        self._unbounded: UnboundedUniverse | None = None
        self._open = partial(
            open_unbounded,
            engine,
            backend,
            bounds=bounds,
            rule=rule,
            topology=topology,
            memory=memory,
            alone=alone,
        )
        self._before = 0  # updates of cells in universes that were left to go back
        self._made: Counter[str] = Counter()  # by universes before this one
        self._box: tuple[int, Box | None] | None = None  # with its generation
        self.changes = 0  # times that cells have been replaced by others
        if engine == "dense" and all(bounds):
            if bounds != (grid.width, grid.height) or at != (0, 0):
                raise ValueError("the grid of a universe with bounds is all of it")
            self._fixed = open_bounded(backend, grid, topology, rule)
        else:
            self._unbounded = self._open(grid, at)

    @property
    def _universe(self) -> LifeUniverse | UnboundedUniverse:
        universe = self._fixed or self._unbounded
        assert universe
        return universe

    @property
    def cells(self) -> LifeUniverse:
        """Return the universe that is in the backend just now, where there are bounds along an axis
        at least."""
        if self._fixed:
            return self._fixed
        assert isinstance(self._unbounded, GrowingUniverse)
        return self._unbounded.cells

    @property
    def engine(self) -> str:
        """Return how the cells are kept just now: "dense", "tiles" or "hashlife"."""
        return self._unbounded.engine if self._unbounded else "dense"

    @property
    def sets_pace(self) -> bool:
        """Tell whether `stride` follows from how long steps take."""
        return bool(self._unbounded and self._unbounded.sets_pace)

    @property
    def stride(self) -> int:
        """Return how many generations are best made at once."""
        return self._universe.stride

    @property
    def made(self) -> dict[str, int]:
        """Return how many generations each engine has made so far, of those that made any."""
        if self._fixed:
            return {"dense": self._fixed.generation}
        assert self._unbounded
        return dict(self._made + Counter(self._unbounded.made))

    @property
    def passed(self) -> int:
        """Return how many generations have been made since it was opened, or went back."""
        return self._universe.generation

    @property
    def generation(self) -> int:
        """Return the generation of the cells."""
        return self._first + self._universe.generation

    @property
    def updates(self) -> int:
        """Return the number of updates of cells so far; 0 where they are not counted."""
        if self._unbounded:
            return self._before + self._unbounded.work
        cells = self.cells
        return cells.width * cells.height * cells.generation

    def check_run(self, *numbers: int | None) -> None:
        """Raise GridError where empty space would live after any of some numbers of generations
        (lifesim.growing.check_space)."""
        if self._unbounded:
            torus = self._topology is Topology.TORUS
            check_space(self._rule, self.bounds, *numbers, torus=torus)

    def expect(self, generations: int) -> None:
        """Take note that it is likely to be moved on so far, for which room may be made."""
        if self._unbounded:
            self._unbounded.target = self._unbounded.generation + generations

    def step(self, generations: int, stopped: Callable[[], bool]) -> None:
        """Move on by generations, or without bounds by fewer where stopped() says so."""
        if self._unbounded:
            self._unbounded.step(generations, stopped)
        else:
            self._universe.step(generations)

    def take(self, squares: SquareList) -> None:
        """Replace all cells by those of a macrocell file. Raises GridError where it cannot."""
        if self._unbounded is None:
            raise GridError("a list of squares is for planes without bounds")
        self._unbounded.take(squares)
        self.changes += 1

    def keep(self) -> Kept:
        """Return a copy of the cells, for go_back()."""
        if self._unbounded:
            return kept_of(self._unbounded, self.frame(), self.generation)
        return Kept(self.generation, self.grid())

    def go_back(self, kept: Kept) -> None:
        """Take the cells and the generation of a copy."""
        if self._fixed:
            self._fixed.put(0, kept.grid.words)
        else:
            assert self._unbounded
            opened = self._open(kept.grid, kept.at)
            give_back(opened, kept)
            self._before += self._unbounded.work
            self._made += Counter(self._unbounded.made)
            self._unbounded = opened
        self._first, self._box = kept.generation - self._universe.generation, None
        self.changes += 1

    def bounding_box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        if self._box is None or self._box[0] != self.generation:
            box = self._unbounded.box() if self._unbounded else live_box(self.cells)
            self._box = self.generation, box
        return self._box[1]

    def frame(self) -> Box:
        """Return the rectangle that grid() holds."""
        if all(self.bounds):
            return Box(0, 0, *self.bounds)
        box = self.bounding_box() or Box(0, 0, 1, 1)
        x, width = (0, self.bounds[0]) if self.bounds[0] else (box.x, box.width)
        y, height = (0, self.bounds[1]) if self.bounds[1] else (box.y, box.height)
        return Box(x, y, width, height)

    def grid(self) -> BitGrid:
        """Return a copy of the cells of frame(). Raises GridError where memory does not hold it."""
        if self._unbounded:
            return self._unbounded.part(self.frame())
        return BitGrid(*self.bounds, self.cells.words())

    def words(self) -> Words | DeviceArray:
        """Return a copy of the cells of frame(), packed, on the GPU where the universe lies there
        whole. Raises as grid()."""
        if self._fixed:
            words = self._fixed.device_words()
            return self._fixed.words() if words is None else words
        return self.grid().words

    def population(self) -> int:
        """Return the number of live cells."""
        return self._unbounded.population() if self._unbounded else self.grid().population()

    def live_cells(self) -> npt.NDArray[np.int64]:
        """Return the live cells of a universe without bounds (lifesim.squares.live_cells)."""
        assert self._unbounded
        return live_cells(self._unbounded, self.frame())

    def squares(self) -> SquareList | None:
        """Return the cells as macrocell files have them; None without HashLife, and where no cell
        lives."""
        return self._unbounded.squares() if self._unbounded else None

    def far_squares(self) -> SquareList | None:
        """Return the cells of a plane as macrocell files have them, where they lie too far apart
        for a grid; None where a grid holds them."""
        if self._unbounded is None or any(self.bounds):
            return None
        from lifesim.far import is_far, squares_of

        return squares_of(self._unbounded) if is_far(self._unbounded, self.frame()) else None

    def digest(self) -> str:
        """Return the digest of the cells. Raises GridError for a plane that is too wide, or holds
        too much."""
        return self._unbounded.digest(self.frame()) if self._unbounded else digest(self.grid())

    def levels(self, box: Box, scale_log2: int) -> npt.NDArray[np.uint8]:
        """Tell how densely the cells of a region live (lifesim.render.density_levels)."""
        if self._unbounded is None:
            return density_levels(self.grid(), box, scale_log2)
        held = common(box, self.frame())
        from lifesim.tree.picture import GridPicture, TreePicture

        if not any(self.bounds):
            from lifesim.far import is_far, squares_of

            if is_far(self._unbounded, held) and (far := squares_of(self._unbounded)):
                return TreePicture(far).levels(box, scale_log2)
        return GridPicture(self._unbounded.part(held), held).levels(box, scale_log2)

    def pixels(self, box: Box, scale_log2: int, colours: Colours) -> Pixels:
        """Return a region in colours (lifesim.colours.pixels_of)."""
        if self._unbounded is None:
            return pixels_of(self.grid(), box, scale_log2, colours)
        held = common(box, self.frame())
        inner = Box(box.x - held.x, box.y - held.y, box.width, box.height)
        return pixels_of(self._unbounded.part(held), inner, scale_log2, colours)
