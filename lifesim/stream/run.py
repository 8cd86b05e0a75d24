"""A run of a universe on disk: phases, one after the other, to the generation asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from kernels.targets.contract import Target
from lifesim.colours import Pixels
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.pauses import Progress, next_stop, periods_of
from lifesim.render import Levels
from lifesim.rule import Rule
from lifesim.store import disk, plane
from lifesim.store.universe import Universe, disk_errors
from lifesim.stream.bounds import Bounds
from lifesim.stream.executor import LocalExecutor, PhaseExecutor, Stopped
from lifesim.stream.phase import TILES_AT_ONCE, Tally
from lifesim.stream.plan import PhasePlan, Rates, next_phase
from lifesim.stream.rates import looks_quiet
from lifesim.topology import Topology
from lifesim.until.conditions import Condition
from lifesim.until.found import Found


class StreamedLife:
    """A universe directory that evolves, with the manners of lifesim.Life.

    Every method may be called from any thread: runs come one after another, and who asks for
    cells, a population or a digest waits for the end of the run that another thread makes (a
    universe that is opened once more tells them meanwhile).

    >>> with Universe.open("soup", writing=True) as universe:
    ...     life = StreamedLife(universe, [pick("auto")], memory=4 << 30)
    ...     life.run(16384)
    """

    def __init__(
        self,
        universe: Universe,
        backends: Sequence[Target] | PhaseExecutor,
        *,
        memory: int | None = None,
        generations: int | None = None,
        keep_previous: bool = False,
    ) -> None:
        """Take a universe to be run. universe: open for writing. backends: one for each device, or
        an executor.

        memory: bytes of host memory that the backends may take (LocalExecutor). generations: of a
        phase, by default chosen from measured rates. Raises as PhaseExecutor.check().
        """
        self.universe = universe
        self.executor = (
            backends if isinstance(backends, PhaseExecutor) else LocalExecutor(backends, memory)
        )
        self.executor.check(universe)
        self._generations = generations
        self._keep_previous = keep_previous
        self._rates: Rates | None = None
        self._quiet: bool | None = None
        self.seconds = 0.0
        self.tallies: list[tuple[PhasePlan, Tally]] = []
        self._bounds = Bounds(universe, self.executor.check_budget, self.executor.release)
        self._made = 0.0  # updates of cells, of the seconds
        self._running = threading.RLock()  # a callback of a run may run it too

    # --- what it is -------------------------------------------------------------------

    @property
    def bounds(self) -> tuple[int, int]:
        """Return width and height; 0 for none of a plane without bounds."""
        return self.universe.bounds

    def frame(self) -> Box:
        """Return the rectangle that grid() holds (Universe.frame)."""
        return self.universe.frame()

    @property
    def width(self) -> int:
        """Return the width of frame()."""
        return self.frame().width

    @property
    def height(self) -> int:
        """Return the height of frame()."""
        return self.frame().height

    @property
    def generation(self) -> int:
        """Return the last generation that was whole."""
        return self.universe.generation

    @property
    def rule(self) -> Rule:
        """Return the rule."""
        return self.universe.rule

    @property
    def topology(self) -> Topology:
        """Return how the edges meet."""
        return self.universe.topology

    @property
    def is_whole(self) -> bool:
        """Tell whether all of the generation is there to be read."""
        return self.universe.is_whole

    def where(self) -> str:
        """Say at which generation the universe is, or between which two."""
        phase = self.universe.phase
        if phase:
            return f"between generations {phase.start} and {phase.stop}"
        return f"at generation {self.generation}"

    def grid(self) -> BitGrid:
        """Return the cells of frame(). Raises GridError where memory does not hold them."""
        with self._running:
            return self.universe.grid()

    def population(self) -> int:
        """Return the number of live cells. Raises LifesimError between two generations."""
        with self._running:
            return self.universe.population()

    def digest(self) -> str:
        """Return the digest of the cells (Universe.digest)."""
        with self._running:
            return self.universe.digest()

    def levels(self, box: Box, scale_log2: int) -> Levels:
        """Return how densely the cells of a region live, by the coordinates of frame()."""
        with self._running:
            return plane.levels(self.universe, box, scale_log2)

    def pixels(self, box: Box, scale_log2: int, palette: str = "dark") -> Pixels:
        """Return a region in the colours of states, by the coordinates of frame(), as
        lifesim.store.plane.pixels() does."""
        with self._running:
            return plane.pixels(self.universe, box, scale_log2, palette)

    @property
    def rate(self) -> float:
        """Return cell updates per second, those of halos not counted, reads and writes included."""
        return self._made / self.seconds if self.seconds else 0.0

    # --- moving on --------------------------------------------------------------------

    def run(
        self,
        generations: int,
        *,
        every: int | Sequence[int] | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[StreamedLife], None] | None = None,
    ) -> None:
        """Move on by `generations`, or to the end of the run of so many that was broken off.

        The arguments are those of Life.run(). The first KeyboardInterrupt lets the blocks under
        way be finished, the next one drops them; either way the run can be taken up again.
        """
        if generations < 0:
            raise ValueError(f"a universe cannot go back {-generations} generations")
        periods = periods_of(every)
        universe = self.universe
        with self._running:
            run = universe.manifest.run
            if run is None or run[1] - run[0] != generations:
                run = universe.generation, universe.generation + generations
            self._run_to(run, periods if on_snapshot else [], progress, on_snapshot)

    def resume(
        self,
        *,
        every: int | Sequence[int] | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[StreamedLife], None] | None = None,
    ) -> None:
        """Finish the run that was broken off; nothing where none was."""
        universe = self.universe
        with self._running:
            run = universe.manifest.run
            if run is None:
                if universe.phase is None:
                    return
                run = universe.phase.start, universe.phase.stop
            self._run_to(run, periods_of(every), progress, on_snapshot)

    def run_until(
        self,
        condition: Condition | str,
        generations: int | None = None,
        *,
        looks: int | None = None,
        every: int | Sequence[int] | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_snapshot: Callable[[StreamedLife], None] | None = None,
    ) -> Found:
        """Move on until a condition is true in a generation that is looked at, and tell what was
        found.

        condition: as of Life.run_until(). "stable" and "period:30" are about all cells at their
        places: ships that fly away are no repetition here. looks: generations between two looks, by
        default those of a phase, or else 60; of "period:N" a divisor of N. generations: the
        most that are made; what takes more to be known is not met. every, on_snapshot: as of
        run(). Interrupted, the same call goes on. Raises ConditionError, and as run().
        """
        from lifesim.until.stored import EVERY, Snapshots, search_stored

        if looks is None:
            looks = self._generations or EVERY
        taken = Snapshots(periods_of(every), on_snapshot) if on_snapshot else Snapshots()
        with self._running:
            return search_stored(self, condition, generations, looks, progress, taken)

    def _run_to(
        self,
        run: tuple[int, int],
        periods: Sequence[int],
        progress: Callable[[Progress], None] | None,
        on_snapshot: Callable[[StreamedLife], None] | None,
    ) -> None:
        universe, stop = self.universe, run[1]
        phase = universe.phase
        if phase and phase.stop > stop:
            raise LifesimError(
                f"{universe.path}: on its way to generation {phase.stop}, beyond {stop}: "
                f"`lifesim resume` takes it there"
            )
        if universe.generation < stop:
            self._bounds.check()
            universe.set_run(run)
        try:
            self._phases_to(run, periods, progress, on_snapshot)
        finally:
            self.executor.release()
        if universe.manifest.run and universe.generation >= stop:
            universe.set_run(None)

    def _phases_to(
        self,
        run: tuple[int, int],
        periods: Sequence[int],
        progress: Callable[[Progress], None] | None,
        on_snapshot: Callable[[StreamedLife], None] | None,
    ) -> None:
        universe, (start, stop) = self.universe, run
        began, spent = time.perf_counter(), self.seconds
        while universe.generation < stop:
            first, made = universe.generation, self._made
            target = start + next_stop(first - start, stop - start, periods)

            def report(fraction: float, first: int = first, made: float = made) -> None:
                ahead = universe.phase.generations * fraction if universe.phase else 0
                now = universe.generation + ahead
                self.seconds = spent + time.perf_counter() - began
                self._made = made + (now - first) * universe.width * universe.height
                if progress:
                    progress(
                        Progress(int(now), int(now) - start, stop - start, self.seconds, self.rate)
                    )

            most = self._bounds.before(stop - first, lambda *parts, report=report: report(0.0))
            self._phase(min(target - first, most), report)
            self._bounds.after(first)
            self.seconds = spent + time.perf_counter() - began
            self._made = made + (universe.generation - first) * universe.width * universe.height
            passed = universe.generation - start
            if on_snapshot and any(passed % period == 0 for period in periods):
                self.executor.release()  # whoever looks at cells may need the memory
                on_snapshot(self)

    def _phase(self, left: int, report: Callable[[float], None]) -> None:
        universe = self.universe
        fresh = universe.phase is None
        if fresh:
            last = universe.manifest.last or 1
            whole = left // last * last
            if whole and len(universe.manifest.linked_after(whole)) == len(universe.tiling):
                universe.jump(whole)
                report(0.0)
                return
        if self.executor.gather(universe):
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
            tally = self.executor.phase(universe, plan, watch)
        except Stopped:
            raise KeyboardInterrupt from None
        self.tallies.append((plan, tally))
        self._learn(tally)

    def _plan(self, left: int) -> PhasePlan:
        universe = self.universe
        if self._rates is None:
            self._rates = self.executor.measure(universe)
        if self._quiet is None:
            self._quiet = (
                universe.manifest.last == 0 and self._generations is None and left > 1
                and universe.phase is None and looks_quiet(universe)
            )  # fmt: skip
        given = min(self._generations, left) if self._generations else None
        if universe.phase:  # may go beyond the next snapshot
            given = universe.phase.generations
            left = max(left, given)
        return self.executor.plan(
            universe.rule, next_phase, universe, left, self._rates, given, self._quiet
        )

    def _check_room(self, plan: PhasePlan) -> None:
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

    def _room(self, plan: PhasePlan) -> int:
        """Return the bytes that a phase keeps beside the universe: the rows that tiles yet to come
        need, the files being written, and those not known of yet."""
        universe, rates = self.universe, self._rates
        assert rates
        tiling = universe.tiling
        tallest = max(below - above for above, below in pairwise(tiling.rows))
        lag = 2 * plan.generations + (TILES_AT_ONCE + 1) * tallest
        if plan.shape.across < tiling.across:
            lag += plan.shape.down * tallest
        unknown = self.executor.seconds_behind * rates.write / universe.manifest.stored_bytes
        share = min(1.0, lag * self.executor.lanes / universe.height + unknown)
        if self._keep_previous:
            share = 1.0
        share = min(share, 1 - len(universe.manifest.linked_after(plan.generations)) / len(tiling))
        return int(share * universe.manifest.stored_bytes)

    def _learn(self, tally: Tally) -> None:
        """Plan the next phase by what this one did, where that was enough to tell."""
        assert self._rates
        lanes = self.executor.lanes
        if tally.step_seconds > 0.2:
            self._rates = replace(self._rates, cells=tally.work / tally.step_seconds)
        if tally.read_seconds > 0.2:
            self._rates = replace(self._rates, read=lanes * tally.read_bytes / tally.read_seconds)
        if tally.write_seconds > 0.2 and tally.written_bytes:
            rate = lanes * tally.written_bytes / tally.write_seconds
            self._rates = replace(self._rates, write=rate)
