"""The window: all that knows Qt."""

from __future__ import annotations

import ctypes
import sys

import PySide6


def _keep_singletons() -> None:
    """Give None, True and False more references than can ever be taken.

    PySide6 6.12 takes for granted that they are immortal, which they are from Python 3.12 on:
    before, each call that returns one takes a reference away, and when none are left the process is
    aborted.
    """
    if sys.version_info < (3, 12) and PySide6.__version_info__[:2] >= (6, 12):
        for value in (None, True, False):
            ctypes.c_ssize_t.from_address(id(value)).value += 1 << 48


_keep_singletons()
