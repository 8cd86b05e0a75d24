"""What a backend of weighted CKY parsing offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..parts import Progress
from ..rules import Rules

Logs = npt.NDArray[np.float64]
Kind = Literal["inside", "viterbi"]


@dataclass(frozen=True, eq=False)
class Weights:
    """A weight for each row of Rules.binary, .units and .lexical, and for unit cycles.

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


class WeightedCky(ABC):
    """Values of the batch's strings under one grammar with weights.

    The value of an empty string is zero. Raises TooLongError as kernels.cky.Cky does.
    """

    name: str
    rules: Rules
    memory: int

    @abstractmethod
    def residues(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        primes: Sequence[int],
        progress: Progress | None = None,
    ) -> npt.NDArray[np.uint32]:
        """The symbol's value over each string modulo each prime: uint32 (primes, count).

        weights: of Python ints. primes: each between 2**30 and 2**31.
        """

    @abstractmethod
    def logs(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        kind: Kind,
        progress: Progress | None = None,
    ) -> Logs:
        """The natural logarithm of each string's value: float64 (count,), -inf for zero.

        weights: float64. No product on the way overflows or underflows: numbers are kept
        with an exponent of their own.
        """

    @abstractmethod
    def chart(self, terminals: npt.NDArray[np.uint32], weights: Weights, kind: Kind) -> Logs:
        """Of one string, the logarithm of every symbol's value over every span:
        float64 (cells, symbols), -inf for zero; cells as in kernels.cky.cell()."""

    @property
    @abstractmethod
    def max_length(self) -> int:
        """Tokens of the longest string whose values fit in memory."""
