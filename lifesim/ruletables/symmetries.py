"""Neighbourhoods of tables, and the symmetries that a table may claim for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, prod

Order = tuple[int, ...]  # of neighbours: place i has what stood at place order[i]
Sets = tuple[int, ...]  # of states, a bit set for each neighbour


@dataclass(frozen=True, slots=True)
class TableNeighbours:
    """The cells that a table names, in its order.

    cells: rows down and columns right of each neighbour. mirror: their order as seen in the mirror.
    turns: by how many places each symmetry that turns moves them. reflecting: the symmetries by
    which the mirror image counts as well.
    """

    cells: tuple[tuple[int, int], ...]
    mirror: Order
    turns: dict[str, int]
    reflecting: tuple[str, ...]

    @property
    def symmetries(self) -> tuple[str, ...]:
        """Return the names of all symmetries that there are for it."""
        return ("none", *self.turns, *(set(self.reflecting) - set(self.turns)), "permute")

    def orders(self, symmetry: str) -> list[Order]:
        """Return the orders that a symmetry other than permute makes equal."""
        count = len(self.cells)
        step = self.turns.get(symmetry, count)
        turned = [
            tuple((i - shift) % count for i in range(count)) for shift in range(0, count, step)
        ]
        if symmetry in self.reflecting:
            turned += [tuple(order[i] for i in self.mirror) for order in turned]
        return turned


def _round(count: int) -> Order:
    """Return the mirrored order of neighbours that are listed clockwise from the top on."""
    return tuple(-i % count for i in range(count))


NEIGHBOURHOODS = {
    "vonNeumann": TableNeighbours(
        ((-1, 0), (0, 1), (1, 0), (0, -1)),
        _round(4),
        {"rotate4": 1, "rotate4reflect": 1},
        ("rotate4reflect", "reflect_horizontal"),
    ),
    "Moore": TableNeighbours(
        ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)),
        _round(8),
        {"rotate4": 2, "rotate8": 1, "rotate4reflect": 2, "rotate8reflect": 1},
        ("rotate4reflect", "rotate8reflect", "reflect_horizontal"),
    ),
    "hexagonal": TableNeighbours(
        ((-1, 0), (0, 1), (1, 1), (1, 0), (0, -1), (-1, -1)),
        _round(6),
        {"rotate2": 3, "rotate3": 2, "rotate6": 1, "rotate6reflect": 1},
        ("rotate6reflect",),
    ),
    "oneDimensional": TableNeighbours(((0, -1), (0, 1)), (1, 0), {}, ("reflect",)),
}


def permutations(sets: Sets) -> Iterator[Sets]:
    """Give all different orders of sets."""
    counts: dict[int, int] = {}
    for one in sets:
        counts[one] = counts.get(one, 0) + 1

    def rest(left: int) -> Iterator[Sets]:
        if not left:
            yield ()
            return
        for one in counts:
            if counts[one]:
                counts[one] -= 1
                for others in rest(left - 1):
                    yield (one, *others)
                counts[one] += 1

    return rest(len(sets))


def permutation_count(sets: Sets) -> int:
    """Return how many different orders of sets there are."""
    return factorial(len(sets)) // prod(factorial(sets.count(one)) for one in set(sets))
