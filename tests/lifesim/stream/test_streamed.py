"""A streamed run is the run in memory, cell for cell, however it is cut up."""

from __future__ import annotations

import itertools
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.backend import Backend
from kernels.choose import pick
from kernels.cpu import CpuArena, CpuBackend
from kernels.reference import ReferenceLife
from lifesim import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.rule import Rule
from lifesim.soup import random_grid
from lifesim.store import disk
from lifesim.store.universe import Universe
from lifesim.stream.phase import Shape
from lifesim.stream.plan import BudgetError, Plan
from lifesim.stream.run import StreamedLife
from tests.interrupts import interrupts
from tests.kernels.test_life_cuda import EmulatedBackend
from tests.life_contract import GLIDER, SPACESHIP
from tests.universes import on_disk, reopened, stored_level, tile_grids, whole_grid

CPU = pick("cpu")
PLENTY = 1 << 30
RULES = ["B3/S23", "B36/S23", "B0/S8", "B0123478/S34678", "B1357/S1357", "B2/S"]


@pytest.fixture(autouse=True, scope="module")
def _no_syncs() -> Iterator[None]:
    """What is on the disk after a crash is no matter here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "sync", lambda fd: None)
        patch.setattr(disk, "sync_folder", lambda path: None)
        yield


@dataclass(frozen=True)
class Case:
    width: int
    height: int
    tiles: tuple[int, int]
    torus: bool = True
    rule: str = "B3/S23"
    density: float = 0.3
    generations: int | None = None  # of a phase
    steps: tuple[int, ...] = (100,)  # of each run
    compression: str = "none"
    pyramid: bool = False

    @property
    def grid(self) -> BitGrid:
        return random_grid(self.width, self.height, self.density, 1)


def least_memory(
    universe: Universe, backends: Sequence[Backend], generations: int | None, steps: int
) -> int:
    """Bytes, as the refusal of less names them. A jump needs none: then the run is done."""
    try:
        StreamedLife(universe, backends, memory=1, generations=generations).run(steps)
    except BudgetError as refusal:
        assert universe.phase is None
        need = re.search(r"needs ([\d,.]+) MiB of memory", str(refusal))
        assert need
        return math.ceil((float(need[1].replace(",", "")) + 0.1) * 2**20) * len(backends)
    return 0


def reference(case: Case, backend: Backend = CPU) -> Life:
    return Life(
        case.grid,
        rule=case.rule,
        topology="torus" if case.torus else "plane",
        backend=backend,
    )


def assert_same(universe: Universe, life: Life) -> None:
    grid = life.grid()
    assert universe.generation == life.generation
    assert universe.digest() == life.digest()
    assert universe.population() == grid.population()
    assert universe.phase is None
    tiles = tile_grids(universe)
    assert np.array_equal(whole_grid(universe, tiles).words, grid.words)
    for cells, record in zip(tiles, universe.manifest.tiles, strict=True):
        assert cells.population() == record.population


def check(
    case: Case,
    backends: Sequence[Backend] = (CPU,),
    *,
    memory: int | None = PLENTY,
    least: bool = False,
    reopen: bool = False,
    folder: Path | None = None,
) -> list[StreamedLife]:
    """Run a case on disk and in memory. least: in as little memory as one tile needs."""
    lives = []
    with on_disk(
        case.grid,
        case.tiles,
        torus=case.torus,
        rule=Rule.parse(case.rule),
        compression=case.compression,
        pyramid=case.pyramid,
        folder=folder,
    ) as universe:
        expected = reference(case)
        for steps in case.steps:
            if least:
                memory = least_memory(universe, backends, case.generations, steps)
            if memory:
                life = StreamedLife(universe, backends, memory=memory, generations=case.generations)
                life.run(steps)
                lives.append(life)
            expected.run(steps)
            assert_same(universe, expected)
            assert universe.manifest.run is None
            if reopen:
                universe = reopened(universe)
        if reopen:
            assert_same(universe, expected)
            universe.close()
    return lives


# --- any case ---------------------------------------------------------------------------


sides = st.one_of(
    st.integers(1, 400), st.sampled_from([1, 2, 63, 64, 65, 127, 128, 129, 192, 256, 320])
)
# Of a phase: also more than the universe is wide.
phase_lengths = st.one_of(
    st.none(), st.integers(1, 70), st.sampled_from([1, 2, 63, 64, 65, 128, 500, 3000])
)


@st.composite
def cases(draw: st.DrawFn, most: int = 250) -> Case:
    width, height = draw(sides), draw(sides)
    generations = draw(phase_lengths)
    # A phase a generation is slow, and no different after some of them.
    limit = min(most, 12 * generations) if generations else most
    return Case(
        width,
        height,
        (draw(st.integers(1, -(-width // 64))), draw(st.integers(1, min(9, height)))),
        draw(st.booleans()),
        draw(st.sampled_from(RULES)),
        draw(st.sampled_from([0.0, 0.01, 0.3, 0.5, 1.0])),
        generations,
        tuple(draw(st.lists(st.integers(0, limit), min_size=1, max_size=3))),
        draw(st.sampled_from(["none", "zstd"])),
        draw(st.booleans()),
    )


@settings(max_examples=40)
@given(cases(), st.booleans(), st.booleans())
def test_streamed_is_in_memory(case: Case, least: bool, reopen: bool) -> None:
    check(case, least=least, reopen=reopen)


@settings(max_examples=10)
@given(cases(), st.integers(2, 3))
def test_several_lanes(case: Case, lanes: int) -> None:
    check(case, [CpuBackend(threads=1) for _ in range(lanes)])


@settings(max_examples=10)
@given(cases(most=40))
def test_the_reference_backend(case: Case) -> None:
    check(case, [pick("reference")], least=True)


@settings(max_examples=20)
@given(cases(), st.floats(1, 40))
def test_memory_of_any_size(case: Case, times: float) -> None:
    """From what one tile needs upwards."""
    steps = max(1, case.steps[0])
    with on_disk(
        case.grid,
        case.tiles,
        torus=case.torus,
        rule=Rule.parse(case.rule),
        compression=case.compression,
        pyramid=case.pyramid,
    ) as universe:
        if least := least_memory(universe, [CPU], case.generations, steps):
            memory = int(least * times)
            StreamedLife(universe, [CPU], memory=memory, generations=case.generations).run(steps)
        expected = reference(case)
        expected.run(steps)
        assert_same(universe, expected)


# --- any shape of a phase ---------------------------------------------------------------


def planned(shape: Shape, generations: int, workers: int = 2) -> Callable[..., Plan]:
    """In place of choose(): always that shape."""

    def choose(tiling: object, form: object, left: int, *more: object, **given: object) -> Plan:
        fixed = given.get("generations") or min(left, generations)
        return Plan(int(str(fixed)), shape, workers, 1.0)

    return choose


def check_shape(
    case: Case, shape: Shape, backends: Sequence[Backend] = (CPU,), *, reopen: bool = False
) -> list[StreamedLife]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lifesim.stream.plan.choose", planned(shape, case.generations or 50))
        return check(case, backends, reopen=reopen)


def shapes(case: Case, slots: int, chained: bool) -> st.SearchStrategy[Shape]:
    across, down = (st.integers(1, count) for count in case.tiles)
    return st.builds(Shape, across, down, st.just(slots), st.just(chained))


@settings(max_examples=25)
@given(st.data(), cases(), st.integers(1, 3), st.booleans(), st.integers(1, 2))
def test_any_shape(data: st.DataObject, case: Case, slots: int, chained: bool, lanes: int) -> None:
    """Also those that nobody would choose."""
    backends = [CPU] if lanes == 1 else [CpuBackend(threads=1) for _ in range(lanes)]
    check_shape(case, data.draw(shapes(case, slots, chained)), backends)


@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("tiles", [(1, 12), (3, 4), (1, 2)])
@pytest.mark.parametrize(("generations", "slots"), [(1, 3), (7, 1), (33, 2), (70, 3)])
def test_chains(
    tiles: tuple[int, int],
    slots: int,
    generations: int,
    torus: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks that follow each other, in full rows and in columns of blocks."""
    opened = []
    real = CpuArena.open_chained

    def open_chained(arena: CpuArena, slot: int, height: int, *, first: bool) -> object:
        opened.append(first)
        return real(arena, slot, height, first=first)

    monkeypatch.setattr(CpuArena, "open_chained", open_chained)
    # Tall enough for a first block that is no whole torus.
    case = Case(300, 1200, tiles, torus, generations=generations, steps=(2 * generations + 1,))
    check_shape(case, Shape(1, 1, slots, chained=True))
    if tiles[1] > 2 and generations < 70:
        assert opened.count(True) >= tiles[0]
        assert opened.count(False) > opened.count(True)


