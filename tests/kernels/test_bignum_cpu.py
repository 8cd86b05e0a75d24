"""Big integers on the CPU: the contract on every level, threads, lanes, limits."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import bignum_cpu as benchmark
from kernels.bignum.cpu import engine as cpu
from kernels.bignum.cpu.engine import (
    CpuArithmetic,
    ints_to_numbers,
    numbers_to_ints,
)
from kernels.bignum.numbers import Numbers, from_ints
from kernels.bignum.ref import ReferenceArithmetic
from kernels.targets import cpu as cpu_backend
from kernels.targets import memory
from kernels.targets.contract import BackendUnavailableError
from tests import quick
from tests.bignum_batches import LAYOUTS, assert_numbers, dense, lay_out, ragged
from tests.bignum_contract import ArithmeticContract
from tests.interrupts import interrupted_after

LEVELS = cpu_backend.levels()
built = pytest.mark.skipif(not LEVELS, reason="the CPU kernels are not built")


class TestReference(ArithmeticContract):
    examples = 15
    widths = (1, 2, 3)
    long_bits = (2**17 + 1,)

    @pytest.fixture
    def arithmetic(self) -> ReferenceArithmetic:
        return ReferenceArithmetic()


@built
class TestCpu(ArithmeticContract):
    @pytest.fixture(params=LEVELS)
    def arithmetic(self, request: pytest.FixtureRequest) -> CpuArithmetic:
        return CpuArithmetic(level=request.param)


# --- threads, interrupts, limits ---------------------------------------------


@pytest.mark.sample(2)
@built
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_of_threads_meet(threads: int) -> None:
    """Enough numbers, of one length and of mixed ones, for many parts."""
    arithmetic, draw = CpuArithmetic(threads), random.Random(threads)
    for lengths in ([256], [1, 64, 65, 300, 9000]):
        a, b = (
            [draw.choice((1, -1)) * draw.getrandbits(draw.choice(lengths)) for _ in range(30_000)]
            for _ in range(2)
        )
        x, y = ints_to_numbers(a), ints_to_numbers(b)
        assert (x.starts is None) == (len(lengths) == 1)
        assert numbers_to_ints(arithmetic.add(x, y)) == [p + q for p, q in zip(a, b, strict=True)]
        assert numbers_to_ints(arithmetic.subtract(x, y)) == [
            p - q for p, q in zip(a, b, strict=True)
        ]
        assert numbers_to_ints(arithmetic.sum(x)) == [sum(a)]
        order = [(p > q) - (p < q) for p, q in zip(a, b, strict=True)]
        assert arithmetic.compare(x, y).tolist() == order
        products = arithmetic.multiply(x, y)
        assert numbers_to_ints(products) == [p * q for p, q in zip(a, b, strict=True)]
        c = [q or 1 for q in b]
        quotients, remainders = arithmetic.divmod(x, ints_to_numbers(c))
        assert numbers_to_ints(quotients) == [p // q for p, q in zip(a, c, strict=True)]
        assert numbers_to_ints(remainders) == [p % q for p, q in zip(a, c, strict=True)]


@pytest.mark.sample(2)
@built
@pytest.mark.parametrize("late", [0, 63, 64, 500, 9_999])
def test_one_sum_longer_than_its_operands(late: int) -> None:
    """One sum widens the batch by a word; all others fit into as many as their operands have."""
    for words in (1, 4, 20):
        a = [2 ** (64 * words) - 1 - i for i in range(10_000)]
        b = list(range(10_000))
        b[late] += 1
        arithmetic = CpuArithmetic()
        total = arithmetic.add(dense(a), dense(b, words - 1))
        assert_numbers(total, [x + y for x, y in zip(a, b, strict=True)])
        assert total.width == words + 1
        fitting = arithmetic.subtract(total, dense([1] * 10_000, words - 1))
        assert arithmetic.add(fitting, dense([0])).width == words


@built
def test_results_are_as_wide_as_they_must_be() -> None:
    """Widths do not grow from one operation to the next."""
    arithmetic = CpuArithmetic()
    x = dense([3**100, -(5**60)] * 40)
    for _ in range(20):
        x = arithmetic.subtract(arithmetic.add(x, dense([1])), dense([1]))
        x = arithmetic.negate(arithmetic.multiply(x, dense([1], 3)))
    assert x.width == 3
    assert_numbers(x, [3**100, -(5**60)] * 40)
    zero = arithmetic.subtract(x, x)
    assert (zero.width, zero.negative) == (0, None)


@built
def test_interrupted() -> None:
    arithmetic = CpuArithmetic()
    numbers = ints_to_numbers([3 ** (1000 + i) for i in range(2000)])
    exponents = np.full(2000, 3000, np.int64)
    with interrupted_after(0.1), pytest.raises(KeyboardInterrupt):
        arithmetic.power(numbers, exponents)
    assert numbers_to_ints(arithmetic.power(numbers.take(slice(1)), exponents[:1])) == [
        3**3_000_000
    ]


@built
def test_memory_is_counted_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    arithmetic, two = CpuArithmetic(), from_ints([2])
    for exponent in (10**15, 2**62):
        with pytest.raises(MemoryError, match=r"^\d+ bytes are needed, and \d+ can be taken$"):
            arithmetic.shift(two, np.array([exponent], np.int64))
        with pytest.raises(MemoryError, match="bytes are needed"):
            arithmetic.power(from_ints([-3]), np.array([exponent], np.int64))
    # Zero stays zero, however far it is moved.
    assert_numbers(arithmetic.shift(from_ints([0]), np.array([2**62], np.int64)), [0])
    many = Numbers(np.ones(1, np.uint64), 2**23, 1, 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**27 - 1)
    with pytest.raises(MemoryError, match=f"^{2**27} bytes are needed, and {2**27 - 1} can"):
        arithmetic.multiply(many, many)
    with pytest.raises(MemoryError, match="bytes are needed"):
        arithmetic.add(many, many.take(np.arange(2**23)))
    # What GMP takes beside the result counts too.
    long = Numbers(np.ones(2**21, np.uint64), 1, 2**21)
    for operation in (arithmetic.multiply, arithmetic.divmod, arithmetic.gcd):
        with pytest.raises(MemoryError, match=f"^{7 * 2**22 * 8} bytes are needed"):
            operation(long, long)


@built
def test_memory_of_results_is_used_again() -> None:
    """That of results that are no more, and of no others."""
    arithmetic = CpuArithmetic()
    words = np.random.default_rng(1).integers(0, 2**63, 2**18, np.uint64)
    x = Numbers(words, 2**16, 4, 4)
    first = arithmetic.add(x, x)
    twice = first.words.copy()
    place = first.words.ctypes.data
    second = arithmetic.absolute(x)
    assert second.words.ctypes.data != place
    np.testing.assert_array_equal(first.words, twice)
    np.testing.assert_array_equal(second.words, words)
    kept = first.words[:10]  # a view keeps it, too
    del first
    assert arithmetic.negate(x).words.ctypes.data != place
    np.testing.assert_array_equal(kept, twice[:10])
    del kept
    again = arithmetic.add(x, x)
    assert again.words.ctypes.data == place
    np.testing.assert_array_equal(again.words, twice)


@built
def test_contradictions_are_refused() -> None:
    arithmetic, good = CpuArithmetic(), from_ints([1, 2, 3])
    words = np.zeros(4, np.uint64)
    one, five = np.array([0], np.int64), np.array([5], np.int64)
    with pytest.raises(ValueError, match="same count"):
        arithmetic.add(good, from_ints([1, 2]))
    for bad in (
        Numbers(words, 3, 2, 2),
        Numbers(words, -1, 2, 2),
        Numbers(words, 2, 2, -2),
        Numbers(words, 1, 5, 0),
        Numbers(words, 1, 5, 0, one, five),
        Numbers(words, 1, 2, 0, five, one),
        Numbers(words, 1, 1, 0, one, one + 2),
        Numbers(words, 2, 1, 0, one, one),
        Numbers(words, 1, 1, 0, one),
        Numbers(words, 2, 1, 1, negative=np.array([True])),
    ):
        with pytest.raises(ValueError, match="contradict"):
            arithmetic.absolute(bad)
    with pytest.raises(ValueError, match="division by zero"):
        arithmetic.divmod(good, from_ints([1, 0, 3]))
    with pytest.raises(ValueError, match="modulus is zero"):
        arithmetic.powmod(good, good, from_ints([0]))
    with pytest.raises(ValueError, match="exponent is negative"):
        arithmetic.power(good, np.array([-1], np.int64))


@built
def test_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackendUnavailableError, match="no CPU level v9"):
        CpuArithmetic(level="v9")
    with pytest.raises(ValueError, match="thread"):
        CpuArithmetic(threads=0)
    monkeypatch.setattr(cpu, "_gmp_error", lambda: "no mpn_mul")
    with pytest.raises(BackendUnavailableError, match="GMP is not found: no mpn_mul"):
        CpuArithmetic()


# --- lanes -------------------------------------------------------------------


def batch_of(draw: random.Random, lengths: list[int]) -> list[int]:
    """A number of exactly so many words for each, many of them of long runs of ones."""
    values = []
    for n in lengths:
        bits = 64 * n
        value = draw.getrandbits(bits) if n else 0
        if n and draw.random() < 0.4:
            value = 2**bits - 2 ** draw.randrange(bits)
        values.append(draw.choice((1, -1)) * (value | (n and 1 << (bits - 1))))
    return values


@built
@pytest.mark.parametrize("count", [5, 6, 8, 9, 21])
def test_products_of_all_shapes(count: int) -> None:
    """Tiles of every size, whole lanes and a rest, batches against one number."""
    arithmetic, draw = CpuArithmetic(), random.Random(count)
    for m, n in [
        *((n, n) for n in (*range(1, 20), 24, 33)),
        *((draw.randint(1, 40), draw.randint(1, 40)) for _ in range(20)),
        (130, 3),
        (1, 200),
    ]:
        a, b = batch_of(draw, [m] * count), batch_of(draw, [n] * count)
        c = batch_of(draw, [draw.choice((1, n, m + n, m + n + 1))] * count)
        x, y, z = dense(a), dense(b), dense(c)
        assert_numbers(arithmetic.multiply(x, y), [p * q for p, q in zip(a, b, strict=True)])
        assert_numbers(arithmetic.multiply(x, dense(b[:1])), [p * b[0] for p in a])
        assert_numbers(
            arithmetic.multiply_add(x, y, z), [p * q + r for p, q, r in zip(a, b, c, strict=True)]
        )


@built
def test_products_at_the_border_of_lanes() -> None:
    arithmetic, draw = CpuArithmetic(), random.Random(3)
    for m, n in ((512, 512), (512, 513), (511, 7), (513, 7)):
        a, b = batch_of(draw, [m] * 6), batch_of(draw, [n] * 6)
        products = [p * q for p, q in zip(a, b, strict=True)]
        assert_numbers(arithmetic.multiply(dense(a), dense(b)), products)
        assert_numbers(arithmetic.multiply(from_ints(a), from_ints(b)), products)
        ones = [2 ** (64 * m) - 1] * 6
        squares = [p * p for p in ones]
        assert_numbers(arithmetic.multiply(dense(ones), dense(ones)), squares)


@built
@settings(deadline=None, max_examples=quick.examples(30))
@given(
    st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45)), max_size=60), st.integers(0, 999)
)
def test_mixed_lengths_in_lanes(lengths: list[tuple[int, int]], seed: int) -> None:
    arithmetic, draw = CpuArithmetic(), random.Random(seed)
    a, b = (batch_of(draw, [row[i] for row in lengths]) for i in range(2))
    d = [draw.getrandbits(draw.randrange(1, 300)) for _ in a]
    x, y = from_ints(a), from_ints(b)
    assert_numbers(arithmetic.multiply(x, y), [p * q for p, q in zip(a, b, strict=True)])
    assert_numbers(arithmetic.gcd(x, y), [math.gcd(p, q) for p, q in zip(a, b, strict=True)])
    a, b = ([p * r for p, r in zip(v, d, strict=True)] for v in (a, b))
    expected = [math.gcd(p, q) for p, q in zip(a, b, strict=True)]
    assert_numbers(arithmetic.gcd(from_ints(a), from_ints(b)), expected)
    assert_numbers(arithmetic.gcd(dense(a), dense(b, 1)), expected)


@built
@pytest.mark.parametrize("words", [1, 2, 3, 5, 9, 20, 40])
def test_divisors_in_full_lanes(words: int) -> None:
    """Quotients of 1 only, of 2^k, equal numbers, common factors of two, differences of one."""
    arithmetic, draw = CpuArithmetic(), random.Random(words)
    bits = 64 * words
    fibonacci = [1, 1]
    while (following := fibonacci[-1] + fibonacci[-2]) < 2**bits:
        fibonacci.append(following)
    a, b = [], []
    for i in range(150):
        p, q = (draw.getrandbits(draw.choice((bits, bits, bits - 63, 64))) for _ in range(2))
        k = draw.randrange(bits)
        few = [
            (p, q),
            (p, p),
            (p, p + 1),
            (fibonacci[-1], fibonacci[-2]),
            (2**k, 2**bits - 2**k),
            (2**bits - 1, 2**k),
            (p >> (bits // 2) << 5, q >> (bits // 2) << 3),
            (p, 0),
            (2**k * 3, 2**k * 9),
            (p & -(2 ** (bits // 2)), q),
        ]
        x, y = few[i % len(few)]
        a.append(min(x, 2**bits - 1))
        b.append(-min(y, 2**bits - 1))
    expected = [math.gcd(x, y) for x, y in zip(a, b, strict=True)]
    assert_numbers(arithmetic.gcd(dense(a), dense(b)), expected)
    assert_numbers(arithmetic.gcd(dense(b), from_ints(a)), expected)


@built
@pytest.mark.slow
def test_long_divisors() -> None:
    """Common divisors are found at the border of lanes, and of numbers so far apart that they are
    divided first."""
    arithmetic, draw = CpuArithmetic(), random.Random(1)
    for m, n in ((512, 512), (510, 512), (513, 512), (513, 513), (700, 100), (100, 97), (100, 96)):
        common = [draw.getrandbits(draw.choice((1, 500, 3000))) | 1 for _ in range(20)]
        a, b = (
            [v * c for v, c in zip(batch_of(draw, [k - 47] * 20), common, strict=True)]
            for k in (m, n)
        )
        expected = [math.gcd(x, y) for x, y in zip(a, b, strict=True)]
        assert_numbers(arithmetic.gcd(dense(a), dense(b)), expected)
        assert_numbers(arithmetic.gcd(from_ints(b), from_ints(a)), expected)


@built
def test_benchmark(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["--bits", "100", "256", "--count", "20", "--rounds", "1", "--threads", "1"]
    benchmark.main([*arguments, "--json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["bits"] for row in rows} == {100, 256}
    assert len(rows) == 2 * 8
    assert all(row["ours"] > 0 and row["ratio"] == row["peer"] / row["ours"] for row in rows)
    benchmark.main([*arguments, "--operations", "add"])
    table = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1:4] for line in table[-2:]] == [
        [" 100 ", " add ", " 20 "],
        [" 256 ", " add ", " 20 "],
    ]
    monkeypatch.setattr(CpuArithmetic, "add", CpuArithmetic.subtract)
    with pytest.raises(benchmark.WrongResultError, match="add of 100 bits"):
        benchmark.main(arguments)


def test_helpers_of_the_contract() -> None:
    """The batches that the contract is tested with hold what they should."""
    values = [0, -1, 2**64, -(2**130) + 1, 5]
    for layout in LAYOUTS:
        assert_numbers(lay_out(values, layout, 3), values, layout)
    assert_numbers(lay_out([7, 7], "shared", 0), [7, 7])
    assert ragged(values, [1, 0, 2, 0, 0]).lengths is not None
    with pytest.raises(pytest.fail.Exception, match="number 1 is"):
        assert_numbers(from_ints([1, 2]), [1, 3])
