"""The digest: the exact definition, any partition, and what it must tell apart."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.cells import bands
from kernels.cells.costs import BandCosts
from lifesim.digests import digest, finish, partial
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.soup import random_grid

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
PLACES = st.one_of(st.integers(0, 3), st.integers(0, 2**62))

EMPTY = "32c6cb0e6e8ce6790f308eaa81aedc9d"
FOUR = "2ffa62249306455bd8f06152b259924f"
SOUP = "3bfc4f75d90ad771c5debd76dd24197a"


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def reference_partial(words, y0, w0):
    """Return the sum in Python integers: the text of the module line by line."""
    total = 0
    for row, line in enumerate(words.tolist(), y0):
        for w, word in enumerate(line, w0):
            a = mix(mix((row + 0x243F6A8885A308D3) & MASK) + GOLDEN * (w + 1) & MASK)
            b = mix(mix((row + 0x13198A2E03707344) & MASK) + GOLDEN * (w + 1) & MASK)
            low = mix(mix(word ^ a) + b & MASK)
            high = mix(mix(word + b & MASK) ^ a)
            total += (high << 64 | low) if word else 0
    return total % (1 << 128)


@st.composite
def blocks(draw):
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    words = rng.integers(0, 2**64, shape, np.uint64)
    words[rng.random(shape) < draw(st.sampled_from([0, 0.5, 0.9, 1]))] = 0
    words[rng.random(shape) < draw(st.sampled_from([0, 0.5]))] = MASK
    return words


@given(blocks(), PLACES, PLACES)
def test_partial_is_as_defined(words, y0, w0):
    assert partial(words, y0, w0) == reference_partial(words, y0, w0)


@given(st.integers(1, MASK), st.integers(1, MASK), st.integers(0, 2**128 - 1))
def test_finish_is_as_defined(width, height, total):
    text = b"".join(
        value.to_bytes(size, "little") for value, size in [(width, 8), (height, 8), (total, 16)]
    )
    expected = hashlib.blake2b(text, digest_size=16).hexdigest()
    assert finish(width, height, total) == expected
    assert finish(width, height, total + 5 * 2**128) == expected


def test_frozen_values():
    """These never change: digests in papers and files must stay good for ever."""
    assert digest(BitGrid(1, 1)) == EMPTY
    assert digest(BitGrid.from_cells(100, 7, [(0, 0), (63, 0), (64, 3), (99, 6)])) == FOUR
    assert digest(random_grid(1000, 777, 0.5, 1)) == SOUP


@given(blocks(), st.data())
def test_any_partition_gives_the_same(words, data):
    """The universe is cut by rows, then each strip by columns elsewhere, summed in any order."""
    height, count = words.shape
    grid = BitGrid(64 * count, height, words)
    sums = []
    tops = sorted({0, height, *data.draw(st.lists(st.integers(0, height), max_size=3))})
    for y0, y1 in pairwise(tops):
        lefts = sorted({0, count, *data.draw(st.lists(st.integers(0, count), max_size=3))})
        for w0, w1 in pairwise(lefts):
            sums.append(partial(words[y0:y1, w0:w1], y0, w0))
    for order in (sums, sums[::-1]):
        total = 0
        for part in order:
            total = (total + part) % (1 << 128)
        assert finish(64 * count, height, total) == digest(grid)


def test_bands_do_not_show(monkeypatch):
    """The rows of a large universe are shared out over threads."""
    grid = random_grid(300, 133, 0.5, 7)
    whole = digest(grid)
    assert whole == finish(300, 133, partial(grid.words, 0, 0))
    monkeypatch.setattr(bands, "core_count", lambda: 3)
    for words in (1, 50, 200, 600):
        monkeypatch.setattr(bands, "BAND_COSTS", BandCosts(words))
        assert digest(grid) == whole


def test_strides_do_not_show():
    words = random_grid(512, 9, 0.5, 3).words
    assert partial(np.asfortranarray(words), 2, 3) == partial(words, 2, 3)
    assert partial(words[::2, ::3], 0, 0) == partial(words[::2, ::3].copy(), 0, 0)
    assert partial(words[::-1, ::-1], 0, 0) == partial(words[::-1, ::-1].copy(), 0, 0)
    shifted = np.empty(words.nbytes + 1, np.uint8)[1:].view(np.uint64).reshape(words.shape)
    shifted[:] = words
    assert partial(shifted, 2, 3) == partial(words, 2, 3)


def test_nothing_adds_nothing():
    assert partial(np.zeros((5, 3), np.uint64), 7, 9) == 0
    assert partial(np.zeros((0, 3), np.uint64), 0, 0) == 0
    assert partial(np.zeros((3, 0), np.uint64), 0, 0) == 0


@pytest.mark.parametrize("density", [0, 0.5, 1])
def test_any_flipped_cell_shows(density):
    """Each cell alone is flipped, and any two of them: 3160 universes of the same size."""
    grid = random_grid(80, 1, density, 11)
    seen = {digest(grid)}
    for first in range(80):
        grid[first, 0] = not grid[first, 0]
        seen.add(digest(grid))
        for second in range(first):
            grid[second, 0] = not grid[second, 0]
            seen.add(digest(grid))
            grid[second, 0] = not grid[second, 0]
        grid[first, 0] = not grid[first, 0]
    assert len(seen) == 1 + 80 + 80 * 79 // 2


def test_a_moved_cell_shows():
    seen = {digest(BitGrid.from_cells(130, 20, [(x, y)])) for x in range(130) for y in range(20)}
    assert len(seen) == 130 * 20


def test_a_moved_word_shows():
    """The moves include all swaps of rows and columns of words, mirrors and rotations."""
    grid = random_grid(64 * 6, 6, 0.5, 4)
    words = grid.words
    seen, moved = {digest(grid)}, 0
    for i in range(6):
        for j in range(i):
            order = list(range(6))
            order[i], order[j] = j, i
            for other in (words[order], words[:, order]):
                seen.add(digest(BitGrid(384, 6, other)))
                moved += 1
    for turn in range(1, 6):
        for other in (np.roll(words, turn, axis=0), np.roll(words, turn, axis=1)):
            seen.add(digest(BitGrid(384, 6, other)))
            moved += 1
    for other in (words.T.copy(), words[::-1], words[:, ::-1]):
        seen.add(digest(BitGrid(384, 6, other)))
        moved += 1
    assert len(seen) == 1 + moved


def test_a_difference_does_not_cancel():
    """The same bits are flipped in two words, or one word is taken for another twice."""
    seen = set()
    words = np.zeros((64, 2), np.uint64)
    for value in (1, 1 << 63, MASK, 1 << 32):
        for y in range(64):
            pair = words.copy()
            pair[y] = value
            seen.add(partial(pair, 0, 0))
    assert len(seen) == 4 * 64


def test_size_shows():
    """The same cells, or none, have other digests in universes of other sizes."""
    for cells in ([], [(0, 0)], [(0, 0), (0, 1)]):
        sizes = [(w, h) for w in (1, 2, 63, 64, 65, 128) for h in (2, 3, 64)]
        assert len({digest(BitGrid.from_cells(w, h, cells)) for w, h in sizes}) == len(sizes)
    assert digest(BitGrid(3, 5)) != digest(BitGrid(5, 3))


@given(st.integers(0, 63), st.integers(0, 63))
def test_both_halves_avalanche(bit, other):
    """One flipped bit changes about half the 128 bits of the sum (sd 5.7): 20 to 108."""
    one = np.array([[1 << bit]], np.uint64)
    two = np.array([[1 << bit ^ 1 << other]], np.uint64)
    changed = partial(one, 3, 4) ^ partial(two, 3, 4)
    assert 20 <= changed.bit_count() <= 108 or bit == other
    moved = partial(one, 3, 4) ^ partial(one, 4, 4)
    assert 20 <= moved.bit_count() <= 108


def test_bad_words_and_places():
    with pytest.raises(ValueError, match="uint64 of two dimensions"):
        partial(np.zeros(3, np.uint64), 0, 0)
    with pytest.raises(ValueError, match="uint64 of two dimensions"):
        partial(np.zeros((3, 3), np.int64), 0, 0)
    for y0, w0 in [(-1, 0), (0, -1)]:
        with pytest.raises(ValueError, match="no universe has"):
            partial(np.zeros((1, 1), np.uint64), y0, w0)


@pytest.mark.parametrize("size", [(0, 1), (1, 0), (-1, 1), (1 << 64, 1)])
def test_bad_sizes(size):
    with pytest.raises(LifesimError, match="no universe is"):
        finish(*size, 0)
