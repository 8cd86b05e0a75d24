"""Streamed runs: snapshots, progress, what stops them, and how they are taken up again."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import pytest

from kernels.life.bytewise import BytewiseLife
from kernels.targets.choose import pick
from kernels.targets.cpu import CpuTarget
from lifesim import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.pauses import Progress
from lifesim.soup import random_grid
from lifesim.store.universe import Universe
from lifesim.stream.phase import _Lane
from lifesim.stream.run import StreamedLife
from tests.interrupts import interrupts
from tests.lifesim.stream.streamed import (
    CPU,
    PLENTY,
    StreamCase,
    assert_same,
    least_memory,
    reference,
    settled,
)
from tests.universes import on_disk, reopened

pytestmark = pytest.mark.usefixtures("no_syncs")


# --- runs ----------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("generations", [None, 7, 60])
def test_snapshots(generations: int | None) -> None:
    case = StreamCase(300, 200, (3, 4))
    expected = reference(case)
    seen = []

    def snapshot(life: StreamedLife) -> None:
        seen.append(life.generation)
        expected.run(life.generation - expected.generation)
        assert_same(life.universe, expected)

    with on_disk(case.grid, case.tiles, generation=0) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=generations)
        life.run(50, every=20, on_snapshot=snapshot)
        assert seen == [20, 40]
        life.run(50, every=25, on_snapshot=snapshot)
        assert seen == [20, 40, 75, 100]
        assert life.generation == 100


def test_snapshots_of_a_settled_universe() -> None:
    """A jump does not go past one."""
    grid = settled(256, 128)
    seen = []
    with on_disk(grid, (4, 4)) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=2)
        life.run(1000, every=333, on_snapshot=lambda life: seen.append(life.universe.digest()))
    expected = []
    memory = Life(grid, backend=CPU)
    memory.run(1000, every=333, on_snapshot=lambda life: expected.append(life.digest()))
    assert seen == expected


def test_no_steps() -> None:
    case = StreamCase(100, 50, (2, 2))
    with on_disk(case.grid, case.tiles) as universe:
        files = [record.file for record in universe.manifest.tiles]
        life = StreamedLife(universe, [CPU])
        life.run(0)
        life.run(0, every=5, on_snapshot=lambda life: pytest.fail("no snapshot"))
        life.resume()
        assert [record.file for record in universe.manifest.tiles] == files
        assert (life.generation, life.tallies, life.rate) == (0, [], 0.0)
        assert_same(universe, reference(case))


def test_runs_that_make_no_sense() -> None:
    with on_disk(BitGrid(10, 10)) as universe:
        life = StreamedLife(universe, [CPU])
        with pytest.raises(ValueError, match="back"):
            life.run(-1)
        with pytest.raises(ValueError, match="every 1 or more"):
            life.run(5, every=0)


def test_a_universe_that_starts_late() -> None:
    grid = random_grid(100, 100, 0.3, 1)
    late = 10**18
    with on_disk(grid, (2, 2), generation=late) as universe:
        StreamedLife(universe, [CPU], generations=7).run(20)
        expected = Life(grid, backend=CPU, generation=late)
        expected.run(20)
        assert_same(universe, expected)


def test_progress() -> None:
    case = StreamCase(2000, 2000, (2, 4))
    seen = []
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=500)
        life.run(2000, progress=seen.append)
        assert life.rate > 0
    assert seen
    assert {p.total for p in seen} == {2000}
    assert all(p.generation == p.done for p in seen)
    done = [p.done for p in seen]
    assert done == sorted(done)
    assert done[-1] <= 2000


def test_progress_of_a_phase_that_is_over_before_it_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = _Lane.start

    def start(lane: _Lane) -> None:
        real(lane)
        for ended in lane.ended:
            assert ended.wait(60)

    monkeypatch.setattr(_Lane, "start", start)
    case = StreamCase(128, 128, (1, 2))
    seen: list[Progress] = []
    with on_disk(case.grid, case.tiles, generation=0) as universe:
        StreamedLife(universe, [CPU], memory=PLENTY).run(13, progress=seen.append)
    assert seen
    assert seen[-1].done == seen[-1].total == 13


# --- stopped, and taken up again -----------------------------------------------------


class Stop:
    """A progress function that interrupts when it is called for the nth time."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self, progress: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.sample(1)
