"""The CUDA target, through PyCUDA: the only module that imports it, and only when asked."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import PAGE, BackendUnavailableError, Target
from kernels.targets.cuda import compile as compiler
from kernels.targets.cuda.device import Buffer, Device, DeviceInfo
from kernels.targets.cuda.handles import CudaBuffer, CudaModule, keep_for_ever, own
from kernels.targets.cuda.memory import Reserve

_OLDEST = (7, 5)  # what today's compilers still know
_MOST_COPIED = 1 << 31  # bytes: PyCUDA counts those of a copy in 32 bits
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: not ordered with the default stream


def _driver() -> Any:
    try:
        import pycuda.driver as driver
    except ImportError as error:
        hint = "pip install 'bulkbits[gpu]'" if error.name == "pycuda" else str(error)
        raise BackendUnavailableError(f"PyCUDA does not load: {hint}") from None
    try:
        driver.init()
    except driver.Error as error:
        raise BackendUnavailableError(f"no usable CUDA driver: {error}") from None
    return driver


def device_count() -> int:
    """Return how many GPUs this process may use. Raises BackendUnavailableError where none may."""
    return int(_driver().Device.count())


class _Lease:
    """A thread's use of a stream, which goes back to the idle ones when the thread ends.

    Not destroyed then: PyCUDA could do it only where the context is current. So with the event
    that marks a place in the stream.
    """

    def __init__(self, stream: Any, event: Any, idle: list[tuple[Any, Any]]) -> None:
        self.stream, self.event, self._idle = stream, event, idle

    def __del__(self) -> None:
        self._idle.append((self.stream, self.event))


# PyCUDA unloads modules only in the thread that made their context, and whatever thread
# collects garbage may be another one: devices live as long as the process.
_KEPT: list[CudaDevice] = []


class CudaDevice:
    """One GPU: kernels.targets.cuda.device.Device through PyCUDA, on its primary context.

    Raises BackendUnavailableError where there is no driver or no such device.
    """

    def __init__(self, index: int = 0) -> None:
        self._driver = driver = _driver()
        count = driver.Device.count()
        if not 0 <= index < count:
            raise BackendUnavailableError(f"no CUDA device {index}: there are {count}")
        device = driver.Device(index)
        capability: tuple[int, int] = device.compute_capability()
        if capability < _OLDEST:
            raise BackendUnavailableError(
                f"{device.name()} has compute capability {capability}, at least {_OLDEST} is needed"
            )
        try:
            self._context = device.retain_primary_context()
        except driver.Error as error:
            raise BackendUnavailableError(f"{device.name()} cannot be used: {error}") from None
        self.info = DeviceInfo(
            name=device.name(),
            multiprocessors=device.multiprocessor_count,
            memory=device.total_memory(),
            capability=capability,
            index=index,
        )
        self._modules: dict[Any, CudaModule] = {}
        self._reserve_limit = self.info.memory // 8
        self._reserve = Reserve(self._reserve_limit)
        _KEPT.append(self)
        keep_for_ever(self)
        atexit.register(self._leave)
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
            self._driver.Context.pop()

    def _leave(self) -> None:
        """PyCUDA aborts the exit where a context is still current: where, say, an interrupt came
        right after a push."""
        with suppress(self._driver.Error):
            while True:  # until there is none to pop
                self._driver.Context.pop()

    def _lease(self) -> _Lease:
        """Return the calling thread's own lease. Needs the context to be current."""
        lease: _Lease | None = getattr(self._mine, "lease", None)
        if lease is None:
            try:
                stream, event = self._idle.pop()
            except IndexError:
                stream = self._driver.Stream(_NON_BLOCKING)
                event = self._driver.Event(self._driver.event_flags.DISABLE_TIMING)
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
        version = int(self._driver.get_driver_version())
        return f"{version // 1000}.{version % 1000 // 10}"

    def module(self, source: Path, defines: Mapping[str, int | str]) -> CudaModule:
        """Compile a .cu file, or return it where this device has loaded it already."""
        key = (source, tuple(sorted(defines.items())))
        with self._loading:
            if key not in self._modules:
                cubin = compiler.cubin(source, defines, self.info.capability)
                with self.current():
                    self._modules[key] = CudaModule(self, self._driver.module_from_buffer(cubin))
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
            return self._driver.mem_alloc(nbytes)
        except self._driver.MemoryError:
            pass
        # Another object of the same GPU may have a reserve, too.
        for device in _KEPT:
            for old in device._reserve.surplus(0):
                device._free(old)
        try:
            return self._driver.mem_alloc(nbytes)
        except self._driver.MemoryError:
            free = self._driver.mem_get_info()[0]
            raise MemoryError(
                f"{self.info.name}: {nbytes:,} bytes asked for, {free:,} are free"
            ) from None

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return page-locked host memory from the start of a page. Raises MemoryError."""
        with self.current():
            try:
                memory: npt.NDArray[np.uint8] = self._driver.pagelocked_empty(
                    nbytes + PAGE, np.uint8
                )
            except self._driver.MemoryError:
                raise MemoryError(
                    f"{nbytes:,} bytes of page-locked memory are not to be had"
                ) from None
        weakref.finalize(memory, self._free, memory.base).atexit = False
        start = -memory.ctypes.data % PAGE
        return memory[start : start + nbytes]

    def _is_pinned(self, array: npt.NDArray[Any]) -> bool:
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, self._driver.PagelockedHostAllocation)

    # On the thread's stream also from and to pageable memory: a plain copy may return
    # before the last of it has arrived, and no other stream would wait for it.
    def upload(self, target: Buffer, source: npt.NDArray[Any], offset: int = 0) -> None:
        """Queue a copy to the device, and wait for it where the source is not page-locked."""
        if not source.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied to a device")
        with self.current():
            stream = self.stream()
            address = own(target, stream).at(offset, source.nbytes)
            self._driver.memcpy_htod_async(address, source, stream)
            if not self._is_pinned(source):
                stream.synchronize()

    def download(self, target: npt.NDArray[Any], source: Buffer, offset: int = 0) -> None:
        """Copy from the device, and wait for it."""
        if not target.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied from a device")
        with self.current():
            stream = self.stream()
            address = own(source, stream).at(offset, target.nbytes)
            if not self._is_pinned(target):
                # A copy to pageable memory that waits keeps other threads from queueing.
                stream.synchronize()
            self._driver.memcpy_dtoh_async(target, address, stream)
            stream.synchronize()

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
                self._driver.memcpy_dtod_async(to, start, nbytes, stream)

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
        with other.current():
            theirs = other._lease()
            start = own(source, theirs.stream).at(source_offset, nbytes)
            theirs.event.record(theirs.stream)
        with self.current():
            self._reach(other)
            mine = self._lease()
            to = own(target, mine.stream).at(target_offset, nbytes)
            mine.stream.wait_for_event(theirs.event)
            for i in range(0, nbytes, _MOST_COPIED):
                # An address tells its device. (PyCUDA's memcpy_peer_async takes no contexts.)
                self._driver.memcpy_dtod_async(
                    to + i, start + i, min(_MOST_COPIED, nbytes - i), mine.stream
                )
            mine.event.record(mine.stream)
        with other.current():
            theirs.stream.wait_for_event(mine.event)

    def _reach(self, other: CudaDevice) -> None:
        """See to it that copies need not go through the host's memory, where that can be.

        Needs the context to be current.
        """
        if other._number in self._peers:
            return
        self._peers.add(other._number)
        device = self._driver.Device
        if device(self._number).can_access_peer(device(other._number)):
            # Refused where another object of this GPU has done so.
            with suppress(self._driver.LogicError):
                self._context.enable_peer_access(other._context)

    def synchronize(self) -> None:
        """Wait for the calling thread's stream."""
        with self.current():
            self.stream().synchronize()

    def allow_shared(self, function: Any, nbytes: int) -> None:
        """Let a kernel have more shared memory than all have."""
        most = self._driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        function.set_attribute(most, nbytes)

    def free_memory(self) -> int:
        """Return the bytes that are free or kept for reuse."""
        with self.current():
            return int(self._driver.mem_get_info()[0]) + self._reserve.held()


class CudaTarget(Target):
    """One GPU. Raises BackendUnavailableError where it, its driver or a compiler is missing."""

    name = "cuda"

    def __init__(self, index: int = 0) -> None:
        if not compiler.found():
            raise BackendUnavailableError(compiler.HOW_TO_GET)
        self.device = CudaDevice(index)

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
