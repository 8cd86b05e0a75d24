"""The contract between the engines and the hardware."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]


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
    def words(self) -> Words:
        """The cells, packed: uint64 (height, ceil(width / 64)), padding bits zero.

        The array is the caller's: later steps do not change it.
        """


class Backend(ABC):
    """One way to compute. Results are the same, bit for bit, on every backend."""

    name: str

    @abstractmethod
    def describe(self) -> str:
        """What computes, in a few words: device, level, threads."""

    @abstractmethod
    def life(
        self, words: Words, width: int, height: int, *, torus: bool, birth: int, survival: int
    ) -> LifeUniverse:
        """A universe that starts as `words` (copied).

        words: C-contiguous uint64 (height, ceil(width / 64)), padding bits zero.
        torus: whether edges meet; otherwise all outside is dead for ever.
        birth, survival: bit sets of neighbour counts, 0 to 511. Raises MemoryError.
        """
