"""The CPU as a target: the compiled extension, at the best level that this CPU has."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
from pathlib import Path
from typing import NamedTuple

from kernels.targets.contract import BackendUnavailableError, Target

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

HOW_TO_BUILD = "install a C++17 compiler (g++ or clang++) and reinstall the package"
# Said where a build for one machine alone, as scripts/demo makes it, was moved to another.
NO_LEVEL = (
    "the CPU kernels were compiled for a CPU that can do more than this one ({}): reinstall the "
    "package on this machine; no CPU older than x86-64-v2 will do"
)


def levels() -> list[str]:
    """Return the levels that this build and CPU have, slowest first; [] without the extension."""
    return [] if _cpu is None else list(_cpu.levels())


def compiler() -> str:
    """Return the compiler that the extension was built with; '' without the extension."""
    return "" if _cpu is None else str(_cpu.compiler)


def core_count() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def model() -> str:
    """Return the name that the CPU's maker gave it, or what else the system says of it."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", errors="replace") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or "unknown"


@functools.cache
def level2_bytes() -> int:
    """Return the bytes of the level 2 cache of one core; 512 KiB where nothing tells."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index2/size").read_text().strip()
        return int(text.removesuffix("K")) * 1024
    except (OSError, ValueError):
        return 512 * 1024


class Machine(NamedTuple):
    """A CPU as plans know it.

    vector_bits: of its registers. cache_bytes: of the level 2 cache of one core. threads: that
    work at once.
    """

    vector_bits: int
    cache_bytes: int
    threads: int


class CpuTarget(Target):
    """The CPU, with the compiled extension.

    threads: how many work at once, all cores by default; level: of levels(), the best by default.
    Raises BackendUnavailableError where there is no extension or no such level.
    """

    name = "cpu"

    def __init__(self, threads: int | None = None, level: str | None = None) -> None:
        if _cpu is None:
            raise BackendUnavailableError(f"the CPU kernels are not built: {HOW_TO_BUILD}")
        available = levels()
        if not available:
            raise BackendUnavailableError(NO_LEVEL.format(model()))
        self.level = level or available[-1]
        if self.level not in available:
            raise BackendUnavailableError(f"no CPU level {self.level} here: {available}")
        if threads is not None and threads < 1:
            raise ValueError(f"at least one thread is needed, not {threads}")
        self.threads = threads or core_count()
        self.vector_bits = int(_cpu.vector_bits(self.level))

    @property
    def machine(self) -> Machine:
        """Return what plans depend on."""
        return Machine(self.vector_bits, level2_bytes(), self.threads)

    def describe(self) -> str:
        """Return level, width of vectors and threads."""
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"CPU level {self.level} ({self.vector_bits} bits), {threads}"

    def free_device_memory(self) -> int | None:
        """Return None: it computes in host memory."""
        return None
