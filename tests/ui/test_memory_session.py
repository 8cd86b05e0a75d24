"""A universe in memory that runs while it is looked at and changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.bytewise import BytewiseLife
from kernels.life.contract import LifeArena
from kernels.life.cpu.engine import CpuArena, CpuLifeEngine
from kernels.life.plan import CpuPlan
from kernels.life.settling.universe import SettlingLife
from kernels.targets import cpu
from kernels.targets.choose import pick
from kernels.targets.reference import ReferenceTarget
from lifesim.engine import Life
from lifesim.grid import BitGrid, Box, GridError
from lifesim.render import density_levels
from lifesim.rule import LIFE, RuleError
from lifesim.soup import random_grid
from lifesim.topology import Topology
from tests.quick import examples
from tests.strategies import grids
from tests.waiting import until
from ui.cells import edits
from ui.cells.machine import Machine, Setting
from ui.cells.moments import Moment
from ui.cells.session import MemorySession
from ui.cells.snapshots import Pictures
from ui.picture.draw import draw
from ui.picture.request import FrameRequest
from ui.picture.viewport import Viewport
from ui.session import Event, SessionError, Status

BACKENDS = ["cpu", "reference"] if cpu.levels() else ["reference"]
SIDE = 192
WHOLE = Box(0, 0, SIDE, SIDE)
PATIENCE = 60.0  # seconds, on a busy machine


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


Make = Callable[..., MemorySession]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[MemorySession] = []

    def session(grid: BitGrid, **options: object) -> MemorySession:
        made.append(MemorySession(grid, **options))  # type: ignore[arg-type]
        return made[-1]

    yield session
    for some in made:
        some.close()
    assert not [t for t in threading.enumerate() if t.name == "lifesim-universe"]


def after(grid: BitGrid, generations: int, **options: object) -> BitGrid:
    life = Life(grid, backend=BACKENDS[0], **options)  # type: ignore[arg-type]
    life.run(generations)
    return life.grid()


def blinkers(width: int, height: int) -> tuple[BitGrid, BitGrid]:
    """Both phases of a torus full of them; sides are multiples of 4."""
    cells = np.zeros((height, width), np.bool_)
    for x in range(3):
        cells[1::4, x::4] = True
    other = np.zeros_like(cells)
    for y in range(3):
        other[y::4, 1::4] = True
    return BitGrid.from_bool(cells), BitGrid.from_bool(other)


def test_steps_are_those_of_the_engine(make: Make, backend: str) -> None:
    grid = random_grid(SIDE, SIDE, 0.4, 1)
    session = make(grid, backend=backend, rule="B36/S23", topology="plane", generation=40)
    for total in (1, 8, 48):
        session.step(total - session.status().generation + 40)
        session.settle()
        assert session.status().generation == 40 + total
        assert session.cells(WHOLE) == after(grid, total, rule="B36/S23", topology="plane")
    assert not session.status().running
    assert session.status().rate > 0
    assert session.where == pick(backend).describe()


def test_steps_that_come_quickly_all_count(make: Make, backend: str) -> None:
    grid = random_grid(SIDE, SIDE, 0.4, 1)
    session = make(grid, backend=backend)
    for _ in range(20):
        session.step(3)
    session.settle()
    assert session.cells(WHOLE) == after(grid, 60)


@pytest.mark.sample(5)
@pytest.mark.parametrize("small", [0, 1 << 20])
@pytest.mark.parametrize("scale", [-2, 0, 1, 2, 3, 5])
def test_pictures_of_a_run_are_of_one_generation(
    make: Make, backend: str, small: int, scale: int
) -> None:
    phases = blinkers(260, 132)
    session = make(phases[0], backend=backend, small=small)
    request = FrameRequest(Viewport(-7, -5, scale, 300, 150))
    expected = [draw(request, _source(phase)).pixels for phase in phases]
    session.start()
    until(lambda: session.status().generation > 0)
    seen = set()
    end = time.monotonic() + 0.1
    while time.monotonic() < end or (len(seen) < 2 and time.monotonic() < end + PATIENCE):
        frame = draw(request, session.source(request))
        assert np.array_equal(frame.pixels, expected[frame.generation % 2])
        seen.add(frame.generation)
    session.stop()
    session.settle()
    until(lambda: session.status().population is not None)
    now = session.status().generation
    until(lambda: draw(request, session.source(request)).generation == now)
    assert len(seen) > 1


def _source(grid: BitGrid) -> object:
    from ui.picture.sources import MemorySource

    return MemorySource(grid)


@given(grids(), st.integers(-2, 9), st.integers(-40, 40), st.integers(-40, 40))
@settings(max_examples=examples(30), deadline=None)
def test_pictures_of_large_universes_are_those_of_small_ones(
    grid: BitGrid, scale: int, left: int, top: int
) -> None:
    request = FrameRequest(Viewport(left, top, scale, 60, 50))
    session = MemorySession(grid, backend=BACKENDS[0], small=0)
    try:
        frame = draw(request, session.source(request))
    finally:
        session.close()
    expected = draw(request, _source(grid))  # type: ignore[arg-type]
    assert np.array_equal(frame.pixels, expected.pixels)
    assert frame.inside == expected.inside


def test_passes_that_are_long_can_be_read_meanwhile(backend: str) -> None:
    """Each picture is of the generation that it says, while passes follow one another."""
    phases = blinkers(512, 512)
    machine = Machine(pick(backend), Setting(512, 512, LIFE, Topology.TORUS), phases[0].words, 0)
    ended = threading.Event()

    def run() -> None:
        # No time at all: every pass counts as long.
        made = 0
        while not ended.is_set():
            made += machine.advance(1 + made % 3, seconds=0.0)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        seen = set()
        end = time.monotonic() + 0.3
        while time.monotonic() < end or len(seen) < 2:
            for box in (Box(0, 0, 512, 512), Box(130, 64, 200, 400)):
                cells, generation = machine.read(box)
                assert cells == phases[generation % 2].crop(box)
                seen.add(generation)
    finally:
        ended.set()
        thread.join()
    machine.close()


def test_steps_grow_while_they_are_short(backend: str) -> None:
    grid = random_grid(64, 64, 0.4, 1)
    machine = Machine(pick(backend), Setting(64, 64, LIFE, Topology.TORUS), grid.words, 0)
    total = 0
    for at_most in [3] * 20 + [10**6] * 6:
        made = machine.advance(at_most, seconds=0.01)
        assert 1 <= made <= at_most
        total += made
        assert machine.generation == total
    assert machine.span > 3
    assert machine.read(Box(0, 0, 64, 64))[0] == after(grid, total)
    machine.close()


def test_it_stops_at_once_and_starts_again(make: Make, backend: str) -> None:
    grid = random_grid(1024 if backend == "cpu" else 128, 512, 0.4, 1)
    session = make(grid, backend=backend)
    took = []
    for _ in range(4):
        session.start()
        begun = session.status().generation
        until(lambda begun=begun: session.status().generation > begun)
        began = time.monotonic()
        session.stop()
        until(lambda: not session.status().running)
        took.append(time.monotonic() - began)
    assert min(took) < 0.1
    assert session.cells(Box(0, 0, 128, 512)) is not None
    now = session.status().generation
    time.sleep(0.05)
    assert session.status().generation == now


def _make_passes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """127 generations are made in one pass that is almost all halo, and takes long."""
    real = CpuLifeEngine.arena

    def slow(self: CpuLifeEngine, *shapes: Any, **options: Any) -> LifeArena:
        arena = real(self, *shapes, **options)
        assert isinstance(arena, CpuArena)
        columns = -(-(64 + 2 * 127) // self.target.vector_bits)
        arena.plan = CpuPlan(127, 512 // 64, 64, columns, 127, 1, 6)
        return arena

    monkeypatch.setattr(CpuLifeEngine, "arena", slow)


@pytest.mark.skipif(not cpu.levels(), reason="needs the extension")
def test_a_long_pass_is_broken_off(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_passes_long(monkeypatch)
    grid = random_grid(512, 4096, 0.4, 1)
    session = make(grid, backend=cpu.CpuTarget(1))
    session._plane.machine._span = 127
    session.start()
    until(lambda: session.can_undo == "running")
    time.sleep(0.03)
    session.stop()
    until(lambda: not session.status().running)
    assert session.status().generation == 0
    session.start()
    until(lambda: session.can_undo == "running")
    time.sleep(0.03)
    assert session.cells(Box(0, 0, 512, 4096)) == grid
    # It goes on in shorter passes, whatever is asked.
    end = time.monotonic() + PATIENCE
    while session.status().generation == 0:
        session.edit(edits.Clear(Box(0, 0, 0, 0)))
        assert time.monotonic() < end
    session.stop()
    session.settle()
    made = session.status().generation
    assert made % 127
    assert session.cells(Box(0, 0, 512, 4096)) == after(grid, made)


def test_a_machine_whose_pass_is_broken_off(backend: str) -> None:
    phases = blinkers(256, 256)
    machine = Machine(pick(backend), Setting(256, 256, LIFE, Topology.TORUS), phases[0].words, 0)
    for _ in range(3):
        machine.advance(1, brief=True)
    assert machine.brief_span == 1
    while machine.span < 8:
        machine.advance(machine.span, seconds=PATIENCE)
    assert machine.brief_span >= 2
    # Somebody reads, and a long pass has to wait for that.
    before = machine.generation
    with machine._gate.reading():
        if backend == "cpu":
            assert machine.advance(1, seconds=0.0, stopped=lambda: True) == 0
        assert machine.read(Box(0, 0, 256, 256)) == (phases[before % 2], before)
    assert machine.advance(1, seconds=0.0) == 1
    assert machine.read(Box(0, 0, 256, 256))[0] == phases[(before + 1) % 2]
    machine.close()


def test_pictures_that_are_broken_off_do_not_keep_a_run(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody asks all the time, before any picture of all cells is made."""
    tried: list[float] = []

    def broken_off(pictures: Pictures, interrupted: Callable[[], bool]) -> bool:
        tried.append(time.monotonic())
        time.sleep(0.002)
        return False

    monkeypatch.setattr(Pictures, "refresh", broken_off)
    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend=BACKENDS[0], small=0)
    session.start()
    until(lambda: session.status().generation > 20 and len(tried) > 3)
    session.stop()
    session.settle()
    assert all(later - before > 0.008 for before, later in pairwise(tried))


