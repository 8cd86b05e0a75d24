"""Fit costs to times that were measured: a model that is linear in them says what each weighs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Costs = TypeVar("Costs")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Timed(Generic[Costs]):
    """A piece of work that was timed. model: what it should cost, by the costs."""

    seconds: float
    model: Callable[[Costs], float]


@dataclass(frozen=True)
class Found:
    """Costs as they were found here.

    file, name: where the source has them. costs: with those that were measured in place of the
    source's. measured: the names of these. error: how far off the model is, the median over what
    was timed; None where no model was fitted.
    """

    file: str
    name: str
    source: Any
    costs: Any
    measured: frozenset[str]
    error: float | None = None


def found(file: str, name: str, source: Any, error: float | None = None, /, **values: Any) -> Found:
    """Return what was found of a source's costs, by the names of fields."""
    return Found(file, name, source, replace(source, **values), frozenset(values), error)


def best(
    work: Callable[[], object], seconds: float, finish: Callable[[], object] | None = None
) -> float:
    """Return the seconds of a call: the least of runs of several calls that take so long in all.

    finish: waits for what calls have only queued.
    """

    def run(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            work()
        if finish is not None:
            finish()
        return (time.perf_counter() - start) / calls

    run(1)  # compiles, fills caches
    least = run(1)
    calls = max(1, int(seconds / 8 / max(least, 1e-9)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        least = min(least, run(calls))
    return least


def nonnegative(weights: Floats, seconds: Floats) -> Floats:
    """Return costs, none below zero, with which weights @ costs is nearest to the seconds.

    Relative errors count. What comes out negative is zero, and the rest is fitted again.
    """
    scaled = weights / seconds[:, None]
    kept = np.flatnonzero(scaled.any(axis=0))
    result = np.zeros(weights.shape[1])
    while kept.size:
        size = np.linalg.norm(scaled[:, kept], axis=0)
        some = np.linalg.lstsq(scaled[:, kept] / size, np.ones(len(seconds)), rcond=None)[0] / size
        if (some >= 0).all():
            result[kept] = some
            break
        kept = np.delete(kept, int((some * size).argmin()))
    return result


def weights(cases: Sequence[Timed[Costs]], source: Costs, names: Sequence[str]) -> Floats:
    """Return what a unit of each cost adds in each case, (cases, 1 + names).

    The first column is what the models say where all of these costs are zero.
    """
    nothing = with_values(source, dict.fromkeys(names, 0.0))
    columns = [[case.model(nothing) for case in cases]]
    for name in names:
        one = with_values(nothing, {name: 1.0})
        columns.append(
            [case.model(one) - base for case, base in zip(cases, columns[0], strict=True)]
        )
    return np.array(columns, np.float64).T


def with_values(costs: Costs, values: Mapping[str, float]) -> Costs:
    """Return costs with other values. Of a pair only the first is set, the second is zero."""
    pairs = {field.name for field in fields(costs) if isinstance(getattr(costs, field.name), tuple)}  # type: ignore[arg-type]
    made = {name: (value, 0.0) if name in pairs else value for name, value in values.items()}
    return replace(costs, **made)  # type: ignore[type-var]


def fit(cases: Sequence[Timed[Costs]], source: Costs, names: Sequence[str]) -> tuple[Costs, float]:
    """Return costs with which the models say what was measured, and their error.

    The models must be linear in these costs, and without them say the seconds themselves.
    """
    matrix = weights(cases, source, names)
    seconds = np.array([case.seconds for case in cases])
    rest = np.maximum(seconds - matrix[:, 0], 1e-3 * seconds)
    values = nonnegative(matrix[:, 1:], rest)
    costs = with_values(source, dict(zip(names, values.tolist(), strict=True)))
    return costs, error(cases, costs)


def error(cases: Sequence[Timed[Costs]], costs: Costs) -> float:
    """Return how far off the models are: the median of what they miss, as a part of it."""
    return float(np.median([abs(case.model(costs) / case.seconds - 1) for case in cases]))


def unit_of(cases: Sequence[Timed[Costs]], costs: Costs) -> float:
    """Return the seconds of the unit that models count in, if these costs are right."""
    return float(np.median([case.seconds / case.model(costs) for case in cases]))


def crossing(sizes: Sequence[int], one: Sequence[float], other: Sequence[float]) -> int:
    """Return the least of the sizes from which on the other way is quicker up to the end; twice the
    last where it never is."""
    quicker = [b < a for a, b in zip(one, other, strict=True)]
    first = len(quicker)
    while first and quicker[first - 1]:
        first -= 1
    return sizes[first] if first < len(sizes) else 2 * sizes[-1]
