"""RLE files of few cells that lie far apart: read without a grid that would be nearly empty."""

from __future__ import annotations

import io
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kernels._cpu")

from lifesim import patterns
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box
from lifesim.patterns import Pattern, PatternError, rle_body, rle_far
from lifesim.tree.quadtree import Quadtree
from tests.commands import refused
from tests.quick import examples

WIDE = b"x = 4000000000, y = 4000000000\n2o$2o3999999996$3999999996b2o$3999999996b2o!\n"
ONLY_BLOCKS = b"x = 9000000, y = 9000000\n2o$2o$8999996$8999996b2o$8999996b2o!\n"


def read(text: str, *, far: bool = False) -> Pattern:
    """Read a file's text, as a grid or else, however near its cells are, as squares."""
    data = io.BytesIO(text.encode())
    if not far:
        return patterns.read(data, name="a.rle")
    with mock.patch.object(rle_far, "is_far", return_value=True):
        return patterns.read(data, name="a.rle", as_squares=None)


RUNS = st.lists(st.tuples(st.integers(1, 100), st.sampled_from("bo$")), min_size=1, max_size=30)


FAR_SIZES = st.sampled_from(["x = 9000000, y = 9000000", "x = 1, y = 9000000"])


@given(RUNS, st.integers(-200, 200), st.integers(-200, 200), FAR_SIZES)
@settings(max_examples=examples(60), deadline=None)
def test_squares_are_the_cells_of_the_grid(runs, x, y, size) -> None:
    body = "".join(f"{count}{tag}" for count, tag in runs)
    text = f"#CXRLE Pos={x},{y}\n{size}, rule = B3/S23\n{body}!\n"
    wanted, found = read(text), read(text, far=True)
    if wanted.grid.bounding_box() is None:
        assert found == wanted
        return
    assert found.squares is not None
    tree = Quadtree(found.squares)
    assert tree.box() == Box(wanted.x, wanted.y, wanted.grid.width, wanted.grid.height)
    grid = BitGrid(wanted.grid.width, wanted.grid.height)
    tree.paint(grid, tree.box())
    assert grid == wanted.grid
    assert found.notes == wanted.notes


def test_far_cells_are_run_and_written(lifesim) -> None:
    Path("a.rle").write_bytes(WIDE)
    done = lifesim("run", "a.rle", "--steps", "3", "--out", "b.rle", "--json")
    assert done.code == 0
    assert done.facts["population"] == 8
    assert patterns.read("b.rle", as_squares=None).squares is not None
    assert lifesim("convert", "b.rle", "b.mc").code == 0
    assert Life.from_pattern("b.mc").digest() == Life.from_pattern("a.rle").digest()
    refused(lifesim("run", "a.rle", "--steps", "3", "--engine", "dense"), 2, "of memory")
    refused(lifesim("run", "a.rle", "--steps", "3", "--rule", "345/2/4"), 2, "not 345/2/4")


def test_what_no_plane_holds_is_a_grid() -> None:
    """Bounds, states and rules that tiles and HashLife do not have need a grid."""
    for head in ("rule = B3/S23:T20,20", "rule = 345/2/4", "rule = B0/S8", "rule = LifeHistory"):
        pattern = read(f"x = 2, y = 1, {head}\n2o!\n", far=True)
        assert pattern.squares is None
        assert (pattern.grid.width, pattern.grid.height) == (2, 1)


@pytest.mark.parametrize(
    ("position", "body"),
    [
        (1 << 60, "2o!"),  # too far from the origin
        (0, f"{1 << 29}o!"),  # in too many words
    ],
)
def test_what_no_list_holds_is_a_grid(position, body) -> None:
    text = f"#CXRLE Pos={position},0\nx = {1 << 29}, y = 1\n{body}\n"
    pattern = read(text, far=True)
    assert pattern.squares is None
    assert pattern == read(text)


@pytest.mark.parametrize("body", ["2", "o?!", "0o!", f"{1 << 61}o{1 << 61}o!"])
def test_faults_are_those_of_a_grid(body) -> None:
    for size in ("x = 2, y = 1", "x = 9000000, y = 9000000"):
        text = f"{size}\n{body}\n"
        with pytest.raises(PatternError) as wanted:
            read(text)
        with pytest.raises(PatternError) as found:
            read(text, far=True)
        assert str(found.value) == str(wanted.value)


def test_far_cells_beyond_a_small_header_are_squares() -> None:
    """A header that is no larger than its text is painted at once, but not where cells leave it."""
    pattern = read("x = 1, y = 1\no!\n", far=True)
    assert (pattern.squares, pattern.grid.population()) == (None, 1)
    pattern = read("x = 1, y = 1\no70$99bo!\n", far=True)
    assert Quadtree(pattern.squares).box() == Box(0, 0, 100, 71)
    assert pattern.notes == ("the header says 1x1 cells, the body has 100x71",)


def test_a_text_that_is_as_large_as_its_grid_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read_bytes = []
    really = rle_body.through

    def through(walk, body):
        read_bytes.append(len(body.data))
        return really(walk, body)

    monkeypatch.setattr(rle_body, "through", through)
    assert patterns.read(io.BytesIO(b"x = 9, y = 9\n3o!\n"), as_squares=None).grid.width == 3
    assert len(read_bytes) == 1


def test_little_memory_is_taken() -> None:
    pattern = patterns.read(io.BytesIO(ONLY_BLOCKS), as_squares=None)
    assert pattern.squares is not None
    assert pattern.grid.words.nbytes == 8
    assert Quadtree(pattern.squares).population() == 8
