"""Pictures of several states, against means taken cell by cell."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lifesim.colours import GifColours, pixels_of, state_colours
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box
from lifesim.outputs import open_output
from lifesim.render import RenderError, palette_table
from lifesim.rule import LIFE, Rule
from lifesim.view import PictureView
from tests.lifesim.test_states_runs import BRAIN, STAR_WARS, lifesim


def mean(cells, box, side, row, column, colours):
    """Return the mean colour of a block of a region, a half rounded up."""
    height, width = cells.shape
    total, count = [0, 0, 0], 0
    for y in range(box.y + row * side, min(box.y + (row + 1) * side, box.y + box.height)):
        for x in range(box.x + column * side, min(box.x + (column + 1) * side, box.x + box.width)):
            state = int(cells[y, x]) if 0 <= y < height and 0 <= x < width else 0
            total = [a + int(b) for a, b in zip(total, colours[state], strict=True)]
            count += 1
    return [int(Fraction(each, count) + Fraction(1, 2)) for each in total]


@given(
    st.integers(1, 70),
    st.integers(1, 20),
    st.integers(-20, 75),
    st.integers(-20, 25),
    st.integers(1, 40),
    st.integers(1, 20),
    st.integers(-1, 4),
    st.integers(0, 2**32),
)
def test_pixels_are_means(width, height, x, y, across, down, scale, seed):
    draw = np.random.default_rng(seed)
    cells = draw.integers(0, 5, (height, width)).astype(np.uint8)
    colours = draw.integers(0, 256, (5, 3)).astype(np.uint8)
    box = Box(x, y, across, down)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lifesim.colours._CHUNK", 50)
        found = pixels_of(BitGrid.from_states(cells, 3), box, scale, colours)
    side = 1 << max(scale, 0)
    small = found if scale >= 0 else found[::2, ::2]
    for row in range(-(-down // side)):
        for column in range(-(-across // side)):
            wanted = mean(cells, box, side, row, column, colours)
            assert small[row, column].tolist() == wanted
    if scale < 0:
        np.testing.assert_array_equal(found, np.repeat(np.repeat(small, 2, axis=0), 2, axis=1))


def test_pixels_of_a_huge_region():
    """Blocks so large that their cells do not fit in 64 bits are the colour of nothing."""
    colours = state_colours(BRAIN)
    grid = BitGrid.from_states([[1, 2]])
    found = pixels_of(grid, Box(-(1 << 80), 0, 1 << 81, 1 << 80), 79, colours)
    assert found.shape == (2, 4, 3)
    assert (found == colours[0]).all()


def test_the_colours_of_rules():
    assert state_colours(LIFE) is None
    ages = state_colours(STAR_WARS)
    assert ages.shape == (4, 3)
    assert ages[0].tolist() == palette_table("dark")[0].tolist()
    assert state_colours(STAR_WARS, "light")[0].tolist() == [255, 255, 255]
    assert len({tuple(colour) for colour in ages.tolist()}) == 4
    told = Rule(STAR_WARS.cells, "told", {0: (1, 2, 3), 2: (4, 5, 6)})
    assert state_colours(told).tolist() == [
        [1, 2, 3],
        ages[1].tolist(),
        [4, 5, 6],
        ages[3].tolist(),
    ]
    assert told == Rule(STAR_WARS.cells, "told")
    assert hash(told) == hash(Rule(STAR_WARS.cells, "told"))
    with pytest.raises(RenderError, match="unknown palette"):
        state_colours(STAR_WARS, "plaid")


@pytest.mark.parametrize("states", [2, 41, 132, 256])
def test_gifs_show_every_state_as_it_is(states):
    colours = np.random.default_rng(states).integers(0, 256, (states, 3)).astype(np.uint8)
    shades = GifColours(colours)
    pixels = colours[np.arange(states)][None]
    np.testing.assert_array_equal(shades.table[shades.indices(pixels)], pixels)


def test_a_gif_shows_means_as_the_nearest_colour():
    shades = GifColours(np.array([[0, 0, 0], [255, 250, 0]], np.uint8))
    index = int(shades.indices(np.array([[[200, 210, 98]]], np.uint8))[0, 0])
    assert shades.table[index].tolist() == [204, 204, 102]


def test_outputs_are_in_colours(tmp_path):
    cells = np.random.default_rng(1).integers(0, 3, (9, 12)).astype(np.uint8)
    colours = state_colours(BRAIN)
    for topology in ("torus", "unbounded"):
        still, moving = tmp_path / f"{topology}.png", tmp_path / f"{topology}.gif"
        life = Life(BitGrid.from_states(cells), rule=BRAIN, topology=topology, backend="reference")
        view = PictureView(Box(-1, -1, 14, 11), 0)
        outputs = [open_output(str(path), 1, view) for path in (still, moving)]
        for output in outputs:
            output.check(*life.bounds)
            output.add(life)
        life.run(1)
        outputs[1].add(life)
        life.run(1)
        for output in outputs:
            output.add(life)
            output.close(life)
        wanted = pixels_of(life.grid(), _inner(life), 0, colours)
        np.testing.assert_array_equal(np.asarray(Image.open(still)), wanted)
        with Image.open(moving) as film:
            film.seek(film.n_frames - 1)
            np.testing.assert_array_equal(np.asarray(film.convert("RGB")), wanted)
            film.seek(0)
            first = np.asarray(film.convert("RGB"))[1:10, 1:13]
        np.testing.assert_array_equal(first, colours[cells])
    with pytest.raises(RenderError, match="B3/S23 has no colours"):
        Life(BitGrid(1, 1)).pixels(Box(0, 0, 1, 1), 0)


def _inner(life):
    """Return the view's region by the coordinates of the grid."""
    frame = life.frame()
    return Box(-1 - frame.x, -1 - frame.y, 14, 11)


def test_a_film_of_a_plane_has_one_frame_for_all(tmp_path):
    film, ship = tmp_path / "ship.gif", tmp_path / "ship.rle"
    ship.write_text("x = 2, y = 2, rule = /2/3\n2B$2A!\n")
    lifesim("render", ship, "--steps", 5, "--every", 1, "--scale", "2:1", "-o", film)
    with Image.open(film) as frames:
        assert (frames.size, frames.n_frames) == ((4, 14), 6)
        young, old = state_colours(BRAIN)[1:]
        first = np.asarray(frames.convert("RGB"))
        assert first[0, 0].tolist() == old.tolist()
        assert first[3, 0].tolist() == young.tolist()
    told = json.loads(lifesim("info", "--json", ship).stdout)
    assert told["populations"] == [0, 2, 2]
