"""Operations in one pass over a device's memory, where the numbers are short enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arith.integer import IntArray
from arith.operators import meet
from kernels.bignum.cuda.layouts import Slabs
from kernels.rational.cuda import rational

if TYPE_CHECKING:
    from .pairs import Operand, Pair

RatioOperation = Callable[[Any, rational.Ratios, rational.Ratios], rational.Ratios]


def fused(operation: RatioOperation, a: Operand, b: Operand) -> Pair | None:
    """Compute by kernels.rational.cuda.rational; return None where there is no such way.

    Operands and result are in lowest terms.
    """
    columns = (*a, *b)
    if all(isinstance(x, int) or x.place == "host" for x in columns):
        return None
    from kernels.bignum.cuda.engine import DeviceArithmetic

    engine, batches, _ = meet(IntArray, *columns)
    assert isinstance(engine, DeviceArithmetic)
    if not all(isinstance(x, Slabs) and x.width <= rational.WIDEST for x in batches):
        return None
    n1, d1, n2, d2 = batches
    n, d = operation(engine.device, (n1, d1), (n2, d2))
    return IntArray._of(engine, n), IntArray._of(engine, d)
