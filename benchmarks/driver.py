"""The driver layers beside each other: rates of the same work through PyCUDA and cuda.core.

    python -m benchmarks.driver [--device 0] [--seconds 6] [--only life] [--json]

Both layers run in one process on the same GPU, by turns. A ratio is the median, over the rounds,
of cuda.core's rate over PyCUDA's. Results of both are compared before anything is timed. The last
row is launches of a kernel that has next to nothing to do: the layer itself.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bignum_device import Reusing, random_slabs
from benchmarks.cky_tables import random_rules, random_strings
from bulkbits.timing import Samples, TimedRunner, compete
from kernels.bignum.cuda.layouts import SLAB
from kernels.bignum.cuda.multiply import multiply
from kernels.cky.cuda.engine import CudaCky
from kernels.life import engine_for
from kernels.life.contract import LifeShape
from kernels.life.rules import LifeRule
from kernels.sums.cuda import engine as sums
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cuda import driver as drivers

LIFE = LifeRule(8, 12)
LAUNCHES = 1000  # of a step


class DifferentResultsError(Exception):
    """The layers do not compute the same: their rates would mean nothing."""


@dataclass(frozen=True, slots=True)
class Work:
    """A computation that a layer is timed by. result: returns what its steps have computed."""

    runner: TimedRunner
    result: Callable[[], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table. unit: what there are so many of in a second."""

    name: str
    unit: str
    start: Callable[[Target], Work]


@dataclass(frozen=True, slots=True)
class Row:
    """Rates per second. ratio: of the second layer to the first."""

    name: str
    unit: str
    rates: tuple[float, ...]
    ratio: float


def life(side: int) -> Callable[[Target], Work]:
    """Return the start of a soup, one step of which is a pass."""
    words = np.random.default_rng(side).integers(0, 2**64, (side, side // 64), np.uint64)

    def start(target: Target) -> Work:
        universe = engine_for(target).universe(words.copy(), LifeShape(side, side, True), LIFE)
        stride = universe.stride
        step = TimedRunner(side * side * stride, lambda n: universe.step(n * stride))
        return Work(step, universe.words)

    return start


def products(count: int, bits: int) -> Callable[[Target], Work]:
    """Return the start of products of numbers in slabs, from memory to memory of the device."""
    words = np.random.default_rng(bits).integers(
        0, 1 << 32, -(-count // SLAB) * SLAB * bits // 32 + (1 << 12), np.uint32
    )

    def start(target: Target) -> Work:
        own = Reusing(target.devices[0])
        a, b = (random_slabs(own, words, at, count, bits) for at in (0, 1 << 12))
        own._used.clear()  # operands stay
        last: list[Any] = []

        def step(calls: int) -> None:
            for _ in range(calls):
                own.reclaim()
                last[:] = [multiply(own, a, b)]
            own.synchronize()

        def result() -> npt.NDArray[Any]:
            found = np.empty(last[0].words.nbytes, np.uint8)
            own.download(found, last[0].words)
            return found

        return Work(TimedRunner(count, step), result)

    return start


def parsing(symbols: int, rules: int, count: int, length: int) -> Callable[[Target], Work]:
    """Return the start of parsing of strings on the device, to bits of acceptance there."""
    of = random_rules(symbols, rules)
    strings = random_strings(of, count, length)

    def start(target: Target) -> Work:
        engine = CudaCky(target.devices[0], of)
        resident = engine.resident(strings)

        def step(runs: int) -> None:
            for _ in range(runs):
                resident.run(0)
            engine.device.synchronize()

        return Work(TimedRunner(count, step), resident.accepted)

    return start


def launches(target: Target) -> Work:
    """Start launches of a kernel for one warp."""
    device = target.devices[0]
    module = device.module(sums.SOURCE, {"K": 1})
    a, b, out = (device.alloc(256) for _ in range(3))
    device.upload(a, np.full(32, 1, np.uint32))
    device.upload(b, np.full(32, 2, np.uint32))

    def step(times: int) -> None:
        for _ in range(times * LAUNCHES):
            module.launch("sums_bitwise", (1, 1, 1), (32, 1, 1), a, b, out, np.uint64(32))
        device.synchronize()

    def result() -> npt.NDArray[Any]:
        found = np.empty(32, np.uint32)
        device.download(found, out)
        return found

    return Work(TimedRunner(LAUNCHES, step), result)


def cases() -> list[Case]:
    return [
        Case("Life, 65536²", "cell updates", life(1 << 16)),
        Case("Life, 4096²", "cell updates", life(1 << 12)),
        Case("multiply, 1024 bits", "products", products(1 << 21, 1024)),
        Case("CKY, 64 symbols, 8192 rules, length 32", "strings", parsing(64, 8192, 1 << 18, 32)),
        Case("launches", "launches", launches),
    ]


def measure(targets: Sequence[Target], case: Case, seconds: float) -> Row:
    """Raises DifferentResultsError."""
    works = [case.start(target) for target in targets]
    for work in works:
        work.runner.step(1)
    first, *others = (work.result() for work in works)
    if not all(np.array_equal(first, other) for other in others):
        raise DifferentResultsError(case.name)
    del first, others
    found: list[Samples] = compete([work.runner for work in works], seconds, rounds=24)
    return Row(case.name, case.unit, tuple(s.best for s in found), found[-1].ratio(found[0]))


def as_table(names: Sequence[str], rows: Iterator[Row]) -> Iterator[str]:
    yield f"| a second | {' | '.join(names)} | ratio |"
    yield "| --- |" + " ---: |" * (len(names) + 1)
    for row in rows:
        figures = " | ".join(f"{rate:.4g}" for rate in row.rates)
        yield f"| {row.unit}: {row.name} | {figures} | {row.ratio:.4f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.driver")
    parser.add_argument("--device", type=int, default=0, help="of the CUDA devices")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each row")
    parser.add_argument("--only", default="", help="rows whose names start like this")
    parser.add_argument("--json", action="store_true", help="figures instead of a table")
    options = parser.parse_args(arguments)
    from kernels.targets.cuda.target import CudaTarget

    names = drivers.working()
    try:
        targets = [CudaTarget(options.device, name) for name in names]
    except BackendUnavailableError as error:
        sys.exit(f"benchmarks.driver: {error}")
    if not targets:
        sys.exit("benchmarks.driver: no driver layer works here")
    chosen = (case for case in cases() if case.name.lower().startswith(options.only.lower()))
    rows = (measure(targets, case, options.seconds) for case in chosen)
    versions = {name: drivers.load(name).version() for name in names}
    gpu = targets[0].describe()
    if options.json:
        figures = {"gpu": gpu, "layers": versions, "rows": [asdict(row) for row in rows]}
        print(json.dumps(figures, indent=1))
        return
    said = ", ".join(f"{name} {version}" for name, version in versions.items())
    print(f"{gpu}; {said}\n", flush=True)
    for line in as_table(names, rows):
        print(line, flush=True)


if __name__ == "__main__":
    main()
