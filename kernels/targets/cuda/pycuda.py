"""The driver layer through PyCUDA: the only module that imports it, and only when asked."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import DeviceInfo

_MOST_COPIED = 1 << 31  # bytes: PyCUDA counts those of a copy in 32 bits
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: not ordered with the default stream


def load() -> PyCuda:
    """Import PyCUDA and start the machine's driver. Raises BackendUnavailableError."""
    try:
        import pycuda.driver as driver
    except ImportError as error:
        missing = (error.name or "").partition(".")[0] == "pycuda"
        hint = "pip install 'bulkbits[pycuda]'" if missing else str(error)
        raise BackendUnavailableError(f"PyCUDA does not load: {hint}") from None
    try:
        driver.init()
    except driver.Error as error:
        raise BackendUnavailableError(f"no usable CUDA driver: {error}") from None
    return PyCuda(driver)


class PyCuda:
    """PyCUDA as a kernels.targets.cuda.driver.Driver."""

    name = "pycuda"

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        atexit.register(self._leave)

    def _leave(self) -> None:
        """Leave no context current: PyCUDA aborts the exit where one is, as when an interrupt
        came right after a push."""
        with suppress(self._driver.Error):
            while True:  # until there is none to pop
                self._driver.Context.pop()

    def version(self) -> str:
        """Return PyCUDA's version."""
        import pycuda

        return str(pycuda.VERSION_TEXT)

    def cuda_version(self) -> tuple[int, int]:
        """Return the newest CUDA that the machine's driver can run."""
        number = int(self._driver.get_driver_version())
        return number // 1000, number % 1000 // 10

    def count(self) -> int:
        """Return how many GPUs this process may use."""
        return int(self._driver.Device.count())

    def open(self, index: int) -> PyCudaContext:
        """Return the primary context of a GPU. Raises BackendUnavailableError."""
        device = self._driver.Device(index)
        info = DeviceInfo(
            name=device.name(),
            multiprocessors=device.multiprocessor_count,
            memory=device.total_memory(),
            capability=device.compute_capability(),
            index=index,
        )
        try:
            context = device.retain_primary_context()
        except self._driver.Error as error:
            raise BackendUnavailableError(f"{info.name} cannot be used: {error}") from None
        return PyCudaContext(self._driver, index, info, context)


class PyCudaContext:
    """A GPU's primary context as a kernels.targets.cuda.driver.Context."""

    def __init__(self, driver: Any, index: int, info: DeviceInfo, context: Any) -> None:
        self.info = info
        self._driver, self._index, self._context = driver, index, context
        self.push = context.push
        self.pop = driver.Context.pop

    def stream(self) -> Any:
        """Make a stream that is not ordered with the default stream."""
        return self._driver.Stream(_NON_BLOCKING)

    def event(self) -> Any:
        """Make an event that takes no times."""
        return self._driver.Event(self._driver.event_flags.DISABLE_TIMING)

    def synchronize(self, stream: Any) -> None:
        """Wait for all that was queued on a stream."""
        stream.synchronize()

    def record(self, event: Any, stream: Any) -> None:
        """Let an event mark the present end of a stream."""
        event.record(stream)

    def wait(self, stream: Any, event: Any) -> None:
        """Let a stream wait for what an event marks."""
        stream.wait_for_event(event)

    def alloc(self, nbytes: int) -> Any:
        """Return new device memory. Raises MemoryError."""
        try:
            return self._driver.mem_alloc(nbytes)
        except self._driver.MemoryError:
            raise MemoryError from None

    def free_memory(self) -> int:
        """Return the bytes of device memory that are free."""
        return int(self._driver.mem_get_info()[0])

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return new page-locked memory. Raises MemoryError."""
        try:
            memory: npt.NDArray[np.uint8] = self._driver.pagelocked_empty(nbytes, np.uint8)
        except self._driver.MemoryError:
            raise MemoryError from None
        return memory

    def is_pinned(self, array: npt.NDArray[Any]) -> bool:
        """Return whether an array is, or is a view of, memory that pinned() returned."""
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, self._driver.PagelockedHostAllocation)

    def upload(self, address: int, source: npt.NDArray[Any], stream: Any) -> None:
        """Queue a copy from the host."""
        self._driver.memcpy_htod_async(address, source, stream)

    def download(self, target: npt.NDArray[Any], address: int, stream: Any) -> None:
        """Queue a copy to the host."""
        self._driver.memcpy_dtoh_async(target, address, stream)

    def copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        """Queue a copy between addresses, each of which tells its GPU.

        (PyCUDA's memcpy_peer_async takes no contexts.)
        """
        for i in range(0, nbytes, _MOST_COPIED):
            part = min(_MOST_COPIED, nbytes - i)
            self._driver.memcpy_dtod_async(target + i, source + i, part, stream)

    def reach(self, other: PyCudaContext) -> None:
        """Have copies from another context's GPU go directly, where that can be."""
        device = self._driver.Device
        if device(self._index).can_access_peer(device(other._index)):
            # Refused where another object of this GPU has done so.
            with suppress(self._driver.LogicError):
                self._context.enable_peer_access(other._context)

    def load(self, cubin: bytes) -> Any:
        """Load machine code."""
        return self._driver.module_from_buffer(cubin)

    def kernel(self, module: Any, name: str) -> Any:
        """Return a kernel of loaded machine code."""
        return module.get_function(name)

    def allow_shared(self, kernel: Any, nbytes: int) -> None:
        """Let a kernel have more shared memory than all have."""
        most = self._driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        kernel.set_attribute(most, nbytes)

    def launch(
        self,
        kernel: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        values: Sequence[Any],
        shared: int,
        stream: Any,
    ) -> None:
        """Queue a launch."""
        kernel(*values, grid=grid, block=block, shared=shared, stream=stream)
