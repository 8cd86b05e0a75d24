"""Life on CUDA devices: the contract, emulated and on a GPU, any plan, and their choice."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kernels.life import engine_for, ref
from kernels.life.contract import ChainShape, LifeShape
from kernels.life.cuda import engine, sizes
from kernels.life.cuda.engine import SOURCE, DeviceArena
from kernels.life.cuda.sizes import chain_plan, device_bytes, device_chain
from kernels.life.plan import (
    SHORT_PASSES,
    CudaLayout,
    CudaPlan,
    choose_cuda,
    cuda_layout,
    cuda_pass,
    cuda_plan,
    pass_steps,
    reads_top_cells,
)
from kernels.life.rules import LifeRule, MapRule, NineCellRule
from kernels.targets.contract import Target
from kernels.targets.cuda.device import Device
from tests import quick
from tests.emulation import EmulatedDevice
from tests.life_cells_contract import Size, assert_holds
from tests.life_chain_contract import ChainContract
from tests.life_contract import (
    FULL,
    NARROW,
    TABLES,
    check_chain,
    history,
    make,
    pack,
    rule_of,
    soup,
    unpack,
)
from tests.nvcc import needs_nvcc, nvcc

LIFE, HIGH_LIFE = rule_of("B3/S23"), rule_of("B36/S23")
# Each is compiled for itself; test_circuit.py has them all.
FEW_TABLES = {name: TABLES[name] for name in ("anything without birth of nothing",)}
FEW_RULES = {"HighLife": "B36/S23", "inverted Day & Night": "B0123478/S34678"}


@cache
def device(order: str = "forward") -> Device:
    return cast(Device, EmulatedDevice(order=order))  # its methods take its own buffers only


class EmulatedBackend(Target):
    name = "cuda"

    def describe(self) -> str:
        return "emulated"

    @property
    def devices(self) -> Sequence[Device]:
        return (device(),)

    def free_device_memory(self) -> int | None:
        return device().free_memory()

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        return device().pinned(nbytes)


class TestEmulated(ChainContract):
    tables = FEW_TABLES
    sizes = ((1, 1), (33, 1), (1, 65), (2, 2), (64, 64), (513, 3), (127, 29), (4100, 3))
    times = (1, 2, 9, 33)
    few_times = (9, 18)
    rules = FEW_RULES
    rule_sizes = ((65, 33),)
    examples = 30
    any_rule = st.just(LIFE)
    padded = (65,)
    ship_times = (4, 40, 100)
    chain_widths = (5, 64, 577, 4100)
    patient = False

    @pytest.fixture
    def backend(self) -> Target:
        return EmulatedBackend()


@pytest.mark.slow
class TestEmulatedSizes:
    """Tests all sizes that hurt."""

    sizes = NARROW + FULL + ((127, 29), (257, 19), (1021, 7), (4099, 3), (4100, 3), (8300, 2))

    @pytest.mark.sample(7)
    @pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
    @pytest.mark.parametrize("size", sizes, ids=lambda size: f"{size[0]}x{size[1]}")
    def test_sizes(self, size: Size, torus: bool) -> None:
        TestEmulated().test_sizes(EmulatedBackend(), size, torus)


@pytest.mark.gpu
class TestCuda(ChainContract):
    rule_sizes = ((65, 33), (512, 8))
    examples = 15  # each with a rule that is compiled for it

    @pytest.fixture(scope="module")
    @staticmethod
    def backend() -> Target:
        from kernels.targets.cuda.target import CudaTarget

        return CudaTarget()


# --- plans given ---------------------------------------------------------------


def check_plan(
    plan: CudaPlan,
    size: Size,
    torus: bool,
    rule: tuple[int, int] = LIFE,
    generations: int | None = None,
    on: Device | None = None,
) -> None:
    """Two passes, by default: the second reads what the first has written."""
    t = 2 * plan.steps if generations is None else generations
    arena = DeviceArena(on or device(), [LifeShape(*size, torus)], 1, LifeRule(*rule), plan)
    universe = arena.open(0, LifeShape(*size, torus))
    universe.put(0, pack(soup(*size)))
    assert universe.stride == plan.steps
    universe.step(t)
    assert_holds(universe, history(size, rule, torus, (t,))[0], plan)


def widths_of(lanes: int, words: int) -> tuple[int, int]:
    """Return widths of two panels and a bit: a multiple of what a lane holds, and an odd one."""
    most = 32 * lanes * words
    return (2 * most + most // 8) // 12 * 12, 2 * most + most // 8 + 1


SHAPES = [
    pytest.param(lanes, words, torus, marks=() if few else pytest.mark.slow)
    for lanes in (8, 16, 32)
    for words in (1, 2, 3, 4)
    for torus in (True, False)
    for few in [(lanes // 8 + words + torus) % 3 == 0]
]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("lanes", "words", "torus"), SHAPES)
def test_shapes(lanes: int, words: int, torus: bool) -> None:
    """Teams of lanes, words a lane, aligned or not."""
    even, odd = widths_of(lanes, words)
    first = torus == (words % 2 == 0)
    width, segment, rule = (even, 3, HIGH_LIFE) if first else (odd, 7, LIFE)
    steps = (lanes + words) % 4 + 1
    layout = cuda_layout(width, torus, words, lanes, steps)
    assert layout.panels > 1
    assert layout.aligned == (width == even or words == 1)
    for height, rows in ((7, segment), (1, 1), (2, 4)):
        check_plan(CudaPlan(layout, steps, rows, resident=8), (width, height), torus, rule)


@pytest.mark.parametrize(("height", "segment"), [(47, 16), (90, 33), (20, 100)])
def test_planes_whose_edges_are_those_of_panels(height: int, segment: int) -> None:
    """Rows above and below are held dead at the ends of segments only, columns nowhere."""
    for lanes, words, steps in ((8, 2, 4), (16, 1, 3)):
        for width in widths_of(lanes, words):
            layout = cuda_layout(width, False, words, lanes, steps)
            assert layout.flush
            check_plan(CudaPlan(layout, steps, segment, resident=8), (width, height), False)


@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("steps", [1, 3, 8])
def test_steps(steps: int, torus: bool) -> None:
    """Segments from one row to more than there are, halos wider than need be."""
    for width, height in ((300, 13), (6, 3)):
        layout = cuda_layout(width, torus, 2, 8, 8)
        for segment in (1, 2, 4, 5, 12, 13, 14, 100):
            plan = CudaPlan(layout, steps, segment, resident=8)
            check_plan(plan, (width, height), torus)


@pytest.mark.sample(6)
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 31, 64, 255, 256, 257, 700, 1024])
def test_widths(width: int, torus: bool) -> None:
    """Narrower than a halo, than a panel, and just wider; words apart where they might not."""
    for height in (1, 6):
        layout = cuda_layout(width, torus, 2, 8, 3)
        for given_layout in (layout, replace(layout, aligned=False)):
            check_plan(CudaPlan(given_layout, 3, 4, 8), (width, height), torus)


@pytest.mark.parametrize(
    "order", ["reverse", "shuffled:1", pytest.param("shuffled:2", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
def test_order_of_lanes_does_not_matter(order: str, torus: bool) -> None:
    for lanes, words, width in ((32, 4, 257), (8, 2, 1100), (16, 3, 400)):
        layout = cuda_layout(width, torus, words, lanes, 4)
        plan = CudaPlan(layout, 4, 5, resident=8)
        check_plan(plan, (width, 17), torus, on=device(order))


def test_a_plan_serves_whole_passes_only() -> None:
    """A plan makes whole passes; the generations that are left are done in shorter ones."""
    plan = CudaPlan(cuda_layout(300, True, 2, 8, 5), 5, 4, 8)
    for t in range(12):
        check_plan(plan, (300, 13), True, generations=t)


def test_memory_that_is_not_there() -> None:
    small = cast(Device, EmulatedDevice(memory=1 << 16))
    with pytest.raises(MemoryError):
        DeviceArena(small, [LifeShape(1024, 2000, True)], 1, LifeRule(*LIFE))
    assert small.free_memory() == 1 << 16


def test_more_cells_than_kernels_address() -> None:
    with pytest.raises(MemoryError, match="address"):
        DeviceArena(
            device(),
            [LifeShape(64, 64, True), LifeShape(1 << 20, 1 << 20, False)],
            1,
            LifeRule(*LIFE),
        )


def test_universe_that_repeats_on_a_torus() -> None:
    """A torus narrower than a row of words is computed several times, side by side."""
    plan = choose_cuda(5, 7, True, 4)
    assert plan.layout.period % 5 == 0
    assert plan.layout.period > 5
    universe = make(EmulatedBackend(), soup(5, 7))
    universe.step(20)
    assert_holds(universe, pack(ref.run(soup(5, 7), *LIFE, True, 20)))


# --- chains of given plans ---------------------------------------------------------


def check_planned_chain(
    layout: CudaLayout, width: int, torus: bool, steps: int, t: int, on: Device | None = None
) -> None:
    plan = CudaPlan(layout, steps, 5, resident=8)
    shape = ChainShape(width, t, torus, 4 * steps)
    shapes = [LifeShape(width, 2 * t + 4 * steps + 9, torus)]
    arena = DeviceArena(on or device(), shapes, 2, LifeRule(*HIGH_LIFE), plan, shape)
    assert arena.chain
    assert arena.chain.longest <= steps
    check_chain(EmulatedBackend(), shape, (5, 0, 2), rule=HIGH_LIFE, arena=arena)


@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize(
    ("lanes", "words"),
    [
        (8, 2),
        pytest.param(8, 3, marks=pytest.mark.slow),
        pytest.param(16, 4, marks=pytest.mark.slow),
        (32, 1),
    ],
)
def test_chains_of_a_plan(lanes: int, words: int, torus: bool) -> None:
    """Chains of several panels are right, aligned or not, with short passes at the end."""
    for width in widths_of(lanes, words):
        layout = cuda_layout(width, torus, words, lanes, 3)
        assert layout.panels > 1
        for t in (3, 7):
            check_planned_chain(layout, width, torus, 3, t)


def test_chain_of_many_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are queued at once."""
    monkeypatch.setattr(engine, "QUEUED", 3)
    check_chain(EmulatedBackend(), ChainShape(300, 20, True, 4), (3, 0))


