"""arith bench: rates of operations on random numbers, beside a loop over gmpy2."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import click
import gmpy2
import numpy as np

from arith import engines
from arith.functions import invert
from arith.integer import IntArray
from bulkbits.options import backend_option, device_option, json_option

ROUNDS = 5
_LOOP = 2000  # numbers in the loop over gmpy2


class Sizes(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Bits: 256 or 256,1024."""

    name = "BITS[,BITS...]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """Return the sizes in bits, as click asks for them."""
        if isinstance(value, tuple):
            return value
        parts = value.split(",")
        if not all(part.isascii() and part.isdecimal() and len(part) < 9 for part in parts):
            self.fail(f"{value!r} are no sizes: write 256 or 256,1024", param, ctx)
        sizes = tuple(map(int, parts))
        if not all(1 <= size <= 1 << 20 for size in sizes):
            self.fail(f"{value!r}: sizes are 1 to {1 << 20} bits", param, ctx)
        return sizes


# Name, and the operation on operands a, b of so many bits, c of twice as many, for IntArrays
# and for gmpy2's numbers.
OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda a, b, c: a + b, lambda a, b, c: a + b),
    "mul": (lambda a, b, c: a * b, lambda a, b, c: a * b),
    "muladd": (lambda a, b, c: a.multiply_add(b, c), lambda a, b, c: a * b + c),
    "divmod": (lambda a, b, c: divmod(c, b), lambda a, b, c: divmod(c, b)),
    "gcd": (lambda a, b, c: a.gcd(b), lambda a, b, c: gmpy2.gcd(a, b)),
    "isqrt": (lambda a, b, c: c.isqrt(), lambda a, b, c: gmpy2.isqrt(c)),
    "invert": (
        lambda a, b, c: invert(a, 1 << int(a[:1].bit_length()[0])),
        lambda a, b, c: gmpy2.invert(a, gmpy2.mpz(1) << a.bit_length()),
    ),
}


@click.command("bench")
@click.option("--bits", type=Sizes(), default="256,1024,4096", help="[256,1024,4096]")
@click.option(
    "--op", "names", type=click.Choice(list(OPERATIONS)), multiple=True, help="Several times, too."
)
@click.option("--count", type=click.IntRange(1, 1 << 26), help="Numbers at a time. [by size]")
@backend_option()
@device_option
@json_option
def command(
    bits: tuple[int, ...],
    names: tuple[str, ...],
    count: int | None,
    backend: str,
    device: int,
    as_json: bool,
) -> None:
    """Measure operations on random numbers of some sizes, with numbers that fill them.

    divmod and isqrt are of numbers of twice the bits. The ratio is that of gmpy2's time for
    one, in a loop on one core, to ours: the median over rounds taken by turns. A divisor
    or a factor is always odd. invert is modulo 2 to the power of the bits.
    """
    place = _place(backend, device)
    results = []
    if not as_json:
        click.echo(f"{place}; median of {ROUNDS} rounds")
        click.echo(f"{'operation':>9} {'bits':>7} {'count':>9} {'ns each':>12} {'gmpy2':>7}")
    for size in bits:
        number = count or max(1000, min(1 << 20, (1 << 27) // size))
        operands = [_random(size * wide, number, seed) for seed, wide in enumerate((1, 1, 2))]
        arrays = [array.to(place) for array in operands]
        few = [[gmpy2.mpz(v) for v in array[: min(_LOOP, number)].to_ints()] for array in operands]
        for name in names or OPERATIONS:
            nanoseconds, ratio = _measure(name, arrays, few)
            results.append(
                {"operation": name, "bits": size, "count": number, "ns": nanoseconds,
                 "gmpy2_ratio": ratio}
            )  # fmt: skip
            if not as_json:
                click.echo(f"{name:>9} {size:>7} {number:>9} {nanoseconds:>12,.2f} {ratio:>6.1f}x")
    if as_json:
        click.echo(json.dumps({"place": place, "results": results}))


def _place(backend: str, device: int) -> str:
    """Return the place that computes. Raises BackendUnavailableError where there is none."""
    from kernels.targets.contract import BackendUnavailableError

    if backend in ("auto", "cuda"):
        try:
            engines.named(f"cuda:{device}")
            return f"cuda:{device}"
        except BackendUnavailableError:
            if backend == "cuda":
                raise
    engine = engines.host() if backend == "auto" else engines.named(backend)
    return engine.name


def _random(bits: int, count: int, seed: int) -> IntArray:
    """Odd numbers of exactly so many bits."""
    words = -(-bits // 64)
    limbs = np.random.default_rng(seed).integers(0, 2**64, (count, words), np.uint64)
    spare = 64 * words - bits
    limbs[:, -1] &= np.uint64(2**64 - 1 >> spare)
    limbs[:, -1] |= np.uint64(1 << 63 - spare)
    limbs[:, 0] |= np.uint64(1)
    return IntArray.from_limbs(limbs)


def _measure(name: str, arrays: list[IntArray], few: list[list[Any]]) -> tuple[float, float]:
    """Nanoseconds of one, and how many times as long gmpy2 takes."""
    bulk, single = OPERATIONS[name]
    rows = list(zip(*few, strict=True))

    def ours() -> None:
        result = bulk(*arrays)
        last = result[-1] if isinstance(result, tuple) else result
        if last.place == "device":
            last[:1].sign()  # waits for the device

    def loop() -> None:
        for row in rows:
            single(*row)

    ours()
    times, ratios = [], []
    for _ in range(ROUNDS):
        mine = _seconds(ours) / len(arrays[0])
        theirs = _seconds(loop) / len(rows)
        times.append(mine)
        ratios.append(theirs / mine)
    return statistics.median(times) * 1e9, statistics.median(ratios)


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
