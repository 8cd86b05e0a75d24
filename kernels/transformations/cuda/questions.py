"""Look up maps of numbers, numbers of maps, and whether maps are equal, many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.cuda.device import Buffer, Device

from ..contract import EnumerationProblem, NumberArray
from ..maps import Maps
from .graph import HashTable
from .launches import GRAPH, blocks, launch
from .rows import DeviceHashKey, RowKernels, padded, upload

_ASKED = 1 << 26  # bytes of maps that go to or from the host at a time
_QUESTIONS = 1 << 22  # pairs of maps that are compared at a time


class ElementQueries:
    """Answers what is asked of an enumeration; numbers must be there, the table filled.

    rows, maps: kernels for rows and for whole maps. Some memory is taken for the moment.
    """

    def __init__(
        self,
        device: Device,
        problem: EnumerationProblem,
        rows: RowKernels,
        maps: RowKernels,
        key: DeviceHashKey,
        table: HashTable,
    ) -> None:
        self._device, self._problem, self._table = device, problem, table
        self._rows, self._maps, self._key = rows, maps, key
        self._module = device.module(GRAPH, {})

    def maps(self, numbers: npt.NDArray[np.integer[Any]]) -> Maps:
        """Return the whole maps of numbers: (count, degree)."""
        problem, device = self._problem, self._device
        wanted = numbers.astype(np.uint32)
        result: Maps = np.empty((wanted.size, problem.degree), problem.generators.dtype)
        for part in self._parts(wanted.size):
            count = len(result[part])
            rows = np.empty((count, self._maps.stride // result.itemsize), result.dtype)
            out = device.alloc(rows.nbytes)
            self._maps.rows(count, upload(device, wanted[part]), out)
            device.download(rows, out)
            result[part] = rows[:, : problem.degree]
        return result

    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        """Return the numbers of whole maps (count, degree), -1 of what is not found."""
        result = np.full(len(maps), -1, np.int64)
        device, points = self._device, self._problem.points
        for part in self._parts(len(maps)):
            count = len(result[part])
            given = upload(device, padded(maps[part]))
            rows = given
            if not self._problem.whole:
                rows = upload(device, padded(maps[part][:, points]))
            hashes = upload(device, np.zeros((count, 2), np.uint64))
            self._rows.hash(count, rows, hashes, self._key)
            self.mask(count, hashes)
            found, same = device.alloc(4 * count), upload(device, np.ones(count, np.uint32))
            self._table.find(count, hashes, found)
            self._maps.same(count, found, given, same)
            numbers, equal = np.empty(count, np.uint32), np.empty(count, np.uint32)
            device.download(numbers, found)
            device.download(equal, same)
            result[part] = np.where(equal, numbers.astype(np.int64), -1)
        return result

    def differ(
        self, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> tuple[int, int] | None:
        """Find the first product that is not what it should be, see Enumerator.differ()."""
        device = self._device
        for start in range(0, words.size, _QUESTIONS):
            part = slice(start, start + _QUESTIONS)
            least = np.full(1, 2**64 - 1, np.uint64)
            found = upload(device, least)
            arrays = [upload(device, x[part].astype(np.uint32)) for x in (words, letters, others)]
            self._maps.differ(words[part].size, arrays, found)
            device.download(least, found)
            k, point = divmod(int(least[0]), self._problem.degree)
            if start + k < words.size:
                return start + k, point
        return None

    def mask(self, count: int, hashes: Buffer) -> None:
        """Clear the bits of hashes that do not count, where fewer than 128 do."""
        if self._problem.hash_bits < 128:
            low, high = (np.uint64(half) for half in self._key.mask)
            launch(self._module, "semigroup_mask", blocks(count), count, low, high, hashes)

    def _parts(self, count: int) -> Iterator[slice]:
        step = max(1, _ASKED // self._maps.stride)
        return (slice(start, start + step) for start in range(0, count, step))
