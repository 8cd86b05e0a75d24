"""RationalArray: exact rationals, computed in bulk, with the semantics of fractions.Fraction."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from arith.integer import IntArray

from . import approximate, exact, operators, pairs
from .approximate import Floats
from .pairs import Bools

Signs: TypeAlias = npt.NDArray[np.int8]
Scalar: TypeAlias = int | Fraction | np.integer[Any]
Other: TypeAlias = "RationalArray | IntArray | Scalar | npt.NDArray[Any] | list[Any]"
Index: TypeAlias = slice | npt.NDArray[Any] | list[int]

_SHOWN = 6  # numbers in a repr
_SHOWN_BITS = 128
_KIND = "RationalArray"  # of HDF5 files


class RationalArray:
    """A one-dimensional, immutable array of rationals, in lowest terms, denominators positive.

    Any number of threads may use one at once, if none has it as the out= of a function.

    values: ints, Fractions (and other numbers.Rational), Decimals, strings as Fraction
    takes them ("3/4", "-3", "0.75"), or floats, which are taken exactly; in any iterable,
    mixed, or as a numpy array of integers, floats or objects; an IntArray.
    denominators: then values are the numerators, both as IntArray takes them; one of
    the two may be a single int.
    reduce: False keeps numerators and denominators as they come from now on, never
    taking a gcd (Gusenbauer 2015, 4.4): they grow with each operation. Of two operands
    of which one is such an array, the result is one. reduce() brings it back.

    Raises ValueError with the index, and the column in a string, of what is no rational
    number, TypeError with the index for other types, ZeroDivisionError with the first index
    of a denominator of zero, and MemoryError with the index of a string or Decimal whose
    exponent is beyond about 10,000,000 either way: few characters would take all memory.

    Operators are element by element and mean what they mean for Fraction: // gives an
    IntArray, comparisons bool arrays. The other operand is a RationalArray, an IntArray
    or integer array of the same length, or a single Rational. Numbers stay exact: a
    float operand raises TypeError, except in comparisons. All is computed where the
    numbers are, in host memory or, after on_device(), on a GPU. An array is changed by
    `out=` only, as an IntArray is.
    """

    __slots__ = ("_d", "_lowest", "_n")
    __hash__ = None  # type: ignore[assignment]
    # numpy leaves operators with a RationalArray to it.
    __array_ufunc__ = None

    def __init__(self, values: Any = (), denominators: Any = None, *, reduce: bool = True) -> None:
        self._lowest = reduce
        self._n: IntArray
        self._d: IntArray
        if denominators is not None:
            n, d = exact.from_columns(values, denominators)
            self._n, self._d = pairs.reduce(n, d) if reduce else (n, d)
        elif isinstance(values, RationalArray):
            whole = values.reduce() if reduce else values
            self._n, self._d = whole._n, whole._d
        elif isinstance(values, IntArray):
            self._n, self._d = exact.whole(values)
        elif isinstance(values, np.ndarray):
            self._n, self._d = exact.from_array(values)
        elif isinstance(values, (str, bytes)):
            raise TypeError(f"a sequence of rationals is wanted, not {type(values).__name__}")
        else:
            self._n, self._d = exact.from_values(values)

    @classmethod
    def _of(cls, n: IntArray, d: IntArray, lowest: bool) -> RationalArray:
        array = cls.__new__(cls)
        array._n, array._d, array._lowest = n, d, lowest
        return array

    def _become(self, other: RationalArray) -> None:
        """Take the numbers of another array, for `out=`, which alone changes arrays."""
        self._n, self._d, self._lowest = other._n, other._d, other._lowest

    # --- conversions ------------------------------------------------------------

    # Copies of what refers to the numbers: to be an IntArray's `out` changes nothing here.

    @property
    def numerator(self) -> IntArray:
        """Return the numerators."""
        return IntArray(self._n)

    @property
    def denominator(self) -> IntArray:
        """Return the denominators, which are positive."""
        return IntArray(self._d)

    @property
    def reduced(self) -> bool:
        """Always in lowest terms; False of what was made with reduce=False."""
        return self._lowest

    def reduce(self) -> RationalArray:
        """Return the same numbers in lowest terms, as those computed from them will be."""
        n, d = (self._n, self._d) if self._lowest else pairs.reduce(self._n, self._d)
        return self._of(n, d, True)

    def to_fractions(self) -> list[Fraction]:
        """Return Python's Fractions."""
        return list(map(self._fraction, self._n.to_ints(), self._d.to_ints()))

    def _fraction(self, n: int, d: int) -> Fraction:
        if not self._lowest:
            return Fraction(n, d)
        # As Fraction does it where it knows that there is no gcd to take.
        value = object.__new__(Fraction)
        value._numerator, value._denominator = n, d  # type: ignore[attr-defined]
        return value

    def to_floats(self) -> Floats:
        """Return float64 (count), the nearest to each, ties to even, as float(Fraction).

        Raises OverflowError with the first index of a number too large for a float.
        """
        return approximate.to_floats(self._n, self._d)

    def astype(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return what to_floats() does for float64, an array of Fractions for object."""
        wanted = np.dtype(dtype)
        if wanted == np.float64:
            return self.to_floats()
        if wanted != np.object_:
            raise TypeError(f"rationals become float64 or object, not {wanted}")
        array = np.empty(len(self), np.object_)
        array[:] = self.to_fractions()
        return array

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        return self.astype(np.object_ if dtype is None else dtype)

    def __reduce__(self) -> tuple[Callable[..., RationalArray], tuple[Any, ...]]:
        return RationalArray._of, (self._n, self._d, self._lowest)

    def __copy__(self) -> RationalArray:
        return +self

    def __deepcopy__(self, memo: dict[int, Any]) -> RationalArray:
        return self._of(copy.deepcopy(self._n), copy.deepcopy(self._d), self._lowest)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write HDF5 with the groups `numerator` and `denominator`; see arith/storage.py."""
        from arith import storage

        batches = {"numerator": self._n.numbers(), "denominator": self._d.numbers()}
        storage.save(path, batches, _KIND)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, reduce: bool = True) -> RationalArray:
        """Read what save() wrote. Raises ValueError where the file is something else or damaged."""
        from arith import storage

        batches = storage.load(path, ["numerator", "denominator"], _KIND)
        numerator, denominator = (IntArray.from_numbers(x) for x in batches.values())
        try:
            return cls(numerator, denominator, reduce=reduce)
        except (ValueError, ZeroDivisionError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    # --- where it lies ----------------------------------------------------------

    def to(self, place: str) -> RationalArray:
        """Return an array of its own in that place, as IntArray.to() does."""
        return self._of(self._n.to(place), self._d.to(place), self._lowest)

    def on_device(self, index: int = 0) -> RationalArray:
        """Return an array of its own on the GPU of that index."""
        return self._of(self._n.on_device(index), self._d.on_device(index), self._lowest)

    def on_host(self) -> RationalArray:
        """Return an array of its own in host memory."""
        return self._of(self._n.on_host(), self._d.on_host(), self._lowest)

    @property
    def place(self) -> str:
        """Return "host" or "device"."""
        return self._n.place

    # --- as a sequence ----------------------------------------------------------

    def __len__(self) -> int:
        return len(self._n)

    def __bool__(self) -> bool:
        """Return whether the only number is not zero. Raises ValueError for none or several."""
        return bool(self._n)

    @property
    def shape(self) -> tuple[int]:
        """Return (count,), as numpy does."""
        return (len(self),)

    def __iter__(self) -> Iterator[Fraction]:
        return map(self._fraction, self._n, self._d)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Fraction: ...
    @overload
    def __getitem__(self, index: Index) -> RationalArray: ...
    def __getitem__(self, index: Any) -> Fraction | RationalArray:
        """Return a number, or those of a slice, at indices, or where a mask is true."""
        n, d = self._n[index], self._d[index]
        if isinstance(n, IntArray):
            return self._of(n, d, self._lowest)
        return self._fraction(n, d)

    @classmethod
    def concatenate(cls, arrays: Iterable[RationalArray]) -> RationalArray:
        """Return the numbers of all arrays, not in lowest terms unless all arrays are."""
        parts = list(arrays)
        return cls._of(
            IntArray.concatenate(part._n for part in parts),
            IntArray.concatenate(part._d for part in parts),
            all(part._lowest for part in parts),
        )

    @classmethod
    def where(cls, mask: Bools, a: Other, b: Other) -> RationalArray:
        """Return a[i] where mask[i], else b[i]; mask: bool (count)."""
        count = len(mask)
        (n1, d1), first = operators.operand(cls, a, count)
        (n2, d2), second = operators.operand(cls, b, count)
        n, d = IntArray.where(mask, n1, n2), IntArray.where(mask, d1, d2)
        return cls._of(n, d, first and second)

    def equals(self, other: RationalArray) -> bool:
        """Return whether these are the same numbers in the same order."""
        return len(self) == len(other) and bool((self == other).all())

    def __repr__(self) -> str:
        shown = []
        for n, d in zip(self._n[:_SHOWN], self._d[:_SHOWN], strict=True):
            bits = n.bit_length() + d.bit_length()
            if bits > _SHOWN_BITS:
                shown.append(f"<{bits} bits>")
            else:
                shown.append(f"{n}/{d}" if d != 1 else f"{n}")
        if len(self) > _SHOWN:
            shown.append(f"... {len(self)} in all")
        return f"RationalArray([{', '.join(shown)}]{'' if self._lowest else ', reduce=False'})"

    # --- arithmetic -------------------------------------------------------------

    __add__, __radd__ = operators.both_ways(pairs.add)
    __sub__, __rsub__ = operators.both_ways(pairs.subtract)
    __mul__, __rmul__ = operators.both_ways(pairs.multiply)
    __truediv__, __rtruediv__ = operators.both_ways(pairs.divide)
    __mod__, __rmod__ = operators.both_ways(pairs.mod)
    __floordiv__, __rfloordiv__ = operators.floor_division()
    __lt__ = operators.comparison(operator.lt)
    __le__ = operators.comparison(operator.le)
    __gt__ = operators.comparison(operator.gt)
    __ge__ = operators.comparison(operator.ge)
    __eq__ = operators.comparison(operator.eq)  # type: ignore[assignment]
    __ne__ = operators.comparison(operator.ne)  # type: ignore[assignment]

    def __divmod__(self, other: Other) -> tuple[IntArray, RationalArray]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[IntArray, RationalArray]:
        return other // self, other % self

    def __pow__(self, exponents: IntArray | int | npt.NDArray[Any] | list[int]) -> RationalArray:
        """Return powers.

        Raises ZeroDivisionError with the first index of a zero to a negative power.
        """
        if isinstance(exponents, (np.ndarray, list, tuple)):
            exponents = IntArray(exponents)
        if not isinstance(exponents, IntArray):
            exponents = operator.index(exponents)
        return self._of(*pairs.power(self._n, self._d, exponents), self._lowest)

    def __neg__(self) -> RationalArray:
        return self._of(-self._n, self._d, self._lowest)

    def __pos__(self) -> RationalArray:
        return self._of(self._n, self._d, self._lowest)

    def __abs__(self) -> RationalArray:
        return self._of(abs(self._n), self._d, self._lowest)

    def sign(self) -> Signs:
        """Return -1, 0 or 1 for each number, int8 (count)."""
        return self._n.sign()

    def floor(self) -> IntArray:
        """Return the greatest integers that are not above the numbers."""
        return self._n // self._d

    def ceil(self) -> IntArray:
        """Return the least integers that are not below the numbers."""
        return -(-self._n // self._d)

    def trunc(self) -> IntArray:
        """Towards zero."""
        size = abs(self._n) // self._d
        return IntArray.where(self.sign() < 0, -size, size)

    @overload
    def round(self, digits: None = None) -> IntArray: ...
    @overload
    def round(self, digits: int) -> RationalArray: ...
    def round(self, digits: int | None = None) -> IntArray | RationalArray:
        """Round to the nearest integer or multiple of 10^-digits, to the even one of two.

        Raises MemoryError for digits beyond about 10,000,000 either way.
        """
        if digits is None:
            return approximate.nearest(self._n, self._d)
        digits = max(-exact.ENDLESS, min(operator.index(digits), exact.ENDLESS))
        power, _ = exact.power_of_ten(abs(digits), f"{digits:,} digits")
        unit = Fraction(1, int(power)) if digits > 0 else Fraction(int(power))
        steps: RationalArray = self / unit
        rounded: RationalArray = RationalArray(steps.round(), reduce=self._lowest) * unit
        return rounded

    __floor__, __ceil__, __trunc__, __round__ = floor, ceil, trunc, round

    def limit_denominator(self, max_denominator: int = 1000000) -> RationalArray:
        """Return the nearest with denominators up to max_denominator, in lowest terms.

        Raises ValueError where that is less than 1.
        """
        largest = operator.index(max_denominator)
        if largest < 1:
            raise ValueError(f"max_denominator is at least 1, not {largest}")
        whole = self.reduce()
        return self._of(*approximate.limit_denominator(whole._n, whole._d, largest), True)

    def sum(self) -> Fraction:
        """Return the sum, by a tree, as prod(), so that operands stay of about equal lengths."""
        return self._fold(operator.add, Fraction(0))

    def prod(self) -> Fraction:
        """Return the product of all numbers."""
        return self._fold(operator.mul, Fraction(1))

    def min(self) -> Fraction:
        """Return the least number. Raises ValueError for an empty array, as does max()."""
        return self._fold(RationalArray.minimum, None)

    def max(self) -> Fraction:
        """Return the greatest number."""
        return self._fold(RationalArray.maximum, None)

    def minimum(self, other: Other) -> RationalArray:
        """Return the smaller of each pair of numbers."""
        return RationalArray.where(self <= other, self, other)

    def maximum(self, other: Other) -> RationalArray:
        """Return the larger of each pair of numbers."""
        return RationalArray.where(self >= other, self, other)

    def _fold(
        self,
        combine: Callable[[RationalArray, RationalArray], RationalArray],
        empty: Fraction | None,
    ) -> Fraction:
        left = self
        if not len(left):
            if empty is None:
                raise ValueError("an empty RationalArray has neither minimum nor maximum")
            return empty
        while len(left) > 1:
            half = len(left) // 2
            rest = left[2 * half :]
            left = combine(left[:half], left[half : 2 * half])
            if len(rest):
                left = RationalArray.concatenate([left, rest])
        return left[0]
