"""Recorded runs on disk: each generation that is whole, all cells or from afar."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.targets.choose import pick
from lifesim.engine import Life
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.render import density_levels
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from tests.disk_sessions import Opening, make, sessions, soup
from tests.waiting import until
from ui.disk import stills
from ui.film.recorder import Recorder
from ui.film.recording import Recording
from ui.film.stills import Afar, AfarSource

WIDTH, HEIGHT, SCALE = 256, 192, 4
ALL = Box(0, 0, WIDTH, HEIGHT)


@pytest.fixture
def opened() -> Iterator[Opening]:
    with sessions() as opening:
        yield opening


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    made = Recording(str(tmp_path / "film"))
    yield made
    made.close()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Universes of tests are too large to be recorded exactly."""
    monkeypatch.setattr(stills, "_EXACT", 0)
    monkeypatch.setattr(stills, "_FAR", 16)


def check(recording: Recording, grid: BitGrid) -> None:
    """Check that all pictures are those of a run from the grid on."""
    life = Life(grid, backend="reference")
    for shot in recording.shots:
        life.run(shot.generation - life.generation)
        if shot.scale:
            source = recording.source(shot)
            assert isinstance(source, AfarSource)
            levels = density_levels(life.grid(), None, SCALE)
            assert np.array_equal(source.levels(ALL, SCALE), levels)
        else:
            assert recording.whole(shot).cells == life.grid()


def record(opened: Opening, path: str, recording: Recording, speed: int) -> Recorder:
    session = opened(path)
    recorder = Recorder(session, recording)
    until(lambda: len(recording) == 1 or recorder.problem)
    session.set_speed(speed, None)
    session.start()
    until(lambda: len(recording) > 5 or recorder.problem)
    session.stop()
    until(lambda: not session.status().running)
    recorder.stop()
    assert recorder.problem == ""
    return recorder


