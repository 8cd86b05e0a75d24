"""Life on several devices: the contract, emulated and on GPUs, strips of any kind, their choice."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import engine_for, ref
from kernels.life import several as life_several
from kernels.life.contract import LifeShape
from kernels.life.cuda.engine import DeviceArena, DeviceLife
from kernels.life.plan import CudaPlan, choose_cuda, cuda_layout, cuda_plan
from kernels.life.rules import LifeRule
from kernels.life.several import (
    Strip,
    StripsArena,
    StripsLife,
    choose_strips,
    cut_strips,
    strips_bytes,
)
from kernels.targets.contract import Target
from kernels.targets.cuda.device import Device
from kernels.targets.cuda.target import CudaTarget
from kernels.targets.several import SeveralDevices
from tests import quick
from tests.emulation import EmulatedDevice
from tests.kernels.life.test_cuda import FEW_RULES, FEW_TABLES, EmulatedBackend
from tests.life_cells_contract import assert_holds
from tests.life_chain_contract import ChainContract
from tests.life_contract import make, pack, rule_of, soup, unpack

LIFE, HIGH_LIFE = rule_of("B3/S23"), rule_of("B36/S23")


@cache
def emulated(number: int, multiprocessors: int = 4) -> Device:
    """Kept, as finding what was compiled takes a while."""
    return cast(Device, EmulatedDevice(multiprocessors=multiprocessors))


class OneEmulated(EmulatedBackend):
    def __init__(self, number: int) -> None:
        self.device = emulated(number)

    @property
    def devices(self) -> Sequence[Device]:
        return (self.device,)


def several(count: int) -> SeveralDevices:
    return SeveralDevices([cast(CudaTarget, OneEmulated(number)) for number in range(count)])


@pytest.fixture(autouse=True)
def _as_many_as_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take as many devices as can be, though fewer would be done sooner."""
    monkeypatch.setattr(life_several, "choose_strips", cut_strips)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host waits after every second pass: emulated ones take long."""
    monkeypatch.setattr(life_several, "QUEUED", 2)


@pytest.mark.usefixtures("often")
class TestTwo(ChainContract):
    sizes = ((33, 1), (513, 15), (4100, 14))
    times = (1, 2, 9, 33)
    few_times = (9, 18)
    rules, tables = FEW_RULES, FEW_TABLES
    rule_sizes = ((65, 33),)
    examples = 12
    any_rule = st.just(LIFE)
    padded = (65,)
    ship_times = (4, 40)
    patient = False
    # A chain is the first device's alone.
    test_chains = test_any_chain = test_chain_interrupted_anywhere = None  # type: ignore[assignment]

    @pytest.fixture
    def backend(self) -> Target:
        return several(2)


@pytest.mark.slow
class TestThree(TestTwo):
    sizes = (*TestTwo.sizes, (1, 1), (64, 64), (5, 131))
    times = (1, 8, 50, 300)
    ship_times = (4, 40, 100)
    examples = 100

    @pytest.fixture
    def backend(self) -> Target:
        return several(3)


# --- on GPUs ---------------------------------------------------------------------


def gpus(least: int) -> list[int]:
    """The numbers of all of them; skips where there are fewer."""
    from kernels.targets.cuda.target import device_count

    count = device_count()
    if count < least:
        pytest.skip(f"{count} of {least} GPUs")
    return list(range(count))


@pytest.mark.gpu
class TestCuda(ChainContract):
    """Runs on all GPUs there are; where there is one, it is its own neighbour."""

    rule_sizes = ((65, 33), (512, 8))
    rules, tables = FEW_RULES, FEW_TABLES
    any_rule = st.just(LIFE)

    @pytest.fixture(scope="module")
    @staticmethod
    def backend() -> Target:
        numbers = gpus(1)
        return SeveralDevices([CudaTarget(n) for n in (numbers if len(numbers) > 1 else [0, 0])])


@pytest.mark.gpu
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("width", [16384, 16383])
def test_gpus_are_as_one(width: int, torus: bool) -> None:
    """Many exchanges, one right after the other and with many passes in between."""
    numbers = gpus(2)
    words = np.random.default_rng(1).integers(0, 2**64, (4001, 256), np.uint64)
    words[:, -1] >>= np.uint64(-width % 64)
    found = []
    for backend in (CudaTarget(numbers[0]), SeveralDevices([CudaTarget(n) for n in numbers])):
        life = engine_for(backend).universe(
            words, LifeShape(width, len(words), torus), LifeRule(8, 12)
        )
        for steps in (1, 1, 2, 5000, 3, 500):
            life.step(steps)
        found.append(life)
    assert_holds(found[1], found[0].words())


@pytest.mark.gpu
def test_copies_between_gpus_come_in_order() -> None:
    """Copies to and fro need no wait between them; what is read is overwritten right after."""
    numbers = gpus(1)
    here, there = CudaTarget(numbers[0]).device, CudaTarget(numbers[-1]).device
    nbytes = 1 << 26
    first, second = np.random.default_rng(1).integers(0, 256, (2, nbytes), np.uint8)
    for _ in range(3):
        a, spare, b = here.alloc(nbytes + 5), here.alloc(nbytes), there.alloc(nbytes + 3)
        here.upload(a, first, 5)
        here.upload(spare, second)
        there.copy_from(b, 3, here, a, 5, nbytes)
        here.copy(a, 0, spare, 0, nbytes)
        here.copy_from(spare, 0, there, b, 3, nbytes)
        found = np.empty_like(first)
        there.download(found, b, 3)
        np.testing.assert_array_equal(found, first)
        here.download(found, spare)
        np.testing.assert_array_equal(found, first)
        here.download(found, a)
        np.testing.assert_array_equal(found, second)


# --- strips that are given -------------------------------------------------------


def cut(
    plan: CudaPlan, rows: Sequence[int], halo: int, torus: bool, multiprocessors: int = 4
) -> list[Strip]:
    made = []
    for i, (first, end) in enumerate(pairwise(accumulate(rows, initial=0))):
        above = halo if torus or i else 0
        below = halo if torus or i < len(rows) - 1 else 0
        height = above + end - first + below
        fitted = cuda_plan(plan.layout, height, plan.steps, multiprocessors)
        made.append(Strip(first, end, above, below, fitted))
    return made


def opened(
    width: int, cuts: Sequence[Strip], torus: bool, rule: tuple[int, int], devices: Sequence[Device]
) -> StripsLife:
    lives = []
    for strip, device in zip(cuts, devices, strict=True):
        shape = LifeShape(width, strip.height, torus)
        arena = DeviceArena(device, [shape], 1, LifeRule(*rule), strip.plan)
        lives.append(arena.open(0, shape))
    return StripsLife(lives, cuts, torus=torus)


@pytest.mark.parametrize("examples", [5, pytest.param(80, marks=pytest.mark.slow)])
def test_any_strips(examples: int) -> None:
    """Strips may have any heights and halos, on two to five devices; rows are put and got."""

    @settings(max_examples=quick.examples(examples))
    @given(
        st.data(),
        st.sampled_from([1, 63, 65, 300, 577]),
        st.sampled_from([2, 4]),
        st.booleans(),
        st.lists(st.integers(0, 30), min_size=2, max_size=5),
        st.lists(st.integers(0, 40), min_size=1, max_size=4),
    )
    def check(
        data: st.DataObject,
        width: int,
        steps: int,
        torus: bool,
        extra: list[int],
        times: list[int],
    ) -> None:
        passes = data.draw(st.integers(1, 4))
        rows = [passes * steps + more for more in extra]
        height = sum(rows)
        plan = cuda_plan(cuda_layout(width, torus, 2, 8, 4), height, steps, 4)
        cuts = cut(plan, rows, passes * steps, torus)
        life = opened(width, cuts, torus, LIFE, [emulated(i) for i in range(len(rows))])
        cells = soup(width, height)
        life.put(0, pack(cells))
        for t in times:
            life.step(t)
            cells = ref.run(cells, *LIFE, torus, t)
            low, high = sorted(data.draw(st.tuples(*[st.integers(0, height)] * 2)))
            found = np.empty_like(pack(cells)[low:high])
            life.get(low, found)
            np.testing.assert_array_equal(found, pack(cells)[low:high])
            low, high = sorted(data.draw(st.tuples(*[st.integers(0, height)] * 2)))
            words = pack(cells)
            words[low:high] = pack(soup(width, height, seed=1))[low:high]
            life.put(low, words[low:high])
            cells = unpack(words, width)
        assert life.generation == sum(times)
        assert_holds(life, pack(cells))

    check()


@settings(max_examples=quick.examples(12))
@given(
    st.integers(1, 200),
    st.sampled_from([5, 64, 131]),
    st.booleans(),
    st.sampled_from([LIFE, HIGH_LIFE]),
    st.lists(st.sampled_from([1, 4, 6]), min_size=1, max_size=4),
    st.lists(st.integers(0, 30), min_size=1, max_size=3),
)
def test_any_universe_on_unlike_devices(
    height: int,
    width: int,
    torus: bool,
    rule: tuple[int, int],
    multiprocessors: list[int],
    times: list[int],
) -> None:
    devices = [emulated(i, count) for i, count in enumerate(multiprocessors)]
    arena = StripsArena(devices, [LifeShape(width, height, torus)], 1, LifeRule(*rule))
    life = arena.open(0, LifeShape(width, height, torus))
    life.put(0, pack(soup(width, height)))
    for t in times:
        life.step(t)
    assert_holds(life, pack(ref.run(soup(width, height), *rule, torus, sum(times))))


@pytest.mark.sample(3)
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("name", ["queue", "queue_rows"])
def test_interrupted_between_strips(
    name: str, torus: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt before any pass or copy leaves all strips at one generation; they go on."""
    life, cells = make(several(3), soup(65, 90), torus=torus), soup(65, 90)
    monkeypatch.setattr(life_several, "QUEUED", 3)
    hook, left = getattr(DeviceLife, name), 0

    def interrupt(one: DeviceLife, *args: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            signal.raise_signal(signal.SIGINT)
        hook(one, *args)

    monkeypatch.setattr(DeviceLife, name, interrupt)
    for i in range(1, 6):
        left, before = i, life.generation
        with pytest.raises(KeyboardInterrupt):
            life.step(70)
        made = life.generation - before
        assert 0 < made < 70
        cells = ref.run(cells, *LIFE, torus, made)
        assert_holds(life, pack(cells))


def test_what_is_no_memory_of_a_device() -> None:
    one, other = emulated(0), emulated(1)
    mine, theirs = one.alloc(64), other.alloc(64)
    one.upload(mine, np.zeros(64, np.uint8))
    other.upload(theirs, np.arange(64, dtype=np.uint8))
    one.copy_from(mine, 8, other, theirs, 4, 20)
    found = np.empty(64, np.uint8)
    one.download(found, mine)
    np.testing.assert_array_equal(found[8:28], np.arange(4, 24))
    assert not found[:8].any()
    assert not found[28:].any()
    for wrong in ((one, theirs, other, theirs), (one, mine, other, mine), (one, mine, one, theirs)):
        with pytest.raises(TypeError, match="another device"):
            wrong[0].copy_from(wrong[1], 0, wrong[2], wrong[3], 0, 4)


def test_memory_of_strips() -> None:
    """Strips take as much as strips_bytes() tells, and all of it is given back."""
    devices = [emulated(number) for number in range(3)]
    shapes: list[LifeShape] = [LifeShape(1024, 300, True), LifeShape(700, 411, False)]
    told = strips_bytes(shapes, 2, (4, 4, 4))
    before = [device.free_memory() for device in devices]
    arena = StripsArena(devices, shapes, 2, LifeRule(*LIFE))
    for slot, shape in enumerate(shapes):
        life = arena.open(slot, shape)
        life.put(0, pack(soup(shape.width, shape.height)))
        life.step(9)
    staged = 2 * max(128 * 300, 88 * 411)  # gone with the threads that put
    taken = [free - device.free_memory() for device, free in zip(devices, before, strict=True)]
    assert max(taken) == told - staged
    del life
    arena.close()
    assert [device.free_memory() for device in devices] == before


def test_each_device_need_hold_its_strip_only() -> None:
    shape = LifeShape(1024, 600, True)
    whole = 2 * DeviceArena(emulated(0), [shape], 1, LifeRule(*LIFE)).memory[0].nbytes
    devices = [cast(Device, EmulatedDevice(memory=whole - 1)) for _ in range(3)]
    with pytest.raises(MemoryError):
        DeviceArena(devices[0], [shape], 1, LifeRule(*LIFE))
    life = StripsArena(devices, [shape], 1, LifeRule(*LIFE)).open(0, shape)
    life.put(0, pack(soup(1024, 600)))
    life.step(9)
    assert_holds(life, pack(ref.run(soup(1024, 600), *LIFE, True, 9)))


def test_description() -> None:
    assert several(3).describe() == "3 × emulated"
    mixed = several(3)
    mixed.backends[1].describe = lambda: "another"  # type: ignore[method-assign]
    assert mixed.describe() == "2 × emulated + another"


# --- strips that are chosen ------------------------------------------------------


@given(
    st.one_of(st.integers(1, 300), st.integers(1, 10**6)),
    st.one_of(st.integers(1, 200), st.integers(1, 10**6)),
    st.booleans(),
    st.lists(st.sampled_from([4, 108, 132]), min_size=1, max_size=8),
)
def test_any_cut(width: int, height: int, torus: bool, multiprocessors: list[int]) -> None:
    cuts = cut_strips(width, height, torus, tuple(multiprocessors))
    ends = [(strip.first, strip.end) for strip in cuts]
    assert [0, *(end for _, end in ends)] == [*(first for first, _ in ends), height]
    assert len({(strip.plan.layout, strip.plan.steps) for strip in cuts}) == 1
    steps = cuts[0].plan.steps
    least = min(end - first for first, end in ends)
    halo = cuts[0].below
    for i, strip in enumerate(cuts):
        alone = len(cuts) == 1
        assert strip.above == (0 if alone or not (torus or i > 0) else halo)
        assert strip.below == (0 if alone or not (torus or i < len(cuts) - 1) else halo)
        assert 1 <= strip.plan.segment <= strip.height
    if len(cuts) > 1:
        assert halo % steps == 0
        assert steps <= halo <= least, "a halo is of one neighbour"
    if height >= steps * 40 * len(multiprocessors):
        assert len(cuts) == len(multiprocessors)
    chosen = choose_strips(width, height, torus, tuple(multiprocessors))
    assert chosen == cut_strips(width, height, torus, tuple(multiprocessors[: len(chosen)]))


@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
def test_more_devices_for_larger_universes(torus: bool) -> None:
    """Small universes take one device: queuing short passes takes longer than making them."""
    counts = [len(choose_strips(1 << n, 1 << n, torus, (132,) * 4)) for n in range(4, 21)]
    assert counts == sorted(counts)
    assert counts[:9] == [1] * 9, "up to 4096"
    assert counts[14 - 4] == 2
    assert counts[16 - 4 :] == [4] * 5


@pytest.mark.parametrize("side", [1 << 17, 1 << 18, 1 << 19, 1 << 20])
@pytest.mark.parametrize("count", [2, 4, 8])
def test_halos_of_large_universes_cost_little(side: int, count: int) -> None:
    for strip in choose_strips(side, side, True, (132,) * count):
        assert strip.above + strip.below <= 0.01 * max(1, count / 4) * strip.height
        # A strip is no worse to compute than the whole, row for row.
        whole = choose_cuda(side, side, True, 132)
        assert strip.plan.layout.useful >= 0.99 * whole.layout.useful
