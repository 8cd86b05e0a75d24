"""Life on the CPU: universes lie row-major in host memory, moved on by the compiled passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from kernels.life.chain import ChainedUniverse, ChainTurns, check_chain, even_passes, with_slack
from kernels.life.circuits import circuit_of
from kernels.life.circuits.known import KNOWN
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    LifeUniverse,
    Words,
    check_planes,
)
from kernels.life.costs import FOLD_COSTS
from kernels.life.folds import FoldPlan, choose_fold, most_folded
from kernels.life.plan import CpuPlan, choose_cpu, cpu_plan
from kernels.life.rules import CellRule, LifeRule, MapRule, NineCellRule
from kernels.targets.cpu import CpuTarget

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]


CONWAY = LifeRule(1 << 3, 1 << 2 | 1 << 3)
NATIVE_BITS = 512  # of the vectors that native code is made for
_PAGE_WORDS = 512


class CpuLifeEngine(LifeEngine[NineCellRule]):
    """Life by the compiled passes, at the level and with the threads of a CpuTarget."""

    def __init__(self, target: CpuTarget) -> None:
        self.target = target

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: NineCellRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of packed rows in host memory."""
        check_planes(shapes, chain)
        return CpuArena(self.target, shapes, slots, rule, chain=chain)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return the bytes of host memory that arena() would take, and 0."""
        check_planes(shapes, chain)
        made = None if chain is None else self.chain(chain)
        return cpu_bytes(shapes, slots, chain, made), 0

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return the chain of an arena, as cpu_chain() does."""
        check_planes((), shape)
        return cpu_chain(shape, self.target)


def cpu_chain(shape: ChainShape, target: CpuTarget) -> LifeChain:
    """Return the chain whose passes should be done soonest. Raises ValueError as check_chain()."""
    check_chain(shape)
    plan = choose_cpu(shape.typical, shape.generations, target.machine, chained=True)
    return chain_by(shape, plan)


def chain_by(shape: ChainShape, plan: CpuPlan) -> LifeChain:
    """Return the chain whose passes are of at most as many generations as the plan's."""
    passes = even_passes(shape.generations, plan.steps)
    return LifeChain(shape.width, shape.torus, passes, shape.planes, trims=True)