def test_chains_of_links_and_lanes() -> None:
    """Tiles that are linked break chains, and so does an end."""
    grid = settled(256, 256, pulsar=True)
    shape = Shape(1, 1, 2, chained=True)
    for lanes in (1, 2):
        backends = [CpuBackend(threads=1) for _ in range(lanes)]
        with pytest.MonkeyPatch.context() as patch, on_disk(grid, (2, 8)) as universe:
            patch.setattr("lifesim.stream.plan.choose", planned(shape, 2))
            life = StreamedLife(universe, backends, memory=PLENTY)
            expected = Life(grid, backend=CPU)
            for _ in range(5):
                life.run(4)
                expected.run(4)
                assert_same(universe, expected)
            assert any(tally.linked for _, tally in life.tallies)


# --- an emulated device -----------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    [
        Case(65, 20, (2, 3), generations=5, steps=(12,)),
        Case(200, 30, (3, 2), torus=False, generations=9, steps=(20,), compression="zstd"),
        Case(130, 40, (1, 4), steps=(70,), pyramid=True),
    ],
    ids=lambda case: f"{case.width}x{case.height}",
)
def test_emulated_device(case: Case) -> None:
    lives = check(case, [EmulatedBackend()])
    assert lives[0].tallies[0][0].shape.slots > 1 or case.generations is None


