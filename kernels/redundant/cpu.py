"""Carry-free arithmetic by the compiled extension, on all cores."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import numpy as np

from kernels.cpu import CpuBackend

from .arithmetic import DigitArray, Format, Redundant, Words64


class CpuRedundant(Redundant[DigitArray]):
    """Raises BackendUnavailableError where the extension is not built."""

    name: ClassVar[str] = "cpu"
    in_place: ClassVar[bool] = True

    def __init__(self, format: Format, cpu: CpuBackend | None = None) -> None:
        super().__init__(format)
        self._cpu = cpu or CpuBackend()
        # Not imported above: without it all but the CPU's part still works.
        self._extension: Any = importlib.import_module("kernels._cpu")

    def put(self, digits: DigitArray) -> DigitArray:
        return digits.copy()

    def get(self, x: DigitArray) -> DigitArray:
        return x.copy()

    def add(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None = None
    ) -> DigitArray:
        return self._add(x, y, digits, out, False)

    def subtract(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None = None
    ) -> DigitArray:
        return self._add(x, y, digits, out, True)

    def negate(self, x: DigitArray) -> DigitArray:
        return -x

    def sum(self, numbers: Words64, positive: int, digits: int) -> DigitArray:
        self.check_sum(numbers, positive, digits)
        result = np.empty(digits, self.format.dtype)
        self._extension.redundant_sum(
            self._cpu.level, self.format.word, numbers, positive, result, self._cpu.threads
        )
        return result

    def normalise(self, x: DigitArray) -> int:
        words = np.empty(x.size * self.format.log // 64 + 1, np.uint64)
        self._extension.redundant_normalise(self._cpu.level, self.format.word, x, words)
        return int.from_bytes(words.astype("<u8", copy=False).data, "little", signed=True)

    def _add(
        self, x: DigitArray, y: DigitArray, digits: int, out: DigitArray | None, subtract: bool
    ) -> DigitArray:
        self.check_room(digits, x.size, y.size)
        result = np.empty(digits, self.format.dtype) if out is None else out
        self._extension.redundant_add(
            self._cpu.level, self.format.word, x, y, subtract, result, self._cpu.threads
        )
        return result
