"""Measure what shared factors cost, and sharing work out to threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import log2
from statistics import median

import numpy as np
from gmpy2 import mpz

from arith.factors.costs import COSTS
from arith.factors.trees import shared_parts
from arith.factors.workers import Workers
from benchmarks.costs.fit import Found, best, found
from benchmarks.costs.gpu_numbers import pair
from benchmarks.costs.place import Place
from benchmarks.factors import random_moduli
from kernels.bignum.costs import LongCosts
from kernels.cells.costs import BAND_COSTS
from kernels.targets.cpu import levels
from lifesim.soup import Soup

MODULI = 1000, 4000, 12_000
BITS = 1024
TURNS = 2000  # of two threads that take turns
PAIRS = 20_000  # moduli on a GPU
LONG_SUMS = tuple(1 << n for n in range(14, 24))  # words
LONG_PRODUCTS = tuple(1 << n for n in range(8, 14))
ANY_IS_LONG = LongCosts(sum=1, product=1, division=1, host_count=64)


def measure(place: Place) -> Iterator[Found]:
    """Yield what trees, pairs and threads cost."""
    yield factor_costs(place)
    if levels():
        yield band_costs(place)


# --- shared factors -----------------------------------------------------------------


def factor_costs(place: Place) -> Found:
    """Return what trees cost on one core, and pairs on a GPU, if there is one."""
    values = {"bit": tree_bit(place), "parallel_bits": parallel_bits(place)}
    if place.gpu is not None:
        values["pair"] = pair(place)
    return found("arith/factors/costs.py", "COSTS", COSTS, **values)


def tree_bit(place: Place) -> float:
    """Return the seconds of a bit on a level of the trees."""
    each = []
    for count in MODULI[: place.cases]:
        moduli = random_moduli(count // place.scale, BITS)
        with Workers(1) as workers:
            seconds = best(lambda: shared_parts(moduli, workers), place.seconds)  # noqa: B023
        each.append(seconds / (len(moduli) * BITS * len(moduli).bit_length()))
    return median(each)


def parallel_bits(place: Place) -> int:
    """Return the power of two of bits whose product takes as long as two threads to take turns."""
    turn = _turn_seconds(TURNS // place.scale)
    bits = 1 << 8
    while bits < 1 << 24:
        a, b = mpz((1 << bits) - 5), mpz((1 << bits) - 7)
        if best(lambda: a * b, place.seconds / 8) >= turn:  # noqa: B023
            break
        bits *= 2
    return bits


def _turn_seconds(turns: int) -> float:
    """Return the seconds from one thread's turn to the other's."""
    mine, theirs = threading.Lock(), threading.Lock()
    mine.acquire()
    theirs.acquire()

    def other() -> None:
        for _ in range(turns):
            theirs.acquire()
            mine.release()

    thread = threading.Thread(target=other)
    thread.start()

    def both() -> None:
        for _ in range(turns):
            theirs.release()
            mine.acquire()

    start = time.perf_counter()
    both()
    seconds = time.perf_counter() - start
    thread.join()
    return seconds / (2 * turns)


# --- rows of cells ------------------------------------------------------------------


def band_costs(place: Place) -> Found:
    """Return the power of two of words that take as long as threads take to begin."""

    def begin() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: None, range(2)))

    beginning = best(begin, place.seconds)
    words = np.empty((8, 1 << 14), np.uint64)  # less than a band
    soup = Soup(0.5, 1)
    run = lambda: soup.fill(words, 0, 0, 64 * words.shape[1])  # noqa: E731
    each = best(run, place.seconds) / words.size
    enough = 1 << round(log2(beginning / each))
    return found("kernels/cells/costs.py", "BAND_COSTS", BAND_COSTS, words=enough)
