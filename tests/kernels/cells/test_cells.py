"""Soups and surveys of packed cells: every level against the numpy reference."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import cells
from kernels.cells import bands, ref
from kernels.cells.bands import for_bands
from kernels.cells.costs import BandCosts
from kernels.cells.ref import Counts, Words
from kernels.targets import cpu
from tests.quick import examples

MASK = (1 << 64) - 1
LEVELS = [*cpu.levels(), "reference"]
SHAPES = st.tuples(st.integers(0, 20), st.one_of(st.integers(0, 20), st.integers(0, 80)))
EDGES = [0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63]
PLACES = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**63))
EDGE_DIGITS = [0, 1, 2, 3, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32]
DIGITS = st.one_of(st.sampled_from(EDGE_DIGITS), st.integers(0, 2**32))
KEYS = st.one_of(st.sampled_from([0, MASK]), st.integers(0, MASK))

POISON = np.uint64(0xC7C7C7C7C7C7C7C7)


@pytest.fixture(params=LEVELS, scope="module")
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Placed:
    """A block in the middle of a larger array, of which nothing else may change."""

    def __init__(self, shape: tuple[int, int], left: int, right: int, backwards: bool) -> None:
        rows, count = shape
        self.memory = np.full((rows + 2, left + count + right), POISON, np.uint64)
        self._inside = slice(1, rows + 1), slice(left, left + count)
        block = self.memory[self._inside]
        self.block = block[::-1] if backwards else block

    def check_outside(self) -> None:
        memory = self.memory.copy()
        memory[self._inside] = POISON
        assert (memory == POISON).all(), "a write outside"


PLACED = st.builds(Placed, SHAPES, st.integers(0, 9), st.integers(0, 9), st.booleans())


def counts_of(words: Words) -> Counts:
    """Live cells of blocks of 8 x 8 cells, by way of single cells."""
    rows, count = words.shape
    live = np.zeros((-(-rows // 8) * 8, 64 * count), np.uint8)
    packed = np.ascontiguousarray(words).view(np.uint8)
    live[:rows] = np.unpackbits(packed, axis=1, bitorder="little")
    return live.reshape(-(-rows // 8), 8, 8 * count, 8).sum(axis=(1, 3)).astype(np.uint8)


def holding(shape: tuple[int, int], seed: int, empty: float, full: float) -> Words:
    """Random words, some of them zero and some all ones."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, shape, np.uint64)
    words[rng.random(shape) < full] = MASK
    words[rng.random(shape) < empty] = 0
    return words


# --- the soup ----------------------------------------------------------------


@given(PLACED, PLACES, PLACES, DIGITS, KEYS)
@settings(max_examples=examples(200))
def test_fill_equals_the_reference(
    level: str, placed: Placed, y0: int, w0: int, digits: int, key: int
) -> None:
    expected = np.empty(placed.block.shape, np.uint64)
    ref.fill(expected, y0, w0, digits, key)
    cells.fill_soup(placed.block, y0, w0, digits, key, level=level)
    np.testing.assert_array_equal(placed.block, expected)
    placed.check_outside()


@pytest.mark.parametrize("digits", [*EDGE_DIGITS, *(1 << k for k in range(2, 31)), 0xAAAAAAAA])
def test_fill_at_every_number_of_digits(level: str, digits: int) -> None:
    for count in (1, 7, 8, 9, 31, 32, 33, 41):
        found, expected = np.full((2, 3, count), POISON)
        cells.fill_soup(found, 5, 6, digits, 7, level=level)
        ref.fill(expected, 5, 6, digits, 7)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 64])
