"""A kernels.targets.cuda.device.Device without a GPU: .cu files through the host compiler.

Environment, where the constructor is not told:
  EMULATION_ORDER     forward (default), reverse or shuffled:SEED; see Order
  EMULATION_SANITIZE  1: with the address sanitizer (see sanitized.py)
  EMULATION_TIMEOUT   seconds that one launch may take, default 60
  EMULATION_CACHE     folder of compiled kernels, default in the temporary folder
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import PAGE
from kernels.targets.cuda.device import Buffer, Device, DeviceInfo, Slice

from .build import build

UNSET = 0xA5  # what memory holds that nobody wrote
CANARY = 0xC7
STACK = 256 * 1024  # bytes of a thread's
MAX_THREADS = 1024  # of a block
GUARD = 4096  # bytes of canaries before and after a buffer
ALIGNMENT = 256  # as of cudaMalloc
MAX_SHARED = 227 * 1024

# Threads may not launch at once: a module has one set of fibers, and faults are
# caught by handlers of the whole process.
_launching = threading.Lock()


@dataclass(frozen=True, slots=True)
class Order:
    """The order in which ready threads take their turn.

    A kernel that lacks a barrier gives different results in different orders.
    """

    kind: int  # 0 forward, 1 reverse, 2 shuffled
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> Order:
        name, _, seed = text.partition(":")
        kinds = {"forward": 0, "reverse": 1, "shuffled": 2}
        if name not in kinds:
            raise ValueError(f"no such order: {text}")
        return cls(kinds[name], int(seed or 0))


class EmulatedBuffer:
    """Device memory; between guard zones, or on the sanitizer's heap."""

    def __init__(self, nbytes: int, sanitize: bool) -> None:
        self.nbytes = nbytes
        # The sanitizer poisons what surrounds a heap block, and the block when it is freed.
        guard = 0 if sanitize else GUARD
        if sanitize:
            self.address = _heap_alloc(nbytes)
            weakref.finalize(self, _libc().free, ctypes.c_void_p(self.address))
            raw: npt.NDArray[np.uint8] = _bytes_at(self.address, nbytes)
        else:
            raw = np.empty(guard + nbytes + guard + ALIGNMENT, np.uint8)
            start = -raw.ctypes.data % ALIGNMENT
            raw = raw[start : start + guard + nbytes + guard]
            raw[:] = CANARY
            self.address = raw.ctypes.data + guard
        self.data = raw[guard : guard + nbytes]
        self.data[:] = UNSET
        self._before, self._after = raw[:guard], raw[guard + nbytes :]
        self._whole = self._guards()

    def _guards(self) -> tuple[bytes, bytes]:
        return self._before.tobytes(), self._after.tobytes()

    def damage(self) -> str | None:
        """Say what was written outside, if anything."""
        if self._guards() == self._whole:
            return None
        wrong = np.flatnonzero(self._before != CANARY)
        if wrong.size:
            distance = self._before.size - int(wrong[-1])
            return f"a write {distance} bytes before the start of a buffer of {self.nbytes} bytes"
        wrong = np.flatnonzero(self._after != CANARY)
        if wrong.size:
            return f"a write {int(wrong[0])} bytes past the end of a buffer of {self.nbytes} bytes"
        return None


