"""Contract of the driver layers, the Python packages that reach CUDA's driver, and their choice.

Each layer is one file beside this one, and the only one that imports its package.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import DeviceInfo

NAMES = ("pycuda", "cuda.core")  # in the order in which they are tried
VARIABLE = "BULKBITS_DRIVER"  # of the environment: the name of the layer to use

_MODULES = {"pycuda": "pycuda", "cuda.core": "cuda_core"}


class Context(Protocol):
    """The primary context of one GPU.

    All but push() need it to be current. Streams, events, allocations and kernels are the
    package's own objects; allocations have an address, int(allocation), and free(). They may
    be dropped in any thread.
    """

    info: DeviceInfo

    def push(self) -> None:
        """Make it the calling thread's current context, until pop()."""

    def pop(self) -> None:
        """Make current again what was current before push()."""

    def stream(self) -> Any:
        """Make a stream that is not ordered with the default stream."""

    def event(self) -> Any:
        """Make an event that takes no times."""

    def synchronize(self, stream: Any) -> None:
        """Wait for all that was queued on a stream. Other threads run meanwhile."""

    def record(self, event: Any, stream: Any) -> None:
        """Let an event mark the present end of a stream."""

    def wait(self, stream: Any, event: Any) -> None:
        """Let a stream wait for what an event marks, here or on another GPU."""

    def alloc(self, nbytes: int) -> Any:
        """Return new device memory. Raises MemoryError."""

    def free_memory(self) -> int:
        """Return the bytes of device memory that are free."""

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Return new page-locked memory, to be freed by `.base.free()`. Raises MemoryError."""

    def is_pinned(self, array: npt.NDArray[Any]) -> bool:
        """Return whether an array is, or is a view of, memory that pinned() of any GPU returned."""

    def upload(self, address: int, source: npt.NDArray[Any], stream: Any) -> None:
        """Queue a copy from the host."""

    def download(self, target: npt.NDArray[Any], address: int, stream: Any) -> None:
        """Queue a copy to the host."""

    def copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        """Queue a copy between addresses, of the same GPU or not."""

    def reach(self, other: Any) -> None:
        """Have copies from another context's GPU go directly, where that can be."""

    def load(self, cubin: bytes) -> Any:
        """Load machine code."""

    def kernel(self, module: Any, name: str) -> Any:
        """Return a kernel of loaded machine code."""

    def allow_shared(self, kernel: Any, nbytes: int) -> None:
        """Let a kernel have more shared memory than all have."""

    def launch(
        self,
        kernel: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        values: Sequence[Any],
        shared: int,
        stream: Any,
    ) -> None:
        """Queue a launch. values: allocations, np.uintp of addresses, sized numpy integers."""


class Driver(Protocol):
    """One layer. All raise BackendUnavailableError, with the reason in one line."""

    name: str

    def version(self) -> str:
        """Return the version of the package."""

    def cuda_version(self) -> tuple[int, int]:
        """Return the newest CUDA that the machine's driver can run."""

    def count(self) -> int:
        """Return how many GPUs this process may use."""

    def open(self, index: int) -> Context:
        """Return the primary context of a GPU; it is not current yet."""


def named() -> str:
    """Return the name in BULKBITS_DRIVER, '' where it is not set.

    Raises BackendUnavailableError where no layer has that name.
    """
    name = os.environ.get(VARIABLE, "")
    if name and name not in NAMES:
        raise BackendUnavailableError(
            f"{VARIABLE} says {name!r}, which is none of {', '.join(NAMES)}"
        )
    return name


def chosen(name: str = "") -> Driver:
    """Return the layer of that name, by default the one that BULKBITS_DRIVER names, else the first
    whose package loads and finds a usable CUDA driver.

    Raises BackendUnavailableError where there is none.
    """
    if name := name or named():
        return load(name)
    reasons = []
    for each in NAMES:
        try:
            return load(each)
        except BackendUnavailableError as error:
            reasons.append(str(error))
    # Where the machine's driver is at fault all say the same.
    raise BackendUnavailableError("; ".join(dict.fromkeys(reasons)))


@lru_cache(maxsize=len(NAMES))
def load(name: str) -> Driver:
    """Return the layer of that name in NAMES, ready for use. Raises BackendUnavailableError."""
    layer: Driver = import_module(f"kernels.targets.cuda.{_MODULES[name]}").load()
    return layer


def working() -> list[str]:
    """Return the names of all layers that work here."""
    names = []
    for name in NAMES:
        with suppress(BackendUnavailableError):
            load(name)
            names.append(name)
    return names
