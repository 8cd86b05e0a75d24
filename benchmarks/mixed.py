"""Langer's and Gusenbauer's figures, measured here: numbers of mixed lengths on a GPU.

    python -m benchmarks.mixed [--count 1000000] [--means 8 16 32 64] [--long] [--json]

Nanoseconds a computation by operation, mean length in 32-bit words and standard deviation
as a part of it: a thread to a computation, a warp to one, and what the library chooses;
sorting included, transfers not. Then a pool of six operations at once. `products` are
nanoseconds for 1024 products of words. --long: a single long computation by the ways
there are, microseconds: where they cross, the limits in kernels/bignum/plan.py belong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from kernels.bignum import plan
from kernels.bignum.costs import LONG_COSTS
from kernels.bignum.cuda import long_rows, pool
from kernels.bignum.cuda.layouts import Rows
from kernels.bignum.cuda.pool import Work
from kernels.bignum.cuda.transfer import Transfer
from kernels.bignum.numbers import Indices, Numbers
from kernels.bignum.plan import PoolLaunch, PoolOperation
from kernels.bignum.ref import ReferenceArithmetic
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import Device

RUNS = 7
SIGMAS = (0.0, 0.25, 0.5)
OPERATIONS = (PoolOperation.ADD, PoolOperation.MULTIPLY, PoolOperation.FLOORDIV, PoolOperation.GCD)
SHARE = {
    PoolOperation.ADD: 1,
    PoolOperation.MULTIPLY: 1,
    PoolOperation.FLOORDIV: 2,
    PoolOperation.GCD: 8,
}
THREAD, WARP = 0, 3  # levels
CHECKED = 500
SINGLE = (512, 2048, 8192, 32768, 131_072, 1 << 20)  # words of the long ones


@dataclass(frozen=True, slots=True)
class Row:
    """Nanoseconds for a computation."""

    operation: str
    mean: int
    sigma: float
    thread: float
    warp: float
    chosen: float
    products: float | None = None  # chosen, for 1024 products of words


def lengths(mean: int, sigma: float, count: int, rng: np.random.Generator) -> Indices:
    """Normally distributed, at least 1."""
    drawn = np.rint(rng.normal(mean, sigma * mean, count))
    return np.maximum(1, drawn).astype(np.int64)


def numbers(words: Indices, rng: np.random.Generator) -> Numbers:
    """Random ones of so many 32-bit words."""
    wide = (words + 1) // 2
    starts = np.cumsum(wide) - wide
    values = rng.integers(0, 2**64, int(wide.sum()), np.uint64)
    odd = words % 2 == 1
    values[(starts + wide - 1)[odd]] >>= np.uint64(32)
    return Numbers(values, len(words), int(wide.max()), 0, starts, wide)


def seconds(device: Device, work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the seconds of one run, of several without a pause."""
    work()
    device.synchronize()
    start = time.perf_counter()
    for _ in range(runs):
        work()
    device.synchronize()
    return (time.perf_counter() - start) / runs


def prepared(
    device: Device, operations: plan.Operations | PoolOperation, a: Rows, b: Rows, level: int | None
) -> Work:
    """level: of the smallest teams, instead of the library's choice."""
    kinds = plan.kinds_of(operations)
    params: PoolLaunch = plan.choose(kinds, a.count, device.info)
    if level is not None:
        params = replace(params, lowest=level)
    return Work(device, operations, a, b, params, a.count, kinds, False)


