"""The generation in which live cells first meet the edge of a universe that was asked for."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernels.life import ref
from kernels.life.cpu.engine import CpuLife
from lifesim import edge, patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology
from tests.commands import refused

PLANE, TORUS = Topology.PLANE, Topology.TORUS
GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
BLOCK = BitGrid.from_cells(2, 2, [(0, 0), (1, 0), (0, 1), (1, 1)])
ACORN = BitGrid.from_cells(7, 3, [(1, 0), (3, 1), (0, 2), (1, 2), (4, 2), (5, 2), (6, 2)])


def first_at_edge(grid: BitGrid, rule: Rule, torus: bool, generations: int) -> int | None:
    """Find it by looking at each generation."""
    cells = grid.to_bool()
    for generation in range(generations + 1):
        if cells[0].any() or cells[-1].any() or cells[:, 0].any() or cells[:, -1].any():
            return generation
        cells = ref.step(cells, rule.life_like.birth, rule.life_like.survival, torus)
    return None


@given(
    st.tuples(st.integers(1, 90), st.integers(1, 90)),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.tuples(st.integers(0, 80), st.integers(0, 80)),
    st.sampled_from(["B3/S23", "B36/S23", "B2/S", "B0/S8", "B01/S", "B3678/S34678", "B3/S"]),
    st.booleans(),
    st.lists(st.integers(0, 70), max_size=4),
    st.integers(0, 2**32),
    st.integers(1, 80),
)
@example((60, 40), (2, 2), (1, 1), "B3/S23", False, [60, 70], 5, 64)
def test_it_is_the_first_generation(size, soup, at, rule, torus, runs, seed, least):
    wide, high = min(soup[0], size[0]), min(soup[1], size[1])
    grid = BitGrid(*size)
    place = min(at[0], size[0] - wide), min(at[1], size[1] - high)
    grid.paste(random_grid(wide, high, 0.4, seed), *place)
    rule = Rule.parse(rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge, "_LEAST", least)
        life = Life(
            grid,
            rule=rule,
            topology=TORUS if torus else PLANE,
            generation=7,
            watch=True,
            backend="reference",
        )
        wanted = first_at_edge(grid, rule, torus, sum(runs))
        for done in [0, *(sum(runs[: i + 1]) for i in range(len(runs)))]:
            life.run(7 + done - life.generation)
            met = wanted is not None and wanted <= done
            assert life.edge == (7 + wanted if met else None)


def test_a_still_life_beside_the_edge_costs_no_more(monkeypatch):
    """It takes no more than if it stood in the middle."""
    steps: list[int] = []
    step = CpuLife.step

    def counted(self, generations):
        if self.width == 1000:
            steps.append(generations)
        step(self, generations)

    monkeypatch.setattr(CpuLife, "step", counted)
    grid = BitGrid(1000, 500)
    for x, y in [(1, 1), (997, 497), (1, 300), (500, 497)]:
        grid.paste(BLOCK, x, y)
    life = Life(grid, topology=PLANE, watch=True, backend="cpu")
    life.run(5_000)
    assert (life.edge, life.population()) == (None, 16)
    assert len(steps) < 200


def test_what_passes_along_an_edge_does_not_meet_it():
    ship = patterns.read(io.BytesIO(b"x = 5, y = 4\nbo2bo$o$o3bo$4o!")).grid
    grid = BitGrid(600, 30)
    grid.paste(ship, 590, 2)
    life = Life(grid, topology=PLANE, watch=True, backend="cpu")
    wanted = first_at_edge(grid, life.rule, False, 1200)
    life.run(1200)
    assert wanted is not None
    assert wanted > 500
    assert life.edge == wanted


@pytest.mark.parametrize("bounds", ["T40,0", "P40,0", "T0,40", "P0,40"])
def test_edges_one_way_only(bounds):
    text = f"#CXRLE Pos=-3,5\nx = 3, y = 3, rule = B3/S23:{bounds}\nbo$2bo$3o!"
    life = Life.from_pattern(patterns.read(io.BytesIO(text.encode())), watch=True, backend="cpu")
    side = 0 if life.bounds[0] else 1
    wanted = None
    for generation in range(200):
        box = life.bounding_box()
        if wanted is None and (box[side] == 0 or box[side] + box[side + 2] == 40):
            wanted = generation
        life.run(1)
    assert wanted is not None
    assert life.edge == wanted


# The command


def of_glider(side: int, x: int, y: int) -> int:
    grid = BitGrid(side, side)
    grid.paste(GLIDER, x, y)
    met = first_at_edge(grid, Rule.parse("B3/S23"), False, 8 * side)
    assert met
    return met


def write(name: str, grid: BitGrid, *at: int) -> str:
    patterns.write(Pattern(grid, *at), name)
    return name


def test_it_is_said_when_it_is_so_and_only_then(lifesim):
    glider = write("a.rle", GLIDER)
    args = ["run", glider, "--size", 40, "--at", "20,20", "--json", "--steps"]
    done = lifesim(*args, 60)
    assert (done.facts["edge"], done.err) == ({"reached": False}, "")
    done = lifesim(*args, 100)
    facts, met = done.facts["edge"], of_glider(40, 20, 20)
    assert facts == {"reached": True, "generation": met}
    assert done.err == (
        f"lifesim: live cells met the edge of the 40x40 plane in generation {met}: "
        "cells are those of a plane without bounds up to then only\n"
    )
    torus = lifesim(*args, 100, "--topology", "torus")
    assert torus.facts["edge"] == facts
    assert f"40x40 torus in generation {met}" in torus.err
    quiet = lifesim(*args, 100, "--quiet")
    assert (quiet.facts["edge"], quiet.err) == (facts, "")


def test_soups_and_planes_without_bounds(lifesim):
    assert lifesim("run", "--size", 64, "--steps", 5, "--json").facts["edge"] is None
    done = lifesim("run", write("a.rle", GLIDER), "--steps", 4000, "--json")
    assert (done.code, done.err, done.facts["edge"]) == (0, "", {"reached": False})
    assert (done.facts["x"], done.facts["y"], done.facts["bounds"]) == (1000, 1000, None)
    # A torus that is full from the start is no surprise.
    lifesim("random", "--size", 64, "--out", "soup.rle")
    done = lifesim("run", "soup.rle", "--steps", 5, "--json")
    assert (done.facts["edge"], done.err) == ({"reached": True, "generation": 0}, "")


def test_a_picture_of_what_met_the_edge(lifesim):
    args = ["render", write("a.rle", GLIDER), "--size", 40, "--out", "a.png", "--steps"]
    assert lifesim(*args, 40).err == ""
    assert f"in generation {of_glider(40, 18, 18)}" in lifesim(*args, 100).err


def test_empty_space_that_comes_alive(lifesim):
    glider = write("a.rle", GLIDER)
    args = ["run", glider, "--rule", "B0/S8", "--json", "--steps"]
    refused(lifesim(*args, 1), 2, "empty space .*--size")
    assert lifesim(*args, 0).code == 0
    done = lifesim(*args, 5, "--size", 20)
    assert done.facts["edge"] == {"reached": True, "generation": 1}
    refused(lifesim("run", glider, "--steps", 1, "--topology", "torus"), 2, "torus has a size")


def test_a_directory_keeps_it(lifesim):
    args = ["run", write("a.rle", GLIDER), "--size", 40, "--at", "20,20", "--json", "--steps"]
    met = {"reached": True, "generation": of_glider(40, 20, 20)}
    for steps, wanted in ((60, {"reached": False}), (100, met)):
        out = f"there{steps}"
        assert lifesim(*args, steps, "--out", out).facts["edge"] == wanted
        assert lifesim("run", out, "--steps", 1, "--json").facts["edge"] == wanted


@pytest.mark.parametrize("phase", [40, 350])
def test_on_disk(lifesim, phase):
    """The edge is told exactly where a phase ends there, and never wrongly."""
    glider = write("a.rle", GLIDER)
    assert lifesim("convert", glider, "there", "--size", "300x200").code == 0
    wanted = lifesim("run", glider, "--size", "300x200", "--steps", 900, "--json").facts["edge"]
    args = ["run", "there", "--json", "--phase", phase, "--steps"]
    done = lifesim(*args, 200)
    assert (done.facts["edge"], done.err) == ({"reached": False}, "")
    done = lifesim(*args, 700)
    known = done.facts["edge"]
    assert known["reached"] is True
    assert known["after"] < wanted["generation"] <= known["by"] <= 900
    assert known["by"] - known["after"] <= phase + 100
    assert "met the edge of the 300x200 plane between generations" in done.err
    assert lifesim("resume", "there", "--json", "--quiet").facts["edge"] == known


def test_on_disk_it_may_be_known_exactly_or_not_at_all(lifesim):
    block = write("a.rle", BLOCK)
    assert lifesim("convert", block, "there", "--size", "300x200", "--no-pyramid").code == 0
    # Nothing is closer than 99 cells.
    facts = lifesim("run", "there", "--steps", 90, "--phase", 90, "--json").facts
    assert facts["edge"] == {"reached": False}
    done = lifesim("run", "there", "--steps", 10**6, "--json")  # it has stood still since
    assert (done.facts["edge"], done.err) == ({"reached": False}, "")
    assert lifesim("convert", block, "other", "--size", "60x50").code == 0
    done = lifesim("run", "other", "--steps", 150, "--phase", 150, "--json")
    assert done.facts["edge"] == {"reached": None, "after": 23}
    assert "may have met the edge of the 60x50 plane after generation 23" in done.err
    assert lifesim("convert", block, "third", "--size", "2x9").code == 0
    done = lifesim("run", "third", "--steps", 5, "--json")
    assert done.facts["edge"] == {"reached": True, "generation": 0}
