"""The contract between the engines and the hardware."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Shape = tuple[int, int, bool]  # width, height, torus

PAGE = 4096


class BackendUnavailableError(RuntimeError):
    """The backend asked for cannot run here; the message says why, in one line."""


class LifeUniverse(ABC):
    """A universe of Life-like cells in a backend's own memory.

    generation: how many generations it has been moved on since it was made.
    stride: a number of generations that step() does without waste; others cost more.
    """

    width: int
    height: int
    generation: int
    stride: int

    @abstractmethod
    def step(self, generations: int) -> None:
        """Move on by generations >= 0.

        Interrupted (KeyboardInterrupt), the universe stands at a whole generation,
        which `generation` tells, and can go on from there.
        """

    @abstractmethod
    def put(self, y: int, words: Words) -> None:
        """Set the cells of rows y to y + len(words) - 1; on return `words` is the caller's again.

        words: C-contiguous uint64 (rows, ceil(width / 64)), padding bits zero. Raises
        ValueError for any other array and for rows outside. Any number of threads may
        put and get different rows at once, while no thread steps this universe.
        """

    @abstractmethod
    def get(self, y: int, words: Words) -> None:
        """Write rows y to y + len(words) - 1 into `words`, padding bits zero; else as put()."""

    def words(self) -> Words:
        """The cells, packed: uint64 (height, ceil(width / 64)), padding bits zero.

        The array is the caller's: later steps do not change it.
        """
        words = np.empty((self.height, -(-self.width // 64)), np.uint64)
        self.get(0, words)
        return words

    def check_rows(self, y: int, words: Words, *, written: bool = False) -> None:
        """Raises ValueError where put() or, if written, get() must."""
        row_words = -(-self.width // 64)
        if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != row_words:
            raise ValueError(f"{words.dtype} {words.shape} for rows of {row_words} uint64")
        if not words.flags.c_contiguous or (written and not words.flags.writeable):
            raise ValueError("rows must be C-contiguous, and writable where they are written")
        if y < 0 or y + len(words) > self.height:
            raise ValueError(f"rows {y} to {y + len(words) - 1} of {self.height}")


class LifeArena(ABC):
    """Memory for universes that take turns.

    slots: how many universes it holds at a time; one spare copy serves whichever of them
    steps. One universe steps at a time; others may be put to and got from meanwhile, by
    one or several other threads.
    """

    slots: int

    @abstractmethod
    def open(self, slot: int, width: int, height: int, *, torus: bool) -> LifeUniverse:
        """A universe in a slot, at generation 0.

        Its cells are undefined until every row has been put. The universe that had the
        slot before must not be used any more. Raises ValueError where it does not fit.
        """

    @abstractmethod
    def close(self) -> None:
        """Give the memory back; no universe of the arena may be used any more."""


class Backend(ABC):
    """One way to compute. Results are the same, bit for bit, on every backend."""

    name: str

    @abstractmethod
    def describe(self) -> str:
        """What computes, in a few words: device, level, threads."""

    def life(
        self, words: Words, width: int, height: int, *, torus: bool, birth: int, survival: int
    ) -> LifeUniverse:
        """A universe that starts as `words` (copied).

        words: C-contiguous uint64 (height, ceil(width / 64)), padding bits zero.
        torus: whether edges meet; otherwise all outside is dead for ever.
        birth, survival: bit sets of neighbour counts, 0 to 511. Raises MemoryError,
        and ValueError for any other array.
        """
        if len(words) != height:
            raise ValueError(f"{len(words)} rows for a height of {height}")
        arena = self.life_arena([(width, height, torus)], 1, birth=birth, survival=survival)
        universe = arena.open(0, width, height, torus=torus)
        universe.put(0, words)
        return universe

    @abstractmethod
    def life_arena(
        self, shapes: Sequence[Shape], slots: int, *, birth: int, survival: int
    ) -> LifeArena:
        """Memory for `slots` universes at a time, of one rule (see life()).

        shapes: (width, height, torus) of every universe that will be opened in it.
        Raises MemoryError.
        """

    @abstractmethod
    def arena_bytes(self, shapes: Sequence[Shape], slots: int) -> tuple[int, int]:
        """Bytes of host memory and of device memory that life_arena() would take."""

    @abstractmethod
    def free_device_memory(self) -> int | None:
        """Bytes; None where it computes in host memory."""

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Uninitialised host memory (nbytes,) that put() and get() copy fastest from and to.

        It starts at a page. Views of it serve as well. Raises MemoryError.
        """
        memory = np.empty(nbytes + PAGE, np.uint8)
        start = -memory.ctypes.data % PAGE
        return memory[start : start + nbytes]
