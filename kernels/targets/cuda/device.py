"""Contract of CUDA-like devices for the launchers: memory, compiled modules, launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """Facts about a device that the choice of kernel parameters may rest on."""

    name: str
    multiprocessors: int
    memory: int  # bytes in all
    capability: tuple[int, int]  # compute capability
    index: int | None  # the number of the GPU; None where the memory is the host's, as emulated


class Buffer(Protocol):
    """Device memory; freed when the object goes."""

    nbytes: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Device memory from byte `offset` of a buffer on, for a pointer parameter."""

    buffer: Buffer
    offset: int


class Module(Protocol):
    """A compiled .cu file."""

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        *args: Buffer | Slice | np.integer[Any],
        shared: int = 0,
    ) -> None:
        """Queue one launch of the extern "C" kernel. Returns at once.

        args: buffers or slices for pointer parameters, sized numpy integers (np.int32,
        np.int64, np.uint32 ...) for the others; dtypes must match the kernel's parameters.
        """


class Device(Protocol):
    """Calls of one thread run in order; those of different threads may overlap.

    What one thread hands to another is ready only after synchronize() in the first.
    """

    info: DeviceInfo

    def module(self, source: Path, defines: Mapping[str, int | str]) -> Module:
        """Compile a .cu file with -D macros, or take it from the cache."""

    def alloc(self, nbytes: int) -> Buffer:
        """Uninitialised memory. Raises MemoryError."""

    def upload(self, target: Buffer, source: npt.NDArray[Any], offset: int = 0) -> None:
        """Copy a C-contiguous array to target, starting at byte `offset` of it.

        From pinned() memory the copy is only queued: it must stay until synchronize().
        """

    def download(self, target: npt.NDArray[Any], source: Buffer, offset: int = 0) -> None:
        """Copy target.nbytes bytes from byte `offset` of source, and wait for the copy."""

    def copy(
        self,
        target: Buffer,
        target_offset: int,
        source: Buffer,
        source_offset: int,
        nbytes: int,
    ) -> None:
        """Queue a copy from byte `source_offset` of source on. The two may not overlap."""

    def copy_from(
        self,
        target: Buffer,
        target_offset: int,
        other: Device,
        source: Buffer,
        source_offset: int,
        nbytes: int,
    ) -> None:
        """Queue a copy as copy() does, from the memory of another device of this class.

        It comes after what the calling thread has queued on either device, and before what
        it queues there next.
        """

    def synchronize(self) -> None:
        """Wait for everything that the calling thread has queued."""

    def free_memory(self) -> int:
        """Bytes that can still be allocated."""

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Uninitialised host memory that is copied fastest, from the start of a page.

        Views of it serve as well. Raises MemoryError.
        """
