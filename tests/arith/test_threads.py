"""Several threads at once: what the classes say of it is so."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from arith import IntArray, Pool, RationalArray, RedundantInt
from tests.at_once import at_once

RNG = random.Random(1)
VALUES = [RNG.getrandbits(RNG.randrange(1, 900)) - (1 << 200) for _ in range(300)]


def test_integers_are_used_by_several_threads() -> None:
    array = IntArray(VALUES)
    right = [value * value + 3 for value in VALUES]

    def work(number: int) -> None:
        for _ in range(10):
            assert list(array * array + 3) == right
            assert list(array[::2]) == VALUES[::2]

    at_once(work)


def test_rationals_are_used_by_several_threads() -> None:
    fractions = [Fraction(value, 1 + abs(value) % 1000) for value in VALUES[:60]]
    array = RationalArray(fractions)
    right = [value * value - Fraction(1, 3) for value in fractions]

    def work(number: int) -> None:
        for _ in range(5):
            assert list(array * array - Fraction(1, 3)) == right

    at_once(work)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_redundant_numbers_are_read_by_several_threads(backend) -> None:
    value = RNG.getrandbits(5000)
    number = RedundantInt(value, backend=backend)

    def work(which: int) -> None:
        for _ in range(20):
            assert int(number + number) == 2 * value
            assert int(number) == value

    at_once(work)


def test_several_threads_submit_to_a_pool_and_run_it() -> None:
    """No product that was submitted during a run is lost, or taken for done."""
    pool = Pool()

    def work(number: int) -> None:
        for i in range(60):
            a, b = 1000 * number + i, 7
            product = pool.submit("multiply", [a], [b])
            pool.run()
            assert list(product.get()) == [a * b]

    at_once(work)
    assert len(pool) == 0
