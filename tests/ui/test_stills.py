"""What is seen from afar: nearer and farther, and recorded."""

from __future__ import annotations

import math
import tempfile
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.grid import BitGrid, Box
from lifesim.render import RenderError, block_sizes, density_levels
from lifesim.rule import LIFE
from lifesim.topology import Topology
from tests.quick import examples
from tests.strategies import grids
from ui.cells.saving import Whole
from ui.film.recording import Recording
from ui.film.stills import Afar, AfarSource, Still
from ui.picture.live import Aim, live_box, population
from ui.picture.viewport import Viewport


def afar(grid: BitGrid, scale: int, generation: int = 0) -> Afar:
    pixels = density_levels(grid, None, scale)
    return Afar(pixels, scale, grid.width, grid.height, LIFE, Topology.TORUS, generation)


def blown_up(still: Afar, scale: int) -> npt.NDArray[np.uint8]:
    """Pixels of all of it at a nearer scale."""
    side = 1 << (still.scale - scale)
    rows, columns = -(-still.height >> scale), -(-still.width >> scale)
    return still.pixels.repeat(side, 0).repeat(side, 1)[:rows, :columns]


def shrunk(still: Afar, scale: int) -> npt.NDArray[np.uint8]:
    """The same at a coarser one, pixel by pixel."""
    side = 1 << (scale - still.scale)
    weights = block_sizes(still.height, still.scale)[:, None] * block_sizes(
        still.width, still.scale
    )
    rows, columns = -(-still.height >> scale), -(-still.width >> scale)
    result = np.empty((rows, columns), np.uint8)
    for y, x in np.ndindex(rows, columns):
        block = slice(y * side, (y + 1) * side), slice(x * side, (x + 1) * side)
        pixels, weight = still.pixels[block].astype(np.int64), weights[block]
        mean = Fraction(int((pixels * weight).sum()), int(weight.sum()))
        rounded = math.floor(mean + Fraction(1, 2))
        result[y, x] = min(max(rounded, pixels.any()), 255 - (pixels < 255).any())
    return result


@settings(max_examples=examples(60), deadline=None)
@given(grids(), st.integers(1, 5), st.integers(0, 8), st.data())
def test_levels(grid: BitGrid, own: int, scale: int, data: st.DataObject) -> None:
    still = afar(grid, own)
    source = AfarSource(still)
    everything = shrunk(still, scale) if scale > own else blown_up(still, scale)
    rows, columns = everything.shape
    x0, y0 = (data.draw(st.integers(0, n - 1)) for n in (columns, rows))
    x1, y1 = data.draw(st.integers(x0 + 1, columns)), data.draw(st.integers(y0 + 1, rows))
    left, top = x0 << scale, y0 << scale
    box = Box(left, top, min(x1 << scale, grid.width) - left, min(y1 << scale, grid.height) - top)
    assert np.array_equal(source.levels(box, scale), everything[y0:y1, x0:x1])
    assert source.missing == (scale < own)


@settings(max_examples=examples(60), deadline=None)
@given(
    grids(), st.integers(1, 4), st.integers(0, 2), st.integers(-70, 70), st.integers(-70, 70),
    st.integers(1, 150), st.integers(1, 150),
)  # fmt: skip
def test_pictures_of_any_region(
    grid: BitGrid, own: int, more: int, x: int, y: int, width: int, height: int
) -> None:
    source, scale = AfarSource(afar(grid, own)), own + more
    picture = source.picture(Box(x, y, width, height), scale)
    side = 1 << scale
    assert picture.shape == (-(-height // side), -(-width // side))
    everything = source.levels(Box(0, 0, grid.width, grid.height), scale)
    for row, column in np.ndindex(picture.shape):
        at = row + y // side, column + x // side
        inside = 0 <= at[0] < everything.shape[0] and 0 <= at[1] < everything.shape[1]
        assert picture[row, column] == (everything[at] if inside else 0)
    with pytest.raises(RenderError, match=f"recorded at 1:{1 << own}"):
        source.picture(Box(x, y, width, height), own - 1)


def test_nothing_is_counted_that_is_not_known() -> None:
    grid = BitGrid(1000, 500)
    grid[333, 222] = True
    source = AfarSource(afar(grid, 6))
    assert live_box(source) == Box(320, 192, 64, 64)
    assert not source.missing  # an aim that is taken is not taken again
    view = Viewport(0, 0, 0, 100, 100)
    assert Aim(fit=True).taken(source, view) == (
        Viewport.fitting(Box(320, 192, 64, 64), 100, 100),
        None,
    )
    population(source, Box(333, 222, 1, 1))
    assert source.missing  # so that the number is not said


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(grids(), st.integers(0, 4)), min_size=1, max_size=8))
def test_recorded_with_cells(pictures: list[tuple[BitGrid, int]]) -> None:
    stills: list[Still] = [
        afar(grid, scale, at) if scale else Whole(grid, LIFE, Topology.TORUS, at)
        for at, (grid, scale) in enumerate(pictures)
    ]
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(folder)
        for still in stills:
            assert recording.add(still)
            assert not recording.add(still)
        recording.close()
        again = Recording(folder)
        for shot, still in zip(again.shots, stills, strict=True):
            found = again.still(shot)
            if isinstance(still, Afar):
                assert isinstance(found, Afar)
                assert np.array_equal(found.pixels, still.pixels)
                one, other = (
                    (s.scale, s.width, s.height, s.rule, s.topology, s.generation)
                    for s in (found, still)
                )
                assert one == other
            else:
                assert found == still
        again.close()


def test_changes_of_far_pictures_are_small(tmp_path: object) -> None:
    grid = BitGrid.from_bool(np.random.default_rng(1).random((512, 512)) < 0.3)
    nearly = grid.copy()
    nearly[7, 7] = not nearly[7, 7]
    recording = Recording(str(tmp_path))
    for at, cells in enumerate((grid, nearly)):
        recording.add(afar(cells, 3, at))
    first, second = recording.shots
    assert second.before == first
    assert second.nbytes < first.nbytes // 10
    recording.close()
