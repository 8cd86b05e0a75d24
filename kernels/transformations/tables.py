"""Check whether tables, from a file for example, can be gone on from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .contract import NONE, CayleyTables, EnumerationProblem


def check_tables(problem: EnumerationProblem, tables: CayleyTables) -> None:
    """Raise ValueError where tables contradict themselves or the problem.

    After it every number in them can be followed: words end, and products are numbers. That
    the products are right ones only the enumeration itself could tell.
    """
    size, letters = len(tables.first), problem.letters
    if not 1 <= size <= NONE:
        raise ValueError(f"{size} elements")
    expanded = len(tables.right)
    check_starts(tables.starts, size, expanded)
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
        if getattr(tables, name).max(initial=0) >= size:
            raise ValueError(f"{name} names an element that is not there")
    for name in ("first", "last"):
        if getattr(tables, name)[1:].max(initial=0) >= letters:
            raise ValueError(f"{name} names a generator that is not there")
    _check_levels(tables)
    _check_words(tables)
    if not problem.monoid and not tables.right.all():
        raise ValueError("a product is the empty word, which is no element")
    _check_right(tables)
    _check_left(tables)


_STEP = 1 << 16  # numbers that are checked at a time: what is made for that stays in caches


def _parts(size: int) -> Iterator[slice]:
    """Yield slices of the numbers from 1 to size - 1."""
    for start in range(1, size, _STEP):
        yield slice(start, min(start + _STEP, size))


def _check_levels(tables: CayleyTables) -> None:
    """Raise where a number's prefix and suffix are not of the level before, and lead to it."""
    size, starts = len(tables.first), np.array(tables.starts, np.int64)
    for part in _parts(size):
        numbers = np.arange(part.start, part.stop)
        level = np.searchsorted(starts, numbers, side="right") - 1
        least, end = starts[level - 1], starts[level]
        for name in ("prefix", "suffix"):
            before = getattr(tables, name)[part]
            if ((before < least) | (before >= end)).any():
                raise ValueError(f"a {name} is not of the level before")
        prefix = tables.prefix[part]
        if (prefix >= len(tables.right)).any():
            raise ValueError("a prefix is not expanded")
        if (tables.right[prefix, tables.last[part]] != numbers).any():
            raise ValueError("a word's product is another element")


def _check_words(tables: CayleyTables) -> None:
    """Raise where first · suffix is not the word of prefix · last."""
    for part in _parts(len(tables.first)):
        first, suffix, prefix, last = (
            getattr(tables, name)[part] for name in ("first", "suffix", "prefix", "last")
        )
        short = prefix == 0
        if (first[short] != last[short]).any() or suffix[short].any():
            raise ValueError("a word of one letter is none")
        first, suffix, prefix, last = (a[~short] for a in (first, suffix, prefix, last))
        if (first != tables.first[prefix]).any():
            raise ValueError("a word begins unlike its prefix")
        if (suffix != tables.right[tables.suffix[prefix], last]).any():
            raise ValueError("a suffix is not the prefix's, times the last letter")


def _check_right(tables: CayleyTables) -> None:
    """Raise where numbers do not follow on each other, each from where it is first found."""
    letters = tables.right.shape[1]
    products = tables.right.reshape(-1)
    most, found = 0, 1
    for start in range(0, len(products), _STEP):
        part = products[start : start + _STEP]
        highest = np.maximum.accumulate(np.append(np.uint32(most), part))
        grows = np.flatnonzero(highest[1:] != highest[:-1]) + start
        new = slice(found, found + len(grows))
        keys = tables.prefix[new].astype(np.int64) * letters + tables.last[new]
        if not np.array_equal(grows, keys):
            raise ValueError("elements are not numbered in order of their words")
        most, found = int(highest[-1]), new.stop
    if found != len(tables.first):
        raise ValueError("elements are not numbered in order of their words")


def _check_left(tables: CayleyTables) -> None:
    """Raise where products on the left are not those that the others imply."""
    right, left, step = tables.right, tables.left, _STEP
    if (left[:1] != right[: len(left)][:1]).any():
        raise ValueError("products of the empty word differ")
    for start in range(1, len(left), step):
        known = left[start : start + step]
        prefix, last = (a[start : start + len(known)] for a in (tables.prefix, tables.last))
        shorter = left[prefix]
        # They are of finished levels.
        if (shorter >= len(right)).any() or (right[shorter, last[:, None]] != known).any():
            raise ValueError("a product on the left is not what it must be")


def check_starts(starts: list[int], size: int, expanded: int) -> None:
    """Raise ValueError where levels do not begin as those of so many elements can."""
    ascending = all(a < b for a, b in pairwise(starts))
    if starts[:2] != [0, 1] or not ascending or starts[-1] > size:
        raise ValueError("the levels are not those of so many elements")
    if not (expanded == starts[-1] == size or starts[-2] <= expanded < starts[-1]):
        raise ValueError("the levels are not those of so many products")