def test_each_generation_that_is_whole(
    tmp_path: Path, opened: Opening, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.disk.control._PICTURES", 0.0)
    grid = soup(WIDTH, HEIGHT)
    recorder = record(opened, make(tmp_path / "u", grid), recording, 3)
    taken = [shot.generation for shot in recording.shots]
    assert set(taken) <= set(range(0, taken[-1] + 1, 3))
    assert len(taken) + recorder.left_out > taken[-1] // 3
    assert {shot.scale for shot in recording.shots} == {0}
    check(recording, grid)


def test_one_of_so_many_generations_is_seen(
    tmp_path: Path, opened: Opening, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of every 4 generations is seen, even of runs that leap farther where nobody looks."""
    monkeypatch.setattr("ui.disk.control._PICTURES", 0.0)
    grid = soup(WIDTH, HEIGHT)
    session = opened(make(tmp_path / "u", grid))
    session.see_every(4)
    recorder = Recorder(session, recording, 4)
    until(lambda: len(recording) == 1 or recorder.problem)
    session.go_to(22)
    until(lambda: session.status().generation == 22 and not session.status().running)
    recorder.stop()
    taken = [shot.generation for shot in recording.shots]
    assert set(taken) <= {0, 4, 8, 12, 16, 20, 22}
    assert len(taken) + recorder.left_out == 7
    check(recording, grid)
    session.see_every(0)
    session.go_to(60)
    until(lambda: session.status().generation == 60 and not session.status().running)


@pytest.mark.usefixtures("small")
def test_from_afar(tmp_path: Path, opened: Opening, recording: Recording) -> None:
    grid = soup(WIDTH, HEIGHT)
    record(opened, make(tmp_path / "u", grid), recording, 2)
    assert {shot.scale for shot in recording.shots} == {SCALE}
    check(recording, grid)
    with pytest.raises(LifesimError, match="recorded at 1:16 only"):
        recording.whole(recording.shot(0))
    recording.close()
    again = Recording(str(recording.folder))
    check(again, grid)
    recording.hold()  # for the fixture
    again.close()


@pytest.mark.parametrize("afar", [False, True])
def test_runs_of_others_are_recorded(
    afar: bool, tmp_path: Path, opened: Opening, recording: Recording, request: Any
) -> None:
    if afar:
        request.getfixturevalue("small")
    grid = soup(WIDTH, HEIGHT)
    path = make(tmp_path / "u", grid)
    recorder = Recorder(opened(path), recording)
    until(lambda: len(recording) == 1 or recorder.problem)
    with Universe.open(path, writing=True) as universe:
        life = StreamedLife(universe, [pick("reference")])
        for count, generations in ((2, 3), (3, 1), (4, 4)):
            life.run(generations)
            until(lambda count=count: len(recording) == count)  # type: ignore[misc]
    recorder.stop()
    assert [shot.generation for shot in recording.shots] == [0, 3, 4, 8]
    check(recording, grid)


def break_off(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of 6 generations, when files of the generation before are gone."""
    with Universe.open(path, writing=True) as universe, monkeypatch.context() as patch:
        real = Universe.finish_tiles

        def finish_tiles(*arguments: Any) -> list[str]:
            gone = real(*arguments)
            for file in gone:
                os.remove(file)
            if gone:
                raise KeyboardInterrupt
            return []

        patch.setattr(Universe, "finish_tiles", finish_tiles)
        with pytest.raises(KeyboardInterrupt):
            StreamedLife(universe, [pick("reference")], generations=6).run(6)
        assert universe.phase
        assert len(universe.phase.done) < len(universe.tiling)


def test_between_two_generations_the_next_one_is_waited_for(
    tmp_path: Path, opened: Opening, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = soup(192, 960)
    path = make(tmp_path / "u", grid, (1, 10), torus=False)
    break_off(path, monkeypatch)
    session = opened(path)
    assert session.still() is None
    with pytest.raises(LifesimError, match="on its way"):
        session.whole()
    recorder = Recorder(session, recording)
    with Universe.open(path, writing=True) as universe:
        StreamedLife(universe, [pick("reference")]).resume()
    until(lambda: len(recording) == 1 or recorder.problem)
    recorder.stop()
    assert recorder.problem == ""
    [shot] = recording.shots
    assert shot.generation == 6
    life = Life(grid, topology="plane", backend="reference")
    life.run(6)
    assert recording.whole(shot).cells == life.grid()
    assert session.whole() == recording.whole(shot)


def test_a_whole_generation_is_waited_for(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "u", soup(192, 960), (1, 10), torus=False)
    break_off(path, monkeypatch)
    session = opened(path)
    waits: list[int] = []

    def waiting() -> None:
        waits.append(session.status().generation)
        if len(waits) > 2:
            raise KeyError

    with pytest.raises(LifesimError, match="on its way from generation 0 to"):
        stills.next_whole(session, waiting)  # where nobody takes it
    assert not waits
    status = session.status
    monkeypatch.setattr(session, "status", lambda: replace(status(), running=True))
    with pytest.raises(KeyError):
        stills.next_whole(session, waiting)
    monkeypatch.setattr(session, "status", status)
    waits.clear()
    session.start()
    assert stills.next_whole(session, lambda: None).generation == 6
    until(lambda: not session.status().running)
    listeners = session._listeners.copy()
    assert stills.next_whole(session, lambda: None).generation == 6
    assert session._listeners == listeners


def test_what_is_the_same_is_read_once(tmp_path: Path, opened: Opening) -> None:
    session = opened(make(tmp_path / "u", soup(WIDTH, HEIGHT)))
    still = session.still()
    assert still is not None
    assert session.still() is still
    with Universe.open(session.path, writing=True) as universe:
        StreamedLife(universe, [pick("reference")]).run(1)
    until(lambda: session.status().generation == 1)
    assert session.still() is not still


@pytest.mark.usefixtures("small")
def test_large_ones_without_a_pyramid(tmp_path: Path, opened: Opening) -> None:
    session = opened(make(tmp_path / "u", soup(WIDTH, HEIGHT), pyramid=False))
    with pytest.raises(LifesimError, match="without a pyramid"):
        session.still()


@pytest.mark.usefixtures("small")
def test_without_a_pyramid_small_ones_are(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stills, "_EXACT", WIDTH * HEIGHT // 8)
    grid = soup(WIDTH, HEIGHT)
    still = opened(make(tmp_path / "u", grid, pyramid=False)).still()
    assert still is not None
    assert not isinstance(still, Afar)
    assert still.cells == grid


def test_damage_ends_the_recording(tmp_path: Path, opened: Opening, recording: Recording) -> None:
    path = make(tmp_path / "u", soup(WIDTH, HEIGHT))
    session = opened(path)
    os.remove(next((tmp_path / "u" / "tiles").iterdir()))
    with pytest.raises(DamagedDataError):
        session.still()
    recorder = Recorder(session, recording)
    until(lambda: recorder.problem)
    assert "tiles" in recorder.problem
    recorder.stop()


def test_listeners_go_with_their_recordings(
    tmp_path: Path, opened: Opening, recording: Recording
) -> None:
    session = opened(make(tmp_path / "u", soup(WIDTH, HEIGHT)))
    before = session._listeners.copy()
    for _ in range(3):
        Recorder(session, recording).stop()
    assert session._listeners == before


def test_all_cells_are_of_one_generation(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = soup(WIDTH, HEIGHT)
    session = opened(make(tmp_path / "u", grid))
    assert session.whole().cells == grid
    real = stills.read.whole

    def whole(universe: Universe) -> BitGrid:
        universe.refresh()  # as reading does that finds a file gone
        return real(universe)

    monkeypatch.setattr(stills.read, "whole", whole)
    with pytest.raises(LifesimError, match="goes on so fast"):
        session.whole()
