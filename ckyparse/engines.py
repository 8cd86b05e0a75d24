"""Which engine computes a batch: made on first use, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend, BackendUnavailableError
from kernels.choose import pick
from kernels.cky import Batch, Cky, Rules, engine_for
from kernels.cky.weighted import WeightedCky, weighted_for
from kernels.cpu import core_count

# Seconds, near those seen on 16 cores with AVX-512 and on an H200 (benchmarks/RESULTS.md).
_START = 0.3  # until a GPU has begun: its context, kernels from the cache
_LAUNCH = 1e-3  # for anything on a GPU, with weights
_CELL = 3e-6  # of a cell in a block of the GPU, whose threads wait for each other
_COPY = 20e-9  # of a string on its way to the GPU
_PAIR_HOST, _PAIR_DEVICE = 0.5e-9, 0.35e-9  # of a pair of symbols at a split point
_CLEAR = 12e-9  # of a symbol of a cell, on a core
_SPLIT, _RULE = 5e-9, 0.14e-9  # of a split point and each rule there, with weights, on a core
_CORES = 100  # as quick as a GPU, with weights
_STRINGS = 512  # that a core parses at once; _NARROW of them it does in a quarter of the time
_NARROW = 32
_SAMPLE = 4096  # strings that are looked at, and the longest

_Floats = npt.NDArray[np.float64]


class Cost(NamedTuple):
    """Seconds for a batch on the CPU, and on a GPU that has begun."""

    host: float
    device: float


class Engines:
    """The engines of one parser, for its grammar and others made from it.

    backend, device, threads, memory: as CKYParser takes them. "auto" leaves to the CPU what
    it does as quickly; and all, until a GPU would have saved as much time as its start takes.
    Several devices get everything.
    """

    def __init__(
        self,
        backend: str | Backend,
        device: int | Sequence[int],
        threads: int | None,
        memory: int | None,
    ) -> None:
        self._asked, self._device, self._threads = backend, device, threads
        self._memory = memory
        self._lost = 0.0  # seconds that a GPU would have saved
        # Rules are equal to themselves only.
        self._plain: dict[tuple[Rules, str], Cky] = {}
        self._weighted: dict[tuple[Rules, str], WeightedCky] = {}

    def plain(self, rules: Rules, batch: Batch) -> Cky:
        """Raises BackendUnavailableError, as weighted() does."""
        backend = self._backend_for(plain_cost, rules, batch)
        key = rules, backend.name
        if key not in self._plain:
            self._plain[key] = engine_for(backend, rules, self._memory)
        return self._plain[key]

    def weighted(self, rules: Rules, batch: Batch) -> WeightedCky:
        backend = self._backend_for(weighted_cost, rules, batch)
        key = rules, backend.name
        if key not in self._weighted:
            self._weighted[key] = weighted_for(backend, rules, self._memory)
        return self._weighted[key]

    def _backend_for(
        self, cost: Callable[[Rules, Batch, int], Cost], rules: Rules, batch: Batch
    ) -> Backend:
        several = not isinstance(self._device, int)
        if self._asked != "auto" or several or self._host is None:
            return self._chosen
        host, device = cost(rules, batch, self._threads or core_count())
        self._lost += max(0.0, host - device)
        return self._chosen if host > device and self._lost > _START else self._host

    @cached_property
    def _chosen(self) -> Backend:
        if isinstance(self._asked, Backend):
            return self._asked
        return pick(self._asked, device=self._device, threads=self._threads)

    @cached_property
    def _host(self) -> Backend | None:
        """The compiled CPU backend, where it is."""
        try:
            return pick("cpu", threads=self._threads)
        except BackendUnavailableError:
            return None


def plain_cost(rules: Rules, batch: Batch, threads: int) -> Cost:
    """Of acceptance or charts. threads: of the CPU."""
    pairs = min(len(rules.binary), rules.symbols**2)
    longest, whole = _sizes(batch)
    point = np.array([_CLEAR * rules.symbols, _PAIR_HOST * pairs])
    if len(batch) <= _NARROW:
        point /= 4
    return Cost(
        max(float(longest @ point), float(whole @ point) / (_STRINGS * threads)),
        float(longest @ [_CELL, _PAIR_DEVICE * pairs]) + _COPY * len(batch),
    )


def weighted_cost(rules: Rules, batch: Batch, threads: int) -> Cost:
    """Of weights of one kind, or a prime."""
    point = _SPLIT + _RULE * len(rules.binary)
    longest, whole = (point * float(size[1]) for size in _sizes(batch))
    return Cost(max(longest, whole / threads), _LAUNCH + max(longest / 2, whole / _CORES))


def _sizes(batch: Batch) -> tuple[_Floats, _Floats]:
    """Cells and split points of the chart of the longest string, and of all together."""
    lengths = batch.lengths
    some = lengths[:: len(batch) // _SAMPLE + 1]
    n = np.append(some, lengths.max(initial=0)).astype(np.float64)
    cells = n * (n + 1) / 2
    both = np.stack((cells, cells * (n - 1) / 3))
    return both[:, -1], both[:, :-1].sum(axis=1) * (len(batch) / max(1, some.size))
