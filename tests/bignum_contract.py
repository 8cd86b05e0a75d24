"""What every backend of big-number arithmetic must do, as tests: Python's int is the oracle.

A test class that inherits ArithmeticContract gives a fixture `arithmetic`, a
kernels.bignum.contract.Arithmetic.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels.bignum.contract import Arithmetic
from kernels.bignum.errors import NotInvertibleError
from kernels.bignum.numbers import Indices, from_ints
from tests.bignum_batches import Operand, assert_numbers, dense, expand, operands, sign
from tests.quick import examples

BINARY: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "gcd": math.gcd,
}


LOW: dict[str, Callable[[int, int], int]] = {
    "add_low": operator.add,
    "subtract_low": operator.sub,
    "multiply_low": operator.mul,
}


@cache
def edges(words: int) -> list[int]:
    """Return numbers of exactly or nearly so many words, both signs, and the small ones."""
    top = 64 * words
    values = {0, 1, 2, 2**top - 1, 2 ** (top - 1), 2 ** (top - 64), 2 ** (top - 64) - 1}
    values |= {2**top - 2**64 if words > 1 else 6, 2 ** (top - 1) + 1, 2**top // 3}
    values |= {random.Random(words).getrandbits(top)}
    return sorted({sign * value for value in values for sign in (1, -1)})


# --- the contract ------------------------------------------------------------


class ArithmeticContract:
    examples: ClassVar[int] = 20  # of each property
    words: ClassVar[int] = 40  # of the longest numbers, but for the sparse ones
    widths: ClassVar[Sequence[int]] = (*range(1, 19), 31, 32, 33)  # of which all edges are tried
    sparse_bits: ClassVar[Sequence[int]] = (2**12, 2**15)
    long_bits: ClassVar[Sequence[int]] = (2**17 + 1, 2**20)  # in the slow tests

    def check(
        self,
        arithmetic: Arithmetic[Any],
        name: str,
        expected: Callable[..., int],
        given: Sequence[Operand],
        *more: Indices,
    ) -> None:
        """Check the operation of that name, on its batches and then arrays of indices."""
        before = [(n.words.copy(), None if n.negative is None else n.negative.copy())
                  for _, n in given]  # fmt: skip
        result = arithmetic.get(
            getattr(arithmetic, name)(*[arithmetic.put(n) for _, n in given], *more)
        )
        columns = [values for values, _ in given] + [array.tolist() for array in more]
        assert_numbers(result, [expected(*row) for row in expand(columns)], name)
        for (words, negative), (_, numbers) in zip(before, given, strict=True):
            np.testing.assert_array_equal(numbers.words, words, f"{name} changed an operand")
            if negative is not None:
                np.testing.assert_array_equal(numbers.negative, negative)

    def check_low_bits(
        self, arithmetic: Arithmetic[Any], given: Sequence[Operand], bits: int
    ) -> None:
        """Check sums, differences and products modulo 2**bits; they are as short as that says."""
        a, b = (arithmetic.put(numbers) for _, numbers in given)
        rows = expand([values for values, _ in given])
        for name, expected in LOW.items():
            result = arithmetic.get(getattr(arithmetic, name)(a, b, bits))
            note = f"{name}, {bits} bits"
            assert_numbers(result, [expected(x, y) % 2**bits for x, y in rows], note)
            assert result.width <= -(-bits // 64), note
        result = arithmetic.get(arithmetic.low_bits(a, bits))
        assert_numbers(result, [x % 2**bits for x in given[0][0]], f"{bits} bits")

    def check_division(self, arithmetic: Arithmetic[Any], a: Operand, b: Operand) -> None:
        self.check(arithmetic, "floordiv", operator.floordiv, [a, b])
        self.check(arithmetic, "mod", operator.mod, [a, b])
        quotients, remainders = arithmetic.divmod(arithmetic.put(a[1]), arithmetic.put(b[1]))
        rows = expand([a[0], b[0]])
        assert_numbers(arithmetic.get(quotients), [x // y for x, y in rows], "quotients")
        assert_numbers(arithmetic.get(remainders), [x % y for x, y in rows], "remainders")

    def check_queries(self, arithmetic: Arithmetic[Any], a: Operand) -> None:
        values, batch = a[0], arithmetic.put(a[1])
        signs, bits = arithmetic.sign(batch), arithmetic.bit_length(batch)
        assert signs.dtype == np.int8
        assert bits.dtype == np.int64
        assert signs.tolist() == [sign(v) for v in values]
        assert bits.tolist() == [v.bit_length() for v in values]
        zeros = [i for i, v in enumerate(values) if v == 0]
        assert arithmetic.first_zero(batch) == (zeros[0] if zeros else -1)

    def check_comparison(self, arithmetic: Arithmetic[Any], a: Operand, b: Operand) -> None:
        order = arithmetic.compare(arithmetic.put(a[1]), arithmetic.put(b[1]))
        assert order.dtype == np.int8
        assert order.tolist() == [sign(x - y) for x, y in expand([a[0], b[0]])]

    def run_property(self, strategy: st.SearchStrategy[Any], body: Callable[[Any], None]) -> None:
        @settings(
            max_examples=examples(self.examples),
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(strategy)
        def run(drawn: Any) -> None:
            body(drawn)

        run()

    def test_batches_go_there_and_back(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            [(values, numbers)] = given
            assert_numbers(arithmetic.get(arithmetic.put(numbers)), values)
            self.check_queries(arithmetic, given[0])
            self.check(arithmetic, "negate", operator.neg, given)
            self.check(arithmetic, "absolute", abs, given)
            total = arithmetic.get(arithmetic.sum(arithmetic.put(numbers)))
            assert_numbers(total, [sum(values)], "sum")

        self.run_property(operands(1, self.words, 40), body)

    def test_sums_products_divisors(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            for name, expected in BINARY.items():
                self.check(arithmetic, name, expected, given)
            self.check_comparison(arithmetic, *given)

        self.run_property(operands(2, self.words), body)

    def test_results_modulo_powers_of_two(self, arithmetic: Arithmetic[Any]) -> None:
        def body(drawn: tuple[list[Operand], int]) -> None:
            self.check_low_bits(arithmetic, *drawn)

        bits = st.integers(1, 64 * self.words + 70) | st.sampled_from([1, 31, 32, 33, 63, 64, 65])
        self.run_property(st.tuples(operands(2, self.words), bits), body)

    def test_an_operand_with_itself(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            twice = given * 2
            for name, expected in BINARY.items():
                self.check(arithmetic, name, expected, twice)
            self.check_comparison(arithmetic, *twice)
            self.check(arithmetic, "multiply_add", lambda x, y, z: x * y + z, given * 3)

        self.run_property(operands(1, self.words), body)

    def test_fused_multiply_and_add(self, arithmetic: Arithmetic[Any]) -> None:
        self.run_property(
            operands(3, self.words),
            lambda given: self.check(arithmetic, "multiply_add", lambda x, y, z: x * y + z, given),
        )

    def test_division(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            (a, numbers), (b, divisors) = given
            if 0 in b:
                assert arithmetic.first_zero(arithmetic.put(divisors)) == b.index(0)
                b = [v or -5 for v in b]
                divisors = dense(b, 1)
            self.check_division(arithmetic, (a, numbers), (b, divisors))

        self.run_property(operands(2, self.words), body)

    def test_quotients_that_are_hard_to_guess(self, arithmetic: Arithmetic[Any]) -> None:
        """Dividends next to a multiple of the divisor: remainders 0, 1 and all but one."""

        def body(given: list[Operand]) -> None:
            rows = [(x, y or 1) for x, y in expand([v for v, _ in given])]
            for more in (-1, 0, 1):
                a, b = [x * y + more for x, y in rows], [y for _, y in rows]
                self.check_division(arithmetic, (a, from_ints(a)), (b, from_ints(b)))

        self.run_property(operands(2, max(1, self.words // 2)), body)

    def test_divisors_in_common(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            rows = expand([v for v, _ in given])
            a, b = [x * z for x, _, z in rows], [y * z for _, y, z in rows]
            self.check(arithmetic, "gcd", math.gcd, [(a, dense(a)), (b, dense(b, 1))])
            self.check(arithmetic, "gcd", math.gcd, [(a, from_ints(a)), (b, from_ints(b))])

        self.run_property(operands(3, max(1, self.words // 2)), body)

    def test_divisors_of_fibonacci_numbers(self, arithmetic: Arithmetic[Any]) -> None:
        """Every quotient is 1: the longest of all sequences."""
        numbers = [1, 1]
        while numbers[-1].bit_length() < 64 * min(self.words, 40):
            numbers.append(numbers[-1] + numbers[-2])
        a, b = numbers[1::7], numbers[:-1:7]
        b = b[: len(a)]
        self.check(arithmetic, "gcd", math.gcd, [(a, from_ints(a)), (b, from_ints(b))])

    def test_shifts(self, arithmetic: Arithmetic[Any]) -> None:
        def body(drawn: tuple[list[Operand], list[int], bool]) -> None:
            given, counts, single = drawn
            wanted = 1 if single else len(given[0][0])
            by = np.resize(np.array(counts, np.int64), wanted)
            self.check(arithmetic, "shift", shifted, given, by)

        counts = st.integers(-70 * self.words, 70 * self.words) | st.sampled_from(
            [0, 1, 63, 64, 65, -1, -63, -64, -65, -(2**63), -(2**62)]
        )
        self.run_property(
            st.tuples(
                operands(1, self.words), st.lists(counts, min_size=1, max_size=9), st.booleans()
            ),
            body,
        )

    def test_square_roots(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            values = [abs(v) for v in given[0][0]]
            for near in (values, [v * v for v in values], [max(v * v - 1, 0) for v in values]):
                self.check(arithmetic, "isqrt", math.isqrt, [(near, dense(near, 1))])
                self.check(arithmetic, "isqrt", math.isqrt, [(near, from_ints(near))])

        self.run_property(operands(1, max(1, self.words // 2)), body)

    def test_powers(self, arithmetic: Arithmetic[Any]) -> None:
        def body(drawn: tuple[list[Operand], list[int], bool]) -> None:
            given, exponents, single = drawn
            wanted = 1 if single else len(given[0][0])
            array = np.resize(np.array(exponents, np.int64), wanted)
            self.check(arithmetic, "power", pow, given, array)

        self.run_property(
            st.tuples(
                operands(1, min(6, self.words)),
                st.lists(st.integers(0, 12), min_size=1, max_size=9),
                st.booleans(),
            ),
            body,
        )

    def test_powers_of_units(self, arithmetic: Arithmetic[Any]) -> None:
        values, exponents = [0, 1, -1, -1, 0, 5], [2**62, 2**62, 2**62, 2**62 - 1, 0, 0]
        batch = arithmetic.power(arithmetic.put(dense(values, 2)), np.array(exponents, np.int64))
        assert_numbers(arithmetic.get(batch), [0, 1, 1, -1, 1, 1])

    def test_powers_modulo(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            (a, x), (e, y), (m, z) = given
            if min(e, default=0) < 0:
                e = [abs(v) for v in e]
                y = from_ints(e)
            if 0 in m:
                m = [v or -1 for v in m]
                z = from_ints(m)
            self.check(arithmetic, "powmod", pow, [(a, x), (e, y), (m, z)])

        self.run_property(operands(3, min(4, self.words), 5), body)

    def test_inverses(self, arithmetic: Arithmetic[Any]) -> None:
        def body(given: list[Operand]) -> None:
            (a, x), (m, y) = given
            if 0 in m:
                m = [v or -1 for v in m]
                y = from_ints(m)
            rows = expand([a, m])
            without = [i for i, (v, w) in enumerate(rows) if math.gcd(v, w) != 1]
            if without:
                with pytest.raises(NotInvertibleError) as caught:
                    arithmetic.invert(arithmetic.put(x), arithmetic.put(y))
                assert caught.value.index == without[0]
                # What divides the modulus and is added to it once has an inverse.
                a, m = [v * w + 1 for v, w in rows], [w for _, w in rows]
                x, y = from_ints(a), from_ints(m)
            self.check(arithmetic, "invert", lambda v, w: pow(v, -1, w), [(a, x), (m, y)])

        self.run_property(operands(2, min(8, self.words), 12), body)

    def test_parts_of_batches(self, arithmetic: Arithmetic[Any]) -> None:
        def body(drawn: tuple[list[Operand], int]) -> None:
            given, seed = drawn
            values, numbers = given[0]
            batch, draw = arithmetic.put(numbers), random.Random(seed)
            array = np.array(values, object)
            n = len(values)
            for index in (
                slice(None, None, 2),
                slice(1, None, 3),
                slice(None, None, -1),
                slice(n // 2, None),
                np.array([draw.randrange(n) for _ in range(5)] if n else [], np.int64),
                np.array([draw.random() < 0.5 for _ in range(n)], np.bool_),
            ):
                part = arithmetic.take(batch, index)
                assert_numbers(arithmetic.get(part), array[index].tolist(), f"take {index}")
                doubled = arithmetic.get(arithmetic.add(part, part))
                assert_numbers(doubled, [2 * v for v in array[index]], f"doubled {index}")
            whole = arithmetic.concatenate([arithmetic.put(x) for _, x in given])
            joined = [v for x, _ in given for v in x]
            assert_numbers(arithmetic.get(whole), joined, "concatenate")

        self.run_property(st.tuples(operands(3, self.words, 20), st.integers(0, 999)), body)

    def test_nothing_is_concatenated(self, arithmetic: Arithmetic[Any]) -> None:
        assert_numbers(arithmetic.get(arithmetic.concatenate([])), [])

    def test_selections(self, arithmetic: Arithmetic[Any]) -> None:
        def body(drawn: tuple[list[Operand], int]) -> None:
            given, seed = drawn
            rows = expand([v for v, _ in given])
            mask = np.random.default_rng(seed).random(len(rows)) < 0.5
            result = arithmetic.select(mask, *[arithmetic.put(n) for _, n in given])
            expected = [x if m else y for m, (x, y) in zip(mask, rows, strict=True)]
            assert_numbers(arithmetic.get(result), expected, "select")

        self.run_property(st.tuples(operands(2, self.words), st.integers(0, 999)), body)

    def test_long_sums(self, arithmetic: Arithmetic[Any]) -> None:
        """Carries beyond the words of every number."""
        for values in ([2**64 - 1] * 5000, [-(2**128) + 1] * 4999, [2**64 - 1, -(2**64)] * 777):
            total = arithmetic.sum(arithmetic.put(from_ints(values)))
            assert_numbers(arithmetic.get(total), [sum(values)], "sum")

    def test_results_are_operands(self, arithmetic: Arithmetic[Any]) -> None:
        """Chain operations, as what an operation leaves behind must be fit for the next."""

        def body(given: list[Operand]) -> None:
            rows = expand([v for v, _ in given])
            a, b = (arithmetic.put(n) for _, n in given)
            s, d = arithmetic.add(a, b), arithmetic.subtract(a, b)
            p = arithmetic.multiply(s, d)
            zero = arithmetic.subtract(p, arithmetic.multiply(d, s))
            back = arithmetic.add(arithmetic.subtract(p, p), arithmetic.negate(s))
            assert_numbers(arithmetic.get(p), [x * x - y * y for x, y in rows], "product")
            assert_numbers(arithmetic.get(zero), [0] * len(rows), "zero")
            assert_numbers(arithmetic.get(back), [-x - y for x, y in rows], "negated sum")
            assert arithmetic.first_zero(zero) == (0 if rows else -1)

        self.run_property(operands(2, self.words), body)

    @pytest.mark.sample(1)
    def test_edges_of_every_width(self, arithmetic: Arithmetic[Any]) -> None:
        """Try all pairs of the edges of a width: dense, so that loops of that width run."""
        for words in self.widths:
            rows = list(product(edges(words), repeat=2))
            a, b = ([row[i] for row in rows] for i in range(2))
            for signed in (True, False):
                if not signed:
                    a, b = [abs(v) for v in a], [abs(v) for v in b]
                x, y = dense(a), dense(b)
                if not signed:
                    x, y = (arithmetic.get(arithmetic.absolute(arithmetic.put(n))) for n in (x, y))
                for name, expected in BINARY.items():
                    self.check(arithmetic, name, expected, [(a, x), (b, y)])
                self.check_comparison(arithmetic, (a, x), (b, y))
                for bits in (64 * words, 64 * words - 1, 64 * words - 32):
                    self.check_low_bits(arithmetic, [(a, x), (b, y)], bits)
                self.check(
                    arithmetic, "multiply_add", lambda x, y, z: x * y + z, [(a, x), (b, y), (a, x)]
                )
                c = [v or 7 for v in b]
                self.check_division(arithmetic, (a, x), (c, dense(c)))

    def check_sparse(self, arithmetic: Arithmetic[Any], bits: int) -> None:
        draw = random.Random(bits)

        def sparse(most: int) -> int:
            return sum(draw.choice((1, -1)) << draw.randrange(most) for _ in range(9))

        a = [sparse(bits), 2**bits - 1, -(2**bits), sparse(bits), 3, sparse(bits)]
        b = [sparse(bits // 2) or 1, 2**bits - 1, 2 ** (bits // 2) - 1, sparse(bits) or 1, 1, 5]
        given = [(a, from_ints(a)), (b, from_ints(b))]
        for name, expected in BINARY.items():
            self.check(arithmetic, name, expected, given)
        self.check_division(arithmetic, *given)
        self.check_comparison(arithmetic, *given)
        self.check_queries(arithmetic, given[0])
        by = np.array([bits, -bits, 1, -1, 64, -bits // 2], np.int64)
        self.check(arithmetic, "shift", shifted, given[:1], by)
        self.check(arithmetic, "multiply_add", lambda x, y, z: x * y + z, [*given, given[0]])
        positive = [abs(v) for v in a]
        self.check(arithmetic, "isqrt", math.isqrt, [(positive, from_ints(positive))])

    def test_sparse(self, arithmetic: Arithmetic[Any]) -> None:
        for bits in self.sparse_bits:
            self.check_sparse(arithmetic, bits)

    @pytest.mark.slow
    def test_very_long_and_sparse(self, arithmetic: Arithmetic[Any]) -> None:
        for bits in self.long_bits:
            self.check_sparse(arithmetic, bits)


def shifted(value: int, by: int) -> int:
    return value << by if by >= 0 else value >> -by
