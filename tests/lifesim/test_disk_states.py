"""Universes on disk of rules of several states, through the commands: as they are in memory."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim import BitGrid, Life, patterns
from lifesim.colours import pixels_of, state_colours
from lifesim.grid import Box
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.start import soup as soup_of
from lifesim.store import read
from lifesim.store.universe import Universe
from tests.commands import refused
from tests.lifesim.directories import digest_of, pixels
from tests.quick import examples
from tests.universes import on_disk

RULES = ["/2/3", "345/2/4", "12/2-a/6", "3458/37/25"]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "args", [["--tiles", "2x3"], ["--tiles", "4x2", "--compression", "zstd", "--no-pyramid"]]
)
@pytest.mark.parametrize("rule", RULES)
def test_a_soup_on_disk_is_the_soup_in_memory(lifesim, rule, args):
    what = ["--size", "200x150", "--seed", 5, "--topology", "plane", "--rule", rule]
    assert lifesim("random", *what, "--density", "3/8", "--out", "soup", *args) == (0, "", "")
    facts = lifesim("info", "soup", "--json").facts
    assert facts["digest"] == digest_of(lifesim, 0, *what, "--random", "3/8")
    assert (facts["rule"], facts["states"]) == (rule, Rule.parse(rule).states)
    done = lifesim("run", "soup", "--steps", 31, "--phase", 9, "--keep-previous", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.facts["digest"] == digest_of(lifesim, 31, *what, "--random", "3/8")
    checked = lifesim("verify", "soup", "--recompute", "--json").facts
    assert (checked["damaged"], checked["notes"]) == (
        [],
        ["4 samples made again over 31 generations"],
    )


def test_a_run_in_memory_into_a_directory(lifesim):
    what = ["--size", 200, "--rule", "3458/37/5"]
    done = lifesim("run", *what, "--steps", 30, "--out", "end", "--json")
    assert (done.code, done.err, done.facts["written"]) == (0, "", ["end"])
    checked = lifesim("verify", "end", "--recompute", "--json")
    assert checked.facts["notes"] == ["4 samples made again over 30 generations"]
    more = lifesim("run", "end", "--steps", 20, "--json")
    assert more.facts["digest"] == digest_of(lifesim, 50, *what)
    patterns.write(Pattern(BitGrid.from_states([[1, 0, 3, 4], [1, 2, 1, 1]]),
                           rule=Rule.parse("3458/37/5")), "few.rle")  # fmt: skip
    assert lifesim("run", "few.rle", "--steps", 30, "--out", "few").code == 0
    facts = lifesim("run", "few", "--steps", 90, "--json").facts
    assert facts["digest"] == digest_of(lifesim, 120, "few.rle")
    assert facts["bounds"] is None


@pytest.mark.sample(2)
@pytest.mark.parametrize("extension", ["rle", "mc", "rle.gz"])
@pytest.mark.parametrize("rule", RULES)
def test_convert_keeps_everything(lifesim, rule, extension):
    what = ["--size", "250x190", "--rule", rule]
    assert lifesim("random", *what, "--out", "soup", "--tiles", "4x3").code == 0
    assert lifesim("run", "soup", "--steps", 13).code == 0
    assert lifesim("convert", "soup", f"a.{extension}") == (0, "", "")
    for source in (f"a.{extension}", "soup"):
        assert lifesim("convert", source, "again", "--tiles", "2x3") == (0, "", "")
        before, after = (lifesim("info", name, "--json").facts for name in ("soup", "again"))
        for key in ("digest", "generation", "rule", "topology", "width", "height", "population"):
            assert after[key] == before[key]
        with Universe.open("again") as universe:
            life = Life.from_start(soup_of((250, 190), 0.5, 1, Rule.parse(rule)))
            life.run(13)
            assert universe.grid() == life.grid()
            for file in Path("again/tiles").iterdir():
                file.unlink()
        os.unlink("again/manifest.json")


def test_outputs(lifesim):
    """A run on disk writes, byte for byte, what one in memory does."""
    what = ["--size", "200x130", "--rule", "345/2/4"]
    assert lifesim("random", *what, "--out", "soup", "--tiles", "2x5").code == 0
    outs = [f"--out=a.{e}" for e in ("rle", "mc.gz", "png", "gif", "csv")]
    view = ["--region", "16,32,64x48", "--scale", "1:2", "--every", 7]
    found = []
    for source in (what, ["soup"]):
        assert lifesim("run", *source, "--steps", 20, *outs, *view).code == 0
        found.append({n: Path(n).read_bytes() for n in sorted(os.listdir()) if n != "soup"})
        for name in found[-1]:
            os.unlink(name)
    assert len(found[0]) == 3 * 4 + 2
    assert found[0] == found[1]


@settings(max_examples=examples(30), deadline=None)
@given(
    st.sampled_from(RULES),
    st.tuples(st.integers(1, 300), st.integers(1, 90)),
    st.tuples(st.integers(-70, 310), st.integers(-50, 100)),
    st.tuples(st.integers(1, 400), st.integers(1, 160)),
    st.integers(-1, 9),
    st.integers(1, 3),
)
def test_pictures_are_of_the_same_colours(
    rule: str,
    size: tuple[int, int],
    at: tuple[int, int],
    part: tuple[int, int],
    scale: int,
    tiles: int,
) -> None:
    """Any region, read in bands of few rows."""
    known = Rule.parse(rule)
    colours = state_colours(known)
    assert colours is not None
    grid = BitGrid(*size, planes=known.planes)
    Soup(0.4, 3).fill_grid(grid, known.states)
    across = min(tiles, -(-size[0] // 64))
    with (
        pytest.MonkeyPatch.context() as patch,
        on_disk(grid, (across, min(tiles, size[1])), rule=known, pyramid=True) as universe,
    ):
        patch.setattr("lifesim.store.disk.sync", lambda fd: None)
        patch.setattr("lifesim.store.read._BAND_BYTES", 1000)
        patch.setattr("lifesim.colours._CHUNK", 500)
        box = Box(*at, *part)
        found = read.pixels(universe, box, scale, colours)
        patch.undo()
        np.testing.assert_array_equal(found, pixels_of(grid, box, scale, colours))


def test_a_picture_of_a_directory(lifesim):
    assert lifesim("random", "--size", "300x200", "--rule", "/2/3", "--out", "soup").code == 0
    assert lifesim("convert", "soup", "soup.rle").code == 0
    for view in (["--scale", "2:1"], ["--scale", "1:16", "--region", "3,5,200x100"]):
        for source in ("soup", "soup.rle"):
            assert lifesim("render", source, "--out", f"{source}.png", *view).code == 0
        np.testing.assert_array_equal(pixels("soup.png"), pixels("soup.rle.png"))
    assert pixels("soup.png").shape == (7, 13, 3)


def test_it_goes_to_disk_when_memory_ends(lifesim):
    """A plane without bounds grows beyond memory, and then on disk."""
    grid = BitGrid(60, 60, planes=2)
    Soup(0.5, 4).fill_grid(grid, 4)
    patterns.write(Pattern(grid, x=-7, y=12, rule=Rule.parse("345/2/4")), "few.rle")
    args = ["run", "few.rle", "--steps", 400, "--json"]
    wanted = lifesim(*args).facts
    done = lifesim(*args, "--engine", "dense", "--memory", "600K")
    assert done.code == 0
    assert done.err.startswith("lifesim: goes to disk at generation ")
    same = ("digest", "generation", "population", "x", "y", "width", "height", "bounds", "states")
    assert {key: done.facts[key] for key in same} == {key: wanted[key] for key in same}
    assert lifesim("convert", "few-unbounded", "end.rle").code == 0
    assert lifesim("run", "few.rle", "--steps", 400, "--out", "wanted.rle").code == 0
    assert Path("end.rle").read_bytes() == Path("wanted.rle").read_bytes()


def test_states_that_a_rule_does_not_have(lifesim):
    patterns.write(Pattern(BitGrid.from_states([[1, 2, 3]]), rule=Rule.parse("345/2/4")), "a.rle")
    done = lifesim("run", "a.rle", "--rule", "/2/3", "--size", 64, "--steps", 1, "--memory", "1")
    refused(done, 2, "a cell has state 3: rule /2/3 has states 0 to 2")
    assert os.listdir() == ["a.rle"]


@pytest.mark.parametrize("generations", [100, 203])
def test_the_edge_is_met_as_in_memory(lifesim, generations):
    """A spaceship of Brian's Brain flies to the edge of a plane."""
    ship = [[0, 2, 1, 0], [0, 2, 1, 0]]
    patterns.write(Pattern(BitGrid.from_states(ship), rule=Rule.parse("/2/3")), "ship.rle")
    assert lifesim("convert", "ship.rle", "u", "--size", "400x300", "--tiles", "2x3").code == 0
    wanted = lifesim("run", "ship.rle", "--size", "400x300", "--steps", generations, "--json")
    done = lifesim("run", "u", "--steps", generations, "--json")
    found, known = done.facts["edge"], wanted.facts["edge"]
    assert done.facts["digest"] == wanted.facts["digest"]
    assert known["reached"] == (generations == 203)
    assert found["reached"] == (None if known["reached"] else False)
    if known["reached"]:  # and the cells at the edge are dead again when the phase ends
        assert found["after"] == known["generation"] - 1
