"""Which moduli share a prime: the audit of RSA keys by batch GCD."""

from __future__ import annotations

import os

import gmpy2
from gmpy2 import mpz

from arith.engines import Engine

from . import pairs
from .coprime import without
from .findings import Finding, Kind, all_findings, places_of
from .numbers import Moduli, as_mpz
from .stored import StoredModuli, save_moduli
from .trees import product, shared_parts
from .workers import Progress, Workers

__all__ = ["Finding", "Kind", "StoredModuli", "save_moduli", "shared_factors"]

BACKENDS = ("auto", "cuda", "cpu")


def shared_factors(
    moduli: Moduli,
    *,
    against: str | os.PathLike[str] | StoredModuli | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Which moduli share a prime with another: what is shared, and by whom.

    It tells apart equal moduli, shared primes, shared divisors that no gcd takes apart
    into primes, moduli that are prime or divide another (looked for among those that
    share something), even ones, and numbers that are no moduli. See Finding. It reports
    what is shared, and derives no keys.

    against: a set that save_moduli() has stored: the moduli are compared with each other
    and with it, in one pass over its products; it is not compared with itself.
    backend: "cpu" has trees of products and remainders, "cuda" looks at all pairs on a GPU;
    "auto" does that where there is a GPU and the moduli are not too many.
    threads: of the CPU, all cores by default. progress: called with the share of the
    work done, 0 to 1; what it raises ends the work.

    Raises TypeError with the first index of what is no integer, ValueError for a stored
    set that is damaged, MemoryError where the trees need more than there is,
    kernels.backend.BackendUnavailableError where cuda is asked for and cannot run.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}: one of {', '.join(BACKENDS)}")
    numbers = as_mpz(moduli)
    stored = against
    if stored is not None and not isinstance(stored, StoredModuli):
        stored = StoredModuli(stored)
    places = places_of(numbers)
    distinct = [number for number in places if number > 1]
    # Whether GMP's operations release the GIL is set in a context, which is the caller's.
    with gmpy2.context(gmpy2.get_context()), Workers(threads, progress) as workers:
        found = None
        engine = pairs.engine_for(backend)
        if engine is not None:
            found = _by_pairs(engine, distinct, stored, workers, must=backend == "cuda")
        if found is None:
            found = _by_trees(distinct, stored, workers)
        return all_findings(places, *found)


# Where the stored moduli are that share something with ours, by value; and for all that
# share something, what their shared primes make of them, though they be there several times.
_Found = tuple[dict[mpz, list[int]], dict[mpz, mpz]]


def _by_trees(ours: list[mpz], stored: StoredModuli | None, workers: Workers) -> _Found:
    theirs: dict[mpz, list[int]] = {}
    if stored is None:
        return theirs, _parts(ours, shared_parts(ours, workers))
    known = stored
    parts = _parts(
        ours,
        shared_parts(ours, workers, outside=lambda modulus: known.product_modulo(modulus, workers)),
    )
    if parts:
        divisor = product(sorted(set(parts.values())))
        for index, number in stored.sharing(divisor, workers):
            theirs.setdefault(number, []).append(index)
            parts.setdefault(number, number // without(number, divisor))
    return theirs, parts


def _by_pairs(
    engine: Engine,
    ours: list[mpz],
    stored: StoredModuli | None,
    workers: Workers,
    *,
    must: bool,
) -> _Found | None:
    """None where trees are better, or the only way, unless it must be."""
    places = {} if stored is None else places_of(as_mpz(stored.moduli()))
    theirs = [number for number in places if number > 1]
    if not must and not pairs.are_faster(ours, theirs, workers.threads):
        return None
    try:
        found, elsewhere = pairs.sharing(engine, ours, theirs, workers.progress)
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
