"""Many universes of one size moved on at once: on a GPU together, elsewhere one after the other."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from kernels.life import engine_for
from kernels.life.contract import LifeShape, Words
from kernels.life.rules import NineCellRule
from kernels.targets.contract import Target


def run_batch(
    target: Target, words: Words, shape: LifeShape, rule: NineCellRule, generations: int
) -> Words:
    """Return universes of a shape moved on by generations, as an array of its own.

    words: uint64 (universes, height, ceil(width / 64)), C-contiguous, padding bits zero. Of several
    GPUs the first computes. Raises MemoryError.
    """
    if words.dtype != np.uint64 or words.shape[1:] != (shape.height, shape.row_words):
        raise ValueError(f"{words.dtype} {words.shape} for universes of {shape}")
    made = np.empty_like(words)
    if not len(words):
        return made
    if target.devices:
        from kernels.life.cuda import batch

        if plan := batch.batch_plan(shape, rule):
            return batch.run_batch(target.devices[0], plan, words, rule, generations)
    with closing(engine_for(target).arena([shape], 1, rule)) as arena:
        for before, after in zip(words, made, strict=True):
            universe = arena.open(0, shape)
            universe.put(0, before)
            universe.step(generations)
            universe.get(0, after)
    return made
