"""arith eval: arithmetic on files of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import click
import numpy as np
from gmpy2 import mpz

from arith import functions, rational
from arith.cli.operands import Numbers, Operand, batches
from arith.cli.slow import say_if_slow
from arith.factors.trees import product
from arith.integer import IntArray
from arith.operations import OPERATIONS, Operation
from arith.rational import RationalArray
from bulkbits.files import check_out, reading, writing
from bulkbits.options import force_option, out_option
from bulkbits.overwriting import begins
from kernels.bignum.errors import IndexedValueError, IndexedZeroDivisionError


@dataclass(frozen=True, slots=True)
class Calculation:
    """An operation of `arith eval`.

    compute: from a batch of each operand to the columns of the result. rational: whether it
    takes rationals, too. modular: whether it takes bits=, of a power of two to be its modulus.
    """

    arity: int
    line: str
    compute: Callable[..., tuple[Any, ...]]
    rational: bool = False
    modular: bool = False


def _one(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    return lambda *operands: (function(*operands),)


def _of_row(row: Operation) -> Calculation:
    """Return what a row of the table of operations on integers is here."""

    def compute(*operands: Any, **modulo: int) -> tuple[Any, ...]:
        of_rationals = any(isinstance(numbers, RationalArray) for numbers in operands)
        result = getattr(rational if of_rationals else functions, row.name)(*operands, **modulo)
        return result if isinstance(result, tuple) else (result,)

    return Calculation(row.arity, row.line, compute, row.rational, modular=bool(row.low))


def _shifted(a: IntArray, counts: IntArray) -> IntArray:
    return (a << counts.maximum(0)) >> (-counts).maximum(0)


def _compared(a: Numbers, b: Numbers) -> IntArray:
    return IntArray((a > b).astype(np.int8) - (a < b).astype(np.int8))


CALCULATIONS = {row.command: _of_row(row) for row in OPERATIONS.values() if row.command} | {
    "div": Calculation(2, "a / b, a rational", _one(lambda a, b: RationalArray(a) / b), True),
    "shift": Calculation(2, "a shifted left by b bits, right if b < 0", _one(_shifted)),
    "bit_length": Calculation(1, "bits of |a|", _one(lambda a: IntArray(a.bit_length()))),
    "cmp": Calculation(2, "-1, 0 or 1 as a is less than, equal to or more than b",
                       _one(_compared), True),
    "sum": Calculation(1, "of all numbers, one line", _one(lambda a: a.sum()), True),
    "prod": Calculation(1, "of all numbers, one line", _one(lambda a: a.prod()), True),
}  # fmt: skip
_FOLDS = ("sum", "prod")


class _Command(click.Command):
    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Operations"):
            formatter.write_dl(
                [
                    (" ".join([name, *"ABC"[: each.arity]]), each.line)
                    for name, each in CALCULATIONS.items()
                ]
            )


_INTEGER = rb"[-+]?(?:0[xX][0-9a-fA-F]*|[0-9]*)"  # which may be cut off anywhere
_NUMBER = re.compile(rb"%b(?:/%b)?" % (_INTEGER, _INTEGER))


def _are_numbers(head: bytes) -> bool:
    lines = (line.split() for line in head.split(b"\n"))
    return all(
        words[0].startswith(b"#") or all(map(_NUMBER.fullmatch, words)) for words in lines if words
    )


_NUMBERS = begins("file of numbers", _are_numbers)


@click.command("eval", cls=_Command)
@click.argument("operation", metavar="OP", type=click.Choice(list(CALCULATIONS)))
@click.argument("files", metavar="A [B [C]]", nargs=-1, required=True)
@out_option()
@force_option
@click.option(
    "--bits",
    type=click.IntRange(min=1),
    help="Compute modulo 2^BITS, as in words of so many bits: add, sub and mul of integers.",
)
@click.option("--hex", "as_hex", is_flag=True, help="Write 0x hex, not decimal.")
@click.option(
    "--backend",
    type=click.Choice(["cpu", "cuda", "reference"]),
    help="What computes. [the CPU: reading and writing digits takes longest]",
)
def command(
    operation: str,
    files: tuple[str, ...],
    out: str,
    force: bool,
    bits: int | None,
    as_hex: bool,
    backend: str | None,
) -> None:
    """Compute OP on the numbers in files A, B and C (or - for standard input), line by line.

    Numbers are decimal or 0x hex, one a line; blank lines and those that start with # are
    skipped. A file with one number stands for as many as the others have. Rationals are
    written 3/4; operations that are not only of integers take them, and return them in
    lowest terms. Results come a line each, in batches, so that files may be of any length.
    A FILE for the results appears when all went well, or not at all.
    """
    chosen = CALCULATIONS[operation]
    if bits is not None:
        if not chosen.modular:
            able = ", ".join(name for name, each in CALCULATIONS.items() if each.modular)
            raise click.UsageError(f"{operation} takes no --bits, only {able} do")
        chosen = replace(chosen, compute=partial(chosen.compute, bits=bits), rational=False)
    if len(files) != chosen.arity:
        raise click.UsageError(f"{operation} takes {chosen.arity} files, not {len(files)}")
    if files.count("-") > 1:
        raise click.UsageError("standard input is only one of the operands")
    check_out(out, _NUMBERS, files, force)
    if backend is None:
        say_if_slow()
    base = 16 if as_hex else 10
    with ExitStack() as stack:
        operands = [
            Operand(stack.enter_context(reading(path)), path, backend or "host") for path in files
        ]
        with writing(out) as stream:
            folded: list[Any] = []
            for batch in batches(operands):
                results = _computed(chosen, operation, operands, batch)
                if operation in _FOLDS:
                    folded.append(results[0])
                else:
                    stream.write(_lines(results, base))
            if operation in _FOLDS:
                total = sum(folded) if operation == "sum" else _product(folded)
                stream.write(_lines([_array(total)], base))


def _computed(
    chosen: Calculation, name: str, operands: Sequence[Operand], batch: Sequence[Numbers]
) -> tuple[Any, ...]:
    """Return the results of a batch.

    Raises ClickException with files and lines of what is wrong.
    """
    if not chosen.rational:
        for operand, numbers in zip(operands, batch, strict=True):
            if isinstance(numbers, RationalArray):
                index = int((numbers.denominator > 1).argmax())
                raise click.ClickException(f"{operand.place_of(index)}: {name} takes integers")
    elif any(isinstance(numbers, RationalArray) for numbers in batch):
        batch = [RationalArray(numbers) for numbers in batch]
    length = max(map(len, batch))
    alike = [
        numbers if len(numbers) == length else numbers[np.zeros(length, np.int64)]
        for numbers in batch
    ]
    try:
        return chosen.compute(*alike)
    except (IndexedValueError, IndexedZeroDivisionError) as error:
        where = ", ".join(operand.place_of(error.index) for operand in operands)
        raise click.ClickException(f"{where}: {error.reason}") from None


def _product(factors: Sequence[int | Fraction]) -> Fraction:
    above = product([mpz(factor.numerator) for factor in factors])
    below = product([mpz(factor.denominator) for factor in factors])
    return Fraction(int(above), int(below))


def _array(number: int | Fraction) -> Numbers:
    if number.denominator == 1:
        return IntArray([number.numerator])
    return RationalArray([number])


def _lines(columns: Sequence[Numbers], base: int) -> bytes:
    if len(columns) == 1 and isinstance(columns[0], IntArray):
        return columns[0].to_lines(base).encode()
    rows = zip(*(_texts(column, base) for column in columns), strict=True)
    return "".join(" ".join(row) + "\n" for row in rows).encode()


def _texts(numbers: Numbers, base: int) -> list[str]:
    if isinstance(numbers, IntArray):
        return numbers.to_lines(base).splitlines()
    above = numbers.numerator.to_lines(base).splitlines()
    below = numbers.denominator.to_lines(base).splitlines()
    one = "1" if base == 10 else "0x1"
    return [n if d == one else f"{n}/{d}" for n, d in zip(above, below, strict=True)]
