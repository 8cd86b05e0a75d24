"""Cases of streamed runs, checked against the run in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from kernels.targets.choose import pick
from kernels.targets.contract import Target
from lifesim import Life
from lifesim.grid import BitGrid
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.store.universe import Universe
from lifesim.stream.phase import PhaseShape
from lifesim.stream.plan import BudgetError, PhasePlan
from lifesim.stream.run import StreamedLife
from tests.universes import on_disk, reopened, tile_grids, whole_grid

CPU = pick("cpu")
PLENTY = 1 << 30
LIFE_LIKE = ["B3/S23", "B36/S23", "B0/S8", "B0123478/S34678", "B1357/S1357", "B2/S"]
AGEING = ["345/2/4", "/2/3", "12/2-a/6", "8/0/5", "3458/37/25", "23/3/256"]
TABLES = ["WireWorld", "LifeHistory", "JvN29"]
RANGES = ["R2,C0,M1,S5..9,B6..8,NM", "Bugs", "R3,C4,M0,S3..8,B4..7,NN", "R1,C2,M0,S2..3,B3..3,NM"]
SEVERAL = [*AGEING, *TABLES]  # of several states
RULES = [*LIFE_LIKE, "B2-a/S12", "B13/S012V", "W30", *SEVERAL]


@dataclass(frozen=True)
class StreamCase:
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
        rule = Rule.parse(self.rule)
        grid = BitGrid(self.width, self.height, planes=rule.planes)
        Soup(self.density, 1).fill_grid(grid, rule.states)
        return grid


_PATIENT = 200  # generations


def least_memory(
    universe: Universe, backends: Sequence[Target], generations: int | None, steps: int
) -> int:
    """Return the bytes that the refusal of less names. A jump needs none: then the run is done."""
    try:
        StreamedLife(universe, backends, memory=1, generations=generations).run(steps)
    except BudgetError as refusal:
        assert universe.phase is None
        # In the very least a phase is one generation: enough of that after some hundreds of them.
        slack = 0 if steps <= _PATIENT else 1 << 17
        return (refusal.needed + slack) * len(backends)
    return 0


def reference(case: StreamCase, backend: Target = CPU) -> Life:
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
    case: StreamCase,
    backends: Sequence[Target] = (CPU,),
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


sides = st.one_of(
    st.integers(1, 400), st.sampled_from([1, 2, 63, 64, 65, 127, 128, 129, 192, 256, 320])
)
# Of a phase: also more than the universe is wide.
phase_lengths = st.one_of(
    st.none(), st.integers(1, 70), st.sampled_from([1, 2, 63, 64, 65, 128, 500, 3000])
)


@st.composite
def cases(draw: st.DrawFn, most: int = 250, rules: Sequence[str] = RULES) -> StreamCase:
    width, height = draw(sides), draw(sides)
    generations = draw(phase_lengths)
    # A phase a generation is slow, and no different after some of them.
    limit = min(most, 12 * generations) if generations else most
    return StreamCase(
        width,
        height,
        (draw(st.integers(1, -(-width // 64))), draw(st.integers(1, min(9, height)))),
        draw(st.booleans()),
        draw(st.sampled_from(rules)),
        draw(st.sampled_from([0.0, 0.01, 0.3, 0.5, 1.0])),
        generations,
        tuple(draw(st.lists(st.integers(0, limit), min_size=1, max_size=3))),
        draw(st.sampled_from(["none", "zstd"])),
        draw(st.booleans()),
    )


def planned(shape: PhaseShape, generations: int, workers: int = 2) -> Callable[..., PhasePlan]:
    """Return a choose() that always gives that shape."""

    def choose(model: object, left: int, **given: object) -> PhasePlan:
        fixed = given.get("generations") or min(left, generations)
        return PhasePlan(int(str(fixed)), shape, workers, 1.0)

    return choose


def check_shape(
    case: StreamCase,
    shape: PhaseShape,
    backends: Sequence[Target] = (CPU,),
    *,
    reopen: bool = False,
) -> list[StreamedLife]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lifesim.stream.plan.choose", planned(shape, case.generations or 50))
        return check(case, backends, reopen=reopen)


def settled(width: int, height: int, *, pulsar: bool = False) -> BitGrid:
    """Return blocks and blinkers, many of them on seams and corners of tiles of 64 x 32."""
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
