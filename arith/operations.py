"""The operations on integers: one table, from which all ways to ask for them come.

Operators and methods (arith/integer.py), functions (arith/functions.py), arith.Pool and
`arith eval` look up here what an operation takes, what is checked before anything is computed,
and what computes it. A new operation is a row here and, to be imported, its name in
arith/functions.py and arith/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.bignum.errors import (
    IndexedValueError,
    IndexedZeroDivisionError,
    NotInvertibleError,
)
from kernels.bignum.numbers import from_ints

from . import memory
from .convert import lowest_words
from .engines import Engine

Operands: TypeAlias = tuple[Any, ...]

_LONGEST_SHIFT = 1 << 62


def _as_they_are(engine: Engine, *operands: Any) -> Operands:
    return operands


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on batches of integers.

    name: of the function of `arith`. arity: batches that it takes. line: what it computes.
    kernel: from an engine and operands to a batch, or several; the method of that name if it is
    a string. prepare: from an engine and batches to the operands of the kernel; raises what is
    wrong with their values, with the first index. room: of the results, where they may be
    larger than the operands. pooled: whether arith.Pool has it, under the kernel's name. command:
    its name in `arith eval`, "" for none. rational: whether that takes rationals, too, which
    arith.rational has as a function of the same name. low: the engine's method that computes the
    same modulo a power of two, "" for none.
    """

    name: str
    arity: int
    line: str
    kernel: str | Callable[..., Any]
    prepare: Callable[..., Operands] = _as_they_are
    room: memory.Room | None = None
    pooled: bool = False
    command: str = ""
    rational: bool = False
    low: str = ""

    def prepared(self, engine: Engine, *batches: Any) -> Operands:
        """Return the operands of the kernel, after all checks.

        Raises IndexedValueError or IndexedZeroDivisionError for values that the operation does
        not take, NotEnoughMemoryError where there is no room for its results.
        """
        operands = self.prepare(engine, *batches)
        if self.room is not None:
            self.room.check(engine, *operands)
        return operands

    def computed(self, engine: Engine, *batches: Any) -> Any:
        """Return the result, a batch of that engine, or several. Raises as prepared()."""
        operands = self.prepared(engine, *batches)
        if isinstance(self.kernel, str):
            return getattr(engine, self.kernel)(*operands)
        return self.kernel(engine, *operands)

    def low_bits(self, engine: Engine, *batches: Any, bits: int) -> Any:
        """Return the result modulo 2**bits. Raises as computed()."""
        if bits > 64 + 2 * max(map(memory.longest_bits, batches)):
            # Nothing but what is negative has so many bits.
            result = self.computed(engine, *batches)
            bits = min(bits, _LONGEST_SHIFT)
            memory.LOW_BITS.check(engine, result, bits)
            return engine.low_bits(result, bits)
        return getattr(engine, self.low)(*self.prepared(engine, *batches), bits)


# --- what is checked ------------------------------------------------------------------


def check_divisor(engine: Engine, batch: Any) -> None:
    """Raise IndexedZeroDivisionError with the index of the first zero."""
    index = engine.first_zero(batch)
    if index >= 0:
        raise IndexedZeroDivisionError("division by zero", index)


def _check_modulus(engine: Engine, batch: Any) -> None:
    index = engine.first_zero(batch)
    if index >= 0:
        raise IndexedValueError("modulus zero", index)


def _first_negative(engine: Engine, batch: Any) -> int | None:
    negative = engine.sign(batch) < 0
    return int(negative.argmax()) if negative.any() else None


def _dividend_and_divisor(engine: Engine, a: Any, b: Any) -> Operands:
    check_divisor(engine, b)
    return a, b


def _shifted_and_counts(engine: Engine, a: Any, counts: Any) -> Operands:
    if (index := _first_negative(engine, counts)) is not None:
        raise IndexedValueError("negative shift count", index)
    return a, _small(engine, counts)


def _base_and_exponents(engine: Engine, a: Any, exponents: Any) -> Operands:
    if (index := _first_negative(engine, exponents)) is not None:
        raise IndexedValueError("negative exponent", index, ": the power would be no integer")
    return a, _small(engine, exponents)


def _not_negative(engine: Engine, a: Any) -> Operands:
    if (index := _first_negative(engine, a)) is not None:
        raise IndexedValueError("the number", index, " is negative")
    return (a,)


def _with_modulus(engine: Engine, a: Any, moduli: Any) -> Operands:
    _check_modulus(engine, moduli)
    return a, moduli


