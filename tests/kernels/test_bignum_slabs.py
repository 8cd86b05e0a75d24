"""Batches in slabs: transfers and every operation against Python's integers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cuda import slabs
from kernels.bignum.cuda.layouts import Rows, Slabs
from kernels.bignum.cuda.transfer import Transfer
from kernels.bignum.numbers import Numbers, from_ints, to_ints
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

SOURCE = Path(slabs.__file__).parent
SMALL = 1 << 12  # bytes a piece of a transfer, so that small batches take several


def cuda() -> Device:
    from kernels.targets.cuda.target import CudaDevice

    return CudaDevice()


@pytest.fixture(
    scope="module",
    params=["forward", "shuffled:1", pytest.param("cuda", marks=pytest.mark.gpu)],
)
def device(request: pytest.FixtureRequest) -> Device:
    return cuda() if request.param == "cuda" else EmulatedDevice(order=request.param)


def put(device: Device, values: list[int]) -> Slabs:
    return Transfer(device, SMALL).put_slabs(from_ints(values))


def get(device: Device, batch: Slabs) -> list[int]:
    """Return the integers, after checking all that layouts.py says of a batch."""
    values = to_ints(Transfer(device, SMALL).get_slabs(batch))
    words = np.empty((batch.slabs, batch.width, 32), np.uint32)
    if words.size:
        device.download(words, batch.words)
    if batch.negative is not None:
        signs = np.empty(batch.slabs, np.uint32)
        if signs.size:
            device.download(signs, batch.negative)
        lanes = signs[:, None] >> np.arange(32, dtype=np.uint32) & 1
        magnitudes = words.any(axis=1)
        assert not (lanes.astype(bool) & ~magnitudes).any(), "a negative zero"
    past = words.transpose(0, 2, 1).reshape(-1, batch.width)[batch.count :]
    assert not past.any(), "words past the last number"
    assert max((value.bit_length() for value in values), default=0) <= batch.bits
    return values


# Lengths at the borders of words and of the chunks that are added at once.
LENGTHS = (
    1,
    31,
    32,
    33,
    63,
    64,
    65,
    96,
    255,
    256,
    257,
    288,
    300,
    511,
    512,
    513,
    1024,
    1100,
    1600,
    2048,
)


def magnitudes() -> st.SearchStrategy[int]:
    length = st.sampled_from(LENGTHS)
    return st.one_of(
        st.integers(0, 3),
        length.map(lambda n: 2**n - 1),
        length.map(lambda n: 2 ** (n - 1)),
        length.map(lambda n: 2**n + 1),
        length.flatmap(lambda n: st.integers(0, 2**n - 1)),
        # Runs of ones and of zeros: carries that go far, and borrows.
        st.tuples(length, length).map(lambda p: abs(2 ** p[0] - 2 ** p[1])),
    )


def integers(signed: bool = True) -> st.SearchStrategy[int]:
    values = magnitudes()
    return st.builds(operator.mul, values, st.sampled_from([1, -1])) if signed else values


@st.composite
def batches(draw: st.DrawFn, many: int = 2) -> list[list[int]]:
    """Return batches of equal counts, or one number for all; equal and opposite values."""
    count = draw(st.sampled_from([0, 1, 2, 31, 32, 33, 65]))
    signed = draw(st.booleans())
    # A few values, repeated in a pattern: whole lists would take too long to draw.
    pool = draw(st.lists(integers(signed), min_size=1, max_size=9))
    result = []
    for _ in range(many):
        stride, start = draw(st.integers(1, 8)), draw(st.integers(0, 8))
        n = 1 if draw(st.integers(0, 5)) == 0 else count
        values = [pool[(start + i * stride) % len(pool)] for i in range(n)]
        if signed and draw(st.integers(0, 3)) == 0:
            values = [-value for value in values]
        result.append(values)
    return result


def spread(operands: list[list[int]]) -> list[tuple[int, ...]]:
    count = next((len(x) for x in operands if len(x) != 1), 1)
    return list(zip(*[x * count if len(x) == 1 else x for x in operands], strict=True))


# --- transfers -----------------------------------------------------------------


@settings(max_examples=examples(25))
@given(batches(1), st.sampled_from(["ragged", "gathered", "reversed", "dense", "strided", "one"]))
def test_numbers_go_up_and_come_back(device: Device, batch: list[list[int]], form: str) -> None:
    values = batch[0]
    numbers = from_ints(values)
    if form == "gathered":
        values = values[::3]
        numbers = numbers.take(np.arange(0, len(numbers), 3))
    elif form == "reversed":
        values = values[::-1]
        numbers = numbers.take(slice(None, None, -1))
    elif form in ("dense", "strided"):
        numbers = dense(values, extra=form == "strided")
    elif form == "one" and values:
        values = values[:1] * 40
        numbers = numbers.take(slice(0, 1)).repeat(40)
    transfer = Transfer(device, SMALL)
    batch_there = transfer.put_slabs(numbers)
    assert batch_there.bits == max((value.bit_length() for value in values), default=0)
    back = transfer.get_slabs(batch_there)
    assert to_ints(back) == values == get(device, batch_there)
    assert back.dense
    assert back.words.flags.c_contiguous
    assert (back.negative is None) == all(value >= 0 for value in values)
    rows = transfer.put_rows(numbers)
    assert to_ints(transfer.get_rows(rows)) == values


def dense(values: list[int], extra: bool) -> Numbers:
    """Words of equal room; `extra`: with other words between the numbers."""
    width = max((-(-value.bit_length() // 64) for value in values), default=0)
    step = width + 3 * extra
    words = np.full((len(values), step), 2**64 - 1, np.uint64)
    for row, value in zip(words, values, strict=True):
        row[:width] = np.frombuffer(abs(value).to_bytes(8 * width, "little"), np.uint64)
    negative = np.array([value < 0 for value in values], np.bool_)
    return Numbers(words.reshape(-1), len(values), width, step, negative=negative)


@pytest.mark.parametrize("count", [1, 40, 300])
@pytest.mark.parametrize("words", [1, 5, 40])
def test_transfers_of_several_pieces(device: Device, count: int, words: int) -> None:
    random = np.random.default_rng(count)
    numbers = Numbers(
        random.integers(0, 2**64, count * words, np.uint64, endpoint=False), count, words, words
    )
    there = Transfer(device, 1 << 11).put_slabs(numbers)
    expected = numbers.words.view(np.uint32).reshape(count, 2 * words)
    held = np.empty((there.slabs, there.width, 32), np.uint32)
    device.download(held, there.words)
    found = held.transpose(0, 2, 1).reshape(-1, there.width)[:count]
    np.testing.assert_array_equal(found, expected[:, : there.width])
    for piece in (1 << 11, 1 << 20):
        back = Transfer(device, piece).get_slabs(there)
        np.testing.assert_array_equal(back.words, numbers.words)


def test_rows_at_odd_places_come_back(device: Device) -> None:
    words = np.arange(1, 12, dtype=np.uint32)
    starts, lengths = np.array([[1, 4, 4, 10], [3, 0, 5, 1]], np.uint64)
    parts = [slabs.upload(device, x) for x in (words, starts, lengths)]
    signs = slabs.put_mask(device, np.array([True, False, False, True]))
    back = Transfer(device).get_rows(Rows(*parts, 4, 5, 9, signs))
    value = int.from_bytes(words.tobytes(), "little")
    assert to_ints(back) == [
        -(value >> 32 & 2**96 - 1),
        0,
        value >> 128 & 2**160 - 1,
        -(value >> 320),
    ]


def test_memory_is_asked_for_before_it_is_taken() -> None:
    device = EmulatedDevice(memory=1 << 16)
    with pytest.raises(MemoryError, match=r"emulated: \d+,\d+ bytes are needed, 65,536 are free"):
        Transfer(device).put_slabs(from_ints([2**64 - 1] * 10000))
    with pytest.raises(MemoryError, match="needed"):
        Transfer(device).put_rows(from_ints([2**64 - 1] * 10000))
    assert device.free_memory() == 1 << 16


# --- operations ----------------------------------------------------------------


@settings(max_examples=examples(60))
@given(batches())
def test_sums_and_differences(device: Device, operands: list[list[int]]) -> None:
    a, b = (put(device, values) for values in operands)
    for operation, exact in ((slabs.add, operator.add), (slabs.subtract, operator.sub)):
        result = operation(device, a, b)
        assert result.bits == max(a.bits, b.bits) + 1
        assert get(device, result) == [exact(*pair) for pair in spread(operands)]
    doubled = [2 * value for value in operands[0]]
    assert get(device, slabs.add(device, a, a)) == doubled
    assert not any(get(device, slabs.subtract(device, a, a)))


@pytest.mark.parametrize("words", [1, 7, 8, 9, 16, 31])
def test_a_carry_goes_through_all_words(device: Device, words: int) -> None:
    top = 2 ** (32 * words) - 1
    a, b = put(device, [top, -top, top, 1] * 9), put(device, [1, 1, -top, top] * 9)
    total = slabs.add(device, a, b)
    assert total.width == words + 1
    assert get(device, total) == [top + 1, 1 - top, 0, top + 1] * 9
    assert get(device, slabs.subtract(device, a, b)) == [top - 1, -top - 1, 2 * top, 1 - top] * 9


@settings(max_examples=examples(40))
@given(batches(), st.integers(1, 400) | st.sampled_from([32, 64, 256, 288]))
def test_sums_modulo_powers_of_two(device: Device, operands: list[list[int]], bits: int) -> None:
    a, b = (put(device, values) for values in operands)
    for operation, exact in ((slabs.add_low, operator.add), (slabs.subtract_low, operator.sub)):
        result = operation(device, a, b, bits)
        assert (result.negative, result.bits <= bits) == (None, True)
        assert get(device, result) == [exact(*pair) % 2**bits for pair in spread(operands)]
    assert get(device, slabs.low_bits(device, a, bits)) == [x % 2**bits for x in operands[0]]


@pytest.mark.parametrize("words", [1, 7, 8, 9, 16, 31, 32, 48])
def test_a_carry_leaves_at_the_top(device: Device, words: int) -> None:
    top = 2 ** (32 * words) - 1
    a, b = put(device, [top, -top, top, 1] * 9), put(device, [1, 1, -top, top] * 9)
    total = slabs.add_low(device, a, b, 32 * words)
    assert (total.width, total.negative) == (words, None)
    assert get(device, total) == [0, 2, 0, 0] * 9
    assert get(device, slabs.subtract_low(device, b, a, 32 * words)) == [2, 0, 2, top - 1] * 9
    short = slabs.add_low(device, a, b, 32 * words - 1)
    assert get(device, short) == [0, 2 % (top // 2 + 1), 0, 0] * 9


def test_a_sum_that_cannot_be_so_long_has_no_room_for_it(device: Device) -> None:
    a, b = put(device, [5, 2**32 - 1]), put(device, [1])
    assert slabs.add_low(device, a, b, 10**6).bits == a.bits + 1
    assert slabs.low_bits(device, a, 10**6) is a
    assert get(device, slabs.subtract_low(device, b, a, 320)) == [2**320 - 4, 2**320 + 2 - 2**32]


def test_what_is_added_at_once() -> None:
    widths = range(1, 200)
    chunks = [slabs.chunk_of(width) for width in widths]
    assert set(chunks) == {8, 16, 32}
    assert all(-width % chunk < 16 for width, chunk in zip(widths, chunks, strict=True))
    assert all(chunk >= width for width, chunk in zip(range(1, 33), chunks, strict=False))


def test_an_unsigned_sum_has_no_signs(device: Device) -> None:
    a = put(device, [2**256 - 1, 0, 5])
    result = slabs.add(device, a, a)
    assert result.negative is None
    assert (result.bits, result.width) == (257, 9)


@settings(max_examples=examples(40))
@given(batches())
def test_comparing(device: Device, operands: list[list[int]]) -> None:
    a, b = (put(device, values) for values in operands)
    order = slabs.compare(device, a, b)
    assert order.dtype == np.int8
    assert order.tolist() == [(x > y) - (x < y) for x, y in spread(operands)]
    sign = slabs.sign(device, a)
    assert sign.dtype == np.int8
    assert sign.tolist() == [(x > 0) - (x < 0) for x in operands[0]]
    lengths = slabs.bit_length(device, a)
    assert lengths.dtype == np.int64
    assert lengths.tolist() == [x.bit_length() for x in operands[0]]
    assert slabs.longest(device, a) == max(lengths.tolist(), default=0)
    zeros = [i for i, x in enumerate(operands[0]) if x == 0]
    assert slabs.first_zero(device, a) == (zeros[0] if zeros else -1)
    assert get(device, slabs.negate(device, a)) == [-x for x in operands[0]]
    assert get(device, slabs.absolute(device, a)) == [abs(x) for x in operands[0]]


SHIFTS = (0, 1, 31, 32, 33, 64, 95, 256, 300, 2000)


@settings(max_examples=examples(40))
@given(batches(1), st.lists(st.sampled_from(SHIFTS + tuple(-s for s in SHIFTS)), min_size=1))
def test_shifts(device: Device, operands: list[list[int]], by: list[int]) -> None:
    (values,) = operands
    a = put(device, values)
    counts = [by[i % len(by)] for i in range(len(values) if len(values) != 1 else 34)]
    for chosen in (counts, counts[:1]):
        result = slabs.shift(device, a, np.array(chosen, np.int64))
        expected = [shifted(*pair) for pair in spread([values, chosen])]
        assert get(device, result) == expected
    # No more room than the farthest needs.
    if counts:
        result = slabs.shift(device, a, np.array(counts, np.int64))
        assert result.bits <= max(a.bits + max(counts) + 1, 1)


def shifted(value: int, by: int) -> int:
    return value << by if by >= 0 else value >> -by


def test_shifts_out_of_all_bounds() -> None:
    device = EmulatedDevice(memory=1 << 20)
    a = put(device, [0, -1, 2**200, -(2**200)])
    ends = np.iinfo(np.int64)
    low = slabs.shift(device, a, np.array([ends.min], np.int64))
    assert get(device, low) == [0, -1, 0, -1]
    mixed = slabs.shift(device, a, np.array([ends.max, ends.min, -199, 5], np.int64))
    assert get(device, mixed) == [0, -1, 2, -(2**205)]
    with pytest.raises(MemoryError, match="bytes"):
        slabs.shift(device, a, np.array([0, ends.max, 0, 0], np.int64))
    with pytest.raises(ValueError, match="2 shifts for 4"):
        slabs.shift(device, a, np.zeros(2, np.int64))


@settings(max_examples=examples(30))
@given(batches(), st.integers(0, 2**65 - 1))
def test_select(device: Device, operands: list[list[int]], bits: int) -> None:
    pairs = spread(operands)
    mask = np.array([bits >> i % 65 & 1 for i in range(len(pairs))], np.bool_)
    a, b = (put(device, values) for values in operands)
    expected = [x if m else y for m, (x, y) in zip(mask.tolist(), pairs, strict=True)]
    assert get(device, slabs.select(device, mask, a, b)) == expected


@settings(max_examples=examples(30))
@given(batches(1), st.data())
def test_take(device: Device, operands: list[list[int]], data: st.DataObject) -> None:
    (values,) = operands
    a, n = put(device, values), len(values)
    cut = data.draw(st.slices(n))
    assert get(device, slabs.take(device, a, cut)) == values[cut]
    places = data.draw(st.lists(st.integers(-n, n - 1), max_size=70)) if n else []
    taken = slabs.take(device, a, np.array(places, np.int32))
    assert get(device, taken) == [values[i] for i in places]
    bits = data.draw(st.integers(0, 2**n - 1))
    mask = np.array([bits >> i & 1 for i in range(n)], np.bool_)
    chosen = [value for value, m in zip(values, mask, strict=True) if m]
    assert get(device, slabs.take(device, a, mask)) == chosen


@settings(max_examples=examples(30))
@given(st.lists(batches(1), max_size=4))
def test_concatenate(device: Device, parts: list[list[list[int]]]) -> None:
    values = [value for (part,) in parts for value in part]
    joined = slabs.concatenate(device, [put(device, part) for (part,) in parts])
    assert get(device, joined) == values


@settings(max_examples=examples(30))
@given(batches(1), st.sampled_from([32, 64, slabs.COLUMN]))
def test_total(device: Device, operands: list[list[int]], piece: int) -> None:
    (values,) = operands
    assert get(device, slabs.total(device, put(device, values), piece)) == [sum(values)]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_total_of_all_ones(device: Device, sign: int) -> None:
    values = [sign * (2**96 - 1)] * 1000
    result = slabs.total(device, put(device, values))
    assert get(device, result) == [sum(values)]
    assert get(device, slabs.total(device, put(device, [5, *values, -5]))) == [sum(values)]


@pytest.mark.parametrize("places", [[], [0], [31], [32], [99], [40, 70], [5, 6, 99]])
def test_the_first_zero(device: Device, places: list[int]) -> None:
    values = [0 if i in places else 2 ** (i % 70) for i in range(100)]
    assert slabs.first_zero(device, put(device, values)) == (places[0] if places else -1)


def test_no_more_words_come_back_than_there_are(device: Device) -> None:
    values = [2**64 - 1, -5] * 20
    a, b = put(device, values), put(device, [2**300] * 40)
    result = slabs.subtract(device, slabs.add(device, a, b), b)
    assert result.width == 10
    back = Transfer(device).get_slabs(result)
    assert (back.width, to_ints(back)) == (1, values)


def test_resize(device: Device) -> None:
    values = [3, -7, 0, 2**31] * 10
    a = put(device, values)
    for bits in (32, 64, 200):
        wide = slabs.resize(device, a, bits)
        assert (wide.bits, get(device, wide)) == (bits, values)
    assert get(device, slabs.resize(device, wide, 32)) == values


def test_what_does_not_fit_is_refused() -> None:
    device = EmulatedDevice()
    a, b = put(device, [1, 2, 3]), put(device, [1, 2])
    operations: list[Callable[[Device, Slabs, Slabs], object]] = [
        slabs.add,
        slabs.subtract,
        slabs.compare,
    ]
    for operation in operations:
        with pytest.raises(ValueError, match="3 and 2 numbers in one operation"):
            operation(device, a, b)
    with pytest.raises(ValueError, match="a mask of 2 for 3"):
        slabs.select(device, np.ones(2, np.bool_), a, a)
    with pytest.raises(IndexError, match="a mask of 2 for 3"):
        slabs.take(device, a, np.ones(2, np.bool_))
    for wrong in (3, -4):
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for 3"):
            slabs.take(device, a, np.array([0, wrong]))


@needs_nvcc
@pytest.mark.parametrize("name", ["add", "slabs", "transfer"])
def test_nvcc_compiles(name: str) -> None:
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 90)]
    nvcc(SOURCE / f"{name}.cu", *arches, "--fatbin")
