"""Costs of enumerating, found on one machine; no benchmark measures them anew."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchCosts:
    """Costs of batches on a GPU. images: bytes of them that are made in a batch: more would keep
    Ctrl-C waiting."""

    images: int


BATCH_COSTS = BatchCosts(images=1 << 37)  # of an H200
