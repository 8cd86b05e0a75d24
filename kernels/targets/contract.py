"""Contract of targets, the places where code runs, whatever it computes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kernels.targets.cuda.device import Device

PAGE = 4096


class BackendUnavailableError(RuntimeError):
    """The target asked for cannot run here; the message says why, in one line."""


class Target(ABC):
    """A place to compute: a CUDA device or several of a host, the CPU, or numpy.

    An engine asks it for what it needs; it knows no engine. Results do not depend on it.

    name: as users give it to --backend, and for people to read: code asks for the facts below.
    threads: of the host, that work at once. vector_bits: of the host's registers that compiled
    loops compute with; 0 where a GPU computes, or numpy.
    """

    name: str
    threads: int = 1
    vector_bits: int = 0

    @abstractmethod
    def describe(self) -> str:
        """Return what computes, in a few words: device, level, threads."""

    @abstractmethod
    def free_device_memory(self) -> int | None:
        """Return the bytes that devices have to spare; None where it computes in host memory."""

    @property
    def devices(self) -> Sequence[Device]:
        """The CUDA devices that it computes on; none where it computes in host memory."""
        return ()

    @property
    def members(self) -> Sequence[Target]:
        """Its parts that can work on their own, a device each: itself, where it is only one."""
        return (self,)

    @property
    def is_reference(self) -> bool:
        """True for the slow target, numpy, that is there for want of a better."""
        return False

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return uninitialised host memory (nbytes,) that is copied fastest to its devices.

        It starts at a page. Views of it serve as well. Raises MemoryError.
        """
        memory = np.empty(nbytes + PAGE, np.uint8)
        start = -memory.ctypes.data % PAGE
        return memory[start : start + nbytes]
