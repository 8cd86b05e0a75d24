"""arith bench: rates of operations on random numbers, beside other machines and gmpy2."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import click
import gmpy2
import numpy as np

from arith import engines
from arith.functions import invert
from arith.integer import IntArray
from bulkbits.comparison import Comparison, Row, present
from bulkbits.options import backend_option, device_option, json_option
from bulkbits.timing import TimedRunner, compete
from kernels.targets import cpu

ROUNDS = 5
SECONDS = 0.5  # of a row, all rounds together
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
    "powmod": (lambda a, b, c: a.powmod(65537, b), lambda a, b, c: gmpy2.powmod(a, 65537, b)),
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
    """Measure this machine beside the figures of benchmarks/RESULTS.md, in a table to paste.

    Rows are operations on random numbers of some sizes, with numbers that fill them. divmod and
    isqrt are of numbers of twice the bits. A divisor or a factor is always odd. invert is modulo 2
    to the power of the bits, powmod the power by 65537. Columns with "/" say how many times as fast
    this machine is: also as gmpy2 in a loop on one core, by turns with ours.
    """
    place = _place(backend, device)
    comparison = Comparison("arith", place, place.partition(":")[0], cpu.model())
    tasks = [
        partial(_measure, name, size, count, place) for size in bits for name in names or OPERATIONS
    ]
    present(comparison, tasks, as_json=as_json)


@lru_cache(maxsize=1)
def _operands(
    bits: int, count: int | None, place: str
) -> tuple[list[IntArray], list[tuple[Any, ...]]]:
    """Return arrays at a place, two of so many bits and one of twice as many, and some rows of the
    same as gmpy2's numbers. Those of the last size are kept."""
    most, total = (1 << 22, 1 << 30) if place.startswith("cuda") else (1 << 20, 1 << 27)
    count = count or max(1000, min(most, total // bits))
    host = [_random(bits * times, count, seed) for seed, times in enumerate((1, 1, 2))]
    few = [[gmpy2.mpz(v) for v in array[:_LOOP].to_ints()] for array in host]
    return [array.to(place) for array in host], list(zip(*few, strict=True))


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


def _measure(name: str, bits: int, count: int | None, place: str) -> Row:
    """Measure an operation by turns with gmpy2."""
    bulk, single = OPERATIONS[name]
    arrays, rows = _operands(bits, count, place)

    def ours(times: int) -> None:
        result: Any = None
        for _ in range(times):
            result = None  # whose memory is used again
            result = bulk(*arrays)
        last = result[-1] if isinstance(result, tuple) else result
        if last.place == "device":
            last[:1].sign()  # waits for the device

    def loop(times: int) -> None:
        for _ in range(times):
            for row in rows:
                single(*row)

    runners = [TimedRunner(len(arrays[0]), ours), TimedRunner(len(rows), loop)]
    mine, theirs = compete(runners, SECONDS, rounds=ROUNDS)
    return Row(
        name,
        f"{bits} bits",
        "numbers",
        mine,
        {"gmpy2": theirs},
        details={"bits": bits, "count": len(arrays[0]), "ns": 1e9 / mine.median},
    )
