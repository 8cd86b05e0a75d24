"""Between Numbers and Python ints or lines of digits: compiled, or by Python without a compiler."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from kernels.bignum.errors import DigitError, IndexedTypeError
from kernels.bignum.numbers import Numbers, from_ints, to_ints

from . import engines
from .memory import refuse

_MANY = 1 << 24  # words


def _compiled() -> Any:
    """Return kernels.bignum.cpu.engine where it works, else None."""
    if engines.host().name != "cpu":
        return None
    from kernels.bignum.cpu import engine as cpu

    return cpu


def numbers_of(values: Iterable[Any]) -> Numbers:
    """Return a batch of integers. Raises TypeError with the first index of what is no integer."""
    if cpu := _compiled():
        numbers: Numbers = cpu.ints_to_numbers(values)
        return numbers
    integers = []
    for i, value in enumerate(values):
        try:
            integers.append(operator.index(value))
        except TypeError:
            raise IndexedTypeError("an integer is wanted", i, f", not {_name(value)}") from None
    return from_ints(integers)


def _name(value: Any) -> str:
    return type(value).__name__


def ints_of(numbers: Numbers) -> list[int]:
    """Return Python's integers.

    Raises MemoryError where they, of 30 bits to 4 bytes, find no room.
    """
    words = numbers.count * numbers.width
    if words > _MANY and not numbers.dense:
        words = int(numbers.length_array().sum())
    refuse(8 * 32 / 30 * words + 36 * numbers.count, "a list of Python's integers")
    if cpu := _compiled():
        values: list[int] = cpu.numbers_to_ints(numbers)
        return values
    return to_ints(numbers)


def _check_base(base: int, allowed: tuple[int, ...]) -> None:
    if base not in allowed:
        raise ValueError(f"base is one of {', '.join(map(str, allowed))}, not {base}")


def parse(lines: str | bytes, base: int) -> Numbers:
    """Read a number a line, as IntArray.from_lines does."""
    _check_base(base, (0, 10, 16))
    if isinstance(lines, (bytearray, memoryview)):
        lines = bytes(lines)
    if not isinstance(lines, (str, bytes)):
        raise TypeError(f"text or bytes are wanted, not {_name(lines)}")
    if isinstance(lines, str) and not lines.isascii():
        lines = lines.encode(errors="surrogatepass")
    if cpu := _compiled():
        numbers: Numbers = cpu.parse_lines(lines, base)
        return numbers
    return from_ints(_parse_slowly(lines.encode() if isinstance(lines, str) else lines, base))


def _parse_slowly(data: bytes, base: int) -> list[int]:
    values = []
    for row, line in enumerate(data.split(b"\n"), 1):
        body = line.strip()
        if not body or body.startswith(b"#"):
            continue
        column = line.index(body) + 1
        negative = body.startswith(b"-")
        digits = body[1:] if body[:1] in (b"-", b"+") else body
        column += len(body) - len(digits)
        hexadecimal = base == 16
        if base != 10 and digits[:2].lower() == b"0x":
            digits, column, hexadecimal = digits[2:], column + 2, True
        allowed = b"0123456789abcdefABCDEF" if hexadecimal else b"0123456789"
        bad = next((i for i, c in enumerate(digits) if c not in allowed), None)
        if bad is not None or not digits:
            wrong = b"" if bad is None else digits[bad:]
            shown = wrong.decode(errors="replace")[:1]
            what = f"{shown!r} is no digit" if wrong else "a digit is missing"
            raise DigitError(row, column + (bad or 0), what)
        value = (
            int.from_bytes(
                bytes.fromhex(digits.decode().rjust(len(digits) + len(digits) % 2, "0")), "big"
            )
            if hexadecimal
            else _decimal(digits)
        )
        values.append(-value if negative else value)
    return values


def _decimal(digits: bytes) -> int:
    """Read decimal digits by halves, as int() refuses long strings."""
    if len(digits) <= 4000:
        return int(digits)
    half = len(digits) // 2
    power: int = 10 ** (len(digits) - half)
    return _decimal(digits[:half]) * power + _decimal(digits[half:])


def format_lines(numbers: Numbers, base: int) -> str:
    """Write a number a line, as IntArray.to_lines does."""
    _check_base(base, (10, 16))
    if cpu := _compiled():
        text: str = cpu.format_lines(numbers, base)
        return text
    values = to_ints(numbers)
    return "".join(f"{_digits(value) if base == 10 else hex(value)}\n" for value in values)


def _digits(value: int) -> str:
    """Write decimal digits by halves, as str() refuses long numbers."""
    if abs(value) < 10**4000:
        return str(value)
    sign, value = ("-", -value) if value < 0 else ("", value)
    half = value.bit_length() * 3 // 20
    high, low = divmod(value, 10**half)
    return f"{sign}{_digits(high)}{_digits(low).rjust(half, '0')}"
