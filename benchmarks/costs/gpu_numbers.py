"""Measure what big numbers cost on a GPU: layouts, launches, and sizes where ways cross."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from arith.costs import REDUNDANT_COSTS
from benchmarks.costs.fit import Found, best, crossing, found
from benchmarks.costs.place import Place
from benchmarks.gcd_device import put, random_slabs
from benchmarks.mixed import numbers, prepared
from kernels.bignum import plan
from kernels.bignum.costs import LAYOUT_COSTS, LONG_COSTS, POOL_TUNING, LongCosts, PoolTuning
from kernels.bignum.cuda import long_rows
from kernels.bignum.cuda.engine import DeviceArithmetic
from kernels.bignum.cuda.pool import Work
from kernels.bignum.cuda.transfer import Transfer
from kernels.bignum.plan import PoolOperation
from kernels.gcd.cuda.pairs import Search
from kernels.redundant import Format
from kernels.redundant.cuda.engine import DeviceRedundant

BITS = 1024  # of a modulus
PAIRS = 20_000  # moduli
FEW = 1000  # numbers
SHORTS = 16, 32, 64, 128, 256, 512, 1024  # words
EACH = 8, 16, 32, 64, 128, 256, 512  # numbers for each multiprocessor
WIDE = 256  # words, of these
TIMES = 2, 3, 4, 6, 8, 16  # as long as the others is one number
LONG_SUMS = tuple(1 << n for n in range(14, 24))  # words
LONG_PRODUCTS = tuple(1 << n for n in range(8, 14))
ANY_IS_LONG = LongCosts(sum=1, product=1, division=1, host_count=64)
MOST_BITS = 1 << 30  # of numbers that are added without carries
POOLED = 1 << 20  # computations
BLOCKS = 3, 4, 6, 8, 11, 16, 24, 32  # for each multiprocessor


def measure(place: Place) -> Iterator[Found]:
    """Yield what big numbers cost on the GPU."""
    yield layout_costs(place)
    yield long_costs(place)
    yield pool_tuning(place)
    yield redundant_costs(place)


# --- shared factors -----------------------------------------------------------------


def pair(place: Place) -> float:
    """Return the seconds of a pair of moduli of 1024 bits on a GPU."""
    count = PAIRS // place.scale // 32 * 32
    words = random_slabs(BITS, count, 1)
    words[:, 0] |= np.uint32(1)
    search = Search(place.device, put(place.device, words, count, BITS))
    run = lambda: search.pairs(range(search.groups), lambda done: None)  # noqa: E731
    seconds = best(run, place.seconds)
    return seconds / (count * (count - 1) / 2)


# --- layouts ------------------------------------------------------------------------


def layout_costs(place: Place) -> Found:
    """Return the sizes up to which a thread for each number is quicker than a warp."""
    multiprocessors, cases = place.device.info.multiprocessors, 3 * place.cases
    few, shorts, each = FEW // place.scale, SHORTS[:cases], EACH[:cases]

    def times(batches: Sequence[list[int]]) -> tuple[list[float], list[float]]:
        """Return the seconds of products of batches by threads, and by warps."""
        return _products(place, batches, True), _products(place, batches, False)

    by_thread, by_warp = times([[words] * few for words in shorts])
    short = crossing(shorts, by_thread, by_warp) // 2  # the last where a thread does as well
    wide = WIDE // place.scale
    counts = [max(1, count * multiprocessors // place.scale) for count in each]
    by_thread, by_warp = times([[wide] * count for count in counts])
    threads = crossing(each, by_warp, by_thread)
    many = counts[-1]
    by_thread, by_warp = times([[*[wide] * (many - 1), wide * k] for k in TIMES[:cases]])
    padding = float(crossing(TIMES[:cases], by_thread, by_warp))
    return found(
        "kernels/bignum/costs.py", "LAYOUT_COSTS", LAYOUT_COSTS,
        short=short, threads=threads, padding=padding,
    )  # fmt: skip


def _products(place: Place, batches: Sequence[list[int]], slabs: bool) -> list[float]:
    """Return the seconds of squares of numbers of so many words, in one of the layouts."""
    engine = DeviceArithmetic(place.device, lambda *_: slabs)
    seconds = []
    for words in batches:
        batch = engine.put(numbers(np.array(words), np.random.default_rng(3)))
        run = partial(engine.multiply, batch, batch)
        seconds.append(best(run, place.seconds, place.finish))
    return seconds


def pool_tuning(place: Place) -> Found:
    """Return with how many blocks for each multiprocessor the pool is quickest."""
    count = POOLED // place.scale**2
    of = {"sums": PoolOperation.ADD, "products": PoolOperation.MULTIPLY, "all": PoolOperation.GCD}
    values = {}
    for name, operation in of.items():
        tried = [(_pool_seconds(place, operation, count, n), n) for n in BLOCKS[-3 * place.cases :]]
        values[name] = min(tried)[1]
    return found("kernels/bignum/costs.py", "POOL_TUNING", POOL_TUNING, **values)


def _pool_seconds(place: Place, operation: PoolOperation, count: int, blocks: int) -> float:
    rng, transfer = np.random.default_rng(4), Transfer(place.device)
    a, b = (transfer.put_rows(numbers(np.full(count, 16), rng)) for _ in range(2))
    kinds, tuning = plan.kinds_of(operation), PoolTuning(blocks, blocks, blocks)
    params = plan.choose(kinds, count, place.device.info, tuning)
    work = Work(place.device, operation, a, b, params, count, kinds, False)
    return best(work.launch, place.seconds, place.finish)


# --- long numbers on a GPU ----------------------------------------------------------


def long_costs(place: Place) -> Found:
    """Return the sizes from which on one number is not left to one warp."""
    values = {}
    for name, operation, sizes in (
        ("sum", PoolOperation.ADD, LONG_SUMS),
        ("product", PoolOperation.MULTIPLY, LONG_PRODUCTS),
        ("division", PoolOperation.FLOORDIV, LONG_PRODUCTS),
    ):
        tried = [max(4, size // place.scale) for size in sizes[: 3 * place.cases]]
        times = [_warp_and_other(place, operation, words) for words in tried]
        values[name] = crossing(tried, *zip(*times, strict=True))
    return found("kernels/bignum/costs.py", "LONG_COSTS", LONG_COSTS, **values)


def _warp_and_other(place: Place, operation: PoolOperation, words: int) -> tuple[float, float]:
    """Return the seconds of one computation by a warp, and in the other way.

    words: of the shorter operand; a dividend has twice as many.
    """
    rng, transfer = np.random.default_rng(2), Transfer(place.device)
    longer = 2 * words if operation == PoolOperation.FLOORDIV else words
    a, b = (transfer.put_rows(numbers(np.array([n]), rng)) for n in (longer, words))
    by_warp = prepared(place.device, operation, a, b, None).launch
    other = partial(long_rows.run, place.device, operation, a, b, ANY_IS_LONG)
    return best(by_warp, place.seconds, place.finish), best(other, place.seconds, place.finish)


def redundant_costs(place: Place) -> Found:
    """Return the power of two of bits whose addition takes twice as long as of very few."""
    arithmetic = DeviceRedundant(Format(64), place.device)

    def took(bits: int) -> float:
        digits = Format(64).digits_for(bits)
        x = arithmetic.put(np.ones(digits, np.int64))
        spare = arithmetic.put(np.ones(digits, np.int64))
        return best(lambda: arithmetic.add(x, x, digits, spare), place.seconds, place.finish)

    launch, bits = took(1 << 12), 1 << 14
    while bits < MOST_BITS and took(bits) < 2 * launch:
        bits *= 2
    return found("arith/costs.py", "REDUNDANT_COSTS", REDUNDANT_COSTS, gpu_bits=bits)
