"""Runs of universes on disk until a condition, against all generations of the same in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.pauses import Progress
from lifesim.rule import Rule
from lifesim.soup import Soup, random_grid
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from lifesim.until import ConditionError, Found, parse
from lifesim.until.stored import search_stored
from tests.disk_sessions import make
from tests.quick import examples

ONE = pick("auto", threads=1)
RULES = ("B3/S23", "B0/S8", "B2/S", "345/2/4")


class Trodden:
    """A universe in memory, each of whose generations is kept until it repeats itself."""

    def __init__(self, grid: BitGrid, rule: str, torus: bool) -> None:
        self._life = Life(grid, rule=rule, topology="torus" if torus else "plane", backend=ONE)
        self.grids, self.first = [self._life.grid()], None
        known = {self._life.digest(): 0}
        while self.first is None:
            self._life.run(1)
            self.first = known.get(self._life.digest())
            known[self._life.digest()] = self._life.generation
            self.grids.append(self._life.grid())
        self.period = len(self.grids) - 1 - self.first

    def at(self, generation: int) -> BitGrid:
        if generation >= len(self.grids):
            generation = self.first + (generation - self.first) % self.period
        return self.grids[generation]


def small_grid(width: int, height: int, rule: str, seed: int) -> BitGrid:
    known = Rule.parse(rule)
    grid = BitGrid(width, height, planes=known.planes)
    Soup(0.4, seed).fill_grid(grid, known.states)
    return grid


def holds(condition: str, population: int) -> bool:
    return not population if condition == "empty" else parse(condition).holds(population)


@settings(max_examples=examples(12), deadline=None)
@given(
    size=st.tuples(st.integers(1, 9), st.integers(1, 7)), rule=st.sampled_from(RULES),
    seed=st.integers(0, 99), torus=st.booleans(), looks=st.sampled_from([1, 7, 60]),
    start=st.sampled_from([0, 5]), most=st.sampled_from([None, 0, 3, 200]),
    condition=st.sampled_from(["stable", "empty", "period:2", "period:12", "population:<5",
                               "population:>=30"]),
)  # fmt: skip
def test_it_says_what_is_so(
    tmp_path_factory: pytest.TempPathFactory, size: tuple[int, int], rule: str, seed: int,
    torus: bool, looks: int, start: int, most: int | None, condition: str,
) -> None:  # fmt: skip
    grid = small_grid(*size, rule, seed)
    truth = Trodden(grid, rule, torus)
    folder, known = tmp_path_factory.mktemp("stored"), Rule.parse(rule)
    path = make(folder / "one", grid, (1, 1), torus=torus, rule=known)
    with Universe.open(path, writing=True) as universe:
        life = StreamedLife(universe, [ONE])
        life.run(start)
        found = life.run_until(condition, most, looks=looks)
        assert universe.grid() == truth.at(life.generation)
        assert found.generation == life.generation
    check(found, truth, condition, start, most)


def check(found: Found, truth: Trodden, condition: str, start: int, most: int | None) -> None:
    looked = [start] + [t for t in range(start + 1, found.generation + 1) if t % found.every == 0]
    if condition.startswith(("population", "empty")):
        true = [t for t in looked if holds(condition, truth.at(t).population())]
        assert true == [found.generation] * found.met
    if found.kind:  # it repeats itself
        assert found.period == truth.period
        assert truth.first <= found.began
        assert found.began in looked
        assert truth.at(found.began) == truth.at(found.began + found.period)
        if condition.startswith("period"):
            assert found.met == (parse(condition).period % truth.period == 0) == (not found.never)
    if not found.met:
        assert found.never or found.generation == start + most
    if most is not None:
        assert found.generation <= start + most
    else:
        assert found.met or found.never


def soup_on_disk(folder: Path, name: str = "one") -> str:
    return make(folder / name, random_grid(96, 64, 0.35, 1), (1, 1))


def test_a_run_that_is_broken_off_looks_at_the_same_generations(tmp_path: Path) -> None:
    def stopped_at(generation: int) -> Callable[[Progress], None]:
        def progress(now: Progress) -> None:
            if now.generation >= generation:
                raise KeyboardInterrupt

        return progress

    with Universe.open(soup_on_disk(tmp_path), writing=True) as universe:
        expected = StreamedLife(universe, [ONE]).run_until("population:<700", looks=25)
    with Universe.open(soup_on_disk(tmp_path, "two"), writing=True) as universe:
        life = StreamedLife(universe, [ONE], generations=10)
        for generation in (7, 40):
            with pytest.raises(KeyboardInterrupt):
                life.run_until("population:<700", looks=25, progress=stopped_at(generation))
            assert universe.manifest.run is None
        assert life.generation < expected.generation
        assert life.run_until("population:<700", looks=25) == expected


def test_snapshots_are_taken_on_the_way(tmp_path: Path) -> None:
    with Universe.open(soup_on_disk(tmp_path), writing=True) as universe:
        life, seen = StreamedLife(universe, [ONE]), []
        life.run(5)
        found = life.run_until(
            "population:<700", looks=30, every=20, on_snapshot=lambda at: seen.append(at.generation)
        )
        assert found.met
        assert seen == list(range(25, found.generation + 1, 20))


def test_ships_on_a_plane_without_bounds_are_no_repetition(tmp_path: Path) -> None:
    glider = patterns.read(str(Path(__file__).parents[3] / "data/patterns/glider.rle")).grid
    grid = BitGrid(128, 128)
    grid.paste(glider, 60, 60)
    path = make(tmp_path / "one", grid, (1, 1), torus=False, corner=(-60, -60))
    with Universe.open(path, writing=True) as universe:
        found = StreamedLife(universe, [ONE]).run_until("stable", 400)
        assert (found.met, found.never, found.generation) == (False, False, 400)


def test_what_is_refused(tmp_path: Path) -> None:
    with Universe.open(soup_on_disk(tmp_path), writing=True) as universe:
        life = StreamedLife(universe, [ONE], generations=40)
        with pytest.raises(ConditionError):
            life.run_until("soon")
        with pytest.raises(ValueError, match="cannot go back 1"):
            life.run_until("stable", -1)
        with pytest.raises(ValueError, match="every 1 or more"):
            life.run_until("stable", looks=0)
        universe.begin_phase(40)
        with pytest.raises(LifesimError, match="on its way to generation 40, beyond 3"):
            search_stored(life, "stable", 3, 60)
