"""Check and hold maps of a finite set into itself, as arrays of their images.

A map acts on the right: x sends p to x[p], and the product xy sends it to y[x[p]]. So
multiplying x by y on the right is y[x], on the left x[y].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# (count, degree), and one map (degree,): uint8, uint16 or uint32, the smallest that will do.
Maps = npt.NDArray[np.unsignedinteger[Any]]
Map = npt.NDArray[np.unsignedinteger[Any]]

MAX_DEGREE = 2**32
# Images that are checked without an array, and all at once.
_FEWEST, _FEW = 1 << 7, 1 << 12
_LISTS = (list, tuple)


def image_dtype(degree: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the smallest of uint8, uint16 and uint32 that holds 0 .. degree - 1.

    Raises ValueError.
    """
    if degree < 1:
        raise ValueError(f"degree {degree}: a map has at least one point")
    if degree > MAX_DEGREE:
        raise ValueError(f"degree {degree}: there is room for 2^32 points")
    if degree <= 1 << 8:
        return np.dtype(np.uint8)
    return np.dtype(np.uint16 if degree <= 1 << 16 else np.uint32)


def as_maps(rows: Iterable[npt.ArrayLike]) -> Maps:
    """Return rows of images, from 0, as one contiguous array (count, degree) of its own.

    Raises ValueError where there are no rows, the degree is 0, degrees differ, something is
    no integer, or an image is not below the degree.
    """
    if isinstance(rows, np.ndarray) and 0 < rows.size <= _FEWEST and rows.dtype.kind in "iu":
        few = _fewest(rows.tolist()) if rows.ndim == 2 else None
    else:
        few = _fewest(rows) if isinstance(rows, _LISTS) else None
    if few is not None:
        return few
    arrays = [np.asarray(row) for row in rows]
    if not arrays:
        raise ValueError("no generators")
    degree = arrays[0].size
    if len(arrays) * degree <= _FEW and (few := _few(arrays, degree)) is not None:
        return few
    result: Maps | None = None
    for k, images in enumerate(arrays):
        if images.ndim != 1:
            raise ValueError(f"generator {k}: {images.ndim} dimensions instead of a row of images")
        if images.size != degree:
            raise ValueError(
                f"degrees differ: generator 0 has {degree} points, generator {k} has {images.size}"
            )
        if result is None:
            result = np.empty((len(arrays), degree), image_dtype(degree))
        if images.dtype.kind not in "iu":
            raise ValueError(f"generator {k}: images are integers, not {images.dtype}")
        outside = (images < 0) | (images >= degree)
        if outside.any():
            p = int(outside.argmax())
            raise ValueError(
                f"generator {k} sends {p} to {images[p]}: no map of the points 0 to {degree - 1}"
            )
        result[k] = images
    assert result is not None
    return result


def _fewest(rows: Sequence[npt.ArrayLike]) -> Maps | None:
    """Return maps as as_maps() does, of a few lists of Python's ints; None of all else.

    To make and check such arrays takes numpy several times as long.
    """
    degree = len(rows[0]) if rows and isinstance(rows[0], _LISTS) else 0
    if not 0 < degree * len(rows) <= _FEWEST:
        return None
    images = bytearray()
    for row in rows:
        if not isinstance(row, _LISTS) or len(row) != degree or {*map(type, row)} != {int}:
            return None
        if min(row) < 0 or max(row) >= degree:
            return None
        images += bytes(row)
    return np.frombuffer(images, np.uint8).reshape(len(rows), degree)


def _few(arrays: list[npt.NDArray[Any]], degree: int) -> Maps | None:
    """Return maps as as_maps() does; None where something is wrong, which it says in words."""
    for images in arrays:
        if images.ndim != 1 or images.size != degree or images.dtype.kind not in "iu":
            return None
    together = np.array(arrays)
    if not degree or together.dtype.kind not in "iu":  # int64 and uint64 have no common kind
        return None
    if together.min() < 0 or together.max() >= degree:
        return None
    return together.astype(image_dtype(degree))
