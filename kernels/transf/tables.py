"""Whether tables, from a file say, can be gone on from."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .engine import NONE, Problem, Tables


def check_tables(problem: Problem, tables: Tables) -> None:
    """Raises ValueError where tables contradict themselves or the problem.

    After it every number in them can be followed: words end, and products are numbers. That
    the products are right ones only the enumeration itself could tell.
    """
    size, letters = len(tables.first), problem.letters
    if not 1 <= size <= NONE:
        raise ValueError(f"{size} elements")
    expanded = len(tables.right)
    _check_starts(tables.starts, size, expanded)
    begun = expanded < size
    shapes = {
        "first": (size,),
        "suffix": (size,),
        "prefix": (size,),
        "last": (size,),
        "right": (expanded, letters),
        "left": (tables.starts[-2] if begun else size, letters),
        "hashes": (size, 2),
    }
    for name, shape in shapes.items():
        array: npt.NDArray[Any] = getattr(tables, name)
        dtype = np.uint64 if name == "hashes" else np.uint32
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"{name} is {array.dtype} {array.shape}, not {dtype.__name__} {shape}")
    for name in ("first", "suffix", "prefix", "last"):
        if getattr(tables, name)[0] != NONE:
            raise ValueError(f"{name} of the empty word is a number")
    for name in ("right", "left"):
        if (getattr(tables, name) >= size).any():
            raise ValueError(f"{name} names an element that is not there")
    for name in ("first", "last"):
        if (getattr(tables, name)[1:] >= letters).any():
            raise ValueError(f"{name} names a generator that is not there")
    # A number's prefix and suffix are of the level before.
    starts = np.array(tables.starts, np.int64)
    numbers = np.arange(1, size)
    level = np.searchsorted(starts, numbers, side="right") - 1
    for name in ("prefix", "suffix"):
        before = getattr(tables, name)[1:].astype(np.int64)
        if ((before < starts[level - 1]) | (before >= starts[level])).any():
            raise ValueError(f"a {name} is not of the level before")
    prefix = tables.prefix[1:].astype(np.int64)
    if (prefix >= expanded).any():
        raise ValueError("a prefix is not expanded")
    if (tables.right[prefix, tables.last[1:]] != numbers).any():
        raise ValueError("a word's product is another element")
    _check_words(tables)
    if not problem.monoid and not tables.right.all():
        raise ValueError("a product is the empty word, which is no element")
    _check_right(tables)
    _check_left(tables)


def _check_words(tables: Tables) -> None:
    """That first · suffix is the word of prefix · last."""
    first, suffix, prefix, last = (
        getattr(tables, name)[1:] for name in ("first", "suffix", "prefix", "last")
    )
    short = prefix == 0
    others = suffix[prefix[~short] - 1]
    if (first[short] != last[short]).any() or suffix[short].any():
        raise ValueError("a word of one letter is none")
    if (first[~short] != first[prefix[~short] - 1]).any():
        raise ValueError("a word begins unlike its prefix")
    if (suffix[~short] != tables.right[others, last[~short]]).any():
        raise ValueError("a suffix is not the prefix's, times the last letter")


def _check_right(tables: Tables) -> None:
    """That numbers follow on each other, each from where it is first found."""
    letters = tables.right.shape[1]
    keys = tables.prefix[1:].astype(np.int64) * letters + tables.last[1:]
    most = np.maximum.accumulate(tables.right.reshape(-1))
    grows = np.flatnonzero(most[1:] != most[:-1]) + 1
    begins = [0] if most.size and most[0] else []
    if not np.array_equal(np.append(begins, grows), keys):
        raise ValueError("elements are not numbered in order of their words")


def _check_left(tables: Tables) -> None:
    """That products on the left are those that the others imply."""
    right, left, step = tables.right, tables.left, 1 << 16
    if (left[:1] != right[: len(left)][:1]).any():
        raise ValueError("products of the empty word differ")
    for start in range(1, len(left), step):
        known = left[start : start + step]
        prefix, last = (a[start : start + len(known)] for a in (tables.prefix, tables.last))
        shorter = left[prefix]
        # They are of finished levels.
        if (shorter >= len(right)).any() or (right[shorter, last[:, None]] != known).any():
            raise ValueError("a product on the left is not what it must be")


def _check_starts(starts: list[int], size: int, expanded: int) -> None:
    ascending = all(a < b for a, b in pairwise(starts))
    if starts[:2] != [0, 1] or not ascending or starts[-1] > size:
        raise ValueError("the levels are not those of so many elements")
    if not (expanded == starts[-1] == size or starts[-2] <= expanded < starts[-1]):
        raise ValueError("the levels are not those of so many products")
