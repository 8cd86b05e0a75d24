"""Life on the CPU: the contract at every level, any plan, and the choice of plans."""

from __future__ import annotations

import importlib
import threading
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life import ref
from kernels.life.contract import ChainShape, LifeShape
from kernels.life.cpu.engine import CpuArena, CpuLife
from kernels.life.plan import MAX_COLUMNS, CpuPlan, choose_cpu, cpu_plan
from kernels.life.rules import LifeRule
from kernels.targets import cpu
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cpu import CpuTarget, Machine
from tests.interrupts import interrupted_after
from tests.life_cells_contract import Size, assert_holds
from tests.life_chain_contract import ChainContract
from tests.life_contract import (
    check_chain,
    history,
    pack,
    rule_of,
    soup,
)
from tests.quick import examples

if not cpu.levels():
    pytest.skip("the extension is not built", allow_module_level=True)

extension: Any = importlib.import_module("kernels._cpu")
LEVELS = cpu.levels()
LIFE, HIGH_LIFE = rule_of("B3/S23"), rule_of("B36/S23")


@pytest.fixture(params=product(LEVELS, (1, 2, 3)), ids=lambda p: f"{p[0]}x{p[1]}")
def backend(request: pytest.FixtureRequest) -> CpuTarget:
    level, threads = request.param
    return CpuTarget(threads, level)


class TestCpu(ChainContract):
    """Each level and some numbers of threads; the plans below have them all."""

    @pytest.fixture(
        params=[*((level, 1) for level in LEVELS), (LEVELS[-1], 3)],
        ids=lambda p: f"{p[0]}x{p[1]}",
    )
    def backend(self, request: pytest.FixtureRequest) -> Target:
        level, threads = request.param
        return CpuTarget(threads, level)


# --- plans given ---------------------------------------------------------------


def planned(
    backend: CpuTarget,
    size: Size,
    plan: CpuPlan | None,
    torus: bool = True,
    rule: tuple[int, int] = LIFE,
) -> CpuLife:
    universe = CpuArena(backend, [LifeShape(*size, torus)], 1, LifeRule(*rule), plan).open(
        0, LifeShape(*size, torus)
    )
    universe.put(0, pack(soup(*size)))
    return universe


def fits(plan: CpuPlan, width: int, torus: bool, vector_bits: int) -> bool:
    """Return whether a plan is as life.hpp asks."""
    if plan.columns == 0:
        return plan == direct(width, plan.band_rows)
    reach = plan.columns * vector_bits
    closed = torus and plan.halo == 0 and plan.panels == 1 and reach == width
    return (
        plan.steps >= 1
        and plan.useful % 64 == 0
        and (plan.panels - 1) * plan.useful < width <= plan.panels * plan.useful
        and 1 <= plan.columns <= MAX_COLUMNS
        and plan.band_rows >= 1
        and plan.block_rows >= 1
        and (closed or (plan.halo >= plan.steps and plan.useful + 2 * plan.halo <= reach))
    )


