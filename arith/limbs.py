"""The limbs of a batch for other libraries: numpy, DLPack, the CUDA array interface."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from kernels.bignum.cuda.layouts import Rows
from kernels.targets.dlpack import HOST

from . import convert, engines
from .batches import IntegerBatch
from .operators import Bools


class LimbBatch(IntegerBatch):
    """A batch whose limbs other libraries may read."""

    __slots__ = ()

    @property
    def place(self) -> str:
        """Return "host" or "device"."""
        return "host" if engines.is_host(self._engine) else "device"

    def limbs(self) -> tuple[npt.NDArray[np.uint64], Bools | None]:
        """Return uint64 (count, width), the lowest first, and which are negative (None: none is).

        width is at least that of the longest. Read-only views where the numbers lie at
        equal distances in host memory, else a copy of the limbs, as wide as the longest.
        """
        numbers = self.numbers()
        negative = None if numbers.negative is None else numbers.negative.view()
        if negative is not None:
            negative.flags.writeable = False
        return convert.limbs_of(numbers), negative

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's kind of device and its number: (1, 0) in host memory, (2, N) on GPU N."""
        if self.place == "host":
            return HOST, 0
        device: tuple[int, int] = self._device_limbs().__dlpack_device__()
        return device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule of the limbs of numbers none of which is negative, to be read only.

        In host memory they are those of limbs(), uint64 (count, width); on a GPU, where they stay,
        uint32 (slabs, width, 32) as __cuda_array_interface__ has them. A view, but for a copy
        where lengths are mixed, with copy=True, and for a consumer that does not know what
        read-only is (max_version below 1.0). All is written, so any stream will do. A host that
        is asked for by dl_device=(1, 0) gets a copy. Raises BufferError where a number is
        negative, and where copy=False forbids a copy.
        """
        self._refuse_signs()
        if self.place == "device":
            array = self._device_limbs(view=copy is False)
            return array.__dlpack__(
                stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
            )
        limbs, _ = self.limbs()
        if copy is False and not self.numbers().dense:
            raise BufferError("limbs of mixed lengths lie in an array only as a copy")
        knows = max_version is not None and max_version[0] >= 1
        if copy is None and not knows:
            copy = True
        return limbs.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Return the device's limbs: uint32 (slabs, width, 32), see kernels/bignum/README.md.

        A view, to be read only, for as long as this array is kept and none has it as its out=.
        Raises AttributeError in host memory, and for mixed lengths, which DLPack copies;
        BufferError where a number is negative.
        """
        if self.place == "host":
            raise AttributeError("not on a device: see on_device()")
        if isinstance(self._batch, Rows):
            raise AttributeError("numbers of mixed lengths: see __dlpack__")
        self._refuse_signs()
        interface: dict[str, Any] = self._device_limbs().__cuda_array_interface__
        return interface

    def _refuse_signs(self) -> None:
        """Raise BufferError where a number is negative, which its limbs do not say."""
        if self._batch.negative is None:
            return
        negative = np.flatnonzero(self._engine.sign(self._batch) < 0)
        if len(negative):
            raise BufferError(
                f"number {negative[0]} is negative, and limbs have no sign: "
                "export abs(x), and x.sign()"
            )

    def _device_limbs(self, *, view: bool = False) -> Any:
        """Return a device's limbs as its DeviceArray. Raises BufferError where only a copy can
        be, but a view is wanted."""
        if view and isinstance(self._batch, Rows):
            raise BufferError("limbs of mixed lengths lie in an array only as a copy")
        return cast(Any, self._engine).slab_words(self._batch)
