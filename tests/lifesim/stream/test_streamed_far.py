"""Runs on disk by rules that reach far: what lives moves several cells a generation, and edges are
met, or grow, in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifesim import BitGrid, Box, Life
from lifesim.patterns import read
from lifesim.rule import Rule
from lifesim.store.make import from_pattern, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.store.universe import Universe
from lifesim.stream import bounds
from lifesim.stream.run import StreamedLife
from tests.lifesim.stream.streamed import CPU, PLENTY

pytestmark = pytest.mark.usefixtures("no_syncs")

PATTERNS = Path(__file__).parents[3] / "data" / "patterns"
# Whatever has three neighbours within three rows and columns is born: all grows by three cells a
# generation.
SPREADING = Rule.parse("R3,C0,M0,S0..48,B3..48,NM")


def bug() -> tuple[BitGrid, Rule]:
    found = read(PATTERNS / "jitterbug.rle")
    assert found.rule
    return found.grid, Rule.parse(str(found.rule))


def blot() -> tuple[BitGrid, Rule]:
    return BitGrid.from_cells(3, 2, [(0, 0), (1, 0), (2, 1)]), SPREADING


STARTS = {"bug": bug(), "blot": blot()}


def made(path: Path, grid: BitGrid, rule: Rule, room: int, *, has_bounds: bool = False) -> Universe:
    """Return a plane on disk with so many dead cells around a grid; without bounds it is at
    (100, -7)."""
    size = grid.width + 2 * room, grid.height + 2 * room
    corner = None if has_bounds else (100 - room, -7 - room)
    return make_universe(
        path,
        tile_universe(*size, False, (1, 2), planes=rule.planes),
        from_pattern(grid, (room, room), size, wrap=False),
        rule=rule,
        corner=corner,
        edge=(0, None) if has_bounds else None,
    )


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("generations", [None, 1, 5])
def test_planes_grow_in_time(
    start: str, generations: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_ROOM", 9)
    monkeypatch.setattr(bounds, "_SHARE", 20)
    grid, rule = STARTS[start]
    life = Life(grid, rule=rule, topology="plane", bounds=(0, 0), at=(100, -7), backend=CPU)
    with made(tmp_path / "universe", grid, rule, 6) as universe:
        sizes = {(universe.width, universe.height)}
        streamed = StreamedLife(universe, [CPU], memory=PLENTY, generations=generations)

        def look(now: StreamedLife) -> None:
            life.run(now.generation - life.generation)
            assert (now.frame(), now.grid()) == (life.frame(), life.grid())
            assert (now.digest(), now.population()) == (life.digest(), life.population())
            box = Box(101, -12, 40, 30)
            assert now.levels(box, 0).tolist() == life.levels(box, 0).tolist()
            sizes.add((universe.width, universe.height))

        streamed.run(42, every=7, on_snapshot=look)
        assert life.generation == universe.generation == 42
        assert len(sizes) > 1


@pytest.mark.sample(5)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("room", [5, 29, 30, 31])
@pytest.mark.parametrize("generations", [None, 4])
def test_edges_are_seen(start: str, room: int, generations: int | None, tmp_path: Path) -> None:
    grid, rule = STARTS[start]
    at = (room, room)
    size = grid.width + 2 * room, grid.height + 2 * room
    whole = BitGrid(*size)
    whole.paste(grid, *at)
    life = Life(whole, rule=rule, topology="plane", watch=True, backend=CPU)
    life.run(400)
    assert life.edge is not None
    for steps in (life.edge - 1, life.edge, life.edge + 3):
        path = tmp_path / str(steps)
        with made(path, grid, rule, room, has_bounds=True) as universe:
            StreamedLife(universe, [CPU], memory=PLENTY, generations=generations).run(steps)
            assert universe.manifest.edge is not None
            clear, met = universe.manifest.edge
        assert clear < life.edge
        assert met is None or life.edge <= met <= steps
        if steps == life.edge - 1:
            assert met is None