def test_chunks_of_the_reference_do_not_show(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """Chunks narrower than a row, of a row, and of several."""

    def made() -> tuple[Words, int, int]:
        words = np.empty((13, 5), np.uint64)
        ref.fill(words, 3, 4, 0x55555555, 7)
        return words, ref.population(words), ref.partial(words, 3, 4)

    whole = made()
    monkeypatch.setattr(ref, "_CHUNK_WORDS", chunk)
    chunked = made()
    np.testing.assert_array_equal(chunked[0], whole[0])
    assert chunked[1:] == whole[1:]


# --- the survey --------------------------------------------------------------


@given(
    PLACED,
    PLACES,
    PLACES,
    st.integers(0, 2**32),
    st.sampled_from([0, 0.5, 0.97, 1]),
    st.sampled_from([0, 0.5, 1]),
)
@settings(max_examples=examples(200))
def test_survey_equals_the_reference(
    level: str, placed: Placed, y0: int, w0: int, seed: int, empty: float, full: float
) -> None:
    words = placed.block
    words[:] = holding(words.shape, seed, empty, full)
    words.flags.writeable = False
    expected = int(np.bitwise_count(words).sum()), ref.partial(words, y0, w0)
    assert cells.survey(words, y0, w0, level=level) == expected
    rows, count = words.shape
    memory = np.full((-(-rows // 8) + 2, 8 * count), 77, np.uint8)
    assert cells.survey(words, y0, w0, memory[1:-1], level=level) == expected
    np.testing.assert_array_equal(memory[1:-1], counts_of(words))
    assert (memory[[0, -1]] == 77).all()
    placed.check_outside()


def test_survey_of_nothing_but_live_cells(level: str) -> None:
    """The most that a count can be, and carries from most of the low halves."""
    for rows, count in ((8, 8), (64, 33), (65, 1)):
        words = np.full((rows, count), MASK, np.uint64)
        counts = np.zeros((-(-rows // 8), 8 * count), np.uint8)
        expected = 64 * rows * count, ref.partial(words, 0, 0)
        assert cells.survey(words, 0, 0, counts, level=level) == expected
        assert (counts[: rows // 8] == 64).all()
        assert (counts[rows // 8 :] == 8 * (rows % 8)).all()


def test_each_cell_is_counted_where_it_is(level: str) -> None:
    for y in range(11):
        for x in range(0, 64 * 9, 7):
            words = np.zeros((11, 9), np.uint64)
            words[y, x >> 6] = 1 << (x & 63)
            counts = np.full((2, 72), 77, np.uint8)
            assert cells.survey(words, 0, 0, counts, level=level)[0] == 1
            assert counts[y // 8, x // 8] == 1
            assert counts.sum() == 1


def test_places_go_round_at_2_to_64(level: str) -> None:
    """Words may be on both sides of 2^64, as y and w are taken modulo it."""
    words = holding((3, 20), 1, 0, 0)
    parts = words[:1, :5], words[:1, 5:], words[1:, :5], words[1:, 5:]
    places = (MASK, MASK - 4), (MASK, 0), (0, MASK - 4), (2**64, 2**64)
    total = sum(
        cells.survey(part, *place, level=level)[1]
        for part, place in zip(parts, places, strict=True)
    )
    assert cells.survey(words, MASK, MASK - 4, level=level)[1] == total % (1 << 128)


# --- arguments ---------------------------------------------------------------


def words(*shape: int) -> Words:
    return np.full(shape, POISON)


def test_nothing_to_do(level: str) -> None:
    for shape in ((0, 0), (0, 3), (3, 0)):
        cells.fill_soup(words(*shape), 0, 0, 5, 6, level=level)
        counts = np.full((-(-shape[0] // 8), 8 * shape[1]), 77, np.uint8)
        assert cells.survey(words(*shape), 0, 0, counts, level=level) == (0, 0)


@pytest.mark.parametrize(
    "array",
    [
        words(3),
        words(2, 2, 2),
        words(2, 3).astype(np.int64),
        words(2, 3).astype(">u8"),
        words(2, 6)[:, ::2],
        words(2, 3)[:, ::-1],
        words(3, 2).T,
        np.zeros(60, np.uint8)[4:52].view(np.uint64).reshape(2, 3),
        np.zeros((2, 28), np.uint8)[:, :24].view(np.uint64),
    ],
)
def test_refuses_words(level: str, array: npt.NDArray[Any]) -> None:
    before = array.copy()
    with pytest.raises(ValueError, match="words must be"):
        cells.fill_soup(array, 0, 0, 5, 6, level=level)
    with pytest.raises(ValueError, match="words must be"):
        cells.survey(array, 0, 0, level=level)
    np.testing.assert_array_equal(array, before)


def test_refuses_words_that_are_read_only(level: str) -> None:
    block = words(2, 3)
    block.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        cells.fill_soup(block, 0, 0, 5, 6, level=level)


@pytest.mark.parametrize(
    "counts",
    [
        np.zeros((1, 24), np.uint8),
        np.zeros((3, 24), np.uint8),
        np.zeros((2, 3), np.uint8),
        np.zeros(48, np.uint8),
        np.zeros((2, 24), np.int8),
        np.zeros((2, 48), np.uint8)[:, ::2],
        np.zeros((24, 2), np.uint8).T,
        np.zeros((4, 24), np.uint8)[::2],
        np.broadcast_to(np.zeros(24, np.uint8), (2, 24)),
    ],
)
def test_refuses_counts(level: str, counts: Any) -> None:
    with pytest.raises(ValueError, match="counts must be"):
        cells.survey(words(9, 3), 0, 0, counts, level=level)
    assert not counts.any()


def test_refuses_what_else_is_wrong(level: str) -> None:
    block = words(2, 3)
    for y0, w0 in ((-1, 0), (0, -1)):
        with pytest.raises(ValueError, match="no universe"):
            cells.fill_soup(block, y0, w0, 5, 6, level=level)
        with pytest.raises(ValueError, match="no universe"):
            cells.survey(block, y0, w0, level=level)
    for digits in (-1, 2**32 + 1):
        with pytest.raises(ValueError, match="digits"):
            cells.fill_soup(block, 0, 0, digits, 6, level=level)
    for key in (-1, 2**64):
        with pytest.raises(ValueError, match="key"):
            cells.fill_soup(block, 0, 0, 5, key, level=level)
    with pytest.raises(ValueError, match="no level 'v0'"):
        cells.survey(block, 0, 0, level="v0")
    assert (block == POISON).all()


@pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
def test_extension_refuses_on_its_own() -> None:
    extension, best = importlib.import_module("kernels._cpu"), LEVELS[-2]
    for bad in (words(3), words(2, 3).astype(np.int64), words(2, 6)[:, ::2], words(3, 2).T):
        with pytest.raises(ValueError, match="words must be"):
            extension.cells_fill_soup(best, bad, 0, 0, 5, 6)
        with pytest.raises(ValueError, match="words must be"):
            extension.cells_survey(best, bad, 0, 0, None)
    with pytest.raises(ValueError, match="digits"):
        extension.cells_fill_soup(best, words(2, 3), 0, 0, 2**32 + 1, 6)
    for counts in (np.zeros((2, 23), np.uint8), np.zeros((2, 48), np.uint8)[:, ::2]):
        with pytest.raises(ValueError, match="counts must be"):
            extension.cells_survey(best, words(9, 3), 0, 0, counts)


# --- bands -------------------------------------------------------------------


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize(("rows", "count"), [(0, 5), (1, 5), (7, 1), (8, 5), (100, 5), (33, 1000)])
def test_bands_are_all_the_rows_in_order(
    monkeypatch: pytest.MonkeyPatch, cores: int, rows: int, count: int
) -> None:
    monkeypatch.setattr(bands, "core_count", lambda: cores)
    monkeypatch.setattr(bands, "BAND_COSTS", BandCosts(100))
    found = for_bands(lambda top, bottom: list(range(top, bottom)), rows, count)
    assert [y for band in found for y in band] == list(range(rows))
    assert all(
        len(band) % 8 == 0 and len(band) * count <= max(100, 8 * count) for band in found[:-1]
    )


def test_bands_raise_what_a_task_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bands, "core_count", lambda: 2)
    monkeypatch.setattr(bands, "BAND_COSTS", BandCosts(1))
    at_once = threading.Barrier(2, timeout=60)

    def task(top: int, bottom: int) -> None:
        if top < 16:
            at_once.wait()
        if top == 8:
            raise KeyError(top)

    with pytest.raises(KeyError, match="8"):
        for_bands(task, 800, 1)


@given(PLACED, st.integers(1, 3), st.data())
@settings(deadline=None)
def test_densities(level: str, placed: Placed, scale: int, data: st.DataObject) -> None:
    """Against single cells, summed; with the words at any place of a larger array."""
    block = placed.block[: len(placed.block) >> scale << scale]
    seed = data.draw(st.integers(0, 2**32 - 1))
    source = np.random.default_rng(seed)
    block[:] = source.integers(0, 2**64, block.shape, np.uint64)
    block[:] |= source.choice(np.array([0, 0, MASK], np.uint64), block.shape)
    cells_across = 64 * block.shape[1]
    first = data.draw(st.integers(0, cells_across))
    columns = data.draw(st.integers(0, (cells_across - first) >> scale))
    side = 1 << scale
    bits = np.unpackbits(
        np.ascontiguousarray(block).view(np.uint8), axis=1, bitorder="little", count=cells_across
    )
    live = np.zeros((len(block) >> scale, columns), np.int64)
    for r in range(side):
        for c in range(side):
            live += bits[r::side, first + c : first + columns * side : side][:, :columns]
    levels = np.full(live.shape, 199, np.uint8)
    before = placed.memory.copy()
    cells.densities(block, first, scale, levels, level=level)
    # A half is rounded up.
    assert np.array_equal(levels, np.floor(255 * live / side**2 + 0.5))
    assert ((levels == 0) == (live == 0)).all()
    assert ((levels == 255) == (live == side**2)).all()
    assert np.array_equal(placed.memory, before)


@given(
    st.integers(3, 12),
    st.integers(0, 9),
    st.one_of(st.integers(0, 9), st.integers(0, 300)),
    st.integers(0, 7),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None)
def test_climb(
    level: str, scale: int, rows: int, columns: int, beside: int, highest: bool, seed: int
) -> None:
    """Against blocks one by one, in rows that lie apart; with and without the next scale."""
    source, full = np.random.default_rng(seed), 4**scale
    memory = source.integers(0, full + 1, (rows, columns + beside)).astype(cells.live_type(scale))
    memory[source.random(memory.shape) < 0.2] = 0
    memory[source.random(memory.shape) < 0.2] = full
    live, before = memory[:, :columns], memory.copy()
    levels = np.full(live.shape, 199, np.uint8)
    above = None
    if not highest:
        above = np.full((-(-rows // 2), -(-columns // 2)), 77, cells.live_type(scale + 1))
    cells.climb(live, scale, levels, above, level=level)
    for row, column in np.ndindex(live.shape):
        count = int(live[row, column])
        nearest = (510 * count + full) // (2 * full)
        assert levels[row, column] == max(count > 0, min(nearest, 255 - (count < full)))
    if above is not None:
        for row, column in np.ndindex(above.shape):
            four = live[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            assert above[row, column] == four.sum(dtype=np.int64)
    assert np.array_equal(memory, before)


@pytest.mark.parametrize("scale", range(32))
def test_live_cells_of_a_block_fit_into_their_type(scale: int) -> None:
    kinds = (np.uint8, np.uint16, np.uint32, np.uint64)
    fitting = [kind for kind in kinds if 4**scale <= np.iinfo(kind).max]
    assert cells.live_type(scale) is fitting[0]


@pytest.mark.parametrize("scale", range(3, 13))
def test_every_number_of_live_cells_has_its_level(level: str, scale: int) -> None:
    full = 4**scale
    counts = np.arange(full + 1) if scale < 9 else np.linspace(0, full, 1 << 16).astype(np.int64)
    live = counts.astype(cells.live_type(scale))[None]
    levels = np.zeros(live.shape, np.uint8)
    cells.climb(live, scale, levels, level=level)
    nearest = (510 * counts + full) // (2 * full)
    expected = np.minimum(np.maximum(nearest, counts > 0), 255 - (counts < full))
    assert np.array_equal(levels[0], expected)


def test_climbs_that_are_refused() -> None:
    live, levels = np.zeros((4, 6), np.uint8), np.zeros((4, 6), np.uint8)
    wide = live.astype(np.uint16)
    for arguments in (
        (live, 2, levels),
        (wide, 13, levels),
        (wide, 3, levels),
        (live, 4, levels),
        (live, 3, levels[:3]),
        (live, 3, levels, np.zeros((2, 2), np.uint16)),
        (live, 3, levels, np.zeros((2, 3), np.uint8)),
    ):
        with pytest.raises(ValueError, match=r"must be|not added up"):
            cells.climb(*arguments)


def test_densities_of_what_is_not_there() -> None:
    words = np.zeros((8, 2), np.uint64)
    for rows, first, scale, shape in (
        (8, 0, 0, (8, 4)),
        (8, 0, 4, (0, 4)),
        (7, 0, 1, (3, 4)),
        (8, 0, 1, (3, 4)),
        (8, -1, 1, (4, 4)),
        (8, 0, 1, (4, 65)),
        (8, 1, 1, (4, 64)),
        (8, 129, 1, (4, 0)),
    ):
        with pytest.raises(ValueError, match=r"block|levels"):
            cells.densities(words[:rows], first, scale, np.zeros(shape, np.uint8))
    with pytest.raises(ValueError, match="levels"):
        cells.densities(words, 0, 1, np.zeros((4, 64), np.uint8)[:, ::2])


@given(PLACED, st.integers(0, 3), st.booleans(), st.data())
@settings(deadline=None)
def test_ages(level: str, placed: Placed, scale: int, seen: bool, data: st.DataObject) -> None:
    """Against blocks looked at one by one; the last ones lack rows and columns."""
    words = placed.block
    if not words.size:
        return
    source = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    words[:] = source.integers(0, 2**64, words.shape, np.uint64)
    words[:] &= source.choice(np.array([0, 1 << 17, MASK], np.uint64), words.shape)
    known = words ^ source.choice(np.array([0, 0, 1 << 40, MASK], np.uint64), words.shape)
    across, side = 64 * words.shape[1], 1 << scale
    first = data.draw(st.integers(0, across - 1))
    most = -(-(across - first) >> scale)
    shape = -(-len(words) >> scale), data.draw(st.integers(1, most))
    shades = source.integers(0, 256, data.draw(st.sampled_from([2, 9, 4097, 1 << 16])), np.uint8)
    oldest = len(shades) - 1
    before = source.integers(0, oldest + 1, shape, np.uint16) * source.integers(
        0, 2, shape, np.uint16
    )
    passed = data.draw(st.sampled_from([0, 1, 7, 4095, 65535]))
    counts, levels = np.full(shape, 77, np.uint16), np.full(shape, 77, np.uint8)
    memory = placed.memory.copy()
    told = {"before": before, "known": known, "passed": passed} if seen else {}
    cells.ages(words, first, scale, counts, levels, shades, level=level, **told)
    now, then = (
        np.unpackbits(np.ascontiguousarray(each).view(np.uint8), axis=1, bitorder="little")
        for each in (words, known)
    )
    for r in range(shape[0]):
        for c in range(shape[1]):
            box = np.s_[r * side : (r + 1) * side, first + c * side : first + (c + 1) * side]
            if not now[box].any():
                expected = 0
            elif not seen or (now[box] > then[box]).any() or not before[r, c]:
                expected = 1
            else:
                expected = min(int(before[r, c]) + passed, oldest)
            assert counts[r, c] == expected, (r, c)
    assert np.array_equal(levels, shades[counts])
    assert np.array_equal(placed.memory, memory)


def test_ages_of_what_is_not_there() -> None:
    words, shades = np.zeros((5, 2), np.uint64), np.zeros(9, np.uint8)

    def ask(first: int = 0, scale: int = 1, columns: int = 4, **options: Any) -> None:
        shape = -(-len(words) >> max(scale, 0)), columns
        made = {"counts": np.zeros(shape, np.uint16), "levels": np.zeros(shape, np.uint8)}
        cells.ages(words, first, scale, **{**made, "shades": shades, **options})

    ask()
    ask(first=126, columns=1)
    ask(first=127, columns=1)
    before, known = np.zeros((3, 4), np.uint16), np.zeros((5, 2), np.uint64)
    ask(before=before, known=known, passed=65535)
    for wrong in (
        {"scale": 4},
        {"scale": -1},
        {"first": -1},
        {"first": 128, "columns": 1},
        {"first": 126, "columns": 2},
        {"before": before},
        {"known": known},
        {"before": before, "known": known[:4]},
        {"before": before, "known": known, "passed": -1},
        {"before": before[:, ::2], "known": known, "columns": 2},
        {"before": before.astype(np.uint8), "known": known},
        {"counts": np.zeros((2, 4), np.uint16)},
        {"levels": np.zeros((3, 4), np.uint16)},
        {"shades": np.zeros(1, np.uint8)},
        {"shades": np.zeros((3, 3), np.uint8)},
    ):
        with pytest.raises(ValueError, match=r"block|known|uint|scale"):
            ask(**wrong)  # type: ignore[arg-type]


@pytest.mark.sample(1)
@pytest.mark.parametrize("scale", [1, 2, 3])
def test_long_rows_are_gone_through_in_parts(level: str, scale: int) -> None:
    """Parts of a row are looked at one by one, so that Ctrl-C need not wait for a whole row."""
    rows, count, first = 16, 70_001, 37 + 64 * 3
    found, expected = words(rows, count), words(rows, count)
    cells.fill_soup(found, 5, 2**64 - 7, 1 << 29, 11, level=level)
    ref.fill(expected, 5, 2**64 - 7, 1 << 29, 11)
    assert np.array_equal(found, expected)
    counts = np.empty((2, 8 * count), np.uint8)
    assert cells.survey(found, 5, 9, counts, level=level) == (
        ref.population(found),
        ref.partial(found, 5, 9),
    )
    assert np.array_equal(counts, counts_of(found))
    columns = (64 * count - first) >> scale
    levels, same = (np.empty((rows >> scale, columns), np.uint8) for _ in range(2))
    cells.densities(found, first, scale, levels, level=level)
    ref.densities(found, first, scale, same)
    assert np.array_equal(levels, same)
    known = np.roll(found, 1, axis=0)
    before = np.resize(np.arange(7, dtype=np.uint16), levels.shape)
    shades = np.arange(50, dtype=np.uint8)
    ages = []
    for engine in (level, "reference"):
        old, light = np.empty(levels.shape, np.uint16), np.empty(levels.shape, np.uint8)
        cells.ages(
            found, first, scale, old, light, shades, before=before, known=known, passed=3,
            level=engine,
        )  # fmt: skip
        ages.append((old, light))
    for mine, theirs in zip(*ages, strict=True):
        assert np.array_equal(mine, theirs)
