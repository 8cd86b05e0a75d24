"""Big-number arithmetic on a GPU, from device memory to device memory, beside CGBN's.

    python -m benchmarks.bignum_device [--index 0] [--only multiply] [--json]

Operands are random and of full length, made on the host once. Times are nanoseconds for
one of millions of operations, the best of several runs. `bound`: the time that reading the
operands and writing the result takes at the speed of a copy within the device. CGBN's
times were measured on one H200, 4 million instances from memory to memory; its sums are as long
as its operands, so that they stand beside sums modulo a power of two.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.bignum.cuda import slabs
from kernels.bignum.cuda.divide import divmod as divide
from kernels.bignum.cuda.layouts import SLAB, Slabs
from kernels.bignum.cuda.multiply import multiply, multiply_add
from kernels.bignum.cuda.powmod import powmod
from kernels.gcd.cuda.gcd import gcd
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import Buffer, Device

COPY = 4.27e12  # bytes read and written in a second, of an H200
RUNS = 5
RUN_SECONDS = 0.03  # a run is as many calls as take about this long
MOST, MOST_BYTES = 1 << 22, 1 << 29  # numbers, and bytes of an operand
CHECKED = 40  # results that are compared with Python's
# Numbers of 1024 bits that powers are of; of other sizes about as many bits, in multiples of what
# an H200 computes at a time: powers take so long that a rest would count.
POWERS, WAVE = 132 * 512, 132 * 256

SlabFunction = Callable[[Device, Slabs, Slabs], Slabs | None]


@dataclass(frozen=True, slots=True)
class DeviceOperation:
    name: str
    bits: tuple[int, int]  # of the operands
    run: SlabFunction
    python: Callable[[int, int], int]
    cgbn: float | None  # nanoseconds
    moved: int  # bits read and written
    most: int = MOST  # numbers
    odd: bool = False  # the second operand


@dataclass(frozen=True, slots=True)
class Row:
    """Nanoseconds."""

    operation: str
    bits: tuple[int, int]
    count: int
    took: float
    cgbn: float | None
    bound: float


class WrongResultError(Exception):
    """Results that are not Python's: their time would mean nothing."""


class Reusing:
    """A device whose memory is handed out again when a call is over: allocation is not timed."""

    def __init__(self, device: Device) -> None:
        self._device, self.info = device, device.info
        self._free: dict[int, list[Buffer]] = {}
        self._used: list[Buffer] = []

    def alloc(self, nbytes: int) -> Buffer:
        free = self._free.get(nbytes)
        self._used.append(free.pop() if free else self._device.alloc(nbytes))
        return self._used[-1]

    def reclaim(self) -> None:
        for buffer in self._used:
            self._free.setdefault(buffer.nbytes, []).append(buffer)
        self._used.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


