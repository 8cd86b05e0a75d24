"""A universe as a list of squares in which equal ones stand once, as macrocell files have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

_T = TypeVar("_T", bound=np.generic)

LEAF = 3  # the level of the smallest squares: 8 x 8 cells


@dataclass(frozen=True)
class SquareList:
    """Squares, each of four smaller ones that stand before it; the last holds all of a universe.

    Square 0 is any empty one. levels: uint8 (n,): a square of level k has 2^k x 2^k cells.
    children: int64 (n, 4): of squares above level 3 their north-west, north-east, south-west and
    south-east quarters. leaves: uint64 (n,): of squares of level 3 their cells, bit 8 y + x.
    """

    levels: npt.NDArray[np.uint8]
    children: npt.NDArray[np.int64]
    leaves: npt.NDArray[np.uint64]

    @staticmethod
    def of_tree(
        rows: npt.NDArray[np.uint32],
        levels: npt.NDArray[np.uint8],
        children: npt.NDArray[np.uint32],
    ) -> SquareList:
        """Divide leaves of 32 x 32 cells, and number all squares anew.

        rows: (m, 32), of the leaves, numbered from 1 on. levels, children: of the squares above
        them, numbered on from there.
        """
        smaller: list[npt.NDArray[np.int64]] = []  # the children of levels 4 and 5
        # Bytes by leaf, block of rows, row, and block of columns; then blocks as one number each.
        tiles = rows.view(np.uint8).reshape(-1, 4, 8, 4).swapaxes(2, 3)
        values = np.ascontiguousarray(tiles).view(np.uint64).reshape(-1, 4, 4)
        unique, numbers = _distinct(values.reshape(-1, 1))
        count = len(unique)
        grid = numbers.reshape(-1, 4, 4)
        while grid.shape[1] > 1:
            half = grid.shape[1] // 2
            four = grid.reshape(-1, half, 2, half, 2).swapaxes(2, 3).reshape(-1, 4)
            squares, numbers = _distinct(four)
            smaller.append(squares)
            grid = np.where(numbers, numbers + count, 0).reshape(-1, half, half)
            count += len(squares)
        # Numbers of leaves become those of level 5, and what comes after moves up.
        moved = np.concatenate([[0], grid.reshape(-1), np.arange(len(levels)) + count + 1])
        upper = moved[children.astype(np.int64)].reshape(-1, 4)
        parts = [np.zeros((1 + len(unique), 4), np.int64), *smaller, upper]
        sizes = [len(unique), len(smaller[0]), len(smaller[1])]
        leaves = np.zeros(1 + sum(sizes) + len(levels), np.uint64)
        leaves[1 : 1 + len(unique)] = unique[:, 0]
        low = np.repeat(np.array([LEAF, LEAF + 1, LEAF + 2], np.uint8), sizes)
        return SquareList(
            np.concatenate([np.zeros(1, np.uint8), low, levels]),
            np.ascontiguousarray(np.concatenate(parts)),
            leaves,
        )


def _distinct(squares: npt.NDArray[_T]) -> tuple[npt.NDArray[_T], npt.NDArray[np.int64]]:
    """Return the distinct rows of an array that are not all zero, and for each row its number
    among them, from 1 on, or 0."""
    live = squares.any(axis=1)
    distinct, numbers = np.unique(squares[live], axis=0, return_inverse=True)
    found = np.zeros(len(squares), np.int64)
    found[live] = numbers.reshape(-1) + 1
    return distinct, found


class PlainLines(NamedTuple):
    """Squares of some lines of a macrocell file, as bytes of arrays.

    levels: uint8. children: int64, four of each. leaves: uint64, cells of each. end: where the next
    line begins. last: where the last of these begins.
    """

    end: int
    last: int
    levels: bytes
    children: bytes
    leaves: bytes


def plain_lines(
    text: bytes, start: int, most: int, highest: int, levels: bytearray
) -> PlainLines | None:
    """Read lines of a macrocell file up to the first that is no leaf and no node as most files have
    them; None where there is no compiled code.

    start: where the first of them begins. most: how many are read at most. highest: the level that
    nodes have at most. levels: of the squares that stand before `start`, the empty square first.
    """
    if _cpu is None:
        return None
    return PlainLines(*_cpu.macrocell_lines(text, start, most, highest, levels))
