"""Several threads at once: what the classes say of it is so."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kernels.targets.choose import pick
from lifesim import BitGrid, Life, random_grid
from lifesim.grid import Box
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife
from tests.at_once import at_once
from tests.lifesim.store.faults import Case

CASE = Case(width=130, height=48, tiles=(2, 3))


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_runs_of_several_threads(backend: str) -> None:
    rounds = 60 if backend == "cpu" else 5
    grid = random_grid(300, 200, 0.4, 1)
    life, alone = (Life(grid, backend=pick(backend, threads=1)) for _ in range(2))

    def work(number: int) -> None:
        for _ in range(rounds):
            life.run(3)

    at_once(work)
    alone.run(4 * 3 * rounds)
    assert life.generation == alone.generation == 12 * rounds
    assert life.digest() == alone.digest()


def test_cells_during_a_run() -> None:
    """The cells are those of one generation."""
    life = Life(random_grid(256, 256, 0.4, 1), backend=pick("cpu", threads=1))
    alone = Life(life.grid(), backend=pick("cpu", threads=1))
    known = {alone.digest()}
    for _ in range(200):
        alone.run(1)
        known.add(alone.digest())

    def work(number: int) -> set[str]:
        if number:
            return {life.digest() for _ in range(30)}
        for _ in range(200):
            life.run(1)
        return set()

    assert set().union(*at_once(work)) <= known


def test_runs_keep_their_snapshots_apart() -> None:
    """A run is not begun before that of another thread has ended."""
    life = Life(BitGrid(64, 64), backend=pick("reference"))
    seen: list[tuple[int, int]] = []

    def work(number: int) -> None:
        life.run(6, every=2, on_snapshot=lambda now: seen.append((number, now.generation)))

    at_once(work)
    assert [generation for _, generation in seen] == list(range(2, 25, 2))
    assert [number for number, _ in seen[::3]] == [number for number, _ in seen[1::3]]


def test_a_run_from_a_callback() -> None:
    life = Life(random_grid(64, 64, 0.4, 1), backend=pick("cpu", threads=1))
    alone = Life(life.grid(), backend=pick("cpu", threads=1))
    life.run(2, every=1, on_snapshot=lambda now: now.run(0))
    alone.run(2)
    assert life.digest() == alone.digest()


def test_streamed_runs_of_several_threads(tmp_path: Path) -> None:
    with CASE.make(tmp_path / "universe") as universe:
        life = StreamedLife(universe, [pick("cpu", threads=1)], memory=1 << 26, generations=2)

        def work(number: int) -> int:
            for _ in range(3):
                life.run(2)
                assert life.population() > 0
                assert life.grid().population() > 0
                assert life.levels(Box(0, 0, 130, 48), 0).shape == (48, 130)
            return threading.get_ident()

        at_once(work)
        alone = Life(CASE.grid, backend=pick("cpu", threads=1))
        alone.run(24)
        assert (universe.generation, universe.digest()) == (24, alone.digest())


def test_a_universe_is_read_by_several_threads(tmp_path: Path) -> None:
    CASE.make(tmp_path / "universe").close()
    with Universe.open(tmp_path / "universe") as universe:
        boxes = [Box(x, y, 60, 20) for x in (0, 7, 64) for y in (0, 9, 28)]
        right = [(CASE.grid.crop(box), universe.levels(box, 3).tobytes()) for box in boxes]

        def work(number: int) -> None:
            for _ in range(5):
                got = [(universe.region(b), universe.levels(b, 3).tobytes()) for b in boxes]
                assert got == right

        at_once(work)


def test_a_grid_is_read_by_several_threads() -> None:
    grid = random_grid(500, 300, 0.5, 1)
    box = Box(3, 5, 300, 200)
    right = grid.population(), grid.bounding_box(), grid.crop(box)

    def work(number: int) -> None:
        for _ in range(20):
            assert (grid.population(), grid.bounding_box(), grid.crop(box)) == right

    at_once(work)
