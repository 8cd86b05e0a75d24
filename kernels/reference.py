"""The slow backend that always works: numpy, one byte a cell."""

from __future__ import annotations

import numpy as np

from kernels.backend import Backend, LifeUniverse, Words
from kernels.life import ref


class ReferenceBackend(Backend):
    name = "reference"

    def describe(self) -> str:
        return "numpy reference, one thread"

    def life(
        self, words: Words, width: int, height: int, *, torus: bool, birth: int, survival: int
    ) -> LifeUniverse:
        return ReferenceLife(words, width, height, torus, birth, survival)


class ReferenceLife(LifeUniverse):
    stride = 1

    def __init__(
        self, words: Words, width: int, height: int, torus: bool, birth: int, survival: int
    ) -> None:
        self.width, self.height, self.generation = width, height, 0
        self._torus, self._birth, self._survival = torus, birth, survival
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=width, bitorder="little")
        self._cells = bits.view(np.bool_)

    def step(self, generations: int) -> None:
        for _ in range(generations):
            self._cells = ref.step(self._cells, self._birth, self._survival, self._torus)
            self.generation += 1

    def words(self) -> Words:
        words = np.zeros((self.height, -(-self.width // 64)), np.uint64)
        packed = np.packbits(self._cells, axis=1, bitorder="little")
        words.view(np.uint8)[:, : packed.shape[1]] = packed
        return words
