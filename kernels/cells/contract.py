"""Operations on packed cells, word by word: the random soup, the survey, densities and ages.

Bit j of word w of a row is the cell in column 64 w + j. The compiled extension works at
the best level of this CPU, numpy where there is none. Neither call holds the GIL for
long: threads may share a universe (kernels.cells.bands).
"""

from __future__ import annotations

import importlib
import operator
from typing import Any

import numpy as np

from kernels.targets import cpu

from . import ref
from .ref import Ages, Counts, Live, Words, live_type, scattered

__all__ = ["HIGHEST", "ages", "climb", "densities", "fill_soup", "live_type", "scattered", "survey"]

REFERENCE = "reference"
_MASK = (1 << 64) - 1
HIGHEST = 12  # scale of blocks whose live cells are added up here


def fill_soup(
    words: Words, y0: int, w0: int, digits: int, key: int, *, level: str | None = None
) -> None:
    """Overwrite words with the soup that lifesim/soup.py defines; no padding is cleared.

    words: uint64 (rows, count), each row contiguous; its first word is word w0 of row y0,
    both taken modulo 2^64. digits: P of the definition, 0 to 2^32. key: of the seed.
    level: of kernels.targets.cpu.levels() or "reference". Raises ValueError for anything else.
    """
    y0, w0 = _checked(words, y0, w0)
    digits, key = operator.index(digits), operator.index(key)
    if not words.flags.writeable:
        raise ValueError("words must be writeable")
    if not 0 <= digits <= 1 << 32:
        raise ValueError(f"digits must be 0 to 2^32, not {digits}")
    if not 0 <= key <= _MASK:
        raise ValueError(f"a key is 0 to 2^64 - 1, not {key}")
    level = _level(level)
    if level == REFERENCE:
        ref.fill(words, y0, w0, digits, key)
    else:
        _extension().cells_fill_soup(level, words, y0, w0, digits, key)