def test_chain_of_more_cells_than_kernels_address() -> None:
    for shapes, typical in (
        ([LifeShape(64, 64, True), LifeShape(1 << 20, 1 << 20, True)], 8),
        ([], 1 << 20),
    ):
        shape = ChainShape(1 << 20, 5, True, typical)
        with pytest.raises(MemoryError, match="address"):
            device_bytes([LifeShape(64, 64, True), *shapes], 1, 4, shape)
        with pytest.raises(MemoryError, match="address"):
            DeviceArena(
                device(), [LifeShape(64, 64, True), *shapes], 1, LifeRule(*LIFE), chain=shape
            )


def test_device_memory_of_a_chain() -> None:
    """A chain takes as much as device_bytes() tells, and all of it is given back."""
    fresh = cast(Device, EmulatedDevice(order="forward"))
    shapes: list[LifeShape] = [LifeShape(1024, 300, True), LifeShape(700, 411, False)]
    shape, before = ChainShape(1024, 60, True, 310), fresh.free_memory()
    arena = DeviceArena(fresh, shapes, 3, LifeRule(*LIFE), chain=shape)
    follower = arena.open_chained(0, 310, first=False)
    follower.put(0, pack(soup(1024, 310)))
    expected = device_bytes(shapes, 3, fresh.info.multiprocessors, shape)
    staged = max(128 * 310, 88 * 411)
    assert before - fresh.free_memory() == expected - 2 * staged + 128 * 310
    del follower, arena
    assert fresh.free_memory() == before


