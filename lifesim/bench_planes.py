"""Measure patterns on planes without bounds, in tiles and by HashLife, beside bgolly."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache, partial

from bulkbits.comparison import Row
from bulkbits.timing import TimedRunner, compete
from kernels.targets.contract import Target
from lifesim import patterns
from lifesim.engine import Life
from lifesim.golly import Golly, GollyError
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.soup import random_grid

_ACORN = b"x = 7, y = 3\nbo$3bo$2o2b3o!\n"
_GUN = (
    b"x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$"
    b"10bo5bo7bo$11bo3bo$12b2o!\n"
)


@dataclass(frozen=True, slots=True)
class PlaneCase:
    """A pattern that is run: its name, the engine, generations, and Golly's algorithm for it; ""
    where that takes too long.

    side: of the random square that it is, density 3/8, instead of `rle`.
    """

    name: str
    engine: str
    generations: int
    algorithm: str
    rle: bytes = b""
    side: int = 0


CASES = (
    PlaneCase("acorn", "tiles", 5206, "QuickLife", _ACORN),
    PlaneCase("soup-1000", "tiles", 1000, "", side=4000),
    PlaneCase("gosper-gun", "hashlife", 100_000, "HashLife", _GUN),
)


def cases_for(target: Target) -> list[PlaneCase]:
    """Return the cases that a target runs: tiles run on one device, HashLife on the CPU."""
    if target.is_reference or len(target.devices) > 1:
        return []
    on_gpu = bool(target.devices)
    return [case for case in CASES if not (on_gpu and case.engine == "hashlife")]


@cache
def _grid(case: PlaneCase) -> BitGrid:
    if case.side:
        return random_grid(case.side, case.side, 0.375, 1)
    return patterns.read(io.BytesIO(case.rle), name="pattern.rle").grid


def measure_plane(
    case: PlaneCase, target: Target, seconds: float, golly: Golly | None = None
) -> Row:
    """Measure a case for about `seconds`, by turns with Golly. Raises GollyError where its
    population is another."""
    grid, populations = _grid(case), set()
    make = partial(Life, grid, topology="unbounded", bounds=(0, 0), backend=target)

    def step(count: int) -> float:
        total = 0.0
        for _ in range(count):
            life = make(engine=case.engine)
            life.run(case.generations)
            total += life.seconds
        populations.add(life.population())
        return total

    runners = [TimedRunner(case.generations, step)]
    golly = golly if case.algorithm else None
    if golly:
        work = float(case.generations)
        runners.append(golly.runner(Pattern(grid), case.algorithm, case.generations, work))
    ours, *theirs = compete(runners, seconds, rounds=5)
    if golly and populations != {golly.population}:
        raise GollyError(f"bgolly finds {golly.population} cells of {case.name}, not {populations}")
    return Row(
        f"{case.name}, {case.engine}",
        f"{case.generations:,} generations",
        "generations",
        ours,
        {"bgolly": theirs[0]} if theirs else {},
        details={"population": populations.pop()},
    )
