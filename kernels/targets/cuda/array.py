"""DeviceArray: memory of a device as an array that other libraries take without a copy."""

from __future__ import annotations

from math import prod
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device
from kernels.targets.dlpack import CUDA, HOST, capsule_of

_CHUNK = 1 << 30  # bytes: some drivers count those of a copy in 32 bits


class Addressed(Protocol):
    """The memory of the devices has an address beside its size."""

    address: int


class DeviceArray:
    """A C-contiguous array in a device's memory, all of it written and waited for.

    shape, dtype: as numpy's. read_only: whether somebody else depends on its values; nothing
    here ever writes to it, so a view of it never changes by itself.

    It speaks DLPack and the CUDA array interface: torch.from_dlpack(array),
    cupy.from_dlpack(array) and jax.dlpack.from_dlpack(array) are views of the same memory, which
    lives as long as any of them. numpy.asarray(array) is a copy in host memory.
    """

    __slots__ = ("__weakref__", "_buffer", "_device", "dtype", "read_only", "shape")

    def __init__(
        self,
        device: Device,
        buffer: Buffer,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
        *,
        read_only: bool = False,
    ) -> None:
        """Show the beginning of a buffer. Raises ValueError where it is too small."""
        self._device, self._buffer = device, buffer
        self.shape, self.dtype, self.read_only = shape, np.dtype(dtype), read_only
        if self.nbytes > buffer.nbytes:
            raise ValueError(f"{self.nbytes} bytes in a buffer of {buffer.nbytes}")

    @property
    def nbytes(self) -> int:
        """Return the bytes that the elements take."""
        return prod(self.shape) * self.dtype.itemsize

    def __repr__(self) -> str:
        place = f"{self._device.info.name}"
        return f"<DeviceArray {self.dtype} {self.shape} on {place}>"

    def to_host(self) -> npt.NDArray[Any]:
        """Return a copy in host memory."""
        result = np.empty(self.shape, self.dtype)
        if result.nbytes:
            self._device.download(result, self._buffer)
        return result

    def copy(self) -> DeviceArray:
        """Return a copy on the device, which may be written to. Raises MemoryError."""
        target = self._device.alloc(max(1, self.nbytes))
        for start in range(0, self.nbytes, _CHUNK):
            size = min(_CHUNK, self.nbytes - start)
            self._device.copy(target, start, self._buffer, start, size)
        self._device.synchronize()
        return DeviceArray(self._device, target, self.shape, self.dtype)

    def view(self, dtype: npt.DTypeLike) -> DeviceArray:
        """Return the same memory as elements of another dtype, as numpy's view() does.

        Words of 32 bits are for JAX, which cuts those of 64 unless jax_enable_x64 is set. Raises
        ValueError where the last axis is no whole number of them.
        """
        wanted = np.dtype(dtype)
        *outer, last = self.shape
        count, rest = divmod(last * self.dtype.itemsize, wanted.itemsize)
        if rest or wanted.hasobject:
            raise ValueError(f"rows of {last} {self.dtype} are no whole number of {wanted}")
        shape = (*outer, count)
        return DeviceArray(self._device, self._buffer, shape, wanted, read_only=self.read_only)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("an array of a device is in host memory only as a copy")
        return self.to_host().astype(dtype or self.dtype, copy=False)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Return version 3 of the interface: a view, for as long as this object is kept. stream is
        None, as nothing is to be waited for."""
        if self.__dlpack_device__()[0] != CUDA:
            raise AttributeError("not in a GPU's memory")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._address, self.read_only),
            "version": 3,
            "strides": None,
            "stream": None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's kind of device and its number: (2, N) of GPU N; (1, 0) of host memory."""
        index = self._device.info.index
        return (HOST, 0) if index is None else (CUDA, index)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule: a view, or with copy=True a copy that the consumer may write to.

        stream: where the consumer will use the memory; any will do, as all is written. dl_device:
        this device, or the host, (1, 0), which gets a copy. A read-only array is copied for a
        consumer that does not know what read-only is (max_version below 1.0), unless copy is
        False. Raises BufferError for other devices, and for copies that copy=False forbids.
        """
        here = self.__dlpack_device__()
        self._check_stream(stream)
        if dl_device is not None and tuple(dl_device) != here:
            if tuple(dl_device) != (HOST, 0) or copy is False:
                raise BufferError(f"{self!r} is a view on {here} only, not on {tuple(dl_device)}")
            return self.to_host().__dlpack__(max_version=max_version)
        knows = max_version is not None and max_version[0] >= 1
        copied = bool(copy) or (copy is None and self.read_only and not knows)
        shown = self.copy() if copied else self
        return capsule_of(
            shown,
            shown._address,
            shown.shape,
            shown.dtype,
            here,
            read_only=shown.read_only,
            max_version=max_version,
            copied=copied,
        )

    def _check_stream(self, stream: int | None) -> None:
        """Raise BufferError for what names no stream of the device."""
        if stream is None:
            return
        if self.__dlpack_device__()[0] == HOST:
            raise BufferError("host memory has no streams")
        if not isinstance(stream, int) or stream < -1 or stream == 0:
            raise BufferError(f"{stream!r} is no stream: -1, 1, 2 or a handle")

    @property
    def _address(self) -> int:
        return int(cast(Addressed, self._buffer).address)
