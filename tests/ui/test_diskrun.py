"""What the process of a run on disk does, without the process."""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np
import pytest

from kernels.targets.choose import pick
from lifesim.grid import BitGrid
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from ui.disk import run as diskrun
from ui.disk.run import _Orders, _Runner, _Seen


@pytest.fixture
def pipe() -> Iterator[tuple[TextIO, TextIO]]:
    read, write = os.pipe()
    with open(read) as source, open(write, "w") as target:
        yield source, target
        target.close()  # so that who reads comes to an end; perhaps it has not begun yet
        for thread in threading.enumerate():
            if thread.name == "orders":
                thread.join(60)


@pytest.fixture
def life(tmp_path: Path) -> Iterator[StreamedLife]:
    grid = BitGrid.from_bool(np.random.default_rng(1).random((128, 128)) < 0.3)
    tiling = tile_universe(128, 128, True, (1, 2))
    with make_universe(tmp_path / "u", tiling, from_grid(grid)) as universe:
        yield StreamedLife(universe, [pick("reference")])


def ordered(pipe: tuple[TextIO, TextIO], **order: object) -> _Orders:
    print(json.dumps(order), file=pipe[1], flush=True)
    return _Orders(pipe[0])


@pytest.mark.parametrize("long", [0.0, 1000.0])
def test_long_pictures_are_farther_apart(
    long: float,
    life: StreamedLife,
    pipe: tuple[TextIO, TextIO],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(diskrun, "_LONG", long)
    monkeypatch.setattr(diskrun, "_NEWS", 0.0)
    orders = ordered(pipe, on=[3, None])
    ends = []
    real = Universe.set_run

    def set_run(universe: Universe, run: tuple[int, int] | None) -> None:
        if run:
            ends.append(run[1])
            if len(ends) == 5:
                orders.stopped.set()
        real(universe, run)

    monkeypatch.setattr(Universe, "set_run", set_run)
    with pytest.raises(KeyboardInterrupt):
        _Runner(life, orders).on()
    # Each end is noted twice: by the run too.
    steps = np.diff([0, *dict.fromkeys(ends)])
    assert list(steps) == ([3, 6, 12] if long == 0 else [3, 3, 3])
    assert life.universe.manifest.run is None
    facts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert facts
    shares = [fact["share"] for fact in facts]
    if long == 0:
        assert any(share is not None and 0 <= share <= 1 for share in shares)
    else:
        assert set(shares) == {None}


def test_another_speed_and_the_end(life: StreamedLife, pipe: tuple[TextIO, TextIO]) -> None:
    orders = ordered(pipe, on=[1, 50.0])
    assert orders.speed == (1, 50.0)
    print(json.dumps({"on": [8, None]}), file=pipe[1], flush=True)
    while orders.speed == (1, 50.0):
        pass
    assert orders.speed == (8, None)
    print(json.dumps({"stop": True}), file=pipe[1], flush=True)
    assert orders.stopped.wait(60)


@pytest.mark.parametrize("every", [0, 5])
def test_generations_that_are_to_be_seen(
    every: int, life: StreamedLife, pipe: tuple[TextIO, TextIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    real = Universe.end_phase

    def end_phase(universe: Universe) -> None:
        real(universe)
        seen.append(universe.generation)

    monkeypatch.setattr(Universe, "end_phase", end_phase)
    _Runner(life, ordered(pipe, to=13, every=every)).to(13)
    assert seen == ([5, 10, 13] if every else [13])


def test_nothing_to_do(pipe: tuple[TextIO, TextIO]) -> None:
    pipe[1].close()
    assert _Orders(pipe[0]).stopped.is_set()


def test_to_a_generation(life: StreamedLife, pipe: tuple[TextIO, TextIO]) -> None:
    runner = _Runner(life, ordered(pipe, to=5))
    life.universe.set_run((0, 100))  # of somebody who wanted something else
    runner.to(5)
    assert life.generation == 5
    assert life.universe.manifest.run is None
    runner.to(3)  # where it has been
    assert life.generation == 5


@pytest.mark.parametrize(("small", "ends"), [(1 << 20, [2, 6, 13]), (0, [13])])
def test_small_universes_go_in_stages(
    small: int,
    ends: list[int],
    life: StreamedLife,
    pipe: tuple[TextIO, TextIO],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """So that a stop does not wait for a phase of a rate that nobody has measured."""
    monkeypatch.setattr(diskrun, "_SMALL", small)
    monkeypatch.setattr(diskrun, "_STAGE", 2)
    monkeypatch.setattr(diskrun, "_LONG", 1000.0)
    monkeypatch.setattr(diskrun, "_NEWS", 0.0)
    seen = []
    real = Universe.set_run

    def set_run(universe: Universe, run: tuple[int, int] | None) -> None:
        if run:
            seen.append(run[1])
        real(universe, run)

    monkeypatch.setattr(Universe, "set_run", set_run)
    _Runner(life, ordered(pipe, to=13)).to(13)
    assert list(dict.fromkeys(seen)) == ends
    assert life.generation == 13
    shares = [json.loads(line)["share"] for line in capsys.readouterr().out.splitlines()]
    assert shares
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_each_whole_generation_waits_to_be_seen(
    tmp_path: Path, pipe: tuple[TextIO, TextIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiling = tile_universe(128, 128, True, (1, 2))
    grid = BitGrid.from_bool(np.random.default_rng(1).random((128, 128)) < 0.3)
    make_universe(tmp_path / "u", tiling, from_grid(grid)).close()
    orders = ordered(pipe, by=3)
    said: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()
    monkeypatch.setattr(diskrun, "say", lambda **facts: said.put(facts))
    with _Seen.open(tmp_path / "u", writing=True) as universe:
        assert isinstance(universe, _Seen)
        universe.orders = orders
        life = StreamedLife(universe, [pick("reference")], generations=1)
        thread = threading.Thread(target=life.run, args=[3])
        thread.start()
        for generation in (1, 2):
            assert said.get(timeout=60) == {"generation": generation}
            time.sleep(0.05)
            assert (universe.generation, universe.phase) == (generation, None)
            order = {"seen": True} if generation == 1 else {"stop": True}
            print(json.dumps(order), file=pipe[1], flush=True)
        thread.join(60)  # who is to stop does not wait
        assert universe.generation == 3