def test_emulated_devices() -> None:
    """Two lanes, each with memory of its own."""
    check(Case(200, 40, (3, 4), generations=5, steps=(10,)), [EmulatedBackend(), EmulatedBackend()])


class SmallDevice(EmulatedBackend):
    """With little memory free. (The emulation makes it no less to be had.)"""

    def __init__(self, free: int) -> None:
        self.free = free

    def free_device_memory(self) -> int:
        return self.free


def test_emulated_device_of_little_memory() -> None:
    """Refused where one tile does not fit; in windows of one where just that does."""
    case = Case(256, 64, (4, 4), generations=4, steps=(8,))
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [SmallDevice(100)], memory=PLENTY, generations=4)
        with pytest.raises(BudgetError, match=r"needs [\d.]+ MiB of device memory, 0\.0 MiB") as no:
            life.run(8)
        need = (float(re.findall(r"needs ([\d.]+) MiB", str(no.value))[0]) + 0.1) * 2**20 / 0.9
        life = StreamedLife(universe, [SmallDevice(int(need))], memory=PLENTY, generations=4)
        life.run(8)
        expected = reference(case)
        expected.run(8)
        assert_same(universe, expected)


# --- cases of their own -----------------------------------------------------------------


@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize(
    "case",
    [
        Case(1, 1, (1, 1), steps=(3,)),
        Case(64, 1, (1, 1), generations=5, steps=(12,)),
        Case(65, 32, (2, 32), generations=3, steps=(7,)),
        Case(130, 3, (3, 3), generations=2000, steps=(5000,)),
        Case(321, 37, (1, 37), generations=64, steps=(70,), pyramid=True),
        Case(321, 77, (6, 1), generations=65, steps=(130,), pyramid=True),
        Case(1000, 600, (4, 6), generations=33, steps=(100,), compression="zstd", pyramid=True),
        pytest.param(
            Case(1000, 600, (3, 2), generations=1000, steps=(1001,)), marks=pytest.mark.slow
        ),
        Case(1000, 600, (3, 2), steps=(3000,), rule="B36/S23"),
        Case(700, 90, (11, 5), generations=1, steps=(3,), rule="B0/S8"),
        Case(512, 512, (8, 8), generations=10, steps=(20,), rule="B0123478/S34678"),
    ],
    ids=lambda case: f"{case.width}x{case.height}-{case.tiles[0]}x{case.tiles[1]}",
)
def test_cases(case: Case, torus: bool) -> None:
    case = replace(case, torus=torus)
    check(case)
    check(case, least=True, reopen=True)


