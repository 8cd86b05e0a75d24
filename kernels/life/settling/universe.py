"""A universe that costs what changes in it, in host memory, or on a device (`cuda/universe.py`).

As a whole it is moved on by the passes of kernels/life. From time to time some of its cells are
compared with what they were some generations before. Where most of them are the same, the
compiled rounds of `cpu/` take over: they compute only what is other than twelve generations ago, or
near to that. Both are exact, so that the choice is one of speed alone; it depends on nothing but
the cells and what is asked for, never on the clock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from kernels.life.contract import LifeShape, LifeUniverse, Words
from kernels.life.cpu.compiled import compiled_rule
from kernels.life.rules import CellRule, LifeRule, MapRule, NineCellRule
from kernels.life.settling.costs import SETTLING_COSTS, Looks
from kernels.targets.contract import Target
from kernels.targets.cpu import CpuTarget
from kernels.targets.memory import available_memory

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

STEPS = 4  # generations of a round
LEAST = 128  # cells along a side
_SAMPLE = 64  # cells along a side of a sample
_SAMPLES = 192
_SPREAD = 0.7548776662466927  # the root of x³ + x² = 1
_SOME = 64  # rounds between looks at how many windows they took
_SHARE = 4  # of the memory that is free it takes a quarter at most


def settling(
    universe: LifeUniverse, target: Target, rule: CellRule, *, torus: bool
) -> LifeUniverse:
    """Return a universe as one that settles, where there is such: by a rule of two states and nine
    cells, with sides of 128 cells or more, on the CPU, or, where it is large, on one GPU. Others
    are returned as they are."""
    if not isinstance(rule, LifeRule | MapRule) or min(universe.width, universe.height) < LEAST:
        return universe
    shape = LifeShape(universe.width, universe.height, torus)
    if isinstance(target, CpuTarget):
        return SettlingLife(universe, target, shape, rule)
    if len(target.devices) == 1:
        from kernels.life.settling.cuda.universe import on_device

        return on_device(universe, shape, rule)
    return universe


class Rounds(Protocol):
    """Computes a universe where it changes, once it has taken the cells."""

    def rounds(self) -> int:
        """Return how many have been made since then."""

    def windows(self) -> int:
        """Return how many windows the last of them took."""

    def step(self, count: int, stopped: Callable[[], bool] | None, /) -> None:
        """Make rounds, or fewer where stopped() becomes true meanwhile."""

    def get(self, y: int, words: Words, /) -> None:
        """Write rows into `words`."""


class SettlingLife(LifeUniverse):
    """A universe that is computed as a whole, or where it changes.

    Computed where it changes, it stands at the end of a round, and up to three generations further
    on: these are made, as a whole, when somebody asks for the cells.
    """

    def __init__(
        self,
        whole: LifeUniverse,
        target: CpuTarget | None,
        shape: LifeShape,
        rule: NineCellRule,
        costs: Looks = SETTLING_COSTS,
    ) -> None:
        """Take over a universe, at generation 0, that nobody else may use any more. target: None
        for a subclass that does not make its rounds with it."""
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self.stride = whole.stride
        self._whole, self._target, self._rule, self._costs = whole, target, rule, costs
        self._torus = shape.torus
        self._span = costs.span  # generations of a pass by which it looks
        self._rounds: Rounds | None = None
        self._by_rounds = False  # whether that has the cells
        self._within = 0  # generations that these are behind
        self._begun = 0  # the generation at which it has had them last from a whole
        self._making = threading.Lock()
        self._whole_at = 0  # the generation of the cells in `whole`
        self._looked = 0  # the generation at which it was looked at what changes
        self._pause = max(costs.look, costs.work // (self.width * self.height))

    @property
    def by_windows(self) -> bool:
        """Tell whether it is computed where it changes just now."""
        return self._by_rounds

    def step(self, generations: int) -> None:
        """Move on by generations."""
        self._step(None, generations)

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or until stopped() breaks off what is under way."""
        self._step(stopped, generations)

    @property
    def reads_beside_steps(self) -> bool:  # type: ignore[override]
        """Tell whether cells may be read while a pass is made, which writes elsewhere."""
        return not self._by_rounds and self._whole.reads_beside_steps

    @property
    def due(self) -> int:  # type: ignore[override]
        """Return how many generations to make at once, so that it is looked at what changes."""
        is_due = not self._by_rounds and self.generation - self._looked >= self._pause
        return self._span if is_due else 0

    def first_pass(self, generations: int) -> int:
        """Return how many generations the first pass of step(generations) makes."""
        if self._by_rounds:
            return generations
        span, first = self._span, self._whole.first_pass(generations)
        if not self._is_time_to_look(generations):
            return first
        return span if self._whole.first_pass(span) == span else min(first, span - 1)

    def _step(self, stopped: Callable[[], bool] | None, generations: int) -> None:
        stop = self.generation + generations
        while (left := stop - self.generation) > 0:
            if self._by_rounds:
                made = self._step_rounds(stopped, left)
            elif self._is_time_to_look(left):
                made = self._look(stopped)
            else:
                ahead = self._looked + self._pause - self.generation
                ahead = -(-ahead // self.stride) * self.stride  # in whole passes
                made = self._step_whole(stopped, left if ahead <= 0 else min(left, ahead))
            if not made:
                return

    # --- as a whole ------------------------------------------------------------

    def _step_whole(self, stopped: Callable[[], bool] | None, generations: int) -> bool:
        """Move on as a whole. Returns whether it came that far."""
        before, start = self._whole.generation, self.generation
        try:
            if stopped is None:
                self._whole.step(generations)
            else:
                self._whole.step_until(stopped, generations)
        finally:  # which may have been interrupted
            made = self._whole.generation - before
            self.generation = self._whole_at = start + made
        return made == generations

    def _is_time_to_look(self, left: int) -> bool:
        is_due = self.generation - self._looked >= self._pause
        return is_due and left >= self._span and left + self.ahead >= self._costs.worth

    def _look(self, stopped: Callable[[], bool] | None) -> bool:
        """Move on by a pass, and begin with rounds where little is changed by it."""
        before = self._samples()
        if not self._step_whole(stopped, self._span):
            return False
        self._looked = self.generation
        cells = self.width * self.height
        if self._costs.begins(self._changed(before), cells) and self._begin():
            self._by_rounds, self._within, self._begun = True, 0, self.generation
        return True

    def _changed(self, before: Any) -> float:
        """Return the part of the squares that are others than _samples() has found them."""
        return float((before != self._samples()).any(axis=1).mean())

    def _samples(self) -> Any:
        """Return some squares of cells, always the same ones: uint64 (squares, 64)."""
        words = self._whole.view()
        assert words is not None
        samples: Words = words.ravel().take(self._sampled)
        return samples

    @cached_property
    def _sampled(self) -> npt.NDArray[np.intp]:
        """Return which words _samples() takes: squares that are spread evenly, as multiples of
        irrational parts of each side are (the R2 sequence of Roberts)."""
        across = -(-self.width // 64)
        count = min(_SAMPLES, max(1, across * self.height // _SAMPLE))
        places = np.arange(count)[:, None]
        columns = (places * _SPREAD % 1 * across).astype(np.intp)
        rows = (places * _SPREAD**2 % 1 * (self.height - _SAMPLE + 1)).astype(np.intp)
        return (rows + np.arange(_SAMPLE)) * across + columns

    # --- by rounds ---------------------------------------------------------------

    def _begin(self) -> bool:
        """Give the cells to rounds. Returns False where there is no memory for them."""
        if self._rounds is None:
            assert self._target
            if _cpu.Settling.nbytes(self.width, self.height) * _SHARE > available_memory():
                return False
            counts, circuit = compiled_rule(self._rule)
            try:
                self._rounds = _cpu.Settling(
                    self._target.level,
                    self.width,
                    self.height,
                    self._torus,
                    counts.birth,
                    counts.survival,
                    self._target.threads,
                    circuit,
                )
            except MemoryError:
                return False
        cells = self._whole.view()
        assert cells is not None
        cast("_cpu.Settling", self._rounds).put(0, cells)
        return True

    def _give(self) -> None:
        """Set the cells of `whole` to those of the last round."""
        assert self._rounds is not None
        words = np.empty((self.height, -(-self.width // 64)), np.uint64)
        self._rounds.get(0, words)
        self._whole.put(0, words)

    def _some(self) -> int:
        """Return how many rounds to make before it is looked at how many windows they took."""
        return _SOME

    def _step_rounds(self, stopped: Callable[[], bool] | None, generations: int) -> bool:
        """Move on by rounds, and by what is left of generations. Returns whether it went on.

        It becomes a whole again where too much changes, or there is no memory for windows.
        """
        rounds = self._rounds
        assert rounds is not None
        ahead = self._within + generations
        wanted = ahead // STEPS
        if rounds.windows():
            wanted = min(wanted, self._some())
        if not wanted:
            self._within, self.generation = ahead, self.generation + generations
            return True
        before, start = rounds.rounds(), self.generation - self._within
        has_memory = True
        try:
            rounds.step(wanted, stopped)
        except MemoryError:
            has_memory = False
        finally:  # which may have been interrupted
            made = rounds.rounds() - before
            if made:
                self.generation, self._within = start + STEPS * made, 0
        if made < wanted and has_memory:
            return False
        # At first all of it is computed, whatever changes.
        is_worth = max(ahead, self.generation - self._begun) >= self._costs.worth
        boils = is_worth and self._costs.boils(rounds.windows(), self.width * self.height)
        if boils or not has_memory:
            self._make_whole()
            self._by_rounds, self._looked = False, self.generation
            self._left()
        return True

    def _left(self) -> None:
        """Take note that rounds did not pay."""

    def _make_whole(self) -> LifeUniverse:
        """Return the universe as a whole, with the cells of this generation. Any number of threads
        may ask at once."""
        with self._making:
            if not self._is_whole():
                self._give()
                self._whole_at = self.generation - self._within
                self._whole.step(self._within)
                self._whole_at = self.generation
            return self._whole

    def _is_whole(self) -> bool:
        """Tell whether `whole` has the cells of this generation."""
        return not self._by_rounds or self._whole_at == self.generation

    # --- its cells -----------------------------------------------------------------

    def view(self) -> Words | None:
        """Return the cells where they lie in host memory; None where only rounds have them."""
        return self._whole.view() if self._is_whole() else None

    def put(self, y: int, words: Words) -> None:
        """Set rows."""
        self._make_whole().put(y, words)
        self._by_rounds = False

    def get(self, y: int, words: Words) -> None:
        """Write rows into `words`."""
        if self._is_whole() or self._within:
            self._make_whole().get(y, words)
            return
        self.check_rows(y, words, written=True)
        assert self._rounds is not None
        with self._making:  # rounds know one caller at a time
            self._rounds.get(y, words)
