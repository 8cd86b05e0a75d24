"""The CPU backend: the compiled extension, at the best level this CPU has."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kernels.backend import (
    Backend,
    BackendUnavailableError,
    ChainedUniverse,
    ChainShape,
    ChainTurns,
    LifeArena,
    LifeChain,
    LifeUniverse,
    Shape,
    Words,
    check_chain,
    even_passes,
    with_slack,
)
from kernels.life.plan import CpuPlan, choose_cpu, cpu_plan

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


@functools.cache
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

    def life_arena(
        self,
        shapes: Sequence[Shape],
        slots: int,
        *,
        birth: int,
        survival: int,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        return CpuArena(self, shapes, slots, birth, survival, chain=chain)

    def arena_bytes(
        self, shapes: Sequence[Shape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        history = 0
        if chain is not None:
            width, generations, _, _ = chain
            shapes = with_slack(shapes, chain, self.life_chain(chain))
            history = 2 * generations * -(-width // 64)
        return 8 * ((slots + 1) * (_slot_words(shapes) + 7) + history), 0

    def life_chain(self, chain: ChainShape) -> LifeChain:
        check_chain(chain)
        width, generations, torus, height = chain
        plan = choose_cpu(
            width,
            height,
            torus,
            generations,
            self.vector_bits,
            level2_bytes(),
            self.threads,
            chained=True,
        )
        return LifeChain(width, torus, even_passes(generations, plan.steps))

    def free_device_memory(self) -> int | None:
        return None


def _slot_words(shapes: Sequence[Shape]) -> int:
    return max(height * -(-width // 64) for width, height, _ in shapes)


def _aligned_words(count: int) -> Words:
    """Uninitialised, from a multiple of 64 bytes on: what the largest vectors are stored at."""
    words = np.empty(count + 7, np.uint64)
    start = -words.ctypes.data % 64 // 8
    return words[start : start + count]


class CpuArena(LifeArena):
    """Flat arrays, the last of them the spare; a pass reads one, writes the spare, and they swap.

    plan: used for every pass of at least its steps, instead of the chosen one.
    """

    def __init__(
        self,
        backend: CpuBackend,
        shapes: Sequence[Shape],
        slots: int,
        birth: int,
        survival: int,
        plan: CpuPlan | None = None,
        chain: ChainShape | None = None,
    ) -> None:
        self.slots, self.backend, self.plan = slots, backend, plan
        self.birth, self.survival = birth, survival
        self.chain = None
        self.history: Words = np.empty((0, 0), np.uint64)
        if chain is not None:
            self.chain = backend.life_chain(chain)
            if plan is not None:
                self.chain = LifeChain(chain[0], chain[2], even_passes(chain[1], plan.steps))
            self._turns = ChainTurns(self.chain)
            shapes = with_slack(shapes, chain, self.chain)
            self.history = np.empty((2 * chain[1], -(-chain[0] // 64)), np.uint64)
        self.slot_words = _slot_words(shapes)
        self.memory = [_aligned_words(self.slot_words) for _ in range(slots + 1)]

    def open(self, slot: int, width: int, height: int, *, torus: bool) -> CpuLife:
        self._check(slot, width, height)
        return CpuLife(self, slot, width, height, torus)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedCpuLife:
        if self.chain is None:
            raise ValueError("there is no chain in this arena")
        self.chain.check_height(height, first=first)
        self._check(slot, self.chain.width, height + (0 if first else self.chain.slack))
        return ChainedCpuLife(self, slot, height, self._turns, first=first)

    def _check(self, slot: int, width: int, height: int) -> None:
        if not 0 <= slot < self.slots:
            raise ValueError(f"no slot {slot}: there are {self.slots}")
        if width < 1 or height < 1 or height * -(-width // 64) > self.slot_words:
            raise ValueError(f"{width}x{height} cells in {self.slot_words} words")

    def rows(self, index: int, width: int, first: int, count: int) -> Words:
        """Of universes of this width, in one of the arrays."""
        row_words = -(-width // 64)
        words = self.memory[index][first * row_words : (first + count) * row_words]
        return words.reshape(-1, row_words)

    def make_pass(
        self,
        source: Words,
        target: Words,
        width: int,
        torus: bool,
        plan: CpuPlan,
        stopped: Callable[[], bool] | None = None,
    ) -> bool:
        """False where `stopped` has broken it off; then nothing is known of the target."""
        return _cpu.life_pass(
            self.backend.level,
            source,
            target,
            width,
            torus,
            self.birth,
            self.survival,
            plan.steps,
            plan.panels,
            plan.useful,
            plan.columns,
            plan.halo,
            plan.band_rows,
            plan.block_rows,
            self.backend.threads,
            stopped,
        )

    def close(self) -> None:
        self.memory.clear()
        self.history = np.empty((0, 0), np.uint64)


class CpuLife(LifeUniverse):
    """Row-major, in a slot of an arena."""

    base = 0  # the row of the memory at which row 0 stands

    def __init__(self, arena: CpuArena, slot: int, width: int, height: int, torus: bool) -> None:
        self.width, self.height, self.generation = width, height, 0
        self._arena, self._slot, self._torus = arena, slot, torus
        self.stride = self.plan(1 << 30).steps

    def plan(self, generations: int) -> CpuPlan:
        """How the next pass of a run of `generations` is cut up."""
        backend, given = self._arena.backend, self._arena.plan
        if given is not None and generations >= given.steps:
            return given
        return choose_cpu(
            self.width,
            self.height,
            self._torus,
            generations,
            backend.vector_bits,
            level2_bytes(),
            backend.threads,
        )

    def _rows(self, index: int) -> Words:
        """All rows, in one of the arena's arrays."""
        return self._arena.rows(index, self.width, self.base, self.height)

    def step(self, generations: int) -> None:
        self.step_until(None, generations)

    def step_until(self, stopped: Callable[[], bool] | None, generations: int) -> None:
        """step() that ends at once, at a whole generation, where stopped() is true.

        It is asked from this thread, 100 times a second, while passes are under way. Not for
        universes of a chain.
        """
        arena, memory, slot = self._arena, self._arena.memory, self._slot
        left = generations
        while left > 0:
            plan, source, target = self.plan(left), self._rows(slot), self._rows(-1)
            if not arena.make_pass(source, target, self.width, self._torus, plan, stopped):
                return
            # No call, and so no interrupt, between these.
            memory[slot], memory[-1] = memory[-1], memory[slot]
            self.generation += plan.steps
            left -= plan.steps

    def put(self, y: int, words: Words) -> None:
        self.check_rows(y, words)
        self._rows(self._slot)[y : y + len(words)] = words

    def get(self, y: int, words: Words) -> None:
        self.check_rows(y, words, written=True)
        words[:] = self._rows(self._slot)[y : y + len(words)]


