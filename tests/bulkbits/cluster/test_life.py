"""Universes on disk that workers of a cluster move on: the run in memory, cell for cell."""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
import pickle
import random
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkbits.cluster import ClusterError, worker
from kernels.life.bytewise import BytewiseLife
from kernels.life.contract import LifeArena
from kernels.life.cpu.engine import CpuLifeEngine
from kernels.targets.choose import pick
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.rule import LIFE
from lifesim.store import disk
from lifesim.store.universe import Moved, Universe
from lifesim.stream import tasks
from lifesim.stream.cluster import ClusterExecutor
from lifesim.stream.executor import LocalExecutor
from lifesim.stream.phase import PhaseShape
from lifesim.stream.plan import BudgetError, PhasePlan, Rates
from lifesim.stream.run import StreamedLife
from tests.clusters import InlineCluster
from tests.interrupts import interrupts
from tests.kernels.life.test_cuda import EmulatedBackend
from tests.lifesim.store import test_crash
from tests.lifesim.store.faults import CPU, Case, Faults, assert_tidy, copy
from tests.lifesim.store.test_crash import kills, marked
from tests.lifesim.store.test_plane import Plane
from tests.lifesim.stream.streamed import (
    PLENTY,
    RANGES,
    StreamCase,
    assert_same,
    cases,
    check,
    least_memory,
    planned,
    reference,
)
from tests.quick import examples
from tests.universes import on_disk
from tests.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def here() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def crew_of(cluster: Any, memory: int = PLENTY) -> ClusterExecutor:
    return ClusterExecutor(cluster, memory)


# --- any grouping -----------------------------------------------------------------------


@dataclass(frozen=True)
class Grouping:
    case: StreamCase
    shape: PhaseShape
    workers: int
    groups: int
    seed: int

    def check(self) -> None:
        plan = planned(self.shape, self.case.generations or 50)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "sync", lambda fd: None)
            patch.setattr(disk, "sync_folder", lambda path: None)
            patch.setattr("lifesim.stream.plan.choose", plan)
            patch.setattr("lifesim.stream.plan._groups", lambda *facts: self.groups)
            crew = crew_of(InlineCluster(self.workers, self.seed, backend="cpu"))
            check(self.case, crew)  # type: ignore[arg-type]


@st.composite
def groupings(draw: st.DrawFn, most: int = 250) -> Grouping:
    case = draw(cases(most))
    across, down = (draw(st.integers(1, count)) for count in case.tiles)
    return Grouping(
        case,
        PhaseShape(across, down, draw(st.integers(1, 3)), draw(st.booleans())),
        draw(st.sampled_from([1, 2, 3, 7])),
        draw(st.integers(1, 5)),
        draw(st.integers(0, 99)),
    )


@settings(max_examples=examples(15))
@given(groupings())
def test_any_grouping(grouping: Grouping) -> None:
    grouping.check()


@pytest.mark.first
@pytest.mark.slow
@settings(max_examples=examples(150))
@given(groupings(most=500))
def test_any_grouping_for_long(grouping: Grouping) -> None:
    grouping.check()


@settings(max_examples=examples(8))
@given(cases(), st.sampled_from([1, 2, 3, 7]), st.booleans())
def test_as_planned(case: StreamCase, workers: int, reopen: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "sync", lambda fd: None)
        crew = crew_of(InlineCluster(workers, backend="cpu"))
        check(case, crew, reopen=reopen)  # type: ignore[arg-type]


@settings(max_examples=examples(5))
@given(cases(most=20, rules=RANGES), st.sampled_from([1, 3]))
def test_rules_that_reach_far(case: StreamCase, workers: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "sync", lambda fd: None)
        crew = crew_of(InlineCluster(workers, backend="cpu"))
        check(case, crew)  # type: ignore[arg-type]


# --- workers that die -------------------------------------------------------------------


