"""Read cells and packed words from arrays of other libraries."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.dlpack import host_array
from lifesim.grid import check_size, shape_of


def cells_of(array: Any) -> npt.NDArray[Any]:
    """Return cells as an array in host memory, bool or integers that are 0 or 1, (height, width).

    Raises TypeError for another dtype, ValueError for another shape and other numbers.
    """
    cells = _checked(array, "cells are (height, width)")
    if cells.size and cells.dtype.kind != "b":
        low, high = int(cells.min()), int(cells.max())
        if low < 0 or high > 1:
            wrong = low if low < 0 else high
            raise ValueError(f"cells are 0 or 1, not {wrong}; packed words need a width=")
    check_size(cells.shape[1], cells.shape[0])
    return cells


def words_of(array: Any, width: int) -> npt.NDArray[np.uint64]:
    """Return a copy of packed words of any integer dtype as a grid's, uint64.

    Raises TypeError for another dtype, ValueError for another number of words in a row.
    """
    words = _checked(array, "packed words are (height, words of a row)")
    if words.dtype.kind == "b":
        raise TypeError("packed words are integers, not bool: without width= they are cells")
    width = operator.index(width)
    height, count = words.shape
    bits = 8 * words.dtype.itemsize
    check_size(width, height)
    if count != -(-width // bits):
        raise ValueError(
            f"{width} columns are {-(-width // bits)} words of {bits} bits, not {count}"
        )
    little = words.astype(words.dtype.newbyteorder("<"), copy=False)
    raw = np.ascontiguousarray(little).view(np.uint8)
    result = np.zeros(shape_of(width, height), np.uint64)
    result.view(np.uint8)[:, : raw.shape[1]] = raw
    return result


def _checked(array: Any, shape: str) -> npt.NDArray[Any]:
    """Return an array-like in host memory, of two dimensions and integers or bool."""
    found = host_array(array)
    if np.ma.is_masked(found):
        raise ValueError("a masked element is neither alive nor dead")
    if found.dtype.kind not in "biu":
        raise TypeError(f"cells are bool or integers, not {found.dtype}")
    if found.ndim != 2:
        raise ValueError(f"{shape}, not {found.shape}")
    return found
