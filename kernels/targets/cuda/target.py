"""The CUDA target, one GPU, through whichever driver layer is chosen (driver.py)."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import PAGE, BackendUnavailableError, Target
from kernels.targets.cuda import compile as compiler
from kernels.targets.cuda import driver as drivers
from kernels.targets.cuda import early
from kernels.targets.cuda.device import Buffer, Device, DeviceInfo
from kernels.targets.cuda.handles import CudaBuffer, CudaModule, keep_for_ever, own
from kernels.targets.cuda.memory import Reserve

_OLDEST = (7, 5)  # what today's compilers still know


def device_count() -> int:
    """Return how many GPUs this process may use. Raises BackendUnavailableError where none may."""
    return drivers.chosen().count()


def check_device(index: int) -> None:
    """Raise BackendUnavailableError where there is no driver or no GPU of that number."""
    count = device_count()
    if not 0 <= index < count:
        raise BackendUnavailableError(f"no CUDA device {index}: there are {count}")


class _Lease:
    """A thread's use of a stream, which goes back to the idle ones when the thread ends.

    Not destroyed then: PyCUDA could do it only where the context is current. The same holds for the
    event that marks a place in the stream.
    """

    def __init__(self, stream: Any, event: Any, idle: list[tuple[Any, Any]]) -> None:
        self.stream, self.event, self._idle = stream, event, idle

    def __del__(self) -> None:
        self._idle.append((self.stream, self.event))


# PyCUDA unloads modules only in the thread that made their context, and whatever thread
# collects garbage may be another one: devices live as long as the process.
_KEPT: list[CudaDevice] = []


class CudaDevice:
    """One GPU: a kernels.targets.cuda.device.Device, on its primary context.

    driver: the name of the layer that reaches it, by default the one that is chosen. Raises
    BackendUnavailableError where there is no driver or no such device.
    """

    def __init__(self, index: int = 0, driver: str = "") -> None:
        early.begin([index])
        early.wait(index)
        self.driver = drivers.chosen(driver)
        count = self.driver.count()
        if not 0 <= index < count:
            raise BackendUnavailableError(f"no CUDA device {index}: there are {count}")
        self._context = self.driver.open(index)
        self.info: DeviceInfo = self._context.info
        if self.info.capability < _OLDEST:
            raise BackendUnavailableError(
                f"{self.info.name} has compute capability {self.info.capability}, "
                f"at least {_OLDEST} is needed"
            )
        self._modules: dict[Any, CudaModule] = {}
        self._reserve_limit = self.info.memory // 8
        self._reserve = Reserve(self._reserve_limit)
        _KEPT.append(self)
        keep_for_ever(self)
        self._loading = threading.Lock()
        self._idle: list[tuple[Any, Any]] = []  # streams and their events
        self._number = index
        self._peers = {index}  # devices whose memory this one reaches, or never can
        self._mine = threading.local()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this context current for a moment: contexts belong to threads."""
        self._context.push()
        try:
            yield
        finally:
            self._context.pop()

    def _lease(self) -> _Lease:
        """Return the calling thread's own lease. Needs the context to be current."""
        lease: _Lease | None = getattr(self._mine, "lease", None)
        if lease is None:
            try:
                stream, event = self._idle.pop()
            except IndexError:
                stream, event = self._context.stream(), self._context.event()
            lease = self._mine.lease = _Lease(stream, event, self._idle)
        return lease

    def stream(self) -> Any:
        """Return the calling thread's own stream. Needs the context to be current."""
        return self._lease().stream

    def _free(self, allocation: Any) -> None:
        """Free memory in whatever thread: PyCUDA leaks it where the context is not current."""
        with self.current():
            allocation.free()

    def give_back(self, buffer: CudaBuffer) -> None:
        """Keep or free memory that nothing refers to any more."""
        if buffer.stream is None or buffer.nbytes > self._reserve_limit:
            self._free(buffer.allocation)
        else:
            self._reserve.give(buffer.stream, buffer.nbytes, buffer.allocation)

    def driver_version(self) -> str:
        """Return the driver's version of CUDA, as 12.4."""
        return "{}.{}".format(*self.driver.cuda_version())

    def module(self, source: Path, defines: Mapping[str, int | str]) -> CudaModule:
        """Compile a .cu file, or return it where this device has loaded it already."""
        key = (source, tuple(sorted(defines.items())))
        with self._loading:
            if key not in self._modules:
                cubin = compiler.cubin(
                    source, defines, self.info.capability, self.driver.cuda_version()
                )
                with self.current():
                    self._modules[key] = CudaModule(self, self._context, cubin)
            return self._modules[key]

    def alloc(self, nbytes: int) -> CudaBuffer:
        """Return device memory, kept from before or new. Raises MemoryError."""
        lease: _Lease | None = getattr(self._mine, "lease", None)
        if lease is not None:
            allocation = self._reserve.take(lease.stream, nbytes)
            if allocation is not None:
                return CudaBuffer(self, allocation, nbytes, lease.stream)
        with self.current():
            for old in self._reserve.surplus():
                old.free()
            return CudaBuffer(self, self._new(max(1, nbytes)), nbytes, self.stream())

    def _new(self, nbytes: int) -> Any:
        """Needs the context to be current. Raises MemoryError."""
        try:
            return self._context.alloc(nbytes)
        except MemoryError:
            pass
        # Another object of the same GPU may have a reserve, too.
        for device in _KEPT:
            for old in device._reserve.surplus(0):
                device._free(old)
        try:
            return self._context.alloc(nbytes)
        except MemoryError:
            free = self._context.free_memory()
            raise MemoryError(
                f"{self.info.name}: {nbytes:,} bytes asked for, {free:,} are free"
            ) from None

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return page-locked host memory from the start of a page. Raises MemoryError."""
        with self.current():
            try:
                memory = self._context.pinned(nbytes + PAGE)
            except MemoryError:
                raise MemoryError(
                    f"{nbytes:,} bytes of page-locked memory are not to be had"
                ) from None
        weakref.finalize(memory, self._free, memory.base).atexit = False
        start = -memory.ctypes.data % PAGE
        return memory[start : start + nbytes]

    # On the thread's stream also from and to pageable memory: a plain copy may return
    # before the last of it has arrived, and no other stream would wait for it.
    def upload(self, target: Buffer, source: npt.NDArray[Any], offset: int = 0) -> None:
        """Queue a copy to the device, and wait for it where the source is not page-locked."""
        if not source.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied to a device")
        with self.current():
            stream = self.stream()
            address = own(target, stream).at(offset, source.nbytes)
            self._context.upload(address, source, stream)
            if not self._context.is_pinned(source):
                self._context.synchronize(stream)

    def download(self, target: npt.NDArray[Any], source: Buffer, offset: int = 0) -> None:
        """Copy from the device, and wait for it."""
        if not target.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied from a device")
        with self.current():
            stream = self.stream()
            address = own(source, stream).at(offset, target.nbytes)
            if not self._context.is_pinned(target):
                # A copy to pageable memory that waits keeps other threads from queueing.
                self._context.synchronize(stream)
            self._context.download(target, address, stream)
            self._context.synchronize(stream)

    def copy(
        self,
        target: Buffer,
        target_offset: int,
        source: Buffer,
        source_offset: int,
        nbytes: int,
    ) -> None:
        """Queue a copy within the device."""
        with self.current():
            stream = self.stream()
            to = own(target, stream).at(target_offset, nbytes)
            start = own(source, stream).at(source_offset, nbytes)
            if nbytes:
                self._context.copy(to, start, nbytes, stream)

    def copy_from(
        self,
        target: Buffer,
        target_offset: int,
        other: Device,
        source: Buffer,
        source_offset: int,
        nbytes: int,
    ) -> None:
        """Queue a copy from another device.

        It comes after what the calling thread has queued on either device, and before what
        it queues there next.
        """
        if not isinstance(other, CudaDevice):
            raise TypeError(f"{type(other).__name__} is no CUDA device")
        if other.driver is not self.driver:
            raise TypeError(f"one device is reached by {self.driver.name}, the other is not")
        with other.current():
            theirs = other._lease()
            start = own(source, theirs.stream).at(source_offset, nbytes)
            other._context.record(theirs.event, theirs.stream)
        with self.current():
            self._reach(other)
            mine = self._lease()
            to = own(target, mine.stream).at(target_offset, nbytes)
            self._context.wait(mine.stream, theirs.event)
            if nbytes:
                self._context.copy(to, start, nbytes, mine.stream)
            self._context.record(mine.event, mine.stream)
        with other.current():
            other._context.wait(theirs.stream, mine.event)

    def _reach(self, other: CudaDevice) -> None:
        """See to it that copies need not go through the host's memory, where that can be.

        Needs the context to be current.
        """
        if other._number in self._peers:
            return
        self._peers.add(other._number)
        self._context.reach(other._context)

    def synchronize(self) -> None:
        """Wait for the calling thread's stream."""
        with self.current():
            self._context.synchronize(self.stream())

    def free_memory(self) -> int:
        """Return the bytes that are free or kept for reuse."""
        with self.current():
            return self._context.free_memory() + self._reserve.held()


class CudaTarget(Target):
    """One GPU. Raises BackendUnavailableError where it, its driver or a compiler is missing."""

    name = "cuda"

    def __init__(self, index: int = 0, driver: str = "") -> None:
        """driver: the name of the driver layer, by default the one that is chosen."""
        self.device = CudaDevice(index, driver)
        newest = self.device.driver.cuda_version()
        if not compiler.found(newest):
            raise BackendUnavailableError(compiler.why_none(newest))

    def describe(self) -> str:
        """Return the GPU's name and its multiprocessors."""
        info = self.device.info
        return f"{info.name}, {info.multiprocessors} multiprocessors"

    @property
    def devices(self) -> Sequence[Device]:
        """The GPU, alone."""
        return (self.device,)

    def free_device_memory(self) -> int | None:
        """Return the bytes that the GPU has to spare."""
        return self.device.free_memory()

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return page-locked host memory."""
        return self.device.pinned(nbytes)
