"""What this machine has, which backend is taken and why. Nothing here fails: it says why."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import mmap
import os
import platform
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from arith.cluster import worker
from kernels import choose, compiler, cpu
from kernels.backend import Backend, BackendUnavailableError
from kernels.memory import available_memory
from lifesim.bench import compete, runner_of, soup_universe

PACKAGE = "bulkbits"
_DISK_BYTES = 64 << 20
_DISK_CHUNK = 8 << 20
_DISK_SECONDS = 2.0  # each way, however slow the disk
_SOUP_SIDES = {"cuda": 16384, "cpu": 2048, "reference": 256}
_SOUP_SECONDS = 0.15

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Problem:
    """In place of a finding: why there is none."""

    reason: str


class _ProblemError(Exception):
    """Raised by a probe that knows why it finds nothing."""


@dataclass(frozen=True, slots=True)
class Versions:
    package: str
    python: str
    system: str


@dataclass(frozen=True, slots=True)
class Cpu:
    """cores: that this process may use; threads: that the CPU backend would take."""

    model: str
    cores: int
    threads: int
    level2_bytes: int


@dataclass(frozen=True, slots=True)
class CpuKernels:
    """levels: that this build and CPU have; level, vector_bits: of the one taken."""

    levels: tuple[str, ...]
    level: str
    vector_bits: int
    compiler: str


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int  # bytes


@dataclass(frozen=True, slots=True)
class Driver:
    """cuda: the newest CUDA that it can run; version: its own, '' where nothing tells."""

    cuda: str
    version: str


@dataclass(frozen=True, slots=True)
class Memory:
    available: int  # bytes
    total: int


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes per second of one file in `folder`; direct: past the cache of the system."""

    folder: str
    write: float
    read: float
    free: int
    direct: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """What backend `auto` takes, and a line for each that it passed over."""

    name: str
    description: str
    passed_over: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Speed:
    """Cell updates per second of that backend on a square soup."""

    side: int
    rate: float


@dataclass(frozen=True, slots=True)
class Report:
    versions: Versions | Problem
    cpu: Cpu | Problem
    cpu_kernels: CpuKernels | Problem
    gpus: tuple[Gpu, ...] | Problem
    driver: Driver | Problem
    pycuda: str | Problem
    device_compiler: str | Problem
    memory: Memory | Problem
    disk: Disk | Problem
    backend: Choice | Problem
    speed: Speed | Problem


def collect(device: int = 0, threads: int | None = None, folder: Path | None = None) -> Report:
    """Look at everything; takes about a second.

    folder: whose disk is measured, the current one by default.
    """
    chosen: list[Backend] = []

    def choice() -> Choice:
        backend, passed_over = choose.explain("auto", device=device, threads=threads)
        chosen.append(backend)
        return Choice(backend.name, backend.describe(), tuple(passed_over))

    def speed() -> Speed:
        if not chosen:
            raise _ProblemError("there is no backend to measure")
        return speed_of(chosen[0])

    return Report(
        versions=_probe(_versions),
        cpu=_probe(lambda: _cpu(threads)),
        cpu_kernels=_probe(_cpu_kernels),
        gpus=_probe(_gpus),
        driver=_probe(_driver),
        pycuda=_probe(lambda: _pycuda(device)),
        device_compiler=_probe(_device_compiler),
        memory=_probe(_memory),
        disk=_probe(lambda: _disk(folder)),
        backend=_probe(choice),
        speed=_probe(speed),
    )


def _probe(look: Callable[[], T]) -> T | Problem:
    """A broken machine is what a doctor is for: whatever goes wrong is a finding too."""
    try:
        return look()
    except (_ProblemError, BackendUnavailableError) as error:
        return Problem(_line(str(error)))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return Problem(_line(f"{where}{error.strerror or error}"))
    except Exception as error:
        return Problem(_line(f"{type(error).__name__}: {error}"))


def _line(text: str) -> str:
    return " ".join(text.split())


def _versions() -> Versions:
    try:
        package = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        package = "not installed"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Versions(package, platform.python_version(), system)


def _cpu(threads: int | None) -> Cpu:
    cores = cpu.core_count()
    return Cpu(_cpu_model(), cores, threads or cores, cpu.level2_bytes())


def _cpu_model() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", errors="replace") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or "unknown"


def _cpu_kernels() -> CpuKernels:
    try:
        importlib.import_module("kernels._cpu")
    except ImportError as error:
        raise _ProblemError(f"not built ({error}): {cpu.HOW_TO_BUILD}") from None
    levels = tuple(cpu.levels())
    taken = cpu.CpuBackend()
    built_with = cpu.compiler()
    if built_with[:1].isdigit():
        built_with = f"GCC {built_with}"  # which alone does not say its name
    return CpuKernels(levels, taken.level, taken.vector_bits, built_with)


# The driver's own library is asked, so that a GPU is seen where PyCUDA is missing, under
# the index that --device takes, and without the memory that a context costs.
def _driver_library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise _ProblemError("no CUDA driver: libcuda.so.1 does not load") from None
    _check(library, library.cuInit(0))
    return library


def _check(library: ctypes.CDLL, status: int) -> None:
    if status:
        text = ctypes.c_char_p()
        library.cuGetErrorString(status, ctypes.byref(text))
        what = text.value.decode(errors="replace") if text.value else "unknown error"
        raise _ProblemError(f"the CUDA driver says: {what} ({status})")