def _power_and_modulus(engine: Engine, a: Any, exponents: Any, moduli: Any) -> Operands:
    """Put inverses in place of the bases whose exponents are negative."""
    _check_modulus(engine, moduli)
    negative = engine.sign(exponents) < 0
    if not negative.any():
        return a, exponents, moduli
    count = next((x.count for x in (a, exponents, moduli) if x.count != 1), 1)
    if negative.all():
        if exponents.count != 1 and a.count == moduli.count == 1:
            count = 1  # one inverse serves all
        places = np.arange(count, dtype=np.int64)
    else:
        places = np.flatnonzero(negative)

    def chosen(x: Any) -> Any:
        """Return the numbers whose exponents are negative."""
        return x if x.count == 1 or len(places) == x.count else engine.take(x, places)

    try:
        inverses = engine.invert(chosen(a), chosen(moduli))
    except NotInvertibleError as error:
        raise error.moved(int(places[error.index])) from None
    if not negative.all():
        if inverses.count != 1:
            behind = np.maximum(np.cumsum(negative) - 1, 0)
            inverses = engine.take(inverses, behind)
        a = engine.select(negative, inverses, a)
    else:
        a = inverses
    return a, engine.absolute(exponents), moduli


def _small(engine: Engine, batch: Any) -> npt.NDArray[np.int64]:
    """Return numbers that are not negative as int64; what is out of all proportion is cut off."""
    low, more = lowest_words(engine.get(batch))
    small: npt.NDArray[np.int64] = np.minimum(low, np.uint64(_LONGEST_SHIFT)).astype(np.int64)
    small[more] = _LONGEST_SHIFT
    return small


# --- what engines have no method for --------------------------------------------------


def _right_shift(engine: Engine, a: Any, counts: npt.NDArray[np.int64]) -> Any:
    return engine.shift(a, -counts)


def _least(engine: Engine, a: Any, b: Any) -> Any:
    return engine.select(engine.compare(a, b) <= 0, a, b)


def _greatest(engine: Engine, a: Any, b: Any) -> Any:
    return engine.select(engine.compare(a, b) >= 0, a, b)


def _lcm(engine: Engine, a: Any, b: Any) -> Any:
    divisor = engine.gcd(a, b)
    # Where both are zero any divisor but zero will do.
    one = engine.put(from_ints([1]))
    if (zeros := engine.sign(divisor) == 0).any():
        divisor = engine.select(zeros, one, divisor)
    quotient = engine.floordiv(a, divisor)
    memory.PRODUCT.check(engine, quotient, b)
    return engine.absolute(engine.multiply(quotient, b))


_ROWS = (
    Operation(
        "add", 2, "a + b", "add", pooled=True, command="add", rational=True, low="add_low",
    ),
    Operation(
        "subtract", 2, "a - b", "subtract", pooled=True, command="sub", rational=True,
        low="subtract_low",
    ),
    Operation(
        "multiply", 2, "a * b", "multiply", room=memory.PRODUCT, pooled=True, command="mul",
        rational=True, low="multiply_low",
    ),
    Operation(
        "floor_divide", 2, "a // b, rounded down", "floordiv", _dividend_and_divisor,
        pooled=True, command="floordiv", rational=True,
    ),
    Operation(
        "remainder", 2, "a - a // b * b", "mod", _dividend_and_divisor,
        pooled=True, command="mod", rational=True,
    ),
    Operation(
        "divmod", 2, "a // b and a mod b", "divmod", _dividend_and_divisor,
        command="divmod", rational=True,
    ),
    Operation(
        "power", 2, "a to the power b", "power", _base_and_exponents, memory.POWER,
        command="pow",
    ),
    Operation(
        "powmod", 3, "a to the power b, mod c", "powmod", _power_and_modulus, command="powmod",
    ),
    Operation(
        "invert", 2, "inverse of a modulo b, as pow(a, -1, b)", "invert", _with_modulus,
        command="invert",
    ),
    Operation(
        "multiply_add", 3, "a * b + c", "multiply_add", room=memory.SUM_OF_PRODUCT,
        command="muladd",
    ),
    Operation("gcd", 2, "greatest common divisor", "gcd", pooled=True, command="gcd"),
    Operation("lcm", 2, "least common multiple", _lcm, room=memory.LCM, command="lcm"),
    Operation("left_shift", 2, "a << b", "shift", _shifted_and_counts, memory.LEFT_SHIFT),
    Operation("right_shift", 2, "a >> b, rounded down", _right_shift, _shifted_and_counts),
    Operation(
        "isqrt", 1, "square root, rounded down", "isqrt", _not_negative, command="isqrt",
    ),
    Operation("negative", 1, "-a", "negate", command="neg", rational=True),
    Operation("absolute", 1, "|a|", "absolute", command="abs", rational=True),
    Operation("minimum", 2, "the smaller of a and b", _least),
    Operation("maximum", 2, "the larger of a and b", _greatest),
)  # fmt: skip

OPERATIONS = {row.name: row for row in _ROWS}
