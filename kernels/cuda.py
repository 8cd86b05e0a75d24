"""The CUDA backend, through PyCUDA: the only module that imports it, and only when asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels import compiler
from kernels.backend import Backend, BackendUnavailableError, LifeUniverse, Words
from kernels.device import Buffer, DeviceInfo
from kernels.life.cuda import DeviceLife

_OLDEST = (7, 5)  # what today's compilers still know


def _driver() -> Any:
    try:
        import pycuda.driver as driver
    except ImportError as error:
        hint = "pip install 'bulkbits[gpu]'" if error.name == "pycuda" else str(error)
        raise BackendUnavailableError(f"PyCUDA does not load: {hint}") from None
    try:
        driver.init()
    except driver.Error as error:
        raise BackendUnavailableError(f"no usable CUDA driver: {error}") from None
    return driver


class CudaBuffer:
    """Device memory; freed with the object."""

    def __init__(self, allocation: Any, nbytes: int) -> None:
        self.allocation, self.nbytes = allocation, nbytes

    def at(self, offset: int, nbytes: int) -> int:
        if offset < 0 or offset + nbytes > self.nbytes:
            raise ValueError(f"{nbytes} bytes at {offset} leave a buffer of {self.nbytes}")
        return int(self.allocation) + offset


def _own(buffer: Buffer) -> CudaBuffer:
    if not isinstance(buffer, CudaBuffer):
        raise TypeError(f"{type(buffer).__name__} is no memory of a CUDA device")
    return buffer


class CudaModule:
    def __init__(self, device: CudaDevice, module: Any) -> None:
        self._device, self._module = device, module
        self._functions: dict[str, Any] = {}

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        *args: Buffer | np.integer[Any],
        shared: int = 0,
    ) -> None:
        values = [a if isinstance(a, np.integer) else _own(a).allocation for a in args]
        with self._device.current():
            if kernel not in self._functions:
                self._functions[kernel] = self._module.get_function(kernel)
            self._functions[kernel](*values, grid=grid, block=block, shared=shared)


class CudaDevice:
    """One GPU: kernels.device.Device through PyCUDA, on its primary context.

    Raises BackendUnavailableError where there is no driver or no such device.
    """

    def __init__(self, index: int = 0) -> None:
        self._driver = driver = _driver()
        count = driver.Device.count()
        if not 0 <= index < count:
            raise BackendUnavailableError(f"no CUDA device {index}: there are {count}")
        device = driver.Device(index)
        capability: tuple[int, int] = device.compute_capability()
        if capability < _OLDEST:
            raise BackendUnavailableError(
                f"{device.name()} has compute capability {capability}, at least {_OLDEST} is needed"
            )
        try:
            self._context = device.retain_primary_context()
        except driver.Error as error:
            raise BackendUnavailableError(f"{device.name()} cannot be used: {error}") from None
        self.info = DeviceInfo(
            name=device.name(),
            multiprocessors=device.multiprocessor_count,
            memory=device.total_memory(),
            capability=capability,
        )
        self._modules: dict[Any, CudaModule] = {}

    @contextmanager
    def current(self) -> Iterator[None]:
        """Contexts belong to threads: make this one current for a moment."""
        self._context.push()
        try:
            yield
        finally:
            self._driver.Context.pop()

    def driver_version(self) -> str:
        version = int(self._driver.get_driver_version())
        return f"{version // 1000}.{version % 1000 // 10}"

    def module(self, source: Path, defines: Mapping[str, int | str]) -> CudaModule:
        key = (source, tuple(sorted(defines.items())))
        if key not in self._modules:
            cubin = compiler.cubin(source, defines, self.info.capability)
            with self.current():
                self._modules[key] = CudaModule(self, self._driver.module_from_buffer(cubin))
        return self._modules[key]

    def alloc(self, nbytes: int) -> CudaBuffer:
        with self.current():
            try:
                return CudaBuffer(self._driver.mem_alloc(max(1, nbytes)), nbytes)
            except self._driver.MemoryError:
                free = self._driver.mem_get_info()[0]
                raise MemoryError(
                    f"{self.info.name}: {nbytes:,} bytes asked for, {free:,} are free"
                ) from None

    def upload(self, target: Buffer, source: npt.NDArray[Any], offset: int = 0) -> None:
        if not source.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied to a device")
        with self.current():
            self._driver.memcpy_htod(_own(target).at(offset, source.nbytes), source)

    def download(self, target: npt.NDArray[Any], source: Buffer, offset: int = 0) -> None:
        if not target.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied from a device")
        with self.current():
            self._driver.memcpy_dtoh(target, _own(source).at(offset, target.nbytes))

    def synchronize(self) -> None:
        with self.current():
            self._driver.Context.synchronize()

    def free_memory(self) -> int:
        with self.current():
            return int(self._driver.mem_get_info()[0])


class CudaBackend(Backend):
    name = "cuda"

    def __init__(self, index: int = 0) -> None:
        if not compiler.found():
            raise BackendUnavailableError(compiler.HOW_TO_GET)
        self.device = CudaDevice(index)

    def describe(self) -> str:
        info = self.device.info
        return f"{info.name}, {info.multiprocessors} multiprocessors"

    def life(
        self, words: Words, width: int, height: int, *, torus: bool, birth: int, survival: int
    ) -> LifeUniverse:
        return DeviceLife(self.device, words, width, height, torus, birth, survival)
