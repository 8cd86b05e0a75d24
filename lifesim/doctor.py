"""Find out what this machine has, which backend is taken and why. Nothing here fails: it says
why."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from bulkbits.cluster import worker
from bulkbits.timing import compete
from bulkbits.version import version
from kernels.targets import choose, cpu
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cuda import compile as compiler
from kernels.targets.cuda import driver as drivers
from kernels.targets.memory import available_memory
from lifesim.bench import runner_of, soup_universe
from lifesim.disk_speed import DiskFacts, DiskSpeedError, disk_facts
from lifesim.scale import scale_of
from lifesim.window import WindowFacts, WindowUnavailableError
from lifesim.window import look as _window

_SOUP_SECONDS = 0.15
_DRIVER_VERSION = Path("/proc/driver/nvidia/version")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unknown:
    """The reason why there is no finding, in place of one."""

    reason: str


class _UnknownError(Exception):
    """A probe finds nothing, and knows why."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of what this runs on."""

    package: str
    python: str
    system: str


@dataclass(frozen=True, slots=True)
class Cpu:
    """The CPU. cores: that this process may use; threads: that the CPU backend would take."""

    model: str
    cores: int
    threads: int
    level2_bytes: int


@dataclass(frozen=True, slots=True)
class CpuKernels:
    """The compiled kernels for CPUs. levels: that this build and CPU have; level, vector_bits: of
    the one taken."""

    levels: tuple[str, ...]
    level: str
    vector_bits: int
    compiler: str


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int  # bytes


@dataclass(frozen=True, slots=True)
class DriverFacts:
    """The driver of the GPUs. cuda: the newest CUDA that it can run; version: its own, '' where
    nothing tells."""

    cuda: str
    version: str


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """The memory of this machine."""

    available: int  # bytes
    total: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The backend that `auto` takes, and a line for each that it passed over."""

    name: str
    description: str
    passed_over: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpeedFacts:
    """The cell updates per second of that backend on a square soup."""

    side: int
    rate: float


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The findings of a look at this machine."""

    versions: Versions | Unknown
    cpu: Cpu | Unknown
    cpu_kernels: CpuKernels | Unknown
    gpus: tuple[Gpu, ...] | Unknown
    driver: DriverFacts | Unknown
    pycuda: str | Unknown
    cuda_core: str | Unknown
    reached_by: str | Unknown
    device_compiler: str | Unknown
    memory: MemoryFacts | Unknown
    disk: DiskFacts | Unknown
    window: WindowFacts | Unknown
    backend: Choice | Unknown
    speed: SpeedFacts | Unknown


def collect(
    device: int = 0, threads: int | None = None, folder: Path | None = None
) -> DoctorReport:
    """Look at everything; takes about a second.

    folder: whose disk is measured, the current one by default.
    """
    chosen: list[Target] = []

    def choice() -> Choice:
        backend, passed_over = choose.explain("auto", device=device, threads=threads)
        chosen.append(backend)
        return Choice(backend.name, backend.describe(), tuple(passed_over))

    def speed() -> SpeedFacts:
        if not chosen:
            raise _UnknownError("there is no backend to measure")
        return speed_of(chosen[0])

    return DoctorReport(
        versions=_probe(_versions),
        cpu=_probe(lambda: _cpu(threads)),
        cpu_kernels=_probe(_cpu_kernels),
        gpus=_probe(_gpus),
        driver=_probe(_driver),
        pycuda=_probe(lambda: _layer("pycuda", "pycuda", device)),
        cuda_core=_probe(lambda: _layer("cuda.core", "cuda-core", device)),
        reached_by=_probe(_reached_by),
        device_compiler=_probe(_device_compiler),
        memory=_probe(_memory),
        disk=_probe(lambda: _disk(folder)),
        window=_probe(_window),
        backend=_probe(choice),
        speed=_probe(speed),
    )