def test_what_is_asked_does_not_wait_for_the_copy_of_all_cells(
    make: Make, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made before a run moves, of what has been changed meanwhile."""
    monkeypatch.setattr("ui.cells.history.chunk_rows", lambda width, planes: 50)
    grid = random_grid(SIDE, SIDE, 0.4, 1)
    session = make(grid, backend=backend)
    begun, going_on = threading.Event(), threading.Event()
    keep_on = session._history.keep_on

    def slow() -> Moment | None:
        route = session._history.route
        if route and route.stored.height_kept == 50:
            begun.set()
            assert going_on.wait(PATIENCE)
        return keep_on()

    session._history.keep_on = slow  # type: ignore[method-assign]
    session.start()
    assert begun.wait(PATIENCE)
    assert session.status().running
    session.edit(edits.Clear(Box(10, 20, 150, 90)))
    going_on.set()
    until(lambda: session.status().generation > 0)
    session.stop()
    session.settle()
    made = session.status().generation
    cleared = BitGrid.from_bool(grid.to_bool())
    edits.overwrite(cleared, BitGrid(150, 90), 10, 20)
    assert session.cells(WHOLE) == after(cleared, made)
    session.undo()
    session.settle()
    assert session.cells(WHOLE) == cleared
    assert session.can_undo == "clearing"
    session.undo()
    session.settle()
    assert session.cells(WHOLE) == grid
    assert session.can_undo is None
    # Stopped before there is a copy, nothing has been done.
    begun.clear(), going_on.clear()
    session.start()
    assert begun.wait(PATIENCE)
    session.stop()
    going_on.set()
    session.settle()
    assert session.cells(WHOLE) == grid
    assert (session.can_undo, session.can_redo) == (None, "clearing")


def test_a_run_shows_a_picture_every_so_many_generations(make: Make) -> None:
    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend=BACKENDS[0])
    shown: list[int] = []

    def listen(event: Event) -> None:
        if event is Event.CELLS and session.status().running:
            shown.append(session.status().generation)

    session.set_speed(7, 50)
    session.settle()
    began = time.monotonic()
    session.listen(listen)
    session.start()
    until(lambda: len(shown) > 5)
    session.stop()
    session.settle()
    took = time.monotonic() - began
    assert [generation % 7 for generation in shown] == [0] * len(shown)
    assert shown == sorted(set(shown))
    assert len(shown) <= 50 * took + 2
    session.set_speed(2, None)
    for speed, frames in ((0, None), (1 << 21, None), (1, 0.0), (1, float("nan"))):
        with pytest.raises(SessionError, match=r"picture"):
            session.set_speed(speed, frames)


def test_edits_do_not_stop_a_run(make: Make, backend: str) -> None:
    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend=backend)
    session.start()
    until(lambda: session.status().generation > 3)
    session.edit(edits.Clear(WHOLE))
    session.edit(edits.Paste(BitGrid.from_bool(np.ones((2, 2))), 10, 20))
    session.set_rule("B36/S23")
    session.resize(SIDE + 10, SIDE)
    session.set_topology("plane")
    at = session.status().generation
    until(lambda: session.status().generation > at + 3)
    assert session.status().running
    block = session.cells(Box(15, 20, 2, 2))
    assert block.population() == 4
    until(lambda: session.status().population == 4)
    assert session.bounding_box() == Box(15, 20, 2, 2)
    assert session.can_undo == "running"
    session.undo()
    session.settle()
    assert not session.status().running
    undone = []
    while session.can_undo is not None:
        undone.append(session.can_undo)
        session.undo()
        session.settle()
    # Between two of them there may have been no step.
    changes = [title for title in undone if title != "running"]
    assert changes == ["the edges", "the size", "the rule", "pasting", "clearing"]
    assert undone[-1] == "running"
    assert session.cells(WHOLE) == random_grid(SIDE, SIDE, 0.4, 1)


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_what_is_counted(make: Make, backend: str, small: int) -> None:
    grid = BitGrid(SIDE, SIDE)
    grid.paste(random_grid(50, 30, 0.5, 2), 71, 45)
    session = make(grid, backend=backend, small=small)
    until(lambda: session.status().population == grid.population())
    assert session.bounding_box() == grid.bounding_box()
    session.step(9)
    session.settle()
    then = after(grid, 9)
    until(lambda: session.status().population == then.population())
    session.edit(edits.Clear(WHOLE))
    until(lambda: session.status().population == 0)
    assert session.bounding_box() is None
    session.start()
    until(lambda: session.status().running)
    assert session.bounding_box() is None


def test_a_large_one_that_runs_is_bounded_by_blocks(make: Make) -> None:
    block = BitGrid(SIDE, SIDE)
    block.paste(BitGrid.from_bool(np.ones((2, 2))), 60, 70)
    session = make(block, backend=BACKENDS[0], small=0)
    until(lambda: session.status().population == 4)
    session.start()
    until(lambda: session.status().running)
    assert session.bounding_box() == Box(56, 64, 8, 8)


def test_going_to_a_generation_tells_how_far_it_is(make: Make) -> None:
    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend="reference")
    told: list[Status] = []
    session.listen(lambda event: told.append(session.status()))
    session.go_to(10**6)
    until(lambda: any(status.progress for status in told))
    session.stop()
    session.settle()
    reached = session.status().generation
    assert 0 < reached < 10**6
    assert session.status().progress is None
    progress = [status.progress for status in told if status.progress is not None]
    assert progress == sorted(progress)
    assert session.can_undo == "going to generation 1,000,000"
    session.go_to(reached // 2)
    session.settle()
    assert session.cells(WHOLE) == after(random_grid(SIDE, SIDE, 0.4, 1), reached // 2)
    with pytest.raises(SessionError, match="-1 is not known"):
        session.go_to(-1)
    with pytest.raises(SessionError, match="cannot go back"):
        session.step(-1)


def test_changes_since_it_was_saved(make: Make, tmp_path: object) -> None:
    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend=BACKENDS[0])
    session.edit(edits.Clear(Box(0, 0, 20, 20)))
    session.settle()
    assert session.status().modified
    session.save(f"{tmp_path}/cells.rle")
    assert not session.status().modified
    assert session.path == f"{tmp_path}/cells.rle"
    session.undo()
    session.settle()
    assert session.status().modified
    session.redo()
    session.settle()
    assert not session.status().modified
    session.edit(edits.Clear(Box(0, 0, 20, 20)))  # nothing is there any more
    session.settle()
    assert not session.status().modified


def test_a_universe_directory(make: Make, tmp_path: object) -> None:
    from lifesim.store.read import whole
    from lifesim.store.universe import Universe

    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend=BACKENDS[0])
    session.save(f"{tmp_path}/universe")
    with Universe.open(f"{tmp_path}/universe") as universe:
        assert whole(universe) == random_grid(SIDE, SIDE, 0.4, 1)


class _Ill:
    """Makes the steps of the reference fail while it holds an error."""

    error: Exception | None = None

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        step = BytewiseLife.step

        def ill(universe: BytewiseLife, generations: int) -> None:
            if self.error:
                raise self.error
            step(universe, generations)

        monkeypatch.setattr(BytewiseLife, "step", ill)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (MemoryError(), "out of memory"),
        (RuntimeError("CUDA:\n launch failed"), "CUDA: launch failed"),
        (KeyError(), "KeyError"),
    ],
)
def test_what_fails_is_told_and_the_session_lives(
    make: Make, error: Exception, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = _Ill(monkeypatch)
    grid = random_grid(SIDE, SIDE, 0.4, 1)
    session = make(grid, backend=ReferenceTarget())
    session.step(2)
    session.settle()
    told: list[Event] = []
    session.listen(told.append)
    backend.error = error
    session.start()
    until(lambda: Event.FAILED in told)
    assert session.status().problem == problem
    assert not session.status().running
    backend.error = None
    session.step(3)
    session.settle()
    assert session.status().problem == ""
    assert session.cells(WHOLE) == after(grid, 5)


def test_what_is_impossible_is_refused_and_changes_nothing(make: Make) -> None:
    grid = random_grid(SIDE, SIDE, 0.4, 1)
    session = make(grid, backend=BACKENDS[0])
    with pytest.raises(RuleError):
        session.set_rule("prose")
    with pytest.raises(ValueError, match="Klein"):
        session.set_topology("Klein bottle")
    for size in ((0, 5), (1 << 30, 1 << 30)):
        with pytest.raises(GridError):
            session.resize(*size)
    with pytest.raises(GridError, match="leaves"):
        session.cells(Box(SIDE - 1, 0, 2, 1))
    session.settle()
    assert session.cells(WHOLE) == grid
    assert session.can_undo is None
    assert not session.status().modified


def test_an_edit_that_there_is_no_memory_for(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = random_grid(SIDE, SIDE, 0.4, 1)
    session = make(grid, backend=BACKENDS[0])
    told: list[Event] = []
    session.listen(told.append)
    with monkeypatch.context() as patch:
        patch.setattr("lifesim.grid.available_memory", lambda: 1000)
        session.edit(edits.Clear(WHOLE))
        session.settle()
    assert Event.FAILED in told
    assert "are free" in session.status().problem
    assert session.cells(WHOLE) == grid
    assert session.can_undo is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_listener_that_has_gone(make: Make) -> None:
    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend=BACKENDS[0])
    calls: list[Event] = []

    def gone(event: Event) -> None:
        calls.append(event)
        raise RuntimeError("the window has been deleted")

    session.listen(gone)
    session.step(3)
    session.settle()
    assert session.status().generation == 3
    assert len(calls) == 1


def test_closed_is_closed(make: Make) -> None:
    session = make(random_grid(SIDE, SIDE, 0.4, 1), backend=BACKENDS[0])
    session.start()
    session.close()
    session.close()
    session.start()
    with pytest.raises(SessionError, match="closed"):
        session.cells(WHOLE)
    assert not session._commands.is_alive


def test_many_ask_at_once(make: Make, backend: str) -> None:
    phases = blinkers(256, 128)
    session = make(phases[0], backend=backend, small=0)
    session.start()
    wrong: list[object] = []
    ended = threading.Event()
    request = FrameRequest(Viewport(3, 5, 0, 100, 80))
    levels = [density_levels(phase, Box(3, 5, 100, 80), 0) for phase in phases]

    def look() -> None:
        while not ended.is_set():
            frame = draw(request, session.source(request))
            if not np.array_equal(frame.pixels, levels[frame.generation % 2]):
                wrong.append(frame)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            session.set_topology("torus")
            session.set_rule("B3678/S23")
            session.set_rule("B3/S23")
            session.settle()
            session.status()
        until(lambda: session.status().generation > 0)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    session.stop()
    session.settle()
    assert not wrong
    assert session.status().problem == ""


def settled(session: MemorySession) -> bool:
    universe = session._plane.machine.universe
    return isinstance(universe, SettlingLife) and universe.by_windows


@pytest.mark.skipif(not cpu.levels(), reason="needs compiled code")
@pytest.mark.parametrize("small", [0, 1 << 20])
def test_what_has_settled_is_computed_where_it_changes(make: Make, small: int) -> None:
    """And read, drawn, changed and undone as before: blinkers, and a ship that flies for ever."""
    side = 512
    grid = blinkers(side, side)[0]
    grid.paste(BitGrid(side, 64), 0, 192)  # a lane, which it never leaves
    ship = [(1, 0), (4, 0), (0, 1), (0, 2), (4, 2), (0, 3), (1, 3), (2, 3), (3, 3)]
    grid.paste(BitGrid.from_cells(5, 4, ship), 100, 220)
    session = make(grid, backend="cpu", small=small)
    known = Life(grid, backend="cpu")
    total, whole = 0, Box(0, 0, side, side)

    def step(generations: int) -> None:
        nonlocal total
        total += generations
        session.step(generations)
        session.settle()
        known.run(generations)
        assert session.status().generation == total

    session.start()
    until(lambda: settled(session))
    session.stop()
    session.settle()
    total = session.status().generation
    known.run(total)
    assert settled(session)
    for generations in (1, 2, 3, 4, 127, 1000):
        step(generations)
        assert session.cells(Box(70, 218, 200, 50)) == known.grid().crop(Box(70, 218, 200, 50))
        source = session._plane.pictures.source(FrameRequest(Viewport(0, 0, 0, side, side)))
        expected = density_levels(known.grid(), whole, 0)
        assert np.array_equal(source.levels(whole, 0), expected)
    assert settled(session)
    session.edit(edits.Invert(Box(100, 100, 64, 64)))
    session.settle()
    assert not settled(session)
    session.undo()
    step(5)
    assert session.cells(whole) == known.grid()
    session.undo()
    session.settle()
    assert session.status().generation == total - 5
