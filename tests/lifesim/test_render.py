"""Pictures against blocks of a bool array, and files against what Pillow reads back."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lifesim import counting, render
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.render import (
    MAX_FAR_SCALE,
    MAX_SCALE,
    PALETTES,
    RenderError,
    choose_scale,
    density_levels,
    format_scale,
    image_size,
    palette_table,
    parse_region,
    parse_scale,
    save_png,
    to_image,
)
from lifesim.soup import random_grid


def reference(cells, box, scale):
    """Draw one block at a time, from the words of the docstring."""
    height, width = cells.shape
    seen = np.zeros((box.height, box.width), bool)
    for y in range(max(0, -box.y), min(box.height, height - box.y)):
        for x in range(max(0, -box.x), min(box.width, width - box.x)):
            seen[y, x] = cells[box.y + y, box.x + x]
    if scale <= 0:
        return np.kron(seen, np.ones((1 << -scale, 1 << -scale), bool)).astype(np.uint8) * 255
    side = 1 << scale
    rows = []
    for y in range(0, box.height, side):
        rows.append([])
        for x in range(0, box.width, side):
            block = seen[y : y + side, x : x + side]
            live = int(block.sum())
            level = (255 * live * 2 + block.size) // (2 * block.size)
            if live:
                level = max(1, level)
            if live < block.size:
                level = min(254, level)
            rows[-1].append(level)
    return np.array(rows, np.uint8)


@st.composite
def scenes(draw):
    """Draw a bool array and a box that may leave it, or miss it, on any side."""
    width = draw(st.sampled_from([1, 2, 3, 5, 63, 64, 65, 127, 128, 129, 200]))
    height = draw(st.integers(1, 20))
    density = draw(st.sampled_from([0.0, 0.01, 0.4, 0.99, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x, y = draw(st.integers(-140, width + 3)), draw(st.integers(-20, height + 3))
    across, down = draw(st.integers(1, 210)), draw(st.integers(1, 30))
    return rng.random((height, width)) < density, Box(x, y, across, down)


@given(scenes(), st.integers(-2, 9))
def test_levels_are_those_of_the_blocks(scene, scale):
    cells, box = scene
    levels = density_levels(BitGrid.from_bool(cells), box, scale)
    assert levels.dtype == np.uint8
    assert levels.shape[::-1] == image_size(box.width, box.height, scale)
    np.testing.assert_array_equal(levels, reference(cells, box, scale))


@given(scenes(), st.integers(-2, 9), st.sampled_from([1, 2, 4, 16, 50]))
def test_chunks_do_not_show(scene, scale, chunk):
    """Chunks are single rows, parts of a block of rows, and several."""
    cells, box = scene
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_CHUNK_WORDS", chunk)
        patch.setattr(render, "_CHUNK_WORDS", max(1, chunk // 8))
        levels = density_levels(BitGrid.from_bool(cells), box, scale)
    np.testing.assert_array_equal(levels, reference(cells, box, scale))


@pytest.mark.sample(15)
@pytest.mark.parametrize("scale", [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 1), (512, 512), (515, 260)])
def test_whole_grid(size, scale):
    grid = random_grid(*size, 0.3, 8)
    expected = reference(grid.to_bool(), Box(0, 0, *size), scale)
    np.testing.assert_array_equal(density_levels(grid, None, scale), expected)


@pytest.mark.parametrize("scale", range(1, 12))
def test_one_cell_shows_and_one_hole_shows(scale):
    """They show however small their share of a block is, and 255 is kept for full blocks."""
    side = 1 << scale
    cells = np.zeros((side, side * 3), bool)
    cells[side // 2, side // 3] = True
    cells[:, side : 2 * side] = True
    cells[:, 2 * side :] = True
    cells[side // 2, 2 * side + side // 3] = False
    low, full, high = density_levels(BitGrid.from_bool(cells), None, scale)[0].tolist()
    assert (low, full, high) == (max(1, round(255 / side**2)), 255, min(254, 255 - low))


def test_a_full_grid_is_full_at_its_ragged_edges():
    grid = BitGrid.from_bool(np.ones((70, 131), bool))
    for scale in range(-1, 10):
        assert (density_levels(grid, None, scale) == 255).all()


def test_cells_outside_count_as_dead():
    grid = BitGrid.from_bool(np.ones((4, 4), bool))
    levels = density_levels(grid, Box(-4, -4, 8, 8), 3)
    assert levels.tolist() == [[64]]
    # A region astronomically larger than the grid costs no more than its picture.
    levels = density_levels(grid, Box(-(10**15), 0, 2 * 10**15, 4), 40)
    assert levels.shape == (1, 1819)
    assert np.flatnonzero(levels[0]).tolist() == [10**15 >> 40]
    assert not density_levels(grid, Box(10**15, 10**15, 9, 9), 0).any()


def test_memory_is_bounded():
    """A picture of 32 MiB of cells takes a few MiB beside them."""
    grid = BitGrid(16384, 16384)
    tracemalloc.start()
    try:
        density_levels(grid, None, 4)
        density_levels(grid, Box(3, 3, 16000, 16000), 14)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20


@pytest.mark.parametrize(
    ("box", "scale", "says"),
    [
        (Box(0, 0, 0, 5), 0, "0x5 cells shows nothing"),
        (Box(0, 0, 5, -1), 2, "shows nothing"),
        (None, MAX_FAR_SCALE + 1, r"scale 2\^321 is outside"),
        (None, -(10**9), "is outside"),
        (None, -14, "1064960x114688 pixels is too large"),
        (Box(0, 0, 1 << 20, 1 << 9), 0, "choose a coarser scale or a smaller region"),
    ],
)
def test_pictures_that_cannot_be(box, scale, says):
    with pytest.raises(RenderError, match=says) as caught:
        density_levels(BitGrid(65, 7), box, scale)
    assert "\n" not in str(caught.value)
    assert issubclass(RenderError, LifesimError)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("0,0,1x1", (0, 0, 1, 1)),
        ("-12,7,64x48", (-12, 7, 64, 48)),
        (" 3 , -4 , 5 X 6 ", (3, -4, 5, 6)),
        ("007,0,100000000000x2", (7, 0, 10**11, 2)),
        (f"-{2**100},0,{2**101}x2", (-(2**100), 0, 2**101, 2)),
    ],
)
def test_regions(text, box):
    assert parse_region(text) == Box(*box)


@pytest.mark.parametrize(
    "text",
    ["", "1,2", "1,2,3", "1,2,3,4", "1,2,3x", "a,b,cxd", "1,2,3x-4", "1.5,2,3x4", "1,2,3x4\n,5",
     "1,2,٣x4", "- 1,2,3x4", "1,2,3x4x5", "1,2," + "9" * 91 + "x1", "x" * 10**5],
)  # fmt: skip
def test_bad_regions(text):
    with pytest.raises(RenderError, match=r"unknown region .*: write it as X,Y,WxH") as caught:
        parse_region(text)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("text", ["0,0,0x1", "0,0,1x0"])
def test_empty_regions(text):
    with pytest.raises(RenderError, match="holds no cell"):
        parse_region(text)


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("1:8", 3),
        ("4:1", -2),
        ("8", -3),
        ("1", 0),
        ("1:1", 0),
        (" 1 : 1024 ", 10),
        ("2:1", -1),
        ("1:2^100", 100),
        (f"1:{2**90}", 90),
        ("2^3:1", -3),
        ("2^0", 0),
    ],
)
def test_scales(text, scale):
    assert parse_scale(text) == scale


@given(st.integers(-MAX_SCALE, MAX_SCALE))
def test_scales_round_trip(scale):
    assert parse_scale(format_scale(scale)) == scale


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "unknown scale '': write pixels:cells"),
        (":", "unknown scale"),
        ("1:", "unknown scale"),
        (":8", "unknown scale"),
        ("-1:8", "unknown scale"),
        ("1/8", "unknown scale"),
        ("1:2:4", "unknown scale"),
        ("0.5", "unknown scale"),
        ("9" * 10**5, "unknown scale"),
        ("1:3", "power of two"),
        ("2:4", "one side must be 1"),
        ("0", "one side must be 1"),
        ("0:1", "one side must be 1"),
        ("1:0", "one side must be 1"),
        ("0:0", "one side must be 1"),
        ("1:2^1000", "unknown scale"),
        ("1:3^2", "unknown scale"),
    ],
)
def test_bad_scales(text, says):
    with pytest.raises(RenderError, match=says) as caught:
        parse_scale(text)
    assert len(str(caught.value)) < 120


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**8))
def test_chosen_scale_is_the_finest_that_fits(width, height, most):
    scale = choose_scale(width, height, most)
    assert -4 <= scale <= MAX_SCALE
    across, down = image_size(width, height, scale)
    assert across * down <= most
    if scale > -4:
        side = 2.0 ** (1 - scale)  # pixels per cell, one scale finer
        assert np.ceil(width * side) * np.ceil(height * side) > most


def test_chosen_scales():
    assert choose_scale(3, 3, 1 << 20) == -4
    assert choose_scale(3, 3, 1 << 20, largest=64) == -6
    assert choose_scale(3, 3, 1 << 20, largest=1) == 0
    assert choose_scale(16384, 16384, 1 << 20) == 4
    assert choose_scale(10**12, 1, 1) == 40
    with pytest.raises(RenderError, match="do not fit in 0 pixels"):
        choose_scale(3, 3, 0)
    with pytest.raises(RenderError, match="shows nothing"):
        choose_scale(0, 3, 100)


def luminance(table):
    return table.astype(float) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("name", PALETTES)
def test_palettes_are_monotonic_and_show_sparse_levels(name):
    table = palette_table(name)
    assert table.shape == (256, 3)
    assert table.dtype == np.uint8
    light = luminance(table)
    if name == "light":
        light = -light
    assert (np.diff(light) > -1).all()  # colours are rounded to whole numbers
    # One live cell in a large block, and settled soup at 3 %, stand out from nothing.
    assert light[1] - light[0] > 12
    assert light[8] - light[0] > 40


def test_palettes_by_name():
    assert {"dark", "light", "viridis"} <= set(PALETTES)
    assert palette_table("dark")[0].max() < 32
    assert palette_table("light")[0].min() > 224
    assert palette_table("viridis")[[0, 255]].tolist() == [[68, 1, 84], [253, 231, 37]]
    with pytest.raises(RenderError, match="unknown palette 'jet': choose dark, light, viridis"):
        to_image(np.zeros((1, 1), np.uint8), "jet")


@pytest.mark.parametrize("name", PALETTES)
def test_images_look_levels_up(name):
    levels = np.arange(256, dtype=np.uint8).reshape(8, 32)
    image = to_image(levels, name)
    assert image.size == (32, 8)
    np.testing.assert_array_equal(np.asarray(image), levels)
    np.testing.assert_array_equal(np.asarray(image.convert("RGB")), palette_table(name)[levels])


def test_images_of_views():
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)[::2, ::-3]
    np.testing.assert_array_equal(np.asarray(to_image(levels)), levels)


@pytest.mark.parametrize(
    "levels", [np.zeros(3, np.uint8), np.zeros((2, 2), bool), np.zeros((0, 2), np.uint8)]
)
def test_levels_of_the_wrong_kind(levels):
    with pytest.raises(ValueError, match="levels must be uint8"):
        to_image(levels)


def test_png_round_trip(tmp_path):
    levels = density_levels(random_grid(300, 200, 0.4, 1), None, 1)
    for name in PALETTES:
        save_png(tmp_path / "soup.png", levels, name)
        with Image.open(tmp_path / "soup.png") as image:
            assert image.format == "PNG"
            shown = np.asarray(image.convert("RGB"))
        np.testing.assert_array_equal(shown, palette_table(name)[levels])
    assert os.listdir(tmp_path) == ["soup.png"]


@pytest.mark.parametrize("bad", ["missing/a.png", "", "."])
def test_png_where_no_file_can_be(tmp_path, monkeypatch, bad):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LifesimError, match="cannot write"):
        save_png(bad, np.zeros((2, 2), np.uint8))
    (tmp_path / "folder").mkdir()
    with pytest.raises(LifesimError, match="cannot write folder: Is a directory"):
        save_png("folder", np.zeros((2, 2), np.uint8))
    assert os.listdir(tmp_path) == ["folder"]


def test_a_png_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def fail(*args, **options):
        args[1].write(b"half of a")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(LifesimError, match=r"cannot write .*a\.png: No space left on device"):
        save_png(path, np.zeros((2, 2), np.uint8))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.png"]


def test_importing_needs_no_pillow():
    code = "import sys, lifesim.gif, lifesim.outputs; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-B", "-c", code], check=False).returncode == 0
