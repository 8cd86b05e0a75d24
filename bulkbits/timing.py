"""Time computations by turns, so that what slows a machine for a while slows them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ROUNDS = 16


@dataclass(frozen=True, slots=True)
class TimedRunner:
    """A computation that can be timed.

    work: what one step does, in cell updates, numbers, strings or whatever is counted.
    step(n): does n * work, and waits for it. It returns None, or, where not all of the call is to
    count, the seconds that do.
    """

    work: float
    step: Callable[[int], float | None]


@dataclass(frozen=True, slots=True)
class Samples:
    """The speeds that were measured of one runner. rates: work a second, one for each round, each
    of `steps` steps in one call."""

    rates: tuple[float, ...]
    steps: int

    @property
    def best(self) -> float:
        """Return the highest rate."""
        return max(self.rates)

    @property
    def median(self) -> float:
        """Return the median of the rates."""
        return statistics.median(self.rates)

    def ratio(self, other: Samples) -> float:
        """Return the median over the rounds of the ratio to another's rate: what slows a round
        slows both of its figures."""
        pairs = zip(self.rates, other.rates, strict=True)
        return statistics.median(mine / others for mine, others in pairs)


def compete(
    runners: Sequence[TimedRunner],
    seconds: float,
    *,
    rounds: int = ROUNDS,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Samples]:
    """Time the runners by turns, A B A B, so that a noisy machine is noisy to them all.

    seconds: for all rounds of all runners together, warm-up apart. Rounds are left out
    where one step takes too long for them, but never the first.
    """

    def timed(runner: TimedRunner, steps: int) -> float:
        start = clock()
        said = runner.step(steps)
        return max(clock() - start if said is None else said, 1e-9)

    share = seconds / rounds / len(runners)
    counts = []
    for runner in runners:
        count, took = 1, timed(runner, 1)  # compiles, touches memory, wakes clocks
        if took < 4 * seconds:
            took = timed(runner, 1)
        while took < share / 4:
            count = min(count * 8, max(count + 1, round(count * share / took)))
            took = timed(runner, count)
        counts.append(max(1, round(count * share / took)))
    rates: list[list[float]] = [[] for _ in runners]
    start = clock()
    for done in range(1, rounds + 1):
        for runner, count, found in zip(runners, counts, rates, strict=True):
            found.append(runner.work * count / timed(runner, count))
        if (clock() - start) * (done + 1) / done > seconds * 1.1:
            break
    return [Samples(tuple(r), count) for r, count in zip(rates, counts, strict=True)]
