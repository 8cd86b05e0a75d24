"""Enumerate on a CUDA device: all stays there, the host reads a few counters a batch.

A batch is a level, or what of it fits. Its products that lesser ones do not decide are
computed, hashed and put into the table together; then the new ones are numbered in order. The
rest of the graph is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from weakref import WeakMethod

import numpy as np
import numpy.typing as npt

from kernels.signals import undisturbed
from kernels.targets.cuda.device import Device

from ..contract import (
    NONE,
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    NumberArray,
    ProductCounts,
)
from ..costs import BATCH_COSTS
from ..hashing import HashKey, row_stride
from ..maps import Maps
from ..tables import check_tables
from .graph import DeviceCounters, DeviceGraph, HashTable, ProductBatch, empty_word
from .launches import GRAPH, MAX_ITEMS, TILE, Argument, at, blocks, clear, launch
from .memory import DeviceBudget
from .questions import ElementQueries
from .rows import DeviceGenerators, DeviceHashKey, RowKernels, upload
from .store import RowStore

MAX_DEGREE = 1 << 31


@dataclass
class _SlotClaim:
    """Records the slots that a batch under way has taken.

    free, fresh: of the store before. products: of the batch; the first `taken` have slots.
    dropped: whether all rows were given up meanwhile. returned: whether the list of free slots
    is changed.
    """

    free: int
    fresh: int
    products: int
    taken: int = 0
    dropped: bool = False
    returned: bool = False


class CudaEnumerator(Enumerator):
    """Keeps its arrays on the device: see DeviceGraph, RowStore and ProductBatch."""

    def __init__(
        self, device: Device, problem: EnumerationProblem, tables: CayleyTables | None
    ) -> None:
        super().__init__(problem)
        if problem.degree > MAX_DEGREE:
            raise MemoryError(f"maps of {problem.degree} points: here they have at most 2^31")
        if tables is not None:
            check_tables(problem, tables)
        dtype = problem.generators.dtype
        stride = row_stride(problem.width, dtype.itemsize)
        self._device, self._module = device, device.module(GRAPH, {})
        self._memory = memory = DeviceBudget(device, problem.memory)
        generators = DeviceGenerators(memory, problem)
        self._counters = DeviceCounters(memory)
        self._graph = graph = DeviceGraph(memory, problem.letters)
        self._table = HashTable(memory, graph, self._counters, 0 if problem.monoid else 1)
        self._batch = ProductBatch(memory)
        self._store = RowStore(memory, stride)
        self._oldest = 1  # that may have a slot
        self._claim: _SlotClaim | None = None
        empty = problem.points.astype(dtype)
        self._rows = RowKernels(memory, generators, empty, graph, self._store)
        maps = self._rows
        if not problem.whole:
            same = np.arange(problem.degree).astype(dtype)
            maps = RowKernels(memory, generators, same, graph, None)
        key = HashKey.make(stride, problem.seed, problem.hash_bits)
        self._key = DeviceHashKey(memory, key, stride)
        self._questions = ElementQueries(device, problem, self._rows, maps, self._key, self._table)
        hashes = key.hashes(empty[None])
        graph.put(empty_word(hashes))
        device.upload(graph.slots.buffer, np.full(1, NONE, np.uint32))
        # Weak, so that the memory goes with the last reference to this.
        drop_rows = WeakMethod(self._drop_rows)
        memory.spare = lambda: (drop := drop_rows()) is not None and drop()
        if tables is not None:
            if not np.array_equal(tables.hashes[:1], hashes):
                raise ValueError("hashes are not those of the rows")
            self._restore(tables)
        self.nbytes = memory.used

    def expand(self, most: int) -> None:
        """Multiply the next numbers by all generators, see Enumerator.expand()."""
        if most < 1 or self.finished:
            raise ValueError("nothing to expand")
        with undisturbed():
            self._expand_or_undo(min(most, self.waiting))

    def _expand_or_undo(self, most: int) -> None:
        before = replace(self.counts), self.size, self.expanded, self.left_known
        levels = len(self.starts)
        try:
            self._expand(most)
        except BaseException:
            self.counts, self.size, self.expanded, self.left_known = before
            del self.starts[levels:]
            self._undo()
            raise
        finally:
            self._claim = None
            self.nbytes = self._memory.used

    def array(self, name: str, start: int = 0, stop: int | None = None) -> npt.NDArray[Any]:
        """Return a copy of a part of one of the tables, see Enumerator.array()."""
        known = {"right": self.expanded, "left": self.left_known}.get(name, self.size)
        first, end, _ = slice(start, stop).indices(known)
        return self._graph.get(name, first, end)

    def maps(self, numbers: npt.NDArray[np.integer[Any]]) -> Maps:
        """Return the whole maps of numbers, see Enumerator.maps()."""
        self._check_numbers(numbers)
        return self._questions.maps(numbers)

    def positions(self, maps: Maps) -> npt.NDArray[np.int64]:
        """Return the numbers of whole maps, see Enumerator.positions()."""
        if maps.ndim != 2 or maps.shape[1] != self.problem.degree:
            raise ValueError(f"{maps.shape} are no maps of {self.problem.degree} points")
        if maps.dtype != self.problem.generators.dtype:
            raise ValueError(f"images are {maps.dtype}, not {self.problem.generators.dtype}")
        self._repair()
        return self._questions.positions(maps)

    def differ(
        self, words: NumberArray, letters: NumberArray, others: NumberArray
    ) -> tuple[int, int] | None:
        """Find where products are not what they should be, see Enumerator.differ()."""
        self._check_numbers(words)
        self._check_numbers(others)
        if letters.size and letters.max() >= self.problem.letters:
            raise IndexError(f"there is no generator {letters.max()}")
        return self._questions.differ(words, letters, others)

    def _expand(self, most: int) -> None:
        n, computed = self._plan(most)
        self._repair()
        pairs, end = n * self.problem.letters, self.expanded + n
        claim, found = self._compute(pairs, computed)
        size, others = self.size + found, computed - found
        self._batch.reserve_others(others)
        self._graph.reserve(size, self.size, end)
        if end == self.starts[-1]:
            self._graph.left.reserve(end, self.left_known)
        self._number(computed, others)
        if computed < pairs:
            self._deduce(pairs)
        if end == self.starts[-1]:
            self._multiply_left()
        self._counters.read().check()
        if others:
            claim.returned = True
            self._store.take_back(self._batch.freed, self._counters.freed)
        self._table.valid = True
        self.size, self.expanded = size, end
        if claim.taken < computed or claim.dropped:
            self.kept = size
        if end == self.starts[-1]:
            self.left_known = end
            if size > end:
                self.starts.append(size)
        row = self.problem.width * self.problem.generators.itemsize
        moved = 2 * row * (computed + (others if self.problem.compare else 0))
        self.counts += ProductCounts(computed, pairs - computed, moved)

    def _compute(self, pairs: int, computed: int) -> tuple[_SlotClaim, int]:
        """Compute products into their slots, and find how many are new."""
        graph, batch, store, table = self._graph, self._batch, self._store, self._table
        claim = self._claim = _SlotClaim(store.free, store.fresh, computed)
        reused, fresh, claim.taken = store.claim(computed)
        table.valid = False
        self._tiles(
            "semigroup_list", pairs, self.expanded, pairs, graph.letters, batch.flags, batch.sums,
            batch.products, batch.hashes, batch.slots, at(store.free_slots, store.free, 4),
            reused, fresh, claim.taken, graph.right, self._counters.buffer,
        )  # fmt: skip
        if not computed:
            return claim, 0
        self._rows.multiply(computed, batch.products, batch.slots, batch.hashes, self._key)
        self._questions.mask(computed, batch.hashes.buffer)
        self._items(
            "semigroup_insert", computed, computed, self.size, batch.hashes, graph.hashes,
            *table.arguments, batch.places,
        )  # fmt: skip
        self._tiles(
            "semigroup_owners", computed, computed, self.size, batch.places, table.buffer,
            batch.owners, batch.sums, self._counters.buffer,
        )  # fmt: skip
        return claim, self._counters.read().found

    def _number(self, computed: int, others: int) -> None:
        """Number the new products, and compare the others with what they equal."""
        graph, batch = self._graph, self._batch
        self._tiles(
            "semigroup_number", computed, computed, self.size, graph.letters, batch.sums,
            batch.products, batch.hashes, batch.slots, batch.places, batch.owners, batch.numbers,
            batch.others, graph.heads, graph.edges, graph.hashes, graph.slots, graph.right,
            self._table.buffer,
        )  # fmt: skip
        self._items(
            "semigroup_repeat", others, others, self.size, graph.letters, batch.others,
            batch.products, batch.slots, batch.owners, batch.numbers, graph.right, batch.targets,
            batch.freed, self._counters.buffer,
        )  # fmt: skip
        if self.problem.compare:
            self._rows.compare(
                others, batch.others, batch.targets, batch.products, batch.slots,
                self._counters.buffer,
            )  # fmt: skip

    def _deduce(self, pairs: int) -> None:
        graph = self._graph
        self._items(
            "semigroup_deduce", pairs, self.expanded, pairs, graph.letters, self.left_known,
            graph.heads, graph.edges, graph.left, graph.right, self._counters.buffer,
        )  # fmt: skip

    def _multiply_left(self) -> None:
        """Multiply the numbers of the level under way, all of them expanded, on the left."""
        graph = self._graph
        start, end = self.starts[-2:]
        step = max(1, MAX_ITEMS // graph.letters)
        for first in range(start, end, step):
            pairs = min(step, end - first) * graph.letters
            self._items(
                "semigroup_left", pairs, first, pairs, graph.letters, end, graph.edges, graph.left,
                graph.right, self._counters.buffer,
            )  # fmt: skip

    def _plan(self, most: int) -> tuple[int, int]:
        """Return how many numbers are expanded now, and how many of their products computed.

        Makes room for these, but not for what is new among them.
        """
        n = max(1, min(most, MAX_ITEMS // self.problem.letters))
        while True:
            try:
                computed = self._classify(n)
                fewer = self._fewer(n, computed)
                if fewer == n:
                    if self.size + computed > NONE:
                        raise MemoryError("more than 2^32 - 2 elements")
                    self._batch.reserve(computed)
                    self._table.reserve(self.size + computed)
                    return n, computed
                n = fewer
            except MemoryError:
                if n == 1:
                    raise
                n //= 2

    def _classify(self, n: int) -> int:
        """Flag the products of the next n numbers that have to be computed; return their count."""
        graph, batch = self._graph, self._batch
        pairs = n * graph.letters
        batch.reserve_pairs(pairs)
        self._tiles(
            "semigroup_classify", pairs, self.expanded, pairs, graph.letters, graph.heads,
            graph.edges, graph.right, batch.flags, batch.sums, self._counters.buffer,
        )  # fmt: skip
        return self._counters.read().computed

    def _fewer(self, n: int, computed: int) -> int:
        """Return how many of n numbers a batch has time for, and room for their products' rows.

        Older rows give up their slots for that.
        """
        depth = 1 if self.kept <= self.expanded else len(self.starts)
        work = computed * self._rows.stride * depth
        if work > BATCH_COSTS.images and n > 1:
            return max(1, n * BATCH_COSTS.images // work)
        store = self._store
        store.grow(computed)
        if store.available < computed and self._oldest < self.expanded:
            self._evict(max(computed - store.available, store.capacity // 8))
        if store.capacity // 16 < store.available < computed:
            return max(1, n * store.available // computed)
        return n

    def _evict(self, rows: int) -> None:
        """Free the slots of the oldest rows of numbers that are expanded."""
        start, store = self._oldest, self._store
        count = min(rows, self.expanded - start)
        self._oldest += count
        self.kept = max(self.kept, self._oldest)
        self._counters.reset()
        self._items(
            "semigroup_evict", count, start, count, self._graph.slots,
            at(store.free_slots, store.free, 4), self._counters.buffer,
        )  # fmt: skip
        store.free += self._counters.read().freed

    def _restore(self, tables: CayleyTables) -> None:
        """Take over tables. Raises ValueError where hashes are not those of the rows."""
        device, graph, store = self._device, self._graph, self._store
        size = len(tables.first)
        graph.reserve(size, 0, 0)
        graph.left.reserve(len(tables.left), 0)
        self._table.reserve(size)
        store.grow(size)
        self.size, self.expanded = size, len(tables.right)
        self.starts, self.left_known = list(tables.starts), len(tables.left)
        graph.put(tables)
        # The latest have slots.
        self.kept = max(0, size - store.capacity)
        slots = np.arange(-self.kept, size - self.kept)
        slots[: max(1, self.kept)] = NONE
        device.upload(graph.slots.buffer, slots.astype(np.uint32))
        store.fresh = size - self.kept
        self._oldest = max(1, self.kept)
        zeros = np.zeros((min(size, 1 << 20), 2), np.uint64)
        hashes = upload(device, zeros)
        for start, end in pairwise([*self.starts[1:], size]):
            for first in range(start, end, len(zeros)):
                count = min(len(zeros), end - first)
                device.upload(hashes, zeros)
                self._rows.multiply(
                    count, at(graph.edges, first, 8), at(graph.slots, first, 4), hashes, self._key
                )
                self._questions.mask(count, hashes)
                self._items(
                    "semigroup_equal", count, count, hashes, at(graph.hashes, first, 16),
                    self._counters.buffer,
                )  # fmt: skip
        self._table.fill(size)
        self._counters.read().check()

    def _repair(self) -> None:
        if not self._table.valid:
            self._table.fill(self.size)

    def _undo(self) -> None:
        """Give back the slots of a batch that failed."""
        self.kept = min(self.kept, self.size)
        if self._claim is None or self._claim.dropped:
            return
        if self._claim.returned:
            self._drop_rows()
        else:
            self._store.free, self._store.fresh = self._claim.free, self._claim.fresh

    def _drop_rows(self) -> bool:
        """Give up all rows where memory is short; later ones may be kept again."""
        if not self._store.capacity:
            return False
        self.kept = self._oldest = self.size
        if self._claim is not None:
            self._claim.dropped = True
            clear(self._module, self._batch.slots, self._claim.products)
        clear(self._module, self._graph.slots, self.size)
        self._store.drop()
        return True

    def _items(self, kernel: str, items: int, *args: Argument) -> None:
        launch(self._module, kernel, blocks(items), *args)

    def _tiles(self, kernel: str, items: int, *args: Argument) -> None:
        launch(self._module, kernel, blocks(items, TILE), *args)

    def _check_numbers(self, numbers: npt.NDArray[np.integer[Any]]) -> None:
        wrong = numbers[(numbers < 0) | (numbers >= self.size)]
        if wrong.size:
            raise IndexError(f"there is no number {wrong[0]}")
