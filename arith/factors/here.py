"""In this process: its threads, and the devices of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gmpy2 import mpz

from arith.engines import Engine

from . import pairs, trees
from .stored import StoredModuli
from .workers import Workers


class Here:
    """The way to compute in this process. devices, threads: how many compute."""

    def __init__(self, workers: Workers, engines: Sequence[Engine]) -> None:
        self._workers, self._engines = workers, engines
        self.devices, self.threads = len(engines), workers.threads

    def sharing(self, ours: Sequence[mpz], theirs: Sequence[mpz]) -> tuple[list[int], list[int]]:
        """Return which of ours and of theirs share a factor with the other of a pair."""
        return pairs.sharing(self._engines, ours, theirs, self._workers.progress)

    def shared_parts(self, ours: Sequence[mpz], stored: StoredModuli | None) -> list[mpz]:
        """Return the gcd of each of ours with the product of the others, and of what is stored."""
        outside = partial(stored.product_modulo, workers=self._workers) if stored else None
        return trees.shared_parts(ours, self._workers, outside=outside)

    def stored_sharing(self, stored: StoredModuli, divisor: mpz) -> list[tuple[int, mpz]]:
        """Return the stored moduli that are not coprime to `divisor`, with their indices."""
        return stored.sharing(divisor, self._workers)
