"""Moduli that share a factor, by looking at all pairs on a device; for sets not too large.

The device only tells which moduli do (kernels/gcd/pairs.py). Those are few, and go
through a tree as all would on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence

from gmpy2 import mpz

from arith import engines
from kernels.backend import BackendUnavailableError

from .workers import Progress

# Seconds of a pair of 1024 bits on an H200 (benchmarks/gcd_device.py), and of a bit on a
# level of the trees on one core of a Xeon (benchmarks/factors.py). Pairs grow with the
# square of the length, trees hardly faster than it.
PAIR_SECONDS = 0.35e-9
TREE_SECONDS = 1.0e-8
PADDING = 2  # times the mean: the longest number that all are padded to


def engine_for(backend: str) -> engines.Engine | None:
    """Raises BackendUnavailableError where cuda is asked for and cannot run."""
    if backend == "cuda":
        return engines.named("cuda")
    try:
        return engines.named("cuda") if backend == "auto" else None
    except BackendUnavailableError:
        return None


def are_faster(ours: Sequence[mpz], theirs: Sequence[mpz], threads: int) -> bool:
    """Whether looking at all pairs, each of ours with ours and theirs, beats the trees."""
    count = len(ours) + len(theirs)
    lengths: list[int] = [number.bit_length() for number in (*ours, *theirs)]
    total, longest = sum(lengths), max(lengths, default=0)
    if longest * count > PADDING * total:
        return False
    pairs = len(ours) * (len(ours) / 2 + len(theirs))
    # What is stored needs no tree, but one pass over its product.
    work = sum(lengths[: len(ours)]) * max(len(ours).bit_length(), 1) + sum(lengths[len(ours) :])
    return pairs * PAIR_SECONDS * (longest / 1024) ** 2 < work * TREE_SECONDS / threads


def sharing(
    engine: engines.Engine,
    ours: Sequence[mpz],
    theirs: Sequence[mpz],
    progress: Progress | None,
) -> tuple[list[int], list[int]]:
    """Indices of our numbers that share a factor with another or with one of theirs, and of
    theirs that do with ours. All are distinct, and ours at least 2."""
    from arith.integer import IntArray
    from kernels.bignum.transfer import Transfer
    from kernels.gcd.pairs import shared_pairs

    device = engine.device  # type: ignore[attr-defined]
    transfer = Transfer(device)
    # The device wants moduli odd. Two even ones share a factor without asking.
    odd = [number >> (number.bit_scan1(0) or 0) for number in ours]
    even = [i for i, number in enumerate(ours) if number % 2 == 0]
    mine = transfer.put_slabs(IntArray(odd).numbers())
    share = len(ours) / max(1, len(ours) + 2 * len(theirs))

    def first(done: int, groups: int) -> None:
        if progress is not None:
            progress(share * done / groups)

    def second(done: int, groups: int) -> None:
        if progress is not None:
            progress(share + (1 - share) * done / groups)

    found = {int(index) for pair in shared_pairs(device, mine, progress=first) for index in pair}
    found.update(even)
    elsewhere: set[int] = set()
    if theirs:
        others = transfer.put_slabs(IntArray(theirs).numbers())
        for i, j in shared_pairs(device, mine, others, progress=second).tolist():
            found.add(i)
            elsewhere.add(j)
        if even:
            elsewhere.update(j for j, number in enumerate(theirs) if number % 2 == 0)
    return sorted(found), sorted(elsewhere)
