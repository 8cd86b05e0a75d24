"""Undo and redo, going back in time and reset, against a plain model that copies everything."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from kernels.life import ref
from kernels.life.contract import LifeShape
from kernels.targets import cpu
from kernels.targets.choose import pick
from lifesim.engines import engine_of
from lifesim.grid import BitGrid, Box
from lifesim.rule import Rule
from lifesim.soup import Soup, random_grid
from lifesim.topology import Topology
from tests.quick import examples
from ui.cells import edits
from ui.cells.session import MemorySession
from ui.cells.vault import HistoryError, StoredCells, Vault
from ui.session import SessionError


@pytest.fixture(autouse=True, scope="module")
def _few_rows_at_once() -> Iterator[None]:
    """Keep all cells in parts of 7 rows, between which there may be changes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ui.cells.history.chunk_rows", lambda width, planes: 7)
        yield


BACKEND = "cpu" if cpu.levels() else "reference"
REFERENCE = pick("reference")


@dataclass(frozen=True)
class ModelState:
    cells: np.ndarray[Any, Any]
    generation: int
    rule: Rule
    topology: Topology

    def same(self, other: ModelState) -> bool:
        return np.array_equal(self.cells, other.cells) and (
            self.generation,
            self.rule,
            self.topology,
        ) == (other.generation, other.rule, other.topology)

    def stepped(self) -> ModelState:
        torus, rule = self.topology is Topology.TORUS, self.rule
        if rule.states == 2:
            life = rule.life_like
            cells = ref.step(self.cells.astype(bool), life.birth, life.survival, torus)
        else:
            grid = self.grid()
            shape = LifeShape(grid.width, grid.height, torus, grid.planes)
            universe = engine_of(rule, REFERENCE).universe(grid.words, shape, rule.cells)
            universe.step(1)
            cells = BitGrid(grid.width, grid.height, universe.words()).states()
        return replace(self, cells=cells.astype(np.uint8), generation=self.generation + 1)

    def grid(self) -> BitGrid:
        return BitGrid.from_states(self.cells, self.rule.planes)


@dataclass(frozen=True)
class ModelMemory:
    """now; where reset goes; and the state of each generation on the way here."""

    now: ModelState
    start: ModelState | None
    way: dict[int, ModelState]


class Model:
    def __init__(self, state: ModelState) -> None:
        self.memory = ModelMemory(state, None, {state.generation: state})
        self.undone: list[ModelMemory] = []
        self.done: list[ModelMemory] = []

    @property
    def now(self) -> ModelState:
        return self.memory.now

    def change(self, state: ModelState) -> None:
        self.done.append(self.memory)
        self.undone.clear()
        way = {**self.memory.way, state.generation: state}
        self.memory = replace(self.memory, now=state, way=way)

    def run(self, generations: int) -> None:
        if not generations:
            return
        memory = self.memory
        start = memory.start
        if start is None or start.generation >= self.now.generation:
            start = self.now
        states = dict(memory.way)
        now = self.now
        for _ in range(generations):
            now = now.stepped()
            states[now.generation] = now
        self.done.append(memory)
        self.undone.clear()
        self.memory = ModelMemory(now, start, states)

    def go_back(self, state: ModelState) -> None:
        self.done.append(self.memory)
        self.undone.clear()
        way = {g: s for g, s in self.memory.way.items() if g <= state.generation}
        way[state.generation] = state
        self.memory = ModelMemory(state, self.memory.start, way)

    def undo(self) -> None:
        if self.done:
            self.undone.append(self.memory)
            self.memory = self.done.pop()

    def redo(self) -> None:
        if self.undone:
            self.done.append(self.memory)
            self.memory = self.undone.pop()


NUMBERS = st.integers(-5, 90)
SIDES = st.integers(1, 90)


