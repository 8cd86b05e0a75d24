"""Batches of integers that hurt, in every layout there is, and what a result must be."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import strategies as st

from kernels.bignum.numbers import Numbers, from_ints, to_ints

Operand: TypeAlias = tuple[list[int], Numbers]  # the values, and a batch of them


# --- values and layouts ------------------------------------------------------


def hurtful(words: int) -> st.SearchStrategy[int]:
    """Integers of up to so many words: long carries and borrows, borders of words, any."""
    bits = st.one_of(
        st.integers(0, 64 * words),
        st.integers(0, words).flatmap(lambda n: st.sampled_from([max(0, 64 * n - 1), 64 * n])),
    )
    runs = st.tuples(bits, bits).map(lambda b: abs(2 ** b[0] - 2 ** b[1]))  # ones, then zeros
    near = st.tuples(bits, st.integers(-2, 2)).map(lambda b: max(0, 2 ** b[0] + b[1]))
    seeded = st.tuples(bits, st.integers(0, 2**32)).map(
        lambda b: random.Random(b[1]).getrandbits(b[0]) if b[0] else 0
    )
    top = 2 ** (64 * words)
    magnitude = st.one_of(runs, near, seeded, st.integers(0, 3)).map(lambda n: min(n, top - 1))
    return st.tuples(magnitude, st.booleans()).map(lambda n: -n[0] if n[1] else n[0])


def magnitude_words(value: int) -> list[int]:
    count = -(-value.bit_length() // 64)
    data = abs(value).to_bytes(8 * count, "little")
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]


def signs_of(values: Sequence[int]) -> Any:
    return np.array([value < 0 for value in values], np.bool_)


def dense(values: Sequence[int], padding: int = 0, slack: int = 0) -> Numbers:
    """Lay numbers out densely: `padding` zero words on the longest, then `slack` words of none."""
    width = max((len(magnitude_words(v)) for v in values), default=0) + padding
    rows = np.full((len(values), width + slack), 0xDEAD, np.uint64)
    rows[:, :width] = 0
    for row, value in zip(rows, values, strict=True):
        words = magnitude_words(value)
        row[: len(words)] = words
    return Numbers(rows.ravel(), len(values), width, width + slack, negative=signs_of(values))


def ragged(values: Sequence[int], padding: Sequence[int]) -> Numbers:
    """Lay the numbers out in reverse order in memory, padding[i] zero words on top of number i."""
    words: list[int] = []
    starts, lengths = [], []
    for value, zeros in reversed(list(zip(values, padding, strict=True))):
        starts.append(len(words))
        words += magnitude_words(value) + [0] * zeros
        lengths.append(len(words) - starts[-1])
        words.append(0xDEAD)
    return Numbers(
        np.array(words, np.uint64),
        len(values),
        max(lengths, default=0),
        0,
        np.array(starts[::-1], np.int64),
        np.array(lengths[::-1], np.int64),
        signs_of(values),
    )


LAYOUTS = ("exact", "dense", "padded", "slack", "ragged", "every second", "picked", "shared")


def lay_out(values: list[int], layout: str, seed: int) -> Numbers:
    draw = random.Random(seed)
    if layout == "dense":
        return dense(values)
    if layout == "padded":
        return dense(values, padding=draw.randint(1, 3))
    if layout == "slack":
        return dense(values, padding=draw.randint(0, 1), slack=draw.randint(1, 3))
    if layout == "ragged":
        return ragged(values, [draw.choice((0, 0, 1, 2)) for _ in values])
    if layout == "every second":
        doubled = [v for value in values for v in (value, -7)]
        return dense(doubled, padding=draw.randint(0, 1)).take(slice(None, None, 2))
    if layout == "picked":
        order = list(range(len(values)))
        draw.shuffle(order)
        whole = from_ints([values[i] for i in order])
        return whole.take(np.argsort(np.array(order, np.int64)))
    if layout == "shared" and values and len(set(values)) == 1:
        return from_ints(values[:1]).repeat(len(values))
    return from_ints(values)


@st.composite
def operands(
    draw: st.DrawFn, numbers: int, words: int, most: int = 9, nonzero: bool = False
) -> list[Operand]:
    """Batches of one count or of a single number, in any layouts, some of them equal."""
    count = draw(st.integers(0, most))
    found: list[Operand] = []
    for _ in range(numbers):
        size = 1 if draw(st.integers(0, 4)) == 0 else count
        wide = draw(st.sampled_from((1, 2, 4, 8, words)))
        if found and draw(st.integers(0, 5)) == 0:
            found.append(draw(st.sampled_from(found)))  # the very same arrays
            continue
        values = draw(st.lists(hurtful(min(wide, words)), min_size=size, max_size=size))
        if found and len(found[0][0]) == size:
            same = draw(st.lists(st.sampled_from((0, 0, 0, 1, -1)), min_size=size, max_size=size))
            values = [s * f or v for s, f, v in zip(same, found[0][0], values, strict=True)]
        layout, seed = draw(st.sampled_from(LAYOUTS)), draw(st.integers(0, 999))
        found.append((values, lay_out(values, layout, seed)))
    return found


def expand(columns: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    count = max((len(c) for c in columns if len(c) != 1), default=1)
    if any(len(c) == 0 for c in columns):
        count = 0
    return list(zip(*[list(c) * count if len(c) == 1 else list(c) for c in columns], strict=True))


def assert_numbers(numbers: Numbers, expected: Sequence[int], note: object = "") -> None:
    """Assert the values, canonical: zero is not negative, and the arrays are what they must be."""
    assert numbers.words.dtype == np.uint64
    assert numbers.words.ndim == 1
    assert numbers.words.flags.c_contiguous
    assert len(numbers) == len(expected), note
    found = to_ints(numbers)
    if found != list(expected):
        i = next(i for i, (x, y) in enumerate(zip(found, expected, strict=True)) if x != y)
        pytest.fail(f"{note}: number {i} is {found[i]:#x}, not {expected[i]:#x}")
    assert numbers.width >= max((len(magnitude_words(v)) for v in expected), default=0), note
    if numbers.negative is not None:
        assert numbers.negative.dtype == np.bool_
        np.testing.assert_array_equal(numbers.negative, signs_of(expected), str(note))
    if numbers.starts is not None:
        assert numbers.lengths is not None
        assert int(numbers.lengths.max(initial=0)) <= numbers.width


def sign(value: int) -> int:
    return (value > 0) - (value < 0)
