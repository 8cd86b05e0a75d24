"""Runs until a condition, of what the window shows: as those of lifesim.engine.Life."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets import cpu
from kernels.targets.choose import pick
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box
from lifesim.rule import LIFE
from lifesim.soup import random_grid
from lifesim.start import Start
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from lifesim.topology import Topology
from lifesim.until import Found, parse
from tests.disk_sessions import make, soup
from tests.quick import examples
from tests.strategies import grids
from tests.waiting import until
from ui import opening
from ui.cells.edited import EditedSession
from ui.cells.edits import Clear
from ui.cells.session import MemorySession
from ui.disk.session import DiskSession
from ui.session import Event, SessionError

CONDITIONS = ("stable", "empty", "period:2", "population:<4", "population:>=30")
ENGINES = ("dense", "tiles", "hashlife") if cpu.levels() else ("dense",)
ONE = pick("auto", threads=1)
R_PENTOMINO = BitGrid.from_cells(3, 3, [(1, 0), (2, 0), (0, 1), (1, 1), (1, 2)])
GLIDER = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
BLINKER = BitGrid.from_cells(3, 1, [(0, 0), (1, 0), (2, 0)])


def plane(grid: BitGrid, engine: str) -> EditedSession:
    start = Start(grid, LIFE, Topology.PLANE, 0, (0, 0), (5, -7))
    return opening._session(start, ONE, engine=engine)


def run_until(session: EditedSession, condition: str, most: int | None = None) -> Found:
    session.run_until(parse(condition), most)
    session.settle()
    found = session.status().found
    assert found is not None, session.status().problem
    return found


@settings(max_examples=examples(25), deadline=None)
@given(grids(), st.sampled_from(CONDITIONS), st.sampled_from([0, 1, 7, 200]), st.booleans())
def test_with_bounds_it_ends_as_in_memory(
    grid: BitGrid, condition: str, most: int, torus: bool
) -> None:
    topology = "torus" if torus else "plane"
    life = Life(grid, topology=topology, backend=ONE)
    expected = life.run_until(condition, most)
    with closing(MemorySession(grid, topology=topology, backend=ONE)) as session:
        assert run_until(session, condition, most) == expected
        assert session.whole().cells == life.grid()
        assert session.status().generation == life.generation


@settings(max_examples=examples(8), deadline=None)
@given(grids(), st.sampled_from(CONDITIONS), st.sampled_from([3, 150]), st.sampled_from(ENGINES))
def test_on_a_plane_it_ends_as_in_memory(
    grid: BitGrid, condition: str, most: int, engine: str
) -> None:
    life = Life(grid, topology="plane", bounds=(0, 0), at=(5, -7), backend=ONE, engine=engine)
    expected = life.run_until(condition, most)
    with closing(plane(grid, engine)) as session:
        assert run_until(session, condition, most) == expected
        assert session.cells(life.frame()) == life.grid()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_becomes_of_an_r_pentomino_is_known(engine: str) -> None:
    with closing(plane(R_PENTOMINO, engine)) as session:
        found = run_until(session, "stable")
        assert (found.generation, found.kind, found.period, found.ships) == (
            1103, "debris with ships", 4, 6,
        )  # fmt: skip
        assert found.proved
        assert session.status().generation == 1103
        assert session.can_undo == "running until stable"
        session.undo()
        session.settle()
        assert session.status().generation == 0
        assert session.cells(Box(5, -7, 3, 3)) == R_PENTOMINO
        assert session.whole().cells.population() == 5
        session.redo()
        session.settle()
        assert session.status().generation == 1103


def test_cells_of_several_states_settle() -> None:
    grid = random_grid(48, 40, 0.3, 5)
    life = Life(grid, rule="345/2/4", backend=ONE)
    expected = life.run_until("stable", 3000)
    with closing(MemorySession(grid, rule="345/2/4", backend=ONE)) as session:
        assert run_until(session, "stable", 3000) == expected
        assert session.whole().cells == life.grid()


class Held:
    """Stops the thread of a session in the middle of a search, and lets it go on."""

    def __init__(self, session: EditedSession, generation: int) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

        def hear(event: Event) -> None:
            status = session.status()
            if status.running and status.generation >= generation and not self.reached.is_set():
                self.reached.set()
                assert self.go_on.wait(60)

        session.listen(hear)


@pytest.mark.parametrize("asked", ["stop", "edit", "undo", "step", "rule", "start", "close"])
def test_a_search_ends_when_something_else_is_asked(asked: str) -> None:
    """And what it has done so far can be undone."""
    with closing(plane(R_PENTOMINO, "dense")) as session:
        held = Held(session, 1)
        session.run_until(parse("population:>100000"), None)
        until(held.reached.is_set)
        assert session.status().running
        if asked == "stop":
            session.stop()
        elif asked == "edit":
            session.edit(Clear(session.box))
        elif asked == "undo":
            session.undo()
        elif asked == "step":
            session.step(1)
        elif asked == "rule":
            session.set_rule("B36/S23")
        elif asked == "start":
            session.start()
        held.go_on.set()
        if asked == "close":
            return
        session.settle()
        status = session.status()
        assert status.found is None
        assert not status.problem
        assert status.running == (asked == "start")
        session.stop()
        session.settle()
        while session.can_undo:
            session.undo()
            session.settle()
        assert session.status().generation == 0
        assert session.whole().cells.population() == 5
        assert session.rule == LIFE


def test_what_is_asked_meanwhile_is_answered() -> None:
    with closing(plane(R_PENTOMINO, "dense")) as session:
        session.run_until(parse("population:>100000"), None)
        until(lambda: session.status().generation > 2)
        box = session.bounding_box()
        assert box is not None
        assert session.cells(box).population() > 0
        assert session.status().running
        session.stop()
        session.settle()


def test_what_goes_wrong_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifesim.squares._MOST", 4)
    with closing(plane(R_PENTOMINO, "dense")) as session:
        session.run_until(parse("stable"), None)
        session.settle()
        status = session.status()
        assert status.problem == "5 cells live, too many to compare them"
        assert not status.running
        assert status.found is None


def test_the_next_run_forgets_what_was_found() -> None:
    with closing(plane(BLINKER, "dense")) as session:
        assert str(run_until(session, "stable")) == (
            "stable: oscillator of period 2, from generation 0 on"
        )
        session.step(1)
        session.settle()
        assert session.status().found is None


@pytest.mark.sample(1)
@pytest.mark.parametrize("condition", ["population:<900", "stable", "empty"])
def test_on_disk_it_ends_as_by_the_function_for_it(tmp_path: Path, condition: str) -> None:
    grid = soup(96, 64, 0.35)
    with Universe.open(make(tmp_path / "one", grid, (2, 1)), writing=True) as universe:
        life = StreamedLife(universe, [ONE])
        expected, digest = life.run_until(condition, 1500, looks=30), life.digest()
    path = make(tmp_path / "two", grid, (1, 1))
    with closing(DiskSession.open(path)) as session:
        ended = threading.Event()
        session.listen(lambda event: ended.set() if event in (Event.FOUND, Event.FAILED) else None)
        session.run_until(parse(condition), 1500, 30)
        assert ended.wait(120)
        assert session.status().found == expected
        with Universe.open(path) as universe:
            assert universe.digest() == digest
        session.step(1)
        until(lambda: session.status().generation == expected.generation + 1)
        assert session.status().found is None


def test_looks_are_of_universes_on_disk(tmp_path: Path) -> None:
    with closing(plane(BLINKER, "dense")) as session, pytest.raises(SessionError, match="memory"):
        session.run_until(parse("stable"), None, 60)
    with closing(DiskSession.open(make(tmp_path / "one", soup(128, 64), (2, 1)))) as on_disk:
        for most, looks in ((-1, 60), (None, 0)):
            with pytest.raises(SessionError):
                on_disk.run_until(parse("stable"), most, looks)


def test_negative_limits_are_refused() -> None:
    with (
        closing(plane(BLINKER, "dense")) as session,
        pytest.raises(SessionError, match="cannot go back 1 generation"),
    ):
        session.run_until(parse("stable"), -1)
