"""Device memory and compiled modules as a driver layer (driver.py) hands them out."""

from __future__ import annotations

import ctypes
import sys
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from kernels.targets.cuda.device import Buffer, Slice
from kernels.targets.cuda.driver import Context

_SHARED = 48 << 10  # bytes of shared memory that a kernel has without asking for more


class Owner(Protocol):
    """The part of a CUDA device that its memory and its modules use."""

    def current(self) -> AbstractContextManager[None]:
        """Make its context current for a moment."""

    def stream(self) -> Any:
        """Return the calling thread's own stream. Needs the context to be current."""

    def give_back(self, buffer: CudaBuffer) -> None:
        """Keep or free memory that nothing refers to any more."""


def keep_for_ever(thing: Any) -> None:
    """Never let an object of PyCUDA go.

    It warns where one is destroyed at the exit of a process whose other threads made it.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class CudaBuffer:
    """Device memory; freed with the object."""

    def __init__(self, device: Owner, allocation: Any, nbytes: int, stream: Any) -> None:
        """stream: that of the thread that takes it."""
        self.allocation, self.nbytes = allocation, nbytes
        self.stream = stream  # the only one to use it; None once another has
        self._device = device

    def __del__(self) -> None:
        if sys.is_finalizing():  # the process's memory goes anyway
            keep_for_ever(self.allocation)
        else:
            self._device.give_back(self)

    @property
    def address(self) -> int:
        """The address; who asks for it may use the memory in ways that are not known here."""
        self.stream = None
        return int(self.allocation)

    def at(self, offset: int, nbytes: int) -> int:
        """Return the address of byte `offset`. Raises ValueError where nbytes do not fit there."""
        if offset < 0 or offset + nbytes > self.nbytes:
            raise ValueError(f"{nbytes} bytes at {offset} leave a buffer of {self.nbytes}")
        return int(self.allocation) + offset


def own(buffer: Buffer, stream: Any) -> CudaBuffer:
    """Return memory as a CUDA device's buffer, now used on a stream."""
    if not isinstance(buffer, CudaBuffer):
        raise TypeError(f"{type(buffer).__name__} is no memory of a CUDA device")
    if buffer.stream is not stream:
        buffer.stream = None
    return buffer


def pointer(memory: Buffer | Slice, stream: Any) -> Any:
    """Return memory as driver layers take it for a parameter."""
    if isinstance(memory, Slice):
        return np.uintp(own(memory.buffer, stream).at(memory.offset, 0))
    return own(memory, stream).allocation


class CudaModule:
    """A compiled .cu file in one device's context."""

    def __init__(self, device: Owner, context: Context, cubin: bytes) -> None:
        """Needs the context, the device's, to be current."""
        self._device, self._context = device, context
        self._module = context.load(cubin)
        self._kernels: dict[str, Any] = {}
        self._shared: dict[str, int] = {}  # bytes that each kernel may have, where more

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        *args: Buffer | Slice | np.integer[Any],
        shared: int = 0,
    ) -> None:
        """Queue a launch on the calling thread's stream."""
        with self._device.current():
            if kernel not in self._kernels:
                self._kernels[kernel] = self._context.kernel(self._module, kernel)
            if shared > self._shared.get(kernel, _SHARED):
                self._context.allow_shared(self._kernels[kernel], shared)
                self._shared[kernel] = shared
            stream = self._device.stream()
            values = [a if isinstance(a, np.integer) else pointer(a, stream) for a in args]
            self._context.launch(self._kernels[kernel], grid, block, values, shared, stream)
