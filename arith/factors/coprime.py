"""A coprime base: the numbers that a set of numbers can be told apart into by gcds alone.

Every number of the set is a product of powers of the base, whose elements are pairwise
coprime; where primes of it always occur together, nothing separates them and the base
has their product. By merging bases of halves, as in Bernstein, Factoring into coprimes
in essentially linear time (2005), but with a search for the few pairs that share
something instead of his bitwise splitting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import gmpy2
from gmpy2 import mpz

from .trees import product_levels, remainders

_FEW = 8  # numbers that are compared one with another


def coprime_base(numbers: Iterable[mpz]) -> list[mpz]:
    """Ascending, each at least 2 and no power of a smaller number. numbers: each positive."""
    distinct = {_primitive(number) for number in numbers if number > 1}
    primes = sorted(number for number in distinct if gmpy2.is_prime(number))
    rest = sorted(distinct.difference(primes))
    base = _merge(primes, _base(rest))
    return sorted({_primitive(element) for element in base})


def touching(bases: Sequence[mpz], numbers: Sequence[mpz]) -> list[tuple[int, int]]:
    """Return all (i, j) with gcd(bases[i], numbers[j]) > 1. bases: pairwise coprime.

    Goes down the tree of the bases' products, with those numbers that share something
    with the product of a node; a number meets few bases, so there are few everywhere.
    """
    if not bases or not numbers:
        return []
    levels = product_levels(bases)
    nodes = [(0, list(range(len(numbers))))]
    for depth in range(len(levels) - 1, -1, -1):
        level, met = levels[depth], []
        for index, candidates in nodes:
            chosen = [numbers[j] for j in candidates]
            rests = remainders(level[index], chosen)
            sharing = [
                j
                for j, number, rest in zip(candidates, chosen, rests, strict=True)
                if gmpy2.gcd(number, rest) > 1
            ]
            if sharing:
                met.append((index, sharing))
        nodes = met
        if depth:
            width = len(levels[depth - 1])
            nodes = [
                (child, sharing)
                for index, sharing in met
                for child in range(2 * index, min(2 * index + 2, width))
            ]
    return [(index, j) for index, sharing in nodes for j in sharing]


def _primitive(number: mpz) -> mpz:
    """Return the number of which this one is the highest power."""
    while gmpy2.is_power(number):
        exponent = 2
        while not (root := gmpy2.iroot(number, exponent))[1]:
            exponent += 1
        number = root[0]
    return number


def _base(numbers: list[mpz]) -> list[mpz]:
    if len(numbers) <= _FEW:
        return _refined(numbers)
    half = len(numbers) // 2
    return _merge(_base(numbers[:half]), _base(numbers[half:]))


def _refined(numbers: list[mpz]) -> list[mpz]:
    """Return a coprime base of few numbers: the product of all falls with every gcd found."""
    base: list[mpz] = []
    left = list(numbers)
    while left:
        number = left.pop()
        if number == 1:
            continue
        for i, element in enumerate(base):
            shared = gmpy2.gcd(number, element)
            if shared > 1:
                del base[i]
                left += [number // shared, element // shared, shared]
                break
        else:
            base.append(number)
    return base


def _merge(first: list[mpz], second: list[mpz]) -> list[mpz]:
    """Return a coprime base of two coprime bases.

    The parts of an element that different elements of the other base touch are coprime,
    as those are; so each touching pair is refined by itself, and what nothing touches stays.
    """
    lone_first, lone_second = list(first), list(second)
    merged = []
    for i, j in touching(first, second):
        a, b = first[i], second[j]
        lone_first[i] = without(lone_first[i], b)
        lone_second[j] = without(lone_second[j], a)
        merged += _refined([a // without(a, b), b // without(b, a)])
    return [element for element in merged + lone_first + lone_second if element > 1]


def without(number: mpz, other: mpz) -> mpz:
    """Return the largest divisor of `number` that is coprime to `other`."""
    while (shared := gmpy2.gcd(number, other)) > 1:
        number = gmpy2.divexact(number, shared)
    return number
