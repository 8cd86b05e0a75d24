"""From Python's ints to a GPU and back: where the time of one operation goes.

python -m benchmarks.journey [--bits 1024] [--count 1000000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from arith import IntArray

T = TypeVar("T")


def timed(times: dict[str, float], name: str, step: Callable[[], T], place: IntArray | None) -> T:
    started = time.perf_counter()
    result = step()
    if place is not None:
        place._engine.device.synchronize()  # type: ignore[attr-defined]
    times[name] = time.perf_counter() - started
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--count", type=int, default=1_000_000)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    raw = rng.bytes(options.bits // 8 * options.count)
    whole = IntArray.from_bytes(raw, options.bits // 8)
    values = whole.to_ints()
    other = IntArray(values[::-1]).on_device()
    for name in ("add", "multiply", "gcd"):
        times: dict[str, float] = {}
        # The first compiles; from the third on ints take memory that others have left.
        for _ in range(4):
            array = timed(times, "from ints", partial(IntArray, values), None)
            there = timed(times, "up", array.on_device, other)
            operation = {"add": there.__add__, "multiply": there.__mul__, "gcd": there.gcd}[name]
            result = timed(times, name, partial(operation, other), other)
            back = timed(times, "down", result.on_host, None)
            ints = timed(times, "to ints", back.to_ints, None)
        assert len(ints) == options.count
        total = sum(times.values())
        print(f"{name}, {options.count:,} of {options.bits} bits, {total * 1e3:.1f} ms:")
        for step, seconds in times.items():
            print(f"  {step:10} {seconds * 1e3:8.2f} ms {100 * seconds / total:5.1f} %")


if __name__ == "__main__":
    main()
