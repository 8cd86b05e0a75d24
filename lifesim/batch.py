"""Many small universes of one size, moved on together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernels.life.batch import run_batch as run_words
from kernels.life.contract import LifeShape, Words
from kernels.life.rules import LifeRule, MapRule
from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim.errors import LifesimError
from lifesim.rule import LIFE, Rule
from lifesim.topology import Topology


def run_batch(
    words: Words,
    width: int,
    generations: int,
    *,
    rule: Rule | str = LIFE,
    topology: Topology | str = Topology.TORUS,
    backend: Target | str = "auto",
    device: int | Sequence[int] = 0,
    threads: int | None = None,
) -> Words:
    """Return universes moved on by generations, as an array of its own; `words` is not changed.

    words: uint64 (universes, height, ceil(width / 64)), each universe packed as BitGrid.words is.
    topology: "torus" or "plane", of each. backend, device, threads: as of Life(). On a GPU all are
    moved on at once if each fits the registers of a block: planes up to about 500 cells
    square, and tori whose width and height are multiples of 32. Others follow one another.
    Raises ValueError for other arrays, fewer than 0 generations, an unknown topology or backend,
    RuleError, LifesimError for a rule of more than two states or nine cells,
    BackendUnavailableError, and MemoryError.

    >>> soups = np.stack([random_grid(128, 128, 0.4, n).words for n in range(10_000)])
    >>> settled = run_batch(soups, 128, 5000)
    """
    chosen = rule if isinstance(rule, Rule) else Rule.parse(rule)
    if not isinstance(chosen.cells, LifeRule | MapRule):
        raise LifesimError(f"rule {chosen}: batches are of two states and nine cells")
    if generations < 0:
        raise ValueError(f"{generations} generations")
    if words.dtype != np.uint64 or words.ndim != 3 or not words.shape[1]:
        raise ValueError(f"{words.dtype} {words.shape} for universes of packed cells")
    shape = LifeShape(width, words.shape[1], Topology(topology) is Topology.TORUS)
    if width < 1 or words.shape[2] != shape.row_words:
        raise ValueError(f"{words.shape[2]} words a row for a width of {width}")
    if width % 64 and np.any(words[..., -1] >> np.uint64(width % 64)):
        raise ValueError("padding bits of the last word must be zero")
    target = pick(backend, device=device, threads=threads) if isinstance(backend, str) else backend
    return run_words(target, np.ascontiguousarray(words), shape, chosen.cells, generations)
