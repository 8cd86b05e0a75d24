"""Count the elements of many small semigroups in one call."""

from __future__ import annotations

import operator

import numpy as np
import numpy.typing as npt

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from kernels.transformations import Maps
from kernels.transformations.counts import (
    MOST_ELEMENTS,
    MOST_LETTERS,
    MOST_POINTS,
    SemigroupCounts,
    count_many,
)

from .options import check_options

_BACKENDS = ("auto", "cpu", "reference")


def count_batch(
    sets: npt.ArrayLike,
    *,
    monoid: bool = True,
    limit: int = 10_000,
    backend: str = "auto",
    threads: int | None = None,
) -> SemigroupCounts:
    """Return how many elements the semigroups of many sets of generators have, and of what kind.

    sets: integers (semigroups, generators, degree), images counting from 0, of 1 to 256 points. A
        set of fewer generators than others repeats one of them, which changes nothing.
    monoid: whether the identity is an element even if it is no product of generators.
    limit: elements, up to 2^20 - 1. All counts of a semigroup of more of them are -1.
    backend: "auto" or "cpu", a semigroup at a time on each thread, or "reference", which is
        slow and what "auto" stands for where the CPU's kernels are not compiled.
    threads: of the CPU, all cores by default.

    Elements are told apart by comparing maps, so that counts are certain; they are those of
    Semigroup(). Takes from half a microsecond for each, where Semigroup() takes ten. A GPU is not
    used.

    Raises ValueError for what are no such maps and for wrong options, BackendUnavailableError
    where the backend cannot run, MemoryError. Ctrl-C ends it, without counts.

    >>> import numpy as np
    >>> from semigroups import count_batch
    >>> pairs = np.array([[[1, 0, 2], [0, 0, 2]], [[1, 2, 0], [1, 0, 2]], [[0, 0, 0], [1, 1, 1]]])
    >>> counts = count_batch(pairs)
    >>> counts.sizes, counts.idempotents, counts.longest
    (array([4, 6, 3], dtype=int32), array([3, 1, 3], dtype=int32), array([2, 2, 1], dtype=int32))
    """
    if backend not in _BACKENDS:
        raise ValueError(f"backend is one of {', '.join(_BACKENDS)}, not {backend!r}")
    check_options(backend, None, threads=threads)
    if limit != operator.index(limit) or not 1 <= limit <= MOST_ELEMENTS:
        raise ValueError(f"limit is a number of elements, 1 to {MOST_ELEMENTS:,}, not {limit}")
    maps = _sets_of(sets)
    try:
        target = pick("cpu" if backend == "auto" else backend, threads=threads)
    except BackendUnavailableError:
        if backend != "auto":
            raise
        target = pick("reference")
    return count_many(target, maps, bool(monoid), limit)


def _sets_of(sets: npt.ArrayLike) -> Maps:
    """Return sets of generators as uint8, contiguous. Raises ValueError."""
    images = np.asarray(sets)
    if images.ndim != 3 or images.dtype.kind not in "iu":
        raise ValueError(
            "sets of generators are integers (semigroups, generators, degree), not "
            f"{images.dtype} {images.shape}"
        )
    _, letters, degree = images.shape
    if not 1 <= degree <= MOST_POINTS or not 1 <= letters <= MOST_LETTERS:
        raise ValueError(
            f"{letters} generators of {degree} points: batches are of 1 to {MOST_LETTERS:,} "
            f"generators, of 1 to {MOST_POINTS} points"
        )
    if images.size and (images.min() < 0 or images.max() >= degree):
        outside = (images < 0) | (images >= degree)
        n, g, p = np.unravel_index(int(outside.argmax()), images.shape)
        raise ValueError(
            f"set {n}, generator {g} sends {p} to {images[n, g, p]}: no map of the points 0 to "
            f"{degree - 1}"
        )
    return np.ascontiguousarray(images, np.uint8)
