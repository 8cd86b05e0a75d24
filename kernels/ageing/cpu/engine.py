"""Ageing cells on the CPU: planes lie row-major in host memory, moved on by the compiled passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from kernels.ageing.plan import choose_cpu, cpu_plan
from kernels.life.bytewise import check_rule, check_states
from kernels.life.chain import check_chain
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    Words,
    check_planes,
)
from kernels.life.cpu.engine import (
    NATIVE_BITS,
    ChainedCpuLife,
    CpuArena,
    CpuLife,
    chain_by,
    compiled_circuit,
    cpu_bytes,
)
from kernels.life.plan import CpuPlan
from kernels.life.rules import AgeingRule, LifeRule, MapRule, counts_of
from kernels.targets.cpu import CpuTarget

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]


class CpuAgeingEngine(LifeEngine[AgeingRule]):
    """Ageing cells by the compiled passes, at the level and with the threads of a CpuTarget.

    planes: the bit planes of all its rules.
    """

    def __init__(self, target: CpuTarget, planes: int) -> None:
        self.target, self.planes = target, planes

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: AgeingRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of packed rows in host memory."""
        check_planes(shapes, chain, self.planes)
        check_rule(rule, self.planes)
        made = None if chain is None else self.chain(chain)
        return CpuAgeingArena(self.target, shapes, slots, rule, chain=chain, made=made)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return the bytes of host memory that arena() would take, and 0."""
        check_planes(shapes, chain, self.planes)
        made = None if chain is None else self.chain(chain)
        return cpu_bytes(shapes, slots, chain, made), 0

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return the chain whose passes should be done soonest, for as many states as the planes
        hold. Raises ValueError for sizes that make no chain."""
        check_planes((), shape, self.planes)
        check_chain(shape)
        states, machine = 1 << self.planes, self.target.machine
        plan = choose_cpu(shape.typical, shape.generations, machine, states, chained=True)
        return chain_by(shape, plan)


class CpuAgeingArena(CpuArena):
    """An arena of rows of bit planes.

    made: the chain of a chain's universes.
    """

    rule: AgeingRule

    def __init__(
        self,
        target: CpuTarget,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: AgeingRule,
        plan: CpuPlan | None = None,
        chain: ChainShape | None = None,
        made: LifeChain | None = None,
    ) -> None:
        self._made = made
        super().__init__(target, shapes, slots, rule, plan, chain)

    @cached_property
    def _carried_out_here(self) -> tuple[tuple[int, int], _cpu.LifeCircuit | None]:
        """Return counts, and the circuit that passes take in their place where they have no better.

        Counts alone are looked up, which takes longer than native code and less time than a
        circuit without it.
        """
        counts = counts_of(self.rule.table)
        if counts is None:
            return (0, 0), compiled_circuit(MapRule(self.rule.table))
        if self.target.vector_bits != NATIVE_BITS:
            return counts, None
        circuit = compiled_circuit(LifeRule(*counts))
        return counts, circuit if circuit.native() else None

    def fold_of(self, shape: LifeShape, generations: int) -> None:
        """Return None: nothing folds bit planes."""

    def open(self, slot: int, shape: LifeShape) -> CpuAgeing:
        """Return a universe in a slot; its cells are undefined until all are put."""
        self.check_slot(slot, shape)
        self._check_room(shape)
        return CpuAgeing(self, slot, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedCpuAgeing:
        """Return a universe of the chain in a slot."""
        shape = self.check_chained(slot, height, first=first)
        self._check_room(shape, 0 if first else self._turns.chain.slack)
        return ChainedCpuAgeing(self, slot, height, self._turns, first=first)

    def choose(self, shape: LifeShape, generations: int) -> CpuPlan:
        """Return the plan of the first pass of a run of `generations`."""
        return choose_cpu(shape, generations, self.target.machine, self.rule.states)

    def plan_of(self, shape: LifeShape, steps: int) -> CpuPlan:
        """Return the best plan of a pass of `steps` generations."""
        return cpu_plan(shape, steps, self.target.machine, self.rule.states)

    def chain_of(self, shape: ChainShape) -> LifeChain:
        """Return the chain that the arena was made with."""
        assert self._made is not None
        return self._made

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
        counts, circuit = self._carried_out_here
        return _cpu.ageing_pass(
            self.target.level,
            source,
            target,
            width,
            torus,
            *counts,
            self.rule.states,
            *plan,
            self.target.threads,
            stopped,
            circuit,
            edge,
        )


class CpuAgeing(CpuLife):
    """A universe in rows of bit planes, in a slot of an arena."""

    _arena: CpuAgeingArena

    def room(self, y: int, count: int) -> Words | None:
        """Return rows in the array, if the rule has all states that its bit planes hold."""
        every = self._arena.rule.states == 1 << self.planes
        return super().room(y, count) if every else None

    def put(self, y: int, words: Words) -> None:
        """Copy rows into the array, if the rule has all their states."""
        self.check_rows(y, words)
        check_states(words, self._arena.rule.states)
        super().put(y, words)


class ChainedCpuAgeing(ChainedCpuLife, CpuAgeing):
    """A universe of a chain of ageing cells on the CPU."""
