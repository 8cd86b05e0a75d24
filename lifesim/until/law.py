"""The law by which populations grow: found in a sequence of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_WHOLE = 1 << 60  # numbers below fit sums of four in 64 bits


def as_array(populations: Sequence[int]) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
    """Return numbers as an array in which they can be added without overflow."""
    large = max(populations, default=0) >= _WHOLE
    if large:
        return np.array(populations, np.object_)
    return np.array(populations, np.int64)


def period_of(populations: Sequence[int], most: int) -> int | None:
    """Return the least p, at most `most`, with a(t + 2 p) - a(t + p) = a(t + p) - a(t) for each t
    of a sequence that is at least 3 p long; None where there is none."""
    numbers = as_array(populations)
    for period in range(1, min(most, len(numbers) // 3) + 1):
        end = numbers[-1] - 2 * numbers[-1 - period] + numbers[-1 - 2 * period]
        if end == 0 and not _differences(numbers, period).any():
            return period
    return None


def last_breach(populations: Sequence[int], period: int) -> int | None:
    """Return the greatest t of a sequence for which the law does not hold, None where it always
    does."""
    breaches = np.flatnonzero(_differences(as_array(populations), period))
    return int(breaches[-1]) if len(breaches) else None


def _differences(
    numbers: npt.NDArray[np.int64] | npt.NDArray[np.object_], period: int
) -> npt.NDArray[np.bool_]:
    """Tell for each t whether the law does not hold there."""
    last, middle, first = numbers[2 * period :], numbers[period:-period], numbers[: -2 * period]
    found: npt.NDArray[np.bool_] = np.asarray(last - 2 * middle + first != 0, np.bool_)
    return found
