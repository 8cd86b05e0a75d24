"""Patterns that no memory holds as a rectangle: drawn, converted, run and written all the same."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("kernels._cpu")

from lifesim import far, patterns
from lifesim.engine import Life
from lifesim.grid import Box
from lifesim.patterns import Pattern
from lifesim.render import density_levels
from lifesim.roll import Roll
from lifesim.soup import random_grid
from lifesim.tree.quadtree import Quadtree
from tests.commands import refused
from tests.lifesim.far_patterns import far_gliders

GLIDER = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
MIB = 1 << 20


def cells_of(text: str) -> set[tuple[int, int]]:
    """Return the live cells of an RLE file, read tag by tag."""
    (left, top), (_, body) = (
        map(int, re.search(r"Pos=(-?\d+),(-?\d+)", text).groups()),
        text.split("B3/S23\n"),
    )
    x, y, found = left, top, set()
    for count, tag in re.findall(r"(\d*)([bo$!])", body.replace("\n", "")):
        length = int(count or 1)
        if tag == "$":
            x, y = left, y + length
        elif tag == "o":
            found |= {(x + i, y) for i in range(length)}
        x += length if tag in "bo" else 0
    return found


def corners(level: int) -> set[tuple[int, int]]:
    """Return the live cells of far_gliders()."""
    half = 1 << level - 1
    return {
        (x + i, y + j + 1) for x in (-half, half - 8) for y in (-half, half - 8) for i, j in GLIDER
    }


@pytest.mark.parametrize("level", [24, 100, 240])
def test_convert(lifesim, level):
    Path("a.mc").write_bytes(far_gliders(level))
    for name in ("a.rle", "a.life", "b.mc"):
        assert lifesim("convert", "a.mc", name).code == 0
    assert cells_of(Path("a.rle").read_text()) == corners(level)
    pairs = (line.split() for line in Path("a.life").read_text().splitlines()[1:])
    assert {(int(x), int(y)) for x, y in pairs} == corners(level)
    lines = Path("a.mc").read_text().splitlines()[2:]
    assert Path("b.mc").read_text().splitlines()[2:] == lines
    refused(lifesim("convert", "a.mc", "a.cells"), 2, "too many for plaintext")
    refused(lifesim("convert", "a.mc", "a.lif"), 2, "Life 1.05 is written of patterns that fit")
    assert lifesim("convert", "a.mc", "folder").code == 2
    assert not list(Path().glob("*.cells")) + list(Path().glob("*.lif"))


def test_too_many_cells_to_be_written(lifesim):
    lines = ["[M2] (a test)", "*******$" * 8]
    lines += [f"{at} {at - 3} {at - 3} {at - 3} {at - 3}" for at in range(4, 65)]
    Path("a.mc").write_text("\n".join(lines) + "\n")
    refused(lifesim("convert", "a.mc", "a.rle"), 2, "too many to be written one by one")
    assert lifesim("render", "a.mc", "-o", "a.png", "--scale", "1:2^60").code == 0


def test_render(lifesim):
    half = 1 << 99
    Path("a.mc").write_bytes(far_gliders(100))
    assert lifesim("render", "a.mc", "-o", "all.png").code == 0
    with Image.open("all.png") as image:
        levels = np.asarray(image)
    assert levels.shape == (1024, 1024)
    assert {(0, 0), (0, 1023), (1023, 0), (1023, 1023)} == {*zip(*np.nonzero(levels), strict=True)}
    region = f"--region={half - 8},{half - 7},16x12"
    assert lifesim("render", "a.mc", "-o", "deep.png", region, "--scale", "1:1").code == 0
    with Image.open("deep.png") as image:
        found = {(int(x), int(y)) for y, x in zip(*np.nonzero(np.asarray(image)), strict=True)}
    assert found == GLIDER
    outside = f"--region={2 * half},0,16x12"
    refused(lifesim("render", "a.mc", "-o", "b.png", outside), 2, "lies outside")
    refused(lifesim("render", "a.mc", "-o", "b.png", "--scale", "1:8"), 2, "choose a coarser scale")


def test_films_of_what_flies_apart(lifesim):
    Path("a.mc").write_bytes(far_gliders(30))
    assert lifesim("render", "a.mc", "-o", "a.gif", "--steps", "2^80", "--every", "2^78").code == 0
    with Image.open("a.gif") as film:
        assert film.n_frames == 5
    refused(
        lifesim("render", "a.mc", "-o", "b.png", "--size", "100x100", "--steps", "2^80"),
        2,
        "a universe of",
    )


@pytest.mark.parametrize("engine", ["tiles", "hashlife"])
def test_runs(lifesim, engine):
    Path("a.mc").write_bytes(far_gliders(50))
    outs = [option for end in ("rle", "png", "mc", "csv") for option in ("-o", f"b.{end}")]
    done = lifesim("run", "a.mc", "--steps", 400, "--engine", engine, *outs, "--json")
    assert done.facts["population"] == 20
    moved = {(x + 100, y + 100) for x, y in corners(50)}
    assert cells_of(Path("b.rle").read_text()) == moved
    tree = Quadtree(patterns.read("b.mc", as_squares=True).squares)
    corner = (min(x for x, _ in moved), min(y for _, y in moved))
    assert tree.box() == Box(*corner, done.facts["width"], done.facts["height"])
    refused(lifesim("run", "b.mc", "--steps", 1, "--engine", engine, "-o", "d"), 2, "PiB of memory")


@pytest.mark.parametrize("engine", ["tiles", "hashlife"])
def test_a_tree_and_a_grid_make_the_same(engine):
    pattern = Pattern(random_grid(300, 200, 0.3, 1), -170, 33)
    life = Life.from_pattern(pattern, engine=engine)
    life.run(30)
    dense = Life.from_pattern(pattern, engine="dense")
    dense.run(30)
    frame = life.frame()
    with mock.patch.object(far, "is_far", return_value=True):
        for scale in range(-1, 9):
            for box in (frame, Box(frame.x - 9, frame.y + 7, 250, 411)):
                assert (life.levels(box, scale) == dense.levels(box, scale)).all()
        tree = Quadtree(life.far_squares())
        assert (tree.population(), tree.box()) == (dense.population(), frame)
        assert tree.part(frame) == dense.grid()
        roll = Roll()
        for each in (life, dense):
            roll.add(each)
        views = [picture.levels(frame, 3) for picture in roll]
        roll.close()
    assert (views[0] == views[1]).all()
    assert (views[0] == density_levels(dense.grid(), None, 3)).all()
    assert dense.far_squares() is None


def test_commands_within_little_memory(tmp_path):
    (tmp_path / "a.mc").write_bytes(far_gliders(100))
    for job in (["convert", "a.mc", "b.rle"], ["render", "a.mc", "-o", "b.png"]):
        done = subprocess.run(
            [sys.executable, "-m", "lifesim", *job],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (900 * MIB, 900 * MIB)),
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert cells_of((tmp_path / "b.rle").read_text()) == corners(100)


def test_a_glider_far_out(lifesim):
    lines = ["[M2] (a test)", ".*$..*$***$"] + [f"{at} {at - 3} 0 0 0" for at in range(4, 101)]
    Path("a.mc").write_text("\n".join(lines) + "\n")
    facts = lifesim("info", "a.mc", "--json").facts
    assert (facts["x"], facts["population"], facts["digest"]) == (-(1 << 99), 5, None)
    facts = lifesim("run", "a.mc", "--steps", 4, "-o", "b.rle", "-o", "b.png", "--json").facts
    assert (facts["x"], facts["population"], facts["errors"]) == (1 - (1 << 99), 5, [])
    assert cells_of(Path("b.rle").read_text()) == {
        (x + 1 - (1 << 99), y + 2 - (1 << 99)) for x, y in GLIDER
    }
