"""Tables on the CPU: universes of a byte a cell, of which only what may change is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernels.life.bytewise import check_rule, check_states
from kernels.life.chain import ChainedUniverse, ChainTurns, check_chain, even_passes
from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    LifeUniverse,
    Words,
    check_planes,
)
from kernels.tables.columns import columns_of
from kernels.tables.rules import TableRule
from kernels.targets.cpu import CpuTarget

try:
    from kernels import _cpu
except ImportError:
    _cpu = None  # type: ignore[assignment]

_LONGEST_PASS = 16  # of a chain
_MOST = 1 << 40  # generations in one call of the compiled code
_RULE_BYTES = 32 << 20  # that the tables of a rule take at most


class CpuTablesEngine(LifeEngine[TableRule]):
    """Rules of tables by compiled code, at the level and with the threads of a CpuTarget.

    planes: the bit planes of cells, the same for all rules that it computes.
    """

    def __init__(self, target: CpuTarget, planes: int) -> None:
        self.target, self.planes = target, planes

    def universe(self, words: Words, shape: LifeShape, rule: TableRule) -> LifeUniverse:
        """Return a universe that starts as `words` (copied), as LifeEngine says.

        Rows without live cells are left as they are: the memory of a large universe is then
        touched only where something lives.
        """
        if len(words) != shape.height:
            raise ValueError(f"{len(words)} rows for a height of {shape.height}")
        universe = self.arena([shape], 1, rule).open(0, shape)
        universe.check_rows(0, words)
        lives = words.reshape(len(words), -1).any(axis=1)
        borders = np.flatnonzero(np.diff(lives, prepend=False, append=False))
        for first, end in borders.reshape(-1, 2):
            universe.put(int(first), words[first:end])
        return universe

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: TableRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of universes with memory of their own."""
        check_planes(shapes, chain, self.planes)
        check_rule(rule, self.planes)
        chosen = None if chain is None else self.chain(chain)
        return CpuTablesArena(self, _most_cells(shapes, chain), slots, rule, chosen)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return the bytes of host memory that arena() and its steps would take, and 0."""
        check_planes(shapes, chain, self.planes)
        sizes = [_cpu.TablesUniverse.nbytes(shape.width, shape.height) for shape in shapes]
        beside = 0
        if chain is not None:
            longest, row = self.chain(chain).longest, self.planes * -(-chain.width // 64) * 8
            sizes.append(_cpu.TablesUniverse.nbytes(chain.width, chain.height + 2 * longest))
            beside = (2 * chain.generations + 3 * (chain.height + 2 * longest)) * row
        return (slots + (chain is not None)) * (max(sizes) + _RULE_BYTES) + beside, 0

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return a chain of passes of at most 16 generations."""
        check_planes((), shape, self.planes)
        check_chain(shape)
        passes = even_passes(shape.generations, min(_LONGEST_PASS, shape.height // 2))
        return LifeChain(shape.width, shape.torus, passes, self.planes)


def _most_cells(shapes: Sequence[LifeShape], chain: ChainShape | None) -> int:
    """Return the cells of the largest universe that is asked for, or of the typical follower."""
    sizes = [shape.width * shape.height for shape in shapes]
    return max(sizes if chain is None else [*sizes, chain.width * chain.height])


def _with_planes(words: Words, planes: int) -> Words:
    """Return rows as (rows, planes, words), however many planes there are."""
    return words.reshape(len(words), planes, words.shape[-1])


class CpuTablesArena(LifeArena):
    """An arena whose slots have no memory until a universe is opened in them."""

    def __init__(
        self,
        engine: CpuTablesEngine,
        room: int,
        slots: int,
        rule: TableRule,
        chain: LifeChain | None,
    ) -> None:
        self.slots, self.chain, self.planes = slots, chain, engine.planes
        self.rule, self.level, self.threads = rule, engine.target.level, engine.target.threads
        self._room = room
        self.history: Words = np.empty((0, 0, 0), np.uint64)
        if chain is not None:
            self._turns = ChainTurns(chain)
            shape = (2 * chain.generations, self.planes, -(-chain.width // 64))
            self.history = np.empty(shape, np.uint64)

    def make(self, width: int, height: int, torus: bool) -> _cpu.TablesUniverse:
        """Return a universe of compiled code, of dead cells. Raises MemoryError."""
        rule = self.rule
        made = columns_of(rule)
        return _cpu.TablesUniverse(
            self.level,
            rule.states,
            made.corners,
            rule.stays_empty,
            made.maps,
            made.columns,
            made.pairs,
            made.finals,
            made.walk,
            made.counts,
            width,
            height,
            torus,
            self.threads,
        )

    def open(self, slot: int, shape: LifeShape) -> CpuTables:
        """Return a universe in a slot, of dead cells."""
        self.check_slot(slot, shape)
        self._check_room(shape)
        return CpuTables(self, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedCpuTables:
        """Return a universe of the chain in a slot."""
        self._check_room(self.check_chained(slot, height, first=first))
        return ChainedCpuTables(self, height, self._turns, first=first)

    def _check_room(self, shape: LifeShape) -> None:
        if shape.width * shape.height > self._room:
            raise ValueError(f"{shape.width}x{shape.height} cells in the room of {self._room}")

    def close(self) -> None:
        """Let the history go; universes take their memory with them."""
        self.history = np.empty((0, 0, 0), np.uint64)


class CpuTables(LifeUniverse):
    """A universe of compiled code."""

    stride = 1

    def __init__(self, arena: CpuTablesArena, shape: LifeShape) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self.planes, self._states = shape.planes, arena.rule.states
        self._cells = arena.make(shape.width, shape.height, shape.torus)

    def step(self, generations: int) -> None:
        """Move on by generations; an interrupt leaves the one before that under way."""
        self._step(None, generations)

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or until stopped() breaks one off."""
        self._step(stopped, generations)

    def _step(self, stopped: Callable[[], bool] | None, generations: int) -> None:
        wanted = self.generation + generations
        try:
            while self.generation < wanted:
                some = min(wanted - self.generation, _MOST)
                before = self.generation
                self.generation = self._cells.step(some, stopped)
                if self.generation < before + some:
                    return
        finally:
            self.generation = self._cells.generation()

    def put(self, y: int, words: Words) -> None:
        """Copy rows into the universe, if the rule has all their states."""
        self.check_rows(y, words)
        check_states(words, self._states)
        self._cells.put(y, _with_planes(words, self.planes))

    def get(self, y: int, words: Words) -> None:
        """Copy rows out of the universe."""
        self.check_rows(y, words, written=True)
        self._cells.get(y, _with_planes(words, self.planes))


class ChainedCpuTables(ChainedUniverse):
    """A universe of a chain: packed rows, of which each pass makes a universe."""

    def __init__(
        self, arena: CpuTablesArena, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena = arena
        self._rows = np.zeros((height, self.planes, -(-self.width // 64)), np.uint64)
        self._above = self._rows[:0]

    def put(self, y: int, words: Words) -> None:
        """Copy rows into the array, if the rule has all their states."""
        self.check_rows(y, words)
        check_states(words, self._arena.rule.states)
        self._rows[y : y + len(words)] = _with_planes(words, self.planes)

    def get(self, y: int, words: Words) -> None:
        """Copy rows out of the array."""
        self.check_rows(y, words, written=True)
        words[:] = self._rows[y : y + len(words)].reshape(words.shape)

    def _take(self, i: int) -> None:
        self._above = self._arena.history[slice(*self.entry(i))].copy()

    def _leave(self, i: int) -> None:
        self._arena.history[slice(*self.entry(i))] = self._rows[slice(*self.left_rows(i))]

    def _make(self, i: int) -> None:
        steps, top = self.chain.passes[i], 0 if self.first else self.chain.passes[i]
        given = np.concatenate((self._above, self._rows))
        # What lies above and below is spoiled anyway: it may be the other side of a torus.
        cells = self._arena.make(self.width, len(given), self.chain.torus)
        cells.put(0, given)
        cells.step(steps, None)
        made = np.empty_like(self._rows)
        cells.get(top, made)
        # No call, and so no interrupt, between these.
        self._rows = made
        self.generation += steps
        self._turns.made += 1
