"""Weighted CKY parsing, on every backend against the plain sum over derivations."""

from __future__ import annotations

import math
import os
import signal
import threading
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, cast

import gmpy2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cky import Batch, Rules, TooLongError, cell, cells
from kernels.cky.weighted import (
    INSIDE,
    MAX_PRIMES,
    VITERBI,
    Semiring,
    WeightedCky,
    Weights,
    primes,
    primes_needed,
    weighted_for,
)
from kernels.cky.weighted.cpu.engine import CpuWeighted
from kernels.cky.weighted.cuda.engine import SOURCE, CudaWeighted
from kernels.cky.weighted.plan import choose
from kernels.cky.weighted.ref import ReferenceWeighted, values
from kernels.cky.weighted.semirings import log
from kernels.cky.weighted.tables import montgomery
from kernels.targets import cpu
from kernels.targets.choose import pick
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

UNKNOWN = 2**32 - 1
KINDS = [INSIDE, VITERBI]
BACKENDS = ["reference", *cpu.levels(), "emulated"]
ALL = [*BACKENDS, pytest.param("cuda", marks=pytest.mark.gpu)]
COMPILED = [name for name in ALL if name != "reference"]
WHOLE = [0, 1, 1, 2, 3, 2**31 - 1, 2**32, 10**30]
FLOATS = [0.0, 1.0, 0.5, 0.1, 3.0, 5e-324, 1e-300, 2.0**-480, 2.0**-481, 2.0**480, 1e308]

String = list[int]


@cache
def device(name: str) -> Device:
    if name == "cuda":
        from kernels.targets.cuda.target import CudaDevice

        return CudaDevice()
    return cast(Device, EmulatedDevice(order="shuffled:1", multiprocessors=1))


def engine(name: str, rules: Rules, memory: int = 1 << 25, threads: int = 2) -> WeightedCky:
    if name == "reference":
        return ReferenceWeighted(rules, memory)
    if name in ("emulated", "cuda"):
        return CudaWeighted(device(name), rules, memory)
    return CpuWeighted(rules, name, threads, memory)


def weigh(rules: Rules, weight: Any, dtype: Any = object) -> Weights:
    """weight(): of each rule in turn."""

    def row(count: int) -> npt.NDArray[Any]:
        return np.array([weight() for _ in range(count)], dtype)

    return Weights(
        row(len(rules.binary)), row(len(rules.units)), row(len(rules.lexical)), row(rules.symbols)
    )


def alike(found: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]) -> bool:
    """Some roundings apart; what is -inf is so in both."""
    return np.allclose(found, wanted, rtol=1e-13, atol=1e-13)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Rules, list[String], Weights, Weights]:
    symbols, terminals = draw(st.integers(1, 5)), draw(st.integers(0, 2))

    def rows(*below: int, most: int) -> Any:
        return draw(st.lists(st.tuples(*[st.integers(0, b - 1) for b in below]), max_size=most))

    rules = Rules.make(
        symbols,
        terminals,
        rows(symbols, symbols, symbols, most=14),
        rows(symbols, terminals, most=8) if terminals else [],
        rows(symbols, symbols, most=4),
    )
    token = st.integers(0, terminals) | st.just(UNKNOWN)
    strings = draw(st.lists(st.lists(token, max_size=7), max_size=4))
    strings.append([draw(st.integers(0, max(terminals - 1, 0))) for _ in range(6)])
    whole = weigh(rules, lambda: draw(st.sampled_from(WHOLE)))
    number = st.sampled_from(FLOATS) | st.floats(0.01, 1)
    return rules, strings, whole, weigh(rules, lambda: draw(number), np.float64)


# --- every backend -----------------------------------------------------------


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", COMPILED)
def test_equals_the_sum_over_derivations(name: str) -> None:
    @settings(max_examples=examples(25) if name in cpu.levels() else 8)
    @given(cases())
    def check(case: tuple[Rules, list[String], Weights, Weights]) -> None:
        equals_the_sum_over_derivations(name, *case)

    check()


