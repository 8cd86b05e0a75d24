"""Fujita's five Euclidean algorithms on Python ints, counting iterations (Fujita 2017, 4.1, 4.2).

Each is his do-while loop, kept to the letter, on odd x >= y; powers of two, signs, order and
zeros are dealt with before it (his Lemma 4.1.2). They are for his statistics
(benchmarks/gcd_counts.py): no engine uses them, and nothing here is fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

WORD = 32  # bits, his d


class Counted(NamedTuple):
    """A greatest common divisor, and the iterations that it took."""

    gcd: int
    iterations: int


class Approximation(NamedTuple):
    """alpha * D**beta <= x // y, with D = 2**d; case: his name of the rule that gave it."""

    case: str
    alpha: int
    beta: int


Pair = tuple[int, int]
Record = Callable[[int, int, Approximation], None]

CASES = ("1", "2-A", "2-B", "3-A", "3-B", "4-A", "4-B", "4-C")


def original(x: int, y: int, stop: int = 0) -> Counted:
    """Compute by (A), the original algorithm.

    stop: in every one of the five, for numbers whose common prime factors, if any, have `stop`
    bits or more, as RSA moduli of 2 * stop bits: y is a multiple of such a factor, so the search
    ends with gcd 1 once y has fewer bits and is not zero.
    """
    return _iterate(x, y, stop, lambda x, y: (y, x % y))


def fast(x: int, y: int, stop: int = 0) -> Counted:
    """Compute by (B), the original one with odd quotients, so that zeros can be shifted out."""

    def step(x: int, y: int) -> Pair:
        q = x // y
        return _ordered(rshift(x - y * (q if q & 1 else q - 1)), y)

    return _iterate(x, y, stop, step)


def binary(x: int, y: int, stop: int = 0) -> Counted:
    """Compute by (C), the binary algorithm."""

    def step(x: int, y: int) -> Pair:
        if not x & 1:
            return _ordered(x >> 1, y)
        if not y & 1:
            return x, y >> 1
        return _ordered((x - y) >> 1, y)

    return _iterate(x, y, stop, step)


def fast_binary(x: int, y: int, stop: int = 0) -> Counted:
    """Compute by (D), the binary one with all zeros shifted out at once."""
    return _iterate(x, y, stop, lambda x, y: _ordered(rshift(x - y), y))


def approximate(
    x: int, y: int, stop: int = 0, d: int = WORD, record: Record | None = None
) -> Counted:
    """Compute by (E), the fast one, quotients guessed from two words of d bits of each number.

    record: called before each iteration with x, y and what stands for their quotient.
    """

    def step(x: int, y: int) -> Pair:
        guess = approx(x, y, d)
        if record is not None:
            record(x, y, guess)
        _, alpha, beta = guess
        if beta:
            return _ordered(rshift(x - (y * alpha << d * beta) + y), y)
        return _ordered(rshift(x - y * (alpha if alpha & 1 else alpha - 1)), y)

    return _iterate(x, y, stop, step)


def approx(x: int, y: int, d: int = WORD) -> Approximation:
    """Compute his function approx, for x >= y >= 1. Operands of divisions have at most 2 d bits.

    alpha has at most d bits, except in case 1 with a y of one word: there it may have
    2 d, though he says that no quotient has more than d.
    """
    lx, ly = -(-x.bit_length() // d), -(-y.bit_length() // d)
    if lx <= 2:
        return Approximation("1", x // y, 0)
    x12 = x >> d * (lx - 2)
    if ly == 1:
        if x12 >> d >= y:
            return Approximation("2-A", (x12 >> d) // y, lx - 1)
        return Approximation("2-B", x12 // y, lx - 2)
    y12 = y >> d * (ly - 2)
    y1 = y12 >> d
    if ly == 2:
        if x12 >= y12:
            return Approximation("3-A", x12 // y12, lx - 2)
        return Approximation("3-B", x12 // (y1 + 1), lx - 3)
    if x12 > y12:
        return Approximation("4-A", x12 // (y12 + 1), lx - ly)
    if lx > ly:
        return Approximation("4-B", x12 // (y1 + 1), lx - ly - 1)
    return Approximation("4-C", 1, 0)


ALGORITHMS: dict[str, Callable[[int, int, int], Counted]] = {
    "(A) original": original,
    "(B) fast": fast,
    "(C) binary": binary,
    "(D) fast binary": fast_binary,
    "(E) approximate": approximate,
}


def rshift(x: int) -> int:
    """Return x without the zeros below its lowest one; 0 of 0."""
    return x >> (x & -x).bit_length() - 1 if x else 0


def _ordered(x: int, y: int) -> Pair:
    return (y, x) if x < y else (x, y)


def _iterate(x: int, y: int, stop: int, step: Callable[[int, int], Pair]) -> Counted:
    x, y = abs(x), abs(y)
    both = x | y
    twos = (both & -both).bit_length() - 1 if both else 0
    x, y = _ordered(rshift(x), rshift(y))
    shortest = 1 << stop - 1 if stop else 1
    iterations = 0
    while y >= shortest:
        x, y = step(x, y)
        iterations += 1
    return Counted(1 if y else x << twos, iterations)
