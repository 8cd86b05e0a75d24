"""Cells as text of run lengths, the body of an RLE pattern file, from and to packed words."""

from .contract import Walk, Writer, engines
from .ref import CELLS, DIGITS, END, FOREIGN, LINE, MOST_DIGITS, NONE, OUTSIDE, ZERO, Words

__all__ = [
    "CELLS",
    "DIGITS",
    "END",
    "FOREIGN",
    "LINE",
    "MOST_DIGITS",
    "NONE",
    "OUTSIDE",
    "ZERO",
    "Walk",
    "Words",
    "Writer",
    "engines",
]