def equals_the_sum_over_derivations(
    name: str, rules: Rules, strings: list[String], whole: Weights, floats: Weights
) -> None:
    batch, reference, some = Batch.of(strings), ReferenceWeighted(rules), primes(11)
    found = engine(name, rules)
    for symbol in range(min(rules.symbols, 2)):
        residues = found.residues(batch, symbol, whole, some)
        assert residues.dtype == np.uint32
        np.testing.assert_array_equal(residues, reference.residues(batch, symbol, whole, some))
        for kind in KINDS:
            logs = found.values(batch, symbol, floats, kind)
            assert logs.dtype == np.float64
            assert alike(logs, reference.values(batch, symbol, floats, kind))
    for string in strings:
        terminals = np.array(string, np.uint32)
        for kind in KINDS:
            chart = found.chart(terminals, floats, kind)
            assert chart.shape == (cells(len(string)), rules.symbols)
            assert alike(chart, reference.chart(terminals, floats, kind))


PAIRS = Rules.make(1, 1, [(0, 0, 0)], [(0, 0)])  # S → S S | a
ONES = Weights(*(np.array([1] * n, object) for n in (1, 0, 1, 1)))


def trees(length: int) -> int:
    """Binary trees of so many leaves: a Catalan number."""
    return math.comb(2 * length - 2, length - 1) // length


def exact(found: WeightedCky, batch: Batch, symbol: int, weights: Weights) -> list[int]:
    """Whole values, from as many primes as their logarithms ask for."""
    near = Weights(
        *(x.astype(float) for x in (weights.binary, weights.units, weights.lexical, weights.loops))
    )
    some = primes(int(primes_needed(found.values(batch, symbol, near, INSIDE)).max(initial=0)))
    product, result = 1, [0] * len(batch)
    for p, row in zip(some, found.residues(batch, symbol, weights, some).tolist(), strict=True):
        for s, residue in enumerate(row):
            result[s] += (residue - result[s]) * pow(product, -1, p) % p * product
        product *= p
    return result


@pytest.mark.parametrize("name", ALL)
def test_counts_trees(name: str) -> None:
    length = 200 if name in (*cpu.levels(), "cuda") else 24
    lengths = [length, 0, 1, 2, 3, *range(15, 20)]
    counts = exact(engine(name, PAIRS), Batch.of([[0] * n for n in lengths]), 0, ONES)
    assert counts == [trees(n) if n else 0 for n in lengths]


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_numbers_of_very_different_sizes(name: str, kind: Semiring) -> None:
    """A → A A | a, B → B B | a and C → A B | B A, where A is tiny and B is huge."""
    rules = Rules.make(3, 1, [(0, 0, 0), (1, 1, 1), (2, 0, 1), (2, 1, 0)], [(0, 0), (1, 0)])
    a, b, one = 1e-290, 1e290, np.ones(3)
    weights = Weights(np.array([1.0, 1.0, 1.0, 1.0]), np.empty(0), np.array([a, b]), one)
    n = 18
    chart = engine(name, rules).chart(np.zeros(n, np.uint32), weights, kind)
    many = (lambda k: trees(k)) if kind is INSIDE else (lambda k: 1)
    whole = chart[cell(0, n)]
    assert math.isclose(whole[0], n * math.log(a) + math.log(many(n)), rel_tol=1e-14)
    assert math.isclose(whole[1], n * math.log(b) + math.log(many(n)), rel_tol=1e-14)
    # One a, and b for all the others; at either end.
    wanted = math.log(a) + (n - 1) * math.log(b) + math.log(many(n - 1))
    wanted += math.log(2) if kind is INSIDE else 0
    assert math.isclose(whole[2], wanted, rel_tol=1e-14)
    assert whole[1] - whole[0] > 5000 * math.log(10)


@pytest.mark.parametrize("name", ALL)
def test_unit_chains_and_cycles(name: str) -> None:
    """A → B with 1/2, B → A with 1/3, B → b with 1: a geometric series."""
    rules = Rules.make(2, 1, [], [(1, 0)], [(0, 1), (1, 0)])
    loop = 1 / (1 - 1 / 6)
    weights = Weights(
        np.empty(0), np.array([loop / 2, loop / 3]), np.ones(1), np.array([loop, loop])
    )
    found = engine(name, rules)
    batch = Batch.of([[0], [0, 0]])
    for symbol, value in ((0, loop / 2), (1, loop)):
        logs = found.values(batch, symbol, weights, INSIDE)
        assert alike(logs, np.array([math.log(value), -math.inf]))