@pytest.mark.parametrize("lanes", [1, 2])
@pytest.mark.parametrize("reopen", [False, True])
def test_interrupted_and_resumed(reopen: bool, lanes: int) -> None:
    case = StreamCase(500, 400, (4, 6), generations=9)
    backends = [CpuTarget(threads=1) for _ in range(lanes)]
    with on_disk(case.grid, case.tiles) as universe:
        memory = 2 * lanes * least_memory(universe, backends, 9, 100)
        for calls in range(1, 4):
            life = StreamedLife(universe, backends, memory=memory, generations=9)
            with pytest.raises(KeyboardInterrupt):
                life.run(100, progress=Stop(calls))
            assert universe.manifest.run == (0, 100)
            assert universe.generation < 100
            if reopen:
                universe = reopened(universe)
        life = StreamedLife(universe, backends, memory=memory, generations=5)
        life.resume()
        life.resume()
        expected = reference(case)
        expected.run(100)
        assert_same(universe, expected)
        assert universe.manifest.run is None
        universe.close()


@pytest.mark.parametrize("signals", [1, 2])
def test_signals(signals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one lets the block under way be finished, the second one drops it."""
    case = StreamCase(400, 300, (4, 4))
    step, steps, watched = BytewiseLife.step, itertools.count(), threading.Event()
    with interrupts() as send, on_disk(case.grid, case.tiles) as universe:

        def first_step(life: BytewiseLife, generations: int) -> None:
            if next(steps) == 0:
                assert watched.wait(60)
                for _ in range(signals):
                    send()
                    time.sleep(0.5)  # it is looked at
            step(life, generations)

        slow = pick("reference")
        memory = least_memory(universe, [slow], 20, 20)
        life = StreamedLife(universe, [slow], memory=memory, generations=20)
        monkeypatch.setattr(BytewiseLife, "step", first_step)
        with pytest.raises(KeyboardInterrupt):
            life.run(20, progress=lambda _: watched.set())
        monkeypatch.undo()
        assert universe.phase
        done = len(universe.phase.done)
        assert done == 0 if signals == 2 else 1 <= done < 16
        life.run(20)
        expected = reference(case)
        expected.run(20)
        assert_same(universe, expected)


def test_the_same_run_again_finishes_the_one_broken_off() -> None:
    case = StreamCase(500, 400, (4, 6))
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=9)
        with pytest.raises(KeyboardInterrupt):
            life.run(100, progress=Stop(3))
        life.run(100)
        expected = reference(case)
        expected.run(100)
        assert_same(universe, expected)


@pytest.fixture
def breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A phase is broken off after its second tile, the first time that it is run."""
    real, calls = Universe.finish_tiles, []

    def finish_tiles(universe: Universe, finished: Any) -> list[str]:
        superseded = real(universe, finished)
        calls.append(universe)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return superseded

    monkeypatch.setattr(Universe, "finish_tiles", finish_tiles)


@pytest.mark.usefixtures("breaks_off")
def test_a_run_that_ends_within_a_phase_under_way() -> None:
    case = StreamCase(500, 400, (4, 6))
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=9)
        with pytest.raises(KeyboardInterrupt):
            life.run(100)
        assert universe.phase
        with pytest.raises(LifesimError, match="on its way to generation 9, beyond 5"):
            life.run(5)
        life.run(12)  # of its own
        expected = reference(case)
        expected.run(12)
        assert_same(universe, expected)


@pytest.mark.usefixtures("breaks_off")
def test_snapshots_of_another_rhythm_while_a_phase_is_under_way() -> None:
    """The phase is finished as it was begun, in the memory that it needs."""
    case = StreamCase(500, 400, (4, 6))
    seen = []
    with on_disk(case.grid, case.tiles) as universe:
        memory = 2 * least_memory(universe, [CPU], 50, 100)
        life = StreamedLife(universe, [CPU], memory=memory, generations=50)
        with pytest.raises(KeyboardInterrupt):
            life.run(100)
        assert universe.phase
        life.resume(every=20, on_snapshot=lambda life: seen.append(life.generation))
        expected = reference(case)
        expected.run(100)
        assert_same(universe, expected)
        assert seen == [60, 80, 100]
        assert life.tallies[0][0].generations == 50
