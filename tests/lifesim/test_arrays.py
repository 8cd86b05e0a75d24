"""Grids and universes go to numpy and other libraries, and come from them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets.cuda.array import DeviceArray
from lifesim import BitGrid, Life, random_grid
from lifesim.grid import GridError
from tests.kernels.life.test_cuda import EmulatedBackend
from tests.quick import examples

CELLS = np.array([[1, 0, 1], [0, 0, 1]])
GRID = BitGrid.from_bool(CELLS)
INTEGERS = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]


class Words:
    """A library's array that knows DLPack alone."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)


def test_numpy_sees_the_cells() -> None:
    grid = random_grid(130, 7, 0.4, 3)
    cells = np.asarray(grid)
    assert cells.dtype == np.bool_
    np.testing.assert_array_equal(cells, grid.to_bool())
    for dtype in (np.uint8, np.float64, bool):
        found = np.asarray(grid, dtype)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, grid.to_bool())
    assert np.array(grid, copy=True).sum() == grid.population()
    cells[:] = False
    assert grid.population() == np.array(grid).sum() > 0
    with pytest.raises(ValueError, match="only as a copy"):
        np.asarray(grid, copy=False)


def test_dlpack_is_a_view_of_the_words() -> None:
    grid = random_grid(130, 7, 0.4, 3)
    words = np.from_dlpack(cast(Any, grid))
    assert (words.dtype, words.shape) == (np.uint64, (7, 3))
    grid[64, 2] = not grid[64, 2]
    np.testing.assert_array_equal(words, grid.words)
    assert np.shares_memory(words, grid.words)
    before = grid.copy()
    copied = np.from_dlpack(cast(Any, grid), copy=True)
    copied[:] = 0
    assert grid == before
    kept = np.from_dlpack(cast(Any, random_grid(64, 2, 0.5, 1)))
    np.testing.assert_array_equal(kept, random_grid(64, 2, 0.5, 1).words)


@given(st.integers(1, 200), st.integers(1, 5), st.integers(0, 99), st.sampled_from(INTEGERS[1:]))
@settings(max_examples=examples(60))
def test_packed_words_of_any_dtype(width: int, height: int, seed: int, dtype: Any) -> None:
    grid = random_grid(width, height, 0.5, seed)
    bits = 8 * np.dtype(dtype).itemsize
    words = grid.words.view(dtype)[:, : -(-width // bits)]
    for given_ in (words, words.astype(np.dtype(dtype).newbyteorder(">")), words.tolist()):
        if isinstance(given_, list) and dtype != np.int64:
            continue
        assert BitGrid.from_array(given_, width=width) == grid
    assert BitGrid.from_array(Words(words), width=width) == grid
    found = BitGrid.from_array(grid.words, width=width)
    assert not np.shares_memory(found.words, grid.words)


@given(st.sampled_from(INTEGERS), st.integers(1, 70), st.integers(1, 4), st.integers(0, 99))
@settings(max_examples=examples(40))
def test_cells_of_any_dtype(dtype: Any, width: int, height: int, seed: int) -> None:
    grid = random_grid(width, height, 0.5, seed)
    cells = grid.to_bool().astype(dtype)
    for given_ in (cells, cells.tolist(), Words(cells), cells.copy("F"), memoryview(cells), grid):
        assert BitGrid.from_array(given_) == grid


@pytest.mark.parametrize(
    ("array", "width", "error", "says"),
    [
        ([[0.5, 1.0]], None, TypeError, "not float64"),
        ([["a"]], None, TypeError, "not <U1"),
        (GRID.words, None, ValueError, "not 5; packed words need a width="),
        (-CELLS, None, ValueError, "not -1"),
        (CELLS[0], None, ValueError, r"cells are \(height, width\), not \(3,\)"),
        (np.zeros((3, 0), bool), None, GridError, "at least 1x1"),
        (np.ma.masked_array(CELLS, CELLS == 0), None, ValueError, "masked"),
        (GRID.words, 65, ValueError, "65 columns are 2 words of 64 bits, not 1"),
        (GRID.words, 2, ValueError, "padding"),
        (GRID.words, 0, GridError, "at least 1x1"),
        (GRID.words > 0, 3, TypeError, "not bool"),
        (GRID.words[0], 3, ValueError, "packed words are"),
        (GRID.words.astype(float), 3, TypeError, "not float64"),
        (7, None, ValueError, "not \\(\\)"),
    ],
)
def test_what_is_no_grid(array: Any, width: int | None, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        BitGrid.from_array(array, width=width)


@pytest.mark.parametrize("backend", ["reference", "auto"])
def test_words_of_a_universe_stay_as_they_were(backend: str) -> None:
    grid = random_grid(100, 40, 0.5, 1)
    life = Life(grid, backend=backend)
    words = life.words()
    life.run(3)
    assert BitGrid.from_array(words, width=100) == grid
    assert BitGrid.from_array(life.words(), width=life.width) == life.grid()


def test_words_of_a_plane_without_bounds_are_those_of_its_frame() -> None:
    life = Life(GRID, topology="unbounded", bounds=(0, 0), backend="reference")
    assert BitGrid.from_array(life.words(), width=life.width) == life.grid()


def test_words_of_a_universe_on_a_device_stay_there(monkeypatch: Any) -> None:
    from kernels.life.cuda import sizes

    width = 100
    monkeypatch.setattr(sizes, "BAND_BYTES", 7 * 16)  # 40 rows in six bands
    grid = random_grid(width, 40, 0.5, 1)
    life = Life(grid, backend=EmulatedBackend(), topology="plane")
    words = life.words()
    assert isinstance(words, DeviceArray)
    life.run(3)
    assert BitGrid.from_array(words, width=width) == grid
    now = life.words()
    written = np.from_dlpack(cast(Any, now))
    written[:] = 0
    assert BitGrid.from_array(life.words(), width=width) == life.grid()


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    grid = random_grid(100, 5, 0.5, 1)
    tensor = torch.from_dlpack(grid)
    tensor[0] = 0
    assert not grid.words[0].any()
    assert BitGrid.from_array(tensor, width=100) == grid
    assert BitGrid.from_array(torch.from_numpy(grid.to_bool())) == grid


@pytest.mark.skipif(not importlib.util.find_spec("jax"), reason="JAX is not installed")
def test_jax() -> None:
    """In a process of its own, as JAX has every later fork warn."""
    program = """
import jax, numpy as np
from lifesim import BitGrid, random_grid
grid = random_grid(100, 5, 0.5, 1)
halves = jax.dlpack.from_dlpack(grid.words.view(np.uint32))
assert halves.dtype == np.uint32 and halves.shape == (5, 4)
assert BitGrid.from_array(halves, width=128).population() == grid.population()
assert BitGrid.from_array(jax.numpy.asarray(np.asarray(grid))) == grid
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root)


@pytest.mark.gpu
def test_words_of_a_universe_on_a_gpu() -> None:
    grid = random_grid(1000, 700, 0.5, 1)
    life = Life(grid, backend="cuda")
    words = life.words()
    assert isinstance(words, DeviceArray)
    assert words.__dlpack_device__() == (2, 0)
    life.run(100)
    assert BitGrid.from_array(words, width=1000) == grid
    assert BitGrid.from_array(life.words(), width=1000) == life.grid()
    assert BitGrid.from_array(words.view(np.uint32), width=1024).population() == grid.population()
