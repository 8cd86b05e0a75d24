"""Planes without bounds by the command: what is run, written, drawn and taken up again."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lifesim import patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.store.universe import Universe
from lifesim.stream import bounds
from tests.commands import refused
from tests.lifesim.directories import full_disk

DATA = Path(__file__).parents[2] / "data" / "patterns"
GLIDER, GUN, ACORN = (DATA / f"{name}.rle" for name in ("glider", "gosper-gun", "acorn"))


@pytest.fixture
def apart(lifesim) -> str:
    """Make a pattern of two gliders that fly apart, which a million bytes do not hold for long."""
    grid = BitGrid(1200, 1180)
    glider = patterns.read(GLIDER).grid
    grid.paste(glider, 1197, 1177)
    grid.paste(BitGrid.from_bool(np.rot90(glider.to_bool(), 2)), 0, 0)
    patterns.write(Pattern(grid, -40, 17), "apart.rle")
    return "apart.rle"


def digest_of(lifesim, name: str | Path, steps: int) -> str:
    return lifesim("run", name, "--steps", steps, "--json").facts["digest"]


def test_every_format_is_one_run(lifesim):
    wanted = lifesim("run", ACORN, "--steps", 700, "--json").facts
    for name in ("a.rle", "a.mc", "a.cells", "a.lif", "a.life", "a.rle.gz"):
        assert lifesim("run", ACORN, "--steps", 300, "--out", name).code == 0
        assert lifesim("info", name, "--json").facts["universe"] is None
        facts = lifesim("run", name, "--steps", 400, "--json").facts
        assert (facts["digest"], facts["edge"]) == (wanted["digest"], {"reached": False})
    text = lifesim("run", "a.rle", "--steps", 400).out
    where = f"{wanted['width']}x{wanted['height']} at ({wanted['x']}, {wanted['y']})"
    assert f"in {where} (B3/S23, plane without bounds)" in text
    assert lifesim("run", "a.rle", "--steps", 400, "--json").facts["x"] == wanted["x"]


def test_the_gun_of_the_readme_keeps_firing(lifesim):
    done = lifesim("run", GUN, "--size", "512x512", "--steps", 3000, "--out", "a.rle", "--json")
    assert done.facts["topology"] == "plane"
    assert done.facts["edge"]["reached"]
    life = Life.from_pattern(GUN, size=(512, 512), backend="cpu")
    life.run(3000)
    assert done.facts["digest"] == life.digest()
    assert patterns.read("a.rle").size == (512, 512)


def test_pictures_have_the_pattern_s_coordinates(lifesim):
    args = ["run", GLIDER, "--at", "100,-50", "--steps", 40, "--out", "a.png", "--scale", "1:1"]
    assert lifesim(*args, "--region", "108,-42,10x12").code == 0
    life = Life.from_pattern(GLIDER, at=(100, -50), backend="cpu")
    life.run(40)
    with Image.open("a.png") as image:
        levels = np.asarray(image.convert("L")) > 128
    wanted = np.zeros((12, 10), bool)
    wanted[2:5, 2:5] = life.grid().to_bool()
    np.testing.assert_array_equal(levels, wanted)
    assert lifesim(*args).code == 0
    with Image.open("a.png") as image:
        assert image.size == (3, 3)
    refused(
        lifesim("render", GLIDER, "--out", "b.png", "--region", "9,9,2x2"), 2, "outside the 3x3"
    )


def test_frames_of_an_animation_show_one_place(lifesim, monkeypatch):
    args = ["--steps", 40, "--every", 8, "--out", "a.gif", "--scale", "1:1"]
    for command in (["run", GLIDER], ["render", GLIDER]):
        assert lifesim(*command, *args).code == 0
        frames = []
        with Image.open("a.gif") as image:
            assert (image.size, image.n_frames) == ((13, 13), 6)
            for number in range(6):
                image.seek(number)
                frames.append(np.asarray(image.convert("L")) > 128)
        glider = patterns.read(GLIDER).grid.to_bool()
        for number, frame in enumerate(frames):
            wanted = np.zeros((13, 13), bool)
            wanted[2 * number : 2 * number + 3, 2 * number : 2 * number + 3] = glider
            np.testing.assert_array_equal(frame, wanted)
    # What is too large for a GIF ends the run, with the pictures so far.
    monkeypatch.setattr("lifesim.gif.MAX_SIDE", 60)
    done = lifesim("run", GUN, "--steps", 900, "--every", 30, "--out", "b.gif", "--scale", "1:1")
    refused(done, 2, "a GIF has at most 60 pixels a side")
    with Image.open("b.gif") as image:
        assert image.n_frames > 1


def test_a_series_has_the_density_of_where_cells_live(lifesim):
    assert lifesim("run", GLIDER, "--steps", 8, "--every", 4, "--out", "a.csv").code == 0
    lines = Path("a.csv").read_text().splitlines()
    assert lines[1:] == [f"{n},5,0.555555556" for n in (0, 4, 8)]


def test_each_out_has_its_own_every(lifesim):
    outs = ["--out", "a.csv", "--every", 3, "--out", "a.rle", "--every", "end", "--out", "b.mc"]
    assert lifesim("run", GLIDER, "--steps", 10, *outs, "--every", 5).code == 0
    assert sorted(os.listdir()) == [
        "a.csv", "a.rle", "b-00000000.mc", "b-00000005.mc", "b-00000010.mc", "b.mc",
    ]  # fmt: skip
    rows = [line.split(",")[0] for line in Path("a.csv").read_text().splitlines()[1:]]
    assert rows == ["0", "3", "6", "9", "10"]
    outs = ["--out", "a.csv", "--out", "a.rle", "--out", "b.mc", "--every", 1, "--every", 2]
    refused(lifesim("run", GLIDER, "--steps", 1, *outs), 2, "2 --every for 3 --out")


# On disk


@pytest.mark.parametrize("rule", ["B3/S23", "B3/S2-i34q"])
def test_it_goes_to_disk_when_memory_ends(lifesim, apart, rule):
    run = ["run", apart, "--steps", 900, "--rule", rule, "--json"]
    wanted = lifesim(*run).facts
    outs = ["--out", "a.csv", "--every", 150, "--out", "a.rle", "--every", "end"]
    args = [*run, "--engine", "dense", "--memory", "1M"]
    done = lifesim(*args, *outs)
    assert done.code == 0
    assert done.err.startswith("lifesim: goes to disk at generation ")
    same = ("digest", "generation", "population", "x", "y", "width", "height", "bounds", "edge")
    assert {key: done.facts[key] for key in same} == {key: wanted[key] for key in same}
    assert done.facts["universe"] == "apart-unbounded"
    rows = [line.split(",")[:2] for line in Path("a.csv").read_text().splitlines()[1:]]
    assert rows == [[str(n), "10"] for n in range(0, 901, 150)]
    assert patterns.read("a.rle").x == wanted["x"]
    again = lifesim(*args)
    assert again.err == "lifesim: apart-unbounded: is at generation 900 already\n"
    assert again.facts["digest"] == wanted["digest"]
    facts = lifesim("info", "apart-unbounded", "--json").facts
    for key in ("digest", "x", "y", "width", "height", "bounds"):
        assert facts[key] == wanted[key]
    assert (
        "plane without bounds, cells 1650x1630 at (-265, -208)"
        in lifesim("info", "apart-unbounded").out
    )


def test_a_run_that_went_to_disk_is_taken_up_again(lifesim, apart, monkeypatch):
    wanted = digest_of(lifesim, apart, 900)
    args = ["run", apart, "--steps", 900, "--engine", "dense", "--memory", "1M", "--json"]
    with monkeypatch.context() as patch:
        full_disk(patch, 5)  # the directory needs more
        done = lifesim(*args, "--out", "a.rle")
    assert (done.code, done.facts["generation"]) == (2, patterns.read("a.rle").generation)
    assert "the disk is full" in done.err
    assert sorted(os.listdir()) == ["a.rle", "apart.rle"]
    for again in (args, ["resume", "apart-unbounded", "--json"]):
        with monkeypatch.context() as patch:
            full_disk(patch, 11)
            done = lifesim(*args)
        assert done.code == 2
        assert "the disk is full" in done.err
        with Universe.open("apart-unbounded") as universe:
            assert universe.manifest.run == (0, 900)
            assert universe.generation < 900
        done = lifesim(*again)
        assert (done.code, done.facts["generation"], done.facts["digest"]) == (0, 900, wanted)
        for folder, _, names in list(os.walk("apart-unbounded", topdown=False)):
            for name in names:
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)


def test_what_memory_never_held_begins_on_disk(lifesim):
    glider = patterns.read(GLIDER).grid
    wide = BitGrid(20_000, 40)
    for x in range(0, 19_990, 901):
        wide.paste(glider, x, x % 31)
    patterns.write(Pattern(wide, -3, 8), "wide.rle")
    wanted = lifesim("run", "wide.rle", "--steps", 90, "--json").facts
    done = lifesim("run", "wide.rle", "--steps", 90, "--memory", "300K", "--json")
    assert (done.code, done.err, done.facts["universe"]) == (0, "", "wide-unbounded")
    for key in ("digest", "x", "y", "width", "height", "population"):
        assert done.facts[key] == wanted[key]


def test_directories_without_bounds(lifesim, monkeypatch):
    monkeypatch.setattr(bounds, "_ROOM", 70)
    assert lifesim("run", GUN, "--steps", 30, "--out", "there").code == 0
    wanted = lifesim("run", GUN, "--steps", 330, "--json").facts
    assert lifesim("convert", "there", "other", "--tiles", "1x2").code == 0
    for name in ("there", "other"):
        with Universe.open(name) as universe:
            size = universe.width
        facts = lifesim("run", name, "--steps", 300, "--json").facts
        assert (facts["digest"], facts["x"], facts["y"]) == tuple(
            wanted[key] for key in ("digest", "x", "y")
        )
        with Universe.open(name) as universe:
            assert universe.width > size
    assert lifesim("convert", "there", "a.rle").code == 0
    assert lifesim("run", "a.rle", "--steps", 0, "--json").facts["digest"] == wanted["digest"]
    assert patterns.read("a.rle").size is None
    for view in ([], ["--region", "5,3,40x30"], ["--region", "-9,2,200x100", "--scale", "1:2"]):
        for name in ("there", "a.rle"):
            assert lifesim("render", name, *view, "--out", f"{name}.png").code == 0
        with Image.open("there.png") as ours, Image.open("a.rle.png") as theirs:
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def test_a_pattern_becomes_a_directory_without_bounds(lifesim):
    assert lifesim("convert", GLIDER, "there").code == 0
    facts = lifesim("info", "there", "--json").facts
    assert (facts["bounds"], facts["width"], facts["height"], facts["x"]) == (None, 3, 3, 0)
    facts = lifesim("run", "there", "--steps", 400, "--json").facts
    assert (facts["x"], facts["y"], facts["population"]) == (100, 100, 5)
    Path("a.rle").write_text("x = 3, y = 3, rule = B0/S8\nbo$2bo$3o!")
    assert lifesim("convert", "a.rle", "strange").code == 0
    before = lifesim("info", "strange").out
    done = lifesim("run", "strange", "--steps", 1)
    assert (done.code, lifesim("info", "strange").out) == (2, before)
    assert "empty space to life" in done.err
    blinking = ("run", GLIDER, "--rule", "B02/S")
    facts = lifesim(*blinking, "--steps", 10, "--json").facts
    assert (facts["generation"], facts["bounds"]) == (10, None)
    for wrong in (("--steps", 9), ("--until", "stable"), ("--steps", 4, "--until", "empty"),
                  ("--steps", 10, "--out", "a.rle", "--every", 5)):  # fmt: skip
        refused(lifesim(*blinking, *wrong), 2, "odd generations")
        assert not list(Path().glob("a-*.rle"))
    Path("b.rle").write_text("x = 3, y = 3, rule = B3/S23:T30,0\nbo$2bo$3o!")
    refused(lifesim("convert", "b.rle", "other"), 2, "bounds one way only")
