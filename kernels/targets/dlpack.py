"""Exchange arrays with other libraries by DLPack and the CUDA array interface.

DLPack hands memory over in a capsule, a C structure with an address, a shape and a function that
lets the memory go. numpy makes the capsules, also of a device's memory: it never reads the memory,
and its function is C code, which is safe to call from any thread, even after Python has ended.
Only the device is then filled in here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

HOST, CUDA, CUDA_HOST, ROCM_HOST, CUDA_MANAGED = 1, 2, 3, 11, 13  # kinds of devices
VERSION = (1, 0)  # the DLPack that is asked of others: the first that says what is read-only

_COPIED = 2  # DLPACK_FLAG_BITMASK_IS_COPIED
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # type codes, as numpy names them


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h. The older DLManagedTensor begins with its tensor."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# Own prototypes: those of ctypes.pythonapi are shared with all who use it.
_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@dataclass(frozen=True, slots=True)
class Placed:
    """An array in some memory. strides: in bytes. device: kind and index, as DLPack numbers them;
    None where nobody says."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device: tuple[int, int] | None = None


class _Shown:
    """Memory that numpy may take for an array, with what keeps it there."""

    def __init__(self, owner: object, interface: dict[str, Any]) -> None:
        self.owner, self.__array_interface__ = owner, interface


def capsule_of(
    owner: object,
    address: int,
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    device: tuple[int, int],
    *,
    read_only: bool,
    max_version: tuple[int, int] | None,
    copied: bool = False,
) -> Any:
    """Return a capsule of C-contiguous memory, which stays as long as `owner` does.

    max_version: the newest DLPack that the consumer knows, None before 1.0. copied: whether the
    memory is the consumer's alone. Raises BufferError for read-only memory where the consumer
    does not know what that is.
    """
    interface = {
        "version": 3,
        "shape": shape,
        "typestr": np.dtype(dtype).str,
        "data": (address, read_only),
    }
    shown = np.asarray(_Shown(owner, interface))
    capsule = shown.__dlpack__(max_version=max_version)
    managed, tensor = _inside(capsule)
    tensor.device = _Device(*device)
    if managed is not None and copied:
        managed.flags |= _COPIED
    return capsule


def _inside(capsule: Any) -> tuple[_Versioned | None, _Tensor]:
    """Return the structures of a capsule, which live as long as it does. Raises BufferError."""
    try:
        name = _capsule_name(capsule)
        pointer = _capsule_pointer(capsule, name)
    except (ctypes.ArgumentError, ValueError):
        raise BufferError(f"{type(capsule).__name__} is no DLPack capsule") from None
    if name == b"dltensor":
        return None, _Tensor.from_address(pointer)
    if name != b"dltensor_versioned":
        raise BufferError(f"a capsule {name!r} is no DLPack capsule, or used already")
    managed = _Versioned.from_address(pointer)
    if managed.major != VERSION[0]:
        raise BufferError(f"DLPack {managed.major}.{managed.minor} is not known here")
    return managed, managed.tensor


def read_capsule(capsule: Any) -> Placed:
    """Tell what a capsule has. The memory stays as long as the capsule, which is not used up.

    Raises BufferError for what is no capsule, and for types that numpy does not have.
    """
    _, tensor = _inside(capsule)
    kind, dtype = _KINDS.get(tensor.dtype.code), tensor.dtype
    if kind is None or dtype.lanes != 1 or dtype.bits not in (8, 16, 32, 64):
        raise BufferError(f"DLPack type {dtype.code} of {dtype.bits} bits x {dtype.lanes}")
    size = dtype.bits // 8
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = _packed_strides(shape, size)
    if tensor.strides:
        strides = tuple(size * tensor.strides[i] for i in range(tensor.ndim))
    return Placed(
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        strides,
        np.dtype(f"{kind}{size}"),
        (tensor.device.kind, tensor.device.index),
    )


def read_interface(interface: Any) -> Placed:
    """Tell what a __cuda_array_interface__ has. Raises BufferError for what is none."""
    try:
        shape = tuple(map(int, interface["shape"]))
        dtype = np.dtype(interface["typestr"])
        address = int(interface["data"][0] or 0)
        given = interface.get("strides")
        strides = tuple(map(int, given)) if given else _packed_strides(shape, dtype.itemsize)
        masked = interface.get("mask") is not None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BufferError(f"no __cuda_array_interface__: {error}") from None
    if masked or len(strides) != len(shape) or min(shape, default=0) < 0:
        raise BufferError("a __cuda_array_interface__ with a mask, or with sizes that are none")
    return Placed(address, shape, strides, dtype)


def _packed_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    strides = []
    for length in reversed(shape):
        strides.append(size)
        size *= length
    return tuple(reversed(strides))


def host_array(array: Any) -> npt.NDArray[Any]:
    """Return an array-like as numpy's array: a view of host memory where there can be one, else a
    copy of what a GPU has.

    array: a sequence, or an object with __array__, __dlpack__ or __cuda_array_interface__. Raises
    BufferError for memory that cannot be read here, and BackendUnavailableError for a GPU's
    without a CUDA driver.
    """
    if isinstance(array, np.ndarray):
        return array
    on_device = _device_copy(array)
    if on_device is not None:
        return on_device
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def _device_copy(array: Any) -> npt.NDArray[Any] | None:
    """Return a copy of an array of a GPU; None for one in host memory."""
    if hasattr(array, "__dlpack_device__"):
        kind, _ = array.__dlpack_device__()
        if int(kind) in (HOST, CUDA_HOST, ROCM_HOST):
            return None
        if int(kind) not in (CUDA, CUDA_MANAGED):
            raise BufferError(f"memory of DLPack device {int(kind)} cannot be read from here")
        capsule = _asked(array)
        return _copied(read_capsule(capsule))  # the capsule lets the memory go when it is dropped
    interface = getattr(array, "__cuda_array_interface__", None)
    return None if interface is None else _copied(read_interface(interface))


def _asked(array: Any) -> Any:
    """Ask an array for its capsule: an older one knows no max_version."""
    try:
        return array.__dlpack__(max_version=VERSION)
    except TypeError:
        return array.__dlpack__()


def _copied(placed: Placed) -> npt.NDArray[Any]:
    """Copy an array from a GPU, with all that lies between its elements."""
    from kernels.targets.cuda.foreign import copy_to_host

    if 0 in placed.shape:
        return np.empty(placed.shape, placed.dtype)
    ends = [
        (length - 1) * stride for length, stride in zip(placed.shape, placed.strides, strict=True)
    ]
    before = sum(min(end, 0) for end in ends)
    nbytes = sum(map(abs, ends)) + placed.dtype.itemsize
    raw = copy_to_host(placed.address + before, nbytes)
    return np.ndarray(placed.shape, placed.dtype, raw, -before, placed.strides)
