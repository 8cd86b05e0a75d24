"""Hold rules as the compiled engines walk them, and weights as they take them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..contract import TooLongError
from ..rules import Rules

Table = npt.NDArray[np.uint32]
NONE = 0xFFFFFFFF

# A scaled number is mantissa * RADIX**exponent, with LEAST <= mantissa < MOST or zero: a
# product of two mantissas, and the sum of 2**63 of these, neither overflows nor underflows.
RADIX_LOG = 960
LEAST, MOST = 2.0**-480, 2.0**480
SCALED = np.dtype([("mantissa", np.float64), ("exponent", np.int32)], align=True)


def check_lengths(batch: Batch, longest: int) -> None:
    """Raise TooLongError for the first string that is too long."""
    if len(batch) and int(batch.lengths.max()) > longest:
        index = int(np.argmax(batch.lengths > longest))
        raise TooLongError(index, int(batch.lengths[index]), longest)


def starts(counts: npt.NDArray[np.int64]) -> Table:
    """Return where each of these runs starts, and where the last ends."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.uint32)


@dataclass(frozen=True, eq=False)
class Weights:
    """Holds a weight for each row of Rules.binary, .units and .lexical, and for unit cycles.

    The value of A over a span is loops[A] · b(A) + Σ units[A, B] · b(B), with b(A) the sum
    over its binary rules and split points, or its lexical rule. So the units are weights
    of whole chains, summed over all chains; loops[A] is that of all chains from A to A,
    the empty chain among them: 1 where there is no cycle. For Viterbi parses sums are
    maxima.

    Arrays are float64 for probabilities, or objects (int, Fraction) for exact values; none
    is negative.
    """

    binary: npt.NDArray[Any]
    units: npt.NDArray[Any]
    lexical: npt.NDArray[Any]
    loops: npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class RuleTables:
    """Holds the rules by the pair of symbols on their right, the pairs by their first symbol.

    A left is a symbol that comes first in some pair, by its own number; a right likewise.
    All of uint32:

    pairs (pairs, 2): B, C, sorted. left_rows (lefts + 1): pairs of each left. right: right
    of each pair. left_of, right_of (symbols): NONE if it is none.
    rule_rows (pairs + 1), rule_symbols: the A of each pair, falling in with `rule_order`,
    which sorts Rules.binary so; pair_of: the pair of each row of Rules.binary.
    unit_rows (symbols + 1), unit_symbols: the A of each B, B itself among them; unit_order
    sorts the weights of units and, after them, loops.
    lexical_rows (terminals + 1), lexical_symbols, lexical_order: the A of each terminal.
    """

    pairs: Table
    left_rows: Table
    right: Table
    left_of: Table
    right_of: Table
    rule_rows: Table
    rule_symbols: Table
    rule_order: npt.NDArray[np.int64]
    pair_of: npt.NDArray[np.int64]
    unit_rows: Table
    unit_symbols: Table
    unit_order: npt.NDArray[np.int64]
    lexical_rows: Table
    lexical_symbols: Table
    lexical_order: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rules: Rules) -> RuleTables:
        """Return the tables of rules."""
        n = rules.symbols
        a, b, c = rules.binary.T.astype(np.int64)
        keys, pair_of = np.unique(b * n + c, return_inverse=True)
        first, second = keys // n, keys % n
        lefts, rights = np.unique(first), np.unique(second)
        rule_order = np.argsort(pair_of, kind="stable")
        everyone = np.arange(n)
        above = np.concatenate((rules.units[:, 0], everyone))
        below = np.concatenate((rules.units[:, 1], everyone))
        unit_order = np.lexsort((above, below))
        lexical_order = np.argsort(rules.lexical[:, 1], kind="stable")
        return cls(
            pairs=np.stack((first, second), axis=1).astype(np.uint32),
            left_rows=starts(np.bincount(first, minlength=n)[lefts]),
            right=np.searchsorted(rights, second).astype(np.uint32),
            left_of=_numbered(lefts, n),
            right_of=_numbered(rights, n),
            rule_rows=starts(np.bincount(pair_of, minlength=keys.size)),
            rule_symbols=a[rule_order].astype(np.uint32),
            rule_order=rule_order,
            pair_of=pair_of,
            unit_rows=starts(np.bincount(below, minlength=n)),
            unit_symbols=above[unit_order].astype(np.uint32),
            unit_order=unit_order,
            lexical_rows=starts(np.bincount(rules.lexical[:, 1], minlength=rules.terminals)),
            lexical_symbols=rules.lexical[lexical_order, 0].astype(np.uint32),
            lexical_order=lexical_order,
        )


