"""GCDs in bulk on a GPU, and all pairs of a set of RSA moduli, beside what others reached.

    python -m benchmarks.gcd_device [--count 1048576] [--moduli 20000] [--json]

ns per GCD of two random numbers of full length, operands and results in the memory of the
device; all pairs in seconds, from moduli on the device to the indices of the pairs found.
The figures of CGBN are of the same model of GPU (H200, from memory to memory), Fujita's
(2017, 4.5) of a TITAN X; White's (2013) all pairs took 631 s on a K20X.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from kernels.bignum.cuda.layouts import SLAB, Slabs
from kernels.gcd.cuda import gcd as gcd_device
from kernels.gcd.cuda import pairs
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import Device

RUNS = 5
SAMPLE = 200  # results that are compared with Python's
CGBN = {256: 4.2, 1024: 18.0, 4096: 140.0, 8192: 384.0}  # ns
FUJITA = {1024: 482.0}
WHITE = 631.0  # seconds for 20 000 moduli of 1024 bits
ODD = range(3, 4000, 2)
SMALL_PRIMES = math.prod(p for p in ODD if all(p % q for q in ODD if q * q <= p))

Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Row:
    bits: int
    count: int
    ns: float
    cgbn: float | None
    fujita: float | None


@dataclass(frozen=True, slots=True)
class PairsRow:
    bits: int
    moduli: int
    seconds: float
    found: int

    @property
    def ns(self) -> float:
        """Return the nanoseconds for a pair."""
        return self.seconds / (self.moduli * (self.moduli - 1) / 2) * 1e9


class WrongResultError(Exception):
    """Its time would mean nothing."""


def put(device: Device, words: Words, count: int, bits: int) -> Slabs:
    buffer = device.alloc(words.nbytes)
    device.upload(buffer, words)
    return Slabs(buffer, count, bits)


def random_slabs(bits: int, count: int, seed: int) -> Words:
    """(slabs, words, 32): whole slabs, each number with its top bit."""
    shape = (count // SLAB, bits // 32, SLAB)
    words = np.random.default_rng(seed).integers(0, 2**32, shape, np.uint32)
    words[:, -1] |= np.uint32(1 << 31)
    return words


def numbers(words: Words, count: int) -> list[int]:
    """The first of them."""
    rows = words[: -(-count // SLAB)].transpose(0, 2, 1).reshape(-1, words.shape[1])
    return [int.from_bytes(row.tobytes(), "little") for row in rows[:count]]


def median_seconds(run: Callable[[], object], runs: int) -> float:
    run()  # loads the kernels, wakes the clocks
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def measure(device: Device, bits: int, count: int, runs: int = RUNS) -> Row:
    """bits: a multiple of 32; count: of 32. Raises WrongResultError."""
    words = [random_slabs(bits, count, seed) for seed in (1, 2)]
    a, b = (put(device, x, count, bits) for x in words)

    def run() -> Slabs:
        result = gcd_device.gcd(device, a, b)
        device.synchronize()
        return result

    result = run()
    found = np.empty((result.slabs, result.width, SLAB), np.uint32)
    device.download(found, result.words)
    few = min(count, SAMPLE)
    expected = [math.gcd(*pair) for pair in zip(*(numbers(x, few) for x in words), strict=True)]
    if numbers(found, few) != expected:
        raise WrongResultError(f"{bits} bits")
    ns = median_seconds(run, runs) / count * 1e9
    return Row(bits, count, ns, CGBN.get(bits), FUJITA.get(bits))


def measure_pairs(device: Device, bits: int, count: int, runs: int = RUNS) -> PairsRow:
    """Products of two numbers without small factors; the first and the last share one.

    Raises WrongResultError.
    """
    rng = random.Random(bits)

    def factor(length: int) -> int:
        while True:
            value = rng.getrandbits(length) | 1 | 3 << length - 2
            if math.gcd(value, SMALL_PRIMES) == 1:
                return value

    values = [factor(bits // 2) * factor(bits // 2) for _ in range(count)]
    shared = factor(bits // 2)
    for i in (0, count - 1):
        values[i] = shared * factor(bits // 2)
    slabs = -(-count // SLAB)
    raw = b"".join(value.to_bytes(bits // 8, "little") for value in values)
    rows = np.zeros((slabs * SLAB, bits // 32), np.uint32)
    rows[:count] = np.frombuffer(raw, np.uint32).reshape(count, -1)
    words = np.ascontiguousarray(rows.reshape(slabs, SLAB, -1).transpose(0, 2, 1))
    moduli = put(device, words, count, bits)
    found = pairs.shared_pairs(device, moduli)
    few = min(count, SAMPLE)
    near = {(i, j) for i in range(few) for j in range(i) if math.gcd(values[i], values[j]) > 1}
    told = {(int(j), int(i)) for i, j in found}
    if {pair for pair in told if pair[0] < few} != near or (count - 1, 0) not in told:
        raise WrongResultError(f"all pairs of {bits} bits")
    seconds = median_seconds(lambda: pairs.shared_pairs(device, moduli), runs)
    return PairsRow(bits, count, seconds, len(found))


def as_markdown(rows: Iterable[Row], all_pairs: Iterable[PairsRow]) -> str:
    lines = ["| bits | GCDs | ns | CGBN | Fujita | CGBN / ours |", "| --- " * 6 + "|"]
    for row in rows:
        beside = ["" if x is None else f"{x:g}" for x in (row.cgbn, row.fujita)]
        ratio = "" if row.cgbn is None else f"{row.cgbn / row.ns:.1f}"
        lines.append(
            f"| {row.bits} | {row.count} | {row.ns:.3f} | {beside[0]} | {beside[1]} | {ratio} |"
        )
    lines += ["", "| bits | moduli | seconds | ns a pair | White |", "| --- " * 5 + "|"]
    for all_of in all_pairs:
        white = f"{WHITE:g}" if (all_of.bits, all_of.moduli) == (1024, 20000) else ""
        figures = f"{all_of.seconds:.4f} | {all_of.ns:.3f} | {white}"
        lines.append(f"| {all_of.bits} | {all_of.moduli} | {figures} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="GCDs in bulk, and all pairs of moduli.")
    parser.add_argument("--count", type=int, default=1 << 20, help="GCDs at a time")
    parser.add_argument("--moduli", type=int, default=20000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    try:
        from kernels.targets.cuda.target import CudaDevice

        device = CudaDevice()
    except BackendUnavailableError as error:
        sys.exit(f"gcd_device: {error}")
    rows = []
    for bits in (64, 256, 512, 1024, 2048, 4096, 8192):
        # Long ones take longer: fewer of them.
        count = max(options.count * 1024 // max(bits, 1024) // SLAB, 1) * SLAB
        rows.append(measure(device, bits, count))
    all_pairs = [
        measure_pairs(device, bits, max(options.moduli * 1024 // max(bits, 1024), 2))
        for bits in (512, 1024, 2048, 4096)
    ]
    if options.json:
        figures = {"gpu": device.info.name, "rows": [asdict(row) for row in rows]}
        print(json.dumps({**figures, "all_pairs": [asdict(x) for x in all_pairs]}))
    else:
        print(device.info.name)
        print(as_markdown(rows, all_pairs))


if __name__ == "__main__":
    main()