def _probe(look: Callable[[], T]) -> T | Unknown:
    """Return a finding, or why there is none: whatever goes wrong on a broken machine is a finding
    too."""
    try:
        return look()
    except (_UnknownError, BackendUnavailableError, WindowUnavailableError) as error:
        return Unknown(_line(str(error)))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return Unknown(_line(f"{where}{error.strerror or error}"))
    except Exception as error:
        return Unknown(_line(f"{type(error).__name__}: {error}"))


def _line(text: str) -> str:
    return " ".join(text.split())


def _versions() -> Versions:
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Versions(version(), platform.python_version(), system)


def _cpu(threads: int | None) -> Cpu:
    cores = cpu.core_count()
    return Cpu(cpu.model(), cores, threads or cores, cpu.level2_bytes())


def _cpu_kernels() -> CpuKernels:
    try:
        importlib.import_module("kernels._cpu")
    except ImportError as error:
        raise _UnknownError(f"not built ({error}): {cpu.HOW_TO_BUILD}") from None
    levels = tuple(cpu.levels())
    taken = cpu.CpuTarget()
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
        raise _UnknownError("no CUDA driver: libcuda.so.1 does not load") from None
    _check(library, library.cuInit(0))
    return library


def _check(library: ctypes.CDLL, status: int) -> None:
    if status:
        text = ctypes.c_char_p()
        library.cuGetErrorString(status, ctypes.byref(text))
        what = text.value.decode(errors="replace") if text.value else "unknown error"
        raise _UnknownError(f"the CUDA driver says: {what} ({status})")


def _gpus() -> tuple[Gpu, ...]:
    library = _driver_library()
    count = ctypes.c_int()
    _check(library, library.cuDeviceGetCount(ctypes.byref(count)))
    if not count.value:
        raise _UnknownError("the CUDA driver sees no GPU")
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


def _driver() -> DriverFacts:
    newest = _cuda_version(_driver_library())
    own = ""
    with contextlib.suppress(OSError):
        first = _DRIVER_VERSION.read_text(errors="replace").partition("\n")[0]
        if match := re.search(r"\b\d{3,}\.\d+(?:\.\d+)*\b", first):
            own = match[0]
    return DriverFacts("{}.{}".format(*newest), own)


def _cuda_version(library: ctypes.CDLL) -> tuple[int, int]:
    """Return the newest CUDA that the driver can run."""
    number = ctypes.c_int()
    _check(library, library.cuDriverGetVersion(ctypes.byref(number)))
    return number.value // 1000, number.value % 1000 // 10


def _layer(name: str, distribution: str, device: int) -> str:
    """Return the version of a driver layer's package with which the GPU can be used."""
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        extra = "pycuda" if name == "pycuda" else "gpu"
        raise _UnknownError(f"not installed: pip install 'bulkbits[{extra}]'") from None
    from kernels.targets.cuda.target import CudaDevice

    try:
        return CudaDevice(device, name).driver.version()
    except BackendUnavailableError as error:
        raise _UnknownError(f"{version} is installed, but {error}") from None


def _reached_by() -> str:
    """Return the name of the driver layer that is taken."""
    return drivers.chosen().name


def _device_compiler() -> str:
    newest = compiler.ANY
    with contextlib.suppress(_UnknownError):
        newest = _cuda_version(_driver_library())
    if not (found := compiler.found(newest)):
        raise _UnknownError(compiler.why_none(newest))
    return found


def _memory() -> MemoryFacts:
    available = available_memory()
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        total = 0
    return MemoryFacts(available, total)


def _disk(folder: Path | None) -> DiskFacts:
    try:
        return disk_facts(folder or Path.cwd())
    except DiskSpeedError as error:
        raise _UnknownError(str(error)) from None


def worker_speed() -> SpeedFacts:
    """Measure the speed of the cluster's worker that executes the calling task."""
    return speed_of(worker.backend())


def speed_of(backend: Target) -> SpeedFacts:
    """Measure how fast a backend is, in some tenths of a second."""
    side = scale_of(backend).soup_side
    runner = runner_of(soup_universe(backend, side, side))
    return SpeedFacts(side, compete([runner], _SOUP_SECONDS, rounds=3)[0].best)
