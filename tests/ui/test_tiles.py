"""Pictures of universes on disk: against lifesim.store.read, and before all has been read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifesim.grid import BitGrid, Box
from lifesim.store import read
from lifesim.store.universe import Universe
from tests.disk_sessions import WAIT, Ears, Held, Opening, make, sessions, sharp, soup, whole
from tests.quick import examples
from tests.waiting import until
from ui.disk import session as disk
from ui.disk.part_cache import PartCache
from ui.disk.parts import Snapshot
from ui.disk.session import DiskSession
from ui.disk.tiles import TileSource
from ui.picture.draw import draw
from ui.picture.request import FrameRequest
from ui.picture.sources import MemorySource
from ui.picture.viewport import Viewport
from ui.session import Event


@pytest.fixture
def opened() -> Iterator[Opening]:
    with sessions() as opening:
        yield opening


@st.composite
def regions(draw: st.DrawFn, width: int, height: int) -> tuple[Box, int]:
    scale = draw(st.integers(0, 11))
    across, down = -(-width >> scale), -(-height >> scale)
    left, top = draw(st.integers(0, across - 1)), draw(st.integers(0, down - 1))
    right, bottom = draw(st.integers(left + 1, across)), draw(st.integers(top + 1, down))
    x, y = left << scale, top << scale
    return Box(x, y, min(right << scale, width) - x, min(bottom << scale, height) - y), scale


SHAPES = [
    # Width, height, tiles, whether it has a pyramid, compression.
    (700, 530, (2, 3), True, "none"),
    (1024, 777, (4, 5), True, "zstd"),
    (130, 2100, (1, 33), True, "none"),
    (333, 333, (1, 1), False, "none"),
    (20000, 90, (3, 2), False, "zstd"),  # several slabs, tiles that no pyramid fits
    (20000, 900, (1, 7), True, "none"),
]


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def universe(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[DiskSession, Universe]]:
    width, height, tiles, pyramid, compression = request.param
    grid = soup(width, height, 0.02, seed=width)
    # Tiles that are dead, and some that are full.
    grid.words[: height // 3, : width // 128] = 0
    grid.words[height // 3 : height // 2, : width // 256] = np.uint64(2**64 - 1)
    path = make(
        tmp_path_factory.mktemp("universe") / "u",
        grid,
        tiles,
        compression=compression,
        pyramid=pyramid,
    )
    session = DiskSession.open(path, backend="reference")
    yield session, Universe.open(path)
    session.close()


@pytest.mark.sample(4)
@given(st.data())
@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_what_has_arrived_is_what_the_store_reads(
    universe: tuple[DiskSession, Universe], data: st.DataObject
) -> None:
    session, store = universe
    box, scale = data.draw(regions(store.width, store.height))
    levels = sharp(session, box, scale)
    assert levels.dtype == np.uint8
    assert np.array_equal(levels, read.levels(store, box, scale))


def test_frames_are_those_from_memory(tmp_path: Path, opened: Opening) -> None:
    grid = soup(500, 400)
    session = opened(make(tmp_path / "u", grid))
    memory = MemorySource(grid)
    for scale in range(-5, 12):
        request = FrameRequest(
            Viewport.fitting(Box(37, 11, 300, 200), 160, 90).zoomed(-scale, 80, 45)
        )
        frame, missing = _drawn(session, request)
        end = time.monotonic() + WAIT
        while missing and time.monotonic() < end:
            frame, missing = _drawn(session, request)
        assert not missing
        assert np.array_equal(frame, draw(request, memory).pixels)


def _drawn(session: DiskSession, request: FrameRequest) -> tuple[npt.NDArray[np.uint8], int]:
    source = session.source(request)
    return draw(request, source).pixels, source.missing


def test_pictures_come_at_once_and_sharpen(
    tmp_path: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    monkeypatch.setattr("ui.disk.part_cache._THREADS", 1)  # of two, the second may be done first
    grid = BitGrid(4096, 4096)
    grid.words[0:1024, 0:16] = np.uint64(0x5555_5555_5555_5555)
    session = opened(make(tmp_path / "u", grid, (1, 4)))
    until(lambda: time.monotonic() > session._opened + disk._OPENING)
    ears = Ears(session)
    box = Box(0, 0, 4096, 4096)
    source = session.source(FrameRequest(Viewport(0, 0, 3, 512, 512)))
    took = []
    for _ in range(4):
        began = time.monotonic()
        first = source.levels(box, 3)
        took.append(time.monotonic() - began)
    assert min(took) < 0.5, "what is held was waited for"
    assert max(took) < WAIT / 2
    assert source.missing
    # As dense as the tile is, and the dead ones as dead as they are.
    assert np.array_equal(first[:128], np.full((128, 512), 32))
    assert not first[128:].any()
    held.gate.set()
    exact = read.levels(Universe.open(session.path), box, 3)
    assert np.array_equal(sharp(session, box, 3), exact)
    assert Event.CELLS in ears.heard
    # A coarser level was read before the one that is drawn; nothing of what is dead.
    assert [stripe.level for stripe in held.read[:2]] == [6, 3]
    assert {stripe.tile for stripe in held.read} == {0}
    # What is near begins with what is far.
    held.gate.clear()
    close = Box(512, 64, 256, 256)
    near = session.source(FrameRequest(Viewport(0, 0, 0, 2, 2))).levels(close, 0)
    assert np.array_equal(near, np.repeat(np.repeat(first_of(exact, close), 8, 0), 8, 1))
    held.gate.set()
    assert np.array_equal(sharp(session, close, 0), MemorySource(grid).levels(close, 0))


def first_of(levels: npt.NDArray[np.uint8], box: Box) -> npt.NDArray[np.uint8]:
    return levels[box.y // 8 : (box.y + box.height) // 8, box.x // 8 : (box.x + box.width) // 8]


def test_only_what_was_asked_for_last_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    monkeypatch.setattr("ui.disk.part_cache._FORGOTTEN", WAIT)
    universe = Universe.open(make(tmp_path / "u", soup(256, 1024), (1, 16)))
    parts = PartCache(Snapshot(universe), lambda: None, lambda error: None, lambda: None)
    source = TileSource(parts)
    source.levels(Box(0, 0, 256, 1024), 0)
    until(lambda: len(parts._reading) == 2)
    monkeypatch.setattr("ui.disk.part_cache._FORGOTTEN", 0.05)
    time.sleep(0.1)
    source.levels(Box(0, 960, 256, 64), 0)
    time.sleep(0.1)
    held.gate.set()
    until(lambda: not parts._reading and not parts._wanted)
    assert len(held.read) == 2
    parts.close()


def test_little_memory_is_enough(tmp_path: Path, opened: Opening) -> None:
    grid = soup(4096, 2048)
    budget = 200_000
    session = opened(make(tmp_path / "u", grid, (4, 4)), budget=budget)
    for x in range(0, 4096, 512):
        box = Box(x, 100, 256, 200)
        assert np.array_equal(sharp(session, box, 0), MemorySource(grid).levels(box, 0))
        assert session._parts.bytes <= budget
    # A picture of which not all has room is not read over and over, but stays as it is.
    source = session.source(whole(session))
    source.levels(Box(0, 0, 4096, 2048), 0)
    until(lambda: not session._parts._reading and not session._parts._wanted)
    ears = Ears(session)
    for _ in range(5):
        picture = session.source(whole(session)).levels(Box(0, 0, 4096, 2048), 0)
        time.sleep(0.02)
    assert picture.any()
    until(lambda: not session._parts._reading and not session._parts._wanted)
    ears.heard.clear()
    session.source(whole(session)).levels(Box(0, 0, 4096, 2048), 0)
    time.sleep(0.1)
    assert ears.heard == []


def test_another_universe_in_the_same_place(tmp_path: Path) -> None:
    first, second = soup(640, 512, seed=1), soup(256, 128, seed=2)
    before = Snapshot(Universe.open(make(tmp_path / "a", first, (2, 4))))
    after = Snapshot(Universe.open(make(tmp_path / "b", second, (1, 1))), before)
    parts = PartCache(before, lambda: None, lambda error: None, lambda: None)
    old = TileSource(parts, 60.0)
    box = Box(0, 0, 640, 512)
    assert np.array_equal(old.levels(box, 0), MemorySource(first).levels(box, 0))
    parts.show(after)
    assert parts.bytes == 0
    # Of the first one nothing is known any more but what its manifest told.
    assert old.levels(box, 0).shape == (512, 640)
    assert old.missing
    assert not parts._wanted
    box = Box(0, 0, 256, 128)
    new = TileSource(parts, 60.0)
    assert np.array_equal(new.levels(box, 0), MemorySource(second).levels(box, 0))
    assert not new.missing
    parts.close()
