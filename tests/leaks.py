"""What a call leaves behind in memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from typing import ClassVar


class _Malloc(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_: ClassVar[list[tuple[str, type]]] = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _malloc_bytes() -> int:
    """Return the bytes that malloc() has given out; 0 where nothing tells."""
    tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if tell is None:
        return 0
    tell.restype = _Malloc
    found = tell()
    return int(found.uordblks) + int(found.hblkhd)


def leaked(call: Callable[[], object], calls: int = 50, rounds: int = 4) -> tuple[float, float]:
    """Return how many bytes of malloc() and blocks of Python's own each call leaves behind.

    The least of some rounds of calls: what only fills a cache is not left by all of them.
    """
    found = []
    for _ in range(rounds):
        gc.collect()
        size, blocks = _malloc_bytes(), sys.getallocatedblocks()
        for _ in range(calls):
            call()
        gc.collect()
        found.append((_malloc_bytes() - size, sys.getallocatedblocks() - blocks))
    sizes, counts = zip(*found, strict=True)
    return min(sizes) / calls, min(counts) / calls