def test_many_tiles() -> None:
    """Each of one word and one row: windows that go over many of them."""
    check(Case(24 * 64, 24, (24, 24), generations=70, steps=(71,)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("torus", "compression", "generations"), [(True, "none", 1000), (False, "zstd", 65)]
)
def test_64_x_64_tiles(torus: bool, compression: str, generations: int) -> None:
    case = Case(64 * 64 - 3, 700, (64, 64), torus, generations=generations)
    case = replace(case, steps=(generations + 1,), compression=compression, pyramid=True)
    check(case, least=generations < 100)


@pytest.mark.slow
@settings(max_examples=80)
@given(st.data(), cases(most=500), st.integers(1, 3), st.booleans(), st.integers(1, 2))
def test_any_shape_for_long(
    data: st.DataObject, case: Case, slots: int, chained: bool, lanes: int
) -> None:
    backends = [CpuBackend(threads=1) for _ in range(lanes)]
    check_shape(case, data.draw(shapes(case, slots, chained)), backends, reopen=True)


@pytest.mark.slow
@settings(max_examples=120)
@given(cases(most=3000), st.booleans(), st.booleans(), st.integers(1, 2))
def test_streamed_is_in_memory_for_long(
    real_disk: Path, case: Case, least: bool, reopen: bool, lanes: int
) -> None:
    backends = [CPU] if lanes == 1 else [CpuBackend(threads=1) for _ in range(lanes)]
    check(case, backends, least=least, reopen=reopen, folder=real_disk)


def test_chunks_of_rows() -> None:
    """Tiles of several chunks, from a universe whose rows are wide."""
    case = Case(1 << 19, 500, (2, 2), generations=40, steps=(80,), pyramid=True)
    assert case.grid.words.nbytes > 4 * (4 << 20)
    check(case, memory=64 << 20)


# --- spaceships -------------------------------------------------------------------------


def turned(pattern: Sequence[str], quarters: int) -> np.ndarray:
    return np.rot90(np.array([[cell != "." for cell in row] for row in pattern]), quarters)


def place(cells: np.ndarray, pattern: np.ndarray, x: int, y: int) -> None:
    """The middle of the pattern at (x, y), on a torus."""
    h, w = pattern.shape
    rows = (y - h // 2 + np.arange(h)) % cells.shape[0]
    columns = (x - w // 2 + np.arange(w)) % cells.shape[1]
    cells[np.ix_(rows, columns)] |= pattern


def fleet(side: int, tile: int) -> tuple[BitGrid, int]:
    """Gliders that start before the corners of tiles and cross them, in each of the four
    directions, and lightweight spaceships that cross the seams between; their number."""
    cells = np.zeros((side, side), bool)
    count = 0
    back = 8  # cells before the seam
    glider_ways = [(1, 1), (1, -1), (-1, -1), (-1, 1)]  # of the glider, turned 0 to 3 times
    ship_ways = [(1, 0), (0, -1), (-1, 0), (0, 1)]
    corners = range(0, side, tile)
    for n, (x, y) in enumerate((x, y) for y in corners for x in corners):
        dx, dy = glider_ways[n % 4]
        place(cells, turned(GLIDER, n % 4), x - back * dx, y - back * dy)
        dx, dy = ship_ways[n % 4]
        middle = tile // 2
        seam = (x, y + middle) if dx else (x + middle, y)
        place(cells, turned(SPACESHIP, n % 4), seam[0] - back * dx, seam[1] - back * dy)
        count += 2
    return BitGrid.from_bool(cells), count


@pytest.mark.parametrize("generations", [1, 4, 7, 33, 64, 65, 100, 300])
def test_spaceships_cross_seams_and_corners(generations: int) -> None:
    """60 generations take a glider 15 cells on and a lightweight spaceship 30."""
    grid, count = fleet(256, 64)
    assert count == 32
    population = 16 * 5 + 16 * 9
    assert grid.population() == population
    steps = 40 if generations < 7 else 60
    with on_disk(grid, (4, 4)) as universe:
        life = StreamedLife(universe, [CPU], memory=4 << 20, generations=generations)
        expected = Life(grid, backend=CPU)
        life.run(steps)
        expected.run(steps)
        assert_same(universe, expected)
        assert universe.population() == population  # none has met another
        if generations == 64:
            life.run(900)  # all around
            expected.run(900)
            assert_same(universe, expected)


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("pattern", [GLIDER, SPACESHIP])
@pytest.mark.parametrize("side", [192, 200])
def test_a_spaceship_goes_around(pattern: Sequence[str], turns: int, side: int) -> None:
    """Across every seam of its way, and the universe's own, back to where it was."""
    cells = np.zeros((side, side), bool)
    place(cells, turned(pattern, turns), 60, 61)
    grid = BitGrid.from_bool(cells)
    around = side * (4 if pattern is GLIDER else 2)
    with on_disk(grid, (3, 3)) as universe:
        life = StreamedLife(universe, [CPU], memory=2 << 20, generations=48)
        life.run(around // 2)
        assert universe.population() == grid.population()
        assert universe.digest() != Life(grid, backend=CPU).digest()
        life.run(around - around // 2)
        assert np.array_equal(whole_grid(universe).words, grid.words)


@pytest.mark.parametrize("turns", range(4))
def test_gliders_end_at_the_edge_of_a_plane(turns: int) -> None:
    cells = np.zeros((150, 200), bool)
    place(cells, turned(GLIDER, turns), 100, 75)
    grid = BitGrid.from_bool(cells)
    with on_disk(grid, (3, 3), torus=False) as universe:
        StreamedLife(universe, [CPU], memory=2 << 20, generations=30).run(600)
        expected = Life(grid, topology="plane", backend=CPU)
        expected.run(600)
        assert_same(universe, expected)
        assert universe.population() == 4  # a block is left


# --- runs -------------------------------------------------------------------------------


@pytest.mark.parametrize("generations", [None, 7, 60])
def test_snapshots(generations: int | None) -> None:
    case = Case(300, 200, (3, 4))
    expected = reference(case)
    seen = []

    def snapshot(life: StreamedLife) -> None:
        seen.append(life.generation)
        expected.run(life.generation - expected.generation)
        assert_same(life.universe, expected)

    with on_disk(case.grid, case.tiles, generation=0) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=generations)
        life.run(50, every=20, on_snapshot=snapshot)
        assert seen == [20, 40]
        life.run(50, every=25, on_snapshot=snapshot)
        assert seen == [20, 40, 75, 100]
        assert life.generation == 100


def test_snapshots_of_a_settled_universe() -> None:
    """A jump does not go past one."""
    grid = settled(256, 128)
    seen = []
    with on_disk(grid, (4, 4)) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=2)
        life.run(1000, every=333, on_snapshot=lambda life: seen.append(life.universe.digest()))
    expected = []
    memory = Life(grid, backend=CPU)
    memory.run(1000, every=333, on_snapshot=lambda life: expected.append(life.digest()))
    assert seen == expected


def test_no_steps() -> None:
    case = Case(100, 50, (2, 2))
    with on_disk(case.grid, case.tiles) as universe:
        files = [record.file for record in universe.manifest.tiles]
        life = StreamedLife(universe, [CPU])
        life.run(0)
        life.run(0, every=5, on_snapshot=lambda life: pytest.fail("no snapshot"))
        life.resume()
        assert [record.file for record in universe.manifest.tiles] == files
        assert (life.generation, life.tallies, life.rate) == (0, [], 0.0)
        assert_same(universe, reference(case))


def test_runs_that_make_no_sense() -> None:
    with on_disk(BitGrid(10, 10)) as universe:
        life = StreamedLife(universe, [CPU])
        with pytest.raises(ValueError, match="back"):
            life.run(-1)
        with pytest.raises(ValueError, match="every 1 or more"):
            life.run(5, every=0)


def test_a_universe_that_starts_late() -> None:
    grid = random_grid(100, 100, 0.3, 1)
    late = 10**18
    with on_disk(grid, (2, 2), generation=late) as universe:
        StreamedLife(universe, [CPU], generations=7).run(20)
        expected = Life(grid, backend=CPU, generation=late)
        expected.run(20)
        assert_same(universe, expected)


def test_progress() -> None:
    case = Case(2000, 2000, (2, 4))
    seen = []
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=500)
        life.run(2000, progress=seen.append)
        assert life.rate > 0
    assert seen
    assert {p.total for p in seen} == {2000}
    assert all(p.generation == p.done for p in seen)
    done = [p.done for p in seen]
    assert done == sorted(done)
    assert done[-1] <= 2000


# --- settled universes ------------------------------------------------------------------


def settled(width: int, height: int, *, pulsar: bool = False) -> BitGrid:
    """Blocks and blinkers, many of them on seams and corners of tiles of 64 x 32."""
    cells = set()
    for y in range(16, height, 16):
        for x in range(16, width, 16):
            if (x // 16 + y // 16) % 2:
                cells |= {(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)}
            else:
                cells |= {(x + d, y) for d in (-1, 0, 1)}
    if pulsar:
        cells = {(x, y) for x, y in cells if not (8 < x < 56 and 4 < y < 60)}
        arms = [(a, b) for a in (1, 6) for b in (2, 3, 4)]
        for a, b in [*arms, *((b, a) for a, b in arms)]:
            cells |= {(32 + s * a, 32 + t * b) for s in (1, -1) for t in (1, -1)}
    return BitGrid.from_cells(width, height, cells)


@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("steps", [2, 3, 4, 5, 1000, 1001])
def test_a_settled_universe_is_jumped_over(steps: int, torus: bool) -> None:
    """A phase of 2 shows that all is as it was; then there is nothing to do but the rest."""
    grid = settled(256, 128)
    with on_disk(grid, (4, 4), torus=torus) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=2)
        life.run(steps)
        expected = Life(grid, topology="torus" if torus else "plane", backend=CPU)
        expected.run(steps)
        assert_same(universe, expected)
        phases = [plan.generations for plan, _ in life.tallies]
        assert phases == ([2] if steps % 2 == 0 else [2, 1])
        assert life.tallies[0][1].unchanged == 16
        life.run(steps)
        expected.run(steps)
        assert_same(universe, expected)


def test_a_jump_that_is_reopened() -> None:
    grid = settled(256, 128)
    with on_disk(grid, (4, 4)) as universe:
        StreamedLife(universe, [CPU], generations=4).run(4)
        universe = reopened(universe)
        life = StreamedLife(universe, [CPU], generations=4)
        life.run(4 * 10**12)
        assert life.tallies == []
        assert universe.generation == 4 + 4 * 10**12
        assert np.array_equal(whole_grid(universe).words, grid.words)
        universe.close()


@pytest.mark.parametrize("tiles", [(4, 4), (2, 8), (1, 1)])
def test_tiles_that_repeat_are_linked(tiles: tuple[int, int]) -> None:
    """A pulsar, of period 3, keeps only its own neighbourhood from being linked."""
    grid = settled(256, 256, pulsar=True)
    with on_disk(grid, tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=2)
        expected = Life(grid, backend=CPU)
        for _ in range(6):
            life.run(2)
            expected.run(2)
            assert_same(universe, expected)
        linked = [tally.linked for _, tally in life.tallies]
        assert linked[0] == 0
        assert len(set(linked[1:])) == 1
        assert (linked[1] > 0) == (tiles != (1, 1))
        life.run(7)  # of which 1 is no whole phase
        expected.run(7)
        assert_same(universe, expected)


@pytest.mark.parametrize("generations", [[2, 4, 2, 6, 3, 6], [6, 2, 12, 4, 60, 1, 1], [1, 2, 3]])
@pytest.mark.parametrize("glider", [False, True])
def test_phases_of_changing_lengths(generations: list[int], glider: bool) -> None:
    """What was linked with one length may not be with another."""
    grid = settled(256, 128)
    if glider:
        bits = np.zeros((128, 256), bool)
        place(bits, turned(GLIDER, 0), 8, 8)
        grid = BitGrid(256, 128, grid.words | BitGrid.from_bool(bits).words)
    with on_disk(grid, (4, 4)) as universe:
        expected = Life(grid, backend=CPU)
        for count in generations * 3:
            StreamedLife(universe, [CPU], memory=PLENTY, generations=count).run(count)
            expected.run(count)
            assert_same(universe, expected)


def test_a_glider_wakes_tiles_that_were_linked() -> None:
    """It flies over empty tiles, which are linked until it is near."""
    bits = np.zeros((256, 512), bool)
    place(bits, turned(GLIDER, 0), 10, 10)
    grid = BitGrid.from_bool(bits)
    with on_disk(grid, (8, 8)) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=12)
        expected = Life(grid, backend=CPU)
        for _ in range(12):
            life.run(120)
            expected.run(120)
            assert_same(universe, expected)
        assert sum(tally.linked for _, tally in life.tallies) > 40 * len(life.tallies)


@pytest.mark.parametrize("rule", ["B3/S23", "B0/S8"])
@pytest.mark.parametrize("torus", [True, False])
def test_no_live_cells(torus: bool, rule: str) -> None:
    grid = BitGrid(300, 200)
    with on_disk(grid, (3, 5), torus=torus, rule=Rule.parse(rule), pyramid=True) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY)
        life.run(1000)
        expected = Life(grid, rule=rule, topology="torus" if torus else "plane", backend=CPU)
        expected.run(1000)
        assert_same(universe, expected)
        if rule == "B3/S23":
            life.run(10**15)
            assert universe.generation == 10**15 + 1000
            assert universe.population() == 0
            assert not stored_level(universe, 0, 3).any()


