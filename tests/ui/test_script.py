"""Scripts without a window: threads that can be stopped, source, output, and the universe."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from lifesim.engine import Life
from lifesim.grid import BitGrid, Box, GridError
from lifesim.rule import RuleError
from lifesim.soup import random_grid
from tests.waiting import until
from ui import opening
from ui.cells.session import MemorySession
from ui.script.life import ShownLife
from ui.script.names import ScriptNames
from ui.script.output import MOST, ScriptOutput
from ui.script.source import (
    ScriptError,
    completions,
    is_complete,
    read_script,
    run_script,
    run_source,
)
from ui.script.stopping import check_stopped, uninterrupted, wait_for
from ui.script.thread import ScriptThread
from ui.session import Session, SessionError

SIDE = 96


def printed(output: ScriptOutput) -> str:
    return "".join(text for text, _ in output.take(1 << 30))


def job_of(job: Callable[[], None]) -> tuple[ScriptThread, ScriptOutput]:
    output = ScriptOutput(lambda: None, check_stopped)
    thread = ScriptThread(job, output, lambda thread: None)
    thread.start()
    return thread, output


# --- threads -------------------------------------------------------------------


def test_a_script_prints_to_its_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    begun, go = threading.Event(), threading.Event()
    before = sys.stdout

    def job() -> None:
        begun.set()
        go.wait(60)
        print("of the script")
        print("its error", file=sys.stderr)

    thread, output = job_of(job)
    assert begun.wait(60)
    print("of the window")
    go.set()
    thread.join(60)
    assert output.take(1 << 30) == [
        ("of the script\n", "output"), ("its error\n", "error"),
    ]  # fmt: skip
    assert capsys.readouterr().out == "of the window\n"
    assert sys.stdout is before
    assert thread.problem == ""


def test_what_a_script_raises_is_its_problem() -> None:
    thread, _ = job_of(lambda: run_source("def f():\n    1 / 0\n\nf()", "<input 7>", {}, print))
    thread.join(60)
    lines = thread.problem.split("\n")
    assert lines[0].startswith("Traceback")
    assert '"<input 7>", line 4' in lines[1], "our own frames are left out"
    assert "1 / 0" in thread.problem
    assert "ZeroDivisionError" in thread.problem
    thread, _ = job_of(
        lambda: run_source("BitGrid(0, 1)", "<input 8>", {"BitGrid": BitGrid}, print)
    )
    thread.join(60)
    assert thread.problem.count("File") == 1
    assert "GridError" in thread.problem
    for code, said in (("0", ""), ("'too late'", "too late")):
        thread, _ = job_of(
            lambda code=code: run_source(f"raise SystemExit({code})", "x", {}, print)
        )  # type: ignore[misc]
        thread.join(60)
        assert said in thread.problem
        assert bool(thread.problem) is bool(said)


@pytest.mark.parametrize(
    "source",
    [
        "begun()\nwhile True: pass",
        "begun()\nwhile True: print('x' * 1000)",
        "begun()\nwait(Future())",
        "begun()\ntry:\n    while True: pass\nfinally:\n    print(1)",
    ],
)
def test_a_script_is_stopped(source: str) -> None:
    begun = threading.Event()
    names = {"begun": begun.set, "wait": wait_for, "Future": Future}
    interval = sys.getswitchinterval()
    thread, _ = job_of(lambda: run_source(source, "x", names, print))
    assert begun.wait(60)
    thread.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert thread.problem == ""
    assert sys.getswitchinterval() == pytest.approx(interval)
    thread.stop()  # which finds nobody


def test_a_stop_never_leaves_a_lock_behind() -> None:
    for _ in range(200):
        told, taken, ended = threading.Event(), threading.Event(), threading.Event()
        output = ScriptOutput(told.set, check_stopped)

        def take(told=told, taken=taken, ended=ended, output=output) -> None:  # type: ignore[no-untyped-def]
            while not ended.is_set():
                assert told.wait(60)
                told.clear()
                output.take(MOST)
                taken.set()

        taker = threading.Thread(target=take, daemon=True)
        taker.start()
        source = "while True: print('x')"
        thread = ScriptThread(
            lambda source=source: run_source(source, "x", {}, print),  # type: ignore[misc]
            output,
            lambda thread, ended=ended: ended.set(),  # type: ignore[misc]
        )
        thread.start()
        assert taken.wait(60)
        thread.stop()
        assert ended.wait(60)
        told.set()
        taker.join(60)
        assert not taker.is_alive(), "the window would be frozen"


def test_what_takes_locks_is_not_broken_off() -> None:
    begun, go = threading.Event(), threading.Event()
    done: list[str] = []

    @uninterrupted
    def whole() -> None:
        begun.set()
        assert go.wait(60)
        done.append("whole")

    def job() -> None:
        for _ in range(2):
            try:
                whole()
            except KeyboardInterrupt:
                done.append("stopped")

    thread, _ = job_of(job)
    assert begun.wait(60)
    thread.stop()
    go.set()
    thread.join(60)
    assert done == ["whole", "stopped", "stopped"]
    assert thread.problem == ""


def test_output_keeps_who_prints_too_much_waiting() -> None:
    told = threading.Event()
    output = ScriptOutput(told.set, lambda: None)
    total = 3000 * 100

    def write() -> None:
        for _ in range(total // 100):
            output.write("x" * 99 + "\n")

    thread = threading.Thread(target=write)
    thread.start()
    taken = 0
    while taken < total:
        assert told.wait(60)
        told.clear()
        some = sum(len(text) for text, _ in output.take(1 << 30))
        assert some <= MOST + 100
        taken += some
    thread.join(60)
    assert taken == total
    output.write("y" * 5000 + "\nz")
    text = printed(output)
    assert text.replace("\n", "") == "y" * 5000 + "z"
    assert max(map(len, text.split("\n"))) == 2000
    output.close()
    output.write("dropped" * MOST)
    assert printed(output) == ""


def test_small_prints_are_few_pieces() -> None:
    output = ScriptOutput(lambda: None, lambda: None)
    for number in range(MOST // 2):
        output.write("x")
        output.write("\n", "error" if number == 0 else "output")
    pieces = output.take(1 << 30)
    assert "".join(text for text, _ in pieces) == "x\n" * (MOST // 2)
    assert pieces[:2] == [("x", "output"), ("\n", "error")]
    assert len(pieces) <= 7
    assert max(len(text) for text, _ in pieces) <= MOST // 4
    output.write("x\n" * (MOST // 2))
    assert output.take(1) == [("x\n" * (MOST // 8), "output")], "little is shown at once"


# --- source --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "complete"),
    [
        ("1 + 1", True),
        ("for i in range(3):", False),
        ("for i in range(3):\n    print(i)", False),
        ("for i in range(3):\n    print(i)\n", True),
        ("f(1,", False),
        ("f(1,\n  2)", False),
        ("f(1,\n2)", True),
        ("'''a", False),
        ("1 +* 2", True),
        ("x = [\n", False),
    ],
)
def test_when_source_is_complete(source: str, complete: bool) -> None:
    assert is_complete(source) is complete


def test_the_last_value_is_shown() -> None:
    shown: list[str] = []
    names: dict[str, Any] = {}
    run_source("a = 20\na + 1", "x", names, shown.append)
    assert shown == ["21\n"]
    run_source("_ + 1", "x", names, shown.append)
    run_source("None", "x", names, shown.append)
    run_source("b = 1", "x", names, shown.append)
    run_source("", "x", names, shown.append)
    assert shown == ["21\n", "22\n"]
    with pytest.raises(SyntaxError):
        run_source("1 +* 2", "x", names, shown.append)


def test_names_are_completed_without_computing_them(session: MemorySession) -> None:
    names = ScriptNames(ShownLife(lambda: session), lambda: None, {"window": 1}, "x")
    assert completions("lif", names) == ("lif", ["life"])
    assert completions("gri", names) == ("gri", ["grid"])
    assert completions("x = life.pop", names) == ("pop", ["population"])
    assert "run" in completions("life.", names)[1]
    assert completions("life.rule.st", names) == ("st", [])
    assert completions("life.__getit", names)[1] == ["__getitem__"]
    assert completions("nothing.", names) == ("", [])


def test_a_script_imports_what_is_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_it_alone.py").write_text("value = 42\n")
    path = tmp_path / "script.py"
    path.write_text("import beside_it_alone as b\nresult.append((b.value, __name__))\n")
    result: list[Any] = []
    before = list(sys.path)
    run_script(str(path), read_script(str(path)), {"result": result, "__name__": "__main__"})
    assert result == [(42, "__main__")]
    assert sys.path == before
    del sys.modules["beside_it_alone"]


def test_what_is_no_script_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    with pytest.raises(ScriptError, match="it is no file"):
        read_script(str(path))
    with pytest.raises(ScriptError, match="it is no file"):
        read_script(str(tmp_path))
    for data in (b"# coding: nonsense\n", b"\xff\xfe\x00"):
        path.write_bytes(data)
        with pytest.raises(ScriptError, match="encoding"):
            read_script(str(path))
    path.write_bytes("# coding: latin-1\nx = 'ä'\n".encode("latin-1"))
    assert "ä" in read_script(str(path))


# --- the universe --------------------------------------------------------------


@pytest.fixture
def session() -> Iterator[MemorySession]:
    made = MemorySession(random_grid(SIDE, SIDE, 0.4, 3))
    yield made
    made.close()


@pytest.fixture
def life(session: MemorySession) -> ShownLife:
    return ShownLife(lambda: session)


def test_life_is_as_life_in_memory(life: ShownLife) -> None:
    other = Life(random_grid(SIDE, SIDE, 0.4, 3))
    for rule in (None, "B36/S23"):
        if rule:
            life.rule = rule  # type: ignore[assignment]
            other = Life(other.grid(), rule=rule, generation=other.generation)
        life.run(20)
        other.run(20)
        assert life.grid() == other.grid()
        assert life.generation == other.generation
        assert life.population() == other.population()
        assert life.density() == other.density()
        assert life.digest() == other.digest()
        assert (life.width, life.height) == (other.width, other.height)
        assert life.frame() == other.frame()
        assert life.bounds == other.bounds
        assert life.bounding_box() == other.bounding_box()
        assert str(life.rule) == str(other.rule)
        assert life.grid(Box(3, 4, 50, 9)) == other.grid().crop(Box(3, 4, 50, 9))
    copy = life.copy(backend="reference")
    copy.run(5)
    other.run(5)
    assert copy.grid() == other.grid()
    assert life.generation == other.generation - 5


def test_changes_are_one_step_of_undo_each(life: ShownLife, session: MemorySession) -> None:
    start = life.grid()
    life.clear()
    assert life.population() == 0
    for x in range(10):
        life[x, 5] = 1
    assert life[3, 5] == 1
    assert life.population() == 10
    glider = BitGrid.from_cells(3, 3, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
    life.put(glider, 50, 50)
    life.set([(70, 70), (72, 73)])
    assert life.population() == 17
    assert life.grid((50, 50, 3, 3)) == glider
    life.undo()
    assert life.population() == 15
    life.undo()
    assert life.population() == 10
    life.undo()
    assert life.population() == 0, "cells that are set one by one are one change"
    life.redo()
    assert life.population() == 10
    life.undo()
    life.undo()
    assert life.grid() == start
    life.invert((0, 0, SIDE, SIDE))
    assert life.population() == SIDE * SIDE - start.population()
    life.fill((0, 0, SIDE, SIDE), 0.4, 3)
    assert life.grid() == start


def test_far_cells_are_changes_of_their_own() -> None:
    session = opening.new(topology="unbounded")
    life = ShownLife(lambda: session)
    try:
        life[0, 0] = 1
        life[1, 0] = 1
        life[6_000, -7] = 1
        assert life.population() == 3
        assert life.bounding_box() == Box(0, -7, 6_001, 8)
        life.undo()
        assert life.population() == 2
        life.undo()
        assert life.population() == 0
        with pytest.raises(GridError):
            life.set([(0, 0), (1 << 40, 1 << 40)])
    finally:
        session.close()


def test_what_cannot_be_done_is_refused(life: ShownLife) -> None:
    before = life.grid()
    with pytest.raises(IndexError):
        life[SIDE, 0] = 1
    with pytest.raises(IndexError):
        life[0, -1]
    with pytest.raises(ValueError, match="0 to 1"):
        life[0, 0] = 2
    with pytest.raises(RuleError):
        life.rule = "nonsense"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="go back"):
        life.run(-1)
    with pytest.raises(GridError):
        life.grid((0, 0, SIDE + 1, 1))
    with pytest.raises(GridError):
        life.grid((0, 0, 0, 1))
    with pytest.raises(SessionError):
        life.go_to(-5)
    life.rule = "345/2/4"  # type: ignore[assignment]
    life[0, 0] = 3
    with pytest.raises(SessionError, match="state"):
        life.rule = "B3/S23"  # type: ignore[assignment]
    assert life[0, 0] == 3
    life.undo()
    life.undo()
    assert life.grid() == before


def test_going_back_in_time(life: ShownLife) -> None:
    start = life.grid()
    life.run(30)
    then = life.grid()
    life.reset()
    assert (life.generation, life.grid()) == (0, start)
    life.go_to(30)
    assert life.grid() == then
    life.start()
    until(lambda: life.generation > 30)
    assert life.is_running
    life.stop()
    assert not life.is_running


def test_a_script_that_is_stopped_stops_its_run(life: ShownLife, session: Session) -> None:
    thread, _ = job_of(lambda: life.run(10**15))
    until(lambda: session.status().generation > 0)
    thread.stop()
    thread.join(60)
    assert not thread.is_alive()
    until(lambda: not session.status().running)
    generation = session.status().generation
    with pytest.raises(KeyboardInterrupt):
        in_stopped_script(life.start)
    assert session.status().generation == generation


def in_stopped_script(do: Callable[[], object]) -> None:
    """Do something on the thread of a script that has been stopped, and does not end for that."""
    raised: list[BaseException] = []
    begun = threading.Event()

    def job() -> None:
        try:
            begun.set()
            while True:
                pass
        except KeyboardInterrupt:
            try:
                do()
            except BaseException as error:
                raised.append(error)

    thread, _ = job_of(job)
    assert begun.wait(60)
    thread.stop()
    thread.join(60)
    if raised:
        raise raised[0]


def test_a_run_that_somebody_stops_is_said(life: ShownLife, session: Session) -> None:
    thread, _ = job_of(lambda: life.run(10**15))
    until(lambda: session.status().generation > 0)
    session.stop()
    thread.join(60)
    assert "SessionError" in thread.problem
    assert "ended at generation" in thread.problem


def test_names_of_the_moment(life: ShownLife) -> None:
    selected: list[Box | None] = [None]
    names = ScriptNames(life, lambda: selected[0], {}, "x")
    shown: list[str] = []
    run_source("def f(): return grid.population() == life.population()\nf()", "x", names,
               shown.append)  # fmt: skip
    selected[0] = Box(5, 5, 10, 3)
    run_source("(grid.width, selection.height)", "x", names, shown.append)
    assert shown == ["True\n", "(10, 3)\n"]
    with pytest.raises(ValueError, match="read-only"):
        run_source("grid[0, 0] = 1", "x", names, shown.append)
    run_source("g = grid.copy()\ng[0, 0] = 1\nlife.put(g, 5, 5)\nlife[5, 5]", "x", names,
               shown.append)  # fmt: skip
    assert shown[-1] == "1\n"
    with pytest.raises(NameError):
        run_source("nothing", "x", names, shown.append)
    with pytest.raises(EOFError):
        run_source("input('?')", "x", names, shown.append)
    run_source("grid = 5\ngrid", "x", names, shown.append)
    assert shown[-1] == "5\n"
