"""Moduli that share a factor, by looking at all pairs on devices; for sets not too large.

A device only tells which moduli do (kernels/gcd/cuda/pairs.py). Those are few, and go through a
tree as all would on the CPU. Several devices take blocks of the pairs as they get free.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from gmpy2 import mpz

from arith import engines
from arith.integer import IntArray
from kernels.bignum.numbers import Numbers
from kernels.targets.contract import BackendUnavailableError

from .costs import COSTS, FactorCosts
from .workers import Progress

PADDING = 2  # times the mean: the longest number that all are padded to

GROUP = 32  # numbers that are looked at together (kernels/gcd/cuda/pairs.py)
BLOCKS = 16  # a device, about: so that all are busy until about the end

Indices: TypeAlias = npt.NDArray[np.int64]


def engines_for(backend: str, devices: list[int]) -> list[engines.Engine]:
    """Return the engines of the devices; "auto" can do without if only the first is asked for.

    Raises BackendUnavailableError where one cannot run, ValueError for others with "cpu".
    """
    first = devices == [0]
    if backend == "cpu":
        if not first:
            raise ValueError("devices are GPUs, which backend cpu has no use for")
        return []
    try:
        return [engines.named(f"cuda:{index}") for index in devices]
    except BackendUnavailableError:
        if backend == "cuda" or not first:
            raise
        return []


def are_faster(
    ours: Sequence[mpz],
    theirs: Sequence[mpz],
    devices: int,
    threads: int,
    costs: FactorCosts = COSTS,
) -> bool:
    """Return whether looking at all pairs, each of ours with ours and theirs, beats the trees."""
    count = len(ours) + len(theirs)
    lengths: list[int] = [number.bit_length() for number in (*ours, *theirs)]
    total, longest = sum(lengths), max(lengths, default=0)
    if longest * count > PADDING * total:
        return False
    pairs = len(ours) * (len(ours) / 2 + len(theirs))
    # What is stored needs no tree, but one pass over its product.
    work = sum(lengths[: len(ours)]) * max(len(ours).bit_length(), 1) + sum(lengths[len(ours) :])
    seconds = pairs * costs.pair * (longest / 1024) ** 2 / devices
    return seconds < work * costs.bit / threads


@dataclass(frozen=True, slots=True)
class Block:
    """Our numbers, with those of some groups: of theirs, or of our own that come before them.

    pairs: how many these are.
    """

    theirs: bool
    groups: range
    pairs: int


def blocks(ours: int, theirs: int, devices: int) -> list[Block]:
    """Return blocks of all pairs, so many numbers being ours and theirs. The largest come first."""
    counts = [(False, ours), (True, theirs if ours else 0)]
    groups = sum(-(-count // GROUP) for _, count in counts)
    size = max(1, groups if devices == 1 else -(-groups // (BLOCKS * devices)))
    found = []
    for others, count in counts:
        for start in range(0, -(-count // GROUP), size):
            stop = min(start + size, -(-count // GROUP))
            first, last = GROUP * start, min(GROUP * stop, count)
            mean = ours if others else ours - (first + last + 1) / 2  # that each is paired with
            found.append(Block(others, range(start, stop), round((last - first) * mean)))
    return sorted(found, key=lambda block: -block.pairs)


class DevicePairs:
    """The numbers on a device, for one thread at a time. Raises MemoryError."""

    def __init__(self, engine: engines.Engine, ours: Numbers, theirs: Numbers) -> None:
        """Put the numbers on a device. ours: odd."""
        from kernels.bignum.cuda.transfer import Transfer
        from kernels.gcd.cuda.pairs import Search

        device = engine.device  # type: ignore[attr-defined]
        transfer = Transfer(device)
        mine = transfer.put_slabs(ours)
        self._own = Search(device, mine)
        self._others = Search(device, mine, transfer.put_slabs(theirs))
        device.synchronize()

    def sharing(self, block: Block, told: Callable[[float], object]) -> tuple[Indices, Indices]:
        """Return which of ours and of theirs share a factor with the other of a pair.

        told: how much of the block is done.
        """
        search = self._others if block.theirs else self._own
        pairs = search.pairs(block.groups, lambda done: told(done / len(block.groups)))
        if block.theirs:
            return np.unique(pairs[:, 0]), np.unique(pairs[:, 1])
        return np.unique(pairs), np.empty(0, np.int64)


def prepared(ours: Sequence[mpz], theirs: Sequence[mpz]) -> tuple[Numbers, Numbers]:
    """Return what DevicePairs takes.

    Two even numbers share a factor without asking: ours are made odd.
    """
    odd = [number >> (number.bit_scan1(0) or 0) for number in ours]
    return IntArray(odd).numbers(), IntArray(theirs).numbers()


def together(
    found: Iterable[tuple[Indices, Indices]], ours: Sequence[mpz], theirs: Sequence[mpz]
) -> tuple[list[int], list[int]]:
    """Return what all blocks have found, and the even ones."""
    chosen = {i for i, number in enumerate(ours) if number % 2 == 0}
    elsewhere = {j for j, number in enumerate(theirs) if chosen and number % 2 == 0}
    for mine, others in found:
        chosen.update(mine.tolist())
        elsewhere.update(others.tolist())
    return sorted(chosen), sorted(elsewhere)


class _StoppedError(Exception):
    """Another thread has failed, or nobody waits any more."""


def sharing(
    devices: Sequence[engines.Engine],
    ours: Sequence[mpz],
    theirs: Sequence[mpz],
    progress: Progress | None,
) -> tuple[list[int], list[int]]:
    """Return which of our numbers share a factor with another, or with one of theirs.

    Beside their indices those of theirs that do with ours. All are distinct, and ours at
    least 2. Raises MemoryError.
    """
    todo = blocks(len(ours), len(theirs), len(devices))
    waiting, whole = deque(todo), sum(block.pairs for block in todo)
    numbers = prepared(ours, theirs)
    news: queue.SimpleQueue[tuple[Block, float] | None] = queue.SimpleQueue()
    stop = threading.Event()

    def told(block: Block, done: float) -> None:
        if stop.is_set():
            raise _StoppedError
        news.put((block, done))

    def work(engine: engines.Engine) -> list[tuple[Indices, Indices]]:
        """Take blocks in a thread of its own, which ends with None among the news."""
        found = []
        try:
            pairs = DevicePairs(engine, *numbers)
            with suppress(IndexError, _StoppedError):
                while True:
                    block = waiting.popleft()
                    found.append(pairs.sharing(block, partial(told, block)))
        except BaseException:
            stop.set()
            raise
        finally:
            news.put(None)
        return found

    with ThreadPoolExecutor(len(devices)) as pool:
        futures = [pool.submit(work, engine) for engine in devices]
        try:
            done, working = dict.fromkeys(todo, 0.0), len(devices)
            while working:
                new = news.get()
                if new is None:
                    working -= 1
                elif progress is not None and whole:
                    done[new[0]] = new[0].pairs * new[1]
                    progress(sum(done.values()) / whole)
        finally:
            stop.set()
    return together((each for future in futures for each in future.result()), ours, theirs)