class Histories(RuleBasedStateMachine):
    """Universes of two states. refused: whether something was, so that a problem may be told of."""

    session: MemorySession | None = None
    refused = False
    texts = "B3/S23", "B36/S23", "B2/S", "B1/S012345678"

    @initialize(
        width=SIDES,
        height=SIDES,
        seed=st.integers(0, 9),
        topology=st.sampled_from(Topology),
        generation=st.sampled_from([0, 7]),
        budget=st.sampled_from([0, 100, 1 << 20]),
        small=st.sampled_from([0, 1 << 20]),
        again=st.sampled_from([0.0, 60.0]),
    )
    def begin(
        self,
        width: int,
        height: int,
        seed: int,
        topology: Topology,
        generation: int,
        budget: int,
        small: int,
        again: float,
    ) -> None:
        rule = Rule.parse(self.texts[0])
        grid = BitGrid(width, height, planes=rule.planes)
        Soup(0.3, seed).fill_grid(grid, rule.states)
        self.session = MemorySession(
            grid,
            rule=rule,
            topology=topology,
            generation=generation,
            backend=BACKEND,
            budget=budget,
            small=small,
        )
        self.session._history.again = again
        self.model = Model(ModelState(grid.states(), generation, rule, topology))
        self.stroke = 0

    @property
    def running(self) -> MemorySession:
        assert self.session is not None
        return self.session

    def edited(self, edit: edits.Edit) -> None:
        now = self.model.now
        grid = now.grid()
        box = edit.box(grid.width, grid.height)
        self.running.edit(edit)
        if box is not None:
            edits.overwrite(grid, edit.apply(grid.crop(box), box, now.rule), box.x, box.y)
            if not np.array_equal(grid.states(), now.cells):
                self.model.change(replace(now, cells=grid.states()))

    @rule(x=NUMBERS, y=NUMBERS, to_x=NUMBERS, to_y=NUMBERS, state=st.integers(0, 11))
    def draw(self, x: int, y: int, to_x: int, to_y: int, state: int) -> None:
        state %= self.model.now.rule.states
        self.edited(edits.Stroke(((x, y), (to_x, to_y)), state))

    @rule(points=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=5))
    def draw_in_parts(self, points: list[tuple[int, int]]) -> None:
        """Several strokes of one number are one change."""
        self.stroke += 1
        before, count = self.model.memory, len(self.model.done)
        for first, last in pairwise(points):
            self.edited(edits.Stroke((first, last), 1, self.stroke))
        if len(self.model.done) > count:
            self.model.done[count:] = [before]

    @rule(x=NUMBERS, y=NUMBERS, width=SIDES, height=SIDES, kind=st.integers(0, 3))
    def change_a_box(self, x: int, y: int, width: int, height: int, kind: int) -> None:
        box = Box(x, y, width, height)
        edit = [
            edits.Clear(box),
            edits.Invert(box),
            edits.FlipAcross(box),
            edits.RandomFill(box, 0.4, x + 5),
        ][kind]
        self.edited(edit)

    @rule(number=st.integers(0, 3))
    def set_rule(self, number: int) -> None:
        """A rule that does not have the states of all cells is refused."""
        text, now = self.texts[number], self.model.now
        self.running.set_rule(text)
        if int(now.cells.max()) >= Rule.parse(text).states:
            self.refused = True
            self.running.settle()
            assert "a cell has state" in self.running.status().problem
        elif Rule.parse(text) != now.rule:
            self.model.change(replace(now, rule=Rule.parse(text)))

    @rule(topology=st.sampled_from(Topology))
    def set_topology(self, topology: Topology) -> None:
        self.running.set_topology(topology)
        if topology is not self.model.now.topology:
            self.model.change(replace(self.model.now, topology=topology))

    @rule(width=SIDES, height=SIDES)
    def resize(self, width: int, height: int) -> None:
        self.running.resize(width, height)
        now = self.model.now
        if now.cells.shape != (height, width):
            grid = edits.resized(now.grid(), width, height)
            self.model.change(replace(now, cells=grid.states()))

    @rule(generations=st.integers(0, 12))
    def step(self, generations: int) -> None:
        self.running.step(generations)
        self.running.settle()
        self.model.run(generations)

    @rule(speed=st.integers(1, 4), drawn=st.lists(st.integers(1, 9), max_size=4))
    def run(self, speed: int, drawn: list[int]) -> None:
        """Run with edits on the way, and a stop soon after."""
        session, model = self.running, self.model
        session.set_speed(speed, 500)
        session.settle()
        session.start()
        for side in drawn:
            now = session._commands.ask(lambda: session.status().generation)
            edit = edits.Invert(Box(0, 0, side, side))
            session.edit(edit)
            at = session._commands.ask(lambda: self._last_edit(session))
            assert at >= now
            model.run(at - model.now.generation)
            grid = model.now.grid()
            box = edit.box(grid.width, grid.height)
            assert box is not None
            edits.overwrite(grid, edit.apply(grid.crop(box), box, model.now.rule), 0, 0)
            model.change(replace(model.now, cells=grid.states()))
        session.stop()
        session.settle()
        model.run(session.status().generation - model.now.generation)

    def _last_edit(self, session: MemorySession) -> int:
        return session._history.stacks.undo[-1].moment.generation

    @rule()
    def undo(self) -> None:
        self.running.undo()
        self.model.undo()

    @rule()
    def redo(self) -> None:
        self.running.redo()
        self.model.redo()

    @rule()
    def reset(self) -> None:
        self.running.reset()
        start = self.model.memory.start
        if start is not None and start.generation != self.model.now.generation:
            self.model.go_back(start)

    @rule(share=st.floats(-0.2, 1.2))
    def go_to(self, share: float) -> None:
        self.running.settle()
        model = self.model
        first, now = min(model.memory.way), model.now.generation
        generation = first + round(share * max(now - first, 10))
        if generation < first:
            with pytest.raises(SessionError, match="not known"):
                self.running.go_to(generation)
            return
        self.running.go_to(generation)
        self.running.settle()
        if generation < now:
            model.go_back(model.memory.way[generation])
        else:
            model.run(generation - now)

    @precondition(lambda self: self.session is not None)
    @rule()
    def compare(self) -> None:
        session, now = self.running, self.model.now
        session.settle()
        assert self.refused or session.status().problem == ""
        assert (session.height, session.width) == now.cells.shape
        assert (session.rule, session.topology) == (now.rule, now.topology)
        assert session.status().generation == now.generation
        cells = session.cells(Box(0, 0, session.width, session.height))
        assert cells.planes == now.rule.planes
        assert np.array_equal(cells.states(), now.cells)
        assert (session.can_undo is not None) == bool(self.model.done)
        assert (session.can_redo is not None) == bool(self.model.undone)

    def teardown(self) -> None:
        if self.session is not None:
            try:
                self.compare()
                while self.model.done:
                    self.undo()
                self.compare()
                while self.model.undone:
                    self.redo()
                self.compare()
            finally:
                self.session.close()


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=examples(25), stateful_step_count=25, deadline=None)