@dataclass
class ForkedCluster(InlineCluster):
    """Each group is moved on in a process of its own, of which faults() may make an end; then
    another one has it.

    log: of effects of tasks that were not killed. kills: how many were.
    """

    faults: Callable[[], Faults] = Faults
    log: list[str] = field(default_factory=list)
    kills: int = 0

    def _call(self, name: str, function: Callable[..., Any], args: Iterable[Any]) -> Any:
        if function is not tasks.move_on:
            return super()._call(name, function, args)
        args = tuple(args)
        while (found := self._forked(name, args)) is None:
            self.kills += 1
        return found

    def _forked(self, name: str, args: tuple[Any, ...]) -> Any:
        """Return what the task returns, or None where it was killed. What it told is heard."""
        fault = self.faults()
        out, into = os.pipe()
        child = os.fork()
        if not child:
            signal.alarm(60)
            os.close(out)
            with os.fdopen(into, "wb") as file:
                self.callbacks = [lambda name, value: _send(file, ("told", value))]
                try:
                    with fault.active() as faults:
                        found: Any = super()._call(name, tasks.move_on, args)
                    _send(file, ("done", (found, faults.log)))
                except BaseException as error:
                    _send(file, ("error", error))
                os._exit(0)
        os.close(into)
        result = None
        with os.fdopen(out, "rb") as file:
            while True:
                try:
                    kind, value = pickle.load(file)
                except EOFError:
                    break
                if kind == "told":
                    for callback in self.callbacks:
                        callback(name, value)
                elif kind == "done":
                    result, log = value
                    self.log += log
                else:
                    result = value
        os.waitpid(child, 0)
        if isinstance(result, BaseException):
            raise result
        return result


def _send(file: Any, value: Any) -> None:
    pickle.dump(value, file)
    file.flush()


SMALL = Case(width=130, height=48, tiles=(2, 3), phase=5, generations=8)


def run_of(case: Case, cluster: Any, path: Path) -> StreamedLife:
    with Universe.open(path, writing=True) as universe:
        crew = crew_of(cluster)
        life = StreamedLife(
            universe, crew, generations=case.phase, keep_previous=case.keep_previous
        )
        life.run(case.generations)
        case.verify(universe, case.trail())
    return life


def told_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tasks, "NEWS_SECONDS", 0.0)