def cases() -> list[DeviceOperation]:
    def quotient(device: Device, a: Slabs, b: Slabs) -> Slabs | None:
        return divide(device, a, b)[0]

    found = []
    for bits, cgbn in ((256, 0.030), (1024, 0.088), (4096, 0.349)):
        found.append(
            DeviceOperation("add", (bits, bits), slabs.add, lambda a, b: a + b, None, 3 * bits + 32)
        )
        found.append(
            DeviceOperation(
                "add modulo 2^bits",
                (bits, bits),
                partial(_low_sum, bits=bits),
                partial(_low_sum_of_ints, bits=bits),
                cgbn,
                3 * bits,
            )
        )
    for bits, cgbn in ((256, 0.049), (1024, 0.256), (2048, None), (4096, 2.75), (8192, None)):
        product = lambda a, b: a * b  # noqa: E731
        found.append(DeviceOperation("multiply", (bits, bits), multiply, product, cgbn, 4 * bits))
    for bits in (256, 1024):

        def run(device: Device, a: Slabs, b: Slabs) -> Slabs:
            return multiply_add(device, a, b, a)

        found.append(
            DeviceOperation(
                "multiply_add", (bits, bits), run, lambda a, b: a * b + a, None, 5 * bits + 32
            )
        )
    for bits, cgbn in ((256, None), (1024, 1.08), (4096, 6.7)):
        found.append(
            DeviceOperation(
                "divmod", (2 * bits, bits), quotient, lambda a, b: a // b, cgbn, 6 * bits
            )
        )
    for bits in (256, 512, 1024, 1536, 2048, 3072, 4096):
        few = -(-POWERS * 1024 // bits // WAVE) * WAVE
        found.append(
            DeviceOperation(
                "powmod", (bits, bits), _power, lambda a, m: pow(a, a, m), None, 4 * bits, few, True
            )
        )
        found.append(
            DeviceOperation(
                "powmod of 65537",
                (bits, bits),
                _short_power,
                lambda a, m: pow(a, 65537, m),
                None,
                3 * bits,
                16 * few,
                True,
            )
        )
    for bits, cgbn in ((256, 4.2), (1024, 18.0), (4096, 140.0)):
        found.append(DeviceOperation("gcd", (bits, bits), gcd, _gcd, cgbn, 3 * bits))
    return found


def _low_sum(device: Device, a: Slabs, b: Slabs, *, bits: int) -> Slabs:
    return slabs.add_low(device, a, b, bits)


def _low_sum_of_ints(a: int, b: int, *, bits: int) -> int:
    return (a + b) % 2**bits


def _power(device: Device, a: Slabs, moduli: Slabs) -> Slabs:
    return powmod(device, a, a, moduli)


def _short_power(device: Device, a: Slabs, moduli: Slabs) -> Slabs:
    words = np.zeros(SLAB, np.uint32)
    words[0] = 65537
    return powmod(device, a, Slabs(slabs.upload(device, words), 1, 17), moduli)


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def random_slabs(
    device: Device,
    words: npt.NDArray[np.uint32],
    at: int,
    count: int,
    bits: int,
    odd: bool = False,
) -> Slabs:
    """Make slabs of the words from number `at` on; the topmost bit of each number is set."""
    width, whole = bits // 32, -(-count // SLAB) * SLAB
    own = words[at : at + whole * width].reshape(-1, width, SLAB).copy()
    own[:, -1] |= np.uint32(1 << 31)
    own[:, 0] |= np.uint32(odd)
    own.reshape(-1, SLAB)[-width:, (count - 1) % SLAB + 1 :] = 0
    buffer = device.alloc(own.nbytes)
    device.upload(buffer, own)
    return Slabs(buffer, count, bits)


def some_values(device: Device, x: Slabs) -> list[int]:
    few = slabs.take(device, x, slice(0, CHECKED))
    words = np.empty((few.slabs, few.width, SLAB), np.uint32)
    device.download(words, few.words)
    rows = np.ascontiguousarray(words.transpose(0, 2, 1)).astype("<u4").reshape(-1, few.width)
    return [int.from_bytes(row.tobytes(), "little") for row in rows[: few.count]]


def seconds(own: Reusing, run: SlabFunction, operands: tuple[Slabs, Slabs], calls: int) -> float:
    """Return the seconds of one of so many calls, queued one after the other."""
    own.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        run(own, *operands)
        own.reclaim()
    own.synchronize()
    return (time.perf_counter() - start) / calls


def measure(device: Device, chosen: Iterable[DeviceOperation], most: int = MOST) -> Iterable[Row]:
    """Raises WrongResultError."""
    chosen = list(chosen)
    words = np.random.default_rng(1).integers(0, 1 << 32, MOST_BYTES // 4 + (1 << 20), np.uint32)
    for case in chosen:
        count = min(most, case.most, MOST_BYTES * 8 // max(case.bits))
        own = Reusing(device)
        a = random_slabs(device, words, 0, count, case.bits[0])
        b = random_slabs(device, words, 1 << 19, count, case.bits[1], case.odd)
        result = case.run(own, a, b)  # compiles, wakes the clocks
        assert result is not None
        values = (some_values(device, x) for x in (a, b, result))
        checked = CHECKED if case.most == MOST else 8  # Python takes as long for a power
        for i, (p, q, r) in enumerate(list(zip(*values, strict=True))[:checked]):
            if case.python(p, q) != r:
                raise WrongResultError(f"{case.name} of {case.bits} bits, number {i}")
        own.reclaim()

        calls = max(1, int(RUN_SECONDS / seconds(own, case.run, (a, b), 2)))
        best = min(seconds(own, case.run, (a, b), calls) for _ in range(RUNS))
        bound = case.moved / 8 / COPY * 1e9
        yield Row(case.name, case.bits, count, best / count * 1e9, case.cgbn, bound)


def as_line(row: Row) -> str:
    bits = " by ".join(map(str, dict.fromkeys(row.bits)))
    cgbn = "" if row.cgbn is None else f"{row.cgbn:.3f}"
    times = "" if row.cgbn is None else f"{row.cgbn / row.took:.2f}"
    cells = [row.operation, bits, f"{row.count:,}", f"{row.took:.4f}", cgbn, times]
    cells += [f"{row.bound:.4f}", f"{row.bound / row.took:.0%}"]
    return "| " + " | ".join(cells) + " |"


HEAD = """\
| operation | bits | numbers | ns | CGBN, ns | CGBN over ours | bound of bytes, ns | share |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bignum_device")
    parser.add_argument("--index", type=int, default=0, help="of the CUDA device")
    parser.add_argument("--only", help="operations whose names start like this")
    parser.add_argument("--json", action="store_true", help="figures instead of a table")
    options = parser.parse_args(arguments)
    try:
        from kernels.targets.cuda.target import CudaDevice  # imports PyCUDA, which may lack

        device: Device = CudaDevice(options.index)
    except BackendUnavailableError as error:
        sys.exit(f"no CUDA device: {error}")
    chosen = [case for case in cases() if case.name.startswith(options.only or "")]
    if options.json:
        rows = [asdict(row) for row in measure(device, chosen)]
        print(json.dumps({"unit": "ns", "gpu": device.info.name, "rows": rows}, indent=1))
        return
    print(f"{device.info.name}\n\n{HEAD}")
    for row in measure(device, chosen):
        print(as_line(row), flush=True)


if __name__ == "__main__":
    main()
