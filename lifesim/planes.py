"""Planes without bounds in engines that hold no rectangle: tiles, and a tree that shares."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.plane.contract import SIDE, Places, PlaneEngine, PlaneUniverse
from kernels.plane.hashlife.cpu.engine import LEAST_MEMORY, LONGEST, HashPlane, HashPlaneEngine
from kernels.plane.hashlife.listing import SquareList
from kernels.plane.tiles.cpu.engine import PERIOD, CpuTilesEngine
from kernels.plane.tiles.cuda.engine import CudaTilesEngine
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cpu import CpuTarget
from kernels.targets.memory import available_memory
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError, Words, human_bytes
from lifesim.growing import OutgrownError, check_birth, never
from lifesim.rule import LIFE, Rule
from lifesim.squares import digest_of

_WHERE = {  # each engine runs, and on which backends
    "tiles": ("on the CPU or one GPU", "cpu, cuda or auto"),
    "hashlife": ("on the CPU", "cpu, or auto"),
}
MANY = 1 << 20  # cells of a grid from which on a GPU is quicker with tiles than most CPUs
_GPU_SHARE = 85  # percent of its free memory that tiles may take, unless told
_SHARE = 2  # of the memory that is free a plane may take the half, unless told
_MOST_TILED = 1 << 32  # live cells of a tree that are put into tiles
# Seconds: a step that takes less makes the next one so many times as long.
_LONGER = ((0.002, 16), (0.02, 4), (0.2, 2))
_SMALL, _FIRST = 256, 1 << 10  # cells along the sides of a pattern that begins with so long a step


def plane_target(
    engine: str,
    backend: str,
    threads: int | None,
    device: int | Sequence[int] = 0,
    cells: int = 0,
) -> Target:
    """Return the target of an engine; HashLife's is the CPU.

    cells: of the grid that it begins with: "auto" takes a GPU for tiles where they are many, and
    there is one. Raises LifesimError for the name of a target that the engine does not run on, and
    BackendUnavailableError where there is no such GPU, or no compiled code.
    """
    if engine == "tiles" and (backend == "cuda" or (backend == "auto" and cells >= MANY)):
        try:
            return pick("cuda", device=device)
        except BackendUnavailableError:
            if backend == "cuda":
                raise
    if backend not in ("auto", "cpu"):
        raise _not_there(engine)
    return CpuTarget(threads)


def _not_there(engine: str) -> LifesimError:
    where, backends = _WHERE[engine]
    return LifesimError(
        f"the engine {engine} runs {where}, by compiled code: the backend is {backends}"
    )


def check_target(backend: Target) -> Target:
    """Return the target, if it is the CPU or one GPU. Raises LifesimError for any other."""
    if not isinstance(backend, CpuTarget) and len(backend.devices) != 1:
        raise _not_there("tiles")
    return backend


class _PlaneLife:
    """A universe without bounds in an engine of the plane; else as lifesim.growing.GrowingUniverse.

    target: of no use here. work: 0, as updates of cells are not counted.
    """

    engine: str
    work = 0

    def __init__(
        self, plane: PlaneUniverse, memory: int, grid: BitGrid, at: tuple[int, int]
    ) -> None:
        """Put a grid into an empty plane, its top-left cell at `at`.

        memory: bytes that the plane may take. Raises OutgrownError where that is too little.
        """
        self._plane, self._memory = plane, memory
        self.target = 0
        try:
            self._put(grid, at)
        except MemoryError:
            raise self._outgrown() from None

    @property
    def made(self) -> dict[str, int]:
        """Return how many generations each engine has made: this one all of them."""
        return {self.engine: self.generation} if self.generation else {}

    @property
    def generation(self) -> int:
        """Return how many generations it has been moved on."""
        return self._plane.generation

    def _outgrown(self) -> OutgrownError:
        return OutgrownError(
            f"the pattern has outgrown memory at generation {self.generation}: "
            f"{human_bytes(self._memory)} may be taken"
        )

    def population(self) -> int:
        """Return the number of live cells."""
        return self._plane.population()

    def box(self) -> Box | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        box = self._plane.box()
        return box and Box(*box)

    def part(self, box: Box) -> BitGrid:
        """Return the cells of any rectangle. Raises GridError for one too large for memory."""
        grid = BitGrid(box.width, box.height)
        self._plane.get(box.x, box.y, grid.words)
        if grid.width % 64:
            grid.words[:, -1] &= np.uint64((1 << grid.width % 64) - 1)
        return grid

    @property
    def nbytes(self) -> int:
        """Return the bytes of memory that it takes just now."""
        return self._plane.nbytes

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks, as PlaneUniverse.counts() does."""
        return self._plane.counts(x, y, level, shape)

    def digest(self, frame: Box) -> str:
        """Return the digest of a frame that holds all that lives (lifesim.digests), without ever
        holding it as a grid. Raises GridError for one too wide, or for too many live words."""
        return digest_of(self._plane.squares(), self.population(), frame)

    def all_squares(self) -> Iterator[tuple[Places, Words]]:
        """Yield all squares with live cells (kernels.plane.contract). Raises OverflowError where
        some are too far from the origin for that."""
        return self._plane.squares()

    def put_all(self, squares: Iterable[tuple[Places, Words]]) -> None:
        """Set all cells of squares, as all_squares() gives them. Raises OutgrownError."""
        try:
            for places, cells in squares:
                self._plane.put(places, cells)
        except MemoryError:
            raise self._outgrown() from None

    def _put(self, grid: BitGrid, at: tuple[int, int]) -> None:
        """Put the cells of a grid into squares of 64 x 64, some rows of them at a time."""
        x, y = at
        right, down = x % SIDE, y % SIDE
        across = (right + grid.width - 1) // SIDE + 1
        first_column, first_row = (x - right) // SIDE, (y - down) // SIDE
        lines = (down + grid.height - 1) // SIDE + 1
        for line in range(lines):
            low, high = max(SIDE * line - down, 0), min(SIDE * (line + 1) - down, grid.height)
            rows = np.zeros((SIDE, across + 1), np.uint64)
            begin = low + down - SIDE * line
            count = grid.words.shape[1]
            words = grid.words[low:high]
            rows[begin : begin + len(words), :count] = words << np.uint64(right)
            if right:
                rows[begin : begin + len(words), 1 : count + 1] |= words >> np.uint64(SIDE - right)
            columns = np.flatnonzero(rows[:, :across].any(axis=0))
            places = np.stack([columns + first_column, np.full(len(columns), first_row + line)], 1)
            squares = np.ascontiguousarray(rows[:, columns].T)
            self._plane.put(np.ascontiguousarray(places, np.int64), squares)


