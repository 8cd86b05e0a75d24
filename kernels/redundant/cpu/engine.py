"""Carry-free arithmetic by the compiled extension, on all cores."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from kernels.bignum.numbers import Numbers
from kernels.targets.cpu import CpuTarget

from ..contract import DigitArray, Format, Redundant, Words64

_LITTLE = 1 << 20  # words that Python makes an integer of in some milliseconds
_PART = 1 << 22  # digits that numpy goes through in some milliseconds


class CpuRedundant(Redundant[DigitArray]):
    """The engine on the CPU. Raises BackendUnavailableError where the extension is not built."""

    name: ClassVar[str] = "cpu"
    in_place: ClassVar[bool] = True

    def __init__(self, format: Format, cpu: CpuTarget | None = None) -> None:
        super().__init__(format)
        self._cpu = cpu or CpuTarget()
        # Not imported above: without it all but the CPU's part still works.
        self._extension: Any = importlib.import_module("kernels._cpu")

    def put(self, digits: DigitArray) -> DigitArray:
        """Return digits that check_digits() lets pass, copied to where this engine has them."""
        return _each_part(np.copyto, digits)

    def get(self, x: DigitArray) -> DigitArray:
        """Return a copy of the digits on the host."""
        return _each_part(np.copyto, x)

    def add(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None = None
    ) -> DigitArray:
        """Return x + y."""
        return self._add(x, y, digits, out, False)

    def subtract(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None = None
    ) -> DigitArray:
        """Return x - y; digits, out: as in add()."""
        return self._add(x, y, digits, out, True)

    def negate(self, x: DigitArray) -> DigitArray:
        """Negate each digit, whatever the number: nothing carries."""
        return _each_part(_negate, x)

    def sum(self, numbers: Words64, positive: int, digits: int) -> DigitArray:
        """Return the sum of the first `positive` numbers less the others."""
        self.check_sum(numbers, positive, digits)
        result = np.empty(digits, self.format.dtype)
        self._extension.redundant_sum(
            self._cpu.level, self.format.word, numbers, positive, result, self._cpu.threads
        )
        return result

    def normalise(self, x: DigitArray) -> int:
        """Return the value, in the one pass that propagates carries."""
        words = self._words(x)
        if words.size <= _LITTLE:
            return int.from_bytes(words.astype("<u8", copy=False).data, "little", signed=True)
        # Python looks at no signal while it makes an integer.
        negative = bool(words[-1] >> 63)
        if negative:
            words = self._words(self.negate(x))
        numbers = Numbers(words, 1, words.size, negative=np.array([True]) if negative else None)
        value: int = self._extension.bignum_to_ints(numbers)[0]
        return value

    def _words(self, x: DigitArray) -> Words64:
        """Return the value of x in two's complement."""
        words = np.empty(x.size * self.format.log // 64 + 1, np.uint64)
        self._extension.redundant_normalise(self._cpu.level, self.format.word, x, words)
        return words

    def _add(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None, subtract: bool
    ) -> DigitArray:
        self.check_room(digits, x.size, y.size)
        result = np.empty(digits, self.format.dtype) if out is None else out
        self._extension.redundant_add(
            self._cpu.level, self.format.word, x, y, subtract, result, self._cpu.threads
        )
        return result


def _negate(result: DigitArray, digits: DigitArray) -> None:
    np.negative(digits, out=result)


def _each_part(write: Callable[[DigitArray, DigitArray], None], digits: DigitArray) -> DigitArray:
    """Return an array that write(part, part of digits) has filled, so that Ctrl-C comes between."""
    result = np.empty_like(digits)
    for first in range(0, digits.size, _PART):
        write(result[first : first + _PART], digits[first : first + _PART])
    return result
