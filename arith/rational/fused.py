"""Operations in one pass over memory, where the numbers are short enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from arith import engines
from arith.integer import IntArray
from arith.operators import meet
from kernels.bignum.cuda.layouts import Slabs

if TYPE_CHECKING:
    from .pairs import Operand, Pair

OperationName = Literal["add", "subtract", "multiply", "divide"]


def fused(name: OperationName, a: Operand, b: Operand) -> Pair | None:
    """Compute by kernels.rational; return None where it has no such way.

    Operands and result are in lowest terms.
    """
    columns = (*a, *b)
    if all(isinstance(x, int) for x in columns):
        return None
    engine, batches, _ = meet(IntArray, *columns)
    done = (_on_host if engines.is_host(engine) else _on_device)(name, engine, batches)
    return done and (IntArray._of(engine, done[0]), IntArray._of(engine, done[1]))


def _on_host(name: OperationName, engine: Any, batches: list[Any]) -> tuple[Any, Any] | None:
    if engine.name == "reference":
        return None
    from kernels.rational.cpu import rational

    n1, d1, n2, d2 = batches
    done: tuple[Any, Any] | None = getattr(rational, name)(engine, (n1, d1), (n2, d2))
    return done


def _on_device(name: OperationName, engine: Any, batches: list[Any]) -> tuple[Any, Any] | None:
    from kernels.rational.cuda import rational

    if not all(isinstance(x, Slabs) and x.width <= rational.WIDEST for x in batches):
        return None
    n1, d1, n2, d2 = batches
    done: tuple[Any, Any] = getattr(rational, name)(engine.device, (n1, d1), (n2, d2))
    return done
