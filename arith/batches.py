"""A batch of integers and the engine that has it: what an IntArray is, without its operators."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from kernels.bignum.numbers import Numbers

from . import convert, engines, text

Array = TypeVar("Array", bound="IntegerBatch")


class IntegerBatch:
    """Integers where an engine has them. Subclasses add what can be done with them.

    values: Python ints, a numpy array of an integer dtype (or of objects that are ints),
    or an IntegerBatch. Raises TypeError, with the first index, for anything else.
    """

    __slots__ = ("_batch", "_engine")

    def __init__(self, values: Any = ()) -> None:
        self._engine: engines.Engine = engines.host()
        self._batch: Any
        if isinstance(values, IntegerBatch):
            self._engine, self._batch = values._engine, values._batch
            return
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise ValueError(f"an IntArray has one dimension, not {values.shape}")
            if np.ma.is_masked(values):
                raise ValueError("a masked number has no value")
            if values.dtype.kind in "iub":
                self._batch = self._engine.put(convert.from_numpy(values))
                return
            if values.dtype.kind != "O":
                raise TypeError(f"integers are wanted, not {values.dtype}")
        if isinstance(values, (str, bytes, bytearray, memoryview, int, np.integer)):
            raise TypeError(f"a sequence of integers is wanted, not {type(values).__name__}")
        self._batch = self._engine.put(text.numbers_of(values))

    @classmethod
    def _of(cls: type[Array], engine: engines.Engine, batch: Any) -> Array:
        array = cls.__new__(cls)
        array._engine, array._batch = engine, batch
        return array

    def _on(self, engine: engines.Engine) -> Any:
        """Return the batch as that engine has it."""
        if engine is self._engine or (engines.is_host(engine) and engines.is_host(self._engine)):
            return self._batch
        return engine.put(self.numbers())

    def _become(self, other: IntegerBatch) -> None:
        """Take the numbers of another array, for `out=`, which alone changes arrays."""
        self._engine, self._batch = other._engine, other._batch

    def numbers(self) -> Numbers:
        """Return the numbers as the kernels have them in host memory; copied only from a device."""
        numbers: Numbers = self._engine.get(self._batch)
        return numbers

    def __len__(self) -> int:
        return int(self._batch.count)
