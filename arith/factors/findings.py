"""From what each modulus shares to who shares what with whom."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import gmpy2
from gmpy2 import mpz

from .coprime import coprime_base, touching


class Kind(StrEnum):
    """The kinds of what a Finding says of its moduli, in the order in which they are reported."""

    INVALID = "invalid"  # negative, 0 or 1
    EVEN = "even"
    DUPLICATE = "duplicate"  # they are equal
    DIVIDES = "divides"  # one of them divides the others
    PRIME = "prime modulus"  # it is prime, and divides others
    SHARED_PRIME = "shared prime"
    SHARED_DIVISOR = "shared divisor"  # not prime, but no gcd takes it apart


@dataclass(frozen=True, slots=True)
class Finding:
    """Moduli that have something in common.

    value: what divides them all: the prime or divisor they share, or the modulus itself
    that is found twice, divides others or is prime; 2 for even ones; an invalid number.
    indices: of the moduli asked about, ascending. stored: of those in the stored set, which
    is not searched for what is invalid or even.
    """

    kind: Kind
    value: int
    indices: tuple[int, ...]
    stored: tuple[int, ...] = ()


Places = Mapping[mpz, Sequence[int]]


def places_of(numbers: Sequence[mpz]) -> dict[mpz, list[int]]:
    """Return where each value is."""
    places: dict[mpz, list[int]] = {}
    for index, number in enumerate(numbers):
        places.setdefault(number, []).append(index)
    return places


def all_findings(new: Places, stored: Places, parts: Mapping[mpz, mpz]) -> list[Finding]:
    """Return the findings on the new moduli, with each other and with stored ones.

    parts: for each number that shares something, if only with a new one, its largest
    divisor that has no primes but shared ones.
    """

    def finding(kind: Kind, value: mpz, numbers: Sequence[mpz]) -> Finding:
        ours = sorted(i for number in numbers for i in new.get(number, ()))
        theirs = sorted(i for number in numbers for i in stored.get(number, ()))
        return Finding(kind, int(value), tuple(ours), tuple(theirs))

    found = [
        Finding(Kind.INVALID, int(number), tuple(indices))
        for number, indices in new.items()
        if number < 2
    ]
    even = [i for number in new if number > 1 and number % 2 == 0 for i in new[number]]
    if even:
        found.append(Finding(Kind.EVEN, 2, tuple(sorted(even))))
    found += [
        finding(Kind.DUPLICATE, number, [number])
        for number, indices in new.items()
        if number > 1 and len(indices) + len(stored.get(number, ())) > 1
    ]
    holders, elements = _holders(parts)
    for number, part in parts.items():
        if part != number:
            continue
        multiples = _multiples(number, [holders[element] for element in elements[number]])
        if not multiples:
            continue
        found.append(finding(Kind.DIVIDES, number, [number, *multiples]))
        if number in new and gmpy2.is_prime(number):
            found.append(finding(Kind.PRIME, number, [number]))
    for element, numbers in holders.items():
        if element != 2 and len(numbers) > 1:
            prime = gmpy2.is_prime(element)
            found.append(
                finding(Kind.SHARED_PRIME if prime else Kind.SHARED_DIVISOR, element, numbers)
            )
    order = list(Kind)
    found = [each for each in found if each.indices]
    return sorted(found, key=lambda each: (order.index(each.kind), each.indices, each.value))


def _holders(
    parts: Mapping[mpz, mpz],
) -> tuple[dict[mpz, list[mpz]], dict[mpz, list[mpz]]]:
    """Return the numbers that have each element of a coprime base of the parts, ascending.

    Beside them each number's elements.
    """
    base = coprime_base(parts.values())
    known = set(base)
    holders: dict[mpz, list[mpz]] = {element: [] for element in base}
    elements: dict[mpz, list[mpz]] = {}
    mixed = sorted({part for part in parts.values() if part not in known})
    divisors: dict[mpz, list[mpz]] = {element: [element] for element in base}
    for i, j in touching(base, mixed):
        divisors.setdefault(mixed[j], []).append(base[i])
    for number in sorted(parts):
        elements[number] = divisors[parts[number]]
        for element in elements[number]:
            holders[element].append(number)
    return holders, elements


def _multiples(number: mpz, groups: Sequence[list[mpz]]) -> list[mpz]:
    """Return the multiples of a number that are in every group; each group is ascending."""
    group = min(groups, key=len)
    larger = group[bisect_left(group, 2 * number) :]
    return [other for other in larger if other % number == 0]
