"""Damaged data: what must be found out."""

from __future__ import annotations

from collections.abc import Iterator


def flips(data: bytes) -> Iterator[bytes]:
    """Yield the data with one bit flipped, every one in turn."""
    changed = bytearray(data)
    for place in range(len(data)):
        for bit in range(8):
            changed[place] ^= 1 << bit
            yield bytes(changed)
            changed[place] ^= 1 << bit
