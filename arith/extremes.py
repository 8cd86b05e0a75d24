"""The least and the greatest number of an IntArray."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .integer import IntArray

_FEW = 64  # numbers that Python compares


def extreme(array: IntArray, side: int) -> int:
    """Return the greatest if side is 1, the least if it is -1. Raises ValueError of an empty array.

    The longest numbers on that side of zero, or the shortest on the other; of those the
    ones with the highest topmost words; and what is left, by halves.
    """
    if not len(array):
        raise ValueError("an empty IntArray has neither minimum nor maximum")
    if len(array) > _FEW:
        lengths = array.bit_length() * array.sign() * side
        bits = int(lengths.max())
        array = array[np.flatnonzero(lengths == bits)]
        if array.place == "host" and bits:
            numbers = array.numbers()
            top = numbers.words[numbers.start_array() + (abs(bits) - 1) // 64]
            wanted = top.max() if bits > 0 else top.min()
            array = array[np.flatnonzero(top == wanted)]
    while len(array) > _FEW:
        half = (len(array) + 1) // 2
        low, high = array[:half], array[-half:]  # the one in the middle is in both
        array = low.maximum(high) if side > 0 else low.minimum(high)
    values = array.to_ints()
    return max(values) if side > 0 else min(values)
