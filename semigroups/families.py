"""Generators of semigroups that are known well.

    bihecke:n           of the biHecke monoid of S_n, degree n!: exchange two neighbours of a
                        permutation where they are in order, or where they are not
    zero_hecke:n        of the 0-Hecke monoid of S_n, degree n!: only where they are in order
    zero_rook:n         of the 0-rook monoid, degree 1, 2, 7, 34, …: likewise with rook vectors,
                        and the first letter becomes 0
    full:n              of all n^n maps of n points
    symmetric:n         of all n! permutations of n points
    order_preserving:n  of the maps of a chain with x <= y => f(x) <= f(y)
    regressive:n        of the maps of a chain with f(x) <= x
    catalan:n           of those with both properties

bihecke:n and zero_rook:n are what Vanzo measured (High performances combinatorics using GPUs,
2018) as Bihecke n and Renner A n. The points of the first three are words, numbered in
lexicographic order. The identity is a product of generators in full:n and symmetric:n only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial, perm

import numpy as np
import numpy.typing as npt

from kernels.transformations import MAX_DEGREE, Map, Maps, as_maps, image_dtype


def bihecke(n: int) -> Maps:
    """Return pi_1 … pi_(n-1), then the opposite ones: (2 (n - 1), n!). n from 2.

    pi_i exchanges w_i and w_(i+1) if w_i < w_(i+1), the opposite one if w_i > w_(i+1).
    """
    words = _SpelledWords(_checked("bihecke", n), zero=False)
    return np.stack([words.sorted_at(i, down) for down in (True, False) for i in range(n - 1)])


def zero_hecke(n: int) -> Maps:
    """Return pi_1 … pi_(n-1) of bihecke(n): (n - 1, n!). n from 2."""
    words = _SpelledWords(_checked("zero_hecke", n), zero=False)
    return np.stack([words.sorted_at(i, True) for i in range(n - 1)])


def zero_rook(n: int) -> Maps:
    """Return pi_0, which puts 0 for r_1, and pi_1 … pi_(n-1): (n, rook vectors). n from 1.

    A rook vector has letters 0 … n, each but 0 at most once.
    """
    words = _SpelledWords(_checked("zero_rook", n), zero=True)
    return np.stack([words.cleared_first(), *(words.sorted_at(i, True) for i in range(n - 1))])


def full(n: int) -> Maps:
    """Return a cycle, a transposition and a map that joins two points, less what n < 3 repeats."""
    points = np.arange(_checked("full", n))
    joined = points.copy()
    joined[-1] = 0
    return as_maps([*symmetric(n), joined] if n > 1 else [points])


def symmetric(n: int) -> Maps:
    """Return a cycle and a transposition, less what n < 3 repeats."""
    points = np.arange(_checked("symmetric", n))
    swapped = points.copy()
    swapped[:2] = swapped[:2][::-1]
    return as_maps([np.roll(points, -1), swapped] if n > 2 else [swapped])


def order_preserving(n: int) -> Maps:
    """Return (2 (n - 1), n): p goes to p + 1, for each p, then p + 1 to p. n from 2."""
    count = _checked("order_preserving", n) - 1
    up = [(p, p + 1) for p in range(count)]
    return _moves(n, up + [(p + 1, p) for p in range(count)])


def regressive(n: int) -> Maps:
    """Return (n (n - 1) / 2, n): p goes to q, for each p > q. n from 2."""
    return _moves(n, [(p, q) for p in range(_checked("regressive", n)) for q in range(p)])


def catalan(n: int) -> Maps:
    """Return (n - 1, n): p + 1 goes to p, for each p. n from 2."""
    return _moves(n, [(p + 1, p) for p in range(_checked("catalan", n) - 1)])


@dataclass(frozen=True, slots=True)
class Family:
    """Names a family and its n; the generators are only made when asked for.

    degree, count: the degree of the generators and how many there are. Raises ValueError where
    there is no such family, no such n, or a degree beyond 2^32.
    """

    name: str
    n: int

    def __post_init__(self) -> None:
        _checked(self.name, self.n)

    @classmethod
    def parse(cls, text: str) -> Family:
        """Return the family of a name and n, as bihecke:5.

        Other usual names are biHecke:5, 0-rook:4, Renner A:4, T:3, S:5.

        Case, spaces, - and _ make no difference. Raises ValueError.
        """
        name, colon, number = text.partition(":")
        spelled = re.sub(r"[\s_-]", "", name).lower()
        family = _SPELLED.get(spelled)
        if family is None:
            raise ValueError(
                f"unknown family {_shown(name)}: there are {', '.join(_FAMILIES)}, "
                "each with its n, as in bihecke:5"
            )
        if not colon:
            raise ValueError(f"{family} of which n? Write it as {family}:4")
        if re.fullmatch(r"\s*[0-9]{1,18}\s*", number, re.ASCII) is None:
            raise ValueError(f"{_shown(number)} is no n of {family}: write it as {family}:4")
        return cls(family, int(number))

    def __str__(self) -> str:
        return f"{self.name}:{self.n}"

    @property
    def degree(self) -> int:
        """Number of points of its maps."""
        return _FAMILIES[self.name].degree(self.n)

    @property
    def count(self) -> int:
        """Number of its generators."""
        return _FAMILIES[self.name].count(self.n)

    @property
    def nbytes(self) -> int:
        """Return the bytes that the generators take.

        Making them takes a few times 8 bytes a point besides.
        """
        return self.count * self.degree * image_dtype(self.degree).itemsize

    def generators(self) -> Maps:
        """Make the generators: uint8, uint16 or uint32, (count, degree), images from 0."""
        return _FAMILIES[self.name].make(self.n)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Makes the generators of a family for any n.

    least, most: of n; beyond them there are no generators, or more than 2^32 points.
    """

    make: Callable[[int], Maps]
    least: int
    most: int
    degree: Callable[[int], int]
    count: Callable[[int], int]
    other_names: tuple[str, ...] = ()


