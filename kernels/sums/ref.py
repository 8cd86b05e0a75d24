"""The pairwise sums by obvious code: what every other version must equal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]


def add(a: Words, b: Words) -> Words:
    """Return (A_i + B_i) mod 2^32."""
    return a + b


def slice_bits(values: Words, k: int) -> Words:
    """Return planes of which bit i of planes[j, g] is bit j of value 32 g + i."""
    planes = np.zeros((k, -(-len(values) // 32)), np.uint32)
    for i, value in enumerate(values.tolist()):
        for j in range(k):
            planes[j, i // 32] |= np.uint32((value >> j & 1) << (i % 32))
    return planes


def unslice_bits(planes: Words, count: int) -> Words:
    """Return the first `count` values of bit planes."""
    words = planes.tolist()
    values = [
        sum((plane[i // 32] >> (i % 32) & 1) << j for j, plane in enumerate(words))
        for i in range(count)
    ]
    return np.array(values, np.uint32)
