"""Numbers of a run, kept within bounds."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets.choose import pick
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.soup import random_grid
from tests.quick import examples
from ui.cells.session import MemorySession
from ui.film.series import Point, Series


def point(generation: int) -> Point:
    return Point(generation, generation % 100, 400, float(generation))


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(1, 50), max_size=300), st.integers(4, 20))
def test_it_is_bounded_even_and_made_of_what_was_told(steps: list[int], most: int) -> None:
    series = Series(most)
    told = [0, *np.cumsum(steps).tolist()]
    for generation in told:
        series.add(point(generation))
        assert len(series) <= most
        assert series.points[-1] == point(generation)
    kept = [some.generation for some in series.points]
    assert kept[0] == 0
    assert set(kept) <= set(told)
    assert list(series.points) == [point(generation) for generation in kept]
    if len(told) <= most:
        assert kept == told
    elif len(kept) > 2:
        # None is far from the others but for what was told at no other time.
        span = told[-1]
        assert np.diff(kept).max() <= 8 * span / most + 2 * 50


def test_going_back_in_time() -> None:
    series = Series()
    for generation in (0, 10, 20, 30, 20):
        series.add(point(generation))
    assert [some.generation for some in series.points] == [0, 10, 20]
    series.add(Point(20, 7, 100, 2.0))
    assert series.points[-1].population == 7
    series.add(point(0))
    assert [some.generation for some in series.points] == [0]
    series.clear()
    assert len(series) == 0
    assert len(series.generations()) == 0


def test_long_runs() -> None:
    series = Series(100)
    for generation in range(0, 10**6, 37):
        series.add(point(generation))
    assert 40 <= len(series) <= 100
    gaps = np.diff(series.generations())
    assert gaps[:-1].max() <= 2 * gaps[:-1].min()


def test_numbers_and_files(tmp_path: Path) -> None:
    series = Series()
    series.add(Point(0, 1, 4, 0.0))
    series.add(Point(10**20, 3, 4, 1.5e12))
    assert series.generations().tolist() == [0.0, 1e20]
    assert series.populations().tolist() == [1.0, 3.0]
    assert series.densities().tolist() == [0.25, 0.75]
    assert series.rates().tolist() == [0.0, 1.5e12]
    path = tmp_path / "run.csv"
    series.save(path)
    assert path.read_text().splitlines() == [
        "generation,population,density,rate",
        "0,1,0.25,0",
        f"{10**20},3,0.75,1.5e+12",
    ]
    with pytest.raises(LifesimError, match="cannot write"):
        series.save(tmp_path / "none" / "run.csv")
    assert [found.name for found in tmp_path.iterdir()] == ["run.csv"]


def test_a_series_needs_room() -> None:
    with pytest.raises(ValueError, match="at least 4"):
        Series(3)


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_populations_are_of_the_generation_that_is_told(small: int) -> None:
    """Populations are of the generation told, even where the run has gone on since the count."""
    grid = random_grid(96, 80, 0.4, 5)
    session = MemorySession(grid, backend=pick("auto", threads=1), small=small)
    session.set_speed(1, 1000.0)
    session.start()
    found: dict[int, int] = {}
    late, end = False, time.monotonic() + 60
    while len(found) < 5 or not late:
        status = session.status()
        if status.population is not None:
            assert found.setdefault(status.counted, status.population) == status.population
            late |= status.counted < status.generation
        assert time.monotonic() < end
        time.sleep(0.001)
    session.close()
    life = Life(grid, backend=pick("auto", threads=1))
    for generation, population in found.items():
        life.run(generation - life.generation)
        assert population == life.grid().population()
