"""Read Green's relations, idempotents, products, rules and words off finished tables.

Nothing here multiplies maps: all is read off the Cayley graphs. Numbers are those of
kernels.transformations.contract, so that 0 is the empty word also where it is no element. Nothing
leads to it then, so that it is a class of its own in every relation, the first.

Arrays are those of CayleyTables, C-contiguous. Work is spread over `threads`, by default all
cores.
Without the compiled extension numpy and plain Python do all of it, more slowly. Raises
ValueError where arrays contradict each other: nothing in them makes it crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.targets.cpu import core_count

from . import graphs_ref
from .contract import NumberArray

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

CayleyGraph = npt.NDArray[np.uint32]  # (count, m): where edge g of each leads
Classes = npt.NDArray[np.uint32]  # (count,), numbered by their first members


@dataclass(frozen=True, eq=False)
class GreenRelations:
    """Holds the class of each number in Green's relations.

    r: equal right ideals. l: equal left ideals. h: both. d: the least relation above r and l;
    that is J too, equal two-sided ideals, for the semigroup is finite.
    """

    r: Classes
    l: Classes  # noqa: E741
    h: Classes
    d: Classes


def green(right: CayleyGraph, left: CayleyGraph, threads: int | None = None) -> GreenRelations:
    """Compute Green's relations from both Cayley graphs of a whole semigroup."""
    r, l = _components([right, left], threads)  # noqa: E741
    return GreenRelations(r, l, meet(r, l), join(r, l))


def strong_components(graph: CayleyGraph, threads: int | None = None) -> Classes:
    """Return the strong component of each node: nodes that are reached from each other.

    They are Green's R of the right Cayley graph, L of the left one. Takes one word of memory more
    a number, and three for each on the way of a search, which may be all.
    """
    return _components([graph], threads)[0]


def join(a: Classes, b: Classes) -> Classes:
    """Return the least equivalence above two: D of R and L. All classes are below the count."""
    _check_shapes(a=(a, (len(a),)), b=(b, (len(a),)))
    joined: Classes = (graphs_ref.join if _cpu is None else _cpu.semigroup_join)(a, b)
    return joined


def meet(a: Classes, b: Classes) -> Classes:
    """Return the classes that two equivalences share: H of R and L.

    All classes are below the count.
    """
    _check_shapes(a=(a, (len(a),)), b=(b, (len(a),)))
    met: Classes = (graphs_ref.meet if _cpu is None else _cpu.semigroup_meet)(a, b)
    return met


def regular(classes: Classes, idempotents: NumberArray) -> npt.NDArray[np.bool_]:
    """Return which classes have an idempotent: bool (number of classes,).

    Those are the regular ones of R, L and D, and the groups among those of H.
    """
    result = np.zeros(int(classes.max()) + 1 if classes.size else 0, np.bool_)
    result[classes[idempotents]] = True
    return result


def idempotents(
    right: CayleyGraph,
    first: NumberArray,
    suffix: NumberArray,
    classes: Classes | None = None,
    monoid: bool = True,
    threads: int | None = None,
) -> NumberArray:
    """Return the numbers e with e e = e, ascending; the empty word too, if `monoid`.

    Follows the word of e in the right Cayley graph from e. classes: of R. With them a way that
    leaves the class of e is not followed further: it never comes back.
    """
    size, count = len(right), _threads(threads)
    _check_shapes(right=(right, (size, -1)), first=(first, (size,)), suffix=(suffix, (size,)))
    if classes is not None:
        _check_shapes(classes=(classes, (size,)))
    found: NumberArray
    if _cpu is None:
        found = graphs_ref.idempotents(right, first, suffix, classes)
    else:
        found = _cpu.semigroup_idempotents(right, first, suffix, classes, count)
    return found if monoid else found[1:]