def measure(device: Device, count: int, means: Sequence[int]) -> list[Row]:
    if device.info.name == "emulated":
        raise BackendUnavailableError("times of an emulated device mean nothing")
    rng = np.random.default_rng(1)
    transfer = Transfer(device)
    rows = []
    for operation in OPERATIONS:
        for mean in means:
            for sigma in SIGMAS:
                n = count // SHARE[operation]
                words = [lengths(mean, sigma, n, rng) for _ in range(2)]
                operands = [numbers(x, rng) for x in words]
                a, b = (transfer.put_rows(x) for x in operands)
                check(device, transfer, operation, *(x.take(slice(CHECKED)) for x in operands))
                times = []
                for level in (THREAD, WARP, None):
                    work = prepared(device, operation, a, b, level)
                    times.append(seconds(device, work.launch) * 1e9 / n)
                pairs = float((words[0] * words[1]).sum())
                rate = times[2] * n / pairs * 1024 if operation == PoolOperation.MULTIPLY else None
                rows.append(Row(operation.name.lower(), mean, sigma, *times, rate))
    for mean in means:
        a, b = (transfer.put_rows(numbers(lengths(mean, 0.5, count, rng), rng)) for _ in range(2))
        codes = rng.integers(0, PoolOperation.GCD + 1, count).astype(np.uint8)
        times = []
        for level in (THREAD, WARP, None):
            work = prepared(device, codes, a, b, level)
            times.append(seconds(device, work.launch) * 1e9 / count)
        rows.append(Row("mixed", mean, 0.5, *times))
    return rows


def check(
    device: Device, transfer: Transfer, operation: PoolOperation, a: Numbers, b: Numbers
) -> None:
    """Raises ArithmeticError where the first results are not Python's."""
    found, _ = pool.run(device, operation, transfer.put_rows(a), transfer.put_rows(b))
    wanted = getattr(ReferenceArithmetic(), operation.name.lower())(a, b)
    if ReferenceArithmetic().compare(transfer.get_rows(found), wanted).any():
        raise ArithmeticError(f"a wrong {operation.name.lower()}")


def measure_long(device: Device) -> list[dict[str, float | int | str | None]]:
    """A single computation of operands equally long: by a warp, and the other ways."""
    rng = np.random.default_rng(2)
    transfer = Transfer(device)
    table: list[dict[str, float | int | str | None]] = []
    for operation in (
        PoolOperation.ADD,
        PoolOperation.MULTIPLY,
        PoolOperation.FLOORDIV,
        PoolOperation.GCD,
    ):
        for words in SINGLE:
            short = words if operation != PoolOperation.FLOORDIV else words // 2
            a, b = (numbers(np.array([n]), rng) for n in (words, short))
            x, y = transfer.put_rows(a), transfer.put_rows(b)
            warp = None
            if words <= (8192 if operation != PoolOperation.ADD else SINGLE[-1]):
                warp = seconds(device, prepared(device, operation, x, y, None).launch, 2) * 1e6
            limits = (LONG_COSTS.sum, LONG_COSTS.product, LONG_COSTS.division)
            other = None
            if max(words, short) >= min(limits):
                other = seconds(device, lambda: long_rows.run(device, operation, x, y), 2) * 1e6  # noqa: B023
            table.append(
                {
                    "operation": operation.name.lower(),
                    "words": words,
                    "warp": warp,
                    "library": other,
                }
            )
    return table


def text(rows: Sequence[Row]) -> str:
    lines = [
        f"{'':10}{'mean':>6}{'sigma':>7}{'thread':>10}{'warp':>10}{'chosen':>10}{'products':>10}"
    ]
    for r in rows:
        products = "" if r.products is None else f"{r.products:10.3f}"
        lines.append(
            f"{r.operation:10}{r.mean:6}{r.sigma:7.2f}{r.thread:10.3f}{r.warp:10.3f}"
            f"{r.chosen:10.3f}{products}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--means", type=int, nargs="+", default=[8, 16, 32, 64])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    try:
        from kernels.targets.cuda.target import CudaDevice

        device = CudaDevice()
    except BackendUnavailableError as error:
        print(error, file=sys.stderr)
        return 1
    if options.long:
        table = measure_long(device)
        for line in table:
            print(json.dumps(line) if options.json else line)
        return 0
    rows = measure(device, options.count, options.means)
    print(json.dumps([asdict(r) for r in rows]) if options.json else text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
