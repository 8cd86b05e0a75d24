"""The driver layer through NVIDIA's cuda.core: the only module that imports it and cuda.bindings.

cuda.core has devices, streams, events, machine code and launches. The rest (contexts that are
pushed and popped, plain memory, copies, attributes of kernels) is cuda.bindings, on which
it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import DeviceInfo


class DriverError(RuntimeError):
    """The CUDA driver refused a call; the message is its own."""


def load() -> CudaCore:
    """Import cuda.core and start the machine's driver. Raises BackendUnavailableError."""
    try:
        from cuda import core
        from cuda.bindings import driver
    except ImportError as error:
        hint = "pip install 'bulkbits[gpu]'"
        if (error.name or "").partition(".")[0] != "cuda":
            hint = str(error)
        raise BackendUnavailableError(f"cuda.core does not load: {hint}") from None
    if not hasattr(core, "launch"):  # releases before 0.5 had it elsewhere
        raise BackendUnavailableError(
            f"cuda.core {core.__version__} is too old: pip install 'bulkbits[gpu]'"
        )
    layer = CudaCore(core, driver)
    try:
        layer.call(driver.cuInit, 0)
    except Exception as error:  # also cuda.pathfinder's, whose class depends on its version
        lost = type(error).__name__ == "DynamicLibNotFoundError"
        said = "libcuda.so.1 does not load" if lost else " ".join(str(error).split())
        raise BackendUnavailableError(f"no usable CUDA driver: {said}") from None
    return layer


class CudaCore:
    """cuda.core as a kernels.targets.cuda.driver.Driver."""

    name = "cuda.core"

    def __init__(self, core: Any, driver: Any) -> None:
        self.core, self.driver = core, driver
        self._success = driver.CUresult.CUDA_SUCCESS
        self._no_memory = driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY

    def call(self, function: Any, *arguments: Any) -> Any:
        """Call a function of cuda.bindings.driver, and return its only result, or None.

        Raises DriverError, MemoryError where memory is lacking.
        """
        status, *results = function(*arguments)
        if status != self._success:
            if status == self._no_memory:
                raise MemoryError
            raise DriverError(self._text(status))
        return results[0] if results else None

    def _text(self, status: Any) -> str:
        known, text = self.driver.cuGetErrorString(status)
        what = text.decode(errors="replace") if known == self._success and text else "unknown error"
        return f"{what} ({int(status)})"

    def version(self) -> str:
        """Return the versions of cuda.core and of the bindings."""
        from cuda.bindings import __version__ as bindings

        return f"{self.core.__version__}, cuda.bindings {bindings}"

    def cuda_version(self) -> tuple[int, int]:
        """Return the newest CUDA that the machine's driver can run."""
        number = int(self.call(self.driver.cuDriverGetVersion))
        return number // 1000, number % 1000 // 10

    def count(self) -> int:
        """Return how many GPUs this process may use."""
        return int(self.call(self.driver.cuDeviceGetCount))

    def open(self, index: int) -> CudaCoreContext:
        """Return the primary context of a GPU. Raises BackendUnavailableError."""
        device = self.call(self.driver.cuDeviceGet, index)
        facts = self.core.Device(index)
        info = DeviceInfo(
            name=facts.name,
            multiprocessors=int(facts.properties.multiprocessor_count),
            memory=int(self.call(self.driver.cuDeviceTotalMem, device)),
            capability=tuple(facts.compute_capability),
            index=index,
        )
        try:
            context = self.call(self.driver.cuDevicePrimaryCtxRetain, device)
        except (DriverError, MemoryError) as error:
            said = str(error) or "out of memory"
            raise BackendUnavailableError(f"{info.name} cannot be used: {said}") from None
        return CudaCoreContext(self, index, info, device, context)


class Allocation:
    """Memory of a GPU, or of the host where it is page-locked, until free().

    It may be freed in any thread in which its context is current.
    """

    def __init__(self, layer: CudaCore, address: int, free: Any) -> None:
        self._layer, self._address, self._free = layer, address, free

    def __int__(self) -> int:
        return self._address

    def free(self) -> None:
        """Give it back to the driver."""
        self._layer.call(self._free, self._address)


class HostAllocation(Allocation):
    """Page-locked memory of the host, which numpy can look at."""

    def __init__(self, layer: CudaCore, address: int, nbytes: int) -> None:
        super().__init__(layer, address, layer.driver.cuMemFreeHost)
        self.__array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


