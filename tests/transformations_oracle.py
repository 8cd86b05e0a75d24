"""Enumerate a semigroup of maps by obvious code: every other enumeration must equal it.

Every product is computed and looked up among the maps found so far, level by level. Words are
tuples of numbers of generators; shortlex order is by length, then by letters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from kernels.transformations import Map, Maps, as_maps

Word = tuple[int, ...]
Graph = npt.NDArray[np.uint32]  # (elements, generators)
Relation = npt.NDArray[np.bool_]  # (elements, elements)
Green = Literal["R", "L", "J", "H", "D"]


@dataclass(frozen=True, eq=False)
class Enumeration:
    """Holds all elements of a semigroup, in shortlex order of their words.

    generators: (m, degree). monoid: whether the identity counts, even if no product of
        generators equals it; its word is the empty one.
    elements: (size, degree), of the generators' dtype. words: the least of each.
    levels: how many elements have words of length 0, 1, …; without the identity the first of
        these is 0.
    right: element i times generator g is element right[i, g]; left: g times i is left[i, g].
    """

    generators: Maps
    monoid: bool
    elements: Maps
    words: list[Word]
    levels: list[int]
    right: Graph
    left: Graph
    _places: dict[bytes, int]

    def __len__(self) -> int:
        return len(self.words)

    def position(self, x: npt.ArrayLike) -> int | None:
        """Return the number of an element, None of what is none."""
        images = np.asarray(x).astype(self.elements.dtype)
        return self._places.get(images.tobytes()) if np.array_equal(images, x) else None

    def product(self, i: int, j: int) -> int:
        return self._places[self.elements[j][self.elements[i]].tobytes()]

    @cached_property
    def rules(self) -> list[tuple[Word, Word]]:
        """(word, lesser word of the same element), a presentation and complete for rewriting.

        Left sides, in shortlex order, are the words that are not least, though all of their
        proper factors are (Froidure and Pin 1997): those whose prefix and suffix are.
        """
        letters = [self._places[images.tobytes()] for images in self.generators]
        least = {(): -1} | {word: i for i, word in enumerate(self.words)}
        found = []
        for prefix, i in least.items():
            for g, letter in enumerate(letters):
                word = (*prefix, g)
                if word not in least and word[1:] in least:
                    same = int(self.right[i, g]) if prefix else letter
                    found.append((word, self.words[same]))
        return found

    @cached_property
    def idempotents(self) -> list[int]:
        return [i for i, x in enumerate(self.elements) if np.array_equal(x[x], x)]

    def green(self, kind: Green) -> npt.NDArray[np.uint32]:
        """Return the class of each element; classes are numbered by their first elements.

        x R y if both generate the same right ideal, x L y the same left ideal, x J y the same
        two-sided ideal; H is R and L, D is R then L. Takes size^2 bytes a few times.
        """
        if kind == "R":
            return _numbered(_same_ideal(self.right))
        if kind == "L":
            return _numbered(_same_ideal(self.left))
        if kind == "J":
            return _numbered(_same_ideal(np.hstack((self.right, self.left))))
        same_r, same_l = _same_ideal(self.right), _same_ideal(self.left)
        if kind == "H":
            return _numbered(same_r & same_l)
        if kind == "D":
            return _numbered(same_r @ same_l)
        raise ValueError(f"Green's relations are R, L, J, H and D, not {kind!r}")


def enumerate_maps(generators: Iterable[npt.ArrayLike], monoid: bool = True) -> Enumeration:
    """Find all products of generators, one or more of them, and with `monoid` also the identity.

    Raises ValueError, see as_maps().
    """
    maps = as_maps(generators)
    identity = np.arange(maps.shape[1], dtype=maps.dtype)
    places: dict[bytes, int] = {}
    rows: list[Map] = []
    words: list[Word] = []

    def is_new(word: Word, x: Map) -> bool:
        if x.tobytes() in places:
            return False
        places[x.tobytes()] = len(words)
        rows.append(x)
        words.append(word)
        return True

    level: list[tuple[Word, Map]] = [((), identity)]
    levels = [int(monoid and is_new((), identity))]
    while level:
        candidates = [((*word, g), y[x]) for word, x in level for g, y in enumerate(maps)]
        level = [(word, x) for word, x in candidates if is_new(word, x)]
        levels.append(len(level))
    del levels[-1]

    right = [[places[y[x].tobytes()] for y in maps] for x in rows]
    left = [[places[x[y].tobytes()] for y in maps] for x in rows]
    return Enumeration(
        maps,
        monoid,
        np.stack(rows),
        words,
        levels,
        np.array(right, np.uint32),
        np.array(left, np.uint32),
        places,
    )


def _same_ideal(graph: Graph) -> Relation:
    """Return whether i and j are reached from each other along a graph's edges."""
    reached = np.eye(len(graph), dtype=np.bool_)
    while True:
        grown = reached.copy()
        for targets in graph.T:
            grown |= reached[targets]
        if np.array_equal(grown, reached):
            return reached & reached.T
        reached = grown


def _numbered(relation: Relation) -> npt.NDArray[np.uint32]:
    """Return the class of each element, from an equivalence relation."""
    first = relation.argmax(axis=1)
    numbers: npt.NDArray[np.uint32] = np.unique(first, return_inverse=True)[1].astype(np.uint32)
    return numbers
