"""Universes that stay on the chip: as right as any, emulated and on a GPU, and their plans."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import ref
from kernels.life.contract import LifeShape
from kernels.life.cuda import plots
from kernels.life.cuda.engine import DeviceArena, DeviceLife
from kernels.life.plots import SPARE, PlotPlan, choose_plots
from kernels.life.rules import LifeRule, MapRule, NineCellRule
from kernels.targets.cuda.device import Device, Module
from tests.emulation import EmulatedDevice
from tests.life_cells_contract import Size, assert_holds
from tests.life_contract import TABLES, pack, rule_of, soup
from tests.nvcc import needs_nvcc, nvcc

LIFE, HIGH_LIFE = LifeRule(*rule_of("B3/S23")), LifeRule(*rule_of("B36/S23"))
FROM_NOTHING = LifeRule(*rule_of("B0123478/S34678"))
SHARED = 227 << 10


def emulated(order: str = "forward", multiprocessors: int = 4) -> Device:
    return cast(Device, EmulatedDevice(order=order, multiprocessors=multiprocessors))


def opened(
    size: Size, torus: bool = True, rule: NineCellRule = LIFE, on: Device | None = None
) -> DeviceLife:
    """Return a soup that is moved on by plots, however few the generations."""
    shape = LifeShape(*size, torus)
    arena = DeviceArena(on or emulated(), [shape], 1, rule)
    assert arena.plots
    arena.plots.least = 1
    universe = arena.open(0, shape)
    assert universe.plots
    universe.plots.compiling().result()
    universe.put(0, pack(soup(*size)))
    return universe


def after(size: Size, torus: bool, rule: NineCellRule, t: int) -> np.ndarray:
    cells = soup(*size)
    for _ in range(t):
        if isinstance(rule, MapRule):
            cells = ref.step_by_table(cells, rule.table, torus)
        else:
            cells = ref.step(cells, rule.birth, rule.survival, torus)
    return pack(cells)


def check(
    size: Size,
    torus: bool,
    rule: NineCellRule = LIFE,
    times: tuple[int, ...] = (1, 40),
    on: Device | None = None,
) -> None:
    universe = opened(size, torus, rule, on)
    for t in times:
        universe.step(t - universe.generation)
        assert universe.generation == t
        assert_holds(universe, after(size, torus, rule, t), (torus, rule, t))
    assert universe.plots
    assert not universe.plots.plots.missed


@pytest.fixture
def only_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let passes make nothing, so that what is right has been made by plots."""

    def refused(universe: DeviceLife, steps: int) -> None:
        raise AssertionError(f"a pass of {steps}")

    monkeypatch.setattr(DeviceLife, "queue", refused)


SIZES = ((64, 64), (97, 203), (300, 130), (500, 40), (30, 30), (1000, 12))


@pytest.mark.sample(4)
@pytest.mark.usefixtures("only_plots")
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_sizes(size: Size, torus: bool) -> None:
    """Several exchanges, in steps that end between them."""
    check(size, torus, times=(1, 40, 100))


RULES: list[NineCellRule] = [HIGH_LIFE, FROM_NOTHING, *map(MapRule, TABLES.values())]


@pytest.mark.usefixtures("only_plots")
def test_births_from_nothing() -> None:
    """Cells beyond the edges of a plane are dead for ever."""
    check((97, 80), False, FROM_NOTHING, (40,))


@pytest.mark.slow
@pytest.mark.usefixtures("only_plots")
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("rule", RULES, ids=range(len(RULES)))
def test_rules(rule: NineCellRule, torus: bool) -> None:
    """Rules other than Conway's, births from nothing, and what is not symmetric."""
    check((97, 80), torus, rule, (40,))


@pytest.mark.usefixtures("only_plots")
@pytest.mark.parametrize(
    ("order", "torus"),
    [("shuffled:1", False), pytest.param("reverse", True, marks=pytest.mark.slow)],
)
def test_order_of_lanes_does_not_matter(order: str, torus: bool) -> None:
    check((300, 130), torus, times=(60,), on=emulated(order))