class EmulatedModule:
    def __init__(self, library: Path, device: EmulatedDevice) -> None:
        self._library = ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self._device = device
        self._launch = self._library.emulation_launch
        self._launch.restype = ctypes.c_int

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        *args: Buffer | Slice | np.integer[Any],
        shared: int = 0,
    ) -> None:
        try:
            function = getattr(self._library, kernel)
        except AttributeError:
            raise RuntimeError(f"no kernel named {kernel} in {self._library._name}") from None
        _check_configuration(kernel, grid, block, shared)
        values = self._slots(kernel, args)
        slots = (ctypes.c_uint64 * max(len(values), 1))(*values)
        message = ctypes.create_string_buffer(4096)
        order = self._device.order
        with _launching:
            failed = self._launch(
                function,
                (ctypes.c_uint32 * 3)(*grid),
                (ctypes.c_uint32 * 3)(*block),
                slots,
                ctypes.c_uint32(len(values)),
                ctypes.c_size_t(shared),
                ctypes.c_int(order.kind),
                ctypes.c_uint64(order.seed),
                ctypes.c_double(self._device.timeout),
                ctypes.c_void_p(_stacks()[0]),
                ctypes.c_size_t(mmap.PAGESIZE + STACK),
                ctypes.c_size_t(STACK),
                message,
                ctypes.c_size_t(len(message)),
            )
        if failed:
            raise RuntimeError(f"{kernel}: {message.value.decode(errors='replace')}")
        self._device.check_guards(kernel)

    def _slots(self, kernel: str, args: tuple[Buffer | Slice | np.integer[Any], ...]) -> list[int]:
        expected = self._signature(kernel)
        if expected is not None and len(expected) != len(args):
            raise RuntimeError(f"{kernel} has {len(expected)} parameters, not {len(args)}")
        values = []
        for i, arg in enumerate(args):
            if isinstance(arg, EmulatedBuffer):
                self._device.check_own(arg)
                given = "p8"
                values.append(arg.address)
            elif isinstance(arg, Slice):
                self._device.check_own(arg.buffer)
                given = "p8"
                values.append(_address(arg))
            elif isinstance(arg, np.integer):
                given = f"i{arg.dtype.itemsize}"
                values.append(int(arg) & 0xFFFFFFFFFFFFFFFF)
            else:
                raise TypeError(
                    f"{kernel}: argument {i} is {type(arg).__name__}, "
                    "neither a buffer nor a sized numpy integer"
                )
            if expected is not None and expected[i] != given:
                raise TypeError(
                    f"{kernel}: argument {i} is {given}, the parameter {expected[i]} "
                    "(p pointer, i integer, with its bytes)"
                )
        return values

    def _signature(self, kernel: str) -> list[str] | None:
        """The parameters as the compiler knows them; None where it was not asked."""
        try:
            text_of = getattr(self._library, f"emulation_signature_{kernel}")
        except AttributeError:
            return None
        text_of.restype = ctypes.c_char_p
        kinds, _, sizes = text_of().decode().partition("/")
        return [kind + size for kind, size in zip(kinds, sizes, strict=True)]


class EmulatedDevice:
    def __init__(
        self,
        *,
        order: str | None = None,
        sanitize: bool | None = None,
        multiprocessors: int = 4,
        capability: tuple[int, int] = (9, 0),
        memory: int = 1 << 28,
        timeout: float | None = None,
    ) -> None:
        """sanitize: with the address sanitizer, which must be loaded: see sanitized.py."""
        if order is None:
            order = os.environ.get("EMULATION_ORDER", "forward")
        if sanitize is None:
            sanitize = os.environ.get("EMULATION_SANITIZE", "0") not in ("", "0")
        if timeout is None:
            timeout = float(os.environ.get("EMULATION_TIMEOUT", "60"))
        if sanitize and not hasattr(_libc(), "__asan_init"):
            # Loading a sanitized library now would end the process.
            raise RuntimeError(
                "the address sanitizer is not loaded: run python -m tests.emulation.sanitized"
            )
        self.info = DeviceInfo("emulated", multiprocessors, memory, capability, None)
        self.order = Order.parse(order)
        self.sanitize = sanitize
        self.timeout = timeout
        self._buffers: weakref.WeakSet[EmulatedBuffer] = weakref.WeakSet()
        self._counting = threading.RLock()  # of buffers
        self._modules: dict[tuple[Path, frozenset[tuple[str, int | str]]], EmulatedModule] = {}

    def module(self, source: Path, defines: Mapping[str, int | str]) -> EmulatedModule:
        """Remembered, as CudaDevice does: even looking it up takes the compiler."""
        key = Path(source), frozenset(defines.items())
        if key not in self._modules:
            library = build(key[0], defines, sanitize=self.sanitize)
            self._modules[key] = EmulatedModule(library, self)
        return self._modules[key]

    def alloc(self, nbytes: int) -> EmulatedBuffer:
        with self._counting:
            if nbytes > self.free_memory():
                raise MemoryError(f"{nbytes} bytes wanted, {self.free_memory()} free")
            buffer = EmulatedBuffer(nbytes, self.sanitize)
            self._buffers.add(buffer)
            return buffer

    def upload(self, target: Buffer, source: npt.NDArray[Any], offset: int = 0) -> None:
        if not source.flags.c_contiguous:
            raise ValueError("the array is not C-contiguous")
        _span(target, offset, source.nbytes)[:] = source.reshape(-1).view(np.uint8)

    def download(self, target: npt.NDArray[Any], source: Buffer, offset: int = 0) -> None:
        if not target.flags.c_contiguous:
            raise ValueError("the array is not C-contiguous")
        target.reshape(-1).view(np.uint8)[:] = _span(source, offset, target.nbytes)

    def copy(
        self,
        target: Buffer,
        target_offset: int,
        source: Buffer,
        source_offset: int,
        nbytes: int,
    ) -> None:
        to, start = _span(target, target_offset, nbytes), _span(source, source_offset, nbytes)
        if np.may_share_memory(to, start):
            raise ValueError("a copy whose source and target overlap")
        to[:] = start

    def copy_from(
        self,
        target: Buffer,
        target_offset: int,
        other: Device,
        source: Buffer,
        source_offset: int,
        nbytes: int,
    ) -> None:
        if not isinstance(other, EmulatedDevice):
            raise TypeError(f"{type(other).__name__} is no emulated device")
        self.check_own(target)
        other.check_own(source)
        self.copy(target, target_offset, source, source_offset, nbytes)

    def synchronize(self) -> None:
        pass

    def free_memory(self) -> int:
        with self._counting:
            return self.info.memory - sum(b.nbytes for b in self._buffers)

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        memory = np.full(nbytes + PAGE, UNSET, np.uint8)
        start = -memory.ctypes.data % PAGE
        return memory[start : start + nbytes]

    def check_own(self, buffer: Buffer) -> None:
        if buffer not in self._buffers:
            raise TypeError("memory of another device")

    def check_guards(self, kernel: str) -> None:
        with self._counting:
            buffers = list(self._buffers)
        for buffer in buffers:
            damage = buffer.damage()
            if damage is not None:
                raise RuntimeError(f"{kernel}: {damage}")


