"""The contract of weighted CKY parsing: what an engine of any target offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..batch import Batch
from ..dispatch import Progress
from ..rules import Rules
from .semirings import Semiring
from .tables import Weights

Logs = npt.NDArray[np.float64]


class WeightedCky(ABC):
    """Computes values of the batch's strings under one grammar with weights.

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
        """Return the symbol's value over each string modulo each prime: uint32 (primes, count).

        weights: of Python ints. primes: each between 2**30 and 2**31.
        """

    @abstractmethod
    def values(
        self,
        batch: Batch,
        symbol: int,
        weights: Weights,
        semiring: Semiring,
        progress: Progress | None = None,
    ) -> npt.NDArray[Any]:
        """Return the symbol's value over each string, as semiring.output() has it.

        For sums and maxima of floats, INSIDE and VITERBI, these are natural logarithms:
        float64 (count,), -inf for zero. No product on the way overflows or underflows:
        numbers are kept with an exponent of their own.
        """

    @abstractmethod
    def chart(
        self, terminals: npt.NDArray[np.uint32], weights: Weights, semiring: Semiring
    ) -> npt.NDArray[Any]:
        """Return the values of every symbol over every span of one string, as values() has them.

        (cells, symbols); cells as in kernels.cky.cell(). Not of residues.
        """

    @property
    @abstractmethod
    def max_length(self) -> int:
        """Tokens of the longest string whose values fit in memory."""
