"""Read cells and packed words from arrays of other libraries."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.dlpack import host_array
from lifesim.grid import check_size, shape_of
from lifesim.states import MOST_PLANES


def cells_of(array: Any, most: int = 1) -> npt.NDArray[Any]:
    """Return cells as an array in host memory, bool or integers from 0 to `most`, (height, width).

    Raises TypeError for another dtype, ValueError for another shape and other numbers.
    """
    cells = _checked(array, "cells are (height, width)")
    if cells.size and cells.dtype.kind != "b":
        low, high = int(cells.min()), int(cells.max())
        if low < 0 or high > most:
            wrong = low if low < 0 else high
            if most > 1:
                raise ValueError(f"cells are 0 to {most}, not {wrong}")
            raise ValueError(
                f"cells are 0 or 1, not {wrong}; packed words need a width=, "
                f"states above 1 need planes="
            )
    check_size(cells.shape[1], cells.shape[0])
    return cells


def words_of(array: Any, width: int) -> npt.NDArray[np.uint64]:
    """Return a copy of packed words of any integer dtype as a grid's, uint64.

    Those of several bit planes are (height, planes, words of a row). Raises TypeError for another
    dtype, ValueError for another number of words in a row.
    """
    words = _checked(array, "packed words are (height, words of a row)", planes=True)
    if words.dtype.kind == "b":
        raise TypeError("packed words are integers, not bool: without width= they are cells")
    width = operator.index(width)
    height, count = words.shape[0], words.shape[-1]
    planes = words.shape[1] if words.ndim == 3 else 1
    if words.ndim == 3 and not 2 <= planes <= MOST_PLANES:
        raise ValueError(
            f"packed words of several bit planes have 2 to {MOST_PLANES}, not {planes}"
        )
    bits = 8 * words.dtype.itemsize
    check_size(width, height, planes)
    if count != -(-width // bits):
        raise ValueError(
            f"{width} columns are {-(-width // bits)} words of {bits} bits, not {count}"
        )
    little = words.astype(words.dtype.newbyteorder("<"), copy=False)
    raw = np.ascontiguousarray(little).view(np.uint8)
    result = np.zeros(shape_of(width, height, planes), np.uint64)
    result.view(np.uint8)[..., : raw.shape[-1]] = raw
    return result


def _checked(array: Any, shape: str, *, planes: bool = False) -> npt.NDArray[Any]:
    """Return an array-like in host memory, of two dimensions, or three for planes, and integers or
    bool."""
    found = host_array(array)
    if np.ma.is_masked(found):
        raise ValueError("a masked element is neither alive nor dead")
    if found.dtype.kind not in "biu":
        raise TypeError(f"cells are bool or integers, not {found.dtype}")
    if found.ndim != 2 and not (planes and found.ndim == 3):
        raise ValueError(f"{shape}, not {found.shape}")
    return found
