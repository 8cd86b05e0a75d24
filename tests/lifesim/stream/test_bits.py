"""Columns of packed rows, copied from anywhere to anywhere, against arrays of bools."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from lifesim.stream.bits import Words, copy_columns


def bools(words: Words) -> np.ndarray:
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(0, 4),
    target_words=st.integers(1, 6),
    source_words=st.integers(1, 6),
    data=st.data(),
)
def test_any_offsets(
    seed: int, rows: int, target_words: int, source_words: int, data: st.DataObject
) -> None:
    edges = st.sampled_from([0, 1, 63, 64, 65, 127, 128])
    to = data.draw((edges | st.integers(0, 383)).filter(lambda n: n < 64 * target_words))
    start = data.draw((edges | st.integers(0, 383)).filter(lambda n: n < 64 * source_words))
    most = min(64 * target_words - to, 64 * source_words - start)
    count = data.draw(st.integers(1, most) | st.just(most))
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 1 << 64, (rows, target_words), np.uint64)
    source = rng.integers(0, 1 << 64, (rows, source_words), np.uint64)
    before = source.copy()
    expected = bools(target)
    expected[:, to : to + count] = bools(source)[:, start : start + count]
    copy_columns(target, to, source, start, count)
    assert np.array_equal(bools(target), expected)
    assert np.array_equal(source, before)


@given(st.integers(0, 2**32 - 1), st.integers(0, 191), st.integers(0, 127), st.integers(1, 64))
def test_planes_are_copied_alike(seed: int, to: int, start: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 1 << 64, (3, 2, 4), np.uint64)
    source = rng.integers(0, 1 << 64, (3, 2, 3), np.uint64)
    expected = target.copy()
    for plane in range(2):
        copy_columns(expected[:, plane], to, source[:, plane], start, count)
    copy_columns(target, to, source, start, count)
    assert np.array_equal(target, expected)


@given(st.integers(0, 64), st.integers(0, 64), st.integers(1, 64))
@example(64, 0, 64)
def test_parts_of_wider_arrays(to: int, start: int, count: int) -> None:
    """The arrays are views with strides of their own, as bands of windows are."""
    rng = np.random.default_rng(to * 65 + start)
    wide = rng.integers(0, 1 << 64, (3, 9), np.uint64)
    target, source = wide[:, 1:3], rng.integers(0, 1 << 64, (6, 2), np.uint64)[::2]
    expected = bools(wide.copy())
    expected[:, 64 + to : 64 + to + count] = bools(source.copy())[:, start : start + count]
    copy_columns(target, to, source, start, count)
    assert np.array_equal(bools(wide), expected)
