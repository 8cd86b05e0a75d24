"""Amounts of memory in messages."""

from __future__ import annotations

UNITS = "bytes", "KiB", "MiB", "GiB", "TiB", "PiB"


def bytes_of_text(text: str) -> float:
    """Return the bytes that a text such as `1,234.5 MiB` tells."""
    number, unit = text.replace(",", "").split()
    return float(number) * 1024 ** UNITS.index("bytes" if unit == "byte" else unit)
