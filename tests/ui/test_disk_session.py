"""Universes on disk as sessions: run, watched while others run them, and damaged."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kernels.targets.choose import pick
from lifesim import patterns
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box, GridError
from lifesim.store import read
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from tests.disk_sessions import (
    Ears,
    Held,
    Opening,
    break_off,
    make,
    sessions,
    sharp,
    shows,
    shows_in_the_end,
    soup,
    whole,
)
from tests.waiting import until
from ui.disk import session as disk
from ui.disk.directory import owner_of
from ui.disk.session import DiskSession
from ui.picture.draw import draw
from ui.session import Event, SessionError


@pytest.fixture
def opened() -> Iterator[Opening]:
    with sessions() as opening:
        yield opening


def test_what_it_says(tmp_path: Path, opened: Opening) -> None:
    grid = BitGrid(640, 320)
    grid.paste(soup(64, 40, 0.5), 300, 100)
    path = make(tmp_path / "u", grid, (2, 2), torus=False)
    session = opened(path)
    assert (session.width, session.height) == (640, 320)
    assert (str(session.rule), str(session.topology)) == ("B3/S23", "plane")
    assert session.path == path
    assert not session.can_edit
    status = session.status()
    assert (status.generation, status.population) == (0, grid.population())
    assert not status.running
    assert not status.modified
    assert status.problem == ""
    box = session.bounding_box()
    exact = grid.bounding_box()
    assert box is not None
    assert exact is not None
    assert box.x <= exact.x < box.x + 8
    assert box.y <= exact.y < box.y + 8
    assert session.cells(Box(301, 99, 70, 50)) == grid.crop(Box(301, 99, 70, 50))
    with pytest.raises(GridError):
        session.cells(Box(600, 0, 100, 10))
    for impossible in (session.reset, lambda: session.go_to(-1), lambda: session.step(-1)):
        with pytest.raises(SessionError) as refusal:
            impossible()
        assert "\n" not in str(refusal.value)
    for speed in ((0, None), (1 << 21, None), (1, 0.0)):
        with pytest.raises(SessionError):
            session.set_speed(*speed)
    session.go_to(0)  # where it is
    assert not session.status().running


def test_no_universe(tmp_path: Path) -> None:
    with pytest.raises(LifesimError, match="no universe"):
        DiskSession.open(str(tmp_path))
    with pytest.raises(LifesimError):
        DiskSession.open(str(tmp_path / "nothing"))


def test_copies(tmp_path: Path, opened: Opening) -> None:
    grid = soup(256, 200)
    session = opened(make(tmp_path / "u", grid))
    session.save(session.path)  # where it is already
    session.save(str(tmp_path / "copy"))
    with Universe.open(tmp_path / "copy") as copy:
        assert copy.grid() == grid
    session.save(str(tmp_path / "copy.rle"))
    assert patterns.read(str(tmp_path / "copy.rle")).grid.population() == grid.population()
    with pytest.raises(LifesimError):
        session.save(str(tmp_path / "copy"))


# --- runs ----------------------------------------------------------------------


def after(grid: BitGrid, generations: int) -> BitGrid:
    life = Life(grid, backend="reference")
    life.run(generations)
    return life.grid()


def test_a_run(tmp_path: Path, opened: Opening) -> None:
    grid = soup(192, 160)
    session = opened(make(tmp_path / "u", grid))
    ears = Ears(session)
    until(lambda: shows(session, grid))
    session.step(7)
    assert session.status().running
    session.step(5)  # from where it is when that has stopped
    until(lambda: not session.status().running)
    status = session.status()
    assert status.problem == ""
    assert status.generation in (5, 7, 12)
    assert "reference" in session.where
    until(lambda: shows(session, after(grid, status.generation)))
    assert Event.CELLS in ears.heard
    assert Event.FAILED not in ears.heard
    session.go_to(20)
    until(lambda: session.status().generation == 20 and not session.status().running)
    assert shows_in_the_end(session, after(grid, 20))
    assert session.status().rate > 0
    with pytest.raises(SessionError, match="generation 19 is gone"):
        session.go_to(19)

    session.set_speed(3, None)
    session.start()
    until(lambda: session.status().generation >= 26)
    session.set_speed(4, 50.0)
    session.start()  # which it is
    session.stop()
    until(lambda: not session.status().running)
    with Universe.open(session.path) as universe:
        assert universe.manifest.run is None
        assert universe.is_whole
        assert universe.grid() == after(grid, universe.generation)
        assert session.status().generation == universe.generation


def test_killed_and_resumed(tmp_path: Path, opened: Opening) -> None:
    grid = soup(192, 160)
    path = make(tmp_path / "u", grid)
    session = opened(path)
    session.step(1000)
    until(lambda: Universe.open(path).manifest.run)
    process = session._runs.process
    assert process is not None
    process._process.kill()
    until(lambda: not session.status().running)
    assert "signal 9" in session.status().problem
    session.close()
    with Universe.open(path) as universe:
        run = universe.manifest.run
    assert run == (0, 1000)
    again = opened(path)
    again.start()
    until(lambda: not again.status().running)
    assert again.status().problem == ""
    assert again.status().generation == 1000
    with Universe.open(path) as universe:
        assert universe.grid() == after(grid, 1000)


def test_closing_while_it_runs(tmp_path: Path, opened: Opening) -> None:
    path = make(tmp_path / "u", soup(192, 160))
    session = opened(path)
    session.start()
    session.close()
    with Universe.open(path, writing=True):  # which nobody has locked
        pass
    with pytest.raises(SessionError, match="closed"):
        session.start()


def test_stopped_twice_it_stops_at_once(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(make(tmp_path / "u", soup(192, 160)))
    # A process that does not listen.
    monkeypatch.setattr("ui.disk.process.DiskProcess.send", lambda process, order: None)
    session.step(10)
    session.stop()
    session.stop()  # a key that was held down too long
    time.sleep(0.4)
    assert session.status().running
    session.stop()
    until(lambda: not session.status().running)
    assert session.status().problem == ""


def test_a_run_ends_with_its_window(tmp_path: Path, opened: Opening) -> None:
    session = opened(make(tmp_path / "u", soup(192, 160)))
    session.start()
    until(lambda: session.status().generation > 0)
    process = session._runs.process
    assert process is not None
    assert process._process.stdin is not None
    process._process.stdin.close()  # as the system does for one that dies
    until(lambda: not session.status().running)
    assert session.status().problem == ""


def test_a_run_that_cannot_be(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened(make(tmp_path / "u", soup(192, 160)))
    ears = Ears(session)
    with Universe.open(session.path, still=True):  # which may be looked at, not changed
        session.start()
        until(lambda: not session.status().running)
    assert "in use by" in session.status().problem
    assert Event.FAILED in ears.heard
    session._runs.backend = "nonsense"
    session.step(1)
    until(lambda: not session.status().running)
    assert "the process of the run has died" in session.status().problem
    assert "\n" not in session.status().problem
    assert session.where == "on disk: nothing runs"
    monkeypatch.setattr("sys.executable", str(tmp_path / "nothing"))
    with pytest.raises(SessionError, match="no run"):
        session.step(1)
    assert not session.status().running


def test_a_run_of_another_process(tmp_path: Path, opened: Opening) -> None:
    grid = soup(192, 160)
    path = make(tmp_path / "u", grid)
    session = opened(path)
    ears = Ears(session)
    until(lambda: shows(session, grid))
    with Universe.open(path, writing=True) as universe:
        until(lambda: str(os.getpid()) in session.where)
        for action in (session.start, lambda: session.step(1), lambda: session.go_to(9)):
            with pytest.raises(SessionError, match="in use by process"):
                action()
        assert not session.status().running
        life = StreamedLife(universe, [pick("reference")])
        for generations in (3, 1, 4):
            ears.heard.clear()
            life.run(generations)
            until(lambda: session.status().generation == life.generation)
            assert shows_in_the_end(session, after(grid, life.generation))
            assert Event.CELLS in ears.heard
        assert session.status().population == universe.population()
    until(lambda: str(os.getpid()) not in session.where)


def test_between_two_generations(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = soup(192, 160)
    path = make(tmp_path / "u", grid)
    with Universe.open(path, writing=True) as universe:
        break_off(universe, monkeypatch)
        assert universe.phase
        assert universe.phase.done
    session = opened(path)
    status = session.status()
    assert (status.generation, status.population) == (0, grid.population())
    box = Box(0, 0, 192, 160)
    for scale in (0, 2, 3, 5):
        expected = read.levels(Universe.open(path), box, scale)
        assert np.array_equal(sharp(session, box, scale), expected)
    with pytest.raises(SessionError, match="on its way to generation 6"):
        session.go_to(3)
    with pytest.raises(LifesimError):
        session.save(str(tmp_path / "copy"))
    session.step(2)  # to the end of the phase
    until(lambda: not session.status().running)
    assert session.status().generation == 6
    assert shows_in_the_end(session, after(grid, 6))


def test_parts_that_have_not_changed_are_not_read_again(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = BitGrid(128, 1024)
    for y, cells in ((100, [(0, 0), (0, 1), (0, 2)]), (900, [(0, 0), (0, 1), (1, 0), (1, 1)])):
        for dx, dy in cells:  # a blinker, a block
            grid[60 + dx, y + dy] = True
    path = make(tmp_path / "u", grid, (1, 8))
    session = opened(path)
    assert shows_in_the_end(session, grid)
    held = Held(monkeypatch)
    held.gate.set()
    with Universe.open(path, writing=True) as universe:
        StreamedLife(universe, [pick("reference")]).run(1)
    assert shows_in_the_end(session, after(grid, 1))
    assert {stripe.tile for stripe in held.read} == {0}


# --- what goes wrong -----------------------------------------------------------


def test_files_that_vanish(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_AGAIN", 0.2)
    grid = soup(192, 160)
    path = make(tmp_path / "u", grid)
    session = opened(path)
    until(lambda: time.monotonic() > session._opened + disk._OPENING)
    ears = Ears(session)
    tiles = Path(path) / "tiles"
    tiles.rename(tmp_path / "away")
    session.source(whole(session)).levels(Box(0, 0, 192, 160), 0)
    until(lambda: Event.FAILED in ears.heard)
    problem = session.status().problem
    assert "the file is missing" in problem
    assert "\n" not in problem
    assert ears.heard.count(Event.FAILED) == 1
    # Pictures go on, and are right again once the files are there.
    draw(whole(session), session.source(whole(session)))
    (tmp_path / "away").rename(tiles)
    until(lambda: shows(session, grid))
    until(lambda: session.status().problem == "")

    (Path(path) / "manifest.json").rename(tmp_path / "manifest")
    until(lambda: "no manifest.json" in session.status().problem)
    assert shows(session, grid)
    assert ears.heard.count(Event.FAILED) == 2
    shutil.copy(tmp_path / "manifest", Path(path) / "manifest.json")
    until(lambda: session.status().problem == "")
    session.step(1)
    until(lambda: session.status().generation == 1 and not session.status().running)

    shutil.rmtree(path)
    until(lambda: "no universe" in session.status().problem)
    with pytest.raises(SessionError):
        session.start()
    # Another one in its place.
    other = soup(320, 100)
    make(tmp_path / "u", other)
    until(lambda: session.width == 320 and session.status().problem == "")
    assert shows_in_the_end(session, other)


def test_damaged_files(tmp_path: Path, opened: Opening) -> None:
    path = make(tmp_path / "u", soup(192, 160), (1, 2))
    store = Universe.open(path)
    for tile, record in enumerate(store.manifest.tiles):
        reader = store.reader(tile)
        start = int(reader._table[0, 0])  # of the first cells
        reader.close()
        with open(Path(path) / "tiles" / record.file, "r+b") as file:
            file.seek(start)
            file.write(bytes(100))
    session = opened(path)
    source = session.source(whole(session))
    source.levels(Box(0, 0, 192, 160), 0)
    until(lambda: "checksum" in session.status().problem)
    source.levels(Box(0, 0, 192, 160), 0)
    assert not session.status().running
    # What is not damaged is shown.
    assert np.array_equal(
        sharp(session, Box(0, 0, 192, 160), 3),
        read.levels(Universe.open(path), Box(0, 0, 192, 160), 3),
    )


def test_locks_of_processes_that_died(tmp_path: Path, opened: Opening) -> None:
    path = make(tmp_path / "u", soup(192, 160))
    here = socket.gethostname()
    for pid, host, shown in (
        (2**22 + 1, here, False),
        (2**70, here, False),
        ("x", here, False),
        (os.getpid(), here, True),
        (7, "elsewhere", True),
    ):
        (Path(path) / "lock").write_text(json.dumps({"pid": pid, "host": host}))
        assert bool(owner_of(path)) is shown
    for text in ("", "[]", "{", '["pid"]'):
        (Path(path) / "lock").write_text(text)
        assert owner_of(path) == ""
    # What a lock file says keeps nobody from running: only a lock that is held does.
    (Path(path) / "lock").write_text(json.dumps({"pid": 7, "host": "elsewhere"}))
    session = opened(path)
    until(lambda: "process 7 on elsewhere" in session.where)
    session.step(1)
    until(lambda: not session.status().running)
    assert session.status().problem == ""
    assert session.status().generation == 1
