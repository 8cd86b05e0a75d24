"""Move universes on by the workers of a cluster, who share a file system with the client.

A phase is a bag of tasks, each a group of blocks. What a task finishes is told by and by, and
noted by the client, so that little is lost with a worker and old files go early.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from bulkbits.cluster import ClusterError
from bulkbits.plurals import many
from lifesim.rule import Rule
from lifesim.store import disk
from lifesim.store.state import manifest_bytes
from lifesim.store.tiling import TileBlock
from lifesim.store.universe import Moved, Universe, disk_errors
from lifesim.stream import tasks
from lifesim.stream.executor import HOST_SHARE, PhaseExecutor
from lifesim.stream.phase import Tally, Watch, windows_of
from lifesim.stream.plan import PhasePlan, Rates
from lifesim.stream.tasks import BlockGroup, PhaseOrder, TaskReport

if TYPE_CHECKING:
    from bulkbits.cluster import Cluster

T = TypeVar("T")

_REMOVERS = 4  # threads


class ClusterExecutor(PhaseExecutor):
    """The workers of a cluster, each of them a lane.

    memory: bytes of host memory that a worker may take, by default half of its share of what
    is available. Raises ClusterError where some compute otherwise than others.
    """

    seconds_behind = 2 * tasks.NEWS_SECONDS

    def __init__(self, cluster: Cluster, memory: int | None = None) -> None:
        self._cluster, self._memory = cluster, memory
        self._take_stock()
        self._flow: _GroupFlow | None = None
        self._lost = False
        cluster.listen(self._hear)

    def _take_stock(self) -> None:
        cluster = self._cluster
        self.lanes = len(cluster.workers)
        names = sorted({facts.backend for facts in cluster.workers})
        if len(names) > 1:
            raise ClusterError(
                f"{cluster.address}: workers compute on different backends "
                f"({', '.join(names)}): choose one by --backend",
                2,
            )
        self.name = names[0]
        found = cluster.everywhere(tasks.resources).values()
        host = self._memory or int(HOST_SHARE * min(free for free, _ in found))
        devices = [free for _, free in found if free is not None]
        threads = min(facts.threads for facts in cluster.workers)
        self._least = self.lanes, host, min(devices, default=None), threads

    def __enter__(self) -> ClusterExecutor:
        return self

    def __exit__(self, *reason: object) -> None:
        """Have workers give back the memory that they hold for a next task."""
        if not self._lost:
            with contextlib.suppress(ClusterError):
                self._cluster.everywhere(tasks.release)

    @contextlib.contextmanager
    def _noticing(self) -> Iterator[None]:
        """Note that there is nobody to be asked any more: Dask would wait for long."""
        try:
            yield
        except ClusterError:
            self._lost = True
            raise

    def describe(self) -> str:
        """Say what the workers compute on."""
        kinds = Counter(facts.description for facts in self._cluster.workers)
        return ", ".join(
            f"{many(count, 'worker')} of {kind}" for kind, count in sorted(kinds.items())
        )

    def check(self, universe: Universe) -> None:
        """Raise ClusterError, which names a worker that does not reach the universe."""
        path = os.path.abspath(universe.path)
        with disk_errors(universe.path):
            digest = tasks.digest_of(manifest_bytes(path))
        found = self._cluster.everywhere(tasks.look, path, digest, universe.generation)
        for name, (problem, probe) in found.items():
            at = os.path.join(universe.tiles_folder, probe)
            if not problem and not os.path.exists(at):
                problem = "what it writes there is not seen here"
            if problem:
                universe.journal.sweep()
                raise ClusterError(
                    f"worker {name} ({self._host(name)}) does not reach {path}: {problem}", 2
                )
        universe.journal.sweep()

    def gather(self, universe: Universe) -> bool:
        """Count in who has come. Raises ClusterError as check(), for who has come."""
        with self._noticing():
            changed = self._cluster.refresh()
            if changed:
                self._take_stock()
                self.check(universe)
        return changed

    def _host(self, worker: str) -> str:
        return next(facts.host for facts in self._cluster.workers if facts.name == worker)

    def measure(self, universe: Universe) -> Rates:
        """Return the rates of the slowest worker, as all measure at once."""
        with self._noticing():
            found = self._cluster.everywhere(tasks.rates, universe).values()
        return Rates(
            min(rates.cells for rates in found),
            self.lanes * min(rates.read for rates in found),
            self.lanes * min(rates.write for rates in found),
        )

    def plan(self, rule: Rule, make: Callable[..., T], *args: Any) -> T:
        """Return make(machine, *args), found by a worker for the least of them."""
        made: T
        with self._noticing():
            (made,) = self._cluster.map(tasks.make_plan, [(make, args)], rule, *self._least)
        return made

    def move_on(
        self,
        universe: Universe,
        todo: Sequence[TileBlock],
        plan: PhasePlan,
        tally: Tally,
        watch: Watch,
    ) -> bool:
        """Move blocks on by groups that are given to workers."""
        assert universe.phase
        windows = windows_of(universe, todo, universe.phase.generations, plan.shape)
        work = PhaseOrder(uuid4().hex, plan.shape, plan.workers, windows)
        count = min(len(todo), plan.groups * self.lanes)
        edges = [i * len(todo) // count for i in range(count + 1)]
        groups = [tuple(todo[first:end]) for first, end in pairwise(edges)]
        flow = self._flow = _GroupFlow(self._cluster, universe, work, groups, tally)
        try:
            with self._noticing():
                whole = flow.run(watch)
        finally:
            self._flow = None
        universe.journal.sweep()
        return whole

    def _hear(self, worker: str, value: Any) -> None:
        if self._flow and isinstance(value, TaskReport):
            self._flow.hear(value)


class _GroupFlow:
    """The flow of groups to workers, and of what comes back.

    One thread waits for results, and another notes what has been done: nothing interrupts
    that. The one that calls run() looks on.
    """

    def __init__(
        self,
        cluster: Cluster,
        universe: Universe,
        work: PhaseOrder,
        groups: Sequence[tuple[TileBlock, ...]],
        tally: Tally,
    ) -> None:
        self._cluster, self._universe, self._work = cluster, universe, work
        self._groups, self._tally = groups, tally
        self._tallies: dict[int, Tally] = {}  # by group
        self._news: queue.SimpleQueue[TaskReport | BaseException | None] = queue.SimpleQueue()
        self._ending = threading.Event()  # no new groups
        self._ended = threading.Event()  # all is noted
        self._noting = threading.Lock()
        self._over = False  # nothing is noted any more
        self._error: BaseException | None = None
        self._removals: list[Future[None]] = []

    def hear(self, report: TaskReport) -> None:
        if report.work == self._work.id:
            self._news.put(report)

    def run(self, watch: Watch) -> bool:
        """Move all groups on, as PhaseExecutor.move_on()."""
        try:
            with ThreadPoolExecutor(_REMOVERS) as removers:
                gatherer = threading.Thread(target=self._gather, daemon=True)
                keeper = threading.Thread(target=self._keep, args=(removers,), daemon=True)
                gatherer.start()
                keeper.start()
                self._look_on(watch)
                if self._ended.is_set():
                    gatherer.join()
        except BaseException:
            self._ending.set()
            self._tell(2)
            raise
        finally:
            with self._noting:
                self._over = True
        if self._error is not None:
            raise self._error
        with disk_errors(self._universe.path):
            for removal in self._removals:
                removal.result()
        return not self._ending.is_set()

    def _look_on(self, watch: Watch) -> None:
        """Look on until all is noted, or there was a third interrupt, as workers need not
        answer."""
        level = told = 0
        over = False
        while not over and level <= 2:  # watched once more when all is noted
            try:
                over = self._ended.wait(0.1)
                level = max(level, watch(self._tally), 2 if self._error else 0)
                if level:
                    self._ending.set()
                if level > told and not over:
                    told = level
                    self._tell(level)
            except KeyboardInterrupt:
                level += 1
                self._ending.set()

    def _tell(self, level: int) -> None:
        """Have tasks stop: as watch() says it to lanes."""
        with contextlib.suppress(ClusterError):  # who waits for results finds out
            self._cluster.say((self._work.id, level))

    def _gather(self) -> None:
        """Give groups to workers, and pass on what they return."""
        try:
            for _, report in self._cluster.map(
                tasks.move_on, self._items(), self._work, ahead=1, ordered=False
            ):
                self._news.put(report)
            self._news.put(None)
        except BaseException as error:
            self._news.put(error)

    def _items(self) -> Iterator[BlockGroup]:
        universe = self._universe
        assert universe.phase
        for number, group in enumerate(self._groups):
            if self._ending.is_set():
                return
            halo = universe.manifest.halo(universe.phase.generations)
            needed = universe.tiling.read_by(group, halo)
            yield BlockGroup(number, group, universe.knowing(needed))

    def _keep(self, removers: ThreadPoolExecutor) -> None:
        """Note what comes in, as much as there is in one step, until there is no more."""
        while not self._ended.is_set():
            news = [self._news.get()]
            while not self._news.empty():
                news.append(self._news.get())
            reports = [one for one in news if isinstance(one, TaskReport)]
            with self._noting:
                if self._over:
                    return
                try:
                    if self._error is None:
                        self._note(reports, removers)
                except BaseException as error:
                    self._error = error
            for one in news:
                if isinstance(one, BaseException):
                    self._error = self._error or one
                if not isinstance(one, TaskReport):
                    self._ended.set()

    def _note(self, reports: list[TaskReport], removers: ThreadPoolExecutor) -> None:
        universe, tally = self._universe, self._tally
        assert universe.phase
        fresh: dict[int, Moved] = {}
        for report in reports:
            self._tallies[report.group] = report.tally
            for moved in report.moved:
                if moved.tile not in universe.phase.done:
                    fresh.setdefault(moved.tile, moved)
        if fresh:
            for path in universe.finish_tiles(fresh.values()):
                self._removals.append(removers.submit(disk.remove, path))
        whole = Tally(linked=tally.linked)
        for one in self._tallies.values():
            whole.add(one)
        # Groups that nobody has begun are taken to be like the others.
        begun = sum(len(self._groups[i]) for i in self._tallies)
        whole.total *= sum(map(len, self._groups)) / max(1, begun)
        for name in ("work", "total", "read_bytes", "written_bytes", "read_seconds",
                     "step_seconds", "write_seconds"):  # fmt: skip
            setattr(tally, name, getattr(whole, name))
        tally.unchanged += sum(moved.record is None for moved in fresh.values())
        tally.computed += sum(moved.record is not None for moved in fresh.values())