def survey(
    words: Words, y0: int, w0: int, counts: Counts | None = None, *, level: str | None = None
) -> tuple[int, int]:
    """Live cells of words, and what they add to the sum that lifesim/digests.py defines.

    words, y0, w0, level: as for fill_soup(); padding bits must be zero. counts: uint8
    (ceil(rows / 8), 8 * count), C-contiguous, receives the live cells, 0 to 64, of each
    block of 8 x 8 cells from the first row and word on; the last row of blocks may have
    fewer rows. Raises ValueError for anything else.
    """
    y0, w0 = _checked(words, y0, w0)
    rows, count = words.shape
    if counts is not None and (
        counts.dtype != np.uint8
        or counts.shape != (-(-rows // 8), 8 * count)
        or not (counts.flags.c_contiguous and counts.flags.writeable)
    ):
        raise ValueError(
            f"counts must be uint8 of shape {(-(-rows // 8), 8 * count)}, C-contiguous and "
            f"writeable, not {counts.dtype} {counts.shape}"
        )
    level = _level(level)
    if level == REFERENCE:
        if counts is not None:
            ref.count_blocks(words, counts)
        return ref.population(words), ref.partial(words, y0, w0)
    population, low, high = _extension().cells_survey(level, words, y0, w0, counts)
    return population, high << 64 | low


def densities(
    words: Words, first: int, scale: int, levels: Counts, *, level: str | None = None
) -> None:
    """Write how densely blocks of 2^scale x 2^scale cells live into levels, 0 to 255.

    words: uint64 (rows, count), each row contiguous; rows is a multiple of 2^scale. scale: 1,
    2 or 3. levels: uint8 (rows / 2^scale, columns), C-contiguous: a block is 255 times its
    live share, a half rounded up, so 0 only where no cell lives and 255 only where all do.
    The first blocks begin at column `first` of words. level: as for fill_soup(). Raises
    ValueError for anything else, and where blocks leave the words.
    """
    _checked(words, 0, 0)
    rows, count = words.shape
    first, scale = operator.index(first), operator.index(scale)
    if not 1 <= scale <= 3 or rows % (1 << scale):
        raise ValueError(f"no whole blocks of scale {scale} in {rows} rows")
    if (
        levels.dtype != np.uint8
        or levels.ndim != 2
        or levels.shape[0] != rows >> scale
        or not (levels.flags.c_contiguous and levels.flags.writeable)
    ):
        raise ValueError(
            f"levels must be uint8 of shape ({rows >> scale}, columns), C-contiguous and "
            f"writeable, not {levels.dtype} {levels.shape}"
        )
    if first < 0 or first + (levels.shape[1] << scale) > 64 * count:
        raise ValueError(f"blocks from column {first} on leave {64 * count} columns")
    level = _level(level)
    if level == REFERENCE:
        ref.densities(words, first, scale, levels)
    else:
        _extension().cells_densities(level, words, first, scale, levels)


def climb(
    live: Live, scale: int, levels: Counts, above: Live | None = None, *, level: str | None = None
) -> None:
    """Write how densely blocks of 2^scale x 2^scale cells live into levels, and the live cells of
    blocks of twice the side into above.

    live: the live cells of each block, (rows, columns) of live_type(scale), rows one after the
    other, each contiguous. scale: 3 to HIGHEST. levels: uint8 of the same shape, C-contiguous: 255
    times a block's live share, a half rounded up, but 0 only where no cell lives and 255 only where
    all do. above: live_type(scale + 1) of (ceil(rows / 2), ceil(columns / 2)), C-contiguous; what
    is missing at the end is dead. level: as for fill_soup(). Raises ValueError for anything else.
    """
    scale = operator.index(scale)
    if not 3 <= scale <= HIGHEST:
        raise ValueError(f"blocks of scale {scale} are not added up: 3 to {HIGHEST} are")
    rows, columns = live.shape
    for name, array, dtype, shape in (
        ("live", live, live_type(scale), (rows, columns)),
        ("levels", levels, np.uint8, (rows, columns)),
        ("above", above, live_type(scale + 1), (-(-rows // 2), -(-columns // 2))),
    ):
        if array is not None and (array.dtype != dtype or array.shape != shape):
            raise ValueError(
                f"{name} must be {np.dtype(dtype)} of shape {shape}, "
                f"not {array.dtype} {array.shape}"
            )
    level = _level(level)
    if level == REFERENCE:
        ref.climb(live, scale, levels, above)
    else:
        _extension().cells_climb(level, live, scale, levels, above)


def ages(
    words: Words,
    first: int,
    scale: int,
    counts: Ages,
    levels: Counts,
    shades: Counts,
    *,
    before: Ages | None = None,
    known: Words | None = None,
    passed: int = 0,
    level: str | None = None,
) -> None:
    """Write into counts how old blocks of 2^scale x 2^scale cells are, and into levels how
    bright: shades[count].

    There are as many parameters as a picture, and another one before it, have arrays.

    words: uint64 (rows, count), each row contiguous. scale: 0 to 3. counts, levels: uint16 and
    uint8 (ceil(rows / 2^scale), columns), C-contiguous: a block's count is 0 where no cell
    lives, or else 1 + its age. The first blocks begin at column `first` of words, the last ones
    may lack rows and columns, where nothing lives. known, before: of another picture of the
    same blocks, `passed` generations ago, words and counts (any where all cells are dead, 0
    where nothing was seen); neither where there is none. A block in which a cell lives that did
    not then is of age 0, others grow older, up to len(shades) - 2. shades: uint8, 2 to 65536 of
    them, contiguous. level: as for fill_soup(). Raises ValueError for anything else.
    """
    _checked(words, 0, 0)
    rows, count = words.shape
    first, scale, passed = map(operator.index, (first, scale, passed))
    if not 0 <= scale <= 3 or (known is None) != (before is None) or not 0 <= passed < 1 << 16:
        raise ValueError("no such scale, only half of what was known, or time that went back")
    if not rows or first < 0 or first + (counts.shape[-1] - 1 << scale) >= 64 * count:
        raise ValueError(f"blocks from column {first} on leave {64 * count} columns")
    if shades.dtype != np.uint8 or shades.ndim != 1 or not 2 <= len(shades) <= 1 << 16:
        raise ValueError(f"shades must be 2 to 65536 of uint8, not {shades.dtype} {shades.shape}")
    if known is not None:
        _checked(known, 0, 0)
        if known.shape != words.shape:
            raise ValueError(f"known must have the shape of words, not {known.shape}")
    shape = -(-rows >> scale), counts.shape[-1]
    for name, array, dtype in (
        ("counts", counts, np.uint16),
        ("levels", levels, np.uint8),
        ("before", before, np.uint16),
    ):
        if array is None:
            continue
        if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
            raise ValueError(
                f"{name} must be {np.dtype(dtype)} of shape {shape}, C-contiguous, not "
                f"{array.dtype} {array.shape}"
            )
    level = _level(level)
    if level == REFERENCE:
        ref.ages(words, first, scale, counts, levels, shades, before, known, passed)
    else:
        _extension().cells_ages(
            level, words, first, scale, known, before, passed, shades, counts, levels
        )


def _checked(words: Words, y0: int, w0: int) -> tuple[int, int]:
    if words.ndim != 2 or words.dtype != np.uint64:
        raise ValueError(f"words must be uint64 of two dimensions, not {words.dtype} {words.shape}")
    contiguous = words.strides[1] == 8 or words.shape[1] <= 1 or not words.size
    if not contiguous or not words.flags.aligned:
        raise ValueError("words must be aligned, each row contiguous")
    y0, w0 = operator.index(y0), operator.index(w0)
    if y0 < 0 or w0 < 0:
        raise ValueError(f"no universe has a word {w0} in row {y0}")
    return y0 & _MASK, w0 & _MASK


def _level(level: str | None) -> str:
    available = [REFERENCE, *cpu.levels()]
    if level is None:
        return available[-1]
    if level not in available:
        raise ValueError(f"no level {level!r} here: {', '.join(available)}")
    return level


def _extension() -> Any:
    """Return the compiled extension; it is not imported above, so that the reference works
    without."""
    return importlib.import_module("kernels._cpu")
