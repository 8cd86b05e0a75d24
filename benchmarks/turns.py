"""Measure by turns, in processor time: what else a machine does then counts little."""

from __future__ import annotations

import time
from collections.abc import Callable


def least_times(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """Return the least processor seconds of each; they take turns."""
    least = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            start = time.process_time()
            run()
            least[i] = min(least[i], time.process_time() - start)
    return least