@pytest.mark.parametrize("name", ALL)
def test_strings_without_a_value(name: str) -> None:
    found, near = engine(name, PAIRS), Weights(*(np.ones(n) for n in (1, 0, 1, 1)))
    strings: list[String] = [[], [1], [0, 1], [UNKNOWN, 0], [0]]
    batch = Batch.of(strings)
    for kind in KINDS:
        assert found.values(batch, 0, near, kind).tolist() == [-math.inf] * 4 + [0.0]
    assert found.residues(batch, 0, ONES, primes(3)).tolist() == [[0, 0, 0, 0, 1]] * 3
    assert found.residues(batch, 0, ONES, []).shape == (0, 5)
    nothing = Batch.of([])
    assert found.values(nothing, 0, near, INSIDE).shape == (0,)
    assert found.residues(nothing, 0, ONES, primes(1)).shape == (1, 0)
    assert found.chart(np.empty(0, np.uint32), near, INSIDE).shape == (0, 1)
    chart = found.chart(np.array([0, 1], np.uint32), near, INSIDE)
    assert chart.tolist() == [[0.0], [-math.inf], [-math.inf]]
    bare = Rules.make(3, 0, [], [])
    weights = weigh(bare, lambda: 1.0, np.float64)
    assert engine(name, bare).values(Batch.of([[0, 0]]), 2, weights, INSIDE).tolist() == [-math.inf]


@pytest.mark.parametrize("name", ALL)
def test_a_string_may_be_too_long(name: str) -> None:
    found = engine(name, PAIRS, 40_000)
    longest = found.max_length
    assert 2 < longest < 500
    batch = Batch.of([[0], [0] * longest, [0] * (longest + 1), [0] * (longest + 2)])
    near = Weights(*(np.ones(n) for n in (1, 0, 1, 1)))
    with pytest.raises(TooLongError, match=f"string 3 has {longest + 1} tokens") as raised:
        found.values(batch, 0, near, INSIDE)
    assert (raised.value.index, raised.value.longest) == (2, longest)
    with pytest.raises(TooLongError):
        found.residues(batch, 0, ONES, primes(1))
    with pytest.raises(TooLongError):
        found.chart(batch[2], near, INSIDE)
    assert engine(name, PAIRS, 0).max_length == 1
    if name in cpu.levels():  # slow elsewhere
        assert found.residues(batch.take(np.array([1])), 0, ONES, primes(1)).any()


