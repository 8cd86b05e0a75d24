"""Run a universe on disk until a condition is true.

It keeps its last generation only, so that there is no way back to find out since when something
is so. It is looked at in some generations, all multiples of a number, whatever generation a run
begins at: a run that is broken off and begun again looks at the same ones. What is known there, at
no cost, is its population and its digest of 128 bits. Cells of equal digest are taken for equal;
from then on all repeats itself.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from lifesim.errors import LifesimError
from lifesim.pauses import FOREVER, Progress, next_stop
from lifesim.until.conditions import Condition, Empty, Population, Repeats, parse
from lifesim.until.found import Found
from lifesim.until.repeating import primes_of

if TYPE_CHECKING:
    from lifesim.stream.run import StreamedLife

EVERY = 60  # generations between two looks, unless somebody says so: most periods divide it
_MOST = 1 << 20  # generations whose digests are remembered

_Cells = tuple[object, ...]  # equal where cells are


@dataclass(frozen=True, slots=True)
class Snapshots:
    """A function called on the way, at multiples of `periods` generations after the first."""

    periods: Sequence[int] = ()
    take: Callable[[StreamedLife], None] = lambda life: None


def search_stored(
    life: StreamedLife,
    condition: Condition | str,
    generations: int | None,
    looks: int,
    progress: Callable[[Progress], None] | None = None,
    snapshots: Snapshots = Snapshots(),
) -> Found:
    """Take a universe to the first generation that is looked at for which a condition is true, or,
    if there is none, on by `generations`. Else as StreamedLife.run_until()."""
    if isinstance(condition, str):
        condition = parse(condition)
    if generations is not None and operator.index(generations) < 0:
        raise ValueError(f"a universe cannot go back {-generations} generations")
    if looks < 1:
        raise ValueError(f"a universe is looked at every 1 or more generations, not {looks}")
    if isinstance(condition, Repeats):
        looks = _part_of(condition.period, looks)
    way = _Way(life, generations, looks, progress, snapshots)
    try:
        return _search(way, condition)
    except KeyboardInterrupt:
        if life.universe.manifest.run:  # only we asked for its end
            life.universe.set_run(None)
        raise


def _part_of(period: int, least: int) -> int:
    """Return the least divisor of a period that is no less than `least`; of a shorter one, all of
    it."""
    low = (d for d in range(1, math.isqrt(period) + 1) if period % d == 0)
    divisors = {part for d in low for part in (d, period // d)}
    return min((d for d in divisors if d >= least), default=period)


class _Way:
    """A universe on its way, from where it stands to the last generation that may be made."""

    def __init__(
        self,
        life: StreamedLife,
        generations: int | None,
        looks: int,
        progress: Callable[[Progress], None] | None,
        snapshots: Snapshots,
    ) -> None:
        """Finish the phase that was broken off, if there is one. Raises LifesimError where that
        ends beyond the last generation."""
        self.life, self.looks = life, looks
        self.first = life.generation
        self.last = None if generations is None else self.first + generations
        self._total = FOREVER if generations is None else generations
        self._progress, self._snapshots = progress, snapshots
        self._began = life.seconds
        phase = life.universe.phase
        if phase:
            if self.last is not None and phase.stop > self.last:
                raise LifesimError(
                    f"{life.universe.path}: on its way to generation {phase.stop}, "
                    f"beyond {self.last}: `lifesim resume` takes it there"
                )
            self._run(phase.stop)

    @property
    def now(self) -> int:
        """Return the generation at which it is."""
        return self.life.generation

    @property
    def is_over(self) -> bool:
        """Tell whether no more generations may be made."""
        return self.last is not None and self.now >= self.last

    def on(self) -> None:
        """Go to the next generation that is to be looked at."""
        self.to((self.now // self.looks + 1) * self.looks)

    def to(self, generation: int) -> bool:
        """Go to a generation, or to the last one where that comes first; tell whether it is
        there."""
        end = generation if self.last is None else min(generation, self.last)
        while self.now < end:
            passed = self.now - self.first
            self._run(self.first + next_stop(passed, end - self.first, self._snapshots.periods))
        return end == generation

    def _run(self, generation: int) -> None:
        self.life.run(generation - self.now, progress=self._tell)
        passed = self.now - self.first
        if any(passed % period == 0 for period in self._snapshots.periods):
            self._snapshots.take(self.life)

    def _tell(self, now: Progress) -> None:
        if self._progress:
            done = min(now.generation - self.first, self._total)
            seconds = self.life.seconds - self._began
            self._progress(Progress(now.generation, done, self._total, seconds, now.rate))

    def cells(self) -> _Cells:
        """Return what is equal where the cells are, at the same place. On a plane without bounds
        that has grown meanwhile it is not."""
        manifest = self.life.universe.manifest
        return manifest.corner, manifest.tiling.width, manifest.tiling.height, manifest.digest_sums


def _search(way: _Way, condition: Condition) -> Found:
    name, seen = str(condition), dict[_Cells, int]()
    while True:
        if _holds(condition, way.life.population()):
            return Found(name, True, way.now, every=way.looks)
        first = seen.setdefault(way.cells(), way.now)
        if first < way.now:
            found = _repeating(way, first, condition)
            break
        if len(seen) > _MOST:
            del seen[next(iter(seen))]
        if way.is_over:
            return Found(name, False, way.now, every=way.looks)
        way.on()
    if way.last is not None and (found is None or found.never):
        way.to(way.last)
    found = found or Found(name, False, way.now, every=way.looks)
    return replace(found, generation=way.now)


def _holds(condition: Condition, population: int) -> bool:
    """Tell whether a condition is true of a number of live cells; False where it asks for more."""
    if isinstance(condition, Empty):
        return not population
    return isinstance(condition, Population) and condition.holds(population)


def _repeating(way: _Way, first: int, condition: Condition) -> Found | None:
    """Tell what a universe has become that is as it was in generation `first`; None where there
    are not generations enough left to know."""
    period = _least(way, way.now - first)
    if period is None:
        return None
    kind = "oscillator" if period > 1 else "still life"
    if period == 1 and not way.life.population():
        kind = "empty"
    never = isinstance(condition, Empty | Population) or (
        isinstance(condition, Repeats) and condition.period % period != 0
    )
    return Found(
        str(condition), not never, way.now, kind, period, (0, 0), first, Fraction(0), 0, True,
        never=never, every=way.looks,
    )  # fmt: skip


def _least(way: _Way, period: int) -> int | None:
    """Return the least period of a universe of which one is known; None where there are not
    generations enough left to know."""
    while True:
        start, cells = way.now, way.cells()
        for prime in reversed(primes_of(period)):
            if not way.to(start + period // prime):
                return None
            if way.cells() == cells:
                period //= prime
                break
        else:
            return period
