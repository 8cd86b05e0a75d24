"""IntArray: integers of any and mixed lengths, computed in bulk, with Python's semantics."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast, overload

import numpy as np
import numpy.typing as npt

from kernels.bignum.errors import IndexedTypeError
from kernels.bignum.numbers import Numbers

from . import convert, engines, indexing, operators, text
from .extremes import extreme
from .limbs import LimbBatch
from .operators import Bools

Signs: TypeAlias = npt.NDArray[np.int8]
Longs: TypeAlias = npt.NDArray[np.int64]
Scalar: TypeAlias = int | np.integer[Any]
Operator: TypeAlias = "Callable[[IntArray, Any], IntArray]"
Other: TypeAlias = "IntArray | Scalar | npt.NDArray[Any] | Sequence[int]"

_SHOWN = 6  # numbers in a repr
_SHOWN_BITS = 256


def _both_ways(name: str) -> tuple[Operator, Operator]:
    """Return the methods of an operator with their types, which are known here only."""
    return operators.both_ways(name)


class IntArray(LimbBatch):
    """A one-dimensional, immutable array of integers of any lengths.

    Any number of threads may use one at once, if none has it as the out= of a function.

    values: Python ints, a numpy array of an integer dtype (or of objects that are ints),
    or an IntArray. Anything else, floats too, raises TypeError naming the first index.

    Operators are element by element and mean what they mean for Python's int: floor
    division, a remainder with the divisor's sign, shifts that round down. A scalar
    stands for as many as it meets; otherwise lengths must be the same, or ValueError is
    raised. Comparisons give bool arrays. Division by zero raises ZeroDivisionError with
    the first index, and computes nothing.

    Numbers lie in host memory, or on a GPU after on_device(); an operation is computed
    where its operands are, on the GPU if they differ, and its result stays there.

    No operation changes an array but one that is told to, by `out=` (arith/functions.py):
    then this very object gets other numbers. Every other array keeps its own, also one that
    shares memory with it: slices, masks, `+x`, copies, and what to() returns are arrays of
    their own.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    # numpy leaves operators with an IntArray to it.
    __array_ufunc__ = None

    def __init__(self, values: Other | Iterable[int] = ()) -> None:
        super().__init__(values)

    @classmethod
    def from_numbers(cls, numbers: Numbers) -> IntArray:
        """Make an array of a batch as the kernels have it, which is not copied."""
        engine = engines.host()
        return cls._of(engine, engine.put(numbers))

    # --- conversions ------------------------------------------------------------

    @classmethod
    def from_limbs(cls, limbs: Any, negative: Bools | None = None) -> IntArray:
        """Make an array of packed limbs, the lowest first: uint64 or uint32 (count, width).

        limbs: numpy's array, or an object with __dlpack__ or __cuda_array_interface__; what a GPU
        has is copied to the host. negative: bool (count), the signs. uint64 rows whose words are
        adjacent in host memory are not copied, and neither are uint32 rows of an even, adjacent
        number of words: do not write to them while the IntArray is in use.
        """
        return cls.from_numbers(convert.from_limbs(limbs, negative))

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        width: int,
        byteorder: convert.ByteOrder = "little",
        *,
        signed: bool = False,
    ) -> IntArray:
        """Read numbers of `width` bytes each, one after the other, as int.from_bytes does."""
        return cls.from_numbers(convert.from_bytes(data, width, byteorder, signed=signed))

    def to_bytes(
        self, width: int, byteorder: convert.ByteOrder = "little", *, signed: bool = False
    ) -> bytes:
        """Return `width` bytes each. Raises OverflowError with the first index too large."""
        return convert.to_bytes(self.numbers(), width, byteorder, signed=signed)

    @classmethod
    def from_lines(cls, lines: str | bytes, base: int = 10) -> IntArray:
        """Read a number a line, of base 10 or 16 (0x allowed), or 0 for 0x where it is hex.

        Blank lines and lines that start with # are skipped. Raises ValueError with line
        and column of what is no digit.
        """
        return cls.from_numbers(text.parse(lines, base))

    def to_lines(self, base: int = 10) -> str:
        """Write a number a line, of base 10 or 16 (with 0x)."""
        return text.format_lines(self.numbers(), base)

    def to_ints(self) -> list[int]:
        """Return Python's integers. Raises MemoryError where they find no room."""
        return text.ints_of(self.numbers())

    def to_numpy(self, dtype: npt.DTypeLike = np.int64) -> npt.NDArray[Any]:
        """Return a numpy array.

        Raises OverflowError with the first index that dtype cannot hold.
        """
        return convert.to_numpy(self.numbers(), dtype)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if dtype is None or np.dtype(dtype) == np.object_:
            array = np.empty(len(self), np.object_)
            array[:] = self.to_ints()
            return array
        return self.to_numpy(dtype)

    def __reduce__(self) -> tuple[Callable[..., IntArray], tuple[Any, ...]]:
        packed = convert.pack(self.numbers())
        return _unpickle, (packed.words, packed.lengths, packed.negative)

    def __copy__(self) -> IntArray:
        return IntArray(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> IntArray:
        """Copy the words too, which may be those that from_limbs() was given."""
        if self.place == "device":
            return IntArray(self)
        packed = convert.pack(self.numbers())
        return self._of(self._engine, self._engine.put(replace(packed, words=packed.words.copy())))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an HDF5 file (arith/storage.py has its layout), put under its name when whole."""
        from . import storage

        storage.save(path, {"": self.numbers()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IntArray:
        """Read what save() wrote. Raises ValueError where the file is something else or damaged."""
        from . import storage

        return cls.from_numbers(storage.load(path, [""])[""])

    # --- where it lies ----------------------------------------------------------

    def to(self, place: str) -> IntArray:
        """Return an array of its own in host memory ("host", "cpu", "reference") or on a GPU.

        GPUs are "cuda", "cuda:1", ... Raises kernels.targets.contract.BackendUnavailableError where
        there is no such place.
        """
        engine = engines.named(place)
        if engine is self._engine or (engines.is_host(engine) and engines.is_host(self._engine)):
            return self._of(engine, self._batch)
        return self._of(engine, engine.put(self.numbers()))

    def on_device(self, index: int = 0) -> IntArray:
        """Return an array of its own on the GPU of that index."""
        return self.to(f"cuda:{index}")

    def on_host(self) -> IntArray:
        """Return an array of its own in host memory."""
        return self.to("host") if self.place == "device" else IntArray(self)

    # --- as a sequence ----------------------------------------------------------

    def __bool__(self) -> bool:
        """Return whether the only number is not zero. Raises ValueError for none or several."""
        if len(self) != 1:
            raise ValueError(
                f"{len(self)} numbers are neither true nor false: compare them, or ask for len()"
            )
        return bool(self.sign()[0])

    @property
    def shape(self) -> tuple[int]:
        """Return (count,), as numpy does."""
        return (len(self),)

    def __iter__(self) -> Iterator[int]:
        numbers = self.numbers()
        block = max(1, min(1 << 16, (1 << 23) // max(1, numbers.width)))
        for start in range(0, len(self), block):
            yield from text.ints_of(numbers.take(slice(start, start + block)))

    @overload
    def __getitem__(self, index: Scalar) -> int: ...
    @overload
    def __getitem__(self, index: slice | Bools | npt.NDArray[Any] | list[int]) -> IntArray: ...
    def __getitem__(self, index: Any) -> int | IntArray:
        """Return a number, or those of a slice, at indices, or where a mask is true, as numpy.

        Raises IndexError for all else: see arith/indexing.py.
        """
        places = indexing.chosen(index, len(self))
        if isinstance(places, int):
            return self._one(self._engine.take(self._batch, slice(places, places + 1)))
        return self._of(self._engine, self._engine.take(self._batch, places))

    @classmethod
    def concatenate(cls, arrays: Iterable[IntArray]) -> IntArray:
        """Return the numbers of all arrays, one array after the other."""
        parts = list(arrays)
        if not parts:
            return cls()
        for i, part in enumerate(parts):
            if not isinstance(part, cls):
                raise IndexedTypeError("an IntArray is wanted", i, f", not {type(part).__name__}")
        engine = engines.common(*(part._engine for part in parts))
        return cls._of(engine, engine.concatenate([part._on(engine) for part in parts]))

    @classmethod
    def where(cls, mask: Bools, a: Other, b: Other) -> IntArray:
        """Return a[i] where mask[i], else b[i]; mask: bool (count)."""
        chosen = np.ascontiguousarray(mask)
        if chosen.dtype != np.bool_ or chosen.ndim != 1:
            raise ValueError(f"the mask is bool (count), not {chosen.dtype} {chosen.shape}")
        engine, (x, y), count = operators.meet(cls, a, b)
        if count not in (None, len(chosen)):
            raise ValueError(f"lengths {len(chosen)} and {count}")
        return cls._of(engine, engine.select(chosen, x, y))

    def equals(self, other: IntArray) -> bool:
        """Return whether these are the same numbers in the same order."""
        return len(self) == len(other) and bool((self == other).all())

    def __repr__(self) -> str:
        head = [_shown(value) for value in self[:_SHOWN]]
        if len(self) > _SHOWN:
            head.append(f"... {len(self)} in all")
        return f"IntArray([{', '.join(head)}])"

    # --- arithmetic -------------------------------------------------------------

    __add__, __radd__ = _both_ways("add")
    __sub__, __rsub__ = _both_ways("subtract")
    __mul__, __rmul__ = _both_ways("multiply")
    __floordiv__, __rfloordiv__ = _both_ways("floor_divide")
    __mod__, __rmod__ = _both_ways("remainder")
    __lshift__, __rlshift__ = _both_ways("left_shift")
    __rshift__, __rrshift__ = _both_ways("right_shift")
    __lt__ = operators.comparison(operator.lt)
    __le__ = operators.comparison(operator.le)
    __gt__ = operators.comparison(operator.gt)
    __ge__ = operators.comparison(operator.ge)
    __eq__ = operators.comparison(operator.eq)  # type: ignore[assignment]
    __ne__ = operators.comparison(operator.ne)  # type: ignore[assignment]

    def __divmod__(self, other: Other) -> tuple[IntArray, IntArray]:
        if not isinstance(other, IntArray) and not operators.known(other):
            return NotImplemented
        return operators.quotient_and_remainder(IntArray, self, other)

    def __rdivmod__(self, other: Other) -> tuple[IntArray, IntArray]:
        if not operators.known(other):
            return cast("tuple[IntArray, IntArray]", NotImplemented)
        return operators.quotient_and_remainder(IntArray, other, self)

    def __pow__(self, exponents: Other, moduli: Other | None = None) -> IntArray:
        if not isinstance(exponents, IntArray) and not operators.known(exponents):
            return NotImplemented
        if moduli is not None:
            return self.powmod(exponents, moduli)
        return operators.compute(IntArray, "power", self, exponents)

    def __rpow__(self, base: Other) -> IntArray:
        if not operators.known(base):
            return NotImplemented
        return operators.compute(IntArray, "power", base, self)

    def __neg__(self) -> IntArray:
        return operators.compute(IntArray, "negative", self)

    def __pos__(self) -> IntArray:
        return IntArray(self)

    def __abs__(self) -> IntArray:
        return operators.compute(IntArray, "absolute", self)

    def gcd(self, other: Other) -> IntArray:
        """Return greatest common divisors, never negative; of two zeros it is 0."""
        return operators.compute(IntArray, "gcd", self, other)

    def lcm(self, other: Other) -> IntArray:
        """Return least common multiples, never negative; with a zero it is 0."""
        return operators.compute(IntArray, "lcm", self, other)

    def multiply_add(self, factor: Other, summand: Other) -> IntArray:
        """Return self * factor + summand, in one pass over memory."""
        return operators.compute(IntArray, "multiply_add", self, factor, summand)

    def powmod(self, exponents: Other, moduli: Other) -> IntArray:
        """Return pow(self, exponents, moduli): a negative exponent asks for the inverse's power.

        Raises IndexedValueError, with the first index, where a modulus is zero, and
        NotInvertibleError where an inverse does not exist; both are ValueErrors.
        """
        return operators.compute(IntArray, "powmod", self, exponents, moduli)

    def isqrt(self) -> IntArray:
        """Return floors of the square roots. Raises ValueError with the first negative index."""
        return operators.compute(IntArray, "isqrt", self)

    def bit_length(self) -> Longs:
        """Return bit lengths, int64 (count), as int.bit_length."""
        return self._engine.bit_length(self._batch)

    def sign(self) -> Signs:
        """Return -1, 0 or 1 for each number, int8 (count)."""
        return self._engine.sign(self._batch)

    def sum(self) -> int:
        """Return the sum of all numbers."""
        return self._one(self._engine.sum(self._batch)) if len(self) else 0

    def prod(self) -> int:
        """Return the product, by a tree, so that factors stay of about equal lengths."""
        left = self
        while len(left) > 1:
            half = len(left) // 2
            rest = left[2 * half :]
            left = left[:half] * left[half : 2 * half]
            if len(rest):
                left = IntArray.concatenate([left, rest])
        return left[0] if len(left) else 1

    def min(self) -> int:
        """Return the least number. Raises ValueError for an empty array, as does max()."""
        return extreme(self, -1)

    def max(self) -> int:
        """Return the greatest number."""
        return extreme(self, 1)

    def minimum(self, other: Other) -> IntArray:
        """Return the smaller of each pair of numbers."""
        return operators.compute(IntArray, "minimum", self, other)

    def maximum(self, other: Other) -> IntArray:
        """Return the larger of each pair of numbers."""
        return operators.compute(IntArray, "maximum", self, other)

    def _one(self, batch: Any) -> int:
        return text.ints_of(self._engine.get(batch))[0]


def _unpickle(words: npt.NDArray[np.uint64], lengths: Longs, negative: Bools | None) -> IntArray:
    return IntArray.from_numbers(convert.ragged(words, lengths, negative))


def _shown(value: int) -> str:
    """Return the digits of what is short, hex of what still fits a line."""
    bits = value.bit_length()
    return str(value) if bits <= 64 else hex(value) if bits <= _SHOWN_BITS else f"<{bits} bits>"
