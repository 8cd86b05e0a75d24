"""Carry-free additions, on every backend against Python's integers and the plain version."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import redundant as benchmark
from kernels import redundant
from kernels.redundant import GROUP, WORDS, Format, Redundant
from kernels.redundant.cpu.engine import CpuRedundant
from kernels.redundant.cuda.engine import SOURCE, DeviceDigits, DeviceRedundant, choose
from kernels.redundant.ref import ReferenceRedundant
from kernels.targets import cpu
from kernels.targets.cpu import CpuTarget
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

BACKENDS = ["reference", "emulated", *cpu.levels()]
EVERYWHERE = [(name, word) for name in BACKENDS for word in WORDS]
ON_A_GPU = [pytest.param(("cuda", word), marks=pytest.mark.gpu) for word in WORDS]


@cache
def backend(name: str, word: int) -> Redundant[Any]:
    format = Format(word)
    if name == "reference":
        return ReferenceRedundant(format)
    if name == "emulated":
        # Blocks of a warp and short tiles, so that short numbers take several.
        return DeviceRedundant(format, EmulatedDevice(), threads=32, tile=8)
    if name == "cuda":
        from kernels.targets.cuda.target import CudaTarget

        return DeviceRedundant(format, CudaTarget().device)
    return CpuRedundant(format, CpuTarget(2, name))


@pytest.fixture(scope="module", params=[*EVERYWHERE, *ON_A_GPU], ids=str)
def arithmetic(request: pytest.FixtureRequest) -> Redundant[Any]:
    return backend(*request.param)


def value(digits: npt.NDArray[Any], log: int) -> int:
    return sum(digit << log * i for i, digit in enumerate(digits.tolist()))


@st.composite
def digit_arrays(draw: st.DrawFn, format: Format, groups: int = 10) -> npt.NDArray[Any]:
    """Runs of digits at the ends of what is allowed, and just inside and around carries."""
    half, limit = 1 << format.log - 1, format.limit
    hurting = st.sampled_from(
        [0, 1, -1, limit, -limit, half, -half, half - 1, 1 - half, half // 2, -(half // 2)]
    )
    size = draw(st.integers(1, groups)) * GROUP
    runs = st.tuples(hurting | st.integers(-limit, limit), st.integers(1, 4 * GROUP))
    digits: list[int] = []
    while len(digits) < size:
        digit, length = draw(runs)
        digits += [digit] * length
    return np.array(digits[:size], format.dtype)


def room(format: Format, *numbers: npt.NDArray[Any]) -> int:
    return format.digits_for(format.log * max(n.size for n in numbers) + 1)


@pytest.mark.sample(5)
@settings(max_examples=examples(40))
@given(data=st.data())
def test_sums_and_differences(arithmetic: Redundant[Any], data: st.DataObject) -> None:
    format = arithmetic.format
    a, b = (data.draw(digit_arrays(format)) for _ in range(2))
    x, y = arithmetic.put(a), arithmetic.put(b)
    size = room(format, a, b) + data.draw(st.sampled_from([0, GROUP]))
    plain = ReferenceRedundant(format)
    va, vb = value(a, format.log), value(b, format.log)
    for found, expected, total in (
        (arithmetic.add(x, y, size), plain.add(a, b, size), va + vb),
        (arithmetic.subtract(x, y, size), plain.subtract(a, b, size), va - vb),
        (arithmetic.add(x, x, size), plain.add(a, a, size), 2 * va),
        (arithmetic.subtract(x, x, size), np.zeros(size, format.dtype), 0),
    ):
        digits = arithmetic.get(found)
        np.testing.assert_array_equal(digits, expected)
        format.check_digits(digits)
        assert value(digits, format.log) == total
        assert arithmetic.normalise(found) == total
    np.testing.assert_array_equal(arithmetic.get(x), a)
    np.testing.assert_array_equal(arithmetic.get(y), b)


@pytest.mark.sample(8)
@settings(max_examples=examples(30))
@given(data=st.data())
def test_normalised_and_negated(arithmetic: Redundant[Any], data: st.DataObject) -> None:
    digits = data.draw(digit_arrays(arithmetic.format))
    x = arithmetic.put(digits)
    expected = value(digits, arithmetic.format.log)
    assert arithmetic.normalise(x) == expected
    minus = arithmetic.negate(x)
    np.testing.assert_array_equal(arithmetic.get(minus), -digits)
    assert arithmetic.normalise(minus) == -expected


hurting_ints = st.one_of(
    st.integers(0, 2**6000),
    st.integers(0, 6000).map(lambda k: (1 << k) - 1),
    st.integers(0, 6000).map(lambda k: 1 << k),
    st.integers(0, 6000).map(lambda k: (1 << k) + 1),
    st.sampled_from([0, 1]),
)


def rows(values: list[int], width: int) -> npt.NDArray[np.uint64]:
    raw = b"".join(v.to_bytes(8 * width, "little") for v in values)
    return np.frombuffer(raw, "<u8").reshape(len(values), width).astype(np.uint64)


@settings(max_examples=examples(40))
@given(data=st.data())
def test_sum_of_many(arithmetic: Redundant[Any], data: st.DataObject) -> None:
    format = arithmetic.format
    values = data.draw(st.lists(hurting_ints, max_size=7))
    values *= data.draw(st.sampled_from([1, 1, 3]))
    positive = data.draw(st.integers(0, len(values)))
    bits = max((v.bit_length() for v in values), default=0)
    width = -(-bits // 64) + data.draw(st.integers(0, 1))
    size = max(format.digits_for(bits + 6), format.digits_for(64 * width))
    found = arithmetic.sum(rows(values, width), positive, size)
    expected = sum(values[:positive]) - sum(values[positive:])
    digits = arithmetic.get(found)
    format.check_digits(digits)
    assert value(digits, format.log) == expected
    assert arithmetic.normalise(found) == expected


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("sign", [1, -1])
def test_sum_of_as_many_as_a_digit_counts(name: str, sign: int) -> None:
    """Numbers of all ones all carry; with one number more the carries would be no digit."""
    arithmetic = backend(name, 16)
    most = arithmetic.format.most
    assert most == 8192
    # Emulation is slow, and the plain version too.
    count = most if name in cpu.levels() else most // 8
    width = 2
    numbers = np.full((count, width), 2**64 - 1, np.uint64)
    positive = count if sign > 0 else 0
    found = arithmetic.sum(numbers, positive, GROUP)
    arithmetic.format.check_digits(arithmetic.get(found))
    assert arithmetic.normalise(found) == sign * count * (2**128 - 1)
    with pytest.raises(ValueError, match="8192 at once"):
        arithmetic.sum(np.zeros((most + 1, 1), np.uint64), 0, GROUP)


def test_digits_stay_within_their_limit(arithmetic: Redundant[Any]) -> None:
    """The same number a hundred times, into the places of two results in turn."""
    format = arithmetic.format
    size = format.digits_for(format.log * GROUP + 8)
    digits = np.full(GROUP, format.limit, format.dtype)
    digits[::3] = -format.limit
    x = arithmetic.put(digits)
    total, spare = arithmetic.add(x, x, size), None
    for _ in range(98):
        total, spare = arithmetic.add(total, x, size, spare), total
        format.check_digits(arithmetic.get(total))
    assert arithmetic.normalise(total) == 100 * value(digits, format.log)


def test_carries_run_through_all_digits(arithmetic: Redundant[Any]) -> None:
    """Carries run when normalised only: base^n - 1 and one more, 1 less base^n."""
    format = arithmetic.format
    bits = format.log * 2 * GROUP - 2
    size = format.digits_for(bits + 1)
    width = -(-bits // 64)
    for sign in (1, -1):
        positive = 1 if sign > 0 else 0
        ones = arithmetic.sum(rows([(1 << bits) - 1], width), positive, size)
        one = arithmetic.sum(rows([1], 1), positive, size)
        top = arithmetic.add(ones, one, size)
        assert arithmetic.normalise(top) == sign * (1 << bits)
        assert arithmetic.normalise(arithmetic.subtract(top, one, size)) == sign * ((1 << bits) - 1)
        assert arithmetic.normalise(arithmetic.subtract(one, top, size)) == -sign * (
            (1 << bits) - 1
        )


# --- shared out among threads and blocks --------------------------------------------


@pytest.mark.sample(4)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("level", cpu.levels())
def test_threads_share_long_numbers(level: str, word: int) -> None:
    """A thread takes 2 MiB or more; tiles of a sum have 32 groups."""
    format = Format(word)
    arithmetic = CpuRedundant(format, CpuTarget(3, level))
    random = np.random.default_rng(word)
    sizes = [GROUP * n * 64 // word for n in (18001, 9100)]
    a, b = (
        random.integers(-format.limit, format.limit, n, format.dtype, endpoint=True) for n in sizes
    )
    plain = ReferenceRedundant(format)
    size = room(format, a, b)
    for x, y in ((a, b), (b, a), (a, a)):
        for operation, expected in (
            (arithmetic.add, plain.add(x, y, size)),
            (arithmetic.subtract, plain.subtract(x, y, size)),
        ):
            np.testing.assert_array_equal(operation(x, y, size), expected)
            place = np.zeros(size, format.dtype)
            place[: x.size] = x
            np.testing.assert_array_equal(operation(place, y, size, place), expected)
            place[:] = 0
            place[: x.size] = x
            twice = operation(place, place, size, place)
            np.testing.assert_array_equal(twice, getattr(plain, operation.__name__)(x, x, size))
    numbers = random.integers(0, 2**64, (3, 9001 * format.log // 2), np.uint64)
    found = arithmetic.sum(numbers, 2, format.digits_for(64 * numbers.shape[1] + 2))
    x, y, z = (int.from_bytes(row.astype("<u8").tobytes(), "little") for row in numbers)
    assert arithmetic.normalise(found) == x + y - z


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("order", ["reverse", "shuffled:3"])
def test_emulated_in_other_orders(order: str, word: int) -> None:
    format = Format(word)
    arithmetic = DeviceRedundant(format, EmulatedDevice(order=order), threads=32, tile=8)
    values = [(1 << 6000) - 1, 1 << 5999, (1 << 3000) + 1]
    found = arithmetic.sum(rows(values, 94), 2, format.digits_for(6016))
    assert arithmetic.normalise(found) == values[0] + values[1] - values[2]


def test_choice_covers_the_work() -> None:
    assert choose(1, 256).grid == (1, 1, 1)
    assert choose(256, 256).grid == (1, 1, 1)
    assert choose(257, 256).grid == (2, 1, 1)
    assert choose(256, 256, overlap=1).grid == (2, 1, 1)
    for units in (0, 2**41):
        with pytest.raises(ValueError, match="none or too many"):
            choose(units, 256)


@needs_nvcc
@pytest.mark.sample(1)
@pytest.mark.parametrize("word", WORDS)
def test_nvcc_compiles(word: int) -> None:
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 90)]
    nvcc(SOURCE, *arches, "--fatbin", f"-DWORD={word}")


# --- the door ------------------------------------------------------------------------


@given(st.sampled_from(WORDS), st.integers(0, 5000))
def test_room_is_enough_and_no_more(word: int, bits: int) -> None:
    format = Format(word)
    digits = format.digits_for(bits)
    base = 1 << format.log
    assert digits % GROUP == 0
    # With a carry out of the top, and all below as far the other way as they go:
    left = base**digits - (base**digits - 1) // (base - 1) * format.limit
    assert left >= 1 << bits
    assert digits == GROUP or (1 << bits + 2) > base ** (digits - GROUP)
    assert digits * format.log >= -(-bits // 64) * 64


def test_format_keeps_its_digits() -> None:
    for word in (8, 0, 33):
        with pytest.raises(ValueError, match="16, 32 or 64"):
            Format(word)
    for word in WORDS:
        format = Format(word)
        base, limit = 1 << format.log, format.limit
        assert limit < base < 2 * limit  # Avizienis
        assert 2 * limit < 1 << word - 1
        good = np.full(GROUP, limit, format.dtype)
        format.check_digits(good)
        format.check_digits(-good)
        for i, digit in ((0, limit + 1), (5, -limit - 1), (31, np.iinfo(format.dtype).min)):
            bad = good.copy()
            bad[i] = digit
            with pytest.raises(ValueError, match=f"digit {i} is"):
                format.check_digits(bad)
        for shape in (good[:-1], good[:0], good.reshape(2, -1), good.astype(np.float64)):
            with pytest.raises(ValueError, match="digits"):
                format.check_digits(shape)


def test_backends_check_what_they_get(arithmetic: Redundant[Any]) -> None:
    x = arithmetic.put(np.ones(2 * GROUP, arithmetic.format.dtype))
    for size in (GROUP, 2 * GROUP + 1, 0):
        with pytest.raises(ValueError, match="no room"):
            arithmetic.add(x, x, size)
    for numbers, positive, size in (
        (np.zeros((2, 2), np.int64), 0, GROUP),
        (np.zeros(2, np.uint64), 0, GROUP),
        (np.zeros((2, 4), np.uint64)[:, ::2], 0, GROUP),
        (np.zeros((2, 2), np.uint64), 3, GROUP),
        (np.zeros((2, 2), np.uint64), -1, GROUP),
        (np.zeros((2, 32), np.uint64), 2, GROUP),
        (np.zeros((2, 2), np.uint64), 2, GROUP + 8),
    ):
        with pytest.raises(ValueError, match=r"numbers|no room"):
            arithmetic.sum(numbers, positive, size)


def test_device_refuses_a_place_that_is_taken() -> None:
    arithmetic = backend("emulated", 32)
    x, y = (arithmetic.put(np.ones(GROUP, np.int32)) for _ in range(2))
    for out in (x, y, DeviceDigits(arithmetic.put(np.ones(2 * GROUP, np.int32)).buffer, 2 * GROUP)):
        with pytest.raises(ValueError, match="place of the result"):
            arithmetic.add(x, y, GROUP, out)


def test_extension_refuses_what_is_wrong() -> None:
    if not cpu.levels():
        pytest.skip("no extension")
    from kernels import _cpu

    level = cpu.levels()[-1]
    x, y, z = (np.zeros(GROUP, np.int32) for _ in range(3))
    long = np.zeros(2 * GROUP, np.int32)
    _cpu.redundant_add(level, 32, x, y, False, z, 1)
    bad = [
        (level, 32, x, y, False, y, 1),  # overlaps
        (level, 32, long[:32], y, False, long[16:48], 1),
        (level, 32, long[:32], long[:32], False, long[:64], 1),  # not in place: longer
        (level, 32, x, y, False, z[:-1], 1),  # longer than the result
        (level, 32, x, y.astype(np.int64), False, z, 1),
        (level, 32, x, y, False, np.zeros(64, np.int32)[::2], 1),
        (level, 32, x[::-1], y, False, z, 1),
        (level, 32, x.reshape(2, -1), y, False, z, 1),
        (level, 16, x, y, False, z, 1),
        (level, 8, x, y, False, z, 1),
        (level, 32, x, y, False, z, 0),
        ("v0", 32, x, y, False, z, 1),
    ]
    for arguments in bad:
        with pytest.raises(ValueError, match=r"arrays|overlap|words|level|thread|digits"):
            _cpu.redundant_add(*arguments)
    numbers = np.zeros((3, 15), np.uint64)
    _cpu.redundant_sum(level, 32, numbers, 3, z, 1)
    for arguments in (
        (level, 32, numbers, 4, z, 1),
        (level, 32, np.zeros((3, 16), np.uint64), 3, z, 1),
        (level, 32, numbers, 3, z[:-1], 1),
        (level, 16, np.zeros((8193, 1), np.uint64), 3, np.zeros(GROUP, np.int16), 1),
        (level, 32, numbers.astype(np.int64), 3, z, 1),
        (level, 32, numbers[:, ::2], 3, z, 1),
        (level, 32, numbers, 3, z, 0),
    ):
        with pytest.raises(ValueError, match=r"arrays|numbers|digits|thread"):
            _cpu.redundant_sum(*arguments)
    for words in (np.zeros(15, np.uint64), np.zeros(16, np.int64)):
        with pytest.raises(ValueError, match=r"arrays|words"):
            _cpu.redundant_normalise(level, 32, x, words)
    with pytest.raises(ValueError, match="digits"):
        _cpu.redundant_normalise(level, 32, x[:-1], np.zeros(16, np.uint64))


def test_package_names_what_it_has() -> None:
    assert all(hasattr(redundant, name) for name in redundant.__all__)


# --- the benchmark ---------------------------------------------------------------------


def test_benchmark_fills_the_columns_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "RUNS", 1)
    monkeypatch.setattr(benchmark, "RUN_SECONDS", 0)
    backend = CpuTarget(1) if cpu.levels() else None
    emulated = cast(Device, EmulatedDevice())  # its methods take its own buffers only
    rates = benchmark.measure(backend, emulated, [1, 2], (1, 5))
    places = {"GMP", "GPU", *(["CPU"] if backend else [])}
    assert {rate.place for rate in rates} == places
    assert len(rates) == 3 * (1 + 3 * (len(places) - 1))
    assert all(rate.gigabytes > 0 for rate in rates)
    rates = [benchmark.Rate("GMP", None, 4, 2, 8.04), benchmark.Rate("GPU", 16, 8, 64, 2.5)]
    lines = benchmark.as_markdown(rates).splitlines()
    assert lines[:3] == ["| GB/s, x += y | 4 KiB |", "| --- | ---: |", "| GMP | 8.0 |"]
    assert lines[4:7] == [
        "| GB/s, many numbers | 8 KiB |",
        "| --- | ---: |",
        "| GPU, 16-bit words | 2.5 |",
    ]
    assert "| his GMP |  |  | 11.7 |" in lines


def test_benchmark_measures_no_wrong_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "RUNS", 1)
    monkeypatch.setattr(benchmark, "RUN_SECONDS", 0)
    arithmetic = ReferenceRedundant(Format(16))
    monkeypatch.setattr(arithmetic, "normalise", lambda x: 5)
    with pytest.raises(benchmark.WrongSumError, match="16 bits, 1 KiB"):
        benchmark.measure_add("here", arithmetic, 1, lambda: None)
    with pytest.raises(benchmark.WrongSumError, match="16 bits, 3 of 1 KiB"):
        benchmark.measure_sum("here", arithmetic, 1, 3)
