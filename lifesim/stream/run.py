"""A run of a universe on disk: phases, one after the other, to the generation asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from kernels.backend import Backend
from lifesim.engine import Progress
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.render import Levels
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store.universe import Universe, disk_errors
from lifesim.stream.crew import Crew, LocalCrew, Stopped
from lifesim.stream.phase import TILES_AT_ONCE, Tally
from lifesim.stream.plan import Plan, Rates, next_phase
from lifesim.stream.rates import looks_quiet
from lifesim.topology import Topology


class StreamedLife:
    """A universe directory that evolves, with the manners of lifesim.Life.

    >>> with Universe.open("soup", writing=True) as universe:
    ...     life = StreamedLife(universe, [pick("auto")], memory=4 << 30)
    ...     life.run(16384)
    """

    def __init__(
        self,
        universe: Universe,
        backends: Sequence[Backend] | Crew,
        *,
        memory: int | None = None,
        generations: int | None = None,
        keep_previous: bool = False,
    ) -> None:
        """universe: open for writing. backends: one for each device, or a crew.

        memory: bytes of host memory that the backends may take (LocalCrew). generations: of a
        phase, by default chosen from measured rates. Raises as Crew.check().
        """
        self.universe = universe
        self.crew = backends if isinstance(backends, Crew) else LocalCrew(backends, memory)
        self.crew.check(universe)
        self._generations = generations
        self._keep_previous = keep_previous
        self._rates: Rates | None = None
        self._quiet: bool | None = None
        self.seconds = 0.0
        self.tallies: list[tuple[Plan, Tally]] = []
        self._made = 0.0  # generations, of the seconds

    # --- what it is -------------------------------------------------------------------

    @property
    def width(self) -> int:
        return self.universe.width

    @property
    def height(self) -> int:
        return self.universe.height

    @property
    def generation(self) -> int:
        return self.universe.generation

    @property
    def rule(self) -> Rule:
        return self.universe.rule

    @property
    def topology(self) -> Topology:
        return self.universe.topology

    def where(self) -> str:
        """The generation, or between which two the universe is."""
        phase = self.universe.phase
        if phase:
            return f"between generations {phase.start} and {phase.stop}"
        return f"at generation {self.generation}"

    def grid(self) -> BitGrid:
        """All cells. Raises GridError where memory does not hold them."""
        return self.universe.grid()

    def population(self) -> int:
        return self.universe.population()

    def digest(self) -> str:
        return self.universe.digest()

    def levels(self, box: Box, scale_log2: int) -> Levels:
        return self.universe.levels(box, scale_log2)

    @property
    def rate(self) -> float:
        """Cell updates per second, those of halos not counted, reads and writes included."""
        return self.width * self.height * self._made / self.seconds if self.seconds else 0.0

    # --- moving on --------------------------------------------------------------------

    def run(
        self,
        generations: int,
        *,
        every: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[StreamedLife], None] | None = None,
    ) -> None:
        """Move on by `generations`, or to the end of the run of so many that was broken off.

        As Life.run(). The first KeyboardInterrupt lets the blocks under way be finished,
        the next one drops them; either way the run can be taken up again.
        """
        if generations < 0:
            raise ValueError(f"a universe cannot go back {-generations} generations")
        if every is not None and every < 1:
            raise ValueError(f"snapshots come every 1 or more generations, not {every}")
        universe = self.universe
        run = universe.manifest.run
        if run is None or run[1] - run[0] != generations:
            run = universe.generation, universe.generation + generations
        self._run_to(run, every if on_snapshot else None, progress, on_snapshot)

    def resume(
        self,
        *,
        every: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[StreamedLife], None] | None = None,
    ) -> None:
        """Finish the run that was broken off; nothing where none was."""
        universe = self.universe
        run = universe.manifest.run
        if run is None:
            if universe.phase is None:
                return
            run = universe.phase.start, universe.phase.stop
        self._run_to(run, every, progress, on_snapshot)

    def _run_to(
        self,
        run: tuple[int, int],
        every: int | None,
        progress: Callable[[Progress], None] | None,
        on_snapshot: Callable[[StreamedLife], None] | None,
    ) -> None:
        universe = self.universe
        start, stop = run
        phase = universe.phase
        if phase and phase.stop > stop:
            raise LifesimError(
                f"{universe.path}: on its way to generation {phase.stop}, beyond {stop}: "
                f"`lifesim resume` takes it there"
            )
        if universe.generation < stop:
            universe.set_run(run)
        began, first = time.perf_counter(), universe.generation
        spent, made = self.seconds, self._made
        while universe.generation < stop:
            target = stop
            if every:
                target = min(stop, start + ((universe.generation - start) // every + 1) * every)

            def report(fraction: float) -> None:
                ahead = universe.phase.generations * fraction if universe.phase else 0
                now = universe.generation + ahead
                self.seconds = spent + time.perf_counter() - began
                self._made = made + now - first
                if progress:
                    progress(
                        Progress(int(now), int(now) - start, stop - start, self.seconds, self.rate)
                    )

            self._phase(target - universe.generation, report)
            self.seconds = spent + time.perf_counter() - began
            self._made = made + universe.generation - first
            if on_snapshot and every and (universe.generation - start) % every == 0:
                on_snapshot(self)
        if universe.manifest.run and universe.generation >= stop:
            universe.set_run(None)

    def _phase(self, left: int, report: Callable[[float], None]) -> None:
        universe = self.universe
        fresh = universe.phase is None
        if fresh:
            last = universe.manifest.last or 1
            whole = left // last * last
            if whole and len(universe.linked_after(whole)) == len(universe.tiling):
                universe.jump(whole)
                report(0.0)
                return
        if self.crew.gather(universe):
            self._rates = None
        plan = self._plan(left)
        if fresh:
            self._check_room(plan)
        universe.begin_phase(plan.generations, keep_previous=self._keep_previous)
        asked = 0

        def watch(tally: Tally) -> int:
            nonlocal asked
            if not asked:
                try:
                    report(tally.work / tally.total if tally.total else 0.0)
                except KeyboardInterrupt:
                    asked = 1
            return asked

        try:
            tally = self.crew.phase(universe, plan, watch)
        except Stopped:
            raise KeyboardInterrupt from None
        self.tallies.append((plan, tally))
        self._learn(tally)

    def _plan(self, left: int) -> Plan:
        universe = self.universe
        if self._rates is None:
            self._rates = self.crew.measure(universe)
        if self._quiet is None:
            self._quiet = (
                universe.manifest.last == 0 and self._generations is None and left > 1
                and universe.phase is None and looks_quiet(universe)
            )  # fmt: skip
        given = min(self._generations, left) if self._generations else None
        if universe.phase:  # may go beyond the next snapshot
            given = universe.phase.generations
            left = max(left, given)
        return self.crew.plan(next_phase, universe, left, self._rates, given, self._quiet)

    def _check_room(self, plan: Plan) -> None:
        """Raise LifesimError where the disk has no room for a phase."""
        universe = self.universe
        need = self._room(plan)
        with disk_errors(universe.path):
            free = disk.free_bytes(universe.path)
        if need > free:
            raise LifesimError(
                f"{universe.path}: the disk is too full: the next phase needs "
                f"{need / 1e6:,.0f} MB beside the universe, {free / 1e6:,.0f} MB are free"
            )

    def _room(self, plan: Plan) -> int:
        """Bytes that a phase keeps beside the universe: the rows that tiles yet to come need,
        the files being written, and those not known of yet."""
        universe, rates = self.universe, self._rates
        assert rates
        tiling = universe.tiling
        tallest = max(below - above for above, below in pairwise(tiling.rows))
        lag = 2 * plan.generations + (TILES_AT_ONCE + 1) * tallest
        if plan.shape.across < tiling.across:
            lag += plan.shape.down * tallest
        unknown = self.crew.seconds_behind * rates.write / universe.manifest.stored_bytes
        share = min(1.0, lag * self.crew.lanes / universe.height + unknown)
        if self._keep_previous:
            share = 1.0
        share = min(share, 1 - len(universe.linked_after(plan.generations)) / len(tiling))
        return int(share * universe.manifest.stored_bytes)

    def _learn(self, tally: Tally) -> None:
        """Plan the next phase by what this one did, where that was enough to tell."""
        assert self._rates
        lanes = self.crew.lanes
        if tally.step_seconds > 0.2:
            self._rates = replace(self._rates, cells=tally.work / tally.step_seconds)
        if tally.read_seconds > 0.2:
            self._rates = replace(self._rates, read=lanes * tally.read_bytes / tally.read_seconds)
        if tally.write_seconds > 0.2 and tally.written_bytes:
            rate = lanes * tally.written_bytes / tally.write_seconds
            self._rates = replace(self._rates, write=rate)