class CudaCoreContext:
    """A GPU's primary context as a kernels.targets.cuda.driver.Context."""

    def __init__(
        self, layer: CudaCore, index: int, info: DeviceInfo, device: Any, context: Any
    ) -> None:
        self.info = info
        self._layer, self._index, self._device, self._context = layer, index, device, context
        self._driver, self._call = layer.driver, layer.call
        self._launch = layer.core.launch
        # A configuration takes longer to make than to look up, and most are used many times.
        self._config = lru_cache(maxsize=4096)(
            lambda grid, block, shared: layer.core.LaunchConfig(
                grid=grid, block=block, shmem_size=shared
            )
        )

    def push(self) -> None:
        """Make it the calling thread's current context, until pop()."""
        self._call(self._driver.cuCtxPushCurrent, self._context)

    def pop(self) -> None:
        """Make current again what was current before push()."""
        self._call(self._driver.cuCtxPopCurrent)

    def _own(self) -> Any:
        """Return the calling thread's own object of this GPU. Needs the context to be current.

        cuda.core has one for each thread, and wants it to be told of the context.
        """
        device = self._layer.core.Device(self._index)
        device.set_current()  # the primary context, which is current already
        return device

    def stream(self) -> Any:
        """Make a stream that is not ordered with the default stream."""
        options = self._layer.core.StreamOptions(nonblocking=True)
        return self._own().create_stream(options=options)

    def event(self) -> Any:
        """Make an event that takes no times."""
        return self._own().create_event()

    def synchronize(self, stream: Any) -> None:
        """Wait for all that was queued on a stream."""
        stream.sync()

    def record(self, event: Any, stream: Any) -> None:
        """Let an event mark the present end of a stream."""
        stream.record(event)

    def wait(self, stream: Any, event: Any) -> None:
        """Let a stream wait for what an event marks."""
        stream.wait(event)

    def alloc(self, nbytes: int) -> Allocation:
        """Return new device memory. Raises MemoryError."""
        address = int(self._call(self._driver.cuMemAlloc, nbytes))
        return Allocation(self._layer, address, self._driver.cuMemFree)

    def free_memory(self) -> int:
        """Return the bytes of device memory that are free."""
        status, free, _ = self._driver.cuMemGetInfo()
        self._call(lambda: (status,))
        return int(free)

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return new page-locked memory. Raises MemoryError."""
        address = int(self._call(self._driver.cuMemHostAlloc, nbytes, 0))
        return np.asarray(HostAllocation(self._layer, address, nbytes))

    def is_pinned(self, array: npt.NDArray[Any]) -> bool:
        """Return whether an array is, or is a view of, memory that pinned() returned."""
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, HostAllocation)

    def upload(self, address: int, source: npt.NDArray[Any], stream: Any) -> None:
        """Queue a copy from the host."""
        copy = self._driver.cuMemcpyHtoDAsync
        self._call(copy, address, source.ctypes.data, source.nbytes, stream.handle)

    def download(self, target: npt.NDArray[Any], address: int, stream: Any) -> None:
        """Queue a copy to the host."""
        copy = self._driver.cuMemcpyDtoHAsync
        self._call(copy, target.ctypes.data, address, target.nbytes, stream.handle)

    def copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        """Queue a copy between addresses, each of which tells its GPU."""
        self._call(self._driver.cuMemcpyDtoDAsync, target, source, nbytes, stream.handle)

    def reach(self, other: CudaCoreContext) -> None:
        """Have copies from another context's GPU go directly, where that can be."""
        if self._call(self._driver.cuDeviceCanAccessPeer, self._device, other._device):
            already = self._driver.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
            (status,) = self._driver.cuCtxEnablePeerAccess(other._context, 0)
            if status != already:  # by another object of this GPU
                self._call(lambda: (status,))

    def load(self, cubin: bytes) -> Any:
        """Load machine code."""
        return self._layer.core.ObjectCode.from_cubin(cubin)

    def kernel(self, module: Any, name: str) -> Any:
        """Return a kernel of loaded machine code."""
        return module.get_kernel(name)

    def allow_shared(self, kernel: Any, nbytes: int) -> None:
        """Let a kernel have more shared memory than all have."""
        most = self._driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call(self._driver.cuKernelSetAttribute, most, nbytes, kernel.handle, self._device)

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
        # cuda.core takes a Python integer for an address.
        values = [int(each) if isinstance(each, Allocation) else each for each in values]
        self._launch(stream, self._config(grid, block, shared), kernel, *values)