@pytest.mark.usefixtures("only_plots")
@pytest.mark.parametrize(
    ("size", "torus"),
    [
        ((130, 290), True),
        pytest.param((130, 290), False, marks=pytest.mark.slow),
        pytest.param((260, 150), True, marks=pytest.mark.slow),
        pytest.param((1000, 90), True, marks=pytest.mark.slow),
        pytest.param((1000, 90), False, marks=pytest.mark.slow),
    ],
)
def test_rows_in_shared_memory(monkeypatch: pytest.MonkeyPatch, size: Size, torus: bool) -> None:
    """Plots higher than registers hold have the other rows in shared memory."""
    monkeypatch.setattr(PlotPlan, "held", lambda plan, rule: 1 + plan.rows // 3)
    check(size, torus, times=(50,), on=emulated("shuffled:1", 2))


@pytest.mark.usefixtures("only_plots")
def test_one_plot_makes_rounds_of_its_own() -> None:
    """A launch of many exchanges, of a plot that is its own neighbour."""
    universe = opened((130, 100), on=emulated(multiprocessors=1))
    assert universe.plots
    universe.plots.plots.launch = 1000
    universe.step(90)
    assert_holds(universe, after((130, 100), True, LIFE, 90))


def test_neighbours_that_never_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that wait for others in vain give up, and passes make what they have not made."""
    monkeypatch.setattr(PlotPlan, "defines", impatient(PlotPlan.defines))
    universe = opened((300, 130))
    assert universe.plots
    assert universe.plots.plan.plots > 1
    universe.plots.plots.launch = 1000  # emulated, blocks run one after the other
    universe.step(90)
    assert universe.plots.plots.missed
    assert_holds(universe, after((300, 130), True, LIFE, 90))
    universe.step(3)
    assert_holds(universe, after((300, 130), True, LIFE, 93))


def impatient(
    defines: Callable[..., Mapping[str, int | str]],
) -> Callable[..., Mapping[str, int | str]]:
    return lambda *call: {**defines(*call), "PATIENCE": 70}


class Interrupted(EmulatedDevice):
    """A device at which Ctrl-C comes when it is waited for the nth time."""

    waits = -1

    def synchronize(self) -> None:
        super().synchronize()
        self.waits -= 1
        if self.waits == 0:
            raise KeyboardInterrupt


def test_interrupted() -> None:
    """It stands at the generation that it tells, and goes on from there."""
    for waits in range(1, 6):
        device = Interrupted(order="forward", multiprocessors=4)
        universe = opened((97, 203), on=cast(Device, device))
        device.waits = waits
        with pytest.raises(KeyboardInterrupt):
            universe.step(90)
        assert universe.plots
        t = universe.generation
        assert t == (min(waits * universe.plots.plan.halo, 90) if waits < 5 else 0)
        assert_holds(universe, after((97, 203), True, LIFE, t))
        universe.step(95 - t)
        assert_holds(universe, after((97, 203), True, LIFE, 95))


def test_few_generations_are_made_by_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots._Work, "run", None)  # what would be called
    universe = opened((97, 203))
    assert universe.plots
    universe.plots.plots.least = 256
    universe.step(255)
    assert universe.generation == 255


def test_passes_go_on_until_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then plots make what is left."""
    universe = opened((97, 203))
    assert universe.plots
    waiting: Future[Module] = Future()
    module, queue = universe.plots.compiling().result(), DeviceLife.queue
    universe.plots._module = waiting

    def queued(life: DeviceLife, steps: int) -> None:
        queue(life, steps)
        if life.generation > 460 and not waiting.done():
            waiting.set_result(module)

    monkeypatch.setattr(DeviceLife, "queue", queued)
    universe.step(5)
    assert not waiting.done()
    runs: list[int] = []
    run = plots._Work.run
    monkeypatch.setattr(plots._Work, "run", lambda work, n: (runs.append(n), run(work, n)))
    universe.step(1000)
    assert universe.generation == 1005
    assert 0 < sum(runs) <= 545
    assert_holds(universe, after((97, 203), True, LIFE, 1005))


def test_no_memory_for_plots() -> None:
    """Passes make what plots have no room for."""
    device = EmulatedDevice(order="forward", multiprocessors=4, memory=150_000)
    universe = opened((300, 130), on=cast(Device, device))
    universe.step(40)
    assert universe.plots
    assert universe.plots.plots.missed
    assert_holds(universe, after((300, 130), True, LIFE, 40))


# --- plans -----------------------------------------------------------------------


@settings(max_examples=60)
@given(
    width=st.integers(8, 20000),
    height=st.integers(8, 20000),
    count=st.sampled_from([1, 4, 84, 132]),
)
def test_plans_cover_the_universe(width: int, height: int, count: int) -> None:
    """Plots have their own cells and the halo that they take from their next neighbours."""
    plan = choose_plots(width, height, count, SHARED)
    if plan is None:
        assert count < 132 or width * height > 10**7 or min(width, height) < 200
        return
    assert plan.plots <= count
    assert 1 <= plan.halo <= min(30, width // plan.across, height // plan.down)
    assert 32 * plan.warps * plan.words >= -(-width // plan.across) + 2 * plan.halo
    over = 32 * plan.rows - 2 * plan.halo
    assert over >= -(-height // plan.down)
    assert over - height // plan.down <= SPARE
    for rule in (LIFE, HIGH_LIFE):
        assert plan.shared_bytes(plan.held(rule)) <= SHARED


def test_sizes_that_an_h200_holds() -> None:
    for side in (64, 256, 1024, 4096, 16384):
        assert choose_plots(side, side, 132, SHARED)
    assert choose_plots(20000, 20000, 132, SHARED) is None
    assert choose_plots(1 << 20, 64, 132, SHARED) is None


@needs_nvcc
@pytest.mark.parametrize(
    ("side", "torus", "rule"),
    [
        (1024, False, LIFE),
        pytest.param(16384, True, LIFE, marks=pytest.mark.slow),
        pytest.param(4096, True, HIGH_LIFE, marks=pytest.mark.slow),
        pytest.param(8192, False, MapRule(TABLES["anything"]), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_nvcc_compiles(side: int, torus: bool, rule: NineCellRule) -> None:
    """Kernels that the planner chooses compile without a warning and within the registers."""
    plan = choose_plots(side, side, 132, SHARED)
    assert plan
    defines = plan.defines(rule, torus)
    macros = [f"-D{name}={value}".replace(",", "\\,") for name, value in defines.items()]
    said = nvcc(plots.SOURCE, "-arch=sm_90", "--cubin", "-Xptxas=-v", *macros)
    assert "0 bytes spill stores" in said
    assert not re.search("[1-9][0-9]* bytes spill", said)


# --- on a GPU ----------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.usefixtures("only_plots")
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
def test_on_a_gpu(torus: bool) -> None:
    """Small universes beside the reference."""
    from kernels.targets.cuda.target import CudaTarget

    device = CudaTarget().device
    for size in (*SIZES, (1024, 1024), (1021, 777)):
        check(size, torus, times=(1, 100), on=device)
    for rule in RULES:
        check((500, 700), torus, rule, (100,), on=device)


@pytest.mark.gpu
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("size", [(4096, 4096), (5000, 3001), (16384, 16384)])
def test_large_on_a_gpu(size: Size, torus: bool) -> None:
    """Large universes beside those that passes move on; launches follow one another."""
    from kernels.targets.cuda.target import CudaTarget

    device = CudaTarget().device
    universe, other = opened(size, torus, on=device), opened(size, torus, on=device)
    other.plots = None
    for t in (1, 1000, 20000):
        universe.step(t)
        other.step(t)
        assert universe.generation == other.generation
        assert (universe.words() == other.words()).all(), t
