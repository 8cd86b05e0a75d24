"""Pool: many computations of mixed operations and lengths, in one launch."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from kernels.bignum.plan import PoolOperation

from . import engines
from .integer import IntArray, Other
from .memory import NotEnoughMemoryError, refuse
from .operations import OPERATIONS as ROWS
from .operators import meet

_POOLED = {str(row.kernel): row for row in ROWS.values() if row.pooled}
OPERATIONS = tuple(_POOLED)


class Results:
    """The results that Pool.submit() promises."""

    def __init__(self, operation: str, a: IntArray, b: IntArray, count: int) -> None:
        self.operation, self.a, self.b, self._count = operation, a, b, count
        self.array: IntArray | None = None
        room = _POOLED[operation].room
        # Bytes: an upper bound until measure(); 0 where results are as short as operands.
        self.nbytes = 0.0 if room is None else room.bound(a._batch, b._batch)
        self._measured = room is None

    def measure(self) -> float:
        """Return the bytes that the results need, from the lengths of all numbers."""
        room = _POOLED[self.operation].room
        if room is not None and not self._measured:
            engine = self.a._engine
            self.nbytes = room.exact(engine, self.a._batch, self.b._on(engine))
            self._measured = True
        return self.nbytes

    def __len__(self) -> int:
        return self._count

    def get(self) -> IntArray:
        """Return the results in the order of the operands, each time as an array of its own.

        Raises RuntimeError before Pool.run().
        """
        if self.array is None:
            raise RuntimeError("the pool has not run yet")
        return IntArray(self.array)


class Pool:
    """Collect computations, each with its own operation and operand lengths, to make all at once.

    On a GPU that is one launch: warps take work as they get free, each lane a computation
    or, where numbers are long, all lanes one; only operands go up and only results come
    down (Langer 2015; Gusenbauer 2015, 6.3). On the CPU threads share the work.

    Any number of threads may use one at once: while one of them runs it, who submits waits.

    place: as in IntArray.to(). Raises kernels.targets.contract.BackendUnavailableError.

    >>> pool = Pool()
    >>> products = pool.submit("multiply", [2**100, 3], [5, -7])
    >>> rests = pool.submit("mod", IntArray([10**30]), 97)
    >>> pool.run()
    >>> products.get(), rests.get()
    (IntArray([0x50000000000000000000000000, -21]), IntArray([50]))
    """

    def __init__(self, place: str = "host") -> None:
        self._place = place
        self._engine = engines.named(place)
        self._waiting: list[Results] = []
        self._nbytes = 0.0  # of the results of what waits, at most
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Make copies wait for the same results; pickles and deep copies for some of their own."""
        return (
            type(self),
            (self._place,),
            {"_waiting": list(self._waiting), "_nbytes": self._nbytes},
        )

    def __len__(self) -> int:
        """Return how many computations wait for run()."""
        return sum(len(results) for results in tuple(self._waiting))

    def submit(self, operation: str, a: Other, b: Other) -> Results:
        """Put work into the pool.

        operation: one of OPERATIONS. Operands are as those of IntArray's operators.

        Raises ValueError for an unknown operation or lengths that differ, ZeroDivisionError
        with the index of a divisor that is zero, MemoryError where the results, beside those of
        what waits already, would need more than there is.
        """
        if operation not in OPERATIONS:
            raise ValueError(f"unknown operation {operation!r}: one of {', '.join(OPERATIONS)}")
        engine, (x, y), count = meet(IntArray, a, b)
        _POOLED[operation].prepared(engine, x, y)
        operands = IntArray._of(engine, x), IntArray._of(engine, y)
        results = Results(operation, *operands, 1 if count is None else count)
        with self._lock:
            self._check_room(results)
            self._waiting.append(results)
            self._nbytes += results.nbytes
        return results

    def _check_room(self, results: Results) -> None:
        """Raise NotEnoughMemoryError where what waits leaves no room for these results."""
        try:
            refuse(self._nbytes + results.nbytes, "the pool")
        except NotEnoughMemoryError:  # by upper bounds
            self._nbytes = sum(each.measure() for each in self._waiting)
            refuse(self._nbytes + results.measure(), "the pool")

    def run(self) -> None:
        """Make all that waits, at once. What was interrupted or failed still waits."""
        with self._lock:
            self._run()

    def _run(self) -> None:
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
        self._nbytes = 0.0

    def _on_host(self, results: Results) -> IntArray:
        engine = self._engine
        operation = getattr(engine, results.operation)
        return IntArray._of(engine, operation(results.a._on(engine), results.b._on(engine)))

    def _on_device(self, work: list[Results]) -> list[IntArray]:
        if not work:
            return []
        counts = [len(results) for results in work]
        codes = [PoolOperation[results.operation.upper()] for results in work]
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
    """Return one operand of all the computations; what stands for many is repeated."""
    return IntArray.concatenate(
        x if len(x) == count else x[np.zeros(count, np.int64)]
        for x, count in zip(arrays, counts, strict=True)
    )
