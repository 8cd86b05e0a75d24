"""Errors about numbers, which carry what they say as attributes."""

from __future__ import annotations

from typing import TypeVar

Same = TypeVar("Same", bound="IndexedError")


class IndexedError(Exception):
    """An error about one number of a batch; mixed into the built-in class that fits.

    index: the first place in the batch that is wrong. The text is `before`, the place, `after`.
    """

    def __init__(self, before: str, index: int, after: str = "") -> None:
        super().__init__(before, index, after)
        self.before, self.index, self.after = before, index, after

    def __str__(self) -> str:
        return f"{self.before} at index {self.index}{self.after}"

    @property
    def reason(self) -> str:
        """Return the text without the place, for those who name places in another way."""
        return self.before + self.after

    def moved(self: Same, index: int) -> Same:
        """Return the same error about another place, that of the number in a larger batch."""
        return type(self)(self.before, index, self.after, *self.args[3:])


class IndexedValueError(IndexedError, ValueError):
    """A number has a value that it may not have."""


class IndexedTypeError(IndexedError, TypeError):
    """A value is of a kind that it may not be."""


class IndexedOverflowError(IndexedError, OverflowError):
    """A number is too large for what is to hold it."""


class IndexedZeroDivisionError(IndexedError, ZeroDivisionError):
    """A divisor or denominator is zero."""


class NotInvertibleError(IndexedValueError):
    """A number has no inverse, as it shares a factor with its modulus."""


def not_invertible(index: int) -> NotInvertibleError:
    """Return the error about that place, worded as Python's pow() words it."""
    return NotInvertibleError("base is not invertible for the given modulus", index)


class RationalTextError(IndexedValueError):
    """A text is no rational number. column: of its first character that is wrong, from 1 on."""

    def __init__(self, before: str, index: int, after: str, column: int) -> None:
        super().__init__(before, index, after)
        self.args = (before, index, after, column)
        self.column = column


class DigitError(ValueError):
    """A text is no number.

    line, column: where it ceases to be one, from 1 on. reason: what is wrong there.
    """

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(line, column, reason)
        self.line, self.column, self.reason = line, column, reason

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}"
