"""Choose which engine computes a batch, make it on first use, and keep it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.cky import Batch, Cky, Rules, engine_for
from kernels.cky.weighted import WeightedCky, weighted_for
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.costs import START_COSTS
from kernels.targets.cpu import core_count
from kernels.targets.cuda.early import THREAD

from .costs import CORE_COSTS, GPU_COSTS, CoreCosts, GpuCosts

_NARROW = 32  # strings of a narrow word
_SAMPLE = 4096  # strings that are looked at, and the longest

_Floats = npt.NDArray[np.float64]


class Cost(NamedTuple):
    """Seconds for a batch on the CPU, and on a GPU that has begun."""

    host: float
    device: float


class BackgroundStart:
    """Starts a GPU in a thread, once that pays. Calls come from one thread at a time.

    make: makes the target.
    """

    def __init__(self, make: Callable[[], Target]) -> None:
        self._make = make
        self._lost = 0.0  # seconds that it would have saved
        self.made: Future[Target] | None = None  # once it has begun

    def instead(self, host: float, device: float) -> Target | None:
        """Return the target where a batch is done sooner with it, waiting until it is there if
        that takes less time than the CPU; None where the CPU is to do it.

        host, device: seconds that the CPU takes, and the target once it is there.
        """
        if device >= host:
            return None
        if self.made is None:
            self._lost += host - device
            if self._lost <= START_COSTS.seconds:
                return None
            self.made = Future()
            threading.Thread(target=self._start, args=(self.made,), name=f"{THREAD}-pick").start()
        if not self.made.done() and host <= device + START_COSTS.seconds:
            return None
        return self.made.result()

    def _start(self, made: Future[Target]) -> None:
        try:
            made.set_result(self._make())
        except BaseException as error:
            made.set_exception(error)


class ParserEngines:
    """The engines of one parser, for its grammar and others made from it.

    backend, device, threads, memory: as CKYParser takes them. "auto" leaves to the CPU what
    it does as quickly; and all, until a GPU would have saved as much time as its start takes.
    Then that begins in the background, and the CPU goes on unless it would take longer.
    """

    def __init__(
        self,
        backend: str | Target,
        device: int | Sequence[int],
        threads: int | None,
        memory: int | None,
    ) -> None:
        self._asked, self._device, self._threads = backend, device, threads
        self._memory = memory
        self._lock = threading.Lock()  # of those that are made, and of the choice
        self._gpu = BackgroundStart(self._pick)
        # Rules are equal to themselves only.
        self._plain: dict[tuple[Rules, str], Cky] = {}
        self._weighted: dict[tuple[Rules, str], WeightedCky] = {}

    def plain(self, rules: Rules, batch: Batch) -> Cky:
        """Return an engine for acceptance and charts. Raises BackendUnavailableError."""
        with self._lock:
            backend = self._backend_for(plain_cost, rules, batch)
            key = rules, backend.name
            if key not in self._plain:
                self._plain[key] = engine_for(backend, rules, self._memory)
            return self._plain[key]

    def weighted(self, rules: Rules, batch: Batch) -> WeightedCky:
        """Return an engine for weights. Raises BackendUnavailableError."""
        with self._lock:
            backend = self._backend_for(weighted_cost, rules, batch)
            key = rules, backend.name
            if key not in self._weighted:
                self._weighted[key] = weighted_for(backend, rules, self._memory)
            return self._weighted[key]

    def _backend_for(
        self, cost: Callable[[Rules, Batch, int], Cost], rules: Rules, batch: Batch
    ) -> Target:
        if self._asked != "auto" or self._host is None:
            return self._chosen
        host, device = cost(rules, batch, self._threads or core_count())
        return self._gpu.instead(host, device) or self._host

    def _pick(self) -> Target:
        if isinstance(self._asked, Target):
            return self._asked
        return pick(self._asked, device=self._device, threads=self._threads)

    @cached_property
    def _chosen(self) -> Target:
        return self._pick()

    @cached_property
    def _host(self) -> Target | None:
        """The compiled CPU backend, where it is."""
        try:
            return pick("cpu", threads=self._threads)
        except BackendUnavailableError:
            return None


def plain_cost(
    rules: Rules,
    batch: Batch,
    threads: int,
    core: CoreCosts = CORE_COSTS,
    gpu: GpuCosts = GPU_COSTS,
) -> Cost:
    """Return the cost of acceptance or charts. threads: of the CPU."""
    pairs = min(len(rules.binary), rules.symbols**2)
    longest, whole = _sizes(batch)
    point = np.array([core.clear * rules.symbols, core.pair * pairs])
    if len(batch) <= _NARROW:
        point *= core.narrow
    return Cost(
        max(float(longest @ point), float(whole @ point) / (core.strings * threads)),
        float(longest @ [gpu.cell, gpu.pair * pairs]) + gpu.copy * len(batch),
    )


def weighted_cost(
    rules: Rules,
    batch: Batch,
    threads: int,
    core: CoreCosts = CORE_COSTS,
    gpu: GpuCosts = GPU_COSTS,
) -> Cost:
    """Return the cost of weights of one kind, or a prime."""
    point = core.split + core.rule * len(rules.binary)
    longest, whole = (point * float(size[1]) for size in _sizes(batch))
    return Cost(max(longest, whole / threads), gpu.launch + max(longest / 2, whole / gpu.cores))


def _sizes(batch: Batch) -> tuple[_Floats, _Floats]:
    """Cells and split points of the chart of the longest string, and of all together."""
    lengths = batch.lengths
    some = lengths[:: len(batch) // _SAMPLE + 1]
    n = np.append(some, lengths.max(initial=0)).astype(np.float64)
    cells = n * (n + 1) / 2
    both = np.stack((cells, cells * (n - 1) / 3))
    return both[:, -1], both[:, :-1].sum(axis=1) * (len(batch) / max(1, some.size))
