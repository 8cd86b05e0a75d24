"""lifesim.search beside a look at every place."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lifesim import Life
from lifesim.grid import BitGrid
from lifesim.patterns import read
from lifesim.search import count, find

GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])


def _plainly(cells: np.ndarray, shape: np.ndarray) -> set[tuple[int, int]]:
    """Look at every place, one after the other, for every orientation."""
    found, padded = set(), np.pad(cells, 1)
    for turn in range(4):
        for mirrored in (False, True):
            turned = np.rot90(shape, turn)
            box = np.pad(turned[:, ::-1] if mirrored else turned, 1)
            h, w = box.shape
            found |= {
                (x, y)
                for y in range(padded.shape[0] - h + 1)
                for x in range(padded.shape[1] - w + 1)
                if (padded[y : y + h, x : x + w] == box).all()
            }
    return found


@example(119, 27, 1801152, 0.1)
@given(
    st.integers(1, 140), st.integers(1, 30), st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.1])
)
def test_all_places(width: int, height: int, seed: int, density: float) -> None:
    random = np.random.default_rng(seed)
    cells = random.random((height, width)) < density
    shape = random.random((random.integers(1, 3), random.integers(1, 4))) < 0.6
    shape[0, 0] = True
    live = shape[: int(np.flatnonzero(shape.any(1))[-1]) + 1]
    live = live[:, : int(np.flatnonzero(live.any(0))[-1]) + 1]
    found = find(BitGrid.from_bool(cells), BitGrid.from_bool(shape))
    assert {(x, y) for x, y in found.tolist()} == _plainly(cells, live)
    assert len(found) == len({tuple(place) for place in found.tolist()})


def test_bands_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = BitGrid(100, 40)
    places = [(0, 0), (97, 37), (50, 9), (50, 18)]
    for x, y in places:
        grid.paste(GLIDER, x, y)
    for words in (1, 7, 1 << 18):
        monkeypatch.setattr("lifesim.search._BAND_WORDS", words)
        assert sorted(map(tuple, find(grid, GLIDER).tolist())) == sorted(places)


def test_gliders_of_a_gun() -> None:
    """One more comes each 30 generations; those that have just left are told from the gun."""
    life = Life.from_pattern("data/patterns/gosper-gun.rle")
    counts = []
    for _ in range(5):
        life.run(300)
        counts.append(count(life.grid(), GLIDER, period=4))
    assert [b - a for a, b in pairwise(counts)] == [10] * 4


def test_what_is_found_once() -> None:
    block = BitGrid.from_cells(2, 2, [(0, 0), (1, 0), (0, 1), (1, 1)])
    grid = BitGrid(70, 10)
    grid.paste(block, 63, 3)
    assert find(grid, block, period=5).tolist() == [[63, 3]]
    assert count(grid, read("data/patterns/glider.rle").grid, period=4) == 0


def test_nothing_to_look_for() -> None:
    with pytest.raises(ValueError, match="no live cell"):
        find(GLIDER, BitGrid(3, 3))
    with pytest.raises(ValueError, match="within the period"):
        find(GLIDER, BitGrid.from_cells(1, 1, [(0, 0)]), period=2)
    with pytest.raises(ValueError, match="at least 1"):
        find(GLIDER, GLIDER, period=0)