def cpu_bytes(
    shapes: Sequence[LifeShape], slots: int, shape: ChainShape | None, chain: LifeChain | None
) -> int:
    """Return the bytes of an arena, with room for a chain where there is one."""
    history = 0
    if shape is not None and chain is not None:
        shapes = with_slack(shapes, shape, chain)
        history = 2 * chain.generations * shape.planes * -(-chain.width // 64)
    return 8 * ((slots + 1) * (_slot_words(shapes) + _PAGE_WORDS - 1) + history)


@lru_cache(maxsize=16)
def compiled_circuit(rule: NineCellRule) -> _cpu.LifeCircuit:
    """Return the circuit of a rule, as native code where this CPU and system let it."""
    return _cpu.LifeCircuit(circuit_of(rule).ops, True)


def _circuit_for(rule: CellRule, target: CpuTarget) -> _cpu.LifeCircuit | None:
    """Return the circuit that passes are to take for a rule; None where they have their own.

    They can look any Life-like rule up, which takes longer than native code and less time than
    anything else.
    """
    if isinstance(rule, MapRule):
        return compiled_circuit(rule)
    assert isinstance(rule, LifeRule)
    if rule == CONWAY or rule in KNOWN or target.vector_bits != NATIVE_BITS:
        return None
    circuit = compiled_circuit(rule)
    return circuit if circuit.native() else None


def _slot_words(shapes: Sequence[LifeShape]) -> int:
    return max(shape.height * shape.planes * shape.row_words for shape in shapes)


def _aligned_words(count: int) -> Words:
    """Return uninitialised words from the start of a page on, so that disks write straight to them
    and vectors of all sizes are aligned."""
    words = np.empty(count + _PAGE_WORDS - 1, np.uint64)
    start = -words.ctypes.data % (8 * _PAGE_WORDS) // 8
    return words[start : start + count]


class CpuArena(LifeArena):
    """An arena of flat arrays, the last of them the spare.

    A pass reads one, writes the spare, and they swap. plan: is used for every pass of at least
    its steps, instead of the chosen one. What depends on the class of the rule is in make_pass(),
    choose(), plan_of() and chain_of().
    """

    def __init__(
        self,
        target: CpuTarget,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: CellRule,
        plan: CpuPlan | None = None,
        chain: ChainShape | None = None,
    ) -> None:
        self.slots, self.target, self.plan = slots, target, plan
        self.rule, self.planes = rule, rule.planes
        self.chain = None
        self.history: Words = np.empty((0, 0), np.uint64)
        if chain is not None:
            self.chain = self.chain_of(chain) if plan is None else chain_by(chain, plan)
            self._turns = ChainTurns(self.chain)
            shapes = with_slack(shapes, chain, self.chain)
            self.history = np.empty((2 * chain.generations, *self._row(chain.width)), np.uint64)
        self.slot_words = _slot_words(shapes)
        self.memory = [_aligned_words(self.slot_words) for _ in range(slots + 1)]

    @cached_property
    def _carried_out(self) -> tuple[LifeRule, _cpu.LifeCircuit | None]:
        """Return the rule as passes take it: the circuit, where there is one, else the counts."""
        rule = self.rule
        counts = rule if isinstance(rule, LifeRule) else LifeRule(0, 0)
        return counts, _circuit_for(rule, self.target)

    def open(self, slot: int, shape: LifeShape) -> CpuLife:
        """Return a universe in a slot; its cells are undefined until all are put."""
        self.check_slot(slot, shape)
        self._check_room(shape)
        return CpuLife(self, slot, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedCpuLife:
        """Return a universe of the chain in a slot."""
        shape = self.check_chained(slot, height, first=first)
        self._check_room(shape, 0 if first else self._turns.chain.slack)
        return ChainedCpuLife(self, slot, height, self._turns, first=first)

    def _check_room(self, shape: LifeShape, slack: int = 0) -> None:
        if (shape.height + slack) * self.planes * shape.row_words > self.slot_words:
            raise ValueError(f"{shape.width}x{shape.height} cells in {self.slot_words} words")

    def rows(self, index: int, width: int, first: int, count: int) -> Words:
        """Return rows of one of the arrays, as they lie for universes of this width."""
        row = self._row(width)
        row_words = prod(row)
        words = self.memory[index][first * row_words : (first + count) * row_words]
        return words.reshape(-1, *row)

    def _row(self, width: int) -> tuple[int, ...]:
        """Return the shape of a row, as put() takes it."""
        row_words = -(-width // 64)
        return (row_words,) if self.planes == 1 else (self.planes, row_words)

    def choose(self, shape: LifeShape, generations: int) -> CpuPlan:
        """Return the plan of the first pass of a run of `generations`."""
        return choose_cpu(shape, generations, self.target.machine)

    def plan_of(self, shape: LifeShape, steps: int) -> CpuPlan:
        """Return the best plan of a pass of `steps` generations."""
        return cpu_plan(shape, steps, self.target.machine)

    def fold_of(self, shape: LifeShape, generations: int) -> FoldPlan | None:
        """Return how to fold a universe for some generations; None where passes are to be made."""
        if self.plan is not None or isinstance(self.rule, MapRule):
            return None
        if self._carried_out[1] is not None and shape.width * shape.height > FOLD_COSTS.looked_up:
            return None
        return choose_fold(shape, generations, self.target.machine)

    def chain_of(self, shape: ChainShape) -> LifeChain:
        """Return the chain of universes of these sizes."""
        return cpu_chain(shape, self.target)

    def make_pass(
        self,
        source: Words,
        target: Words,
        width: int,
        torus: bool,
        plan: CpuPlan,
        stopped: Callable[[], bool] | None = None,
        *,
        edge: int = 0,
    ) -> bool:
        """Make one pass; return False where `stopped` broke it off, which leaves the target
        undefined. edge: first and last rows that are only read; the target's stay as they are."""
        counts, circuit = self._carried_out
        on, rule = self.target, (counts.birth, counts.survival)
        cells = source, target, width, torus
        return _cpu.life_pass(on.level, *cells, *rule, *plan, on.threads, stopped, circuit, edge)

    def make_folded(
        self,
        source: Words,
        target: Words,
        width: int,
        torus: bool,
        generations: int,
        plan: FoldPlan,
        stopped: Callable[[], bool] | None = None,
    ) -> bool:
        """Make generations, folded; return False where `stopped` broke them off, which leaves the
        target undefined."""
        counts, _ = self._carried_out
        on, rule = self.target, (counts.birth, counts.survival)
        return _cpu.life_folded(
            on.level, source, target, width, torus, *rule, generations, *plan, on.threads, stopped
        )

    def close(self) -> None:
        """Let the arrays go."""
        self.memory.clear()
        self.history = np.empty((0, 0), np.uint64)


class CpuLife(LifeUniverse):
    """A universe in rows of packed words, in a slot of an arena."""

    base = 0  # the row of the memory at which row 0 stands
    reads_beside_steps = True  # a pass reads one array and writes another

    def __init__(self, arena: CpuArena, slot: int, shape: LifeShape) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self.planes = shape.planes
        self._arena, self._slot, self._shape = arena, slot, shape
        self.stride = self.plan(1 << 30).steps

    def plan(self, generations: int) -> CpuPlan:
        """Return how the first pass of a run of `generations` is cut up."""
        given = self._arena.plan
        if given is not None and generations >= given.steps:
            return given
        return self._arena.choose(self._shape, generations)

    def _rows(self, index: int) -> Words:
        """Return all rows, in one of the arena's arrays."""
        return self._arena.rows(index, self.width, self.base, self.height)

    def _folded(self, generations: int) -> tuple[FoldPlan | None, int]:
        """Return how the universe is folded for the first part of a run of `generations`, and how
        many that makes; None and 0 where it is a pass."""
        arena = self._arena
        plan = arena.fold_of(self._shape, generations)
        if plan is None:
            return None, 0
        return plan, min(generations, most_folded(self._shape, arena.target.machine))

    def first_pass(self, generations: int) -> int:
        """Return how many generations the first pass of a run of `generations`, or what is made
        folded in its place, makes."""
        return self._folded(generations)[1] or self.plan(generations).steps

    def view(self) -> Words | None:
        """Return the rows in the arena's array."""
        return self._rows(self._slot)

    def room(self, y: int, count: int) -> Words | None:
        """Return rows in the arena's array."""
        if y < 0 or count < 0 or y + count > self.height:
            raise ValueError(f"rows {y} to {y + count - 1} of {self.height}")
        return self._rows(self._slot)[y : y + count]

    def step(self, generations: int) -> None:
        """Move on by generations, pass by pass; an interrupt breaks the pass off."""
        self._step(None, generations)

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or until stopped() breaks a pass off."""
        self._step(stopped, generations)

    def _step(self, stopped: Callable[[], bool] | None, generations: int) -> None:
        arena, memory, slot = self._arena, self._arena.memory, self._slot
        width, torus = self.width, self._shape.torus
        left = generations
        while left > 0:
            source, target = self._rows(slot), self._rows(-1)
            fold, made = self._folded(left)
            if fold is not None:
                whole = arena.make_folded(source, target, width, torus, made, fold, stopped)
            else:
                plan = self.plan(left)
                made = plan.steps
                whole = arena.make_pass(source, target, width, torus, plan, stopped)
            if not whole:
                return
            # No call, and so no interrupt, between these.
            memory[slot], memory[-1] = memory[-1], memory[slot]
            self.generation += made
            left -= made

    def put(self, y: int, words: Words) -> None:
        """Copy rows into the array."""
        self.check_rows(y, words)
        self._rows(self._slot)[y : y + len(words)] = words

    def get(self, y: int, words: Words) -> None:
        """Copy rows out of the array."""
        self.check_rows(y, words, written=True)
        words[:] = self._rows(self._slot)[y : y + len(words)]


class ChainedCpuLife(ChainedUniverse, CpuLife):
    """A universe of a chain on the CPU.

    Its rows stand at the same place of every array; what it takes, right in front of them.
    """

    def __init__(
        self, arena: CpuArena, slot: int, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus

    def _make(self, i: int) -> None:
        arena, memory, slot = self._arena, self._arena.memory, self._slot
        steps = self.chain.passes[i]
        # What is read: `count` rows from row `start` on, `edge` of them at either end for others.
        if self.first:
            top, bottom = self.chain.trimmed(i)
            edge, up = min(steps, top), 0
            start, count = top - edge, self.height - top - bottom + 2 * edge
        else:  # row `steps` becomes row 0
            edge, up = steps, steps
            start, count = self.base - 2 * steps, self.height + 2 * steps
        plan = arena.plan
        if plan is None or plan.steps != steps:
            shape = LifeShape(self.width, count - 2 * edge, self._torus, self.planes)
            plan = arena.plan_of(shape, steps)
        source = arena.rows(slot, self.width, start, count)
        target = arena.rows(-1, self.width, start + up, count)
        arena.make_pass(source, target, self.width, self._torus, plan, edge=edge)
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
