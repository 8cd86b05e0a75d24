"""RedundantInt: a very long integer to which others are added without carries running."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from kernels.bignum.numbers import Words64
from kernels.redundant import DigitArray, Format, Redundant
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.memory import available_memory

from . import text
from .costs import REDUNDANT_COSTS
from .integer import IntArray
from .memory import NotEnoughMemoryError
from .scalars import as_real, comparable

Backend: TypeAlias = str | Redundant[Any]

BACKENDS = ("auto", "cpu", "cuda", "reference")
_BATCH = 1 << 26  # bytes of numbers that are summed up at once
_SMALL = 1 << 28  # bytes that are not worth asking about
_IN_PLACE = 1 << 28  # bytes of digits that are added to before Ctrl-C is missed
_LITTLE = 1 << 20  # words that Python writes in some milliseconds


class RedundantInt:
    """An integer in signed digits of base 2**14, 2**30 or 2**62, in words of 16, 32 or 64 bits.

    Sums and differences cost one pass over memory, in which no digit waits for another;
    int() normalises, in a pass of its own. `+=` and `-=` change the number in place, as
    numpy's arrays are changed; the other operators make a new one. Several threads may read
    one at once; while one thread changes it, no other may use it.

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
    _spare: Any  # what `+=` writes to next where it does not in place, or None

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
        """Add many integers up; their digits are added up with the carries counted beside them."""
        total: RedundantInt | None = None
        for batch in _batches(iter(values), Format(word).most):
            longest = max(abs(value).bit_length() for value in batch)
            arithmetic = _arithmetic(backend, word, longest)
            part = cls._of(arithmetic, *_from_ints(arithmetic, batch))
            total = part if total is None else total.__iadd__(part)
        return cls(0, word=word, backend=backend) if total is None else total

    @classmethod
    def from_digits(cls, digits: DigitArray, *, backend: Backend = "auto") -> RedundantInt:
        """Make a number of int16, int32 or int64 digits, the lowest first; copied.

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
        """Return a copy of the digits."""
        return self._arithmetic.get(self._digits)

    @property
    def word(self) -> int:
        """Return the bits of a digit's word."""
        return self._arithmetic.format.word

    @property
    def backend(self) -> str:
        """Return the name of the engine that has the digits."""
        return self._arithmetic.name

    def to_int(self) -> int:
        """Return Python's integer of the same value."""
        return self._arithmetic.normalise(self._digits)

    __int__ = __index__ = to_int

    def __bool__(self) -> bool:
        return self.to_int() != 0

    def copy(self) -> RedundantInt:
        """Return the same number in memory of its own; copy.copy and copy.deepcopy, too."""
        digits = self._arithmetic.put(self._arithmetic.get(self._digits))
        return self._of(self._arithmetic, digits, self._bits, self._times)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> RedundantInt:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[..., RedundantInt], tuple[Any, ...]]:
        return _unpickle, (self.digits, self._bits, self._times)

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
        """Compare the values, exactly, with numbers of any kind; both are normalised for it."""
        if isinstance(other, RedundantInt):
            return self.to_int() == other.to_int()
        bits = self._bits + self._times.bit_length()
        number = comparable(as_real(other), bits, 0)
        return NotImplemented if number is None else self.to_int() == number

    def _operand(self, other: Any) -> RedundantInt | None:
        """Return what is to be added, or None for what is no integer."""
        if not isinstance(other, RedundantInt):
            number = _integer(other)
            if number is None:
                return None
            return RedundantInt(number, word=self.word, backend=self._arithmetic)
        if other.word != self.word:
            raise ValueError(f"digits of {self.word} and of {other.word} bits do not mix")
        return other

    def _combine(
        self, other: RedundantInt, target: RedundantInt | None, operation: Callable[..., Any]
    ) -> RedundantInt:
        """Return operation(self, other), in the place of target, which is self, if there is one."""
        arithmetic, operand = self._arithmetic, other._digits
        if other._arithmetic is not arithmetic:
            operand = arithmetic.put(other.digits)
        bits = max(self._bits, other._bits)
        times = -(-self._times >> bits - self._bits) + -(-other._times >> bits - other._bits)
        digits = arithmetic.format.digits_for(bits + times.bit_length())
        digits = max(digits, self._digits.size, operand.size)
        place, in_place = None, arithmetic.in_place
        if target is not None:
            nbytes = digits * self.word // 8
            # What is changed in place has to be changed to its end, though Ctrl-C has come.
            in_place &= nbytes <= _IN_PLACE or (
                target._spare is None and nbytes > available_memory() // 2
            )
            place = target._digits if in_place else target._spare
            place = place if place is not None and place.size == digits else None
        if place is None:
            _refuse(digits * self.word // 8)
        result = operation(self._digits, operand, digits, place)
        if target is None:
            return self._of(arithmetic, result, bits, times)
        if not in_place:
            target._spare = target._digits
        target._digits, target._bits, target._times = result, bits, times
        return target


def _integer(value: Any) -> int | None:
    """Return the int that a value of any integer type is, or None."""
    try:
        return operator.index(bool(value) if isinstance(value, np.bool_) else value)
    except TypeError:
        return None


def _unpickle(digits: DigitArray, bits: int, times: int) -> RedundantInt:
    """Return a number on what `backend="auto"` takes: the pickled one's may be missing here."""
    number = RedundantInt.from_digits(digits)
    number._bits, number._times = bits, times
    return number


def _refuse(nbytes: int) -> None:
    if nbytes > _SMALL and nbytes > (free := available_memory()):
        raise NotEnoughMemoryError("the digits", nbytes, free, "need")


def _batches(values: Iterator[int], most: int) -> Iterator[list[int]]:
    """Lists that as many words for each as for the longest do not make too big."""
    batch: list[int] = []
    longest = 0
    for i, value in enumerate(values):
        number = _integer(value)
        if number is None:
            raise TypeError(f"value {i} is no integer: {type(value).__name__}")
        longest = max(longest, number.bit_length())
        if batch and (len(batch) == most or (len(batch) + 1) * longest > 8 * _BATCH):
            yield batch
            batch, longest = [], number.bit_length()
        batch.append(number)
    if batch:
        yield batch


def _from_ints(arithmetic: Redundant[Any], values: list[int]) -> tuple[Any, int, int]:
    """Return the digits of the integers' sum, and the bound of RedundantInt."""
    bits = max(value.bit_length() for value in values)
    words = -(-bits // 64)
    digits = arithmetic.format.digits_for(bits + len(values).bit_length())
    _refuse(8 * words * len(values) + digits * arithmetic.format.word // 8)
    ordered = [v for v in values if v >= 0]
    positive = len(ordered)
    ordered += [-v for v in values if v < 0]
    numbers = _long_rows(ordered, words) if words > _LITTLE else _rows(ordered, words)
    return arithmetic.sum(numbers, positive, digits), bits, len(values)


def _rows(values: list[int], words: int) -> Words64:
    """Return the values, which are not negative, as uint64 (values, words)."""
    raw = b"".join(value.to_bytes(8 * words, "little") for value in values)
    return np.frombuffer(raw, "<u8").astype(np.uint64, copy=False).reshape(len(values), words)


def _long_rows(values: list[int], words: int) -> Words64:
    """Do as _rows() does, but so that Ctrl-C comes through, which int.to_bytes() keeps waiting."""
    result = np.empty((len(values), words), np.uint64)
    for row, value in zip(result, values, strict=True):
        numbers = text.numbers_of([value])
        known = int(numbers.length_array()[0])
        for first in range(0, words, _LITTLE):
            part = numbers.words[first : min(first + _LITTLE, known)]
            row[first : first + len(part)] = part
            row[first + len(part) : first + _LITTLE] = 0
    return result


def _arithmetic(backend: Backend, word: int, bits: int) -> Redundant[Any]:
    if isinstance(backend, Redundant):
        if backend.format.word != word:
            raise ValueError(f"this backend has words of {backend.format.word} bits, not {word}")
        return backend
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}: one of {', '.join(BACKENDS)}")
    if backend != "auto":
        return _named(backend, word)
    for name in ("cuda", "cpu") if bits >= REDUNDANT_COSTS.gpu_bits else ("cpu",):
        try:
            return _named(name, word)
        except BackendUnavailableError:
            pass
    return _named("reference", word)


@lru_cache(maxsize=16)
def _named(name: str, word: int) -> Redundant[Any]:
    format = Format(word)
    if name == "cuda":
        from kernels.redundant.cuda.engine import DeviceRedundant
        from kernels.targets.cuda.target import CudaTarget

        return DeviceRedundant(format, CudaTarget().device)
    if name == "cpu":
        from kernels.redundant.cpu.engine import CpuRedundant

        return CpuRedundant(format)
    from kernels.redundant.ref import ReferenceRedundant

    return ReferenceRedundant(format)