# --- rows put and got in bands ---------------------------------------------------


@pytest.mark.parametrize("nbytes", [1, 24, 100, 24 * 33])
def test_emulated_bands(nbytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bands may be of one row or several, the last one shorter or not."""
    monkeypatch.setattr(sizes, "BAND_BYTES", nbytes)
    for width, torus in ((131, True), (129, False)):
        expected = pack(soup(width, 33))
        universe = make(EmulatedBackend(), soup(width, 33), torus=torus)
        assert_holds(universe, expected)
        changed = pack(soup(width, 33, seed=1))
        universe.put(5, changed[5:20])
        expected[5:20] = changed[5:20]
        found = np.empty((17, 3), np.uint64)
        universe.get(9, found)
        np.testing.assert_array_equal(found, expected[9:26])
        universe.step(9)
        assert_holds(universe, pack(ref.run(unpack(expected, width), *LIFE, torus, 9)))


def test_device_memory_of_an_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arena takes as much as device_bytes() tells: no copy of the rows but a band, for each
    thread that has one."""
    monkeypatch.setattr(sizes, "BAND_BYTES", 1 << 12)
    fresh = cast(Device, EmulatedDevice(order="forward"))
    shapes: list[LifeShape] = [LifeShape(1024, 300, True), LifeShape(700, 411, False)]
    before = fresh.free_memory()
    arena = DeviceArena(fresh, shapes, 3, LifeRule(*LIFE))
    for slot in range(3):
        shape = shapes[slot % 2]
        universe = arena.open(slot, shape)
        universe.put(0, pack(soup(shape.width, shape.height)))
    band = 4096 // 128 * 128
    expected = device_bytes(shapes, 3, fresh.info.multiprocessors)
    assert before - fresh.free_memory() == expected - band
    thread = threading.Thread(target=universe.words)
    thread.start()
    thread.join()
    assert before - fresh.free_memory() == expected - band, "it goes with its thread"
    del universe
    arena.close()
    assert fresh.free_memory() == before


@pytest.mark.gpu
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("lanes", [8, 16, 32])
@pytest.mark.parametrize(("words", "steps"), [(4, 7), (3, 9), (1, 2), (2, 4)])
def test_shapes_on_a_gpu(lanes: int, words: int, steps: int, torus: bool) -> None:
    from kernels.targets.cuda.target import CudaDevice

    gpu = cast(Device, CudaDevice())
    for width in widths_of(lanes, words):
        layout = cuda_layout(width, torus, words, lanes, steps)
        for segment in (40, 33):
            plan = CudaPlan(layout, steps, segment, resident=8)
            check_plan(plan, (width, 100), torus, HIGH_LIFE, on=gpu)


@pytest.mark.gpu
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize(("words", "steps"), [(4, 7), (3, 9), (2, 4)])
def test_chains_of_a_plan_on_a_gpu(words: int, steps: int, torus: bool) -> None:
    from kernels.targets.cuda.target import CudaDevice

    gpu = cast(Device, CudaDevice())
    for lanes in (8, 32):
        for width in widths_of(lanes, words):
            layout = cuda_layout(width, torus, words, lanes, steps)
            check_planned_chain(layout, width, torus, steps, 3 * steps - 1, on=gpu)


@pytest.mark.gpu
def test_rows_far_down_on_a_gpu() -> None:
    """Rows are put and got where their place takes more than 32 bits."""
    from kernels.targets.cuda.target import CudaTarget

    backend, width, height = CudaTarget(), 524288, 139264
    rows = np.random.default_rng(1).integers(0, 2**64, (70, width // 64), np.uint64)
    staged = backend.staging(2 * rows.nbytes).view(np.uint64).reshape(2, *rows.shape)
    staged[0] = rows
    try:
        arena = engine_for(backend).arena([LifeShape(width, height, False)], 1, LifeRule(8, 12))
    except MemoryError as error:
        pytest.skip(str(error))
    universe = arena.open(0, LifeShape(width, height, False))
    for y in (height - 70, 0, height // 2):
        universe.put(y, rows if y else staged[0])
    for y in (height - 70, height // 2, 0):
        staged[1] = 0
        universe.get(y, staged[1])
        np.testing.assert_array_equal(staged[1], rows)


@pytest.mark.gpu
def test_memory_dropped_by_another_thread_is_freed() -> None:
    from kernels.targets.cuda.target import CudaTarget

    backend = CudaTarget()
    engine_for(backend).universe(
        np.zeros((64, 1), np.uint64), LifeShape(64, 64, True), LifeRule(8, 12)
    ).step(7)
    before = backend.device.free_memory()
    count = 20  # whose arenas of 384 MiB would show beside what other processes take meanwhile

    def use() -> None:
        arena = engine_for(backend).arena([LifeShape(1 << 16, 1 << 14, True)], 2, LifeRule(8, 12))
        rows = backend.staging(1 << 24).view(np.uint64).reshape(-1, 1 << 10)
        rows[:] = 0
        arena.open(0, LifeShape(1 << 16, 1 << 14, True)).put(5, rows)

    for _ in range(count):
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
    assert backend.device.free_memory() > before - (count * 384 << 20) // 2


# --- plans chosen --------------------------------------------------------------


def assert_sound(layout: CudaLayout, width: int, torus: bool, steps: int) -> None:
    """Check that a layout is as life.cu asks."""
    row, halo, useful = layout.row_words, layout.halo, layout.useful
    excess = layout.panels * useful - layout.period
    assert halo >= steps
    assert halo % layout.words == useful % layout.words == 0
    assert useful + 2 * halo <= 32 * row
    assert 0 <= excess < useful, "the last panel is empty"
    if torus:
        assert layout.period % width == 0
        assert useful - excess >= halo, "a halo comes from two panels"
    else:
        assert layout.period == width
    # A word has at most one halo column, and a lane's words have theirs at the same bit.
    columns = [*range(halo), *range(halo + useful, 2 * halo + useful)]
    bit = {c % row: c // row for c in columns}
    assert len(bit) == len(columns), "a word with two halo columns"
    for x in range(0, row, layout.words):
        assert len({bit.get(x + k) for k in range(layout.words)}) == 1
    assert not layout.aligned or (layout.period % layout.words == excess % layout.words == 0)


WIDTHS = st.one_of(st.integers(1, 300), st.integers(1, 20_000), st.integers(1, 10**6))


@settings(deadline=None, max_examples=quick.examples(200))
@given(
    WIDTHS,
    st.booleans(),
    st.integers(1, 4),
    st.sampled_from([8, 16, 32]),
    st.integers(1, 16),
)
def test_any_layout(width: int, torus: bool, words: int, lanes: int, steps: int) -> None:
    assume(2 * -(-steps // words) <= lanes)  # both halos have a place in a row of words
    assert_sound(cuda_layout(width, torus, words, lanes, steps), width, torus, steps)


@settings(deadline=None, max_examples=quick.examples(100))
@given(
    WIDTHS,
    st.one_of(st.integers(1, 100), st.integers(1, 10**6)),
    st.booleans(),
    st.sampled_from([1, 4, 108, 132]),
)
def test_choice(width: int, height: int, torus: bool, multiprocessors: int) -> None:
    plan = choose_cuda(width, height, torus, multiprocessors)
    assert_sound(plan.layout, width, torus, plan.steps)
    assert 1 <= plan.segment <= height
    # The passes for what is left of a number of generations have the same layout.
    for steps, _ in pass_steps(2 * plan.steps - 1, plan.steps):
        short = cuda_plan(plan.layout, height, steps, multiprocessors)
        assert short.layout == plan.layout
        assert short.layout.halo >= short.steps == steps
        assert 1 <= short.segment <= height
        again = cuda_pass(plan.layout, height, steps, multiprocessors)
        assert (again.layout, again.steps) == (plan.layout, steps)
        assert 1 <= again.segment <= height
    assert cuda_pass(plan.layout, height, plan.steps, multiprocessors) == plan


@given(
    WIDTHS,
    st.one_of(st.integers(1, 60), st.integers(1, 10**5)),
    st.booleans(),
    st.one_of(st.integers(2, 40), st.integers(2, 10**6)),
    st.sampled_from([1, 4, 132]),
)
def test_passes_of_a_chain(
    width: int, generations: int, torus: bool, height: int, multiprocessors: int
) -> None:
    """Passes are as long as the layout is for, or of the few lengths that are compiled."""
    shape = ChainShape(width, generations, torus, height)
    plan, chain = chain_plan(shape, multiprocessors), device_chain(shape, multiprocessors)
    assert sum(chain.passes) == generations
    assert 2 * chain.longest <= height
    assert set(chain.passes) <= {plan.steps, *SHORT_PASSES}
    assert plan.layout.halo >= chain.longest


@given(st.integers(0, 10**12), st.integers(1, 20))
def test_passes_add_up(generations: int, longest: int) -> None:
    passes = pass_steps(generations, longest)
    assert sum(steps * count for steps, count in passes) == generations
    assert all(1 <= steps <= longest and count >= 1 for steps, count in passes)
    assert len(passes) <= 4


def test_choice_fills_a_large_gpu() -> None:
    plan = choose_cuda(16384, 16384, True, 132)
    teams = plan.layout.panels * -(-16384 // plan.segment)
    assert teams * plan.layout.lanes // 32 >= 132 * plan.resident // 2
    assert plan.steps >= 4


# --- nvcc ----------------------------------------------------------------------


@needs_nvcc
@pytest.mark.parametrize(
    ("width", "torus", "rule"),
    [
        (16384, True, LIFE),
        pytest.param(16384, False, HIGH_LIFE, marks=pytest.mark.slow),
        pytest.param(16381, True, LIFE, marks=pytest.mark.slow),
        pytest.param(16384, True, TABLES["anything"], marks=pytest.mark.slow),
    ],
    ids=lambda value: "table" if isinstance(value, int) and value > 1 << 99 else str(value),
)
def test_nvcc_compiles(width: int, torus: bool, rule: tuple[int, int] | int) -> None:
    """Kernels that the planner chooses compile without a warning and within the registers."""
    plan = choose_cuda(width, 16384, torus, 132)
    cells: NineCellRule = LifeRule(*rule) if isinstance(rule, tuple) else MapRule(rule)
    if reads_top_cells(cells):
        plan = cuda_plan(plan.layout, 16384, engine.TOP_CELLS_STEPS, 132)
    defines = plan.defines(cells, torus)
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 80, 90)]
    macros = [f"-D{name}={value}".replace(",", "\\,") for name, value in defines.items()]
    said = nvcc(SOURCE, *arches, "--fatbin", "-Xptxas=-v", *macros)
    spilled = [int(n) for n in re.findall(r"(\d+) bytes spill", said)]
    assert len(spilled) == 18, "stores and loads of three kernels, on each architecture"
    # The words of a ragged layout are a few too many, which costs less than a stage would.
    assert max(spilled) <= (0 if width % 4 == 0 else 16)
