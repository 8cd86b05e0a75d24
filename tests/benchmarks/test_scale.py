"""The simulation of bags of tasks, and what the page on scale computes."""

from __future__ import annotations

import math
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import scale
from benchmarks.scale import best_life, life, makespan, parse

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
costs = st.lists(st.integers(1, 100).map(float), min_size=1, max_size=40)
workers = st.integers(1, 9)


@given(costs, st.floats(0.1, 10))
def test_one_worker_does_one_after_the_other(costs: list[float], speed: float) -> None:
    expected = sum(costs) / speed + 0.5 * len(costs)
    assert makespan(costs, [speed], overhead=0.5) == pytest.approx(expected)


@given(st.integers(0, 60), workers)
def test_equal_tasks_go_in_rounds(count: int, workers: int) -> None:
    assert makespan([3.0] * count, [1.0] * workers) == 3.0 * math.ceil(count / workers)


@given(costs, workers)
def test_stragglers_are_bounded(costs: list[float], workers: int) -> None:
    """Graham, Bounds for certain multiprocessing anomalies, 1966."""
    found = makespan(costs, [1.0] * workers)
    even = sum(costs) / workers
    assert max(even, max(costs)) <= found <= even + (1 - 1 / workers) * max(costs) + 1e-9


@given(costs, st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), min_size=1, max_size=6))
def test_workers_of_any_speed(costs: list[float], speeds: list[float]) -> None:
    """No worker is idle while a task waits; so the last one to end began before all were busy."""
    found = makespan(costs, speeds)
    assert sum(costs) / sum(speeds) - 1e-9 <= found
    assert found <= sum(costs) / sum(speeds) + max(costs) / min(speeds) + 1e-9


def test_a_slow_worker_holds_up_a_task_each_but_not_many() -> None:
    assert makespan([1.0] * 4, [1, 1, 1, 0.5]) == 2.0
    assert makespan([0.1] * 40, [1, 1, 1, 0.5]) == pytest.approx(1.2)


def test_a_dead_workers_task_is_done_again() -> None:
    assert makespan([1.0] * 4, [1.0, 1.0]) == 2.0
    assert makespan([1.0] * 4, [1.0, 1.0], deaths={1: 0.5}) == 4.0
    assert makespan([1.0] * 4, [1.0, 1.0], deaths={1: 0.5}, back=0.5) == 3.0
    assert makespan([1.0, 1.0], [1.0], deaths={0: 1.5}, back=2.0) == 4.5
    assert makespan([1.0, 1.0], [1.0], deaths={0: 1.5}) == math.inf
    assert makespan([1.0] * 2, [1.0] * 3, deaths={2: 0.5, 0: 9.0}) == 1.0  # idle, and too late
    assert makespan([], [1.0], deaths={0: 1.0}) == 0.0


@given(costs, st.integers(2, 6), st.floats(0, 50), st.floats(0, 10))
def test_a_death_costs_what_was_done_of_a_task_at_most(
    costs: list[float], workers: int, at: float, back: float
) -> None:
    found = makespan(costs, [1.0] * workers, deaths={0: at}, back=back)
    assert found <= sum(costs) / (workers - 1) + 2 * max(costs) + 1e-9
    assert found >= max(sum(costs) / workers, max(costs)) - 1e-9


# --- the page -------------------------------------------------------------------------------


def test_more_gpus_and_disks_never_take_longer() -> None:
    side, generations = 1 << 20, 1 << 12
    for few, many in pairwise((1, 2, 8, 64)):
        slow, fast = (best_life(side, generations, gpus, gpus) for gpus in (few, many))
        assert fast.seconds < slow.seconds
        assert best_life(side, generations, 8, many).seconds <= (
            1.01 * best_life(side, generations, 8, few).seconds
        )


def test_one_gpu_is_as_was_measured() -> None:
    """524288², 16384 generations, two phases: "Universes on disk" in RESULTS.md."""
    run = life(1 << 19, 1 << 14, 1, 1, phases=2, groups=1, tile=1 << 27)
    assert run is not None
    assert run.seconds == pytest.approx(96.0, rel=0.1)
    assert run.gpus == pytest.approx(85.2, rel=0.1)
    assert run.disks == pytest.approx(51.2, rel=0.1)
    assert run.binds == "GPUs"


def test_what_binds() -> None:
    assert best_life(1 << 20, 1 << 12, 64, 1).binds == "disks"
    assert best_life(1 << 20, 1 << 12, 64, 64, tile=1 << 20).binds == "client"
    assert life(1 << 24, 1 << 14, 8, 8, phases=1, groups=1) is None  # no room for halos
    assert parse(1e9, 1e6, 33, 8, 1e9).binds == "workers"
    assert parse(1e9, 1e6, 33, 8, 1e6) == scale.ParseRun(1000.0, "client")
    assert parse(1e9, 1e9, 1000, 8, 1e9).binds == "network"


def test_the_page_has_the_tables(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["scale"])
    scale.main()
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(printed) > 20
    page = PAGE.read_text()
    assert not [line for line in printed if line not in page]


def test_the_rates_are_those_of_results() -> None:
    results = (PAGE.parents[1] / "benchmarks" / "RESULTS.md").read_text()
    read, write = scale.READ / 1e9, scale.WRITE / 1e9
    assert re.search(rf"plain direct: read, write, both at once \| {read}, {write},", results)
    assert f"{scale.CELLS / 1e12}×10¹²/s" in results
    for rate, _ in scale.STRINGS.values():
        assert f"| {rate / 1e6} million |" in results


@pytest.mark.first
@pytest.mark.slow
def test_the_simulation_is_near_a_cluster() -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    if os.getloadavg()[0] > 2 * (os.cpu_count() or 1):
        pytest.skip("the machine is too busy to time anything")
    for line in list(scale.check_table(2))[2:]:
        assert 0.8 <= float(line.split("|")[-2]) <= 1.6, line
