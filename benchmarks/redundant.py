"""Bainville's measurement of one long addition, here: carry-free digits beside GMP's carries.

    python -m benchmarks.redundant [--device auto|cuda|cpu] [--threads N] [--json]

GB/s of result, counted as the number has bytes in binary, as his: digits have 14, 30 or 62
bits of 16, 32 or 64. Numbers are where they are wanted, in memory or in that of the
device. The second table adds up many numbers in binary, normalising included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gmpy2
import numpy as np

from kernels.redundant import WORDS, Format, Redundant
from kernels.redundant.cpu.engine import CpuRedundant
from kernels.redundant.cuda.engine import DeviceRedundant
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cpu import CpuTarget
from kernels.targets.cuda.device import Device

KIB = (16, 256, 4096, 65536)  # of a number, in binary
RUNS = 7
RUN_SECONDS = 5e-3
CALL_BITS = 30  # of how many additions are timed
SUMMED_KIB, SUMMED = 1024, 64

# The best of each curve (2009), GB/s; GMP and the vectors on one core of a 3.3 GHz Core i7,
# with their data in the first cache.
BAINVILLE = {
    "his CPU": {16: 6.0, 32: 12.0, 64: 25.0},
    "his GTX285": {16: 14.4, 32: 19.6, 64: 23.0},
    "his HD5870": {16: 6.6, 32: 22.6, 64: 21.7},
    "his GMP": {64: 11.7},
    "his SSE, almost right": {32: 47.0},
}


class WrongSumError(Exception):
    """A sum that is not GMP's: its time would mean nothing."""


@dataclass(frozen=True, slots=True)
class Rate:
    """gigabytes a second; word: None for GMP. numbers: added up in one go."""

    place: str
    word: int | None
    kib: int
    numbers: int
    gigabytes: float


def random_words(kib: int, numbers: int) -> Any:
    return np.random.default_rng(kib).integers(0, 2**64, (numbers, kib * 128), np.uint64)


def to_int(words: Any) -> int:
    return int.from_bytes(words.astype("<u8", copy=False).tobytes(), "little")


def seconds(run: Callable[[], object], finish: Callable[[], object] = lambda: None) -> float:
    """Return the seconds of one call, the median of RUNS runs of about RUN_SECONDS."""
    run()
    finish()
    start = time.perf_counter()
    run()
    finish()
    calls = max(1, int(RUN_SECONDS / max(time.perf_counter() - start, 1e-7)))
    took = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        finish()
        took.append((time.perf_counter() - start) / calls)
    return statistics.median(took)


def measure_add(place: str, arithmetic: Redundant[Any], kib: int, finish: Any) -> Rate:
    """x += y, again and again. Raises WrongSumError."""
    format, words = arithmetic.format, random_words(kib, 2)
    size = format.digits_for(64 * words.shape[1] + CALL_BITS)
    x, y = (arithmetic.sum(words[i : i + 1], 1, size) for i in range(2))
    spare = x if arithmetic.in_place else arithmetic.put(arithmetic.get(x))
    calls = 0

    def run() -> None:
        nonlocal x, spare, calls
        x, spare = arithmetic.add(x, y, size, spare), x
        calls += 1

    took = seconds(run, finish)
    if arithmetic.normalise(x) != to_int(words[0]) + calls * to_int(words[1]):
        raise WrongSumError(f"{place}, {format.word} bits, {kib} KiB")
    return Rate(place, format.word, kib, 2, kib * 1024 / took / 1e9)


def measure_sum(place: str, arithmetic: Redundant[Any], kib: int, numbers: int) -> Rate:
    """Measure the sum of numbers in host memory, to a Python int. Raises WrongSumError."""
    words = random_words(kib, numbers)
    size = arithmetic.format.digits_for(64 * words.shape[1] + numbers.bit_length())
    total = 0

    def run() -> None:
        nonlocal total
        total = arithmetic.normalise(arithmetic.sum(words, numbers, size))

    took = seconds(run)
    if total != sum(to_int(row) for row in words):
        raise WrongSumError(f"{place}, {arithmetic.format.word} bits, {numbers} of {kib} KiB")
    return Rate(place, arithmetic.format.word, kib, numbers, words.nbytes / took / 1e9)


def measure_gmp(kib: int) -> Rate:
    """Measure GMP's additions in place, so that no memory is asked for in between."""
    x, y = (gmpy2.mpz(to_int(row)) for row in random_words(kib, 2))
    total = gmpy2.xmpz(x)

    def run() -> None:
        nonlocal total
        total += y

    return Rate("GMP", None, kib, 2, kib * 1024 / seconds(run) / 1e9)


