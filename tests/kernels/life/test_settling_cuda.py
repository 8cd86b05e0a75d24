"""Universes on a device, computed where they change, against those that are computed as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import engine_for
from kernels.life.contract import LifeShape
from kernels.life.cuda.engine import DeviceLife
from kernels.life.rules import NineCellRule
from kernels.life.settling.costs import DEVICE_SETTLING_COSTS, DeviceSettlingCosts
from kernels.life.settling.cuda import rounds as launches
from kernels.life.settling.cuda import universe as cuda_universe
from kernels.life.settling.cuda.sizes import (
    bands_of,
    is_reached,
    most_windows,
    sizes_of,
    units_of,
)
from kernels.life.settling.cuda.universe import CudaSettlingLife
from kernels.life.settling.universe import settling
from kernels.targets.contract import Target
from kernels.targets.cuda.device import Device
from lifesim import Life
from lifesim.grid import BitGrid
from tests.emulation import EmulatedDevice
from tests.kernels.life.test_settling import (
    GLIDER,
    LIFE,
    PLACES,
    PULSAR,
    RULES,
    SPOTS,
    placed,
    sizes,
    target,
    whole,
)
from tests.life_contract import Cells, pack, soup
from tests.quick import examples

ALWAYS = DeviceSettlingCosts(span=12, look=0, work=0, worth=0, update=1.0)  # where it changes
EAGER = DeviceSettlingCosts(  # and as a whole, by turns: by windows below one for 2000 cells
    span=24, look=24, work=0, worth=0, update=1 / 8000, per_square=0.0, rest=0.0, window=1.0
)
ORDERS = ["forward", "reverse", "shuffled:1", "shuffled:2"]


class Backend(Target):
    """A target of one device."""

    name = "cuda"

    def __init__(self, device: Device) -> None:
        self.device = device

    def describe(self) -> str:
        return "a device"

    @property
    def devices(self) -> Sequence[Device]:
        return (self.device,)

    def free_device_memory(self) -> int | None:
        return self.device.free_memory()

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        return self.device.pinned(nbytes)


def emulated(order: str = "forward", memory: int = 1 << 28) -> Backend:
    return Backend(cast(Device, EmulatedDevice(order=order, multiprocessors=2, memory=memory)))


def opened(
    on: Target,
    cells: Cells,
    rule: NineCellRule,
    torus: bool,
    costs: DeviceSettlingCosts = ALWAYS,
) -> CudaSettlingLife:
    height, width = cells.shape
    shape = LifeShape(width, height, torus)
    life = engine_for(on).universe(pack(cells), shape, rule)
    assert isinstance(life, DeviceLife)
    universe = CudaSettlingLife(life, shape, rule, costs)
    universe._span = costs.span  # not in whole passes
    return universe


@settings(max_examples=examples(20))
@given(
    size=sizes(),
    rule=st.sampled_from([*RULES, *PLACES]),
    torus=st.booleans(),
    density=st.sampled_from([0.003, 0.02, 0.3]),
    order=st.sampled_from(ORDERS),
    costs=st.sampled_from([ALWAYS, EAGER]),
    steps=st.lists(st.sampled_from([1, 2, 3, 5, 12, 24, 50, 131]), min_size=1, max_size=6),
    seed=st.integers(0, 999),
)
def test_emulated_any_universe(
    size: tuple[int, int],
    rule: NineCellRule,
    torus: bool,
    density: float,
    order: str,
    costs: DeviceSettlingCosts,
    steps: list[int],
    seed: int,
) -> None:
    cells = soup(*size, seed, density)
    universe = opened(emulated(order), cells, rule, torus, costs)
    witness = whole(target(), cells, rule, torus)
    for step in steps:
        universe.step(step)
        witness.step(step)
        assert universe.generation == witness.generation
        np.testing.assert_array_equal(universe.words(), witness.words(), f"after {step} more")


@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("size", [(128, 128), (200, 150), (131, 257), (193, 145)])
def test_emulated_what_moves_crosses_all_edges(size: tuple[int, int], torus: bool) -> None:
    width, height = size
    cells = placed(GLIDER, *size, width - 5, height - 9) | placed(PULSAR, *size, -6, 60)
    cells |= placed([line[::-1] for line in GLIDER], *size, 70, -2)
    universe, witness = opened(emulated(), cells, LIFE, torus), whole(target(), cells, LIFE, torus)
    for _ in range(30):
        universe.step(36)
        witness.step(36)
        np.testing.assert_array_equal(universe.words(), witness.words())
    assert universe.by_windows


@settings(max_examples=examples(20))
@given(
    size=sizes(),
    torus=st.booleans(),
    rule=st.sampled_from([LIFE, RULES[1], PLACES[2]]),
    spots=st.lists(
        st.tuples(st.sampled_from(SPOTS), st.integers(-45, 45), st.integers(-45, 45)),
        min_size=1,
        max_size=3,
    ),
    order=st.sampled_from(ORDERS),
)
def test_emulated_lone_spots_anywhere(
    size: tuple[int, int],
    torus: bool,
    rule: NineCellRule,
    spots: list[tuple[list[str], int, int]],
    order: str,
) -> None:
    """Check windows at seams, edges and corners: spots near the corner."""
    cells = np.zeros(size[::-1], np.bool_)
    for pattern, x, y in spots:
        cells |= placed(pattern, *size, x, y)
    universe = opened(emulated(order), cells, rule, torus)
    witness = whole(target(), cells, rule, torus)
    for _ in range(14):
        universe.step(12)
        witness.step(12)
        np.testing.assert_array_equal(universe.words(), witness.words())
    assert universe.by_windows


def test_emulated_only_what_changes_is_computed() -> None:
    """Check that what has a period that divides twelve takes no window, and a glider one or two."""
    cells = placed(PULSAR, 512, 512, 100, 100) | placed(["###"], 512, 512, 300, 300)
    assert windows_of(cells) == 0
    assert 1 <= windows_of(cells | placed(GLIDER, 512, 512, 400, 100)) <= 4


def windows_of(cells: Cells) -> int:
    universe = opened(emulated(), cells, LIFE, True)
    universe.step(120)
    assert universe.by_windows
    return universe.on_device.windows()


def test_emulated_cells_that_are_set_meanwhile() -> None:
    cells = soup(300, 200, 3, 0.02)
    universe, witness = opened(emulated(), cells, LIFE, True), whole(target(), cells, LIFE, True)
    for y, rows in ((17, 40), (0, 200), (199, 1)):
        universe.step(101)
        witness.step(101)
        band = pack(soup(300, rows, y, 0.3))
        universe.put(y, band)
        witness.put(y, band)
        np.testing.assert_array_equal(universe.words(), witness.words())
    universe.step(52)
    witness.step(52)
    part = np.empty((7, 5), np.uint64)
    universe.get(90, part)
    np.testing.assert_array_equal(part, witness.words()[90:97])
    assert universe.view() is None
    array = universe.device_words()
    assert array is not None
    np.testing.assert_array_equal(array.to_host(), witness.words())


def test_emulated_cells_go_in_and_out_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "BAND_BYTES", 40 * 5 * 8)
    cells = soup(300, 200, 3, 0.1)
    universe, witness = opened(emulated(), cells, LIFE, True), whole(target(), cells, LIFE, True)
    universe.step(76)
    witness.step(76)
    assert universe.by_windows
    np.testing.assert_array_equal(universe.words(), witness.words())
    universe.step(1)
    witness.step(1)
    np.testing.assert_array_equal(universe.words(), witness.words())


def test_emulated_what_rests_takes_no_time() -> None:
    cells = placed(["###"], 200, 200, 50, 50)
    universe, witness = opened(emulated(), cells, LIFE, True), whole(target(), cells, LIFE, True)
    universe.step(10**15 + 1)
    witness.step(1)
    assert universe.generation == 10**15 + 1
    np.testing.assert_array_equal(universe.words(), witness.words())


# --- when it changes how it is computed ---------------------------------------


def test_emulated_a_soup_is_a_whole_until_it_has_settled() -> None:
    costs = DeviceSettlingCosts(look=96, work=0, rest=0.0, update=1e-14)
    universe = opened(emulated(), soup(128, 128, 33), LIFE, True, costs)
    universe.step(96)
    assert not universe.by_windows
    universe.step(120)
    assert not universe.by_windows
    universe.step(1500)
    assert universe.by_windows
    universe.put(0, pack(soup(128, 128, 1)))
    assert not universe.by_windows


def test_emulated_what_boils_again_is_a_whole_again() -> None:
    """A few cells that fill the universe, by a rule under which nothing comes to rest."""
    cells = np.zeros((400, 400), np.bool_)
    cells[200:220, 200:220] = soup(20, 20)
    costs = DeviceSettlingCosts(span=12, look=0, work=0, worth=24, rest=0.0, update=1e-14)
    universe = opened(emulated(), cells, RULES[2], True, costs)
    universe.step(24)
    assert universe.by_windows
    universe.step(300)
    assert not universe.by_windows


def test_small_universes_are_left_to_what_keeps_them_on_chip() -> None:
    """A round takes as long as dozens of their generations there, however little changes."""
    for side, pays in ((1024, False), (4096, False), (16384, True), (65536, True)):
        assert DEVICE_SETTLING_COSTS.begins(0.0, side**2) is pays
        assert DEVICE_SETTLING_COSTS.boils(1, side**2) is not pays
        assert not DEVICE_SETTLING_COSTS.boils(0, side**2)


def test_emulated_without_memory_it_stays_a_whole() -> None:
    cells = soup(512, 512, 0, 0.01)
    universe = opened(emulated(memory=1 << 19), cells, LIFE, True)
    witness = whole(target(), cells, LIFE, True)
    universe.step(100)
    witness.step(100)
    assert not universe.by_windows
    np.testing.assert_array_equal(universe.words(), witness.words())


def test_emulated_blocks_that_miss_each_other_are_not_asked_again() -> None:
    """Emulated blocks run one after the other: the first that waits gives up."""
    cells = soup(300, 200, 0, 0.05)
    universe, witness = opened(emulated(), cells, LIFE, True), whole(target(), cells, LIFE, True)
    for steps in (60, 50, 61):
        universe.step(steps)
        witness.step(steps)
        np.testing.assert_array_equal(universe.words(), witness.words())
        assert universe.by_windows is not universe.on_device.missed
        universe.on_device.together = True
    assert universe.on_device.missed


def test_emulated_which_universes_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    on = emulated()

    def opened_whole(height: int, width: int) -> DeviceLife:
        shape = LifeShape(width, height, torus=True)
        life = engine_for(on).universe(pack(soup(width, height)), shape, LIFE)
        assert isinstance(life, DeviceLife)
        return life

    large, small = opened_whole(128, 128), opened_whole(127, 128)
    assert settling(large, on, LIFE, torus=True) is large  # a round is never quicker
    monkeypatch.setattr(cuda_universe, "DEVICE_SETTLING_COSTS", ALWAYS)
    assert isinstance(settling(large, on, LIFE, torus=True), CudaSettlingLife)
    assert settling(small, on, LIFE, torus=True) is small


@pytest.mark.parametrize("topology", ["torus", "plane"])
def test_emulated_life_takes_them(topology: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_universe, "DEVICE_SETTLING_COSTS", ALWAYS)
    grid = BitGrid(300, 200, pack(soup(300, 200, 1, 0.01)))
    life = Life(grid, topology=topology, backend=emulated())
    held = life._held._fixed
    assert isinstance(held, CudaSettlingLife)
    held._pause, held._span = 0, 12
    held.stride = 84  # what Life asks for at once, at least
    life.run(1003)
    assert held.by_windows
    plain = whole(target(), soup(300, 200, 1, 0.01), LIFE, topology == "torus")
    plain.step(1003)
    np.testing.assert_array_equal(life.grid().words, plain.words())
    assert life.generation == 1003


# --- what breaks a step off ------------------------------------------------------


def test_emulated_stopped_at_a_whole_generation() -> None:
    cells = soup(256, 256, 0, 0.05)
    universe = opened(emulated(), cells, RULES[2], True)
    witness = whole(target(), cells, RULES[2], True)
    universe.step(12)
    universe.on_device.at_once = lambda: 2  # type: ignore[method-assign]
    asked = iter([False, False, True])
    universe.step_until(lambda: next(asked, True), 1 << 40)
    assert 12 < universe.generation < 1 << 20
    witness.step(universe.generation)
    np.testing.assert_array_equal(universe.words(), witness.words())


def test_rounds_say_when_they_pay() -> None:
    costs = DeviceSettlingCosts(window=1e-9, rest=1e-6, update=1e-12, per_square=2.0)
    cells = 1 << 20  # as a whole a round takes 4 microseconds
    assert not costs.boils(3100, cells)
    assert costs.boils(3300, cells)
    # Where nothing is found to change, a round takes what it takes at least.
    assert costs.begins(0.0, 1 << 19)
    assert not costs.begins(0.0, 1 << 17)
    assert costs.begins(1000 / 256, cells)
    assert not costs.begins(2000 / 256, cells)


@pytest.mark.parametrize("side", [(128, 128), (129, 127), (65536, 65536), (1 << 19, 24 << 16)])
def test_sizes_of_what_rounds_take(side: tuple[int, int]) -> None:
    shape = LifeShape(*side, torus=True)
    parts = sizes_of(shape)
    cells = side[0] * side[1]
    assert parts.nbytes > 3 * cells // 8
    assert parts.map >= bands_of(shape) * units_of(shape) // 8
    assert parts.list >= 4 * most_windows(shape)
    assert is_reached(shape)
    assert not is_reached(LifeShape(side[0] + (1 << 19), side[1], torus=True))


# --- on a GPU ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def gpu() -> Target:
    from kernels.targets.cuda.target import CudaTarget

    return CudaTarget()


@pytest.mark.gpu
@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("rule", [LIFE, RULES[5], *PLACES[:2]], ids=repr)
@pytest.mark.parametrize("size", [(128, 128), (517, 1001), (3000, 2400)])
def test_gpu_any_universe(
    gpu: Target, size: tuple[int, int], rule: NineCellRule, torus: bool
) -> None:
    """Blocks wait for each other there, and what one writes others read."""
    for density in (0.003, 0.3):
        cells = soup(*size, 1, density)
        for costs in (ALWAYS, EAGER):
            universe = opened(gpu, cells, rule, torus, costs)
            universe.on_device.compiling().result()
            universe._looking.result()
            witness = whole(target(), cells, rule, torus)
            for step in (1, 26, 120, 403):
                universe.step(step)
                witness.step(step)
                np.testing.assert_array_equal(universe.words(), witness.words())
            assert costs is EAGER or universe.by_windows
