"""RedundantInt: a very long integer to which others are added without carries running."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from kernels.backend import BackendUnavailableError
from kernels.memory import available_memory
from kernels.redundant import DigitArray, Format, Redundant

from .integer import IntArray

Backend: TypeAlias = str | Redundant[Any]

BACKENDS = ("auto", "cpu", "cuda", "reference")
_GPU_BITS = 1 << 25  # 4 MiB, where a launch costs little of an addition
_BATCH = 1 << 26  # bytes of numbers that are summed up at once
_SMALL = 1 << 28  # bytes that are not worth asking about


class RedundantInt:
    """An integer in signed digits of base 2**14, 2**30 or 2**62, in words of 16, 32 or 64 bits.

    Sums and differences cost one pass over memory, in which no digit waits for another;
    int() normalises, in a pass of its own. `+=` and `-=` change the number in place, as
    numpy's arrays are changed; the other operators make a new one.

    value: an int. backend: "cuda", "cpu", "reference", or "auto", which is CUDA for
    numbers of 4 MiB or more where it works, else the CPU, else the reference; or an
    arithmetic of kernels.redundant. Raises BackendUnavailableError, TypeError for what
    is no integer, ValueError for other words, MemoryError before memory runs out.

    Every digit lies within -limit..limit, limit = base / 2 + 1: kernels.redundant.Format
    says why it stays so. Numbers of different words do not mix, those of different
    backends do: the result lies where the left one did.
    """

    __slots__ = ("_arithmetic", "_bits", "_digits", "_spare", "_times")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    # The value is at most _times * 2**_bits either way, so that numbers grow by the
    # logarithm of how many were added.
    _arithmetic: Redundant[Any]
    _digits: Any
    _bits: int
    _times: int
    _spare: Any  # what `+=` writes to next where it cannot in place, or None

    def __init__(self, value: int = 0, *, word: int = 64, backend: Backend = "auto") -> None:
        value = operator.index(value)
        arithmetic = _arithmetic(backend, word, value.bit_length())
        self._set(arithmetic, *_from_ints(arithmetic, [value]))

    def _set(self, arithmetic: Redundant[Any], digits: Any, bits: int, times: int) -> None:
        self._arithmetic, self._digits, self._spare = arithmetic, digits, None
        self._bits, self._times = bits, times

    @classmethod
    def _of(cls, arithmetic: Redundant[Any], digits: Any, bits: int, times: int) -> RedundantInt:
        number = cls.__new__(cls)
        number._set(arithmetic, digits, bits, times)
        return number

    @classmethod
    def sum(
        cls, values: IntArray | Iterable[int], *, word: int = 64, backend: Backend = "auto"
    ) -> RedundantInt:
        """Of many integers; their digits are added up with the carries counted beside them."""
        total: RedundantInt | None = None
        for batch in _batches(iter(values), Format(word).most):
            longest = max(abs(value).bit_length() for value in batch)
            arithmetic = _arithmetic(backend, word, longest)
            part = cls._of(arithmetic, *_from_ints(arithmetic, batch))
            total = part if total is None else total.__iadd__(part)
        return cls(0, word=word, backend=backend) if total is None else total

    @classmethod
    def from_digits(cls, digits: DigitArray, *, backend: Backend = "auto") -> RedundantInt:
        """Of int16, int32 or int64 digits, the lowest first; copied.

        Raises ValueError for a digit outside of the limit, or if they are no groups of 32.
        """
        if digits.dtype.kind != "i":
            raise ValueError(f"digits are signed words, not {digits.dtype}")
        format = Format(8 * digits.dtype.itemsize)
        format.check_digits(digits)
        arithmetic = _arithmetic(backend, format.word, digits.size * format.log)
        return cls._of(arithmetic, arithmetic.put(digits), digits.size * format.log, 1)

    @property
    def digits(self) -> DigitArray:
        """A copy."""
        return self._arithmetic.get(self._digits)

    @property
    def word(self) -> int:
        return self._arithmetic.format.word

    @property
    def backend(self) -> str:
        return self._arithmetic.name

    def to_int(self) -> int:
        return self._arithmetic.normalise(self._digits)

    def __int__(self) -> int:
        return self.to_int()

    def copy(self) -> RedundantInt:
        digits = self._arithmetic.put(self._arithmetic.get(self._digits))
        return self._of(self._arithmetic, digits, self._bits, self._times)

    def __repr__(self) -> str:
        return f"<RedundantInt of {self._digits.size} {self.word}-bit digits, {self.backend}>"

    # --- arithmetic -----------------------------------------------------------------

    def __iadd__(self, other: Any) -> RedundantInt:
        operand = self._operand(other)
        if operand is None:
            return NotImplemented
        return self._combine(operand, self, self._arithmetic.add)

    def __isub__(self, other: Any) -> RedundantInt:
        operand = self._operand(other)
        if operand is None:
            return NotImplemented
        return self._combine(operand, self, self._arithmetic.subtract)

    def __add__(self, other: Any) -> RedundantInt:
        operand = self._operand(other)
        if operand is None:
            return NotImplemented
        return self._combine(operand, None, self._arithmetic.add)

    def __sub__(self, other: Any) -> RedundantInt:
        operand = self._operand(other)
        if operand is None:
            return NotImplemented
        return self._combine(operand, None, self._arithmetic.subtract)

    __radd__ = __add__

    def __rsub__(self, other: Any) -> RedundantInt:
        operand = self._operand(other)
        return NotImplemented if operand is None else operand - self

    def __neg__(self) -> RedundantInt:
        negated = self._arithmetic.negate(self._digits)
        return self._of(self._arithmetic, negated, self._bits, self._times)

    def __eq__(self, other: object) -> bool:
        """Of values; both are normalised for it."""
        if isinstance(other, RedundantInt):
            return self.to_int() == other.to_int()
        if isinstance(other, (int, np.integer)):
            return self.to_int() == other
        return NotImplemented

    def _operand(self, other: Any) -> RedundantInt | None:
        """None for what is no integer."""
        if isinstance(other, (int, np.integer)):
            return RedundantInt(int(other), word=self.word, backend=self._arithmetic)
        if not isinstance(other, RedundantInt):
            return None
        if other.word != self.word:
            raise ValueError(f"digits of {self.word} and of {other.word} bits do not mix")
        return other

    def _combine(
        self, other: RedundantInt, target: RedundantInt | None, operation: Callable[..., Any]
    ) -> RedundantInt:
        """operation(self, other), in the place of target, which is self, if there is one."""
        arithmetic, operand = self._arithmetic, other._digits
        if other._arithmetic is not arithmetic:
            operand = arithmetic.put(other.digits)
        bits = max(self._bits, other._bits)
        times = -(-self._times >> bits - self._bits) + -(-other._times >> bits - other._bits)
        digits = arithmetic.format.digits_for(bits + times.bit_length())
        digits = max(digits, self._digits.size, operand.size)
        place = None
        if target is not None:
            place = target._digits if arithmetic.in_place else target._spare
            place = place if place is not None and place.size == digits else None
        if place is None:
            _refuse(digits * self.word // 8)
        result = operation(self._digits, operand, digits, place)
        if target is None:
            return self._of(arithmetic, result, bits, times)
        if not arithmetic.in_place:
            target._spare = target._digits
        target._digits, target._bits, target._times = result, bits, times
        return target


def _refuse(nbytes: int) -> None:
    if nbytes > _SMALL and nbytes > (free := available_memory()):
        raise MemoryError(f"the digits need {nbytes:,} bytes, {free:,} are available")


def _batches(values: Iterator[int], most: int) -> Iterator[list[int]]:
    """Lists that as many words for each as for the longest do not make too big."""
    batch: list[int] = []
    longest = 0
    for i, value in enumerate(values):
        if not isinstance(value, (int, np.integer)):
            raise TypeError(f"value {i} is no integer: {type(value).__name__}")
        number = int(value)
        longest = max(longest, number.bit_length())
        if batch and (len(batch) == most or (len(batch) + 1) * longest > 8 * _BATCH):
            yield batch
            batch, longest = [], number.bit_length()
        batch.append(number)
    if batch:
        yield batch


def _from_ints(arithmetic: Redundant[Any], values: list[int]) -> tuple[Any, int, int]:
    """The digits of their sum, and the bound of RedundantInt."""
    bits = max(value.bit_length() for value in values)
    words = -(-bits // 64)
    digits = arithmetic.format.digits_for(bits + len(values).bit_length())
    _refuse(8 * words * len(values) + digits * arithmetic.format.word // 8)
    ordered = [v for v in values if v >= 0]
    positive = len(ordered)
    ordered += [-v for v in values if v < 0]
    raw = b"".join(value.to_bytes(8 * words, "little") for value in ordered)
    numbers = np.frombuffer(raw, "<u8").astype(np.uint64, copy=False).reshape(len(values), words)
    return arithmetic.sum(numbers, positive, digits), bits, len(values)


def _arithmetic(backend: Backend, word: int, bits: int) -> Redundant[Any]:
    if isinstance(backend, Redundant):
        if backend.format.word != word:
            raise ValueError(f"this backend has words of {backend.format.word} bits, not {word}")
        return backend
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}: one of {', '.join(BACKENDS)}")
    if backend != "auto":
        return _named(backend, word)
    for name in ("cuda", "cpu") if bits >= _GPU_BITS else ("cpu",):
        try:
            return _named(name, word)
        except BackendUnavailableError:
            pass
    return _named("reference", word)


@lru_cache(maxsize=16)
def _named(name: str, word: int) -> Redundant[Any]:
    format = Format(word)
    if name == "cuda":
        from kernels.cuda import CudaBackend
        from kernels.redundant.cuda import DeviceRedundant

        return DeviceRedundant(format, CudaBackend().device)
    if name == "cpu":
        from kernels.redundant.cpu import CpuRedundant

        return CpuRedundant(format)
    from kernels.redundant.ref import ReferenceRedundant

    return ReferenceRedundant(format)
