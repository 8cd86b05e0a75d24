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

_DEEP = 1 << 10  # levels: all words together could take long to follow


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
        if len(self._starts) > _DEEP:
            return self._shown(self._identities(), 0)
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
        found = self._multiplied(x.ravel(), y.ravel())
        return (found - np.uint32(self._begin)).reshape(x.shape)

    def _identities(self) -> Numbers:
        """Of the H-classes that are groups: they are the idempotents.

        A class is a group if it has x x, for any x in it (Green, On the structure of semigroups,
        1951), and x to its order is the identity then. So only one word of each is followed.
        """
        h = self._green.h
        _, x, order = np.unique(h, return_index=True, return_counts=True)
        # Most words leave the R-class of x at once, and never come back.
        word = x > 0
        stays = np.ones(len(x), np.bool_)
        stays[word] = self._r[self._right[x[word], self._first[x[word]]]] == self._r[x[word]]
        x, order = x[stays], order[stays]
        group = h[self._multiplied(x, x)] == h[x]
        power, order = x[group], order[group]
        found = np.zeros(len(power), np.uint32)
        while order.any():
            odd = order % 2 == 1
            found[odd] = self._multiplied(found[odd], power[odd])
            order //= 2
            power = self._multiplied(power, power)
        return np.sort(found)[self._begin :]

    def _multiplied(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Numbers:
        return graphs.products(
            x,
            y,
            self._right,
            self._first,
            self._suffix,
            self._left,
            self._last,
            self._prefix,
            threads=self._threads,
        )

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
        if array.min() < 0:
            raise IndexError(f"there is no element {array.min()}: numbers are 0 or more")
        raise IndexError(f"there is no element {array.max()}: there are {size}, from 0")
    return array.astype(np.int64)
