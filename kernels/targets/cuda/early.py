"""Contexts of GPUs, made in the background before anything needs them.

To start the driver and to make a context takes a tenth of a second each, and PyCUDA lets no other
thread of Python run meanwhile. Here the driver's library is called directly, in a thread for each
GPU. The layers of driver.py then find the contexts there: a primary context is made only once.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable
from contextlib import suppress

THREAD = "gpu-start"  # how the names of the threads begin

_LIBRARY = "libcuda.so.1"

_lock = threading.Lock()
_threads: dict[int, threading.Thread] = {}


def begin(devices: Iterable[int]) -> None:
    """Begin to make the primary contexts of the GPUs with these numbers, all at the same time.

    Where there is no driver, or no such GPU, nothing happens: whoever asks for it is told.
    """
    with _lock:
        for number in devices:
            if number not in _threads:
                thread = threading.Thread(target=_make, args=(number,), name=f"{THREAD}-{number}")
                _threads[number] = thread
                thread.start()


def wait(device: int) -> None:
    """Wait for a context that is being made, if it is."""
    with _lock:
        thread = _threads.get(device)
    if thread is not None:
        thread.join()


def is_done(devices: Iterable[int]) -> bool:
    """Return whether none of these GPUs' contexts is being made any more."""
    with _lock:
        threads = [_threads.get(number) for number in devices]
    return not any(thread is not None and thread.is_alive() for thread in threads)


def under_way() -> bool:
    """Return whether a GPU is being started by some thread of this process."""
    return any(thread.name.startswith(THREAD) for thread in threading.enumerate())


def _make(number: int) -> None:
    """Make the primary context of a GPU. It is never given back: contexts live as long as the
    process."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    with suppress(OSError, AttributeError):  # no such library, or a strange one
        library = ctypes.CDLL(_LIBRARY)  # whose calls let other threads run
        if not library.cuInit(0) and not library.cuDeviceGet(ctypes.byref(device), number):
            library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
