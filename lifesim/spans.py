"""Positions along an axis whose end may meet its beginning."""

from __future__ import annotations


def spans(start: int, count: int, size: int, wrap: bool) -> list[tuple[int, range]]:
    """Split [start, start + count) into (position in the grid, indices of the part)."""
    spans = []
    if not wrap:
        low, high = max(start, 0), min(start + count, size)
        return [(low, range(low - start, high - start))] if low < high else []
    done = 0
    while done < count:
        at = (start + done) % size
        step = min(count - done, size - at)
        spans.append((at, range(done, done + step)))
        done += step
    return spans
