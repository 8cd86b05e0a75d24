"""Pool: many computations of mixed operations and lengths, in one launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.bignum.pool import Operation

from . import engines
from .integer import IntArray, Other
from .operators import check_divisor, meet

OPERATIONS = ("add", "subtract", "multiply", "floordiv", "mod", "gcd")


class Results:
    """What Pool.submit() promises."""

    def __init__(self, operation: str, a: IntArray, b: IntArray, count: int) -> None:
        self.operation, self.a, self.b, self._count = operation, a, b, count
        self.array: IntArray | None = None

    def __len__(self) -> int:
        return self._count

    def get(self) -> IntArray:
        """In the order of the operands. Raises RuntimeError before Pool.run()."""
        if self.array is None:
            raise RuntimeError("the pool has not run yet")
        return self.array


class Pool:
    """Collects computations, each with its own operation and operand lengths; run() makes
    them all at once.

    On a GPU that is one launch: warps take work as they get free, each lane a computation
    or, where numbers are long, all lanes one; only operands go up and only results come
    down (Langer 2015; Gusenbauer 2015, 6.3). On the CPU threads share the work.

    place: as in IntArray.to(). Raises kernels.backend.BackendUnavailableError.

    >>> pool = Pool()
    >>> products = pool.submit("multiply", [2**100, 3], [5, -7])
    >>> rests = pool.submit("mod", IntArray([10**30]), 97)
    >>> pool.run()
    >>> products.get(), rests.get()
    (IntArray([0x50000000000000000000000000, -21]), IntArray([50]))
    """

    def __init__(self, place: str = "host") -> None:
        self._engine = engines.named(place)
        self._waiting: list[Results] = []

    def __len__(self) -> int:
        """Computations that wait for run()."""
        return sum(len(results) for results in self._waiting)

    def submit(self, operation: str, a: Other, b: Other) -> Results:
        """operation: one of OPERATIONS. Operands are as those of IntArray's operators.

        Raises ValueError for an unknown operation or lengths that differ, ZeroDivisionError
        with the index of a divisor that is zero.
        """
        if operation not in OPERATIONS:
            raise ValueError(f"unknown operation {operation!r}: one of {', '.join(OPERATIONS)}")
        engine, (x, y), count = meet(IntArray, a, b)
        if operation in ("floordiv", "mod"):
            check_divisor(engine, y)
        operands = IntArray._of(engine, x), IntArray._of(engine, y)
        results = Results(operation, *operands, 1 if count is None else count)
        self._waiting.append(results)
        return results

    def run(self) -> None:
        """Make all that waits. What was interrupted or failed still waits."""
        work = [results for results in self._waiting if len(results)]
        if engines.is_host(self._engine):
            arrays = [self._on_host(results) for results in work]
        else:
            arrays = self._on_device(work)
        for results, array in zip(work, arrays, strict=True):
            results.array = array
        for results in self._waiting:
            results.array = IntArray() if results.array is None else results.array
        self._waiting.clear()

    def _on_host(self, results: Results) -> IntArray:
        engine = self._engine
        operation = getattr(engine, results.operation)
        return IntArray._of(engine, operation(results.a._on(engine), results.b._on(engine)))

    def _on_device(self, work: list[Results]) -> list[IntArray]:
        if not work:
            return []
        counts = [len(results) for results in work]
        codes = [Operation[results.operation.upper()] for results in work]
        a = _side([results.a for results in work], counts)
        b = _side([results.b for results in work], counts)
        engine: Any = self._engine
        whole = engine.pool(
            np.repeat(np.array(codes, np.uint8), counts), a._on(engine), b._on(engine)
        )
        array = IntArray._of(engine, whole)
        ends = np.cumsum(counts).tolist()
        return [array[end - count : end] for count, end in zip(counts, ends, strict=True)]


def _side(arrays: list[IntArray], counts: list[int]) -> IntArray:
    """One operand of all the computations; what stands for many is repeated."""
    return IntArray.concatenate(
        x if len(x) == count else x[np.zeros(count, np.int64)]
        for x, count in zip(arrays, counts, strict=True)
    )
