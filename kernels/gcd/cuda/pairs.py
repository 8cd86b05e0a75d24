"""Which pairs of numbers have a common factor: all of them are looked at, on a device.

The product of a group of 32 numbers is made once; its residue modulo a number n takes about
as long as a few GCDs, and one GCD of the residue and n then tells whether n shares a factor
with any of the group. Only groups of which that is so are looked at pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.bignum.cuda.layouts import SLAB, Slabs
from kernels.gcd.plan import RESIDUE_THREADS, ResidueShape, gcd_launch, residue_shape
from kernels.targets.cuda.device import Buffer, Device

from . import gcd as gcd_device

SOURCE = Path(__file__).with_name("pairs.cu")
SLICE = 1 << 20  # residues, or tasks of 32 pairs each, in a launch; fewer of longer numbers
SLICE_WORDS = 32  # that fewer begins above
ROOM = 1 << 16  # pairs or tasks listed, at first

Pairs = npt.NDArray[np.int64]
Progress = Callable[[int, int], object]


def shared_pairs(
    device: Device,
    moduli: Slabs,
    others: Slabs | None = None,
    *,
    progress: Progress | None = None,
) -> Pairs:
    """Indices (k, 2) of all pairs whose GCD is above 1, in ascending order.

    As Search has them. progress(done, all) is told of the groups that are done, between
    launches of well below a second each.
    """
    search = Search(device, moduli, others)
    groups = search.groups

    def told(done: int) -> None:
        if progress:
            progress(done, groups)

    return in_order([search.pairs(range(groups), told)])


def in_order(found: Sequence[Pairs]) -> Pairs:
    """Return the pairs of all searches in ascending order."""
    pairs = np.concatenate([_no_pairs(), *found])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _no_pairs() -> Pairs:
    return np.empty((0, 2), np.int64)


def _no_tasks() -> npt.NDArray[np.uint64]:
    return np.empty(0, np.uint64)


class Search:
    """A search for pairs (i, j), i < j, of the moduli; or i of the moduli and j of the others.

    The moduli are odd; the others may be anything; signs count for nothing. groups: of 32
    of the others each. What several searches find for groups of their own is all that there
    is, on as many devices. Raises ValueError where a modulus is even, and MemoryError.
    """

    def __init__(self, device: Device, moduli: Slabs, others: Slabs | None = None) -> None:
        self.device, self.moduli, self.others = device, moduli, others or moduli
        self._triangle = others is None
        self.groups = self.others.slabs if moduli.count else 0
        self._shape = residue_shape(max(moduli.bits, self.others.bits))
        # Time grows as the square of the length: of tasks most of it, of residues not much.
        words = max(moduli.width, self.others.width, SLICE_WORDS)
        self._tasks = max(1, SLICE * SLICE_WORDS**2 // words**2)
        step = max(1, SLICE * SLICE_WORDS // words // (SLAB * max(1, moduli.slabs)))
        self._step = min(step, 65535)  # blocks in y
        self._room = ROOM
        self._room_for = 0  # groups
        self._products = self._columns = self._residues = device.alloc(0)
        self._check_odd()

    def pairs(self, groups: range, told: Callable[[int], object]) -> Pairs:
        """Return pairs of these groups, unordered. told(): how many are done, between launches."""
        tasks = _no_tasks()
        if self._triangle:
            # Pairs within a slab have no group.
            last = min(SLAB * groups.stop, self.moduli.count)
            i = np.arange(SLAB * groups.start, last, dtype=np.uint64)
            tasks = i << np.uint64(32) | i // np.uint64(SLAB)
        found = [self._pairs(tasks)]
        for first in range(groups.start, groups.stop, self._step):
            told(first - groups.start)
            many = min(self._step, groups.stop - first)
            found.append(self._pairs(self._hits(first, many)))
        told(len(groups))
        pairs = np.concatenate(found)
        columns = np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], axis=1)
        if self._triangle:
            columns = columns[:, ::-1]
        return columns.astype(np.int64)

    def _check_odd(self) -> None:
        device, moduli = self.device, self.moduli
        if not moduli.count:
            return
        even = device.alloc(8)
        first = np.full(1, moduli.count, np.uint64)
        device.upload(even, first)
        module = device.module(SOURCE, (self._shape or ResidueShape(28, 2, 1)).defines)
        args = (moduli.words, np.uint32(moduli.width), np.uint64(moduli.count), even)
        grid = (-(-moduli.count // RESIDUE_THREADS), 1, 1)
        module.launch("pairs_first_even", grid, (RESIDUE_THREADS, 1, 1), *args)
        device.download(first, even)
        if first[0] < moduli.count:
            raise ValueError(f"modulus {int(first[0])} is even")

    def _hits(self, first: int, many: int) -> npt.NDArray[np.uint64]:
        """Tasks: moduli and groups, of `many` from the first on, that share a factor; or
        that may, where numbers are too long for products."""
        device, moduli, others, shape = self.device, self.moduli, self.others, self._shape
        if shape is None:
            return self._all_of(first, many)
        slabs = many * moduli.slabs
        if self._room_for < many:
            self._room_for = many
            length = SLAB * shape.rows * many
            self._products, self._columns = device.alloc(4 * length), device.alloc(8 * length)
            self._residues = device.alloc(4 * SLAB * moduli.width * slabs)
        module = device.module(SOURCE, shape.defines)
        args: list[Any] = [*_sized(others), np.uint64(first), self._products, self._columns]
        module.launch("pairs_products", (many, 1, 1), (shape.product_threads, 1, 1), *args)
        args = [*_sized(moduli), self._products, np.uint64(first), np.uint32(self._triangle)]
        args += [self._residues, np.uint32(moduli.width)]
        grid = (-(-moduli.slabs * SLAB // shape.numbers), many, 1)
        module.launch("pairs_residues", grid, (RESIDUE_THREADS, 1, 1), *args, shared=shape.shared)
        residues = Slabs(self._residues, SLAB * slabs, moduli.bits)
        return self._find(residues, None, first, slabs)

    def _all_of(self, first: int, many: int) -> npt.NDArray[np.uint64]:
        """Tasks: all moduli and groups, of `many` from the first on."""
        i = np.arange(self.moduli.count, dtype=np.uint64)
        k = np.arange(first, first + many, dtype=np.uint64)
        tasks = (i << np.uint64(32) | k[:, None]).reshape(-1)
        if self._triangle:
            tasks = tasks[tasks >> np.uint64(37) > tasks & np.uint64(0xFFFFFFFF)]
        return tasks

    def _pairs(self, tasks: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Return i << 32 | j of the pairs, of modulus i and group k each, that share a factor."""
        found = [_no_tasks()]
        for at in range(0, len(tasks), self._tasks):
            piece = np.ascontiguousarray(tasks[at : at + self._tasks])
            listed = self.device.alloc(piece.nbytes)
            self.device.upload(listed, piece)
            found.append(self._find(self.others, listed, 0, len(piece)))
        return np.concatenate(found)

    def _find(
        self, a: Slabs, tasks: Buffer | None, first: int, work: int
    ) -> npt.NDArray[np.uint64]:
        """Return what gcd_find lists (see gcd.cu)."""
        device, moduli = self.device, self.moduli
        params = gcd_launch(max(a.width, moduli.width), SLAB * work, device.info)
        module = device.module(gcd_device.SOURCE, {**params.defines, "FIND": 1})
        counter = device.alloc(8)
        scratch = device.alloc(params.scratch) if params.scratch else counter
        while True:
            count = np.zeros(1, np.uint64)
            device.upload(counter, count)
            pairs = device.alloc(8 * self._room)
            args: list[Any] = [*_sized(a), *_sized(moduli), tasks or counter]
            args += [np.uint32(tasks is not None), np.uint64(first), np.uint32(self._triangle)]
            args += [np.uint64(work), pairs, counter, np.uint64(self._room), scratch]
            args += [np.int32(params.limbs)]
            module.launch("gcd_find", params.grid, params.block, *args, shared=params.shared)
            device.download(count, counter)
            if count[0] <= self._room:
                found = np.empty(int(count[0]), np.uint64)
                device.download(found, pairs)
                return found
            self._room = int(count[0])


def _sized(a: Slabs) -> tuple[Buffer, np.uint32, np.uint64]:
    return a.words, np.uint32(a.width), np.uint64(a.count)
