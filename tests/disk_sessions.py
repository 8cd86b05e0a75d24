"""Sessions on universes on disk, for tests: made, waited for and looked at."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernels.targets.choose import pick
from lifesim.grid import BitGrid, Box
from lifesim.rule import LIFE, Rule
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from tests.waiting import until
from ui.disk.parts import Snapshot, Stripe
from ui.disk.session import DiskSession
from ui.picture.draw import draw
from ui.picture.request import FrameRequest
from ui.picture.viewport import Viewport
from ui.session import Event

Opening = Callable[..., DiskSession]

WAIT = 60.0  # seconds: of a machine that has other things to do


def soup(width: int, height: int, density: float = 0.3, seed: int = 1) -> BitGrid:
    return BitGrid.from_bool(np.random.default_rng(seed).random((height, width)) < density)


def make(
    path: Path,
    grid: BitGrid,
    tiles: tuple[int, int] = (2, 3),
    *,
    torus: bool = True,
    compression: str = "none",
    pyramid: bool = True,
    rule: Rule = LIFE,
    corner: tuple[int, int] | None = None,
) -> str:
    tiling = tile_universe(grid.width, grid.height, torus, tiles)
    fill, form = from_grid(grid), {"compression": compression, "pyramid": pyramid}
    make_universe(path, tiling, fill, rule=rule, corner=corner, **form).close()
    return str(path)


@contextmanager
def sessions() -> Iterator[Opening]:
    """A function that opens universes, closed at the end."""
    made: list[DiskSession] = []

    def opening(path: str, *, budget: int = 1 << 28) -> DiskSession:
        made.append(DiskSession.open(path, backend="reference", budget=budget))
        return made[-1]

    yield opening
    for session in made:
        session.close()


class Ears:
    def __init__(self, session: DiskSession) -> None:
        self.heard: list[Event] = []
        session.listen(self.heard.append)


def whole(session: DiskSession, scale: int = 0) -> FrameRequest:
    """Return a request for all of a small universe."""
    return FrameRequest(
        Viewport(0, 0, scale, -(-session.width >> scale), -(-session.height >> scale))
    )


def sharp(session: DiskSession, box: Box, scale: int) -> npt.NDArray[np.uint8]:
    """Return what is drawn in the end, when nothing is missing."""
    end = time.monotonic() + WAIT
    while True:
        source = session.source(FrameRequest(Viewport(0, 0, 0, 2, 2)))
        levels = source.levels(box, scale)
        if not source.missing:
            return levels
        assert time.monotonic() < end
        time.sleep(0.005)


def shows(session: DiskSession, grid: BitGrid) -> bool:
    """Return whether all cells that are drawn are those of the grid."""
    frame = draw(whole(session), session.source(whole(session)))
    return bool(np.array_equal(frame.pixels > 0, grid.to_bool()))


def shows_in_the_end(session: DiskSession, grid: BitGrid) -> bool:
    until(lambda: shows(session, grid))
    return True


class Held:
    """Parts whose threads wait to be let go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate = threading.Event()
        self.read: list[Stripe] = []
        before = Snapshot.read

        def waiting(view: Snapshot, stripe: Stripe) -> npt.NDArray[np.uint8]:
            self.gate.wait(WAIT)
            self.read.append(stripe)
            return before(view, stripe)

        monkeypatch.setattr(Snapshot, "read", waiting)


def break_off(universe: Universe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin 12 generations of a universe that is open for writing, and break them off when the
    first tiles are 6 generations further."""
    real = Universe.finish_tiles

    def finish_tiles(*arguments: Any) -> list[str]:
        real(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Universe, "finish_tiles", finish_tiles)
        with pytest.raises(KeyboardInterrupt):
            StreamedLife(universe, [pick("reference")], generations=6).run(12)