def products(
    i: npt.ArrayLike,
    j: npt.ArrayLike,
    right: CayleyGraph,
    first: NumberArray,
    suffix: NumberArray,
    left: CayleyGraph | None = None,
    last: NumberArray | None = None,
    prefix: NumberArray | None = None,
    threads: int | None = None,
) -> NumberArray:
    """Return the number of i[k] j[k] for each k: uint32 (count,); i and j are broadcast.

    Follows the word of j in the right Cayley graph from i; or, where left, last and prefix are
    given and i is less, so that its word is no longer, that one in the left graph from j.
    Raises IndexError where i or j is no number. There are as many parameters as tables to follow.
    """
    size, count = len(right), _threads(threads)
    _check_shapes(right=(right, (size, -1)), first=(first, (size,)), suffix=(suffix, (size,)))
    x, y = np.broadcast_arrays(_numbers(i, size), _numbers(j, size))
    if left is None or last is None or prefix is None:
        parts = [(np.ones(len(x), np.bool_), x, y, (right, first, suffix))]
    else:
        _check_shapes(left=(left, right.shape), last=(last, (size,)), prefix=(prefix, (size,)))
        parts = [(x >= y, x, y, (right, first, suffix)), (x < y, y, x, (left, last, prefix))]
    result = np.empty(len(x), np.uint32)
    for which, start, word, tables in parts:
        if _cpu is None:
            result[which] = graphs_ref.traced(start[which], word[which], *tables)
        else:
            result[which] = _cpu.semigroup_traced(start[which], word[which], *tables, count)
    return result


def rules(right: CayleyGraph, suffix: NumberArray) -> tuple[NumberArray, NumberArray, NumberArray]:
    """Return (u, g, r), uint32 each: word u times generator g equals word r, in order of u g.

    Froidure and Pin (Algorithms for computing finite semigroups, 1997): left sides are the
    words that are not least though all their proper factors are. The rules are a presentation,
    and complete for rewriting. While an enumeration is under way they are those of the numbers
    that right has.
    """
    _check_shapes(right=(right, (len(right), -1)), suffix=(suffix, (-1,)))
    if len(suffix) < len(right):
        raise ValueError(f"right has products of {len(right)} numbers, of {len(suffix)}")
    found = graphs_ref.rules if _cpu is None else _cpu.semigroup_rules
    u, g, r = found(right, suffix)
    return u, g, r


def words(
    numbers: npt.ArrayLike,
    starts: Sequence[int],
    first: NumberArray,
    suffix: NumberArray,
    threads: int | None = None,
) -> tuple[NumberArray, npt.NDArray[np.int64]]:
    """Return (letters, offsets): numbers[k] has the word letters[offsets[k] : offsets[k + 1]].

    starts: as in CayleyTables. Raises IndexError for what is no number.
    """
    size, count = len(first), _threads(threads)
    _check_shapes(first=(first, (size,)), suffix=(suffix, (size,)))
    chosen = _numbers(numbers, size)
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(_lengths(chosen, starts), out=offsets[1:])
    if _cpu is None:
        return graphs_ref.letters(chosen, offsets, first, suffix), offsets
    return _cpu.semigroup_letters(chosen, offsets, first, suffix, count), offsets


def _components(graphs: list[CayleyGraph], threads: int | None) -> list[Classes]:
    count = _threads(threads)
    for graph in graphs:
        _check_shapes(graph=(graph, (len(graph), -1)))
    if _cpu is None:
        return [graphs_ref.strong_components(graph) for graph in graphs]
    found: list[Classes] = _cpu.semigroup_components(graphs, count)
    return found


def _threads(threads: int | None) -> int:
    count = core_count() if threads is None else threads
    if count < 1:
        raise ValueError("at least one thread must work")
    return count


def _lengths(numbers: NumberArray, starts: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the lengths of the words of numbers."""
    return np.searchsorted(np.array(starts[1:], np.uint32), numbers, side="right")


def _numbers(values: npt.ArrayLike, size: int) -> NumberArray:
    """Return numbers as uint32 (count,), checked to be below size."""
    array = np.atleast_1d(np.asarray(values))
    if array.size == 0:
        return np.empty(0, np.uint32)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise TypeError("numbers must be integers, one or a row of them")
    if array.min() < 0 or array.max() >= size:
        raise IndexError(f"there are {size} numbers, from 0")
    return array.astype(np.uint32, copy=False)


def _check_shapes(**arrays: tuple[npt.NDArray[np.uint32], tuple[int, ...]]) -> None:
    """Raise ValueError for an array of another shape or dtype; -1 is any length."""
    for name, (array, shape) in arrays.items():
        fits = array.dtype == np.uint32 and array.ndim == len(shape)
        if not fits or any(a != b != -1 for a, b in zip(array.shape, shape, strict=True)):
            raise ValueError(f"{name} is {array.dtype} {array.shape}, not uint32 {shape}")
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} is not C-contiguous")
