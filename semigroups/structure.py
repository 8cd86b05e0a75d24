"""Read the structure of a semigroup: Cayley graphs, rules, products, Green's relations."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.transformations import NumberArray, graphs

from .classes import KINDS, GreenClasses, GreenKind
from .enumeration import Enumeration, checked_numbers
from .sequences import RewritingRules, Words

_DEEP = 1 << 10  # levels: all words together could take long to follow


class Structure:
    """Reads the structure off the tables of an enumeration, which has to be finished.

    Arrays come from a device, or a file, when they are first needed, and are kept. They are
    read-only, and count elements from 0. threads: of the CPU, all cores by default.
    """

    def __init__(self, enumeration: Enumeration, threads: int | None) -> None:
        self._enumeration, self.threads = enumeration, threads
        self._begin = enumeration.begin

    @cached_property
    def right_cayley(self) -> NumberArray:
        """Right Cayley graph, uint32 (size, m): element i times generator g is element [i, g]."""
        return self._shown(self._right)

    @cached_property
    def left_cayley(self) -> NumberArray:
        """Left Cayley graph, uint32 (size, m): generator g times element i is element [i, g]."""
        return self._shown(self._left)

    @cached_property
    def words(self) -> Words:
        """Least word of each element."""
        return Words(self._starts, self._first, self._suffix, self._begin)

    @cached_property
    def rules(self) -> RewritingRules:
        """Presentation that is complete for rewriting, see kernels.transformations.graphs."""
        return RewritingRules(self.words, *graphs.rules(self._right, self._suffix))

    @cached_property
    def idempotents(self) -> NumberArray:
        """Numbers of the elements e with e e = e, ascending."""
        if len(self._starts) > _DEEP:
            return self._shown(self._identities(), 0)
        found = graphs.idempotents(
            self._right,
            self._first,
            self._suffix,
            self._r,
            monoid=not self._begin,
            threads=self.threads,
        )
        return self._shown(found, 0)

    def green(self, kind: GreenKind) -> GreenClasses:
        """Return the classes of one of Green's relations. Raises ValueError for another kind."""
        if kind not in KINDS:
            raise ValueError(f"Green's relations are R, L, J, H and D, not {kind!r}")
        # In a finite semigroup D is J.
        of = self._r if kind == "R" else getattr(self._green, {"J": "d"}.get(kind, kind.lower()))
        # An element is regular if there is an idempotent in its R-class.
        r = self._shown(self._r)
        regular = graphs.regular(r, self.idempotents)[r]
        return GreenClasses(kind, self._shown(of), self.idempotents, regular)

    def products(self, i: npt.ArrayLike, j: npt.ArrayLike) -> npt.NDArray[np.uint32]:
        """Return the numbers of the products of elements i and j, broadcast to each other."""
        x, y = np.broadcast_arrays(self._numbers(i), self._numbers(j))
        found = self._multiplied(x.ravel(), y.ravel())
        return (found - np.uint32(self._begin)).reshape(x.shape)

    def _identities(self) -> NumberArray:
        """Return the identities of the H-classes that are groups: they are the idempotents.

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

    def _multiplied(self, x: npt.ArrayLike, y: npt.ArrayLike) -> NumberArray:
        return graphs.products(
            x,
            y,
            self._right,
            self._first,
            self._suffix,
            self._left,
            self._last,
            self._prefix,
            threads=self.threads,
        )

    def _numbers(self, numbers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        return checked_numbers(numbers, len(self._first) - self._begin) + self._begin

    def _shown(self, array: NumberArray, from_number: int | None = None) -> NumberArray:
        """Return an array read-only, without the empty word where that is no element."""
        result = array
        if self._begin:
            result = array[self._begin if from_number is None else from_number :] - np.uint32(1)
        result = result.view()
        result.setflags(write=False)
        return result

    @cached_property
    def _r(self) -> NumberArray:
        return graphs.strong_components(self._right, self.threads)

    @cached_property
    def _green(self) -> graphs.GreenRelations:
        return graphs.green(self._right, self._left, self.threads)

    @cached_property
    def _starts(self) -> list[int]:
        runner = self._enumeration.runner
        with runner.lock:
            return list(runner.found().starts)

    @cached_property
    def _right(self) -> NumberArray:
        return self._array("right")

    @cached_property
    def _left(self) -> NumberArray:
        return self._array("left")

    @cached_property
    def _first(self) -> NumberArray:
        return self._array("first")

    @cached_property
    def _suffix(self) -> NumberArray:
        return self._array("suffix")

    @cached_property
    def _prefix(self) -> NumberArray:
        return self._array("prefix")

    @cached_property
    def _last(self) -> NumberArray:
        return self._array("last")

    def _array(self, name: str) -> npt.NDArray[Any]:
        runner = self._enumeration.runner
        with runner.lock:
            return runner.found().array(name)
