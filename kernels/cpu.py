"""The CPU backend: the compiled extension, at the best level this CPU has."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kernels.backend import Backend, BackendUnavailableError, LifeUniverse, Words
from kernels.life.plan import CpuPlan, choose_cpu

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

HOW_TO_BUILD = "install a C++17 compiler (g++ or clang++) and reinstall the package"


def levels() -> list[str]:
    """CPU levels that this build and CPU have, slowest first; [] without the extension."""
    return [] if _cpu is None else list(_cpu.levels())


def compiler() -> str:
    """The compiler that the extension was built with; '' without the extension."""
    return "" if _cpu is None else str(_cpu.compiler)


def core_count() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def level2_bytes() -> int:
    """Bytes of the level 2 cache of one core; 512 KiB where nothing tells."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index2/size").read_text().strip()
        return int(text.removesuffix("K")) * 1024
    except (OSError, ValueError):
        return 512 * 1024


class CpuBackend(Backend):
    """threads: how many work at once, all cores by default; level: of levels()."""

    name = "cpu"

    def __init__(self, threads: int | None = None, level: str | None = None) -> None:
        if _cpu is None:
            raise BackendUnavailableError(f"the CPU kernels are not built: {HOW_TO_BUILD}")
        available = levels()
        if not available:
            raise BackendUnavailableError("this CPU is older than x86-64-v2")
        self.level = level or available[-1]
        if self.level not in available:
            raise BackendUnavailableError(f"no CPU level {self.level} here: {available}")
        if threads is not None and threads < 1:
            raise ValueError(f"at least one thread is needed, not {threads}")
        self.threads = threads or core_count()
        self.vector_bits = int(_cpu.vector_bits(self.level))

    def describe(self) -> str:
        return f"CPU level {self.level} ({self.vector_bits} bits), {self.threads} threads"

    def life(
        self, words: Words, width: int, height: int, *, torus: bool, birth: int, survival: int
    ) -> LifeUniverse:
        return CpuLife(self, words, width, height, torus, birth, survival)


class CpuLife(LifeUniverse):
    """Two copies of the universe, row-major; a pass reads one and writes the other."""

    def __init__(
        self,
        backend: CpuBackend,
        words: Words,
        width: int,
        height: int,
        torus: bool,
        birth: int,
        survival: int,
        plan: CpuPlan | None = None,
    ) -> None:
        """plan: used for every pass of at least its steps, instead of the chosen one."""
        self.width, self.height, self.generation = width, height, 0
        self._backend, self._torus = backend, torus
        self._birth, self._survival = birth, survival
        self._now = np.array(words, np.uint64, order="C")
        self._next = np.empty_like(self._now)
        self._given = plan
        self.stride = self.plan(1 << 30).steps

    def plan(self, generations: int) -> CpuPlan:
        """How the next pass of a run of `generations` is cut up."""
        if self._given is not None and generations >= self._given.steps:
            return self._given
        return choose_cpu(
            self.width,
            self.height,
            self._torus,
            generations,
            self._backend.vector_bits,
            level2_bytes(),
            self._backend.threads,
        )

    def step(self, generations: int) -> None:
        left = generations
        while left > 0:
            plan = self.plan(left)
            _cpu.life_pass(
                self._backend.level,
                self._now,
                self._next,
                self.width,
                self._torus,
                self._birth,
                self._survival,
                plan.steps,
                plan.panels,
                plan.useful,
                plan.columns,
                plan.halo,
                plan.band_rows,
                plan.block_rows,
                self._backend.threads,
            )
            self._now, self._next = self._next, self._now
            self.generation += plan.steps
            left -= plan.steps

    def words(self) -> Words:
        return self._now.copy()
