"""What notebooks show of grids, universes and runs."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kernels.targets import cpu
from lifesim import BitGrid, Box, Life, LifesimError, Universe, random_grid
from lifesim.colours import colours_of, pixels_of
from lifesim.pictured import sketch_scale
from lifesim.render import density_levels, palette_table
from tests.universes import on_disk

GLIDER = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]


def picture(shown: dict[str, str]) -> np.ndarray:
    assert f"data:image/png;base64,{shown['image/png']}" in shown["text/html"]
    assert len(shown["text/html"]) < 1 << 18
    with Image.open(io.BytesIO(base64.b64decode(shown["image/png"]))) as image:
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize("size", [(1, 1), (70, 40), (1000, 900), (100_000, 3), (3, 100_000)])
def test_a_grid(size: tuple[int, int]) -> None:
    grid = random_grid(*size, 0.3, seed=4)
    shown = grid._repr_mimebundle_()
    seen = picture(shown)
    levels = density_levels(grid, None, sketch_scale(Box(0, 0, *size)))
    assert np.array_equal(seen, palette_table("dark")[levels])
    assert max(seen.shape) <= 1024
    assert seen.size <= 3 << 16
    assert f"population {grid.population():,}" in shown["text/html"]
    assert shown["text/plain"] == repr(grid)


def test_a_life_of_several_states() -> None:
    grid = BitGrid.from_states(np.arange(1200).reshape(30, 40) % 4)
    life = Life(grid, rule="345/2/4")
    box = Box(0, 0, 40, 30)
    colours = colours_of(life.rule, "dark")
    expected = pixels_of(life.grid(), box, sketch_scale(box), colours)
    assert np.array_equal(picture(life._repr_mimebundle_()), expected)


def test_a_plane_without_bounds() -> None:
    life = Life(BitGrid.from_cells(3, 3, GLIDER), topology="unbounded")
    life.run(400)
    shown = life._repr_mimebundle_()
    assert picture(shown).shape == (24, 24, 3)
    assert "generation 400" in shown["text/html"]
    assert repr(life) == "<Life B3/S23, plane, no bounds, at generation 400>"


def test_what_is_too_large_is_told_only() -> None:
    grid = BitGrid(1 << 17, 1 << 16, np.broadcast_to(np.uint64(0), (1 << 16, 1 << 11)))
    assert grid._sketch() is None


def test_cells_too_far_apart_for_a_grid() -> None:
    if not cpu.levels():
        pytest.skip("the extension is not built")
    life = Life(BitGrid.from_cells(3, 3, GLIDER), topology="unbounded", engine="hashlife")
    life.change(lambda now: now)
    life.run(1 << 50)
    far = life.whole()
    assert far.grid.width == 3
    assert picture(life._repr_mimebundle_()).any()


def test_a_universe_on_disk() -> None:
    grid = random_grid(900, 700, 0.4, seed=5)
    with on_disk(grid, (2, 2), pyramid=True) as universe:
        shown = universe._repr_mimebundle_()
        levels = density_levels(grid, None, sketch_scale(Box(0, 0, 900, 700)))
        assert np.array_equal(picture(shown), palette_table("dark")[levels])
        assert "900x700, at generation 0" in shown["text/plain"]
        universe.begin_phase(1)  # on its way, it shows the newest of each tile
        with Universe.open(universe.path) as other:
            assert np.array_equal(picture(other._repr_mimebundle_()), palette_table("dark")[levels])


def test_names_are_no_markup(tmp_path: Path) -> None:
    grid = random_grid(64, 64, 0.4, seed=5)
    folder = tmp_path / "<b>"
    folder.mkdir()
    with on_disk(grid, folder=folder) as universe:
        assert "<b>" not in universe._repr_mimebundle_()["text/html"]


def test_a_film(tmp_path: Path) -> None:
    life = Life(BitGrid.from_cells(16, 12, GLIDER), backend="cpu")
    film = life.animate(8, 2, scale=0)
    assert (life.generation, film.first, film.last) == (8, 0, 8)
    shown = film._repr_mimebundle_()
    assert base64.b64decode(shown["image/gif"]) == film.data
    again = Life(BitGrid.from_cells(16, 12, GLIDER), backend="cpu")
    for ending in (".gif", ".png"):
        path = tmp_path / f"film{ending}"
        film.save(path)
        with Image.open(path) as image:
            assert image.n_frames == 5
            for frame in range(5):
                image.seek(frame)
                fresh = Life(again.grid(), backend="cpu")
                fresh.run(2 * frame)
                levels = density_levels(fresh.grid(), None, 0)
                seen = np.asarray(image.convert("RGB"))
                assert np.array_equal(seen, palette_table("dark")[levels]), (ending, frame)
    with pytest.raises(LifesimError, match=r"a \.gif, a \.png or a \.mp4"):
        film.save(tmp_path / "film.avi")


def test_films_that_there_are_none_of() -> None:
    life = Life(BitGrid(8, 8), backend="cpu")
    for generations, every in ((5, 0), (-1, 1), (10_000, 1)):
        with pytest.raises(ValueError, match="film"):
            life.animate(generations, every)
    assert life.generation == 0


def test_a_film_of_a_plane_shows_all_that_lives_in_any_frame() -> None:
    life = Life(BitGrid.from_cells(3, 3, GLIDER), topology="unbounded")
    film = life.animate(40, 4, scale=0)
    with Image.open(io.BytesIO(film.data)) as image:
        assert image.size == (13, 13)
        assert image.n_frames == 11
