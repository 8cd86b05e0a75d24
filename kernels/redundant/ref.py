"""Carry-free arithmetic in the words of Bainville's page: what every backend must equal."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .contract import DigitArray, Redundant, Words64


class ReferenceRedundant(Redundant[DigitArray]):
    """The engine in numpy."""

    name: ClassVar[str] = "reference"
    in_place: ClassVar[bool] = True

    def put(self, digits: DigitArray) -> DigitArray:
        """Return digits that check_digits() lets pass, copied to where this engine has them."""
        return digits.copy()

    def get(self, x: DigitArray) -> DigitArray:
        """Return a copy of the digits on the host."""
        return x.copy()

    def add(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None = None
    ) -> DigitArray:
        """Return x + y."""
        return self._carry(self._padded(x, digits) + self._padded(y, digits), out)

    def subtract(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None = None
    ) -> DigitArray:
        """Return x - y; digits, out: as in add()."""
        return self._carry(self._padded(x, digits) - self._padded(y, digits), out)

    def negate(self, x: DigitArray) -> DigitArray:
        """Negate each digit, whatever the number: nothing carries."""
        return -x

    def sum(self, numbers: Words64, positive: int, digits: int) -> DigitArray:
        """Return the sum of the first `positive` numbers less the others."""
        self.check_sum(numbers, positive, digits)
        rows = [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in numbers]
        total = sum(rows[:positive]) - sum(rows[positive:])
        base, half = 1 << self.format.log, 1 << self.format.log - 1
        result = np.zeros(digits, self.format.dtype)
        for i in range(digits):
            digit = (total + half) % base - half
            result[i] = digit
            total = (total - digit) // base
        return result

    def normalise(self, x: DigitArray) -> int:
        """Return the value, in the one pass that propagates carries."""
        value = 0
        for digit in reversed(x.tolist()):
            value = (value << self.format.log) + digit
        return value

    def _padded(self, x: DigitArray, digits: int) -> DigitArray:
        self.check_room(digits, x.size)
        padded = np.zeros(digits, self.format.dtype)
        padded[: x.size] = x
        return padded

    def _carry(self, sums: DigitArray, out: DigitArray | None) -> DigitArray:
        """Return z_i = s_i - base t_i + t_(i-1), where s_i = x_i + y_i and t_i are the carries."""
        word = self.format.dtype.type
        carries = (sums + word(1 << self.format.log - 1)) >> word(self.format.log)
        result: DigitArray = sums - (carries << word(self.format.log))
        result[1:] += carries[:-1]
        if out is None:
            return result
        out[:] = result
        return out
