"""A plane that changes its engine while it runs has the cells that one engine makes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kernels._cpu")

from kernels.targets.cpu import CpuTarget
from lifesim import changing
from lifesim.changing import ChangingUniverse
from lifesim.engine import Life
from lifesim.growing import GrowingUniverse, OutgrownError
from lifesim.patterns import Pattern
from lifesim.planes import TiledUniverse
from lifesim.race import Race
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology
from lifesim.unbounded import open_unbounded
from tests.quick import examples

DATA = Path(__file__).parents[2] / "data" / "patterns"
GUN = DATA / "gosper-gun.rle"


class Restless(Race):
    """A race in which whoever it hits runs, for a step."""

    chance = random.Random(1)

    def choose(self, left, is_worth):
        """Return any engine."""
        return self.chance.choice(self.names)


@pytest.fixture
def restless(monkeypatch):
    monkeypatch.setattr(changing, "Race", Restless)
    monkeypatch.setattr(ChangingUniverse, "stride", 7)


@pytest.mark.usefixtures("restless")
@settings(max_examples=examples(40), deadline=None)
@given(
    st.tuples(st.integers(1, 150), st.integers(1, 80)),
    st.sampled_from(["B3/S23", "B36/S23", "B2/S", "B3678/S34678"]),
    st.lists(st.integers(0, 60), max_size=4),
    st.tuples(st.integers(-200, 200), st.integers(-200, 200)),
    st.integers(0, 2**32),
)
def test_it_is_what_one_engine_makes(size, rule, runs, corner, seed):
    pattern = Pattern(random_grid(*size, 0.4, seed), *corner, Rule.parse(rule))
    ours = Life.from_pattern(pattern, backend="cpu")
    theirs = Life.from_pattern(pattern, backend="cpu", engine="dense")
    for generations in runs:
        ours.run(generations)
        theirs.run(generations)
        assert ours.generation == theirs.generation == sum(ours.made.values())
        assert ours.bounding_box() == theirs.bounding_box()
        assert ours.population() == theirs.population()
        assert ours.grid() == theirs.grid()
        assert ours.digest() == theirs.digest()


@pytest.mark.parametrize("generations", [10**9, 2**200])
def test_the_gun_ends_in_hashlife(generations):
    life = Life.from_pattern(GUN)
    life.run(generations)
    assert life.engine == "hashlife"
    assert life.generation == generations
    assert sum(life.made.values()) == generations
    assert abs(life.population() - generations // 6) < 100


def test_what_has_settled_is_run_at_once():
    life = Life.from_pattern(DATA / "r-pentomino.rle")
    life.run(2**100)
    assert (life.generation, life.population()) == (2**100, 116)


def test_it_leaves_an_engine_that_has_no_memory(monkeypatch):
    def out_of_memory(self, generations, stopped=None):
        raise OutgrownError("no memory")

    with monkeypatch.context() as patch:
        patch.setattr(TiledUniverse, "step", out_of_memory)
        life = Life.from_pattern(GUN)
        assert life.engine == "tiles"
        life.run(1000)
        assert "tiles" not in life.made
        assert life.population() == 213
        patch.setattr(changing.HashedUniverse, "step", out_of_memory)
        patch.setattr(GrowingUniverse, "step", out_of_memory)
        with pytest.raises(OutgrownError, match="no memory"):
            life.run(1000)
        assert life.generation == 1000
    life.run(20)
    assert (life.generation, life.population()) == (1020, 36 + 5 * 34)


def test_a_rectangle_holds_what_tiles_do_not():
    grid = random_grid(3000, 3000, 0.5, 1)
    target = CpuTarget()
    universe = ChangingUniverse(target, target, grid, (0, 0), Rule.parse("B3/S23"), 5 << 20)
    assert universe.engine == "dense"


def test_stopping(monkeypatch):
    life = Life.from_pattern(GUN)
    asked = iter([False] * 3)
    life.run(10**30, stopped=lambda: next(asked, True))
    assert life.generation < 10**30
    life.run(30 - life.generation % 30)
    assert life.population() == 36 + life.generation // 6


@settings(max_examples=examples(40), deadline=None)
@given(
    st.tuples(st.integers(1, 150), st.integers(1, 80)),
    st.tuples(st.integers(-(2**61), 2**61), st.integers(-300, 300)),
    st.integers(0, 90),
    st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.integers(0, 2**32),
)
def test_a_rectangle_counts_and_hands_over_as_planes_do(size, at, level, beside, shape, seed):
    grid, backend = random_grid(*size, 0.3, seed), CpuTarget(1)
    engines = ("dense", "tiles", "hashlife", "auto")
    planes = [
        open_unbounded(name, backend, grid, at, (0, 0), LIFE, Topology.PLANE, 1 << 28)
        for name in engines
    ]
    blocks = [(place >> level) + offset for place, offset in zip(at, beside, strict=True)]
    found = [plane.counts(*blocks, level, shape) for plane in planes]
    handed = []
    for plane in planes:
        squares = {}
        for places, words in plane.all_squares():
            squares |= zip(map(tuple, places.tolist()), map(bytes, words), strict=True)
        handed.append(squares)
    for name, counts, squares in zip(engines, found, handed, strict=True):
        assert np.array_equal(counts, found[0]), name
        assert squares == handed[0], name
    assert found[0].sum() <= grid.population()