def _rook_vectors(n: int) -> int:
    return sum(comb(n, k) * perm(n, k) for k in range(n + 1))


def _itself(n: int) -> int:
    return n


_FAMILIES = {
    "bihecke": _Kind(bihecke, 2, 12, factorial, lambda n: 2 * n - 2),
    "zero_hecke": _Kind(zero_hecke, 2, 12, factorial, lambda n: n - 1, ("0hecke",)),
    "zero_rook": _Kind(zero_rook, 1, 11, _rook_vectors, _itself, ("0rook", "rennera")),
    "full": _Kind(full, 1, MAX_DEGREE, _itself, lambda n: min(n, 3), ("fulltransformation", "t")),
    "symmetric": _Kind(
        symmetric, 1, MAX_DEGREE, _itself, lambda n: 1 if n < 3 else 2, ("sym", "s")
    ),
    "order_preserving": _Kind(order_preserving, 2, MAX_DEGREE, _itself, lambda n: 2 * n - 2),
    "regressive": _Kind(regressive, 2, MAX_DEGREE, _itself, lambda n: n * (n - 1) // 2),
    "catalan": _Kind(catalan, 2, MAX_DEGREE, _itself, lambda n: n - 1),
}
_SPELLED = {
    spelled: name
    for name, kind in _FAMILIES.items()
    for spelled in (name.replace("_", ""), *kind.other_names)
}
FAMILIES = tuple(_FAMILIES)


def _checked(name: str, n: int) -> int:
    kind = _FAMILIES.get(name)
    if kind is None:
        raise ValueError(f"unknown family {_shown(name)}: there are {', '.join(_FAMILIES)}")
    if n < kind.least:
        raise ValueError(f"{name}:{n}: n is {kind.least} or more")
    if n > kind.most:
        raise ValueError(f"{name}:{n}: n is {kind.most} or less, for a degree of at most 2^32")
    return n


def _moves(n: int, moves: list[tuple[int, int]]) -> Maps:
    """Return for each (p, q) the map that sends p to q and leaves all else."""
    result: Maps = np.tile(np.arange(n, dtype=image_dtype(n)), (len(moves), 1))
    for images, (p, q) in zip(result, moves, strict=True):
        images[p] = q
    return result


class _SpelledWords:
    """Lists the words of n distinct letters 1 … n, with zero also of letters 0, which may repeat.

    codes: the words as numbers in base n + 1, ascending, which is the lexicographic order.
    """

    def __init__(self, n: int, zero: bool) -> None:
        self.n = n
        letters = np.arange(0 if zero else 1, n + 1)
        bits = np.where(letters > 0, 1 << letters, 0)
        self.codes, used = np.zeros(1, np.int64), np.zeros(1, np.int64)
        for _ in range(n):
            fits = (used[:, None] & bits) == 0
            self.codes = (self.codes[:, None] * (n + 1) + letters)[fits]
            used = (used[:, None] | bits)[fits]

    def sorted_at(self, i: int, down: bool) -> Map:
        """Return the map that exchanges letters i and i + 1 where that makes them descend.

        Letters count from 0; without `down` they are exchanged where they then ascend.
        """
        left, right = self._weight(i), self._weight(i + 1)
        a, b = self._letter(i), self._letter(i + 1)
        exchanged = (a < b) if down else (a > b)
        return self._places(self.codes + np.where(exchanged, (b - a) * (left - right), 0))

    def cleared_first(self) -> Map:
        """Return the map that makes the first letter 0."""
        return self._places(self.codes % self._weight(0))

    def _weight(self, i: int) -> int:
        weight: int = (self.n + 1) ** (self.n - 1 - i)
        return weight

    def _letter(self, i: int) -> npt.NDArray[np.int64]:
        return self.codes // self._weight(i) % (self.n + 1)

    def _places(self, codes: npt.NDArray[np.int64]) -> Map:
        return np.searchsorted(self.codes, codes).astype(image_dtype(len(self.codes)))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
