"""Carry-free additions of very long numbers (Bainville 2009; Avizienis 1961).

Digits of base 2^14, 2^30 or 2^62 in words of 16, 32 or 64 bits have room for a carry, so
that a digit of a sum depends on two digits of each operand and on no others. Only
normalising, once at the end, lets carries run.
"""

from .contract import GROUP, WORDS, DigitArray, Format, Redundant

__all__ = ["GROUP", "WORDS", "DigitArray", "Format", "Redundant"]
