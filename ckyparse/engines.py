"""Which engine computes a batch: made on first use, and kept."""

from __future__ import annotations

from functools import cached_property

from kernels.backend import Backend, BackendUnavailableError
from kernels.choose import pick
from kernels.cky import Batch, Cky, Rules, engine_for
from kernels.cky.weighted import WeightedCky, weighted_for

_STRINGS = 512
_STEPS = 1 << 27  # pairs of spans times rules, for all strings of a batch at once: some 0.1 s


class Engines:
    """The engines of one parser, for its grammar and others made from it.

    backend, device, threads, memory: as CKYParser takes them. "auto" leaves to the CPU what
    it has done before a GPU would have begun.
    """

    def __init__(self, backend: str, device: int, threads: int | None, memory: int | None) -> None:
        self._name, self._device, self._threads = backend, device, threads
        self._memory = memory
        # Rules are equal to themselves only.
        self._plain: dict[tuple[Rules, str], Cky] = {}
        self._weighted: dict[tuple[Rules, str], WeightedCky] = {}

    def plain(self, rules: Rules, batch: Batch) -> Cky:
        """Raises BackendUnavailableError, as weighted() does."""
        backend = self._backend_for(rules, batch)
        key = rules, backend.name
        if key not in self._plain:
            self._plain[key] = engine_for(backend, rules, self._memory)
        return self._plain[key]

    def weighted(self, rules: Rules, batch: Batch) -> WeightedCky:
        backend = self._backend_for(rules, batch)
        key = rules, backend.name
        if key not in self._weighted:
            self._weighted[key] = weighted_for(backend, rules, self._memory)
        return self._weighted[key]

    def _backend_for(self, rules: Rules, batch: Batch) -> Backend:
        if self._name == "auto" and is_small(rules, batch) and self._host is not None:
            return self._host
        return self._chosen

    @cached_property
    def _chosen(self) -> Backend:
        return pick(self._name, device=self._device, threads=self._threads)

    @cached_property
    def _host(self) -> Backend | None:
        """The compiled CPU backend, where it is."""
        try:
            return pick("cpu", threads=self._threads)
        except BackendUnavailableError:
            return None


def is_small(rules: Rules, batch: Batch) -> bool:
    """A CPU parses the batch in less time than it takes to start work on a GPU."""
    longest = int(batch.lengths.max(initial=0))
    return len(batch) <= _STRINGS and longest**3 // 6 * len(rules.binary) <= _STEPS