@functools.cache
def _stacks() -> tuple[int, mmap.mmap]:
    """Stacks for all threads of a block, each above a page that may not be touched: where they
    are, and what keeps them there.

    For all modules, as only one launches at a time. Pages never used cost nothing.
    """
    stride = mmap.PAGESIZE + STACK
    area = mmap.mmap(-1, MAX_THREADS * stride, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    for i in range(MAX_THREADS):
        page = ctypes.c_void_p(address + i * stride)
        if _libc().mprotect(page, ctypes.c_size_t(mmap.PAGESIZE), 0):
            raise MemoryError("no guards for stacks")
    return address, area


def _check_configuration(
    kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int
) -> None:
    """The limits of every device of capability 7.5 and newer."""
    threads = block[0] * block[1] * block[2]
    fits = (
        all(1 <= g <= limit for g, limit in zip(grid, (2**31 - 1, 65535, 65535), strict=True))
        and all(1 <= b <= limit for b, limit in zip(block, (1024, 1024, 64), strict=True))
        and threads <= MAX_THREADS
        and 0 <= shared <= MAX_SHARED
    )
    if not fits:
        raise RuntimeError(
            f"{kernel}: invalid configuration: grid {grid}, block {block}, {shared} bytes shared"
        )


def _span(buffer: Buffer, offset: int, nbytes: int) -> npt.NDArray[np.uint8]:
    if not isinstance(buffer, EmulatedBuffer):
        raise TypeError(f"{type(buffer).__name__} is not this device's memory")
    if offset < 0 or offset + nbytes > buffer.nbytes:
        raise ValueError(
            f"bytes {offset} to {offset + nbytes} of a buffer of {buffer.nbytes} bytes"
        )
    return buffer.data[offset : offset + nbytes]


def _address(part: Slice) -> int:
    _span(part.buffer, part.offset, 0)
    return cast(EmulatedBuffer, part.buffer).address + part.offset


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _heap_alloc(nbytes: int) -> int:
    """Allocate by posix_memalign's name, so that the sanitizer's function takes its place."""
    address = ctypes.c_void_p()
    error = _libc().posix_memalign(
        ctypes.byref(address), ctypes.c_size_t(ALIGNMENT), ctypes.c_size_t(nbytes)
    )
    if error or address.value is None:
        raise MemoryError(f"{nbytes} bytes")
    return address.value


def _bytes_at(address: int, nbytes: int) -> npt.NDArray[np.uint8]:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))
