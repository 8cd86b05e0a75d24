"""The CUDA backend, through PyCUDA: the only module that imports it, and only when asked."""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels import compiler
from kernels.backend import (
    PAGE,
    Backend,
    BackendUnavailableError,
    ChainShape,
    LifeArena,
    LifeChain,
    Shape,
)
from kernels.device import Buffer, Device, DeviceInfo, Slice
from kernels.life.cuda import DeviceArena, device_bytes, device_chain
from kernels.reserve import Reserve

_OLDEST = (7, 5)  # what today's compilers still know
_SHARED = 48 << 10  # bytes of shared memory that a kernel has without asking for more
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
    """GPUs that this process may use. Raises BackendUnavailableError where none may."""
    return int(_driver().Device.count())


def _keep_for_ever(thing: Any) -> None:
    """PyCUDA warns where one is destroyed at the exit of a process whose other threads made it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class CudaBuffer:
    """Device memory; freed with the object."""

    def __init__(self, device: CudaDevice, allocation: Any, nbytes: int, stream: Any) -> None:
        """stream: that of the thread that takes it."""
        self.allocation, self.nbytes = allocation, nbytes
        self.stream = stream  # the only one to use it; None once another has
        self._device = device

    def __del__(self) -> None:
        if sys.is_finalizing():  # the process's memory goes anyway
            _keep_for_ever(self.allocation)
        else:
            self._device.give_back(self)

    @property
    def address(self) -> int:
        """For code that uses the memory in ways that are not known here."""
        self.stream = None
        return int(self.allocation)

    def at(self, offset: int, nbytes: int) -> int:
        if offset < 0 or offset + nbytes > self.nbytes:
            raise ValueError(f"{nbytes} bytes at {offset} leave a buffer of {self.nbytes}")
        return int(self.allocation) + offset


def _own(buffer: Buffer, stream: Any) -> CudaBuffer:
    """Of a CUDA device, and now used on a stream."""
    if not isinstance(buffer, CudaBuffer):
        raise TypeError(f"{type(buffer).__name__} is no memory of a CUDA device")
    if buffer.stream is not stream:
        buffer.stream = None
    return buffer


def _pointer(memory: Buffer | Slice, stream: Any) -> Any:
    """As PyCUDA takes it for a parameter: a number of a pointer's size will do."""
    if isinstance(memory, Slice):
        return np.uintp(_own(memory.buffer, stream).at(memory.offset, 0))
    return _own(memory, stream).allocation


class CudaModule:
    def __init__(self, device: CudaDevice, module: Any) -> None:
        self._device, self._module = device, module
        self._functions: dict[str, Any] = {}
        self._shared: dict[str, int] = {}  # bytes that each kernel may have, where more

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        *args: Buffer | Slice | np.integer[Any],
        shared: int = 0,
    ) -> None:
        with self._device.current():
            if kernel not in self._functions:
                self._functions[kernel] = self._module.get_function(kernel)
            if shared > self._shared.get(kernel, _SHARED):
                self._device.allow_shared(self._functions[kernel], shared)
                self._shared[kernel] = shared
            stream = self._device.stream()
            values = [a if isinstance(a, np.integer) else _pointer(a, stream) for a in args]
            self._functions[kernel](*values, grid=grid, block=block, shared=shared, stream=stream)


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
    """One GPU: kernels.device.Device through PyCUDA, on its primary context.

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
        )
        self._modules: dict[Any, CudaModule] = {}
        self._reserve_limit = self.info.memory // 8
        self._reserve = Reserve(self._reserve_limit)
        _KEPT.append(self)
        _keep_for_ever(self)
        atexit.register(self._leave)
        self._loading = threading.Lock()
        self._idle: list[tuple[Any, Any]] = []  # streams and their events
        self._number = index
        self._peers = {index}  # devices whose memory this one reaches, or never can
        self._mine = threading.local()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Contexts belong to threads: make this one current for a moment."""
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
        """The calling thread's own. Needs the context to be current."""
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
        """The calling thread's own. Needs the context to be current."""
        return self._lease().stream

    def _free(self, allocation: Any) -> None:
        """In whatever thread: PyCUDA leaks what is dropped where the context is not current."""
        with self.current():
            allocation.free()

    def give_back(self, buffer: CudaBuffer) -> None:
        """Memory that nothing refers to any more."""
        if buffer.stream is None or buffer.nbytes > self._reserve_limit:
            self._free(buffer.allocation)
        else:
            self._reserve.give(buffer.stream, buffer.nbytes, buffer.allocation)

    def driver_version(self) -> str:
        version = int(self._driver.get_driver_version())
        return f"{version // 1000}.{version % 1000 // 10}"

    def module(self, source: Path, defines: Mapping[str, int | str]) -> CudaModule:
        key = (source, tuple(sorted(defines.items())))
        with self._loading:
            if key not in self._modules:
                cubin = compiler.cubin(source, defines, self.info.capability)
                with self.current():
                    self._modules[key] = CudaModule(self, self._driver.module_from_buffer(cubin))
            return self._modules[key]

    def alloc(self, nbytes: int) -> CudaBuffer:
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
        if not source.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied to a device")
        with self.current():
            stream = self.stream()
            address = _own(target, stream).at(offset, source.nbytes)
            self._driver.memcpy_htod_async(address, source, stream)
            if not self._is_pinned(source):
                stream.synchronize()

    def download(self, target: npt.NDArray[Any], source: Buffer, offset: int = 0) -> None:
        if not target.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied from a device")
        with self.current():
            stream = self.stream()
            address = _own(source, stream).at(offset, target.nbytes)
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
        with self.current():
            stream = self.stream()
            to = _own(target, stream).at(target_offset, nbytes)
            start = _own(source, stream).at(source_offset, nbytes)
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
        if not isinstance(other, CudaDevice):
            raise TypeError(f"{type(other).__name__} is no CUDA device")
        with other.current():
            theirs = other._lease()
            start = _own(source, theirs.stream).at(source_offset, nbytes)
            theirs.event.record(theirs.stream)
        with self.current():
            self._reach(other)
            mine = self._lease()
            to = _own(target, mine.stream).at(target_offset, nbytes)
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
        with self.current():
            self.stream().synchronize()

    def allow_shared(self, function: Any, nbytes: int) -> None:
        """Let a kernel have more shared memory than all have."""
        most = self._driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        function.set_attribute(most, nbytes)

    def free_memory(self) -> int:
        with self.current():
            return int(self._driver.mem_get_info()[0]) + self._reserve.held()


class CudaBackend(Backend):
    name = "cuda"

    def __init__(self, index: int = 0) -> None:
        if not compiler.found():
            raise BackendUnavailableError(compiler.HOW_TO_GET)
        self.device = CudaDevice(index)

    def describe(self) -> str:
        info = self.device.info
        return f"{info.name}, {info.multiprocessors} multiprocessors"

    def life_arena(
        self,
        shapes: Sequence[Shape],
        slots: int,
        *,
        birth: int,
        survival: int,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        return DeviceArena(self.device, shapes, slots, birth, survival, chain=chain)

    def arena_bytes(
        self, shapes: Sequence[Shape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        return 0, device_bytes(shapes, slots, self.device.info.multiprocessors, chain)

    def life_chain(self, chain: ChainShape) -> LifeChain:
        return device_chain(chain, self.device.info.multiprocessors)

    def free_device_memory(self) -> int | None:
        return self.device.free_memory()

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        return self.device.pinned(nbytes)
