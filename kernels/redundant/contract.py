"""What a backend of carry-free arithmetic offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Words64: TypeAlias = npt.NDArray[np.uint64]
DigitArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]

WORDS = (16, 32, 64)
GROUP = 32  # digits; a number has whole groups of them


@dataclass(frozen=True, slots=True)
class Format:
    """Digits of base 2^log in signed words (Bainville 2009; Avizienis 1961).

    word: 16, 32 or 64 bits. Digit i counts base**i and lies within -limit..limit, where
    limit = base / 2 + 1. The sum of two such digits fits into a word, and less its carry,
    -1, 0 or 1, lies within -base / 2..base / 2 - 1: the carry from below finds room.
    """

    word: int

    def __post_init__(self) -> None:
        if self.word not in WORDS:
            raise ValueError(f"words have 16, 32 or 64 bits, not {self.word}")

    @property
    def log(self) -> int:
        """Return the logarithm of the base."""
        return self.word - 2

    @property
    def limit(self) -> int:
        """Return the largest magnitude of a digit."""
        return (1 << self.log - 1) + 1

    @property
    def most(self) -> int:
        """Return how many numbers one sum() takes: so many carries are a digit."""
        return 1 << self.log - 1

    @property
    def dtype(self) -> np.dtype[np.signedinteger[Any]]:
        """Return the dtype of digits."""
        return np.dtype(f"int{self.word}")

    def digits_for(self, bits: int) -> int:
        """Return how many digits hold every number below 2**bits, whatever digits it has come to.

        Those below the topmost are worth no more than base**n * (1/2 + 1/base)
        together: a carry out of n digits would leave 2**bits <= base**n / 4 behind.
        """
        digits = -(-(bits + 2) // self.log)
        return max(1, -(-digits // GROUP)) * GROUP

    def check_digits(self, digits: npt.NDArray[Any]) -> None:
        """Raise ValueError unless these are digits of a number."""
        if digits.dtype != self.dtype or digits.ndim != 1:
            raise ValueError(
                f"digits are {self.dtype} in one dimension, not {digits.dtype} in {digits.ndim}"
            )
        if not digits.size or digits.size % GROUP:
            raise ValueError(f"digits come in groups of {GROUP}, these are {digits.size}")
        wrong = np.flatnonzero((digits > self.limit) | (digits < -self.limit))
        if wrong.size:
            i = int(wrong[0])
            raise ValueError(f"digit {i} is {digits[i]}, the limit is {self.limit}")


class Sized(Protocol):
    """Digits whose number is known."""

    @property
    def size(self) -> int:
        """Return how many digits there are."""


Number = TypeVar("Number", bound=Sized)  # its digits, where a backend has them; size: how many


class Redundant(ABC, Generic[Number]):
    """Operations on very long numbers; each number is an array of digits of one format.

    Operands may have different numbers of digits; results have `digits` of them (a
    multiple of GROUP, no fewer than the operands), enough for the value as
    Format.digits_for() counts: this is the caller's to know.
    """

    name: ClassVar[str]
    in_place: ClassVar[bool]  # `out` may be x itself; never y, unless x and y are the same

    def __init__(self, format: Format) -> None:
        self.format = format

    @abstractmethod
    def put(self, digits: DigitArray) -> Number:
        """Return digits that check_digits() lets pass, copied to where this engine has them."""

    @abstractmethod
    def get(self, x: Number) -> DigitArray:
        """Return a copy of the digits on the host."""

    @abstractmethod
    def add(self, x: Number, y: Number, digits: int, out: Number | None = None) -> Number:
        """Return x + y; out: a number of as many digits to overwrite; neither x nor y, but for
        what in_place allows."""

    @abstractmethod
    def subtract(self, x: Number, y: Number, digits: int, out: Number | None = None) -> Number:
        """Return x - y; digits, out: as in add()."""

    @abstractmethod
    def negate(self, x: Number) -> Number:
        """Negate each digit, whatever the number: nothing carries."""

    @abstractmethod
    def sum(self, numbers: Words64, positive: int, digits: int) -> Number:
        """Return the sum of the first `positive` numbers less the others.

        numbers: uint64 (count, width), contiguous, in binary; count <= format.most, and
        width * 64 <= digits * format.log.
        """

    @abstractmethod
    def normalise(self, x: Number) -> int:
        """Return the value, in the one pass that propagates carries."""

    def check_sum(self, numbers: Words64, positive: int, digits: int) -> None:
        """Raise ValueError where sum() cannot take these numbers."""
        if numbers.dtype != np.uint64 or numbers.ndim != 2 or not numbers.flags.c_contiguous:
            raise ValueError("numbers must be of uint64 (count, width), contiguous")
        count, width = numbers.shape
        if not 0 <= positive <= count <= self.format.most:
            raise ValueError(f"{positive} of {count} numbers; {self.format.most} at once")
        self.check_room(digits, -(-width * 64 // self.format.log))

    def check_room(self, digits: int, *needed: int) -> None:
        """Raise ValueError where so many digits are too few, or no whole groups."""
        if digits < max(needed) or digits % GROUP or digits < GROUP:
            raise ValueError(f"no room in {digits} digits for {max(needed)}, or no whole groups")