def measure_gmp_sum(kib: int, numbers: int) -> Rate:
    values = [gmpy2.mpz(to_int(row)) for row in random_words(kib, numbers)]

    def run() -> int:
        total = gmpy2.xmpz(0)
        for value in values:
            total += value
        return int(total)

    return Rate("GMP", None, kib, numbers, kib * 1024 * numbers / seconds(run) / 1e9)


def measure(
    cpu: CpuTarget | None,
    device: Device | None,
    sizes: Sequence[int] = KIB,
    summed: tuple[int, int] = (SUMMED_KIB, SUMMED),
) -> list[Rate]:
    places: list[tuple[str, Callable[[Format], Redundant[Any]], Callable[[], object]]] = []
    if cpu is not None:
        places.append(("CPU", lambda format: CpuRedundant(format, cpu), lambda: None))
    if device is not None:
        places.append(("GPU", lambda format: DeviceRedundant(format, device), device.synchronize))
    rates = [measure_gmp(kib) for kib in sizes] + [measure_gmp_sum(*summed)]
    for place, make, finish in places:
        for word in WORDS:
            arithmetic = make(Format(word))
            rates += [measure_add(place, arithmetic, kib, finish) for kib in sizes]
            rates.append(measure_sum(place, arithmetic, *summed))
    return rates


def as_markdown(rates: Sequence[Rate]) -> str:
    def line(*cells: str) -> str:
        return "| " + " | ".join(cells) + " |"

    def cell(rate: Rate | None) -> str:
        return "" if rate is None else f"{rate.gigabytes:.1f}"

    def rows(numbers: bool) -> list[str]:
        """Yield a row for each place and word: of additions of two numbers, or of many."""
        chosen = [rate for rate in rates if (rate.numbers > 2) == numbers]
        sizes = sorted({rate.kib for rate in chosen})
        what = "GB/s, many numbers" if numbers else "GB/s, x += y"
        lines = [line(what, *(f"{kib} KiB" for kib in sizes))]
        lines.append(line("---", *["---:"] * len(sizes)))
        for place, word in dict.fromkeys((rate.place, rate.word) for rate in chosen):
            found = {r.kib: r for r in chosen if (r.place, r.word) == (place, word)}
            name = place if word is None else f"{place}, {word}-bit words"
            lines.append(line(name, *(cell(found.get(kib)) for kib in sizes)))
        return lines

    his = [line("GB/s, best of his", *map(str, WORDS)), line("---", *["---:"] * len(WORDS))]
    for name, row in BAINVILLE.items():
        his.append(line(name, *(str(row.get(word, "")) for word in WORDS)))
    return "\n".join([*rows(False), "", *rows(True), "", *his])


def cuda_device(index: int) -> Device:
    """Raises BackendUnavailableError."""
    from kernels.targets.cuda.target import CudaTarget  # imports PyCUDA, which may lack

    device: Device = CudaTarget(index).device
    return device


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.redundant", description="Bainville's long additions, here."
    )
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--index", type=int, default=0, help="of the CUDA device")
    parser.add_argument("--threads", type=int, help="of the CPU; all cores by default")
    parser.add_argument("--kib", type=int, nargs="+", default=list(KIB), help="of a number")
    parser.add_argument("--json", action="store_true", help="figures instead of tables")
    options = parser.parse_args(arguments)
    if min(options.kib) < 1 or (options.threads is not None and options.threads < 1):
        parser.error("--kib and --threads must be positive")
    cpu: CpuTarget | None = None
    device: Device | None = None
    try:
        cpu = CpuTarget(options.threads)
    except BackendUnavailableError as error:
        print(f"no CPU figures: {error}", file=sys.stderr)
    if options.device != "cpu":
        try:
            device = cuda_device(options.index)
        except BackendUnavailableError as error:
            if options.device == "cuda":
                sys.exit(f"no CUDA device: {error}")
            print(f"no GPU figures: {error}", file=sys.stderr)
    rates = measure(cpu, device, options.kib)
    if options.json:
        print(json.dumps([asdict(rate) for rate in rates], indent=1))
        return
    print(
        f"CPU: {cpu.describe() if cpu else 'none'}. GPU: {device.info.name if device else 'none'}."
    )
    print(f"Many numbers: {SUMMED}, from host memory to one int.\n")
    print(as_markdown(rates))


if __name__ == "__main__":
    main()
