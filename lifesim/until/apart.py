"""Prove that things that move in straight lines never come near each other.

The first thing, seen from the second, is moved by any of the translations k v + s w, with
k >= 0 and s >= 0: the cone of v and w. The translations by which the boxes of the two would be
near each other are a rectangle. Both are convex, so if they have no point in common a line
separates them, and in the plane it can be taken along a side of one of the two: along an axis,
along v or along w. It is enough to try these, in integers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

NEAR = 2  # cells farther apart than this have no common neighbour, and do not know of each other


def rectangles(first: Ints, second: Ints, unit: int) -> Ints:
    """Return the translations by which boxes come near each other.

    first, second: (n, 4) or (4,): least x and y, greatest x and y of cells, in parts of a cell.
    unit: parts in a cell. The translations are those of `first`, as rows of four again.
    """
    low = second[..., :2] - NEAR * unit - first[..., 2:]
    high = second[..., 2:] + NEAR * unit - first[..., :2]
    return np.concatenate(np.broadcast_arrays(low, high), axis=-1)


def never_near(near: Ints, v: Ints, w: Ints) -> npt.NDArray[np.bool_]:
    """Tell of each rectangle of translations whether the cone of v and w misses it.

    near: (n, 4), as rectangles() gives them. v, w: (n, 2) or (2,). All of int64, with products of
    two of their numbers below 2^62.
    """
    v, w = np.broadcast_to(v, (len(near), 2)), np.broadcast_to(w, (len(near), 2))
    zero, one = np.zeros(len(near), np.int64), np.ones(len(near), np.int64)
    apart = np.zeros(len(near), np.bool_)
    for x, y in ((one, zero), (zero, one), (-v[:, 1], v[:, 0]), (-w[:, 1], w[:, 0])):
        for sign in (1, -1):
            apart |= _separated(near, v, w, sign * x, sign * y)
    return apart


def _separated(near: Ints, v: Ints, w: Ints, x: Ints, y: Ints) -> npt.NDArray[np.bool_]:
    """Tell whether the line across (x, y) has the cone on one side and the rectangle on the
    other."""
    least = x * np.where(x > 0, near[:, 0], near[:, 2])
    least = least + y * np.where(y > 0, near[:, 1], near[:, 3])
    cone = (x * v[:, 0] + y * v[:, 1] <= 0) & (x * w[:, 0] + y * w[:, 1] <= 0)
    found: npt.NDArray[np.bool_] = cone & (least > 0)
    return found
