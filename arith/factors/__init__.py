"""Which moduli share a prime: the audit of RSA keys by batch GCD."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import gmpy2
from gmpy2 import mpz

from . import pairs
from .coprime import without
from .findings import Finding, Kind, all_findings, places_of
from .here import Here
from .numbers import Moduli, as_mpz
from .stored import StoredModuli, save_moduli
from .trees import product, shared_parts
from .workers import Progress, Workers

if TYPE_CHECKING:
    from bulkbits.cluster import Cluster

    from .distributed import OnCluster

__all__ = ["Finding", "Kind", "StoredModuli", "save_moduli", "shared_factors"]

BACKENDS = ("auto", "cuda", "cpu")


def shared_factors(
    moduli: Moduli,
    *,
    against: str | os.PathLike[str] | StoredModuli | None = None,
    backend: str = "auto",
    device: int | Sequence[int] = 0,
    threads: int | None = None,
    cluster: Cluster | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Find which moduli share a prime with another: what is shared, and by whom.

    It tells apart equal moduli, shared primes, shared divisors that no gcd takes apart
    into primes, moduli that are prime or divide another (looked for among those that
    share something), even ones, and numbers that are no moduli. See Finding. It reports
    what is shared, and derives no keys.

    against: a set that save_moduli() has stored: the moduli are compared with each other
    and with it, in one pass over its products; it is not compared with itself.
    backend: "cpu" has trees of products and remainders, "cuda" looks at all pairs on a GPU;
    "auto" does that where there is a GPU and the moduli are not too many.
    device: which GPU; or several, among which the pairs are shared out.
    threads: of the CPU, all cores by default. cluster: whose workers do it, all on a GPU each
    or on the CPU, with as many threads as they have; ours are for what they find.
    progress: called with the share of the work done, 0 to 1, with a cluster in any thread;
    what it raises ends the work.

    Raises TypeError with the first index of what is no integer, ValueError for a stored
    set that is damaged, MemoryError where the trees need more than there is,
    BackendUnavailableError (kernels.targets.contract) where cuda, or a device, is asked for and
    cannot run.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}: one of {', '.join(BACKENDS)}")
    devices = [device] if isinstance(device, int) else list(device)
    if cluster is not None and devices != [0]:
        raise ValueError("a cluster's workers have devices of their own")
    numbers = as_mpz(moduli)
    stored = against
    if stored is not None and not isinstance(stored, StoredModuli):
        stored = StoredModuli(stored)
    places = places_of(numbers)
    distinct = [number for number in places if number > 1]
    # Whether GMP's operations release the GIL is set in a context, which is the caller's.
    with gmpy2.context(gmpy2.get_context()), Workers(threads, progress) as workers:
        way: Here | OnCluster
        if cluster is None:
            way = Here(workers, pairs.engines_for(backend, devices))
        else:
            from .distributed import OnCluster

            way = OnCluster(cluster, backend, progress)
        found = None
        if way.devices:
            found = _by_pairs(way, distinct, stored, workers, must=backend == "cuda")
        if found is None:
            found = _by_trees(way, distinct, stored)
        return all_findings(places, *found)


# Where the stored moduli are that share something with ours, by value; and for all that
# share something, what their shared primes make of them, though they be there several times.
_Found = tuple[dict[mpz, list[int]], dict[mpz, mpz]]


def _by_trees(way: Here | OnCluster, ours: list[mpz], stored: StoredModuli | None) -> _Found:
    theirs: dict[mpz, list[int]] = {}
    parts = _parts(ours, way.shared_parts(ours, stored))
    if parts and stored is not None:
        divisor = product(sorted(set(parts.values())))
        for index, number in way.stored_sharing(stored, divisor):
            theirs.setdefault(number, []).append(index)
            parts.setdefault(number, number // without(number, divisor))
    return theirs, parts


def _by_pairs(
    way: Here | OnCluster,
    ours: list[mpz],
    stored: StoredModuli | None,
    workers: Workers,
    *,
    must: bool,
) -> _Found | None:
    """Return None where trees are better, or the only way, unless pairs are asked for."""
    places = {} if stored is None else places_of(stored.numbers())
    theirs = [number for number in places if number > 1]
    if not must and not pairs.are_faster(ours, theirs, way.devices, way.threads):
        return None
    try:
        found, elsewhere = way.sharing(ours, theirs)
    except MemoryError:
        if must:
            raise
        return None
    chosen = {ours[i] for i in found} | {theirs[j] for j in elsewhere}
    numbers = sorted(chosen)
    with Workers(workers.threads) as quiet:
        parts = _parts(numbers, shared_parts(numbers, quiet))
    return {theirs[j]: places[theirs[j]] for j in elsewhere}, parts


def _parts(numbers: list[mpz], divisors: list[mpz]) -> dict[mpz, mpz]:
    return {
        number: number // without(number, divisor)
        for number, divisor in zip(numbers, divisors, strict=True)
        if divisor > 1
    }
