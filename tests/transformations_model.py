"""Compute by obvious code what engines that enumerate semigroups must find.

elements() are found by brute force; expected() is the reference engine's result, at() what
there is of it on the way to it, and deduced() that of Froidure and Pin's algorithm on hashes
alone, one product after the other: what engines that deduce must find even where hashes or
points do not tell elements apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from kernels.transformations import NONE, CayleyTables, EnumerationProblem, NumberArray, as_maps
from kernels.transformations.hashing import HashKey, row_stride
from kernels.transformations.ref import ReferenceSemigroupEngine
from tests.transformations_oracle import Enumeration, enumerate_maps

T = TypeVar("T")


def make_problem(generators: Any, points: Any = None, **options: Any) -> EnumerationProblem:
    maps = as_maps(generators)
    chosen = np.arange(maps.shape[1]) if points is None else np.asarray(points)
    return EnumerationProblem(maps, chosen.astype(np.uint32), **options)


def _remembered(function: Callable[..., T]) -> Callable[..., T]:
    """Engines are asked the same, one after the other."""
    known: dict[tuple[Any, ...], T] = {}

    @wraps(function)
    def remember(problem: EnumerationProblem, *options: Any) -> T:
        arrays = (problem.generators, problem.points)
        rest = (problem.monoid, problem.compare, problem.seed, problem.hash_bits)
        key = (*(a.tobytes() for a in arrays), *(a.shape for a in arrays), *rest, options)
        if len(known) > 500:
            known.clear()
        if key not in known:
            known[key] = function(replace(problem, memory=1 << 40), *options)
        return known[key]

    return remember


@_remembered
def elements(problem: EnumerationProblem) -> Enumeration:
    return enumerate_maps(problem.generators, problem.monoid)


@_remembered
def expected(problem: EnumerationProblem, most: int = 1 << 30) -> CayleyTables:
    """Return the tables when all is finished, or at least `most` numbers are expanded."""
    enumerator = ReferenceSemigroupEngine().start(problem)
    while not enumerator.finished and enumerator.expanded < most:
        enumerator.expand(most - enumerator.expanded)
    return _frozen(enumerator.tables())


def _frozen(tables: CayleyTables) -> CayleyTables:
    for name in CayleyTables.ARRAYS:
        getattr(tables, name).setflags(write=False)
    return tables


def at(final: CayleyTables, expanded: int) -> CayleyTables:
    """Return the tables as they were when so many numbers were expanded."""
    size = 1 + int((final.prefix[1:] < expanded).sum())
    levels = 2
    while levels < len(final.starts) and final.starts[levels - 1] <= expanded:
        levels += 1
    starts = final.starts[:levels]
    return CayleyTables(
        starts,
        *(getattr(final, name)[:size].copy() for name in ("first", "suffix", "prefix", "last")),
        final.right[:expanded].copy(),
        final.left[: size if expanded == size else starts[-2]].copy(),
        final.hashes[:size].copy(),
    )


def assert_equal_tables(found: CayleyTables, wanted: CayleyTables) -> None:
    assert found.starts == wanted.starts
    for name in CayleyTables.ARRAYS:
        array, other = getattr(found, name), getattr(wanted, name)
        assert array.dtype == other.dtype, name
        np.testing.assert_array_equal(array, other, err_msg=name)


@dataclass(frozen=True)
class Deduced:
    """tables: in the end. computed: products of maps. depth: of the longest chain of products
    of one level of which each is deduced from the next."""

    tables: CayleyTables
    computed: int
    depth: int


@_remembered
def deduced(problem: EnumerationProblem) -> Deduced:
    generators = problem.generators
    key = HashKey.make(
        row_stride(problem.width, generators.itemsize), problem.seed, problem.hash_bits
    )

    def hashed(row: Any) -> tuple[int, int]:
        low, high = key.hashes(row[None])[0].tolist()
        return low, high

    rows = [problem.points.astype(generators.dtype)]
    places = {hashed(rows[0]): 0} if problem.monoid else {}
    hashes = [hashed(rows[0])]
    first, suffix, prefix, last = [NONE], [NONE], [NONE], [NONE]
    right: list[list[int]] = []
    left: list[list[int]] = []
    starts, computed, depths = [0, 1], 0, {}
    while len(right) < len(rows):
        for u in range(len(right), starts[-1]):
            right.append([])
            f = first[u]
            for g, images in enumerate(generators):
                r = right[suffix[u]][g] if u else 0
                if u and (prefix[r], last[r]) != (suffix[u], g):
                    way = (left[prefix[r]][f], last[r]) if r else (0, f)
                    right[u].append(right[way[0]][way[1]])
                    depths[u, g] = 1 + depths.get(way, 0) if way[0] >= starts[-2] else 0
                    continue
                computed += 1
                row = images[rows[u]]
                place = places.setdefault(hashed(row), len(rows))
                right[u].append(place)
                if place == len(rows):
                    rows.append(row)
                    hashes.append(hashed(row))
                    for array, value in (
                        (first, f if u else g),
                        (suffix, r),
                        (prefix, u),
                        (last, g),
                    ):
                        array.append(value)
        for u in range(starts[-2], starts[-1]):
            left.append([right[q][last[u]] for q in left[prefix[u]]] if u else list(right[0]))
        if len(rows) > starts[-1]:
            starts.append(len(rows))

    def numbers(values: list[Any]) -> NumberArray:
        return np.array(values, np.uint32)

    tables = CayleyTables(
        starts,
        *(numbers(values) for values in (first, suffix, prefix, last, right, left)),
        np.array(hashes, np.uint64),
    )
    return Deduced(_frozen(tables), computed, max(depths.values(), default=0))
