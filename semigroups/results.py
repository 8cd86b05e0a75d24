"""What a finished enumeration tells beyond its elements: graphs, rules, products, classes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.transf import Numbers, graphs

from .classes import KINDS, GreenClasses, Kind
from .running import Runner
from .sequences import Rules, Words


class Results:
    """Arrays are fetched from a device when they are first needed, and kept.

    begin: the number, as engines count, of the first element.
    """

    def __init__(self, runner: Runner, begin: int, threads: int | None) -> None:
        self._runner, self._begin, self._threads = runner, begin, threads

    @cached_property
    def right_cayley(self) -> Numbers:
        return self._shown(self._right)

    @cached_property
    def left_cayley(self) -> Numbers:
        return self._shown(self._left)

    @cached_property
    def words(self) -> Words:
        return Words(self._starts, self._first, self._suffix, self._begin)

    @cached_property
    def rules(self) -> Rules:
        return Rules(self.words, *graphs.rules(self._right, self._suffix))

    @cached_property
    def idempotents(self) -> Numbers:
        found = graphs.idempotents(
            self._right,
            self._first,
            self._suffix,
            self._r,
            monoid=not self._begin,
            threads=self._threads,
        )
        return self._shown(found, 0)

    def green(self, kind: Kind) -> GreenClasses:
        if kind not in KINDS:
            raise ValueError(f"Green's relations are R, L, J, H and D, not {kind!r}")
        # In a finite semigroup D is J.
        of = self._r if kind == "R" else getattr(self._green, {"J": "d"}.get(kind, kind.lower()))
        # An element is regular if there is an idempotent in its R-class.
        r = self._shown(self._r)
        regular = graphs.regular(r, self.idempotents)[r]
        return GreenClasses(kind, self._shown(of), self.idempotents, regular)

    def products(self, i: npt.ArrayLike, j: npt.ArrayLike) -> npt.NDArray[np.uint32]:
        x, y = np.broadcast_arrays(self._numbers(i), self._numbers(j))
        found = graphs.products(
            x.ravel(),
            y.ravel(),
            self._right,
            self._first,
            self._suffix,
            self._left,
            self._last,
            self._prefix,
            threads=self._threads,
        )
        return (found - np.uint32(self._begin)).reshape(x.shape)

    def _numbers(self, numbers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        return known(numbers, len(self._first) - self._begin) + self._begin

    def _shown(self, array: Numbers, from_number: int | None = None) -> Numbers:
        """Read-only, without the empty word where that is no element."""
        result = array
        if self._begin:
            result = array[self._begin if from_number is None else from_number :] - np.uint32(1)
        result = result.view()
        result.setflags(write=False)
        return result

    @cached_property
    def _r(self) -> Numbers:
        return graphs.strong_components(self._right, self._threads)

    @cached_property
    def _green(self) -> graphs.Green:
        return graphs.green(self._right, self._left, self._threads)

    @cached_property
    def _starts(self) -> list[int]:
        with self._runner.lock:
            return list(self._runner.found().starts)

    @cached_property
    def _right(self) -> Numbers:
        return self._array("right")

    @cached_property
    def _left(self) -> Numbers:
        return self._array("left")

    @cached_property
    def _first(self) -> Numbers:
        return self._array("first")

    @cached_property
    def _suffix(self) -> Numbers:
        return self._array("suffix")

    @cached_property
    def _prefix(self) -> Numbers:
        return self._array("prefix")

    @cached_property
    def _last(self) -> Numbers:
        return self._array("last")

    def _array(self, name: str) -> npt.NDArray[Any]:
        with self._runner.lock:
            return self._runner.found().array(name)


def known(numbers: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
    """Numbers of elements, checked: whole ones from 0 to size - 1. Raises IndexError, TypeError."""
    array = np.asarray(numbers)
    if array.size == 0:
        return np.empty(array.shape, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"numbers of elements are integers, not {array.dtype}")
    if array.min() < 0 or array.max() >= size:
        wrong = int(array.min()) if array.min() < 0 else int(array.max())
        raise IndexError(f"there is no element {wrong}: there are {size}, from 0")
    return array.astype(np.int64)
