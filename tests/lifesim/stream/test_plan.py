"""The choice of a phase: pure, so that any machine can be made up."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import engine_for
from kernels.life.contract import ChainShape, LifeShape
from kernels.life.cuda.sizes import device_bytes
from kernels.targets.cpu import CpuTarget, levels
from lifesim.store.tilefile import TileFormat, chunk_rows
from lifesim.store.tiling import Tiling, tile_universe
from lifesim.stream.plan import (
    _MOST_GROUPS,
    PERIOD,
    BudgetError,
    LaneMachine,
    PhaseModel,
    PhasePlan,
    Rates,
    _amount,
    _groups,
    _needs,
    _seconds,
    _shapes,
    choose,
)
from tests.amounts import bytes_of_text
from tests.quick import examples

GB = 10**9


def history(chain: ChainShape | None) -> int:
    """Return the bytes that a chain takes beside its blocks."""
    if chain is None:
        return 0
    return 2 * chain.generations * 8 * -(-chain.width // 64)


def on_host(
    shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
) -> tuple[int, int]:
    """Return the bytes of an arena as the CPU backend has it: packed, and one spare."""
    slack = 96 if chain else 0
    largest = max((shape.height + slack) * 8 * shape.row_words for shape in shapes)
    return (slots + 1) * largest + history(chain), 0


def on_device(
    shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
) -> tuple[int, int]:
    return 0, on_host(shapes, slots, chain)[0]


def on_h200(
    shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
) -> tuple[int, int]:
    return 0, device_bytes(shapes, slots, 132) + history(chain)


def form_of(tiling: Tiling, compression: str = "none", top: int = 10) -> TileFormat:
    widest = max(b - a for a, b in zip(tiling.columns, tiling.columns[1:], strict=False))
    return TileFormat(chunk_rows(8 * -(-widest // 64)), compression, top)


SIDE = 1 << 18
LARGE = tile_universe(SIDE, SIDE, True)  # 8 GiB
FORM = form_of(LARGE)
HOST = LaneMachine(1 << 30, None, on_host)
DEVICE = LaneMachine(2 << 30, 3 << 30, on_device)
RATES = Rates(1e12, 2e9, 1e9)


def large(machine: LaneMachine, rates: Rates = RATES) -> PhaseModel:
    return PhaseModel(LARGE, FORM, machine, rates)


def needs(tiling: Tiling, plan: PhasePlan, machine: LaneMachine) -> tuple[int, int]:
    """Return what the windows of a plan take of the host and of a device."""
    every = set(range(len(tiling)))
    shapes = {
        LifeShape(*tiling.window(block, plan.generations).shape)
        for block in plan.shape.blocks(tiling, every)
    }
    chain = None
    if plan.shape.chained:
        width, height = max(s.width for s in shapes), max(s.height for s in shapes)
        chain = ChainShape(width, plan.generations, tiling.torus, height)
    return machine.arena_bytes(sorted(shapes), plan.shape.slots, chain)


@st.composite
def tilings(draw: st.DrawFn) -> Tiling:
    words, height = draw(st.integers(1, 5000)), draw(st.integers(1, 300_000))
    across, down = draw(st.integers(1, min(12, words))), draw(st.integers(1, min(40, height)))
    width = 64 * words - draw(st.integers(0, 63))
    return tile_universe(width, height, draw(st.booleans()), (across, down))


machines = st.builds(
    LaneMachine,
    host=st.integers(20, 34).map(lambda n: 1 << n),
    device=st.none() | st.integers(20, 34).map(lambda n: 1 << n),
    arena_bytes=st.just(on_host),
    devices=st.integers(1, 4),
    workers=st.integers(1, 8),
).map(lambda m: m if m.device is None else replace(m, arena_bytes=on_device))
rates = st.builds(
    Rates,
    st.floats(6, 14).map(lambda n: 10**n),
    st.floats(6, 10).map(lambda n: 10**n),
    st.floats(6, 10).map(lambda n: 10**n),
)
lefts = st.integers(1, 500) | st.integers(1, 10**6) | st.sampled_from([1, 60, 16384, 10**12])


# --- budgets ----------------------------------------------------------------------------


@settings(max_examples=examples(60))
@given(tilings(), st.sampled_from(["none", "zstd"]), lefts, machines, rates, st.booleans())
def test_a_plan_keeps_to_its_budgets(
    tiling: Tiling, compression: str, left: int, machine: LaneMachine, rates: Rates, quiet: bool
) -> None:
    form = form_of(tiling, compression)
    try:
        plan = choose(PhaseModel(tiling, form, machine, rates), left, quiet=quiet)
    except BudgetError:
        with pytest.raises(BudgetError):
            choose(PhaseModel(tiling, form, machine, rates), left, generations=1)
        return
    host, device = needs(tiling, plan, machine)
    assert host <= machine.host
    assert machine.device is None or device <= machine.device
    assert 1 <= plan.generations <= left
    assert 1 <= plan.shape.across <= tiling.across
    assert 1 <= plan.shape.down <= tiling.down
    assert 1 <= plan.workers <= machine.workers
    assert 0 < plan.seconds < math.inf


@settings(max_examples=examples(60))
@given(
    tilings(),
    st.sampled_from(["none", "zstd"]),
    lefts,
    st.integers(1, 3000),
    machines,
    st.sampled_from([None, on_h200, *[engine_for(CpuTarget()).arena_bytes for _ in levels()[:1]]]),
    rates,
)
def test_no_shape_that_fits_is_quicker(
    tiling: Tiling,
    compression: str,
    left: int,
    generations: int,
    machine: LaneMachine,
    arena_bytes: Any,
    rates: Rates,
) -> None:
    """Compare with all shapes, each asked for its memory; also of the real backends."""
    generations = min(generations, left)
    if arena_bytes is not None:
        device = 1 << 34 if arena_bytes is on_h200 else None
        machine = replace(machine, arena_bytes=arena_bytes, device=device)
    form, expected = form_of(tiling, compression), None
    for workers in sorted({machine.workers, 1}, reverse=True):
        fits = []
        for shape in _shapes(tiling, machine.devices, True):
            host, device = _needs(
                PhaseModel(tiling, form, machine, RATES), generations, shape, workers
            )
            if host <= machine.host and (machine.device is None or device <= machine.device):
                fits.append(
                    _seconds(
                        PhaseModel(tiling, form, machine, rates), left, generations, shape, 1.0
                    )
                )
        if fits:
            expected = min(fits) * (1 if workers == machine.workers else 1.01)
            break
    if expected is None:
        with pytest.raises(BudgetError):
            choose(PhaseModel(tiling, form, machine, rates), left, generations=generations)
    else:
        plan = choose(PhaseModel(tiling, form, machine, rates), left, generations=generations)
        assert plan.seconds == expected


@settings(max_examples=examples(60))
@given(tilings(), st.sampled_from(["none", "zstd"]), st.integers(1, 3000), st.booleans())
def test_a_refusal_names_what_is_needed(
    tiling: Tiling, compression: str, generations: int, device: bool
) -> None:
    form = form_of(tiling, compression)
    machine = LaneMachine(1, None, on_host)
    if device:
        machine = LaneMachine(1 << 50, 1, on_device)
    with pytest.raises(BudgetError) as refusal:
        choose(PhaseModel(tiling, form, machine, RATES), 10**6, generations=generations)
    refused = refusal.value
    where = "device memory" if device else "memory"
    assert str(refused) == (
        f"a window of one sub-universe and {generations} generations needs "
        f"{_amount(refused.needed)} of {where}, 1 byte may be taken"
    )
    assert (refused.on_device, refused.given) == (device, 1)
    need = refused.needed
    assert abs(bytes_of_text(_amount(need)) - need) < 2**17
    again = pickle.loads(pickle.dumps(refused))
    assert (again.needed, again.given, again.on_device) == (need, 1, device)

    def budget(nbytes: float) -> LaneMachine:
        if device:
            return replace(machine, device=int(nbytes))
        return replace(machine, host=int(nbytes))

    enough = choose(PhaseModel(tiling, form, budget(need), RATES), 10**6, generations=generations)
    assert enough.generations == generations
    with pytest.raises(BudgetError):
        choose(PhaseModel(tiling, form, budget(need - 1), RATES), 10**6, generations=generations)


def test_memory_is_a_lane_s() -> None:
    """The refusal tells what each needs."""
    needs = set()
    for devices in (1, 3):
        with pytest.raises(BudgetError) as refusal:
            choose(
                large(replace(HOST, host=1, devices=devices)),
                100,
                generations=9,
            )
        assert ("for each of 3" in str(refusal.value)) == (devices == 3)
        need = refusal.value.needed
        machine = replace(HOST, host=need, devices=devices)
        choose(large(machine), 100, generations=9)
        needs.add(need)
    assert len(needs) == 1


def test_more_memory_is_never_slower() -> None:
    seconds = [choose(large(replace(HOST, host=1 << n)), 10000).seconds for n in range(28, 36)]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[-1] < seconds[0]


# --- how long a phase is ----------------------------------------------------------------


@given(st.integers(1, 5000), lefts)
@settings(max_examples=examples(30))
def test_a_length_that_is_given_is_kept(generations: int, left: int) -> None:
    plan = choose(large(replace(HOST, host=8 << 30)), left, generations=generations)
    assert plan.generations == generations


@settings(max_examples=examples(20))
@given(st.integers(1, 20000), rates, st.sampled_from([HOST, DEVICE]))
def test_no_other_length_is_much_better(left: int, rates: Rates, machine: LaneMachine) -> None:
    best = choose(large(machine, rates), left)
    for n in range(15):
        generations = max(1, round(left ** (n / 14)))
        try:
            other = choose(large(machine, rates), left, generations=generations)
        except BudgetError:
            continue
        assert best.seconds <= 1.15 * other.seconds


@pytest.mark.sample(2)
@pytest.mark.parametrize("left", [1000, 5000, 16384, 10**6])
@pytest.mark.parametrize("machine", [HOST, DEVICE])
def test_whole_periods_where_they_cost_little(left: int, machine: LaneMachine) -> None:
    plan = choose(large(machine), left)
    assert plan.generations % PERIOD == 0 or plan.generations == left
    for generations in range(max(1, plan.generations - 90), plan.generations + 90):
        other = choose(large(machine), left, generations=min(left, generations))
        assert plan.seconds <= 1.04 * other.seconds


def test_no_whole_periods_where_they_cost_much() -> None:
    """61 generations are made in one phase, not in two."""
    plan = choose(large(HOST, Rates(1e15, 1e8, 1e8)), 61)
    assert plan.generations == 61


@pytest.mark.parametrize("machine", [HOST, DEVICE])
def test_slow_disks_have_long_phases(machine: LaneMachine) -> None:
    lengths = [
        choose(large(machine, Rates(1e12, speed, speed)), 10**6).generations
        for speed in (1e7, 1e8, 1e9, 1e11)
    ]
    assert lengths[0] > lengths[1] > max(lengths[2:])
    assert lengths[0] > 2 * lengths[3]


def test_a_universe_that_fits_is_moved_on_in_one_phase() -> None:
    small = tile_universe(4096, 4096, True)
    plan = choose(PhaseModel(small, form_of(small), HOST, RATES), 10**5)
    assert plan.generations == 10**5


@settings(max_examples=examples(20))
@given(st.integers(1, 10**6), st.integers(0, 3000), st.booleans())
def test_never_beyond_what_is_left(left: int, last: int, quiet: bool) -> None:
    plan = choose(large(DEVICE), left, last=last, quiet=quiet)
    assert plan.generations <= left


# --- settled universes ------------------------------------------------------------------


def test_a_first_look_is_one_period() -> None:
    for left in (60, 100, 16384, 10**7):
        assert choose(large(DEVICE), left, quiet=True).generations == PERIOD
    assert choose(large(DEVICE), 59, quiet=True).generations <= 59
    loud = choose(large(DEVICE), 16384)
    seen = choose(large(DEVICE), 16384, quiet=True, last=PERIOD)
    assert seen.generations == loud.generations > PERIOD


def test_phases_are_as_short_as_lets_tiles_be_linked() -> None:
    """Short windows touch fewer tiles in which something is going on."""
    count = len(LARGE)

    def linked(generations: int) -> int:
        return count - 2 if generations == PERIOD else 0

    alone = choose(large(DEVICE), 16384, last=PERIOD)
    plan = choose(large(DEVICE), 16384, last=PERIOD, linked=linked)
    assert alone.generations > PERIOD
    assert plan.generations == PERIOD
    assert plan.seconds < alone.seconds

    def little(generations: int) -> int:
        return 2 if generations == PERIOD else 0

    plan = choose(large(DEVICE), 16384, last=PERIOD, linked=little)
    assert plan.generations == alone.generations


def test_multiples_of_the_last_phase_are_looked_at() -> None:
    """A multiple of the last phase's length is chosen, as tiles can be linked only after those."""
    asked = set()

    def linked(generations: int) -> int:
        asked.add(generations)
        return len(LARGE) if generations % 70 == 0 else 0

    plan = choose(large(DEVICE), 1000, last=70, linked=linked)
    assert plan.generations % 70 == 0
    assert {70, 980} <= asked