EACH = [pytest.param(compression, 1, marks=pytest.mark.slow) for compression in ("none", "zstd")]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("compression", "stride"), [("none", 8), ("zstd", 12), *EACH])
def test_workers_killed_at_steps(
    compression: str,
    stride: int,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs end right though workers are killed at steps of their effects on the disk.

    Some runs have workers that tell at once what they have done.
    """
    case = Case(**{**test_crash.vars_of(SMALL), "compression": compression})
    template, path = case.template(here), here / "universe"
    alone = ForkedCluster(1, backend="cpu")
    run_of(case, alone, copy(template, path))
    assert alone.kills == 0
    log = alone.log[: len(alone.log) // 2]  # of the first phase
    some = set(marked(log))
    ways = [way for way in kills(log, power=False) if way[0] in some][::stride]
    left, rng, count = list(ways), random.Random(1), 0

    def faults() -> Faults:
        return Faults(*(left.pop() if left else (0, "")))

    while left:
        with monkeypatch.context() as patch:
            if rng.random() < 0.7:
                told_at_once(patch)
            cluster = ForkedCluster(1, backend="cpu", faults=faults)
            run_of(case, cluster, copy(template, path))
        count += cluster.kills
    assert len(ways) > 6
    assert count > 0.7 * len(ways)  # what is left for another worker has fewer steps


class TwiceCluster(InlineCluster):
    """Hears late what tasks tell, and moves each group on twice, the second time by what the
    journal said before the first."""

    def _call(self, name: str, function: Callable[..., Any], args: Iterable[Any]) -> Any:
        if function is not tasks.move_on:
            return super()._call(name, function, args)
        args = tuple(args)
        stale = args[0].universe.now()
        first = super()._call(name, function, args)
        for callback in self.callbacks:
            callback(name, pickle.loads(pickle.dumps(first)))
        self.settle()
        real, calls = Universe.now, []

        def now(universe: Universe) -> Universe:
            calls.append(universe)
            return stale if len(calls) == 1 else real(universe)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Universe, "now", now)
            second = super()._call(name, function, args)
        self.again.append((len(calls), len(second.moved)))
        return second

    def settle(self) -> None:
        """Wait until the client has noted all that it has heard, and removed what nobody needs."""
        time.sleep(0.05)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.again: list[tuple[int, int]] = []


@pytest.mark.sample(1)
@pytest.mark.parametrize("keep_previous", [False, True])
def test_groups_that_are_moved_on_twice(keep_previous: bool, here: Path) -> None:
    """A worker that did not know what another had told asks again when files are gone."""
    case = Case(width=130, height=600, tiles=(1, 30), phase=5, generations=12,
                keep_previous=keep_previous)  # fmt: skip
    template = case.template(here)
    for workers in (1, 2):
        cluster = TwiceCluster(workers, backend="cpu")
        run_of(case, cluster, copy(template, here / "universe"))
        assert any(moved for _, moved in cluster.again) or not keep_previous
        assert any(calls > 1 for calls, _ in cluster.again) != keep_previous


class Late(InlineCluster):
    """Has workers that came when others had been asked what they see: they see nothing."""

    def _call(self, name: str, function: Callable[..., Any], args: Iterable[Any]) -> Any:
        if function is tasks.move_on:
            group, work = args
            there = Universe("/nowhere", group.universe.manifest, None, None)
            args = replace(group, universe=there), work
        return super()._call(name, function, args)


def test_a_worker_that_sees_no_phase(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_PATIENCE", 0.2)
    with SMALL.make(here / "universe") as universe:
        life = StreamedLife(universe, crew_of(Late(2, backend="cpu")), generations=5)
        host = socket.gethostname()
        with pytest.raises(LifesimError, match=rf"/nowhere: no phase .*\({host} says\)"):
            life.run(SMALL.generations)
        SMALL.go_on(universe)
        SMALL.verify(universe, SMALL.trail())


def test_a_damaged_file_is_told(here: Path) -> None:
    """One that no other worker has made needless."""
    path = SMALL.template(here)
    with Universe.open(path) as universe:
        file = Path(universe.tiles_folder, universe.record(3).file)
    file.write_bytes(file.read_bytes()[:-1])
    with Universe.open(path, writing=True) as universe:
        life = StreamedLife(universe, crew_of(InlineCluster(2, backend="cpu")), generations=5)
        with pytest.raises(DamagedDataError, match=r"0001-0001.* bytes, not"):
            life.run(5)


# --- the client, and what the system refuses ---------------------------------------------


class ClusterCase(Case):
    """Moved on by workers in the same process: what kills one kills all."""

    def life(self, universe: Universe) -> StreamedLife:
        return StreamedLife(
            universe,
            crew_of(InlineCluster(2, backend="cpu")),
            generations=self.phase,
            keep_previous=self.keep_previous,
        )


CASES = [
    ClusterCase(),
    ClusterCase(torus=False, compression="zstd", keep_previous=True),
]
QUICKLY = [CASES[0], pytest.param(CASES[1], marks=pytest.mark.slow)]


@pytest.mark.parametrize("case", QUICKLY, ids=test_crash.name_of)
def test_client_and_workers_killed_at_steps(case: Case, here: Path) -> None:
    assert test_crash.killed_at_steps(case, here, 12) > 8


@pytest.mark.parametrize("case", QUICKLY, ids=test_crash.name_of)
def test_refused_at_steps(case: Case, here: Path) -> None:
    test_crash.refused_at_steps(case, here, 17)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=test_crash.name_of)
def test_killed_and_refused_at_many_steps(case: Case, here: Path) -> None:
    assert test_crash.killed_at_steps(case, here, 4) > 20
    for entry in here.iterdir():
        shutil.rmtree(entry)
    test_crash.refused_at_steps(case, here, 9)


# --- stopped ----------------------------------------------------------------------------


def slowly(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    step = BytewiseLife.step

    def slow_step(life: BytewiseLife, generations: int) -> None:
        time.sleep(seconds * generations)
        step(life, generations)

    monkeypatch.setattr(BytewiseLife, "step", slow_step)


@pytest.mark.parametrize("signals", [1, 2])
def test_signals(signals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one lets the blocks under way be finished, the second one drops them."""
    case = StreamCase(400, 300, (4, 4))
    step, steps, watched = BytewiseLife.step, itertools.count(), threading.Event()
    with interrupts() as send, on_disk(case.grid, case.tiles) as universe:

        def first_step(life: BytewiseLife, generations: int) -> None:
            if next(steps) == 0:
                assert watched.wait(60)
                for level in range(1, signals + 1):
                    send()
                    until(lambda: worker.said() and worker.said()[1] == level)  # noqa: B023
                time.sleep(0.6)  # and that is looked at
            step(life, generations)

        cluster = InlineCluster(2, backend="reference")
        memory = least_memory(universe, [pick("reference")], 20, 20)
        life = StreamedLife(universe, crew_of(cluster, memory), generations=20)
        with monkeypatch.context() as patch:
            patch.setattr(BytewiseLife, "step", first_step)
            with pytest.raises(KeyboardInterrupt):
                life.run(20, progress=lambda _: watched.set())
        assert universe.phase
        done = len(universe.phase.done)
        assert done == 0 if signals == 2 else 1 <= done < 16
        assert not [name for name in os.listdir(universe.tiles_folder) if name.endswith(".tmp")]
        life.run(20)
        expected = reference(case)
        expected.run(20)
        assert_same(universe, expected)


def test_workers_that_do_not_answer_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third signal leaves workers that do not answer; what they bring later is not noted."""
    left, done = threading.Event(), threading.Event()

    def hangs(*given: Any, sink: Any, **more: Any) -> bool:
        for _ in range(3):
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
        left.wait(60)
        sink([Moved(0, None)])
        done.set()
        return True

    case = StreamCase(200, 100, (2, 2))
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, crew_of(InlineCluster(1, backend="cpu")), generations=5)
        with monkeypatch.context() as patch:
            patch.setattr(tasks, "run_lanes", hangs)
            with pytest.raises(KeyboardInterrupt):
                life.run(5)
            assert not done.is_set()
            left.set()
            assert done.wait(60)
            time.sleep(0.1)
        assert universe.phase
        assert not universe.phase.done
        life.run(5)
        expected = reference(case)
        expected.run(5)
        assert_same(universe, expected)


# --- workers that come later ------------------------------------------------------------


@dataclass
class Growing(InlineCluster):
    """Has one worker more each time somebody looks, up to four."""

    def refresh(self) -> bool:
        if self.count == 4:
            return False
        self.count += 1
        self.__post_init__()
        return True


def test_workers_that_come_between_phases(here: Path) -> None:
    case = replace(SMALL, generations=6 * SMALL.phase)
    with case.make(here / "universe") as universe:
        crew = crew_of(Growing(1, backend="cpu"))
        life = StreamedLife(universe, crew, generations=case.phase)
        lanes = []
        life.run(case.generations, progress=lambda _: lanes.append(crew.lanes))
        assert sorted(set(lanes)) == [2, 3, 4]
        assert (crew.lanes, len(life.tallies)) == (4, 6)
        case.verify(universe, case.trail())


@dataclass
class GrowingElsewhere(Growing):
    """Those who come see nothing."""

    def _call(self, name: str, function: Callable[..., Any], args: Iterable[Any]) -> Any:
        if function is tasks.look and name == "1":
            args = ("/nowhere", *list(args)[1:])
        return super()._call(name, function, args)


def test_who_comes_must_see_the_universe(here: Path) -> None:
    with SMALL.make(here / "universe") as universe:
        life = StreamedLife(universe, crew_of(GrowingElsewhere(1, backend="cpu")))
        with pytest.raises(ClusterError, match=r"worker 1 .here. does not reach .*: No such file"):
            life.run(SMALL.generations)
        assert_tidy(universe)


# --- before it begins -------------------------------------------------------------------


@dataclass
class Elsewhere(InlineCluster):
    """Its worker 1 has something else at a path."""

    there: dict[str, str] = field(default_factory=dict)

    def _call(self, name: str, function: Callable[..., Any], args: Iterable[Any]) -> Any:
        if function is tasks.look and name == "1":
            args = (self.there.get(path, path) if isinstance(path, str) else path for path in args)
        return super()._call(name, function, args)


def refusal(path: Path, there: str) -> str:
    with Universe.open(path, writing=True) as universe:
        cluster = Elsewhere(3, backend="cpu", there={os.path.abspath(path): there})
        with pytest.raises(ClusterError) as refused:
            StreamedLife(universe, crew_of(cluster))
        assert_tidy(universe)
    assert refused.value.exit_code == 2
    text = str(refused.value)
    assert text.startswith(f"worker 1 (here) does not reach {path}: ")
    return text.partition(f"{path}: ")[2]


def test_a_path_that_a_worker_does_not_see(here: Path) -> None:
    path = SMALL.template(here)
    assert refusal(path, str(here / "nothing")) == "No such file or directory"
    other = SMALL.make(here / "other")
    other.close()
    assert refusal(path, other.path) == "another universe is there"
    same = copy(path, here / "same")
    assert refusal(path, str(same)) == "what it writes there is not seen here"
    shutil.rmtree(same / "tiles")
    assert refusal(path, str(same)) == "No such file or directory"


def test_workers_of_different_backends() -> None:
    cluster = InlineCluster(2, backend="cpu")
    cluster.workers = (cluster.workers[0], replace(cluster.workers[1], backend="reference"))
    with pytest.raises(ClusterError, match=r"different backends \(cpu, reference\)") as refused:
        ClusterExecutor(cluster)  # type: ignore[arg-type]
    assert refused.value.exit_code == 2


def test_memory_is_a_worker_s() -> None:
    """The least of all, and half of it where none is given."""
    case = StreamCase(256, 64, (4, 4), generations=4)
    with on_disk(case.grid, case.tiles) as universe:
        for workers in (1, 3):
            crew = ClusterExecutor(InlineCluster(workers, backend="cpu"), 1)  # type: ignore[arg-type]
            with pytest.raises(BudgetError, match=r"needs [\d.]+ KiB of memory.*, 1 byte") as no:
                StreamedLife(universe, crew, generations=4).run(4)
            assert ("for each of 3" in str(no.value)) == (workers == 3)
        need = no.value.needed
        crew = crew_of(InlineCluster(3, backend="cpu"), int(need + 0.1 * 2**20))
        StreamedLife(universe, crew, generations=4).run(4)
    with pytest.MonkeyPatch.context() as patch:
        free = iter([8 << 20, 4 << 20, 1 << 30])
        patch.setattr(worker, "memory", lambda: next(free))
        crew = ClusterExecutor(InlineCluster(3, backend="cpu"))  # type: ignore[arg-type]
        assert crew.plan(LIFE, operator.attrgetter("host")) == 2 << 20


def test_what_computes() -> None:
    crew = crew_of(InlineCluster(3, backend="cpu"))
    assert (crew.name, crew.lanes) == ("cpu", 3)
    assert crew.describe().startswith("3 workers of ")


# --- memory and room --------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_room_that_a_phase_takes(workers: int, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old files go while a group is under way: the disk needs no room for all of it."""
    monkeypatch.setattr(tasks, "NEWS_SECONDS", 0.0)
    shape = PhaseShape(1, 1, 2)
    monkeypatch.setattr("lifesim.stream.plan.choose", planned(shape, 5))
    slowly(monkeypatch, 0.02)
    case = Case(width=64, height=480, tiles=(1, 24), phase=5, generations=5)
    with case.make(here / "universe") as universe:
        crew = crew_of(InlineCluster(workers, backend="reference"))
        life = StreamedLife(universe, crew, generations=5)
        whole = most = universe.manifest.stored_bytes

        def watch(name: str) -> None:
            nonlocal most
            sizes = []
            with os.scandir(universe.tiles_folder) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # renamed or removed just now
                        sizes.append(entry.stat().st_size)
            most = max(most, sum(sizes))

        with Faults(watch=watch, names=("sync",)).active():
            life.run(5)
        case.verify(universe, case.trail())
    assert whole < most <= whole + 10 * whole / 24


def test_room_that_is_asked_for(here: Path) -> None:
    """Room is taken for what each worker has under way, and for what has not been told yet."""
    case = Case(width=64, height=6400, tiles=(1, 320), phase=5, generations=5)
    room = {}
    with case.make(here / "universe") as universe:
        plan = PhasePlan(5, PhaseShape(1, 1, 2), 1, 1.0)
        tile = universe.manifest.stored_bytes / 320
        crews = [LocalExecutor([CPU]), *(crew_of(InlineCluster(n, backend="cpu")) for n in (1, 3))]
        for crew in crews:
            life = StreamedLife(universe, crew, generations=5)
            life._rates = Rates(1e9, 1e9, 20 * tile / tasks.NEWS_SECONDS / 2)
            room[crew] = life._room(plan) / tile
    local, one, three = room.values()
    assert local == pytest.approx(4 + 10 / 20, abs=0.1)
    assert one == pytest.approx(local + 20, abs=0.1)
    assert three == pytest.approx(3 * local + 20, abs=0.1)


@pytest.mark.parametrize("tiles", [(1, 4), (2, 3)])
def test_emulated_device(tiles: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Arenas of an emulated device serve the threads of one task after those of another."""
    backend = EmulatedBackend()
    monkeypatch.setattr(worker, "backend", lambda: backend)
    monkeypatch.setattr("lifesim.stream.plan._groups", lambda *facts: 2)
    case = StreamCase(130, 40, tiles, generations=5, steps=(10,))
    check(case, crew_of(InlineCluster(2)))  # type: ignore[arg-type]


def test_arenas_are_kept_from_task_to_task(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arenas are kept through a phase, and through phases alike, and none after the run."""
    opened: list[LifeArena] = []
    closed: list[LifeArena] = []
    real = CpuLifeEngine.arena

    def opening(*given: Any, **more: Any) -> LifeArena:
        arena = real(*given, **more)
        close = arena.close
        monkeypatch.setattr(arena, "close", lambda: (closed.append(arena), close()))
        opened.append(arena)
        return arena

    monkeypatch.setattr(CpuLifeEngine, "arena", opening)
    monkeypatch.setattr("lifesim.stream.plan._groups", lambda *facts: 4)
    # Phases of as many generations are to be alike, however long they take.
    plan = planned(PhaseShape(1, 3, 3, True), 5)
    monkeypatch.setattr("lifesim.stream.plan.choose", plan)
    case = Case(width=130, height=480, tiles=(1, 16), phase=5, generations=17)
    with crew_of(InlineCluster(2, backend="cpu")) as crew, case.make(here / "u") as universe:
        StreamedLife(universe, crew, generations=5).run(17)
        assert len(opened) == 2  # of phases of 5 generations, and of 2
        assert closed == opened[:1]
        phases, made = opened[:], closed
        case.verify(universe, case.trail())
    assert made[:2] == phases


def test_a_plane_without_bounds_grows(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("lifesim.stream.bounds._LEAST", 3)
    monkeypatch.setattr("lifesim.stream.bounds._ROOM", 9)
    case = Plane()
    with case.make(tmp_path / "universe") as universe:
        held = universe.tiling
        crew = crew_of(InlineCluster(3, backend="cpu"))
        StreamedLife(universe, crew).run(case.generations)
        assert universe.tiling != held
        case.verify(universe, case.trail())
