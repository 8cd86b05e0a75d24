"""Charts on a CUDA device where symbols have few pairs each (sparse.cu says how)."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.device import Buffer, Device, Slice

from .rules import Rules, cells

SOURCE = Path(__file__).with_name("sparse.cu")
SHARED = 48 << 10  # bytes that a block has without asking for more
PART = 16  # rules that a thread lists, at most
ROOM = 8192  # rules of a chunk, at most
VISIT = 1.0  # clocks of a multiprocessor for a rule at a split point
STEP = 1.5  # clocks of a multiprocessor for a cell, for each thread of the block

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Params:
    """lanes: words of a group; room: rules that a block can list at a time."""

    lanes: int
    room: int
    in_shared: bool

    def shared(self, symbols: int) -> int:
        """Bytes of a block."""
        return 4 * (self.room + symbols * self.lanes * self.in_shared)

    def defines(self, threads: int) -> dict[str, int | str]:
        return {"LANES": self.lanes, "THREADS": threads, "IN_SHARED": int(self.in_shared)}


def choose(symbols: int, rules: int, lanes: int | None = None) -> Params:
    """Few words to a block where there is much to do with each: a small batch then keeps
    more multiprocessors busy."""
    if lanes is None:
        lanes = 32
        while lanes > 1 and lanes * max(symbols, rules) > 4096:
            lanes //= 2
    room = max(PART, min(ROOM, rules))
    return Params(lanes, room, Params(lanes, room, True).shared(symbols) <= SHARED)


def threads_for(work: int, groups: int, multiprocessors: int) -> int:
    """Of a block with so many words or rules to look at for a cell: fewer where many blocks
    keep the multiprocessors busy."""
    threads = 128 if work < 4096 else 256
    while threads < min(1024, work // 4) and groups * threads * 2 <= 2560 * multiprocessors:
        threads *= 2
    return threads


@dataclass(frozen=True, eq=False)
class Table:
    """Binary rules by their last symbol, as sparse.cu reads them."""

    chunk: Numbers
    part: Numbers
    part_first: Numbers
    left: Numbers
    right: Numbers


def table(binary: Numbers, room: int) -> Table:
    """binary: rows A, B, C. room: rules of a chunk, at least PART."""
    binary = binary[np.lexsort((binary[:, 0], binary[:, 1], binary[:, 2]))]
    rights, firsts, counts = np.unique(binary[:, 2], return_index=True, return_counts=True)
    times = -(-counts // PART)
    nth = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    part_first = np.append(np.repeat(firsts, times) + PART * nth, len(binary))
    chunk = [0]
    while chunk[-1] < nth.size:
        most = part_first[chunk[-1]] + room
        chunk.append(int(np.searchsorted(part_first, most, "right")) - 1)
    arrays = chunk, np.repeat(rights, times), part_first, binary[:, :2], binary[:, 2]
    return Table(*(np.ascontiguousarray(array, np.int32) for array in arrays))


def put(device: Device, *arrays: npt.NDArray[np.generic]) -> list[Buffer]:
    """Arrays that stay on the device."""
    buffers = []
    for array in arrays:
        buffers.append(device.alloc(array.nbytes))
        device.upload(buffers[-1], np.ascontiguousarray(array))
    return buffers


class SparseColumns:
    """kernels.cky.columns.Columns for any rules; quick where there are few of them to a pair
    of symbols.

    params: choose()'s by default. threads: of a block; threads_for()'s by default. blocks:
    groups for each multiprocessor that are best computed in one launch, as strings that end
    early cost little.
    """

    blocks = 16
    side = 1

    def __init__(
        self, device: Device, rules: Rules, params: Params | None = None, threads: int = 0
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


def sparse_cost(rules: Rules, length: int) -> float:
    """Clocks of a multiprocessor for 32 random strings of a length, as measured on an H200.

    Assumes that every symbol is as likely as the next: how full a cell is follows from how
    full those are that it is made of.
    """
    n = rules.symbols
    units = 1 + len(rules.units) / n
    full = np.zeros(length + 1)
    full[1] = min(1.0, units * len(rules.lexical) / (n * max(1, rules.terminals)))
    for w in range(2, length + 1):
        expected = len(rules.binary) / n * float(full[1:w] @ full[w - 1 : 0 : -1])
        full[w] = min(1.0, units * -expm1(-expected))
    some = 1 - (1 - full) ** 32  # of a word's strings
    visits = sum(
        (length + 1 - w) * float(some[1:w] @ some[w - 1 : 0 : -1]) for w in range(2, length + 1)
    )
    lanes = choose(n, len(rules.binary)).lanes
    threads = threads_for(lanes * max(n, len(rules.binary)), 1 << 20, 1)
    return VISIT * len(rules.binary) * visits + cells(length) * STEP * threads / lanes
