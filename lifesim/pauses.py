"""How far a run has come, and where it pauses, so that something can be made of its cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_STEPS = 10**18  # generations of a run
MOST_HASHED = 2**240  # ... by HashLife
_CHUNK_SECONDS = 0.2
FOREVER = 1 << 256  # generations: of a run that nobody knows the length of


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a run: how far it has come.

    generation: of the universe; done, total: generations of this run, or FOREVER; seconds: spent
    on it so far; rate: cell updates per second over all of it.
    """

    generation: int
    done: int
    total: int
    seconds: float
    rate: float


def periods_of(every: int | Sequence[int] | None) -> list[int]:
    """Return the numbers of generations between snapshots. Raises ValueError for less than 1."""
    periods = [every] if isinstance(every, int) else list(every or [])
    for period in periods:
        if period < 1:
            raise ValueError(f"snapshots come every 1 or more generations, not {period}")
    return periods


def chunk_of(stride: int, made: int, seconds: float) -> int:
    """Return how many generations to make between two calls of a progress function: whole strides,
    of some tenths of a second. made, seconds: what was made so far, and how long that took."""
    if not made or not seconds:
        return stride
    return max(1, int(_CHUNK_SECONDS * made / seconds / stride)) * stride


def next_stop(now: int, stop: int, periods: Sequence[int]) -> int:
    """Return the next of the multiples of any of the periods, or `stop` where that is sooner."""
    return min([stop, *((now // period + 1) * period for period in periods)])


def stops(generations: int, periods: Sequence[int]) -> Iterator[int]:
    """Tell where a run pauses: at multiples of each period, and at its end."""
    now = 0
    while (now := next_stop(now, generations, periods)) < generations:
        yield now
    yield generations