def _gpus() -> tuple[Gpu, ...]:
    library = _driver_library()
    count = ctypes.c_int()
    _check(library, library.cuDeviceGetCount(ctypes.byref(count)))
    if not count.value:
        raise _ProblemError("the CUDA driver sees no GPU")
    return tuple(_gpu(library, index) for index in range(count.value))


def _gpu(library: ctypes.CDLL, index: int) -> Gpu:
    device, memory = ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(256)
    _check(library, library.cuDeviceGet(ctypes.byref(device), index))
    _check(library, library.cuDeviceGetName(name, len(name), device))
    _check(library, library.cuDeviceTotalMem_v2(ctypes.byref(memory), device))

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        _check(library, library.cuDeviceGetAttribute(ctypes.byref(value), number, device))
        return value.value

    # Numbers of CUdevice_attribute: multiprocessors 16, compute capability 75 and 76.
    return Gpu(
        name.value.decode(errors="replace"),
        (attribute(75), attribute(76)),
        attribute(16),
        memory.value,
    )


def _driver() -> Driver:
    library = _driver_library()
    number = ctypes.c_int()
    _check(library, library.cuDriverGetVersion(ctypes.byref(number)))
    own = ""
    with contextlib.suppress(OSError):
        first = Path("/proc/driver/nvidia/version").read_text(errors="replace").partition("\n")[0]
        if match := re.search(r"\b\d{3,}\.\d+(?:\.\d+)*\b", first):
            own = match[0]
    return Driver(f"{number.value // 1000}.{number.value % 1000 // 10}", own)


def _pycuda(device: int) -> str:
    try:
        version = metadata.version("pycuda")
    except metadata.PackageNotFoundError:
        raise _ProblemError("not installed: pip install 'bulkbits[gpu]'") from None
    from kernels.cuda import CudaDevice

    try:
        CudaDevice(device)
    except BackendUnavailableError as error:
        raise _ProblemError(f"{version} is installed, but {error}") from None
    return version


def _device_compiler() -> str:
    if not (found := compiler.found()):
        raise _ProblemError(compiler.HOW_TO_GET)
    return found


def _memory() -> Memory:
    available = available_memory()
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        total = 0
    return Memory(available, total)


def _disk(folder: Path | None) -> Disk:
    folder = folder or Path.cwd()
    free = _free_bytes(folder)
    if free < 2 * _DISK_BYTES:  # to fill a disk up, however briefly, may break what runs
        raise _ProblemError(f"not measured: {free / 1e6:.0f} MB are free in {folder}")
    try:
        descriptor, path = tempfile.mkstemp(prefix=".lifesim-doctor-", dir=folder)
    except OSError as error:
        raise _ProblemError(f"cannot write in {folder}: {error.strerror}") from None
    try:
        os.unlink(path)  # now, so that nothing stays behind if this is killed
        direct = _past_the_cache(descriptor)
        with mmap.mmap(-1, _DISK_CHUNK) as chunk:  # page-aligned, as direct access asks
            chunk.write(os.urandom(1 << 20) * (_DISK_CHUNK >> 20))
            write, size = _rate(descriptor, chunk, writing=True)
            if not direct and hasattr(os, "posix_fadvise"):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            read, _ = _rate(descriptor, chunk, writing=False, size=size)
    except OSError as error:
        raise _ProblemError(f"cannot write in {folder}: {error.strerror}") from None
    finally:
        os.close(descriptor)
    return Disk(str(folder), write, read, free, direct)


def disk_rates(folder: str) -> tuple[float, float] | None:
    """Bytes per second that the disk of a folder reads and writes; None: not to be had."""
    try:
        disk = _disk(Path(folder))
    except (_ProblemError, OSError):
        return None
    return disk.read, disk.write


def _free_bytes(folder: Path) -> int:
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize


def _past_the_cache(descriptor: int) -> bool:
    """Whether O_DIRECT could be set: some file systems, and some systems, lack it."""
    flag = getattr(os, "O_DIRECT", 0)
    try:
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | flag)
    except (ImportError, OSError):
        return False
    return bool(flag)


def _rate(
    descriptor: int, chunk: mmap.mmap, *, writing: bool, size: int = _DISK_BYTES
) -> tuple[float, int]:
    """Bytes per second, and how many there were before the time was up."""
    start, done = time.perf_counter(), 0
    while done < size and (not done or time.perf_counter() - start < _DISK_SECONDS):
        if writing:
            count = os.pwrite(descriptor, chunk, done)
        else:
            count = os.preadv(descriptor, [chunk], done)
        done += count
        if count < len(chunk):  # full, or the end: a direct one could not go on from here
            break
    if writing:
        os.fsync(descriptor)
    if not done:
        raise OSError(0, "nothing was written" if writing else "nothing could be read back")
    return done / (time.perf_counter() - start), done


def worker_speed() -> Speed:
    """Of the worker of a cluster that this runs on."""
    return speed_of(worker.backend())


def speed_of(backend: Backend) -> Speed:
    """Measured in some tenths of a second."""
    side = _SOUP_SIDES[backend.name]
    runner = runner_of(soup_universe(backend, side, side))
    return Speed(side, compete([runner], _SOUP_SECONDS, rounds=3)[0].best)
