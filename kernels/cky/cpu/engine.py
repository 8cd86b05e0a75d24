"""CKY parsing by the compiled extension, a bit of a vector register for each string."""

from __future__ import annotations

import importlib
import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from kernels.targets.memory import available_memory

from ..batch import Batch, ChartGroup, Indices, Mask
from ..contract import Cky, Lengths
from ..dispatch import Progress
from ..plan import groups
from ..rules import Rules, cells
from .plan import HostPlan, host_plan

_LONGEST = 1 << 20  # strings longer than this would take centuries


@dataclass(frozen=True, eq=False)
class GroupRun:
    """Groups that are parsed with the same number of threads.

    Group g is order[bounds[g] : bounds[g + 1]], in order of length; narrow, int64, says
    which have 32 strings to a word at most.
    """

    order: Indices
    bounds: Indices
    narrow: Indices
    threads: int

    def __len__(self) -> int:
        return self.narrow.size

    def part(self, first: int, end: int) -> tuple[Indices, Indices, Indices]:
        """Return order, bounds and narrow of groups first .. end - 1."""
        return self.order, self.bounds[first : end + 1], self.narrow[first:end]


class CpuCky(Cky):
    """Parses on the threads of a CpuTarget, each as many strings at a time as a register has
    bits."""

    name = "cpu"

    def __init__(
        self, backend: CpuTarget, rules: Rules, memory: int, plan: HostPlan | None = None
    ) -> None:
        self.rules, self.memory, self._backend = rules, memory, backend
        self.plan = host_plan(rules) if plan is None else plan
        extension: Any = importlib.import_module("kernels._cpu")
        self._parser = extension.CkyParser(backend.level, self.plan)
        self.at_once = 32 * self._parser.lanes(False) * backend.threads

    @classmethod
    def of(cls, backend: Target, rules: Rules, memory: int | None = None) -> CpuCky:
        """Return the engine of a target. memory: bytes; by default half of what can be taken.

        Raises TypeError for a target that is not the CPU.
        """
        if not isinstance(backend, CpuTarget):
            raise TypeError(f"the backend {backend.name} is not the CPU's")
        return cls(backend, rules, available_memory() // 2 if memory is None else memory)

    def accept(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Mask:
        """See Cky.accept()."""
        accepted = np.zeros(len(batch), np.bool_)
        self._recognise(batch, symbol, progress, None, accepted)
        return accepted

    def longest(self, batch: Batch, symbol: int, progress: Progress | None = None) -> Lengths:
        """See Cky.longest()."""
        longest = np.zeros(len(batch), np.int32)
        self._recognise(batch, symbol, progress, longest, None)
        return longest

    def _recognise(
        self,
        batch: Batch,
        symbol: int,
        progress: Progress | None,
        longest: Lengths | None,
        accepted: Mask | None,
    ) -> None:
        self.check(batch, symbol)
        done = len(batch) - int(np.count_nonzero(batch.lengths))
        new = int(self.plan.renumbering.new[symbol])
        for run in self.runs(batch, 0):
            # The longest first, so that threads end at about the same time.
            end = len(run)
            step = end if progress is None else max(8 * run.threads, end // 64)
            while end:
                first = max(end - step, 0)
                order, bounds, narrow = run.part(first, end)
                self._parser.recognise(
                    batch.terminals, batch.offsets, order, bounds, narrow, new, longest, accepted,
                    run.threads,
                )  # fmt: skip
                done += int(bounds[-1] - bounds[0])
                end = first
                if progress is not None:
                    progress(done)
        if progress is not None:
            progress(done)

    def charts(self, batch: Batch) -> Iterator[ChartGroup]:
        """See Cky.charts()."""
        self.check_lengths(batch)
        for run in self.runs(batch, 1):
            for first in range(0, len(run), run.threads):
                order, bounds, narrow = run.part(first, min(first + run.threads, len(run)))
                indices = [order[a:b] for a, b in pairwise(bounds)]
                lengths = [batch.lengths[some] for some in indices]
                words = [
                    np.empty(self._shape(int(some[-1]), bool(small)), np.uint32)
                    for some, small in zip(lengths, narrow, strict=True)
                ]
                self._parser.charts(batch.terminals, batch.offsets, order, bounds, narrow, words)
                # Let go of one after the other.
                for some, own in zip(indices, lengths, strict=True):
                    yield ChartGroup(some, own, words.pop(0))

    @property
    def max_length(self) -> int:
        """Tokens of the longest string whose chart fits in memory."""
        return self._limits[-1][-1][2]

    def _shape(self, length: int, narrow: bool) -> tuple[int, int, int]:
        return cells(length), self.rules.symbols, self._parser.lanes(narrow)

    @cached_property
    def _limits(self) -> tuple[list[tuple[bool, int, int]], list[tuple[bool, int, int]]]:
        """Ways to recognise, and ways to make charts, the fastest first.

        Each says whether there are 32 strings to a word, on how many threads, up to which length.
        """
        threads = [self._backend.threads]
        while threads[-1] > 1:
            threads.append(threads[-1] // 2)
        ways = [(narrow, n) for narrow in (False, True) for n in threads]
        recognise = [(narrow, n, self._limit(narrow, n, 0)) for narrow, n in ways]
        charts = [(narrow, n, self._limit(narrow, n, 1)) for narrow, n in ways]
        return recognise, charts

    def _limit(self, narrow: bool, threads: int, copies: int) -> int:
        """Return the greatest length for which threads have their scratch, and copies of charts."""
        lanes, wide = self._parser.lanes(narrow), self.plan.renumbering.wide

        def fits(length: int) -> bool:
            # First without what could be more than 64 bits can say.
            if 4 * lanes * threads * wide * cells(length - 1) > self.memory:
                return False
            taken = self._parser.scratch_bytes(narrow, length)
            taken += copies * 4 * math.prod(self._shape(length, narrow))
            return bool(threads * taken <= self.memory)

        return bisect_left(range(1, _LONGEST + 1), True, key=lambda length: not fits(length))

    def runs(self, batch: Batch, copies: int) -> Iterator[GroupRun]:
        """Yield runs of all strings that are not empty, those that few threads have room for last.

        copies: of each chart, beside the one that is computed.
        """
        lengths, below = batch.lengths, 0
        for narrow, threads, limit in self._limits[copies]:
            if limit <= below:
                continue
            inside = (lengths > below) & (lengths <= limit)
            below, some = limit, None
            if not inside.all():
                some = np.flatnonzero(inside)
                if not some.size:
                    continue
            strings = 32 * self._parser.lanes(narrow)
            dealt = groups(lengths if some is None else lengths[some], strings)
            order = dealt.order if some is None else some[dealt.order]
            words: npt.NDArray[np.int64] = (np.diff(dealt.bounds) <= 32).astype(np.int64)
            yield GroupRun(order, dealt.bounds, words | narrow, threads)
