"""Recorded runs: every picture comes back as it was, within a budget of disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets.choose import pick
from lifesim.engine import Life
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.render import density_levels
from lifesim.rule import LIFE, Rule
from lifesim.soup import random_grid
from lifesim.topology import Topology
from tests.quick import examples
from tests.strategies import grids
from tests.waiting import until
from ui.cells.edits import Stroke
from ui.cells.saving import Whole
from ui.cells.session import MemorySession
from ui.film import reels
from ui.film.recorder import Recorder
from ui.film.recording import RecordedShot, Recording, RecordingError, to_drop
from ui.session import Event, Status

PATIENCE = 60.0  # seconds, on a busy machine


def whole(grid: BitGrid, generation: int = 0, rule: Rule = LIFE) -> Whole:
    return Whole(grid, rule, Topology.TORUS, generation)


def run_of(count: int, side: int = 100, every: int = 1, seed: int = 1) -> list[Whole]:
    life = Life(random_grid(side, side, 0.4, seed), backend="reference")
    taken = [whole(life.grid())]
    for _ in range(count - 1):
        life.run(every)
        taken.append(whole(life.grid(), life.generation))
    return taken


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    made = Recording(str(tmp_path / "film"))
    yield made
    made.close()


def check(recording: Recording, taken: list[Whole]) -> None:
    shots = recording.shots
    assert [shot.generation for shot in shots] == [some.generation for some in taken]
    for shot, some in zip(shots, taken, strict=True):
        found = recording.whole(shot)
        assert found.cells == some.cells
        assert (found.rule, found.topology) == (some.rule, some.topology)


def test_every_picture_comes_back_in_any_order(recording: Recording) -> None:
    taken = run_of(80)
    for some in taken:
        assert recording.add(some)
    order = np.random.default_rng(1).permutation(80)
    for number in (*order, *range(79, -1, -1)):
        shot = recording.shot(int(number))
        source = recording.source(shot)
        assert source.grid == taken[number].cells
        assert source.generation == taken[number].generation
        assert recording.source(shot) is source
    whole_box = Box(0, 0, 100, 100)
    levels = recording.source(recording.shot(7)).levels(whole_box, 3)
    assert np.array_equal(levels, density_levels(taken[7].cells, whole_box, 3))
    assert recording.nbytes == sum(p.stat().st_size for p in recording.folder.glob("*.reel"))


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(grids(), st.integers(0, 10**40)), min_size=1, max_size=8))
def test_any_cells_and_generations(pictures: list[tuple[BitGrid, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(folder)
        taken: list[Whole] = []
        for grid, generation in pictures:
            if recording.add(whole(grid, generation)):
                taken.append(whole(grid, generation))
        check(recording, taken)
        recording.close()
        again = Recording(folder)
        check(again, taken)
        again.close()


def test_differences_are_kept_where_they_are_smaller(recording: Recording) -> None:
    soup = random_grid(512, 512, 0.5, 3)
    nearly = soup.copy()
    nearly[7, 7] = not nearly[7, 7]
    recording.add(whole(soup, 0))
    recording.add(whole(nearly, 1))
    recording.add(whole(random_grid(512, 512, 0.01, 4), 2))
    first, second, third = recording.shots
    assert first.before is None
    assert second.before == first
    assert second.nbytes < first.nbytes // 20
    assert third.before is None
    assert recording.whole(second).cells == nearly


def test_large_cells_are_tried_at_some_places(recording: Recording) -> None:
    soup = random_grid(8192, 2048, 0.5, 3)  # 2 MiB
    nearly = soup.copy()
    nearly[7000, 1000] = not nearly[7000, 1000]
    recording.add(whole(soup, 0))
    recording.add(whole(nearly, 1))
    assert recording.shot(1).before is not None
    assert recording.whole(recording.shot(1)).cells == nearly


def test_a_picture_twice_is_recorded_once(recording: Recording) -> None:
    [some] = run_of(1)
    assert recording.add(some)
    assert not recording.add(whole(some.cells.copy()))
    assert recording.add(whole(some.cells.copy(), 1))
    assert recording.add(whole(some.cells.copy(), 1, Rule.parse("B36/S23")))
    assert recording.add(whole(BitGrid(3, 3), 1))
    assert [shot.rule for shot in recording.shots][2] == Rule.parse("B36/S23")
    assert (recording.shot(3).width, recording.shot(99).height) == (3, 3)


def test_find(recording: Recording) -> None:
    for generation in (5, 10, 20, 0, 10, 15):
        recording.add(whole(random_grid(20, 20, 0.5, generation), generation))
    wanted = {4: 3, 5: 0, 9: 0, 10: 4, 14: 4, 15: 5, 19: 5, 20: 2, 99: 2}
    assert {generation: recording.find(generation) for generation in wanted} == wanted
    assert Recording.find(recording, -1) is None


def test_none(recording: Recording) -> None:
    assert len(recording) == 0
    assert recording.find(0) is None
    with pytest.raises(RecordingError, match="nothing has been recorded"):
        recording.shot(0)


# --- the budget ----------------------------------------------------------------


def test_a_full_disk_budget_thins_evenly(tmp_path: Path) -> None:
    taken = run_of(300, side=64)
    recording = Recording(str(tmp_path / "film"), budget=20_000)
    for some in taken:
        recording.add(some)
        on_disk = sum(path.stat().st_size for path in recording.folder.glob("*.reel"))
        assert on_disk == recording.nbytes <= recording.budget
    shots = recording.shots
    kept = [shot.generation for shot in shots]
    assert (kept[0], kept[-1]) == (0, 299)
    assert 20 < len(kept) < 200
    check(recording, [taken[generation] for generation in kept])
    gaps = np.diff(kept[: -len(kept) // 4])
    assert gaps.max() <= 4 * gaps.min()
    assert [shot.serial for shot in shots] == kept
    recording.close()
    again = Recording(str(tmp_path / "film"), budget=20_000)
    check(again, [taken[generation] for generation in kept])
    assert again.add(whole(random_grid(64, 64, 0.5, 9), 300))
    assert again.shot(len(again)).serial == 300
    again.close()


def test_files_that_vanish_before_they_are_thinned(tmp_path: Path) -> None:
    taken = run_of(60, side=64)
    recording = Recording(str(tmp_path))
    for some in taken[:50]:
        recording.add(some)
    recording.budget = recording.nbytes
    gone = sorted(tmp_path.glob("*.reel"))[0]
    names = set(tmp_path.glob("*.reel")) - {gone}
    gone.unlink()
    with pytest.raises(RecordingError, match="recorded files are gone"):
        recording.add(taken[50])
    assert names <= set(tmp_path.glob("*.reel"))
    assert recording.whole(recording.shot(49)).cells == taken[49].cells
    recording.close()


def shots_at(generations: list[int]) -> list[RecordedShot]:
    size = 64, 64, LIFE, Topology.TORUS, Path("reel"), 0, 100, None
    return [
        RecordedShot(serial, generation, *size) for serial, generation in enumerate(generations)
    ]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(0, 60), min_size=2, max_size=40), st.integers(1, 4000))
def test_who_goes(generations: list[int], nbytes: int) -> None:
    shots = shots_at(generations)
    gone = to_drop(shots, nbytes)
    assert gone
    assert len(gone) < len(shots)
    assert len(shots) - 1 not in gone
    turns = {
        k
        for k in range(1, len(shots) - 1)
        if not generations[k - 1] <= generations[k] <= generations[k + 1]
    }
    inner = set(range(1, len(shots) - 1)) - turns
    if inner:
        assert gone <= inner
        assert len(gone) == min(len(inner), -(-nbytes // 100))
    else:
        assert gone == set(range(len(gone)))


def test_equal_distances_lose_every_second_from_the_oldest_on() -> None:
    assert to_drop(shots_at(list(range(20))), 300) == {1, 3, 5}
    assert to_drop(shots_at([0, 10, 20, 30, 31, 32, 42]), 100) == {4}


def test_what_is_larger_than_the_budget(tmp_path: Path) -> None:
    recording = Recording(str(tmp_path), budget=1000)
    with pytest.raises(RecordingError, match="1,000 may be recorded"):
        recording.add(whole(random_grid(200, 200, 0.5, 1)))
    assert len(recording) == 0
    assert recording.add(whole(BitGrid(200, 200)))
    check(recording, [whole(BitGrid(200, 200))])
    recording.close()


def test_one_who_looks_while_it_is_thinned(tmp_path: Path) -> None:
    taken = run_of(120, side=64)
    recording = Recording(str(tmp_path), budget=12_000)
    recording.add(taken[0])
    problems: list[BaseException] = []
    ended = threading.Event()

    def look() -> None:
        random = np.random.default_rng(2)
        try:
            while not ended.is_set():
                shot = recording.shot(int(random.integers(len(recording))))
                try:
                    assert recording.source(shot).grid == taken[shot.generation].cells
                except RecordingError as error:
                    assert "not recorded any more" in str(error)  # noqa: PT017
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    for some in taken[1:]:
        recording.add(some)
    ended.set()
    thread.join()
    recording.close()
    assert not problems


# --- what can go wrong ---------------------------------------------------------


def test_a_file_that_breaks_off_anywhere(tmp_path: Path) -> None:
    taken = run_of(4, side=40)
    recording = Recording(str(tmp_path / "film"))
    for some in taken:
        recording.add(some)
    recording.close()
    [path] = (tmp_path / "film").glob("*.reel")
    data = path.read_bytes()
    ends = [shot.start + shot.nbytes for shot in reels.shots_of(path)]
    assert ends[-1] == len(data)
    for length in range(0, len(data), 17):
        path.write_bytes(data[:length])
        assert len(reels.shots_of(path)) == sum(end <= length for end in ends)
    path.write_bytes(data[:-1])
    again = Recording(str(tmp_path / "film"))
    check(again, taken[:3])
    again.add(taken[3])
    check(again, taken)
    again.close()


def test_flipped_bits_are_noticed(tmp_path: Path) -> None:
    taken = run_of(2, side=30)
    path = tmp_path / "1.reel"
    reel = reels.Reel(path)
    shots = [reel.add(some, serial, 1 << 20) for serial, some in enumerate(taken)]
    reel.close()
    data = bytearray(path.read_bytes())
    for place in (*range(400), *range(400, len(data), 5)):
        data[place] ^= 1 << place % 8
        path.write_bytes(data)
        for shot, some in zip(reels.shots_of(path), taken, strict=False):
            try:
                found = reels.still_of(shot)
            except DamagedDataError:
                continue
            assert found == some
        data[place] ^= 1 << place % 8
    path.write_bytes(data)
    assert reels.shots_of(path) == shots


def test_files_of_others_and_files_that_vanish(tmp_path: Path) -> None:
    names = "0000000001.reel", "holiday.reel", "note.txt"
    for name in names:
        (tmp_path / name).write_bytes(b"prose " * 100)
    (tmp_path / "0000000002.reel").write_bytes(b"LSR1")  # broken off
    recording = Recording(str(tmp_path))
    assert len(recording) == 0
    assert sorted(path.name for path in tmp_path.glob("*.reel")) == [*names[:2]]
    for some in run_of(3):
        recording.add(some)
    for path in tmp_path.glob("*.reel"):
        path.unlink()
    with pytest.raises(RecordingError, match="not recorded any more"):
        recording.whole(recording.shot(1))
    recording.close()
    assert (tmp_path / "note.txt").exists()


def test_it_is_open_as_long_as_somebody_holds_it() -> None:
    recording = Recording()
    recording.add(whole(random_grid(20, 20, 0.5, 1)))
    recording.hold()
    recording.close()
    assert recording.whole(recording.shot(0)).cells == random_grid(20, 20, 0.5, 1)
    recording.close()
    assert not recording.folder.exists()


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="cannot record to"):
        Recording(str(tmp_path / "file" / "film"))
    recording = Recording(str(tmp_path / "film"))
    with pytest.raises(LifesimError, match="in use by"):
        Recording(str(tmp_path / "film"))
    recording.close()


def test_a_disk_that_is_full(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = run_of(3)
    recording.add(taken[0])
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if len(data) > 40:
            write(handle, bytes(data)[:5])
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(reels.os, "write", full)
    with pytest.raises(RecordingError, match="No space left on device"):
        recording.add(taken[1])
    monkeypatch.undo()
    recording.add(taken[2])
    check(recording, [taken[0], taken[2]])


def test_a_temporary_recording_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    recording = Recording()
    recording.add(run_of(1)[0])
    assert recording.folder.parent == tmp_path
    recording.close()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_viewer_leaves_is_swept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = (
        "import os\nfrom lifesim.grid import BitGrid\nfrom lifesim.rule import LIFE\n"
        "from lifesim.topology import Topology\nfrom ui.film.recording import Recording\n"
        "from ui.cells.saving import Whole\nr = Recording()\n"
        "r.add(Whole(BitGrid(9, 9), LIFE, Topology.TORUS, 0))\nos.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", code], env=environment, timeout=60)
    assert killed.returncode == -9
    [left] = tmp_path.iterdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = Recording()  # too young to be told from one that is just being made
    assert left.exists()
    old = time.time() - 1000
    os.utime(left, (old, old))
    os.utime(held.folder, (old, old))
    other = Recording()
    assert not left.exists()
    assert held.folder.exists()
    held.close()
    other.close()


# --- of a session --------------------------------------------------------------


@pytest.fixture
def session() -> Iterator[MemorySession]:
    grid = random_grid(128, 96, 0.4, 5)
    made = MemorySession(grid, backend=pick("auto", threads=1))
    yield made
    made.close()


def test_what_runs_is_recorded(session: MemorySession, recording: Recording) -> None:
    recorder = Recorder(session, recording)
    until(lambda: len(recording) == 1)
    for _ in range(20):
        session.step(3)
        session.settle()
    session.edit(Stroke(((5, 5),)))
    session.settle()
    recorder.stop()
    last = session.whole()
    session.step(1)
    session.settle()
    shots = recording.shots
    assert shots[-1].generation == 60
    assert recording.whole(shots[-1]).cells == last.cells
    for shot in shots[:-1]:
        life = Life(random_grid(128, 96, 0.4, 5), backend="reference")
        life.run(shot.generation)
        assert recording.whole(shot).cells == life.grid()
    assert not recorder.is_recording
    assert recorder.problem == ""


def test_a_run_that_does_not_wait(session: MemorySession, recording: Recording) -> None:
    recorder = Recorder(session, recording, every=10)
    session.set_speed(4, None)
    session.start()
    until(lambda: len(recording) > 8)
    session.stop()
    session.settle()
    until(lambda: recording.shot(len(recording)).generation == session.status().generation)
    recorder.stop()
    taken = [shot.generation for shot in recording.shots]
    assert all(b - a >= 10 for a, b in pairwise(taken[:-1]))
    life = Life(random_grid(128, 96, 0.4, 5), backend=pick("auto", threads=1))
    for shot in recording.shots:
        life.run(shot.generation - life.generation)
        assert recording.whole(shot).cells == life.grid()


def test_listeners_go_with_their_recordings(session: MemorySession, recording: Recording) -> None:
    before = session._news.listeners
    for _ in range(3):
        Recorder(session, recording).stop()
    assert session._news.listeners == before


class SteppedSession:
    """A session whose thread is the test's."""

    def __init__(self) -> None:
        self.generation, self.running = 0, True
        self.listeners: list[object] = []

    def status(self) -> Status:
        return Status(self.generation, None, 0, self.running, 0.0, False)

    def listen(self, listener: object) -> None:
        self.listeners.append(listener)

    def forget(self, listener: object) -> None:
        self.listeners.remove(listener)

    def still(self) -> Whole:
        return whole(random_grid(32, 32, 0.5, self.generation), self.generation)

    def tell(self) -> None:
        self.generation += 1
        for listener in self.listeners:
            listener(Event.CELLS)  # type: ignore[operator]