def _numbered(members: npt.NDArray[np.int64], n: int) -> Table:
    numbers = np.full(n, NONE, np.uint32)
    numbers[members] = np.arange(members.size)
    return numbers


def check_weights(rules: Rules, weights: Weights) -> None:
    """Raise ValueError where weights are not as many as rules."""
    given = [weights.binary, weights.units, weights.lexical, weights.loops]
    sizes = [len(rules.binary), len(rules.units), len(rules.lexical), rules.symbols]
    if [w.shape for w in given] != [(size,) for size in sizes]:
        raise ValueError(f"weights of shapes {[w.shape for w in given]}, not {sizes}")


def has_units(rules: Rules, weights: Weights) -> bool:
    """Return whether values differ from what the binary and lexical rules give."""
    return bool(len(rules.units)) or any(x != 1 for x in weights.loops.tolist())


def floats(weights: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return weights as float64. Raises ValueError for what is no number, negative or infinite."""
    result = np.ascontiguousarray(weights, np.float64)
    if not (np.isfinite(result) & (result >= 0)).all():
        raise ValueError("weights must be finite numbers that are not negative")
    return result


def is_plain(weights: npt.NDArray[np.float64]) -> bool:
    """Return whether scaled numbers of these have the exponent zero."""
    return bool(((weights == 0) | ((weights >= LEAST) & (weights < MOST))).all())


def scaled(weights: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return weights as scaled numbers: SCALED."""
    result = np.zeros(weights.shape, SCALED)
    exponents = (weights >= MOST).astype(np.int32) - ((weights > 0) & (weights < LEAST))
    result["exponent"] = exponents
    result["mantissa"] = np.ldexp(weights, -RADIX_LOG * exponents)
    return result


def logarithms(numbers: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the natural logarithms of scaled numbers."""
    with np.errstate(divide="ignore"):
        logs = np.log(numbers["mantissa"])
    result: npt.NDArray[np.float64] = logs + numbers["exponent"] * (RADIX_LOG * np.log(2))
    return result


def check_primes(primes: Sequence[int]) -> None:
    """Raise ValueError for what is no odd number between 2**30 and 2**31."""
    for p in primes:
        if not 1 << 30 < p < 1 << 31 or not p & 1:
            raise ValueError(f"{p} is no prime between 2**30 and 2**31")


def ring_constants(primes: Sequence[int]) -> npt.NDArray[np.uint32]:
    """Return each prime and -1 / p modulo 2**32: uint32 (2, primes)."""
    return np.array([primes, [-pow(p, -1, 1 << 32) % (1 << 32) for p in primes]], np.uint32)


def whole(weights: npt.NDArray[Any]) -> list[int]:
    """Return weights as ints. Raises ValueError for one that is negative or no whole number."""
    try:
        numbers = [operator.index(w) for w in weights.tolist()]
    except TypeError:
        raise ValueError("weights must be whole numbers") from None
    if min(numbers, default=0) < 0:
        raise ValueError("weights must not be negative")
    return numbers


def montgomery(weights: npt.NDArray[Any], primes: Sequence[int]) -> npt.NDArray[np.uint32]:
    """Return w * 2**32 modulo each prime: uint32 (weights, primes).

    Raises ValueError for a weight that is negative or no whole number.
    """
    numbers = whole(weights)
    small = max(numbers, default=0) < 1 << 63
    words = np.array(numbers, np.int64 if small else object)
    result = np.empty((weights.size, len(primes)), np.uint32)
    for i, p in enumerate(primes):
        residues = (words % p).astype(np.uint64)
        result[:, i] = (residues << np.uint64(32)) % np.uint64(p)
    return result
