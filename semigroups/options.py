"""Check what a Semigroup is made with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import numpy.typing as npt

from kernels.targets.choose import NAMES
from kernels.targets.memory import available_memory
from kernels.transformations import Maps, NumberArray, all_points, as_maps

from .families import Family

Base = Literal["auto", "all"] | Iterable[int]
Generators = Family | npt.ArrayLike | Iterable[npt.ArrayLike]

_MAKING = 32  # bytes a point that making a family's generators takes


def check_options(
    backend: str, memory: int | None, device: int = 0, threads: int | None = None
) -> None:
    """Raise ValueError for options that no backend could take."""
    if backend not in NAMES:
        raise ValueError(f"unknown backend {backend!r}: one of {', '.join(NAMES)}")
    if memory is not None and not _is_number(memory, 1):
        raise ValueError(f"memory is a number of bytes, not {memory!r}")
    if not _is_number(device, 0):
        raise ValueError(f"device is the number of a GPU, from 0, not {device!r}")
    if threads is not None and not _is_number(threads, 1):
        raise ValueError(f"threads is how many work, at least one, not {threads!r}")


def _is_number(value: object, least: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value >= least)


def maps_of(generators: Generators) -> Maps:
    """Return generators as maps. Raises MemoryError for a Family too large for this machine."""
    if not isinstance(generators, Family):
        if isinstance(generators, str) or not isinstance(generators, Iterable):
            raise TypeError(f"generators are maps or a Family, not {generators!r}")
        return as_maps(generators)
    needed = generators.nbytes + _MAKING * generators.degree
    if needed > (free := available_memory()):
        raise MemoryError(f"{generators}: generators of {needed:,} bytes, {free:,} are available")
    return generators.generators()


def points_of(base: Base, degree: int) -> NumberArray:
    """Return the points of rows; all, for now, where they are to be chosen."""
    if isinstance(base, str):
        if base not in ("auto", "all"):
            raise ValueError(f"base is auto, all or a list of points, not {base!r}")
        return all_points(degree)
    if not isinstance(base, Iterable):
        raise ValueError(f"base is auto, all or a list of points, not {base!r}")
    points = np.unique(np.asarray(list(base)))
    if not points.size:
        raise ValueError("a base has at least one point")
    if points.dtype.kind not in "iu":
        raise ValueError(f"points of a base are integers, not {points.dtype}")
    if points[0] < 0 or points[-1] >= degree:
        wrong = points[0] if points[0] < 0 else points[-1]
        raise ValueError(f"{wrong} is no point: they are 0 to {degree - 1}")
    return points.astype(np.uint32)
