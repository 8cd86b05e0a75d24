"""Copy memory of a GPU that another library has, to the host.

It asks the CUDA driver itself, by ctypes: the memory may lie in a context that is not ours, and
whoever reads it needs neither PyCUDA nor a compiler.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import BackendUnavailableError

_CONTEXT, _ORDINAL = 1, 9  # CU_POINTER_ATTRIBUTE_CONTEXT, ..._DEVICE_ORDINAL
_CHUNK = 1 << 28  # bytes that are copied before a signal is looked at


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    """Load the CUDA driver. Raises BackendUnavailableError."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise BackendUnavailableError(f"no CUDA driver: {error}") from None
    if library.cuInit(ctypes.c_uint(0)):
        raise BackendUnavailableError("the CUDA driver does not start")
    return library


def _call(name: str, *arguments: Any) -> None:
    """Call the driver. Raises BufferError where it refuses."""
    code = getattr(_library(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _library().cuGetErrorName(ctypes.c_int(code), ctypes.byref(text))
        said = (text.value or str(code).encode()).decode()
        raise BufferError(f"memory of a GPU cannot be read: {name} says {said}")


def copy_to_host(address: int, nbytes: int) -> npt.NDArray[np.uint8]:
    """Return a copy of device memory, made when all that its context has queued is done.

    Raises BufferError where the driver knows no such memory, BackendUnavailableError without a
    driver.
    """
    result = np.empty(nbytes, np.uint8)
    with _current(address):
        # Whoever wrote the memory did so on a stream of its own.
        _call("cuCtxSynchronize")
        for start in range(0, nbytes, _CHUNK):
            part = result[start : start + _CHUNK]
            _call(
                "cuMemcpyDtoH_v2",
                ctypes.c_void_p(part.ctypes.data),
                ctypes.c_uint64(address + start),
                ctypes.c_size_t(part.nbytes),
            )
    return result


@contextmanager
def _current(address: int) -> Iterator[None]:
    """Make the context current that memory was allocated in, or its device's primary one."""
    context, ordinal = ctypes.c_void_p(), ctypes.c_int()
    pointer = ctypes.c_uint64(address)
    _call("cuPointerGetAttribute", ctypes.byref(ordinal), ctypes.c_int(_ORDINAL), pointer)
    with suppress(BufferError):  # memory of a pool belongs to none
        _call("cuPointerGetAttribute", ctypes.byref(context), ctypes.c_int(_CONTEXT), pointer)
    device = ctypes.c_int()
    retained = not context.value
    if retained:
        _call("cuDeviceGet", ctypes.byref(device), ordinal)
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        _call("cuCtxPushCurrent_v2", context)
        try:
            yield
        finally:
            _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
    finally:
        if retained:
            _call("cuDevicePrimaryCtxRelease_v2", device)