def test_a_slow_disk_keeps_the_last(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    session, gate = SteppedSession(), threading.Event()
    add = recording.add

    def slow(some: Whole) -> bool:
        gate.wait(PATIENCE)
        return add(some)

    monkeypatch.setattr(recording, "add", slow)
    recorder = Recorder(session, recording)
    for _ in range(50):
        session.tell()
    assert recorder.left_out > 40
    gate.set()
    until(lambda: recording.find(50) is not None and recording.shots[-1].generation == 50)
    recorder.stop()
    session.tell()
    assert recording.shots[-1].generation == 50


@pytest.mark.parametrize("running", [True, False])
def test_the_end_of_a_run_that_is_not_told_of_yet(recording: Recording, running: bool) -> None:
    session = SteppedSession()
    recorder = Recorder(session, recording, every=4)
    until(lambda: len(recording) == 1)
    for _ in range(6):
        session.tell()
    session.generation, session.running = 7, running
    recorder.stop()
    assert [shot.generation for shot in recording.shots] == [0, 4, 7][: 2 if running else 3]


def test_a_recorder_that_fails_says_so(session: MemorySession, tmp_path: Path) -> None:
    recording = Recording(str(tmp_path), budget=100)
    told = threading.Event()
    recorder = Recorder(session, recording, told=told.set)
    assert told.wait(PATIENCE)
    assert not recorder.is_recording
    assert "may be recorded" in recorder.problem
    session.step(1)
    session.settle()
    recorder.stop()
    recording.close()


def test_jumping_to_a_recorded_moment(session: MemorySession, recording: Recording) -> None:
    first = session.whole()
    recording.add(first)
    session.step(30)
    session.settle()
    other = replace(recording.whole(recording.shot(0)), rule=Rule.parse("B36/S23"))
    for jump in (first, other, whole(random_grid(40, 30, 0.3, 1), 7)):
        there = session.whole()
        session.put(jump)
        session.settle()
        assert session.whole() == jump
        assert session.can_undo == "the jump in time"
        session.undo()
        session.settle()
        assert session.whole() == there
        session.redo()
        session.settle()
        assert session.whole() == jump
    session.step(1)
    session.settle()
    assert session.status().generation == 8
    assert (session.width, session.height) == (40, 30)
