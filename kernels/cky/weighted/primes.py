"""Primes for exact values: a fixed list, and how many of them a value needs."""

from __future__ import annotations

import math
from itertools import count, islice

import numpy as np
import numpy.typing as npt

MAX_PRIMES = 1 << 16  # the last of them is above 2**30.999
_BITS = 30.999
_MARGIN = 2.0  # bits; logs are off by much less than one

_found: list[int] = []


def primes(number: int) -> list[int]:
    """Return the greatest primes below 2**31, falling. Raises ValueError for more than
    MAX_PRIMES."""
    if not 0 <= number <= MAX_PRIMES:
        raise ValueError(f"{number} primes: 0 to {MAX_PRIMES} are possible")
    if number > len(_found):
        start = _found[-1] - 2 if _found else 2**31 - 1
        more = (n for n in count(start, -2) if _is_prime(n))
        _found.extend(islice(more, number - len(_found)))
    return _found[:number]


def primes_needed(logs: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return how many of primes() tell each whole number, from its natural logarithm: int64.

    logs: as WeightedCky.values() has them in INSIDE for the same weights as float64; none for -inf.
    """
    bits = np.asarray(logs, np.float64) / math.log(2) + _MARGIN
    return np.where(np.isneginf(bits), 0, np.ceil(bits / _BITS)).astype(np.int64)


def _is_prime(n: int) -> bool:
    """Return whether an odd n from 11 to 3 215 031 750 is prime: strong probable primes to 2, 3,
    5 and 7 are primes there (Pomerance, Selfridge and Wagstaff 1980; Jaeschke 1993)."""
    if any(n % small == 0 for small in (3, 5, 7)):
        return False
    twos = (n - 1 & 1 - n).bit_length() - 1
    for base in (2, 3, 5, 7):
        x = pow(base, n - 1 >> twos, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True