@pytest.mark.parametrize("name", ALL)
def test_progress_comes_to_all_strings(name: str) -> None:
    batch = Batch.of([[0] * n for n in (3, 0, 9, 1, 2, 9)])
    near = Weights(np.array([1e-300]), np.empty(0), np.ones(1), np.ones(1))
    found, seen = engine(name, PAIRS), list[int]()
    found.values(batch, 0, near, INSIDE, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == len(batch)
    seen.clear()
    found.residues(batch, 0, ONES, primes(11), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == len(batch)


@pytest.mark.parametrize("name", COMPILED)
def test_refuses_weights(name: str) -> None:
    found, batch = engine(name, PAIRS), Batch.of([[0]])
    good = [np.ones(n) for n in (1, 0, 1, 1)]
    for bad in (np.array([-0.5]), np.array([math.nan]), np.array([math.inf])):
        with pytest.raises(ValueError, match="finite"):
            found.values(batch, 0, Weights(bad, *good[1:]), INSIDE)
        with pytest.raises(ValueError, match="finite"):
            found.chart(batch[0], Weights(bad, *good[1:]), INSIDE)
    with pytest.raises(ValueError, match="shapes"):
        found.values(batch, 0, Weights(np.ones(2), *good[1:]), INSIDE)
    for negative in (-1, -(10**30)):
        weights = Weights(np.array([negative], object), ONES.units, ONES.lexical, ONES.loops)
        with pytest.raises(ValueError, match="negative"):
            found.residues(batch, 0, weights, primes(1))
    for broken in (0.5, Fraction(1, 2)):
        weights = Weights(np.array([broken], object), ONES.units, ONES.lexical, ONES.loops)
        with pytest.raises(ValueError, match="whole"):
            found.residues(batch, 0, weights, primes(1))
    for p in (7, 2**30, 2**31 - 2, 2**31 + 11):
        with pytest.raises(ValueError, match="prime"):
            found.residues(batch, 0, ONES, [p])


# --- the same numbers everywhere ---------------------------------------------


def grammar(seed: int, symbols: int, binary: int, units: int) -> Rules:
    draw = np.random.default_rng(seed)
    return Rules.make(
        symbols,
        4,
        draw.integers(0, symbols, (binary, 3)),
        draw.integers(0, 4, (2 * symbols, 2)) % [symbols, 4],
        draw.integers(0, symbols, (units, 2)),
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("low", [-3, -40, -300])
@pytest.mark.parametrize(("symbols", "binary", "units"), [(3, 20, 0), (20, 300, 8), (40, 60, 3)])
def test_floats_are_the_same_bit_for_bit(
    symbols: int, binary: int, units: int, low: int, kind: Semiring
) -> None:
    rules = grammar(symbols, symbols, binary, units)
    draw = np.random.default_rng(low + 1000)
    weights = weigh(rules, lambda: 10.0 ** draw.uniform(low, 0), np.float64)
    strings = [draw.integers(0, 4, n).tolist() for n in (1, 2, 9, 14, 9, 5)]
    batch = Batch.of(strings)
    names = [*cpu.levels(), "emulated"]
    logs = [engine(name, rules).values(batch, 0, weights, kind) for name in names]
    charts = [engine(name, rules).chart(batch[3], weights, kind) for name in names]
    for n in range(1, len(names)):
        np.testing.assert_array_equal(logs[n], logs[0])
        np.testing.assert_array_equal(charts[n], charts[0])
    # Plain and scaled floats, too.
    assert charts[0][cell(0, 14), 0] == logs[0][3]


@pytest.mark.gpu
def test_a_gpu_has_the_same_floats() -> None:
    rules = grammar(1, 32, 2000, 5)
    draw = np.random.default_rng(2)
    batch = Batch.of([draw.integers(0, 4, n).tolist() for n in draw.integers(0, 40, 500)])
    for low in (-2, -300):
        weights = weigh(rules, lambda low=low: 10.0 ** draw.uniform(low, 0), np.float64)
        for kind in KINDS:
            np.testing.assert_array_equal(
                engine("cuda", rules, 1 << 28).values(batch, 0, weights, kind),
                engine(cpu.levels()[-1], rules, 1 << 28).values(batch, 0, weights, kind),
            )


@pytest.mark.parametrize("name", [*cpu.levels(), "emulated"])
def test_results_do_not_depend_on_memory_or_threads(name: str) -> None:
    rules = grammar(3, 6, 40, 2)
    draw = np.random.default_rng(4)
    batch = Batch.of([draw.integers(0, 4, n).tolist() for n in draw.integers(0, 12, 60)])
    weights = weigh(rules, lambda: 10.0 ** draw.uniform(-200, 0), np.float64)
    whole = weigh(rules, lambda: int(draw.integers(0, 9)))
    rich = engine(name, rules)
    logs, residues = (
        rich.values(batch, 1, weights, INSIDE),
        rich.residues(batch, 1, whole, primes(3)),
    )
    for memory, threads in ((1 << 15, 1), (1 << 16, 3)):
        poor = engine(name, rules, memory, threads)
        assert poor.max_length >= 12
        np.testing.assert_array_equal(poor.values(batch, 1, weights, INSIDE), logs)
        np.testing.assert_array_equal(poor.residues(batch, 1, whole, primes(3)), residues)


@pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
@pytest.mark.parametrize("name", [name for name in COMPILED if name not in cpu.levels()])
def test_only_some_widths_have_a_value(name: str) -> None:
    """B → A A | B X | Y B with X of 3 and Y of 4 tokens; at lengths around 64, too."""
    a, b, x, y, z = range(5)
    rules = Rules.make(
        5, 1, [(b, a, a), (b, b, x), (b, y, b), (x, z, a), (z, a, a), (y, z, z)], [(a, 0)], [(x, y)]
    )
    draw = np.random.default_rng(7)
    weights = weigh(rules, lambda: draw.uniform(0.1, 1), np.float64)
    batch = Batch.of([[0] * n for n in (*range(1, 16), 63, 64, 65, 66)])
    whole = weigh(rules, lambda: int(draw.integers(1, 9)))
    some = primes(2)
    for rule_set, floats in ((rules, weights), (without_units(rules), no_units(weights))):
        found, wanted = engine(name, rule_set), engine(cpu.levels()[-1], rule_set)
        logs = found.values(batch, b, floats, INSIDE)
        np.testing.assert_array_equal(logs, wanted.values(batch, b, floats, INSIDE))
        assert np.isfinite(logs).any()
        assert not np.isfinite(logs).all()
    np.testing.assert_array_equal(
        engine(name, rules).residues(batch, b, whole, some),
        engine(cpu.levels()[-1], rules).residues(batch, b, whole, some),
    )


def without_units(rules: Rules) -> Rules:
    return Rules.make(rules.symbols, rules.terminals, rules.binary, rules.lexical)


def no_units(weights: Weights) -> Weights:
    return Weights(weights.binary, weights.units[:0], weights.lexical, np.ones(weights.loops.size))


@pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
def test_long_rows_of_pairs_and_short_lists() -> None:
    """Many right symbols follow each left one, but few are there: rows are searched."""
    draw = np.random.default_rng(5)
    symbols = 120
    binary = np.stack(
        [
            draw.integers(0, symbols, 6000),
            draw.integers(0, 4, 6000),
            draw.integers(0, symbols, 6000),
        ],
        axis=1,
    )
    rules = Rules.make(symbols, 4, binary[draw.random(6000) < 0.5], [(a, a) for a in range(4)])
    weights = weigh(rules, draw.random, np.float64)
    terminals = draw.integers(0, 4, 4).astype(np.uint32)
    wanted = ReferenceWeighted(rules).chart(terminals, weights, INSIDE)
    for level in cpu.levels():
        assert alike(engine(level, rules).chart(terminals, weights, INSIDE), wanted)


@pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
def test_can_be_interrupted() -> None:
    draw = np.random.default_rng(6)
    rules = Rules.make(24, 1, draw.integers(0, 24, (4000, 3)), [(a, 0) for a in range(24)])
    weights = weigh(rules, lambda: 1e-3, np.float64)
    found = engine(cpu.levels()[-1], rules, 1 << 30)
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        found.values(Batch.of([[0] * 800] * 2), 0, weights, INSIDE)
    timer.join()
    assert np.isfinite(found.values(Batch.of([[0] * 5]), 0, weights, INSIDE)).all()


# --- the parts ---------------------------------------------------------------


def test_reference_of_a_textbook_grammar() -> None:
    """S → S S (1/3) | a (2/3): two derivations of a a a."""
    third = Fraction(1, 3)
    weights = Weights(*(np.array(x, object) for x in ([third], [], [2 * third], [1])))
    spans = values(PAIRS, weights, [0, 0, 0])
    assert spans[0, 1] == {0: 2 * third}
    assert spans[0, 3] == {0: 2 * (2 * third) ** 3 * third**2}
    assert values(PAIRS, weights, [0, 0, 0], VITERBI)[0, 3][0] == (2 * third) ** 3 * third**2


def test_logarithms_of_exact_numbers() -> None:
    assert log(0) == -math.inf
    assert log(1) == 0
    assert math.isclose(log(Fraction(1, 10**9000)), -9000 * math.log(10), rel_tol=1e-15)
    assert math.isclose(log(7 * 10**9000), 9000 * math.log(10) + math.log(7), rel_tol=1e-15)
    assert math.isclose(log(Fraction(10**40 + 1, 10**40)), 0, abs_tol=1e-16)


def test_primes() -> None:
    found = primes(300)
    assert found[:3] == [2147483647, 2147483629, 2147483587]
    every = [n for n in range(2**31 - 1, found[-1] - 1, -1) if gmpy2.is_prime(n)]
    assert found == every
    assert primes(2) == found[:2]
    assert primes(0) == []
    for number in (-1, MAX_PRIMES + 1):
        with pytest.raises(ValueError, match="primes"):
            primes(number)


@pytest.mark.slow
def test_the_last_prime_has_its_bits() -> None:
    assert math.log2(primes(MAX_PRIMES)[-1]) > 30.999


@given(st.integers(1, 10**400))
def test_enough_primes_for_a_value(value: int) -> None:
    need = int(primes_needed([log(value)])[0])
    assert math.prod(primes(need)) > value
    assert need == 1 or math.prod(primes(need - 1)) < 16 * value
    assert primes_needed([-math.inf, 0.0]).tolist() == [0, 1]


@given(st.lists(st.integers(0, 2**70) | st.sampled_from(WHOLE), max_size=5))
def test_residues_of_weights(weights: list[int]) -> None:
    some = primes(3)
    found = montgomery(np.array(weights, object), some)
    assert found.tolist() == [[(w << 32) % p for p in some] for w in weights]


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**9), st.integers(1, 132))
def test_choice_keeps_to_memory(items: int, strings: int, slot: int, processors: int) -> None:
    memory = 10**10
    params = choose(items, strings, slot, memory, processors)
    assert params.threads in (32, 64, 128, 256, 512)
    assert 1 <= params.blocks <= strings
    assert params.blocks * slot <= memory


def test_an_engine_for_each_backend() -> None:
    assert isinstance(weighted_for(pick("reference"), PAIRS), ReferenceWeighted)
    assert weighted_for(pick("reference"), PAIRS, 1 << 20).memory == 1 << 20
    if cpu.levels():
        found = weighted_for(pick("cpu"), PAIRS, 1 << 20)
        assert isinstance(found, CpuWeighted)
        assert found.memory == 1 << 20
        assert weighted_for(pick("cpu"), PAIRS).max_length > 1000
    for kind in (CpuWeighted, CudaWeighted):
        with pytest.raises(TypeError, match="reference"):
            kind.of(pick("reference"), PAIRS)


class TestExtension:
    """Tests that what does not fit is refused before memory is touched."""

    TABLES: ClassVar[list[list[int]]] = [
        [0, 1],
        [0],
        [0],
        [0],
        [0, 1],
        [0],
        [0, 1],
        [0],
        [0, 1],
        [0],
    ]

    def run(self, **changes: Any) -> None:
        import importlib

        arguments: dict[str, Any] = {
            "level": cpu.levels()[0],
            "semiring": "Plain<false>",
            "tables": [np.array(table, np.uint32) for table in self.TABLES],
            "units": False,
            "weights": [np.ones(1).view(np.uint8)] * 3,
            "constants": None,
            "terminals": np.zeros(3, np.uint32),
            "offsets": np.array([0, 1, 3, 3]),
            "which": np.array([0, 1]),
            "symbol": 0,
            "results": np.zeros(32, np.uint8),
            "done": np.zeros(2, np.uint8),
            "chart": None,
            "threads": 1,
        }
        importlib.import_module("kernels._cpu").weighted_run(**{**arguments, **changes})

    @pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")
    def test_refuses(self) -> None:
        self.run()
        for n, table in enumerate(self.TABLES):
            # Any number of rights goes.
            for wrong in ([*table, 7], table[1:], [9] * len(table))[: 2 if n == 1 else 3]:
                tables = [np.array(t, np.uint32) for t in self.TABLES]
                tables[n] = np.array(wrong, np.uint32)
                with pytest.raises(ValueError, match=r"contradict|size|pair"):
                    self.run(tables=tables)
        one = np.zeros(1, np.uint8)
        for changes in (
            {"level": "v0"},
            {"semiring": ""},
            {"semiring": "Plain"},
            {"semiring": "Residues<2>"},
            {"weights": [one] * 3},
            {"weights": []},
            {"tables": []},
            {"offsets": np.array([0, 1, 2])},
            {"offsets": np.array([0, 4, 3])},
            {"which": np.array([0, 2])},
            {"which": np.array([0, 3])},
            {"which": np.array([0, -1])},
            {"results": one},
            {"done": one},
            {"chart": one},
            {"threads": 0},
        ):
            with pytest.raises(ValueError, match=r"\w"):
                self.run(**changes)


@needs_nvcc
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "kind", ["Plain<false>", "Scaled<true>", "Residues<1>", "Residues<4>", "Wrapping"]
)
def test_nvcc_compiles(kind: str) -> None:
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 90)]
    nvcc(SOURCE, *arches, "--fatbin", *f"-DUNITS=1 -DRING={kind}".split())