# --- one large machine ------------------------------------------------------------------


def test_a_large_universe_on_a_large_device() -> None:
    """512K x 512K cells, 16384 generations: at 5.3e13 cell updates a second 85 s alone."""
    tiling = tile_universe(512 << 10, 512 << 10, True)
    form = form_of(tiling)
    machine = LaneMachine(2 * GB, 30 * GB, on_h200, workers=8)
    h200 = Rates(5.3e13, 3.3e9, 2.4e9)
    began = time.process_time()
    plan = choose(PhaseModel(tiling, form, machine, h200), 16384)
    assert time.process_time() - began < 0.5
    assert 85 < plan.seconds < 130
    host, device = needs(tiling, plan, machine)
    assert host <= 2 * GB
    assert device <= 30 * GB


@pytest.mark.parametrize("tiles", [(1, 1), (64, 64), (1, 4096), (256, 256), (8192, 1)])
def test_choosing_is_quick(tiles: tuple[int, int]) -> None:
    tiling = tile_universe(512 << 10, 512 << 10, True, tiles)
    machine = LaneMachine(1 << 40, 1 << 40, on_device, workers=8)
    began = time.process_time()
    choose(PhaseModel(tiling, form_of(tiling), machine, RATES), 10**9, last=60)
    assert time.process_time() - began < 1


# --- tasks of a cluster -----------------------------------------------------------------


def groups_of(side: int, rates: Rates, workers: int, generations: int = 60) -> int:
    tiling = tile_universe(side, side, True)
    form = form_of(tiling)
    machine = replace(DEVICE, devices=workers)
    plan = choose(PhaseModel(tiling, form, machine, rates), 10**6, generations=generations)
    return _groups(PhaseModel(tiling, form, machine, rates), plan, 1.0)


def test_groups_cost_next_to_nothing() -> None:
    """There are a few for each worker, so that none waits long for another, where phases are
    long."""
    slow = Rates(1e9, 1e11, 1e11)
    assert groups_of(SIDE, slow, 8) == _MOST_GROUPS
    assert groups_of(SIDE, slow, 1) == 1  # nobody waits
    assert groups_of(SIDE, Rates(1e15, 2e9, 1e9), 8) == 1  # bound by the disk: none is free
    assert groups_of(SIDE, slow, 8, generations=480) == 1
    assert groups_of(1 << 12, RATES, 8) == 1
    found = [groups_of(SIDE, replace(slow, cells=10.0**n), 8) for n in range(9, 16)]
    assert found == sorted(found, reverse=True)