class ChainedCpuLife(ChainedUniverse, CpuLife):
    """Its rows stand at the same place of every array; what it takes, right in front of them."""

    def __init__(
        self, arena: CpuArena, slot: int, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus

    def _make(self, i: int) -> None:
        arena, memory, slot = self._arena, self._arena.memory, self._slot
        backend, steps = arena.backend, self.chain.passes[i]
        # The first row that is read, and the number of rows; row `steps` becomes row 0.
        above = 0 if self.first else 2 * steps
        start, count = self.base - above, self.height + above
        plan = arena.plan
        if plan is None or plan.steps != steps:
            plan = cpu_plan(
                self.width,
                count,
                self._torus,
                steps,
                backend.vector_bits,
                level2_bytes(),
                backend.threads,
            )
        source = arena.rows(slot, self.width, start, count)
        target = arena.rows(-1, self.width, start + above // 2, count)
        arena.make_pass(source, target, self.width, self._torus, plan)
        # No call, and so no interrupt, between these.
        memory[slot], memory[-1] = memory[-1], memory[slot]
        self.generation += steps
        self._turns.made += 1

    def _take(self, i: int) -> None:
        first, end = self.entry(i)
        rows = self._arena.rows(self._slot, self.width, self.base - (end - first), end - first)
        rows[:] = self._arena.history[first:end]

    def _leave(self, i: int) -> None:
        first, end = self.left_rows(i)
        entry = slice(*self.entry(i))
        self._arena.history[entry] = self._rows(self._slot)[first:end]
