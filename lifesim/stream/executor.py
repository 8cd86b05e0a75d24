"""The executors that move a universe on: the devices of this process, or others."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kernels.life.contract import LifeArena
from kernels.targets.contract import Target
from kernels.targets.cpu import core_count
from kernels.targets.memory import available_memory
from lifesim.engines import engine_of
from lifesim.rule import Rule
from lifesim.store.tilefile import TileFormat
from lifesim.store.tiling import TileBlock, Tiling
from lifesim.store.universe import Universe
from lifesim.stream.costs import PHASE_COSTS, PhaseCosts
from lifesim.stream.phase import Tally, Watch, Windows, run_lanes, windows_of
from lifesim.stream.plan import LaneMachine, PhaseModel, PhasePlan, Rates, choose
from lifesim.stream.rates import measure

T = TypeVar("T")

_DEVICE_SHARE = 0.9  # of its free memory
HOST_SHARE = 0.5  # of available memory, where no budget is given


class Stopped(Exception):
    """A run stopped as it was asked to: the universe is between two generations, and the phase can
    be resumed."""


class PhaseExecutor(ABC):
    """The one that moves a universe on: the devices of this process, or the workers of a cluster.
    name, describe(): of what computes, as a Target has them. lanes: how many blocks are moved on at
    once. seconds_behind: how long it takes to know of what they write."""

    name: str
    lanes: int
    seconds_behind = 0.0

    @abstractmethod
    def describe(self) -> str:
        """Say what computes."""

    @abstractmethod
    def check(self, universe: Universe) -> None:
        """Raise LifesimError where not everybody can work on a universe."""

    def gather(self, universe: Universe) -> bool:
        """Count in, before a phase, who has come since the last one, and no longer who has gone.
        Returns whether that changed anything."""
        return False

    @abstractmethod
    def measure(self, universe: Universe) -> Rates:
        """Return the cell rate of a lane, and the disk's rates of all lanes together."""

    @abstractmethod
    def plan(self, rule: Rule, make: Callable[..., T], *args: Any) -> T:
        """Return make(machine, *args) for the machine that computes a rule. make: a function of a
        module, where the machine is at hand."""

    @abstractmethod
    def move_on(
        self,
        universe: Universe,
        todo: Sequence[TileBlock],
        plan: PhasePlan,
        tally: Tally,
        watch: Watch,
    ) -> bool:
        """Move blocks on, and finish_tiles(); False where watch stopped it before the end.

        Raises what went wrong: DamagedDataError, LifesimError, MemoryError.
        """

    def phase(self, universe: Universe, plan: PhasePlan, watch: Watch) -> Tally:
        """Take the phase that has begun to its end, or raise Stopped.

        Raises as move_on(). All is on disk that finish_tiles() was told of, and can be
        resumed from.
        """
        phase = universe.phase
        assert phase
        linked = universe.journal.linked()
        wanted = set(range(len(universe.tiling))) - linked - set(phase.done)
        todo = plan.shape.blocks(universe.tiling, wanted)
        tally = Tally(linked=len(linked))
        began = time.perf_counter()
        whole = not todo or self.move_on(universe, todo, plan, tally, watch)
        tally.seconds = time.perf_counter() - began
        if whole or wanted <= phase.done.keys():  # what was under way was all
            universe.end_phase()
        if not whole:
            raise Stopped
        return tally

    def release(self) -> None:  # noqa: B027
        """Give back what is held from one phase of a run to the next: nothing unless an executor
        says otherwise."""

    def check_budget(self, tiling: Tiling, form: TileFormat, rule: Rule) -> None:
        """Raise BudgetError where not even one tile can be moved on by one generation."""
        self.plan(rule, _least, tiling, form)


class LocalExecutor(PhaseExecutor):
    """The devices of this process, each of them a lane.

    memory: bytes of host memory that windows and buffers may take, by default half of what
    is available.
    """

    def __init__(self, backends: Sequence[Target], memory: int | None = None) -> None:
        self._backends = list(backends)
        self._memory = memory or int(available_memory() * HOST_SHARE)
        self.name, self.lanes = self._backends[0].name, len(self._backends)
        self._arenas: list[LifeArena] = []
        self._arenas_of: tuple[Windows, Rule] | None = None

    def describe(self) -> str:
        """Say what computes."""
        return self._backends[0].describe()

    def check(self, universe: Universe) -> None:
        """Do nothing: who computes here has opened the universe."""
        pass

    def measure(self, universe: Universe) -> Rates:
        """Return the rates of the first device, and of the disk."""
        return measure(universe, self._backends[0])

    def plan(self, rule: Rule, make: Callable[..., T], *args: Any) -> T:
        """Return make(machine, *args) for the least of the devices."""
        free = [backend.free_device_memory() for backend in self._backends]
        device = None if free[0] is None else min(nbytes or 0 for nbytes in free)
        memory = self._memory // self.lanes
        threads = max(1, core_count() // self.lanes)
        machine = machine_of(self._backends[0], rule, self.lanes, memory, device, threads)
        return make(machine, *args)

    def move_on(
        self,
        universe: Universe,
        todo: Sequence[TileBlock],
        plan: PhasePlan,
        tally: Tally,
        watch: Watch,
    ) -> bool:
        """Move blocks on, each device with an arena of its own. On the host the next phase gets
        those of this one where its windows are of the same sizes: memory that is new has to be
        cleared there. Devices keep the memory of arenas that are closed for the next ones."""
        assert universe.phase
        windows = windows_of(universe, todo, universe.phase.generations, plan.shape)
        keeps = False
        try:
            if self._arenas_of != (windows, universe.rule):
                self.release()
                for backend in self._backends:
                    self._arenas.append(windows.open(backend, universe.rule))
                self._arenas_of = windows, universe.rule
            whole = run_lanes(
                universe,
                todo,
                list(zip(self._backends, self._arenas, strict=True)),
                tally,
                workers=plan.workers,
                watch=watch,
                sink=universe.finish_tiles,
            )
            keeps = self._backends[0].free_device_memory() is None
            return whole
        finally:
            if not keeps:
                self.release()

    def release(self) -> None:
        """Close the arenas."""
        arenas, self._arenas, self._arenas_of = self._arenas, [], None
        for arena in arenas:
            arena.close()


def machine_of(
    backend: Target,
    rule: Rule,
    lanes: int,
    memory: int,
    free: int | None,
    threads: int,
    costs: PhaseCosts = PHASE_COSTS,
) -> LaneMachine:
    """Return what a lane that computes a rule may take of a machine. memory, threads: of a lane.
    free: bytes of its device's memory; None: it has no device."""
    return LaneMachine(
        host=memory,
        device=None if free is None else int(_DEVICE_SHARE * free),
        arena_bytes=engine_of(rule, backend).arena_bytes,
        devices=lanes,
        pass_rows=costs.host_rows if free is None else costs.device_rows,
        halo=1 if free is None else 2,  # LifeChain.trims
        reach=rule.cells.reach,
        byte_cost=0.0 if free is not None else costs.byte / (threads * lanes),
        workers=max(1, min(8, threads * 2 if free is None else threads // 2)),
    )


def _least(machine: LaneMachine, tiling: Tiling, form: TileFormat) -> None:
    choose(PhaseModel(tiling, form, machine, Rates(1.0, 1.0, 1.0)), 1, generations=1)