# --- stopped, and taken up again --------------------------------------------------------


class Stop:
    """A progress function that interrupts when it is called for the nth time."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self, progress: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("lanes", [1, 2])
@pytest.mark.parametrize("reopen", [False, True])
def test_interrupted_and_resumed(reopen: bool, lanes: int) -> None:
    case = Case(500, 400, (4, 6), generations=9)
    backends = [CpuBackend(threads=1) for _ in range(lanes)]
    with on_disk(case.grid, case.tiles) as universe:
        memory = 2 * lanes * least_memory(universe, backends, 9, 100)
        for calls in range(1, 4):
            life = StreamedLife(universe, backends, memory=memory, generations=9)
            with pytest.raises(KeyboardInterrupt):
                life.run(100, progress=Stop(calls))
            assert universe.manifest.run == (0, 100)
            assert universe.generation < 100
            if reopen:
                universe = reopened(universe)
        life = StreamedLife(universe, backends, memory=memory, generations=5)
        life.resume()
        life.resume()
        expected = reference(case)
        expected.run(100)
        assert_same(universe, expected)
        assert universe.manifest.run is None
        universe.close()


@pytest.mark.parametrize("signals", [1, 2])
def test_signals(signals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one lets the block under way be finished, the second one drops it."""
    case = Case(400, 300, (4, 4))
    step, steps, watched = ReferenceLife.step, itertools.count(), threading.Event()
    with interrupts() as send, on_disk(case.grid, case.tiles) as universe:

        def first_step(life: ReferenceLife, generations: int) -> None:
            if next(steps) == 0:
                assert watched.wait(60)
                for _ in range(signals):
                    send()
                    time.sleep(0.5)  # it is looked at
            step(life, generations)

        slow = pick("reference")
        memory = least_memory(universe, [slow], 20, 20)
        life = StreamedLife(universe, [slow], memory=memory, generations=20)
        monkeypatch.setattr(ReferenceLife, "step", first_step)
        with pytest.raises(KeyboardInterrupt):
            life.run(20, progress=lambda _: watched.set())
        monkeypatch.undo()
        assert universe.phase
        done = len(universe.phase.done)
        assert done == 0 if signals == 2 else 1 <= done < 16
        life.run(20)
        expected = reference(case)
        expected.run(20)
        assert_same(universe, expected)


