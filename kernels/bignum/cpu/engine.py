"""Big integers on the CPU: our own loops where they are the fastest, else GMP, on all cores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cpu import HOW_TO_BUILD, CpuTarget, core_count

from ..contract import Arithmetic
from ..errors import DigitError, IndexedTypeError, not_invertible
from ..numbers import Indices, Mask, Numbers

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]


@cache
def _gmp_error() -> str:
    """Return why GMP, which comes with gmpy2, cannot be used; '' if it can, from now on."""
    try:
        import gmpy2
    except ImportError as error:
        return f"gmpy2 cannot be imported: {error}"
    return str(_cpu.bignum_load_gmp(getattr(gmpy2, "gmpy2", gmpy2).__file__))


def _need_gmp() -> None:
    if _cpu is None:
        raise BackendUnavailableError(f"the CPU kernels are not built: {HOW_TO_BUILD}")
    if error := _gmp_error():
        raise BackendUnavailableError(f"GMP is not found: {error}")


class CpuArithmetic(Arithmetic[Numbers]):
    """The engine on the CPU: loops of our own where they are the fastest, else GMP.

    threads: how many work at once, all cores by default; level: of kernels.targets.cpu.levels().

    Raises BackendUnavailableError without the compiled extension or GMP.
    """

    name: ClassVar[str] = "cpu"

    def __init__(self, threads: int | None = None, level: str | None = None) -> None:
        backend = CpuTarget(threads, level)
        _need_gmp()
        self.threads, self.level = backend.threads, backend.level

    def put(self, numbers: Numbers) -> Numbers:
        """Return a batch of the host's numbers as this engine has it."""
        return numbers

    def get(self, batch: Numbers) -> Numbers:
        """Return a batch as the host has it."""
        return batch

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a + b."""
        return Numbers(*_cpu.bignum_add(self.level, a, b, False, self.threads))

    def subtract(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a - b."""
        return Numbers(*_cpu.bignum_add(self.level, a, b, True, self.threads))

    def multiply(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a * b."""
        return Numbers(*_cpu.bignum_multiply(self.level, a, b, self.threads))

    def multiply_add(self, a: Numbers, b: Numbers, c: Numbers) -> Numbers:
        """Return a * b + c."""
        return Numbers(*_cpu.bignum_multiply_add(self.level, a, b, c, self.threads))

    def low_bits(self, a: Numbers, bits: int) -> Numbers:
        """Return a modulo 2**bits, never negative."""
        return Numbers(*_cpu.bignum_low_bits(a, bits, self.threads))

    def divmod(self, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
        """Return floor quotients, and remainders with the divisors' signs."""
        quotients, remainders = _cpu.bignum_divmod(a, b, self.threads)
        return Numbers(*quotients), Numbers(*remainders)

    def floordiv(self, a: Numbers, b: Numbers) -> Numbers:
        """Return floor quotients."""
        return Numbers(*_cpu.bignum_floordiv(a, b, self.threads))

    def mod(self, a: Numbers, b: Numbers) -> Numbers:
        """Return remainders with the divisors' signs."""
        return Numbers(*_cpu.bignum_mod(a, b, self.threads))

    def shift(self, a: Numbers, counts: Indices) -> Numbers:
        """Shift left by counts[i] bits, int64 (count or 1); right where negative, rounding down."""
        return Numbers(*_cpu.bignum_shift(a, np.ascontiguousarray(counts), self.threads))

    def negate(self, a: Numbers) -> Numbers:
        """Return -a."""
        return Numbers(*_cpu.bignum_negate(a, self.threads))

    def absolute(self, a: Numbers) -> Numbers:
        """Return the absolute values."""
        return Numbers(*_cpu.bignum_absolute(a, self.threads))

    def compare(self, a: Numbers, b: Numbers) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 as a is less than, equal to or greater than b."""
        order: npt.NDArray[np.int8] = _cpu.bignum_compare(a, b, self.threads)
        return order

    def gcd(self, a: Numbers, b: Numbers) -> Numbers:
        """Return greatest common divisors, never negative; gcd(0, 0) = 0."""
        return Numbers(*_cpu.bignum_gcd(self.level, a, b, self.threads))

    def isqrt(self, a: Numbers) -> Numbers:
        """Return floors of square roots."""
        return Numbers(*_cpu.bignum_isqrt(a, self.threads))

    def powmod(self, a: Numbers, exponents: Numbers, moduli: Numbers) -> Numbers:
        """Return pow(a, e, m)."""
        return Numbers(*_cpu.bignum_powmod(self.level, a, exponents, moduli, self.threads))

    def invert(self, a: Numbers, moduli: Numbers) -> Numbers:
        """Return pow(a, -1, m)."""
        found = _cpu.bignum_invert(a, moduli, self.threads)
        if isinstance(found, int):
            raise not_invertible(found)
        return Numbers(*found)

    def power(self, a: Numbers, exponents: Indices) -> Numbers:
        """Return a ** exponents; exponents: int64 (count or 1), none negative."""
        return Numbers(*_cpu.bignum_power(a, np.ascontiguousarray(exponents), self.threads))

    def bit_length(self, a: Numbers) -> Indices:
        """Return bit lengths of magnitudes, int64 (count)."""
        bits: Indices = _cpu.bignum_bit_length(a, self.threads)
        return bits

    def sign(self, a: Numbers) -> npt.NDArray[np.int8]:
        """Return -1, 0 or 1 for each number, int8 (count)."""
        signs: npt.NDArray[np.int8] = _cpu.bignum_sign(a, self.threads)
        return signs

    def sum(self, a: Numbers) -> Numbers:
        """Return the sum of all numbers, a batch of count 1."""
        return Numbers(*_cpu.bignum_sum(self.level, a, self.threads))

    def take(self, a: Numbers, index: slice | npt.NDArray[np.integer[Any]] | Mask) -> Numbers:
        """Return the numbers at a slice, at indices or where a mask is true."""
        return a.take(index)

    def concatenate(self, batches: Iterable[Numbers]) -> Numbers:
        """Return the numbers of all batches, one batch after the other."""
        return Numbers(*_cpu.bignum_concatenate(list(batches), self.threads))

    def select(self, mask: Mask, a: Numbers, b: Numbers) -> Numbers:
        """Return a[i] where mask[i], else b[i]."""
        return Numbers(*_cpu.bignum_select(np.ascontiguousarray(mask), a, b, self.threads))


def ints_to_numbers(values: Iterable[Any] | npt.NDArray[Any]) -> Numbers:
    """Return Python's integers, and what stands for one (bool, numpy's integers), as a batch.

    Dense if their lengths are about equal, so that at most a third is padding, else ragged.
    Raises IndexedTypeError, with the first index, for anything else.
    """
    listed: list[Any] | tuple[Any, ...]
    if isinstance(values, np.ndarray):
        listed = values.ravel().tolist()
    else:
        # Neither is copied: what a copy takes is as long as all else.
        listed = values if type(values) in (list, tuple) else list(values)  # type: ignore[assignment]
    try:
        return Numbers(*_cpu.bignum_from_ints(listed))
    except TypeError:
        for index, value in enumerate(listed):
            if not hasattr(value, "__index__"):
                raise IndexedTypeError(
                    "an integer is wanted", index, f", not {type(value).__name__}"
                ) from None
        raise


def numbers_to_ints(numbers: Numbers) -> list[int]:
    """Return Python's integers of a batch."""
    values: list[int] = _cpu.bignum_to_ints(numbers)
    return values


def parse_lines(text: bytes | str, base: int, threads: int | None = None) -> Numbers:
    """Read a number from each line: a sign or none, then digits, blanks around them.

    text: bytes, or a str of ASCII. base: 10, 16 (with or without 0x), or 0: hexadecimal after
    0x, else decimal. Empty lines, and those that begin with '#', are skipped. Raises
    DigitError, with line and column, for anything else, and BackendUnavailableError as
    CpuArithmetic.
    """
    _need_gmp()
    found = _cpu.bignum_from_lines(text, base, threads or core_count())
    if len(found) != 3:
        return Numbers(*found)
    offset, begin, line = found
    data = text.encode() if isinstance(text, str) else text
    column = len(data[begin:offset].decode(errors="replace")) + 1
    rest = data[offset:].split(b"\n", 1)[0].rstrip().decode(errors="replace")
    what = f"{rest[0]!r} is no digit" if rest else "a digit is missing"
    raise DigitError(line, column, what)


def format_lines(numbers: Numbers, base: int, threads: int | None = None) -> str:
    """Write what parse_lines reads: a line for each number, in base 10, or 16 with 0x."""
    _need_gmp()
    lines: str = _cpu.bignum_to_lines(numbers, base, threads or core_count())
    return lines
