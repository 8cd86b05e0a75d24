"""Describe Green's classes of a semigroup."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from kernels.transformations import NumberArray, graphs

GreenKind = Literal["R", "L", "J", "H", "D"]
KINDS = ("R", "L", "J", "H", "D")


class GreenClasses:
    """Holds the classes of one of Green's relations, numbered by their first elements.

    kind: "R", "L", "J", "H" or "D". of: uint32 (elements,), the class of each, read-only.
    regular: bool (count,), whether all x in it are x y x for some y; either all are or none.
    groups: bool (count,), which classes have an idempotent: those of "H" that have are groups.
    """

    def __init__(
        self,
        kind: GreenKind,
        of: NumberArray,
        idempotents: NumberArray,
        regular: npt.NDArray[np.bool_],
    ) -> None:
        """Make them of what each element is; regular: (elements,)."""
        self.kind = kind
        self.of = of
        self.groups = graphs.regular(of, idempotents)
        self.regular = graphs.regular(of, np.flatnonzero(regular).astype(np.uint32))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a copy is made of; numpy forgets that arrays were read-only."""
        vars(self).update(state)
        self.of.setflags(write=False)

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.regular)

    def __len__(self) -> int:
        return self.count

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Return how many elements each class has: (count,)."""
        return np.bincount(self.of, minlength=self.count)

    def members(self, k: int) -> NumberArray:
        """Return the numbers of the elements of class k, ascending. Raises IndexError."""
        if not 0 <= k < self.count:
            raise IndexError(f"there are {self.count} {self.kind}-classes, from 0")
        begin = int(self._ends[k] - self.sizes[k])
        return self._sorted[begin : int(self._ends[k])].copy()

    @cached_property
    def _sorted(self) -> NumberArray:
        return np.argsort(self.of, kind="stable").astype(np.uint32)

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        return np.cumsum(self.sizes)

    def __repr__(self) -> str:
        of = f"{self.kind}-class"
        regular = int(np.count_nonzero(self.regular))
        return f"<{many(self.count, of, f'{of}es')}, {regular} regular>"