class HistoriesOfStates(Histories):
    """Universes of several states, and of two for a while."""

    texts = "345/2/4", "B2/S/C3", "B3/S23", "WireWorld"


TestHistoriesOfStates = HistoriesOfStates.TestCase
TestHistoriesOfStates.settings = TestHistories.settings


def test_what_exceeds_the_budget_is_in_files() -> None:
    grids = [random_grid(3000, 3000, 0.5, seed) for seed in range(4)]
    vault = Vault(budget=2_500_000)
    kept = []
    for grid in grids:
        kept.append(vault.keep(grid))
        vault.relieve()
        assert vault.nbytes <= vault.budget
    assert [some.nbytes > 0 for some in kept] == [False, False, True, True]
    folder = vault.place(0).parent
    assert len(list(folder.iterdir())) == 2
    assert [some.grid() for some in kept] == grids
    del kept[0]
    gc.collect()
    assert len(list(folder.iterdir())) == 1
    vault.close()
    assert not folder.exists()


def test_old_cells_that_have_been_damaged() -> None:
    vault = Vault(budget=0)
    kept = vault.keep(random_grid(300, 300, 0.5, 1))
    vault.relieve()
    path = next(vault.place(0).parent.iterdir())
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(HistoryError, match="damaged"):
        kept.grid()
    path.unlink()
    with pytest.raises(HistoryError, match="cannot read"):
        kept.grid()
    vault.close()


def _drawn_on_the_way(session: MemorySession, strokes: int) -> list[BitGrid]:
    """A run with strokes, each some generations after the one before; and what each has left."""
    found = []
    session.start()
    for x in range(strokes):
        now = session.status().generation
        while session.status().generation == now:
            time.sleep(0.001)
        # Left to itself, it would be changed before it is looked at.
        invert = edits.Invert(Box(x, x, 5, 3))

        def drawn(invert: edits.Invert = invert) -> BitGrid:
            session._editor.edit(invert)
            return session._plane.machine.read(session._plane.machine.setting.box)[0]

        found.append(session._commands.ask(drawn))
    session.stop()
    session.settle()
    return found