def direct(width: int, band_rows: int = 1 << 30) -> CpuPlan:
    """A generation straight on the rows."""
    return CpuPlan(1, 1, -(-width // 64) * 64, 0, 0, band_rows, 6)


def with_halo(
    width: int,
    vector_bits: int,
    steps: int,
    useful: int,
    *,
    more_halo: int = 0,
    more_columns: int = 0,
    band_rows: int = 1 << 30,
    block_rows: int = 6,
) -> CpuPlan:
    """Panels of `useful` columns, and no wider than they need to be but for `more`."""
    halo = steps + more_halo
    columns = -(-(useful + 2 * halo) // vector_bits) + more_columns
    return CpuPlan(steps, -(-width // useful), useful, columns, halo, band_rows, block_rows)


@pytest.mark.sample(3)
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("rule", [LIFE, HIGH_LIFE], ids=["B3S23", "B36S23"])
def test_rows_and_steps(backend: CpuTarget, rule: tuple[int, int], torus: bool) -> None:
    """Blocks shorter and longer than bands, bands shorter and longer than steps."""
    size, generations = (200, 23), 42
    expected = history(size, rule, torus, (generations,))[0]
    for steps, block_rows, band_rows in product((1, 2, 7, 20), (1, 2, 3, 6, 60), (1, 5, 22, 23)):
        plan = with_halo(
            200, backend.vector_bits, steps, 128, band_rows=band_rows, block_rows=block_rows
        )
        universe = planned(backend, size, plan, torus, rule)
        assert universe.stride == steps
        universe.step(generations)
        assert_holds(universe, expected, plan)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 9, 16, 24, 32])
@pytest.mark.parametrize("level", LEVELS)
def test_strips_of_any_width(level: str, columns: int) -> None:
    """Rows go to strips and back in ways of their own where strips are 2, 4, 8, 16 or 32 bits."""
    backend = CpuTarget(1, level)
    width, height = columns * backend.vector_bits, 11
    source = np.random.default_rng(columns).integers(0, 1 << 64, (height, width // 64), np.uint64)
    arena = CpuArena(backend, [LifeShape(width, height, True)], 1, LifeRule(*LIFE))
    expected, made = source, np.zeros_like(source)
    for _ in range(3):
        before, expected = expected, np.zeros_like(source)
        assert arena.make_pass(before, expected, width, True, direct(width))
    plan = CpuPlan(3, 1, width, columns, 0, height, 6)
    assert arena.make_pass(source, made, width, True, plan)
    assert np.array_equal(made, expected)


@given(st.data())
@settings(deadline=None, max_examples=examples(40))
def test_rows_at_the_edge_are_only_read(data: st.DataObject) -> None:
    """A pass that leaves out rows at both ends makes the others as it does without."""
    level = data.draw(st.sampled_from(LEVELS))
    backend = CpuTarget(data.draw(st.sampled_from([1, 2])), level)
    width, height = data.draw(st.sampled_from([70, 200, 700])), data.draw(st.integers(1, 40))
    torus, steps = data.draw(st.booleans()), data.draw(st.sampled_from([1, 2, 5]))
    edge = data.draw(st.integers(0, (height - 1) // 2))
    plan = direct(width, 7)
    if steps > 1:
        plan = with_halo(width, backend.vector_bits, steps, 128, band_rows=9, block_rows=6)
    source = pack(soup(width, height))
    arena = CpuArena(backend, [LifeShape(width, height, torus)], 1, LifeRule(*LIFE))
    whole, inner = np.zeros_like(source), np.full_like(source, 77)
    assert arena.make_pass(source, whole, width, torus, plan)
    assert arena.make_pass(source, inner, width, torus, plan, edge=edge)
    assert np.array_equal(inner[edge : height - edge], whole[edge : height - edge])
    assert (inner[:edge] == 77).all()
    assert (inner[height - edge :] == 77).all()


@pytest.mark.sample(5)
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize(
    "size", [(1, 9), (5, 1), (64, 3), (200, 23), (1021, 7), (2048, 4)], ids=str
)
def test_panels_and_columns(backend: CpuTarget, size: Size, torus: bool) -> None:
    """Panels narrower than their halo, halos wider than the universe, spare columns."""
    expected = history(size, HIGH_LIFE, torus, (34,))[0]
    tried = 0
    for steps, useful, more_halo, more_columns in product(
        (1, 17, 34), (64, 128, 1024), (0, 1, 30), (0, 1, 31)
    ):
        plan = with_halo(
            size[0],
            backend.vector_bits,
            steps,
            useful,
            more_halo=more_halo,
            more_columns=more_columns,
            band_rows=5,
        )
        plan = plan._replace(columns=min(plan.columns, MAX_COLUMNS))
        if fits(plan, size[0], torus, backend.vector_bits):
            tried += 1
            universe = planned(backend, size, plan, torus, HIGH_LIFE)
            universe.step(34)
            assert_holds(universe, expected, plan)
    assert tried >= 27


@pytest.mark.sample(19)
@pytest.mark.parametrize("columns", [1, 2, 3, 31, 32])
def test_a_panel_that_is_the_torus(backend: CpuTarget, columns: int) -> None:
    """It has no halo, so that steps may outnumber its columns."""
    width = columns * backend.vector_bits
    expected = history((width, 4), HIGH_LIFE, True, (150,))[0]
    for steps, block_rows, band_rows in ((1, 1, 4), (3, 2, 1), (50, 6, 3), (150, 60, 4)):
        plan = CpuPlan(steps, 1, width, columns, 0, band_rows, block_rows)
        universe = planned(backend, (width, 4), plan, True, HIGH_LIFE)
        universe.step(150)
        assert_holds(universe, expected, plan)


@settings(max_examples=examples(150), deadline=None)
@given(st.data(), st.sampled_from(LEVELS), st.integers(1, 3))
def test_any_plan(data: st.DataObject, level: str, threads: int) -> None:
    backend = CpuTarget(threads, level)
    torus = data.draw(st.booleans(), "torus")
    width, height = data.draw(st.integers(1, 700), "width"), data.draw(st.integers(1, 40), "height")
    steps, more_halo = data.draw(st.integers(1, 40), "steps"), data.draw(st.integers(0, 9), "more")
    widest = (MAX_COLUMNS * backend.vector_bits - 2 * (steps + more_halo)) // 64
    useful = 64 * data.draw(st.integers(1, min(widest, -(-width // 64))), "useful")
    plan = with_halo(
        width,
        backend.vector_bits,
        steps,
        useful,
        more_halo=more_halo,
        band_rows=data.draw(st.integers(1, height + 2), "band_rows"),
        block_rows=data.draw(st.integers(1, 70), "block_rows"),
    )
    more = data.draw(st.integers(0, MAX_COLUMNS - plan.columns), "more columns")
    plan = plan._replace(columns=plan.columns + more)
    assert fits(plan, width, torus, backend.vector_bits)
    birth, survival = data.draw(st.sampled_from([LIFE, HIGH_LIFE, (511, 0), (1, 256)]), "rule")
    passes, rest = data.draw(st.integers(1, 3), "passes"), data.draw(st.integers(0, steps - 1))
    universe = planned(backend, (width, height), plan, torus, (birth, survival))
    universe.step(passes * steps + rest)
    cells = ref.run(soup(width, height), birth, survival, torus, passes * steps + rest)
    assert_holds(universe, pack(cells), plan)


@settings(max_examples=examples(300), deadline=None)
@given(st.data(), st.sampled_from(LEVELS), st.integers(1, 3))
def test_any_rows_of_single_generations(data: st.DataObject, level: str, threads: int) -> None:
    """Rows are right that hold no more words than a vector, some vectors, and parts of words."""
    torus = data.draw(st.booleans(), "torus")
    width = data.draw(
        st.one_of(
            st.integers(1, 200), st.integers(1, 1700), st.integers(1, 26).map(lambda n: 64 * n)
        )
    )
    height = data.draw(st.integers(1, 14), "height")
    plan = direct(width, data.draw(st.integers(1, height + 2), "band_rows"))
    known = st.sampled_from([LIFE, HIGH_LIFE, (511, 0), (1, 256)])
    rule = data.draw(st.one_of(known, st.tuples(st.integers(0, 511), st.integers(0, 511))), "rule")
    generations = data.draw(st.integers(1, 3), "generations")
    universe = planned(CpuTarget(threads, level), (width, height), plan, torus, rule)
    universe.step(generations)
    cells = ref.run(soup(width, height), *rule, torus, generations)
    assert_holds(universe, pack(cells), plan)


@pytest.mark.sample(2)
@pytest.mark.parametrize("width", [16384, 16384 - 64, 16384 - 7])
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
def test_single_generations_of_what_no_cache_holds(width: int, torus: bool) -> None:
    """Rows that are written past the caches, where they are whole lines, are as another plan's."""
    height, generations = 16500, 2
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, (height, -(-width // 64)), np.uint64)
    words[:, -1] &= np.uint64(2 ** (width % 64 or 64) - 1)
    found = []
    for plan in (direct(width, 5000), with_halo(width, 128, 2, 1024)):
        backend = CpuTarget(2, LEVELS[-1 if plan.columns == 0 else 0])
        arena = CpuArena(backend, [LifeShape(width, height, torus)], 1, LifeRule(*LIFE), plan)
        universe = arena.open(0, LifeShape(width, height, torus))
        universe.put(0, words)
        universe.step(generations)
        found.append(universe.words())
    assert (found[0] == found[1]).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
def test_all_levels_threads_and_plans_agree(torus: bool) -> None:
    """Levels, threads and plans agree on several panels and bands, too many for the definition."""
    size, found = (20_000, 300), None
    for level, threads in product(LEVELS, (1, 2, 3)):
        backend = CpuTarget(threads, level)
        bits = backend.vector_bits
        for plan in (
            None,
            with_halo(20_000, bits, 48, 1024, band_rows=101, block_rows=9),
            with_halo(20_000, bits, 6, 25 * 64, band_rows=33, block_rows=60),
        ):
            universe = planned(backend, size, plan, torus)
            universe.step(96)
            found = universe.words() if found is None else found
            assert_holds(universe, found, (level, threads, plan))


def test_a_plan_serves_whole_passes_only() -> None:
    """A plan makes whole passes; what is left of a number of generations is the chooser's."""
    backend = CpuTarget(1)
    plan = with_halo(65, backend.vector_bits, 9, 128)
    universe = planned(backend, (65, 33), plan)
    assert universe.plan(9) is plan
    assert universe.plan(8).steps <= 8
    universe.step(26)
    assert universe.generation == 26
    assert_holds(universe, pack(ref.run(soup(65, 33), *LIFE, True, 26)))


@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
def test_chains_of_a_plan(backend: CpuTarget, torus: bool) -> None:
    """Passes of any length, blocks of any height, over bands and panels of any size."""
    for steps, t, useful in ((1, 4, 64), (6, 6, 128), (6, 17, 64), (13, 39, 192)):
        plan = with_halo(200, backend.vector_bits, steps, useful, band_rows=7, block_rows=6)
        shape = ChainShape(200, t, torus, 30)
        shapes = [LifeShape(200, 2 * t + 60, torus), LifeShape(200, 60, torus)]
        for way in [plan] + [direct(200, 7)] * (steps == 1):
            arena = CpuArena(backend, shapes, 2, LifeRule(*HIGH_LIFE), way, shape)
            assert arena.chain
            assert arena.chain.longest <= steps
            check_chain(backend, shape, (3, 20, 0), rule=HIGH_LIFE, arena=arena)


GOOD = {
    "width": 100,
    "torus": True,
    "birth": 8,
    "survival": 12,
    "steps": 4,
    "panels": 2,
    "useful": 64,
    "columns": 1,
    "halo": 4,
    "band_rows": 3,
    "block_rows": 6,
    "threads": 1,
}
BAD = [
    {"width": 0},
    {"width": 64},  # two panels, of which one is empty
    {"width": 129},
    {"birth": 512},
    {"survival": 512},
    {"steps": 0},
    {"steps": 5},  # more than the halo
    {"panels": 0},
    {"panels": 1},
    {"panels": 3},
    {"useful": 0},
    {"useful": 50},
    {"columns": 0},
    {"columns": 0, "steps": 1, "halo": 0},  # two panels of whole rows
    {"columns": 0, "panels": 1, "useful": 128, "halo": 0},  # four generations at once
    {"columns": 0, "panels": 1, "useful": 128, "steps": 1},  # no halo is needed
    {"columns": -1},
    {"columns": 33},
    {"halo": 3},
    {"halo": -1},
    {"halo": 0},  # not a whole torus
    {"halo": 33},  # 64 useful columns and two of these are more than 128
    {"band_rows": 0},
    {"block_rows": 0},
    {"threads": 0},
]


@pytest.mark.parametrize("change", BAD, ids=str)
def test_extension_refuses_plans_that_would_read_outside(change: dict[str, int]) -> None:
    words = pack(soup(100, 7))
    level = LEVELS[0]  # its vectors have 128 bits, on any machine
    assert CpuTarget(1, level).vector_bits == 128
    extension.life_pass(level, words, np.empty_like(words), **GOOD)
    straight = {"columns": 0, "panels": 1, "useful": 128, "steps": 1, "halo": 0}
    extension.life_pass(level, words, np.empty_like(words), **{**GOOD, **straight})
    with pytest.raises(ValueError, match="contradict"):
        extension.life_pass(level, words, np.empty_like(words), **{**GOOD, **change})


def test_extension_refuses_arrays_that_do_not_fit() -> None:
    words = pack(soup(100, 7))
    for source, target in (
        (words, words),
        (words, np.empty((6, 2), np.uint64)),
        (words, np.empty((7, 3), np.uint64)),
        (words[:, :1].copy(), np.empty((7, 1), np.uint64)),
    ):
        with pytest.raises(ValueError, match="contradict"):
            extension.life_pass(LEVELS[0], source, target, **GOOD)
    with pytest.raises(TypeError):
        extension.life_pass(LEVELS[0], words, np.empty((7, 2), np.int64), **GOOD)
    with pytest.raises(ValueError, match="no level v99"):
        extension.life_pass("v99", words, np.empty_like(words), **GOOD)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pass_can_be_interrupted(threads: int) -> None:
    """It stops before its end; the universe stays where it was, and can go on."""
    backend, size = CpuTarget(threads, LEVELS[0]), (2048, 5000)
    # Most of what this plan computes is halo, in short blocks: a pass takes long.
    plan = with_halo(2048, backend.vector_bits, 127, 64, block_rows=2)
    universe = planned(backend, size, plan, rule=HIGH_LIFE)
    target = np.zeros_like(pack(soup(*size)))
    universe._arena.memory[-1] = target.reshape(-1)
    with interrupted_after(0.02), pytest.raises(KeyboardInterrupt):
        universe.step(127)
    assert not target[:, -1].any(), "the last panel was computed all the same"
    assert universe.generation == 0
    assert_holds(universe, pack(soup(*size)))
    universe.step(127)
    witness = planned(CpuTarget(1), size, None, rule=HIGH_LIFE)
    witness.step(127)
    assert_holds(universe, witness.words())


@pytest.mark.parametrize("threads", [1, 3])
def test_a_pass_can_be_broken_off(threads: int) -> None:
    """The universe stays at the generation before, and can go on."""
    backend, size = CpuTarget(threads, LEVELS[0]), (2048, 5000)
    plan = with_halo(2048, backend.vector_bits, 127, 64, block_rows=2)  # takes long
    universe = planned(backend, size, plan, rule=HIGH_LIFE)
    target = np.zeros_like(pack(soup(*size)))
    universe._arena.memory[-1] = target.reshape(-1)
    asked = []

    def at_the_second_look() -> bool:
        asked.append(threading.get_ident())
        return len(asked) > 1

    universe.step_until(at_the_second_look, 127)
    assert asked == [threading.get_ident()] * 2
    assert not target[:, -1].any(), "the last panel was computed all the same"

    def fault() -> bool:
        raise KeyError("of who asks")

    with pytest.raises(KeyError, match="of who asks"):
        universe.step_until(fault, 127)
    assert universe.generation == 0
    assert_holds(universe, pack(soup(*size)))
    universe.step_until(lambda: False, 127)
    assert universe.generation == 127
    witness = planned(CpuTarget(1), size, None, rule=HIGH_LIFE)
    witness.step(127)
    assert_holds(universe, witness.words())


# --- plans chosen --------------------------------------------------------------

WIDTHS = st.one_of(
    st.integers(1, 200),
    st.integers(1, 10**6),
    st.sampled_from([1, 64, 128, 512, 4096, 8192, 16384, 16385, 10**6]),
    st.builds(lambda n, bits: n * bits, st.integers(1, 40), st.sampled_from([128, 256, 512])),
)


@settings(deadline=None)
@given(
    width=WIDTHS,
    height=st.one_of(st.integers(1, 100), st.integers(1, 10**6)),
    torus=st.booleans(),
    generations=st.one_of(st.integers(1, 200), st.just(1 << 30)),
    vector_bits=st.sampled_from([128, 256, 512]),
    cache_bytes=st.sampled_from([1 << 15, 1 << 18, 1 << 19, 1 << 20, 1 << 21]),
    threads=st.one_of(st.integers(1, 9), st.integers(1, 256)),
)
def test_choice(
    width: int,
    height: int,
    torus: bool,
    generations: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> None:
    shape, machine = LifeShape(width, height, torus), Machine(vector_bits, cache_bytes, threads)
    plan = choose_cpu(shape, generations, machine)
    assert fits(plan, width, torus, vector_bits)
    assert plan.steps <= generations
    assert plan.band_rows <= height
    # What is in flight fits the cache, or is as little as can be.
    row_bytes = plan.columns * vector_bits // 8
    assert 2 * plan.steps * row_bytes <= cache_bytes or plan.steps <= 8
    assert 2 * plan.block_rows * row_bytes <= cache_bytes or plan.block_rows == 6
    # Blocks of three rows at a time have no rest (strips.hpp).
    assert plan.block_rows % 3 == 0


@settings(deadline=None)
@given(
    width=WIDTHS,
    height=st.one_of(st.integers(2, 100), st.integers(2, 10**6)),
    torus=st.booleans(),
    generations=st.one_of(st.integers(1, 200), st.just(1 << 30)),
    vector_bits=st.sampled_from([128, 256, 512]),
    cache_bytes=st.sampled_from([1 << 15, 1 << 18, 1 << 21]),
    threads=st.one_of(st.integers(1, 9), st.integers(1, 256)),
)
def test_choice_for_a_chain(
    width: int,
    height: int,
    torus: bool,
    generations: int,
    vector_bits: int,
    cache_bytes: int,
    threads: int,
) -> None:
    """Passes that a follower is high enough for; then those of any steps that they may have."""
    shape, machine = LifeShape(width, height, torus), Machine(vector_bits, cache_bytes, threads)
    plan = choose_cpu(shape, generations, machine, chained=True)
    assert fits(plan, width, torus, vector_bits)
    assert plan.steps <= generations
    assert 2 * plan.steps <= height
    for steps in {1, plan.steps // 2 + 1, plan.steps, 128}:
        plan = cpu_plan(shape, steps, machine)
        assert plan.steps == steps
        assert fits(plan, width, torus, vector_bits)
        assert plan.band_rows <= height


def test_choice_makes_sense() -> None:
    """Long passes, no halo where none is needed, and work for all threads."""
    plan = choose_cpu(LifeShape(16384, 16384, True), 1 << 30, Machine(512, 1 << 21, 1))
    assert (plan.panels, plan.halo, plan.columns) == (1, 0, 32)
    assert plan.steps >= 16
    for threads in (2, 7, 32):
        plan = choose_cpu(LifeShape(10_000, 10_000, False), 1 << 30, Machine(512, 1 << 21, threads))
        tasks = plan.panels * -(-10_000 // plan.band_rows)
        assert tasks >= threads
        assert plan.steps >= 8


@pytest.mark.parametrize("torus", [True, False], ids=["torus", "plane"])
@pytest.mark.parametrize("width", [8192, 10_000, 16384, 16385, 32768, 65536, 131072, 262144])
def test_few_generations_are_made_of_whole_words(width: int, torus: bool) -> None:
    """Few generations take as few panels as there can be, of strips that are words; long passes
    spare columns. The fewest generations are made straight on the rows."""
    shape = LifeShape(width, width, torus)
    for vector_bits, most in ((128, 2), (256, 3), (512, 8)):
        for generations in range(1, most + 1):
            plan = choose_cpu(shape, generations, Machine(vector_bits, 1 << 21, 2))
            assert fits(plan, width, torus, vector_bits)
            if plan.columns == 0:
                assert plan == direct(width, plan.band_rows)
                continue
            assert generations > 1
            assert (plan.steps, plan.columns) == (generations, MAX_COLUMNS)
            widest = (MAX_COLUMNS * vector_bits - 2 * plan.halo) // 64 * 64
            assert plan.panels == -(-width // widest)
    # 16384 columns are one panel of a torus, and 32768 just do not fit two.
    plan = choose_cpu(LifeShape(32768, 32768, torus), 1 << 30, Machine(512, 1 << 21, 2))
    assert plan.panels == 3
    assert plan.columns == -(-(plan.useful + 2 * plan.steps) // 512) < MAX_COLUMNS


# --- the backend ---------------------------------------------------------------


def test_describes_itself() -> None:
    for level in LEVELS:
        backend = CpuTarget(3, level)
        assert backend.describe() == f"CPU level {level} ({backend.vector_bits} bits), 3 threads"


def test_takes_the_best_level_and_all_cores() -> None:
    backend = CpuTarget()
    assert backend.level == LEVELS[-1]
    assert backend.threads == cpu.core_count() >= 1
    assert 2**14 <= cpu.level2_bytes() < 2**30
    assert cpu.compiler()


def test_unknown_level() -> None:
    with pytest.raises(BackendUnavailableError, match="no CPU level v9"):
        CpuTarget(level="v9")


def test_without_the_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_cpu", None)
    assert cpu.levels() == []
    assert cpu.compiler() == ""
    with pytest.raises(BackendUnavailableError, match=r"install a C\+\+17 compiler"):
        CpuTarget()


def test_on_an_old_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "levels", list)
    with pytest.raises(
        BackendUnavailableError, match=r"compiled for a CPU that can do more .* reinstall"
    ):
        CpuTarget()
