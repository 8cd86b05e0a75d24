"""The egg boxes of a semigroup: its D-classes as tables, and a picture of them in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many

from .classes import GreenClasses, GreenKind
from .structure import Structure

Groups = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class EggBox:
    """One D-class: its rows are R-classes, its columns L-classes; they cross in H-classes.

    number: of the D-class. groups: bool (rows, columns), read-only, which of its H-classes have an
    idempotent, and so are groups. h_size: how many elements each H-class has.
    """

    number: int
    groups: Groups
    h_size: int

    @property
    def rows(self) -> int:
        """Number of R-classes."""
        return int(self.groups.shape[0])

    @property
    def columns(self) -> int:
        """Number of L-classes."""
        return int(self.groups.shape[1])

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.rows * self.columns * self.h_size

    @property
    def is_regular(self) -> bool:
        """True if it has an idempotent; then each row and each column has one."""
        return bool(self.groups.any())

    def __repr__(self) -> str:
        groups = int(np.count_nonzero(self.groups))
        of = f"{self.rows} x {self.columns} H-classes of {self.h_size}"
        return f"<EggBox {self.number}: {of}, {many(groups, 'group')}>"


class EggBoxes(Sequence[EggBox]):
    """The egg boxes of all D-classes, by the classes' numbers; each is made when it is asked for.

    A notebook shows the upper ones, see svg().
    """

    def __init__(self, structure: Structure) -> None:
        self._structure = structure

    @cached_property
    def _classes(self) -> dict[str, GreenClasses]:
        kinds: tuple[GreenKind, ...] = "R", "L", "D"
        return {kind: self._structure.green(kind) for kind in kinds}

    @cached_property
    def _is_idempotent(self) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(self._classes["D"].of), np.bool_)
        found[self._structure.idempotents] = True
        return found

    def __len__(self) -> int:
        return self._classes["D"].count

    @overload
    def __getitem__(self, index: int) -> EggBox: ...
    @overload
    def __getitem__(self, index: slice) -> list[EggBox]: ...
    def __getitem__(self, index: int | slice) -> EggBox | list[EggBox]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        members = self._classes["D"].members(number)
        rows, row = np.unique(self._classes["R"].of[members], return_inverse=True)
        columns, column = np.unique(self._classes["L"].of[members], return_inverse=True)
        chosen = self._is_idempotent[members]
        groups = np.zeros((rows.size, columns.size), np.bool_)
        groups[row[chosen], column[chosen]] = True
        groups.setflags(write=False)
        return EggBox(number, groups, members.size // groups.size)

    @property
    def elements(self) -> int:
        """Number of elements in all of them."""
        return len(self._classes["D"].of)

    @cached_property
    def below(self) -> list[frozenset[int]]:
        """Return for each D-class the others that multiplying by a generator leads to."""
        of = self._classes["D"].of
        found: list[set[int]] = [set() for _ in range(len(self))]
        for graph in (self._structure.right_cayley, self._structure.left_cayley):
            for generator in range(graph.shape[1]):
                pairs = of.astype(np.int64) * len(self) + of[graph[:, generator]]
                for pair in np.unique(pairs).tolist():
                    upper, lower = divmod(pair, len(self))
                    if upper != lower:
                        found[upper].add(lower)
        return [frozenset(classes) for classes in found]

    @cached_property
    def depths(self) -> list[int]:
        """Return for each D-class the length of the longest chain of classes above it."""
        above = [0] * len(self)
        for classes in self.below:
            for lower in classes:
                above[lower] += 1
        depths = [0] * len(self)
        ready = [number for number, count in enumerate(above) if not count]
        for number in ready:  # which grows: a class comes after all that are above it
            for lower in self.below[number]:
                depths[lower] = max(depths[lower], depths[number] + 1)
                above[lower] -= 1
                if not above[lower]:
                    ready.append(lower)
        return depths

    def svg(self, most: int = 40) -> str:
        """Return a picture of `most` D-classes, the upper ones, as an SVG document on one line.

        They are drawn from the top down in the order of their ideals, with lines between neighbours
        in that order. H-classes that are groups are filled. Of a large box a part is drawn, and the
        text below it says so.
        """
        from .pictures import picture

        return picture(self, most)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<{many(len(self), 'egg box', 'egg boxes')}>"