@pytest.mark.parametrize("backend", sorted({BACKEND, "reference"}))
def test_edits_of_a_run_do_not_copy_all_cells(backend: str) -> None:
    """Once, and what is undone is computed; but not what takes long, and is too much."""
    session = MemorySession(random_grid(90, 80, 0.4, 1), backend=backend, small=0)
    session._history.again = 60.0
    try:
        made: list[int] = []
        start = session._history.vault.start

        def counted(width: int, height: int, planes: int) -> StoredCells:
            made.append(width * height)
            return start(width, height, planes)

        session._history.vault.start = counted  # type: ignore[method-assign]
        found = _drawn_on_the_way(session, 6)
        assert sorted(made)[-2:] == [15, 90 * 80]
        for expected in reversed(found):
            if session._commands.ask(lambda: session.can_undo) == "running":
                session.undo()  # what ran after it
            assert session.cells(Box(0, 0, 90, 80)) == expected
            session.undo()
        session.undo()
        assert session.cells(Box(0, 0, 90, 80)) == random_grid(90, 80, 0.4, 1)
        assert session.can_undo is None
        assert made.count(90 * 80) == 1
        # Where much is written, all is kept again; and always, where passes take long.
        session.edit(edits.Invert(Box(0, 0, 90, 40)))
        _drawn_on_the_way(session, 2)
        assert made.count(90 * 80) == 2
        session._history.again = 0.0
        _drawn_on_the_way(session, 3)
        assert made.count(90 * 80) >= 4
    finally:
        session.close()


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_what_is_written_without_a_run_does_not_add_up(
    small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.cells.history._WRITTEN", 5)
    session = MemorySession(random_grid(90, 80, 0.4, 1), backend=BACKEND, small=small)
    try:
        session.step(1)
        session.settle()
        lengths = []
        for x in range(12):
            session.edit(edits.Invert(Box(x, 0, 2, 2)))
            route = session._commands.ask(lambda: session._history.route)
            lengths.append(len(route.written) if route else 0)
        assert lengths == ([1, 2, 3, 4, 5] + [0] * 7 if small == 0 else [0] * 12)
        cells = session.cells(Box(0, 0, 90, 80))
        session.step(2)
        session.settle()
        session.undo()
        assert session.cells(Box(0, 0, 90, 80)) == cells
    finally:
        session.close()


def test_a_route_whose_cells_are_damaged() -> None:
    """A damaged route loses what it led to; what comes later is not lost."""
    session = MemorySession(random_grid(90, 90, 0.4, 1), backend=BACKEND, small=0, budget=0)
    session._history.again = 60.0
    try:
        session.step(3)
        session.settle()
        now = session.cells(Box(0, 0, 90, 90))
        for path in session._history.vault.place(0).parent.iterdir():
            path.unlink()
        session.undo()
        session.settle()
        assert "cannot read old cells" in session.status().problem
        assert (session.status().generation, session.cells(Box(0, 0, 90, 90))) == (3, now)
        session.step(2)
        session.settle()
        session.undo()
        assert session.cells(Box(0, 0, 90, 90)) == now
    finally:
        session.close()


def test_a_full_disk_costs_the_past_and_not_the_present(monkeypatch: pytest.MonkeyPatch) -> None:
    session = MemorySession(random_grid(90, 90, 0.5, 1), backend=BACKEND, budget=0)
    try:
        session.step(3)
        session.settle()
        session.undo()
        session.redo()
        session.settle()
        assert session.can_undo == "3 steps"

        def full(vault: Vault, number: int) -> Path:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Vault, "place", full)
        before = session.cells(Box(0, 0, 90, 90))
        session.edit(edits.Invert(Box(0, 0, 90, 90)))
        session.settle()
        assert session.cells(Box(0, 0, 90, 90)) == edits.inverted(before)
        assert "No space left" in session.status().problem
        assert session.can_undo == "inverting"
        session.undo()
        session.settle()
        assert session.cells(Box(0, 0, 90, 90)) == before
        assert session.can_undo is None
        session.step(1)
        session.settle()
        assert session.status().generation == 4
    finally:
        monkeypatch.undo()
        session.close()
