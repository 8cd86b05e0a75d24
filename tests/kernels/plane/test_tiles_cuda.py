"""Tiles on CUDA devices: the contract of the unbounded plane, emulated and on a GPU."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.rules import NineCellRule
from kernels.plane.ref import ReferencePlaneEngine
from kernels.plane.tiles.cuda.engine import CudaTilesEngine, Launch
from kernels.plane.tiles.cuda.memory import (
    COUNTS,
    FIRST,
    bytes_of,
    entries_for,
    lists_bytes,
    more_room,
)
from kernels.plane.tiles.cuda.memory import (
    TILE_BYTES as TILE,
)
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.nvcc import KERNELS, needs_nvcc, nvcc
from tests.plane_contract import (
    EXPLOSIVE,
    GLIDER,
    LIFE,
    TILTED,
    Cells,
    cells_of,
    opened,
    patterns,
    soup,
    squares_of,
)
from tests.plane_tiles_contract import ACORN, FAST, R_PENTOMINO, THICK, TilesContract, assert_like
from tests.quick import examples

# Each rule is compiled for itself; tests/kernels/life/test_circuit.py has them all.
FEW_RULES = st.sampled_from((LIFE, EXPLOSIVE, FAST, THICK, TILTED))
TOGETHER = Launch(warps=2, blocks=1, rounds=1, room=FIRST)  # one block has nobody to wait for
APART = Launch(warps=1, blocks=3, together=False, rounds=1, room=FIRST)


def emulated(order: str, launch: Launch) -> CudaTilesEngine:
    """Return the engine on an emulated device."""
    return CudaTilesEngine(cast(Device, EmulatedDevice(order=order)), launch)


@pytest.fixture(
    scope="module",
    params=[
        "emulated_together",
        pytest.param("emulated_apart", marks=pytest.mark.slow),
        pytest.param("gpu", marks=pytest.mark.gpu),
        pytest.param("gpu_small", marks=pytest.mark.gpu),
    ],
)
def engine(request: pytest.FixtureRequest) -> CudaTilesEngine:
    """Return the engine, emulated in two ways, of a GPU, and of one that grows often."""
    if request.param == "emulated_together":
        return emulated("shuffled:1", TOGETHER)
    if request.param == "emulated_apart":
        return emulated("reverse", APART)
    from kernels.targets.cuda.target import CudaTarget

    if request.param == "gpu_small":
        return CudaTilesEngine(CudaTarget().device, Launch(rounds=1, room=FIRST))
    return CudaTilesEngine.of(CudaTarget())


class TestTiles(TilesContract):
    """Tiles on a device beside a set of cells."""

    @staticmethod
    def settled(universe: Any) -> bool:
        number = universe._time.number
        return bool(number > universe._whole and not universe._tiles.state()[COUNTS + number % 3])

    @settings(max_examples=examples(40), deadline=None)
    @given(patterns(), FEW_RULES, st.lists(st.integers(0, 70), min_size=1, max_size=3))
    def test_steps(self, engine: Any, cells: Cells, rule: NineCellRule, steps: list[int]) -> None:
        self.check_steps(engine, cells, rule, steps)

    @settings(max_examples=examples(40), deadline=None)
    @given(patterns(), FEW_RULES, st.integers(0, 400), st.lists(st.integers(0, 90), max_size=6))
    def test_steps_add_up(
        self, engine: Any, cells: Cells, rule: NineCellRule, first: int, steps: list[int]
    ) -> None:
        self.check_sums(engine, cells, rule, [first, *steps])

    @pytest.mark.parametrize(
        ("cells", "generations", "population"),
        [(R_PENTOMINO, 1103, 116), pytest.param(ACORN, 5206, 633, marks=pytest.mark.slow)],
    )
    def test_methuselahs(
        self, engine: Any, cells: Cells, generations: int, population: int
    ) -> None:
        super().test_methuselahs(engine, cells, generations, population)

    @pytest.mark.slow
    def test_all_that_drifts(self, engine: Any) -> None:
        super().test_all_that_drifts(engine)

    @pytest.mark.slow
    def test_a_gun_fires_for_long(self, engine: Any) -> None:
        super().test_a_gun_fires_for_long(engine)

    @pytest.mark.slow
    def test_what_flies_away_leaves_no_tiles(self, engine: Any) -> None:
        super().test_what_flies_away_leaves_no_tiles(engine)

    @pytest.mark.slow
    def test_squares_of_a_plane_that_moves_on(self, engine: Any) -> None:
        super().test_squares_of_a_plane_that_moves_on(engine)

    @pytest.mark.slow
    def test_interrupts(self, engine: Any) -> None:
        super().test_interrupts(engine)

    def test_places_of_freed_tiles_are_used_again(self, engine: Any) -> None:
        """The table fills with places of tiles that are gone, and is made anew."""
        universe = opened(engine, GLIDER)
        renewed, renew = [], universe._tiles.renew

        def counted() -> None:
            renewed.append(universe.generation)
            renew()

        universe._tiles.renew = counted
        if universe._tiles.held.room > FIRST:
            pytest.skip("a large table fills slowly")
        for n in range(40):  # lone cells, which die
            cells = {(1000 + 192 * i + 7 * n, -500 - 192 * (n + i)) for i in range(8)}
            universe.put(*squares_of(cells))
            universe.step(1)
            assert universe.population() == 5
        assert renewed
        assert universe._tiles.held.room <= 4 * FIRST
        universe.step(360)
        assert cells_of(universe) == {(x + 100, y + 100) for x, y in GLIDER}

    def test_tiles_made_for_a_step_that_was_broken_off(
        self, engine: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They lie where others have been, of which nothing is seen."""

        def interrupt(generations: int) -> None:
            raise KeyboardInterrupt

        # At rest in the corner of a tile: others are made only for a part of a round.
        block = {(0, 0), (1, 0), (0, 1), (1, 1)}
        universe, witness = opened(engine, block), opened(ReferencePlaneEngine(), block)
        words, wanted = (np.zeros((400, 7), np.uint64) for _ in range(2))
        for step in (163, 160, 151):
            for plane in (universe, witness):
                plane.step(step)
            for buffer in universe._tiles.held.tiles:
                held = np.empty((buffer.nbytes // TILE, TILE // 4), np.uint32)
                universe._device.download(held, buffer)
                spare = held[:, 13] == 0  # `there` of tile.hpp
                spare[0] &= buffer is not universe._tiles.held.tiles[0]
                held[spare, -96 * 4 :] = 0xFFFFFF
                universe._device.upload(buffer, held)
            with monkeypatch.context() as patched:
                patched.setattr(universe, "_part", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    universe.step(1)
            assert_like(universe, witness)
            for plane, to in ((universe, words), (witness, wanted)):
                plane.get(-100, -100, to)
            assert np.array_equal(words, wanted)
            for plane in (universe, witness):
                plane.put(*squares_of({(-500, 64 * step)}))
            assert_like(universe, witness)

    def test_a_plane_beside_another(self, engine: Any) -> None:
        """They share a device, and nothing else."""
        first, second = (opened(engine, soup(side)) for side in (70, 90))
        witness = opened(engine, soup(70))
        for _ in range(3):
            first.step(40)
            second.step(33)
        witness.step(120)
        assert_like(first, witness)


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 20))
def test_room_is_within_memory(memory: int, room: int) -> None:
    new = more_room(room, 2 * room + 16, memory)
    assert room <= new <= 2 * room + 16
    if new > room:
        assert bytes_of(new) + lists_bytes(room) * (room > 0) <= memory
        assert entries_for(new) >= 4 * new
    elif room:
        assert bytes_of(room + 1) + lists_bytes(room) > memory
    assert bytes_of(new) >= TILE * new


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("source", ["visit", "keeping", "reading"])
def test_nvcc_takes_it(source: str) -> None:
    """Windows lie in registers: nothing of a kernel is in local memory."""
    folder = KERNELS / "plane" / "tiles" / "cuda"
    said = nvcc(folder / f"{source}.cu", "-cubin", "-arch=sm_90", "-Xptxas", "-v")
    assert "0 bytes stack frame" in said
    assert all(" 0 bytes spill" in line for line in said.splitlines() if "spill" in line)
