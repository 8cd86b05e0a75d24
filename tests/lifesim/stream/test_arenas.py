"""When the memory of a phase's windows is kept for the next phase, and when it is given back."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels.life.contract import LifeArena
from kernels.targets.cpu import CpuTarget
from lifesim.engines import engine_of
from lifesim.grid import BitGrid
from lifesim.rule import Rule
from lifesim.soup import random_grid
from lifesim.store.make import from_grid, make_universe
from lifesim.store.tiling import tile_universe
from lifesim.stream import bounds
from lifesim.stream.phase import Windows
from lifesim.stream.run import StreamedLife
from tests.life_contract import GLIDER
from tests.lifesim.stream.streamed import CPU
from tests.universes import on_disk

pytestmark = pytest.mark.usefixtures("no_syncs")

MEMORY = 1 << 26


def arena_bytes_of(rule: Rule, backend: CpuTarget, windows: Windows) -> tuple[int, int]:
    engine = engine_of(rule, backend)
    return engine.arena_bytes(windows.shapes, windows.slots, windows.chain)


class Held:
    """The arenas that are open. made: how many ever were."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: dict[LifeArena, int] = {}
        self.made = 0
        really = Windows.open

        def opened(windows: Windows, backend: CpuTarget, rule: Rule) -> LifeArena:
            arena = really(windows, backend, rule)
            size = arena_bytes_of(rule, backend, windows)
            self.sizes[arena], self.made = sum(size), self.made + 1
            close = arena.close

            def closed() -> None:
                self.sizes.pop(arena, None)
                close()

            arena.close = closed
            return arena

        monkeypatch.setattr(Windows, "open", opened)


class Card(CpuTarget):
    """A target that says how much memory of a device is free: what no arena holds."""

    held: Held
    total = 1 << 18

    def free_device_memory(self) -> int | None:
        return self.total - sum(self.held.sizes.values())


def test_each_phase_is_planned_with_all_memory_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    card = Card(1)
    card.held = Held(monkeypatch)
    monkeypatch.setattr(StreamedLife, "_learn", lambda life, tally: None)  # whatever the clock says
    with on_disk(random_grid(1024, 1024, 0.3, 3), (1, 16)) as universe:
        life = StreamedLife(universe, [card], memory=MEMORY, generations=16)
        life.run(64)
        shapes = {plan.shape for plan, _ in life.tallies}
    assert len(life.tallies) == 4
    assert len(shapes) == 1
    assert not card.held.sizes


def test_a_host_keeps_it_but_not_while_others_look(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(monkeypatch)
    seen = []

    def look(life: StreamedLife) -> None:
        seen.append((life.generation, len(held.sizes), held.made))

    with on_disk(random_grid(256, 256, 0.3, 3), (1, 4)) as universe:
        life = StreamedLife(universe, [CPU], memory=MEMORY, generations=8)
        life.run(48, every=24, on_snapshot=look)
    assert seen == [(24, 0, 1), (48, 0, 2)]
    assert not held.sizes


def test_a_host_gives_it_back_before_a_plane_grows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    held, really = Held(monkeypatch), bounds.grow
    seen = []

    def grown(*args: object) -> None:
        seen.append((len(held.sizes), held.made))
        really(*args)

    monkeypatch.setattr(bounds, "grow", grown)
    monkeypatch.setattr(bounds, "_ROOM", 64)
    glider = BitGrid.from_bool([[cell != "." for cell in row] for row in GLIDER])
    grid = BitGrid(200, 200)
    grid.paste(glider, 100, 100)
    tiling = tile_universe(200, 200, False)
    with make_universe(tmp_path / "u", tiling, from_grid(grid), corner=(0, 0)) as universe:
        StreamedLife(universe, [CPU], memory=MEMORY).run(1200)
        assert universe.population() == 5
    assert len(seen) > 1
    assert all(count == 0 for count, _ in seen)
    assert seen[-1][1] > 0
