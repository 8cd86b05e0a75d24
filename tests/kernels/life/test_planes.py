"""A rule of three states in Life's contract: an engine of two bit planes, and no signature changed.

The engine computes on planes, with the order of chains that all engines share; what it is tested
against has a number for each cell.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.bytewise import check_states
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
from kernels.life.ref import neighbours
from tests.life_cells_contract import CellsContract, assert_holds
from tests.life_contract import run_chain
from tests.quick import examples

Planes = npt.NDArray[np.bool_]  # (rows, planes, columns)
States = npt.NDArray[np.uint8]  # (rows, columns), a number for each cell
DEAD, ALIVE, DYING = 0, 1, 2


@dataclass(frozen=True, slots=True)
class ThreeStates:
    """A rule in which a live cell that does not survive is dying for one generation, then dead.

    birth, survival: as of LifeRule. Dying cells are no neighbours, and nothing is born on them.
    """

    states: ClassVar[int] = 3
    birth: int
    survival: int


BRIANS_BRAIN = ThreeStates(birth=1 << 2, survival=0)  # B2/S/3
STAR_WARS = ThreeStates(birth=1 << 2, survival=0b111000)  # B2/S345/3


# --- the engine: plane 0 says what is alive, plane 1 what is dying -----------------


def step_planes(cells: Planes, rule: ThreeStates, torus: bool) -> Planes:
    alive, dying = np.ascontiguousarray(cells[:, 0]), cells[:, 1]
    count = neighbours(alive, torus).astype(np.intp)
    born, kept = (
        (np.right_shift(found, count) & 1).astype(np.bool_) for found in (rule.birth, rule.survival)
    )
    return np.stack((~alive & ~dying & born | alive & kept, alive & ~kept), axis=1)


class PlanesEngine(LifeEngine[ThreeStates]):
    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: ThreeStates,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        check_planes(shapes, chain, 2)
        room = max(shape.width * shape.height for shape in shapes)
        return PlanesArena(room, slots, rule, None if chain is None else self.chain(chain))

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        check_planes(shapes, chain, 2)
        return 2 * (slots + 1) * max(shape.width * shape.height for shape in shapes), 0

    def chain(self, shape: ChainShape) -> LifeChain:
        check_planes((), shape, 2)
        check_chain(shape)
        passes = even_passes(shape.generations, min(5, shape.height // 2))
        return LifeChain(shape.width, shape.torus, passes, planes=2)


class PlanesArena(LifeArena):
    planes = 2

    def __init__(self, room: int, slots: int, rule: ThreeStates, chain: LifeChain | None) -> None:
        self.room, self.slots, self.rule, self.chain = room, slots, rule, chain
        self.cells: list[Planes] = [np.empty((0, 2, 0), np.bool_)] * slots
        if chain is not None:
            self._turns = ChainTurns(chain)
            self.history = np.empty((2 * chain.generations, 2, chain.width), np.bool_)

    def open(self, slot: int, shape: LifeShape) -> PlanesLife:
        self.check_slot(slot, shape)
        self._make_room(slot, shape)
        return PlanesLife(self, slot, shape)

    def open_chained(self, slot: int, height: int, *, first: bool) -> ChainedPlanesLife:
        self._make_room(slot, self.check_chained(slot, height, first=first))
        return ChainedPlanesLife(self, slot, height, self._turns, first=first)

    def _make_room(self, slot: int, shape: LifeShape) -> None:
        if shape.width * shape.height > self.room:
            raise ValueError(f"{shape.width}x{shape.height} cells in the room of {self.room}")
        self.cells[slot] = np.zeros((shape.height, 2, shape.width), np.bool_)

    def close(self) -> None:
        self.cells.clear()


class PlanesLife(LifeUniverse):
    stride = 1
    planes = 2

    def __init__(self, arena: PlanesArena, slot: int, shape: LifeShape) -> None:
        self.width, self.height, self.generation = shape.width, shape.height, 0
        self._arena, self._slot, self._torus = arena, slot, shape.torus

    def step(self, generations: int) -> None:
        cells, rule = self._arena.cells, self._arena.rule
        for _ in range(generations):
            cells[self._slot] = step_planes(cells[self._slot], rule, self._torus)
            self.generation += 1

    def put(self, y: int, words: Words) -> None:
        self.check_rows(y, words)
        check_states(words, ThreeStates.states)
        bits = np.unpackbits(words.view(np.uint8), axis=-1, count=self.width, bitorder="little")
        self._arena.cells[self._slot][y : y + len(words)] = bits

    def get(self, y: int, words: Words) -> None:
        self.check_rows(y, words, written=True)
        words[:] = pack(self._arena.cells[self._slot][y : y + len(words)])


class ChainedPlanesLife(ChainedUniverse, PlanesLife):
    def __init__(
        self, arena: PlanesArena, slot: int, height: int, turns: ChainTurns, *, first: bool
    ) -> None:
        ChainedUniverse.__init__(self, turns, height, first=first)
        self._arena, self._slot, self._torus = arena, slot, self.chain.torus
        self._above: Planes = np.empty((0, 2, self.width), np.bool_)

    def _take(self, i: int) -> None:
        self._above = self._arena.history[slice(*self.entry(i))].copy()

    def _leave(self, i: int) -> None:
        rows = slice(*self.left_rows(i))
        self._arena.history[slice(*self.entry(i))] = self._arena.cells[self._slot][rows]

    def _make(self, i: int) -> None:
        steps, cells = self.chain.passes[i], self._arena.cells
        made = np.concatenate((self._above, cells[self._slot]))
        for _ in range(steps):
            made = step_planes(made, self._arena.rule, self._torus)
        top = 0 if self.first else steps
        cells[self._slot] = made[top : top + self.height].copy()
        self.generation += steps
        self._turns.made += 1


# --- the definition, a number for each cell ----------------------------------------


def step_states(states: States, rule: ThreeStates, torus: bool) -> States:
    """Move on by one generation, cell by cell."""
    height, width = states.shape
    new = np.zeros_like(states)
    for y in range(height):
        for x in range(width):
            near = [
                (y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)
            ]
            count = sum(
                states[v % height, u % width] == ALIVE
                for v, u in near
                if torus or (0 <= v < height and 0 <= u < width)
            )
            if states[y, x] == DEAD and rule.birth >> int(count) & 1:
                new[y, x] = ALIVE
            elif states[y, x] == ALIVE:
                new[y, x] = ALIVE if rule.survival >> int(count) & 1 else DYING
    return new


def pack(cells: Planes) -> Words:
    rows, planes, width = cells.shape
    words = np.zeros((rows, planes, -(-width // 64)), np.uint64)
    packed = np.packbits(cells, axis=-1, bitorder="little")
    words.view(np.uint8)[..., : packed.shape[-1]] = packed
    return words


def packed_states(states: States) -> Words:
    return pack(np.stack((states == ALIVE, states == DYING), axis=1))


def states_of(words: Words, width: int) -> States:
    bits = np.unpackbits(words.view(np.uint8), axis=-1, count=width, bitorder="little")
    return bits[:, 0] * np.uint8(ALIVE) + bits[:, 1] * np.uint8(DYING)


def moved_states(words: Words, shape: LifeShape, t: int, rule: ThreeStates) -> Words:
    states = states_of(words, shape.width)
    for _ in range(t):
        states = step_states(states, rule, shape.torus)
    return packed_states(states)


def some_states(width: int, height: int, seed: int = 0) -> Words:
    draw = np.random.default_rng([width, height, seed])
    return packed_states(draw.choice(3, (height, width), p=(0.6, 0.25, 0.15)).astype(np.uint8))


# --- the tests -----------------------------------------------------------------------


class TestThreeStates(CellsContract):
    planes = 2
    a_rule, another_rule = BRIANS_BRAIN, STAR_WARS
    few_times = (1, 2, 5)
    arena_sizes = ((65, 9, True), (131, 4, False), (63, 3, True), (1, 11, False), (70, 1, True))

    @pytest.fixture
    def engine(self) -> LifeEngine[ThreeStates]:
        return PlanesEngine()

    def some_rows(self, width: int, height: int, seed: int = 0) -> Words:
        return some_states(width, height, seed)

    def moved(
        self, rows: Words, shape: LifeShape, t: int, rule: ThreeStates | None = None
    ) -> Words:
        return moved_states(rows, shape, t, rule or self.a_rule)


def test_a_row_holds_its_planes_one_after_the_other() -> None:
    """Rows, then planes, then words: any band of rows is in one piece."""
    words = packed_states(np.array([[DEAD, ALIVE, DYING], [DYING, DYING, ALIVE]], np.uint8))
    assert words.tolist() == [[[0b010], [0b100]], [[0b100], [0b011]]]
    universe = PlanesEngine().universe(words, LifeShape(3, 2, True, 2), BRIANS_BRAIN)
    band = np.empty((1, 2, 1), np.uint64)
    universe.get(1, band)
    assert band.tolist() == [[[0b100], [0b011]]]
    assert universe.words()[:1].flags.c_contiguous


def test_a_spaceship_of_brians_brain() -> None:
    """Two live cells in front of two dying ones move a cell a generation."""
    states = np.zeros((6, 70), np.uint8)
    states[2:4, 66], states[2:4, 65] = ALIVE, DYING
    shape = LifeShape(70, 6, True, 2)
    universe = PlanesEngine().universe(packed_states(states), shape, BRIANS_BRAIN)
    for t in range(1, 71):
        universe.step(1)
        assert_holds(universe, packed_states(np.roll(states, t, axis=1)), t)


@settings(max_examples=examples(25), deadline=None)
@given(
    st.integers(1, 70),
    st.integers(1, 9),
    st.integers(0, 9),
    st.integers(0, 511),
    st.integers(0, 511),
    st.booleans(),
)
def test_any_rule(
    width: int, height: int, seed: int, birth: int, survival: int, torus: bool
) -> None:
    rule, shape = ThreeStates(birth, survival), LifeShape(width, height, torus, 2)
    given = some_states(width, height, seed)
    universe = PlanesEngine().universe(given, shape, rule)
    for t in range(1, 4):
        universe.step(1)
        assert_holds(universe, moved_states(given, shape, t, rule), t)


@pytest.mark.parametrize("slots", [1, 2])
def test_chains(slots: int) -> None:
    """Blocks of a torus of several planes, one after the other, in the order of all chains."""
    shape = ChainShape(67, 7, True, 9, planes=2)
    engine = PlanesEngine()
    least = engine.chain(shape).least_height(first=False)
    heights = [least + 3, least, least + 1]
    words = some_states(67, sum(heights))
    expected = moved_states(words, LifeShape(67, sum(heights), True, 2), 7, BRIANS_BRAIN)
    shapes = [LifeShape(67, heights[0] + 14, True, 2)]
    arena = engine.arena(shapes, slots, BRIANS_BRAIN, shape)
    cuts = list(accumulate(heights, initial=5))
    for y, found in run_chain(arena, words, cuts, random.Random(1)):
        np.testing.assert_array_equal(found, expected[np.arange(y, y + len(found)) % len(words)])