class HashedUniverse(_PlaneLife):
    """A universe without bounds in a tree of squares that shares what is equal.

    stride: a power of two, larger as long as steps are quick.
    """

    engine = "hashlife"
    sets_pace = True
    _plane: HashPlane

    def __init__(
        self, backend: Target, grid: BitGrid, at: tuple[int, int], rule: Rule, memory: int | None
    ) -> None:
        """Put a grid into an empty plane. memory: bytes that the tree may take, by default half of
        what is free. Raises OutgrownError, GridError for a rule of B0, and LifesimError for a
        target that is not the CPU."""
        if not isinstance(backend, CpuTarget):
            raise _not_there("hashlife")
        memory = max(_allowed(memory), LEAST_MEMORY)
        # What begins in a small square cannot become so much in a first step that it takes long.
        self.stride = _FIRST if max(grid.width, grid.height) <= _SMALL else 1
        self._longest = 1 << LONGEST - 1
        super().__init__(_opened(HashPlaneEngine(backend), rule, memory), memory, grid, at)

    def step(self, generations: int, stopped: Callable[[], bool] = never) -> None:
        """Move on. Stopped, interrupted, or out of memory (OutgrownError), it stands where it stood
        before a stride."""
        stop = self.generation + generations
        while (left := stop - self.generation) > 0 and not stopped():
            began = time.perf_counter()
            made = min(left, self.stride)
            try:
                self._plane.step_until(stopped, made)
            except MemoryError:
                if made == 1:
                    raise self._outgrown() from None
                # Shorter steps need less, and no longer ones are tried again.
                self._longest = self.stride = 1 << max(made.bit_length() - 3, 0)
                continue
            took = time.perf_counter() - began
            if made == self.stride:
                longer = next((times for most, times in _LONGER if took < most), 1)
                self.stride = min(self.stride * longer, self._longest)

    def take(self, squares: SquareList) -> None:
        """Replace all cells by those of a macrocell file. Raises OutgrownError."""
        self.stride = 1
        try:
            self._plane.put_list(squares)
            self._plane.move_a_row(down=True)  # its root's middle is a row below that of ours
        except MemoryError:
            raise self._outgrown() from None

    def squares(self) -> SquareList | None:
        """Return the tree as macrocell files have it; None where no cell lives."""
        if not self.population():
            return None
        return self._plane.list(lifted=True)


class TiledUniverse(_PlaneLife):
    """A universe without bounds in tiles that are computed where something changes.

    stride: generations after which tiles that repeat themselves are known to.
    """

    engine = "tiles"
    sets_pace = False
    stride = PERIOD

    def __init__(
        self, backend: Target, grid: BitGrid, at: tuple[int, int], rule: Rule, memory: int | None
    ) -> None:
        """Put a grid into an empty plane.

        memory: bytes that tiles may take, of the GPU's memory if that computes; by default half of
        what is free, of a GPU's most. Raises OutgrownError, and GridError for a rule of B0.
        """
        free = backend.free_device_memory()
        engine: PlaneEngine
        if isinstance(backend, CpuTarget):
            engine = CpuTilesEngine(backend)
        else:
            engine = CudaTilesEngine.of(backend)
        if memory is None and free is not None:
            memory = free * _GPU_SHARE // 100
        memory = _allowed(memory)
        super().__init__(_opened(engine, rule, memory), memory, grid, at)

    def step(self, generations: int, stopped: Callable[[], bool] = never) -> None:
        """Move on. Stopped, interrupted or out of memory (OutgrownError) it stands at a whole
        generation."""
        try:
            self._plane.step_until(stopped, generations)
        except MemoryError:
            raise self._outgrown() from None

    def take(self, squares: SquareList) -> None:
        """Replace all cells by those of a macrocell file.

        Raises GridError for too many, or where they lie too far out for tiles; OutgrownError.
        """
        tree = HashedUniverse(CpuTarget(1), BitGrid(1, 1), (0, 0), LIFE, None)
        tree.take(squares)
        if tree.population() > _MOST_TILED:
            raise GridError(f"{tree.population()} cells live, too many for tiles")
        self.put_all([(places, np.zeros_like(words)) for places, words in self.all_squares()])
        try:
            self.put_all(tree.all_squares())
        except OverflowError as error:
            raise GridError(str(error)) from None

    def squares(self) -> None:
        """Return None: the cells are no tree."""


def _allowed(memory: int | None) -> int:
    return available_memory() // _SHARE if memory is None else memory


def _opened(engine: PlaneEngine, rule: Rule, memory: int) -> Any:
    check_birth(rule)
    assert rule.nine_cells is not None  # as open_unbounded() has found
    return engine.universe(rule.nine_cells, memory)
