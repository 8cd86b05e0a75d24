"""IntArray: integers of any and mixed lengths, computed in bulk, with Python's semantics."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast, overload

import numpy as np
import numpy.typing as npt

from kernels.bignum.numbers import Numbers, to_ints

from . import convert, engines, operators, text
from .extremes import extreme
from .memory import check_lcm
from .operators import Bools

Signs: TypeAlias = npt.NDArray[np.int8]
Longs: TypeAlias = npt.NDArray[np.int64]
Scalar: TypeAlias = int | np.integer[Any]
Other: TypeAlias = "IntArray | Scalar | npt.NDArray[Any] | Sequence[int]"

_SHOWN = 6  # numbers in a repr
_SHOWN_BITS = 256


class IntArray:
    """A one-dimensional, immutable array of integers of any lengths.

    values: Python ints, a numpy array of an integer dtype (or of objects that are ints),
    or an IntArray. Anything else, floats too, raises TypeError naming the first index.

    Operators are element by element and mean what they mean for Python's int: floor
    division, a remainder with the divisor's sign, shifts that round down. A scalar
    stands for as many as it meets; otherwise lengths must be the same, or ValueError is
    raised. Comparisons give bool arrays. Division by zero raises ZeroDivisionError with
    the first index, and computes nothing.

    Numbers lie in host memory, or on a GPU after on_device(); an operation is computed
    where its operands are, on the GPU if they differ, and its result stays there.
    """

    __slots__ = ("_batch", "_engine")
    __hash__ = None  # type: ignore[assignment]
    # numpy leaves operators with an IntArray to it.
    __array_ufunc__ = None

    def __init__(self, values: Other | Iterable[int] = ()) -> None:
        self._engine: engines.Engine = engines.host()
        self._batch: Any
        if isinstance(values, IntArray):
            self._engine, self._batch = values._engine, values._batch
            return
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise ValueError(f"an IntArray has one dimension, not {values.shape}")
            if np.ma.is_masked(values):
                raise ValueError("a masked number has no value")
            if values.dtype.kind in "iub":
                self._batch = self._engine.put(convert.from_numpy(values))
                return
            if values.dtype.kind != "O":
                raise TypeError(f"integers are wanted, not {values.dtype}")
        if isinstance(values, (str, bytes, bytearray, memoryview, int, np.integer)):
            raise TypeError(f"a sequence of integers is wanted, not {type(values).__name__}")
        self._batch = self._engine.put(text.numbers_of(list(values)))

    @classmethod
    def _of(cls, engine: engines.Engine, batch: Any) -> IntArray:
        array = cls.__new__(cls)
        array._engine, array._batch = engine, batch
        return array

    @classmethod
    def from_numbers(cls, numbers: Numbers) -> IntArray:
        """Of a batch as the kernels have it, which is not copied."""
        engine = engines.host()
        return cls._of(engine, engine.put(numbers))

    # --- conversions ------------------------------------------------------------

    @classmethod
    def from_limbs(cls, limbs: npt.NDArray[Any], negative: Bools | None = None) -> IntArray:
        """Of packed limbs, the lowest first: uint64 or uint32 (count, width).

        negative: bool (count), the signs. uint64 rows whose words are adjacent are not
        copied, and neither are uint32 rows of an even, adjacent number of words: do not
        write to them while the IntArray is in use.
        """
        return cls.from_numbers(convert.from_limbs(limbs, negative))

    def limbs(self) -> tuple[npt.NDArray[np.uint64], Bools | None]:
        """uint64 (count, width), the lowest first, and which are negative (None: none is).

        width is that of the longest. Read-only views where the numbers lie at equal
        distances in host memory, else a copy of the limbs.
        """
        numbers = self.numbers()
        negative = None if numbers.negative is None else numbers.negative.view()
        if negative is not None:
            negative.flags.writeable = False
        return convert.limbs_of(numbers), negative

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        width: int,
        byteorder: convert.ByteOrder = "little",
        *,
        signed: bool = False,
    ) -> IntArray:
        """Of numbers of `width` bytes each, one after the other, as int.from_bytes."""
        return cls.from_numbers(convert.from_bytes(data, width, byteorder, signed=signed))

    def to_bytes(
        self, width: int, byteorder: convert.ByteOrder = "little", *, signed: bool = False
    ) -> bytes:
        """`width` bytes each. Raises OverflowError with the first index that does not fit."""
        return convert.to_bytes(self.numbers(), width, byteorder, signed=signed)

    @classmethod
    def from_lines(cls, lines: str | bytes, base: int = 10) -> IntArray:
        """Of a number a line, of base 10 or 16 (0x allowed), or 0 for 0x where it is hex.

        Blank lines and lines that start with # are skipped. Raises ValueError with line
        and column of what is no digit.
        """
        return cls.from_numbers(text.parse(lines, base))

    def to_lines(self, base: int = 10) -> str:
        """A number a line, of base 10 or 16 (with 0x)."""
        return text.format_lines(self.numbers(), base)

    def to_ints(self) -> list[int]:
        return text.ints_of(self.numbers())

    def to_numpy(self, dtype: npt.DTypeLike = np.int64) -> npt.NDArray[Any]:
        """Raises OverflowError with the first index of a number that dtype cannot hold."""
        return convert.to_numpy(self.numbers(), dtype)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if dtype is None or np.dtype(dtype) == np.object_:
            array = np.empty(len(self), np.object_)
            array[:] = self.to_ints()
            return array
        return self.to_numpy(dtype)

    def numbers(self) -> Numbers:
        """As the kernels have them in host memory; copied only from a device."""
        numbers: Numbers = self._engine.get(self._batch)
        return numbers

    def __reduce__(self) -> tuple[Callable[..., IntArray], tuple[Any, ...]]:
        packed = convert.pack(self.numbers())
        return _unpickle, (packed.words, packed.lengths, packed.negative)

    def save(self, path: str | os.PathLike[str]) -> None:
        """As an HDF5 file (arith/storage.py has its layout), put under its name when whole."""
        from . import storage

        storage.save(path, {"": self})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IntArray:
        """What save() wrote. Raises ValueError where the file is something else or damaged."""
        from . import storage

        return storage.load(path, [""])[""]

    # --- where it lies ----------------------------------------------------------

    def to(self, place: str) -> IntArray:
        """In "host" memory (or "cpu", "reference"), or on a GPU: "cuda", "cuda:1", ...

        Raises kernels.backend.BackendUnavailableError where there is no such place.
        """
        engine = engines.named(place)
        if engine is self._engine:
            return self
        if engines.is_host(engine) and engines.is_host(self._engine):
            return self._of(engine, self._batch)
        return self._of(engine, engine.put(self.numbers()))

    def on_device(self, index: int = 0) -> IntArray:
        return self.to(f"cuda:{index}")

    def on_host(self) -> IntArray:
        return self.to("host") if self.place == "device" else self

    @property
    def place(self) -> str:
        """ "host" or "device"."""
        return "host" if engines.is_host(self._engine) else "device"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The limbs on the device: uint32 (slabs, width, 32), see kernels/bignum/layouts.py."""
        if self.place == "host":
            raise AttributeError("not on a device: see on_device()")
        interface: dict[str, Any] = self._engine.array_interface(self._batch)  # type: ignore[attr-defined]
        return interface

    # --- as a sequence ----------------------------------------------------------

    def __len__(self) -> int:
        return int(self._batch.count)

    @property
    def shape(self) -> tuple[int]:
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
        """A number, or those of a slice, at indices, or where a mask is true."""
        count = len(self)
        if isinstance(index, np.ndarray) and index.ndim == 0:
            index = index[()]
        if isinstance(index, slice):
            return self._of(self._engine, self._engine.take(self._batch, index))
        if not isinstance(index, (np.ndarray, list, tuple)):
            at = operator.index(index)
            if not -count <= at < count:
                raise IndexError(f"index {at} of an IntArray of {count}")
            at %= count
            one = self._engine.get(self._engine.take(self._batch, slice(at, at + 1)))
            return to_ints(one)[0]
        chosen = np.asarray(index)
        if chosen.ndim != 1:
            raise IndexError(f"an IntArray has one dimension, the index {chosen.shape}")
        if chosen.dtype == np.bool_:
            if len(chosen) != count:
                raise IndexError(f"a mask of {len(chosen)} for an IntArray of {count}")
            chosen = np.flatnonzero(chosen)
        elif chosen.size == 0:
            chosen = chosen.astype(np.int64)
        elif chosen.dtype.kind not in "iu":
            raise IndexError(f"indices are integers or a mask, not {chosen.dtype}")
        bad = (chosen < -count) | (chosen >= count)
        if bad.any():
            raise IndexError(f"index {int(chosen[bad.argmax()])} of an IntArray of {count}")
        chosen = np.where(chosen < 0, chosen + count, chosen).astype(np.int64)
        return self._of(self._engine, self._engine.take(self._batch, chosen))

    @classmethod
    def concatenate(cls, arrays: Iterable[IntArray]) -> IntArray:
        parts = list(arrays)
        if not parts:
            return cls()
        for i, part in enumerate(parts):
            if not isinstance(part, cls):
                raise TypeError(f"an IntArray is wanted at index {i}, not {type(part).__name__}")
        engine = engines.common(*(part._engine for part in parts))
        return cls._of(engine, engine.concatenate([part._on(engine) for part in parts]))

    @classmethod
    def where(cls, mask: Bools, a: Other, b: Other) -> IntArray:
        """a[i] where mask[i], else b[i]; mask: bool (count)."""
        chosen = np.ascontiguousarray(mask)
        if chosen.dtype != np.bool_ or chosen.ndim != 1:
            raise ValueError(f"the mask is bool (count), not {chosen.dtype} {chosen.shape}")
        engine, (x, y), count = operators.meet(cls, a, b)
        if count not in (None, len(chosen)):
            raise ValueError(f"lengths {len(chosen)} and {count}")
        return cls._of(engine, engine.select(chosen, x, y))

    def equals(self, other: IntArray) -> bool:
        """The same numbers in the same order."""
        return len(self) == len(other) and bool((self == other).all())

    def __repr__(self) -> str:
        head = [_shown(value) for value in self[:_SHOWN]]
        if len(self) > _SHOWN:
            head.append(f"... {len(self)} in all")
        return f"IntArray([{', '.join(head)}])"

    # --- arithmetic -------------------------------------------------------------

    def _on(self, engine: engines.Engine) -> Any:
        """The batch, where that engine has it."""
        if engine is self._engine or (engines.is_host(engine) and engines.is_host(self._engine)):
            return self._batch
        return engine.put(self.numbers())

    __add__, __radd__ = operators.both_ways("add")
    __sub__, __rsub__ = operators.both_ways("subtract")
    __mul__, __rmul__ = operators.both_ways("multiply")
    __floordiv__, __rfloordiv__ = operators.both_ways("floordiv")
    __mod__, __rmod__ = operators.both_ways("mod")
    __lshift__, __rlshift__ = operators.shifts(1)
    __rshift__, __rrshift__ = operators.shifts(-1)
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
        return operators.power(IntArray, self, exponents)

    def __rpow__(self, base: Other) -> IntArray:
        if not operators.known(base):
            return NotImplemented
        return operators.power(IntArray, base, self)

    def __neg__(self) -> IntArray:
        return self._of(self._engine, self._engine.negate(self._batch))

    def __pos__(self) -> IntArray:
        return self

    def __abs__(self) -> IntArray:
        return self._of(self._engine, self._engine.absolute(self._batch))

    def gcd(self, other: Other) -> IntArray:
        """Greatest common divisors, never negative; of two zeros it is 0."""
        return operators.binary(IntArray, "gcd", self, other)

    def lcm(self, other: Other) -> IntArray:
        """Least common multiples, never negative; with a zero it is 0."""
        engine, (x, y), _ = operators.meet(IntArray, self, other)
        check_lcm(engine, x, y)
        divisor = self.gcd(other)
        # Where both are zero any divisor but zero will do.
        safe = IntArray.where(divisor.sign() == 0, 1, divisor)
        return abs(self // safe * other)

    def multiply_add(self, factor: Other, summand: Other) -> IntArray:
        """self * factor + summand, in one pass over memory."""
        engine, operands, _ = operators.meet(IntArray, self, factor, summand)
        return self._of(engine, engine.multiply_add(*operands))

    def powmod(self, exponents: Other, moduli: Other) -> IntArray:
        """pow(self, exponents, moduli): a negative exponent asks for the inverse's power.

        Raises ValueError, naming the first index, where a modulus is zero or an inverse
        does not exist.
        """
        return operators.powmod(IntArray, self, exponents, moduli)

    def isqrt(self) -> IntArray:
        """Floors of the square roots. Raises ValueError with the first negative index."""
        negative = self.sign() < 0
        if negative.any():
            raise ValueError(f"the number at index {int(negative.argmax())} is negative")
        return self._of(self._engine, self._engine.isqrt(self._batch))

    def bit_length(self) -> Longs:
        """int64 (count), as int.bit_length."""
        return self._engine.bit_length(self._batch)

    def sign(self) -> Signs:
        """int8 (count): -1, 0 or 1."""
        return self._engine.sign(self._batch)

    def sum(self) -> int:
        return self._one(self._engine.sum(self._batch)) if len(self) else 0

    def prod(self) -> int:
        """By a tree of products, so that factors stay of about equal lengths."""
        left = self
        while len(left) > 1:
            half = len(left) // 2
            rest = left[2 * half :]
            left = left[:half] * left[half : 2 * half]
            if len(rest):
                left = IntArray.concatenate([left, rest])
        return left[0] if len(left) else 1

    def min(self) -> int:
        """Raises ValueError for an empty array, as does max()."""
        return extreme(self, -1)

    def max(self) -> int:
        return extreme(self, 1)

    def minimum(self, other: Other) -> IntArray:
        return IntArray.where(self <= other, self, other)

    def maximum(self, other: Other) -> IntArray:
        return IntArray.where(self >= other, self, other)

    def _one(self, batch: Any) -> int:
        return to_ints(self._engine.get(batch))[0]


def _unpickle(words: npt.NDArray[np.uint64], lengths: Longs, negative: Bools | None) -> IntArray:
    return IntArray.from_numbers(convert.ragged(words, lengths, negative))


def _shown(value: int) -> str:
    """Digits of what is short, hex of what still fits a line."""
    bits = value.bit_length()
    return str(value) if bits <= 64 else hex(value) if bits <= _SHOWN_BITS else f"<{bits} bits>"
