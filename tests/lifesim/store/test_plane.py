"""Planes without bounds on disk: they grow, and whatever stops that, nothing is lost."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lifesim import BitGrid, Box, Life
from lifesim.errors import DamagedDataError
from lifesim.store import plane
from lifesim.store.make import from_pattern, make_universe
from lifesim.store.manifest import read_manifest, write_manifest
from lifesim.store.sealed import seal, unseal
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.stream import bounds
from tests.lifesim.store.faults import CPU, EFFECTS, Case, assert_tidy, copy
from tests.lifesim.store.test_crash import ERRORS, Scene, kills, marked, refused

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
GLIDER = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]], bool)


@dataclass(frozen=True)
class Plane(Case):
    """Two gliders that fly apart, on a plane that must grow for them again and again."""

    torus: bool = False
    phase: int | None = None
    generations: int = 60
    room: int = 6
    pyramid: bool = False

    @property
    def grid(self) -> BitGrid:
        cells = np.zeros((20, 70), bool)
        cells[-3:, -3:], cells[:3, :3] = GLIDER, GLIDER[::-1, ::-1]
        return BitGrid.from_bool(cells)

    def make(self, path: Path) -> Universe:
        grid, room = self.grid, self.room
        size = grid.width + 2 * room, grid.height + 2 * room
        return make_universe(
            path,
            tile_universe(*size, False, (1, 2)),
            from_pattern(grid, (room, room), size, wrap=False),
            compression=self.compression,
            pyramid=self.pyramid,
            corner=(100 - room, -7 - room),
        )

    def trail(self) -> dict[int, tuple[str, int]]:
        life = Life(self.grid, topology="plane", bounds=(0, 0), backend=CPU)
        found = {}
        for generation in range(self.generations + 1):
            found[generation] = life.digest(), life.population()
            life.run(1)
        return found


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    monkeypatch.setattr(bounds, "_LEAST", 3)
    monkeypatch.setattr(bounds, "_ROOM", 9)
    monkeypatch.setattr(bounds, "_SHARE", 20)


CASES = [
    Plane(compression=compression, pyramid=pyramid, keep_previous=keep)
    for compression, pyramid, keep in [("none", True, False), ("zstd", False, True)]
]
ONE_QUICKLY = [CASES[0], pytest.param(CASES[1], marks=pytest.mark.slow)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES)
def test_it_grows_and_is_right(case, tmp_path):
    life = Life(case.grid, topology="plane", bounds=(0, 0), at=(100, -7), backend=CPU)
    with case.make(tmp_path / "universe") as universe:
        sizes = {(universe.width, universe.height)}
        streamed = case.life(universe)

        def look(now):
            life.run(now.generation - life.generation)
            assert (now.frame(), now.grid()) == (life.frame(), life.grid())
            assert (now.digest(), now.population()) == (life.digest(), life.population())
            sizes.add((universe.width, universe.height))
            box = Box(101, -12, 40, 30)
            for scale in (-1, 0, 1):
                ours, theirs = now.levels(box, scale), life.levels(box, scale)
                np.testing.assert_array_equal(ours, theirs)

        streamed.run(case.generations, every=7, on_snapshot=look)
        case.verify(universe, case.trail())
        assert len(sizes) == 3
        assert universe.bounds == streamed.bounds == (0, 0)


def test_interrupted_while_it_grows(tmp_path):
    case = CASES[0]
    with case.make(tmp_path / "universe") as universe:
        held, tries = universe.tiling, 0

        def stop(now):
            nonlocal tries
            if universe.phase is None:  # no tile is computed: room is made
                tries += 1
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            case.life(universe).run(case.generations, progress=stop)
        assert tries == 1
        assert universe.tiling == held
        assert 0 < universe.generation < case.generations
        assert_tidy(universe)
        case.go_on(universe)
        case.verify(universe, case.trail())


def test_what_dies_out(tmp_path):
    with make_universe(
        tmp_path / "universe",
        tile_universe(70, 30, False),
        from_pattern(BitGrid.from_cells(2, 1, [(0, 0), (1, 0)]), (30, 15), (70, 30), wrap=False),
        corner=(5, 5),
    ) as universe:
        Plane().life(universe).run(10**6)
        assert (universe.generation, universe.population()) == (10**6, 0)
        assert (universe.frame(), universe.grid()) == (Box(0, 0, 1, 1), BitGrid(1, 1))
        assert universe.digest() == Life(BitGrid(1, 1), backend=CPU).digest()


@pytest.mark.parametrize("stride", [89, pytest.param(17, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", ONE_QUICKLY)
def test_killed_while_it_grows(case, stride, tmp_path):
    scene, rng = Scene(case, tmp_path), random.Random(1)
    log = scene.log()
    ways: dict[int, list[str]] = {}
    for step, act in kills(log):
        ways.setdefault(step, []).append(act)
    for step in marked(log)[::stride]:
        copy(scene.template, scene.path)
        scene.kill(step, rng.choice(ways[step]))
        scene.resume(rng, log, 0)


@pytest.mark.parametrize("stride", [131, pytest.param(29, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", ONE_QUICKLY)
def test_refused_while_it_grows(case, stride, tmp_path):
    scene = Scene(case, tmp_path)
    log = scene.log(EFFECTS)
    for number, step in enumerate(marked(log)[::stride]):
        assert refused(scene, step, ERRORS[number % 3], lasting=number % 2 == 0), log[step - 1]


def test_where_cells_live(tmp_path, monkeypatch):
    """They are found whatever the scale that it is looked at."""
    rng = np.random.default_rng(3)
    for number, pixels in enumerate([1 << 24, 1 << 24, 40, 40, 3, 3, 1]):
        monkeypatch.setattr(plane, "_PIXELS", pixels)
        grid = BitGrid(1500, 1100)
        for _ in range(number):
            grid[int(rng.integers(1500)), int(rng.integers(1100))] = True
        path = tmp_path / f"{number}"
        tiling = tile_universe(1500, 1100, False, (2, 3))
        source = from_pattern(grid, (0, 0), (1500, 1100), wrap=False)
        with make_universe(path, tiling, source, pyramid=number % 2 == 0, corner=(0, 0)) as made:
            assert plane.live_box(made) == grid.bounding_box()


def test_the_manifest(tmp_path):
    with Plane().make(tmp_path / "universe") as universe:
        data = write_manifest(universe.manifest)
        assert read_manifest(data, "m") == universe.manifest
        facts = unseal(data)
        assert facts
        assert facts["corner"] == [94, -13]
        older = {key: facts[key] for key in facts if key not in ("corner", "edge", "hash")}
        old = read_manifest(seal({**older, "version": 1}), "m")
        assert (old.corner, old.edge) == (None, None)
        for name in ("corner", "edge"):
            for wrong in ([1], [1, 2, 3], [1.5, 2], ["1", "2"], {}, 7, [True, 1]):
                with pytest.raises(DamagedDataError, match=f"damaged: {name} "):
                    read_manifest(seal({**older, name: wrong}), "m")
