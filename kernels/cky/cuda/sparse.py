"""Charts on a CUDA device where symbols have few pairs each (sparse.cu says how)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device, Slice

from ..rules import Rules
from .plan import SparseParams, choose, table, threads_for

SOURCE = Path(__file__).with_name("sparse.cu")


def put(device: Device, *arrays: npt.NDArray[np.generic]) -> list[Buffer]:
    """Return arrays as buffers that stay on the device."""
    buffers = []
    for array in arrays:
        buffers.append(device.alloc(array.nbytes))
        device.upload(buffers[-1], np.ascontiguousarray(array))
    return buffers


class SparseColumns:
    """Computes kernels.cky.cuda.columns.Columns for any rules; quick where there are few of them
    to a pair of symbols.

    params: choose()'s by default. threads: of a block; threads_for()'s by default. blocks:
    groups for each multiprocessor that are best computed in one launch, as strings that end
    early cost little.
    """

    blocks = 16
    side = 1

    def __init__(
        self, device: Device, rules: Rules, params: SparseParams | None = None, threads: int = 0
    ) -> None:
        params = choose(rules.symbols, len(rules.binary)) if params is None else params
        self._device, self._rules, self._threads = device, rules, threads
        self._params, self.lanes, self.symbols = params, params.lanes, rules.symbols
        units = rules.units[np.argsort(rules.units[:, 1], kind="stable")]
        unit_first = np.searchsorted(units[:, 1], np.arange(rules.symbols + 1))
        binary = table(rules.binary, params.room)
        self._arguments: list[Any] = [
            np.uint32(rules.symbols),
            np.uint32(len(units) > 0),
            *put(device, unit_first.astype(np.int32), units[:, 0]),
            np.uint32(params.room),
            np.uint32(binary.chunk.size - 1),
            *put(device, binary.chunk, binary.part, binary.part_first),
            *put(device, binary.left, binary.right),
        ]

    def run(self, chart: Buffer | Slice, groups: int, length: int) -> None:
        """See Columns.run()."""
        device, symbols = self._device, self._rules.symbols
        work = self.lanes * max(symbols, len(self._rules.binary))
        threads = self._threads or threads_for(work, groups, device.info.multiprocessors)
        module = device.module(SOURCE, self._params.defines(threads))
        rows = 4 * groups * (length + 1) * -(-length // 32) * symbols
        # Of few sizes, so that the next launch finds this one's.
        scratch = device.alloc(1 << (rows - 1).bit_length())
        module.launch(
            "sparse_columns",
            (groups, 1, 1),
            (threads, 1, 1),
            chart,
            scratch,
            np.uint32(length),
            *self._arguments,
            shared=self._params.shared(symbols),
        )
