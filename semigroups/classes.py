"""Green's classes of a semigroup."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from kernels.transf import Numbers, graphs

Kind = Literal["R", "L", "J", "H", "D"]
KINDS = ("R", "L", "J", "H", "D")


class GreenClasses:
    """The classes of one of Green's relations, numbered by their first elements.

    kind: "R", "L", "J", "H" or "D". of: uint32 (elements,), the class of each, read-only.
    regular: bool (count,), whether all x in it are x y x for some y; either all are or none.
    groups: bool (count,), which classes have an idempotent: those of "H" that have are groups.
    """

    def __init__(
        self, kind: Kind, of: Numbers, idempotents: Numbers, regular: npt.NDArray[np.bool_]
    ) -> None:
        """regular: of each element."""
        self.kind = kind
        self.of = of
        self.groups = graphs.regular(of, idempotents)
        self.regular = graphs.regular(of, np.flatnonzero(regular).astype(np.uint32))

    @property
    def count(self) -> int:
        return len(self.regular)

    def __len__(self) -> int:
        return self.count

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """(count,): how many elements each class has."""
        return np.bincount(self.of, minlength=self.count)

    def members(self, k: int) -> Numbers:
        """Numbers of the elements of class k, ascending. Raises IndexError."""
        if not 0 <= k < self.count:
            raise IndexError(f"there are {self.count} {self.kind}-classes, from 0")
        begin = int(self._ends[k] - self.sizes[k])
        return self._sorted[begin : int(self._ends[k])].copy()

    @cached_property
    def _sorted(self) -> Numbers:
        return np.argsort(self.of, kind="stable").astype(np.uint32)

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        return np.cumsum(self.sizes)

    def __repr__(self) -> str:
        classes = "class" if self.count == 1 else "classes"
        regular = int(np.count_nonzero(self.regular))
        return f"<{self.count} {self.kind}-{classes}, {regular} regular>"