def test_the_same_run_again_finishes_the_one_broken_off() -> None:
    case = Case(500, 400, (4, 6))
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=9)
        with pytest.raises(KeyboardInterrupt):
            life.run(100, progress=Stop(3))
        life.run(100)
        expected = reference(case)
        expected.run(100)
        assert_same(universe, expected)


@pytest.fixture
def breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A phase is broken off after its second tile, the first time that it is run."""
    real, calls = Universe.finish_tiles, []

    def finish_tiles(universe: Universe, finished: Any) -> list[str]:
        superseded = real(universe, finished)
        calls.append(universe)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return superseded

    monkeypatch.setattr(Universe, "finish_tiles", finish_tiles)


@pytest.mark.usefixtures("breaks_off")
def test_a_run_that_ends_within_a_phase_under_way() -> None:
    case = Case(500, 400, (4, 6))
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [CPU], memory=PLENTY, generations=9)
        with pytest.raises(KeyboardInterrupt):
            life.run(100)
        assert universe.phase
        with pytest.raises(LifesimError, match="on its way to generation 9, beyond 5"):
            life.run(5)
        life.run(12)  # of its own
        expected = reference(case)
        expected.run(12)
        assert_same(universe, expected)


@pytest.mark.usefixtures("breaks_off")
def test_snapshots_of_another_rhythm_while_a_phase_is_under_way() -> None:
    """The phase is finished as it was begun, in the memory that it needs."""
    case = Case(500, 400, (4, 6))
    seen = []
    with on_disk(case.grid, case.tiles) as universe:
        memory = 2 * least_memory(universe, [CPU], 50, 100)
        life = StreamedLife(universe, [CPU], memory=memory, generations=50)
        with pytest.raises(KeyboardInterrupt):
            life.run(100)
        assert universe.phase
        life.resume(every=20, on_snapshot=lambda life: seen.append(life.generation))
        expected = reference(case)
        expected.run(100)
        assert_same(universe, expected)
        assert seen == [60, 80, 100]
        assert life.tallies[0][0].generations == 50
