"""A streamed run is the run in memory, cell for cell, however it is cut up."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.contract import Words
from kernels.life.cpu.engine import CpuArena, CpuLife
from kernels.targets.choose import pick
from kernels.targets.cpu import CpuTarget
from lifesim import Life
from lifesim.rule import Rule
from lifesim.stream.phase import PhaseShape
from lifesim.stream.plan import BudgetError
from lifesim.stream.run import StreamedLife
from tests.kernels.life.test_cuda import EmulatedBackend
from tests.lifesim.stream.streamed import (
    CPU,
    PLENTY,
    StreamCase,
    assert_same,
    cases,
    check,
    check_shape,
    least_memory,
    planned,
    reference,
    settled,
)
from tests.quick import examples
from tests.universes import on_disk

pytestmark = pytest.mark.usefixtures("no_syncs")


# --- any case ------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(cases(most=80), st.booleans(), st.booleans())
def test_streamed_is_in_memory(case: StreamCase, least: bool, reopen: bool) -> None:
    check(case, least=least, reopen=reopen)


@settings(max_examples=examples(10))
@given(cases(), st.integers(2, 3))
def test_several_lanes(case: StreamCase, lanes: int) -> None:
    check(case, [CpuTarget(threads=1) for _ in range(lanes)])


@settings(max_examples=examples(10))
@given(cases(most=40))
def test_the_reference_backend(case: StreamCase) -> None:
    check(case, [pick("reference")], least=True)


@settings(max_examples=examples(20))
@given(cases(), st.floats(1, 40))
def test_memory_of_any_size(case: StreamCase, times: float) -> None:
    """The memory goes from what one tile needs upwards."""
    steps = max(1, case.steps[0])
    with on_disk(
        case.grid,
        case.tiles,
        torus=case.torus,
        rule=Rule.parse(case.rule),
        compression=case.compression,
        pyramid=case.pyramid,
    ) as universe:
        if least := least_memory(universe, [CPU], case.generations, steps):
            memory = int(least * times)
            StreamedLife(universe, [CPU], memory=memory, generations=case.generations).run(steps)
        expected = reference(case)
        expected.run(steps)
        assert_same(universe, expected)


def test_rows_go_straight_from_disk_to_windows_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of whole pages are copied nowhere; those of a halo, parts of chunks, are put."""
    put = []
    really = CpuLife.put

    def count(life: CpuLife, y: int, words: Words) -> None:
        put.append(len(words))
        really(life, y, words)

    case = StreamCase(1 << 15, 64, (1, 8))
    expected = reference(case)
    expected.run(6)
    with on_disk(case.grid, case.tiles) as universe:
        with monkeypatch.context() as patch:
            patch.setattr("lifesim.stream.plan.choose", planned(PhaseShape(1, 2, 2), 3))
            patch.setattr(CpuLife, "put", count)
            patch.setattr(CpuLife, "get", lambda life, y, words: pytest.fail("rows are copied"))
            StreamedLife(universe, [CPU], memory=PLENTY).run(6)
        assert_same(universe, expected)
    assert put
    assert set(put) == {3}


# --- any shape of a phase ------------------------------------------------------------


def shapes(case: StreamCase, slots: int, chained: bool) -> st.SearchStrategy[PhaseShape]:
    across, down = (st.integers(1, count) for count in case.tiles)
    return st.builds(PhaseShape, across, down, st.just(slots), st.just(chained), st.integers(0, 1))


@settings(max_examples=examples(25))
@given(st.data(), cases(), st.integers(1, 3), st.booleans(), st.integers(1, 2))
def test_any_shape(
    data: st.DataObject, case: StreamCase, slots: int, chained: bool, lanes: int
) -> None:
    """The shapes include those that nobody would choose."""
    backends = [CPU] if lanes == 1 else [CpuTarget(threads=1) for _ in range(lanes)]
    check_shape(case, data.draw(shapes(case, slots, chained)), backends)


@pytest.mark.sample(3)
@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize("tiles", [(1, 12), (3, 4), (1, 2)])
@pytest.mark.parametrize(("generations", "slots"), [(1, 3), (7, 1), (33, 2), (70, 3)])
def test_chains(
    tiles: tuple[int, int],
    slots: int,
    generations: int,
    torus: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks follow each other, in full rows and in columns of blocks."""
    opened = []
    real = CpuArena.open_chained

    def open_chained(arena: CpuArena, slot: int, height: int, *, first: bool) -> object:
        opened.append(first)
        return real(arena, slot, height, first=first)

    monkeypatch.setattr(CpuArena, "open_chained", open_chained)
    # Tall enough for a first block that is no whole torus.
    case = StreamCase(
        300, 1200, tiles, torus, generations=generations, steps=(2 * generations + 1,)
    )
    check_shape(case, PhaseShape(1, 1, slots, chained=True))
    if tiles[1] > 2 and generations < 70:
        assert opened.count(True) >= tiles[0]
        assert opened.count(False) > opened.count(True)


def test_chains_of_links_and_lanes() -> None:
    """Tiles that are linked break chains, and so does an end."""
    grid = settled(256, 256, pulsar=True)
    shape = PhaseShape(1, 1, 2, chained=True)
    for lanes in (1, 2):
        backends = [CpuTarget(threads=1) for _ in range(lanes)]
        with pytest.MonkeyPatch.context() as patch, on_disk(grid, (2, 8)) as universe:
            patch.setattr("lifesim.stream.plan.choose", planned(shape, 2))
            life = StreamedLife(universe, backends, memory=PLENTY)
            expected = Life(grid, backend=CPU)
            for _ in range(5):
                life.run(4)
                expected.run(4)
                assert_same(universe, expected)
            assert any(tally.linked for _, tally in life.tallies)


# --- an emulated device --------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    [
        StreamCase(65, 20, (2, 3), generations=5, steps=(12,)),
        StreamCase(200, 30, (3, 2), torus=False, generations=9, steps=(20,), compression="zstd"),
        StreamCase(130, 40, (1, 4), steps=(70,), pyramid=True),
    ],
    ids=lambda case: f"{case.width}x{case.height}",
)
def test_emulated_device(case: StreamCase) -> None:
    lives = check(case, [EmulatedBackend()])
    assert lives[0].tallies[0][0].shape.slots > 1 or case.generations is None


def test_emulated_devices() -> None:
    """There are two lanes, each with memory of its own."""
    check(
        StreamCase(200, 40, (3, 4), generations=5, steps=(10,)),
        [EmulatedBackend(), EmulatedBackend()],
    )


class SmallDevice(EmulatedBackend):
    """A device with little memory free. (The emulation makes it no less to be had.)"""

    def __init__(self, free: int) -> None:
        self.free = free

    def free_device_memory(self) -> int:
        return self.free


def test_emulated_device_of_little_memory() -> None:
    """The run is refused where one tile does not fit; in windows of one where just that does."""
    case = StreamCase(256, 64, (4, 4), generations=4, steps=(8,))
    with on_disk(case.grid, case.tiles) as universe:
        life = StreamedLife(universe, [SmallDevice(100)], memory=PLENTY, generations=4)
        with pytest.raises(BudgetError, match=r"needs .+ of device memory, 9. bytes may") as no:
            life.run(8)
        assert no.value.on_device
        need = math.ceil(no.value.needed / 0.9)
        life = StreamedLife(universe, [SmallDevice(need)], memory=PLENTY, generations=4)
        life.run(8)
        expected = reference(case)
        expected.run(8)
        assert_same(universe, expected)


# --- cases of their own --------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("torus", [True, False])
@pytest.mark.parametrize(
    "case",
    [
        StreamCase(1, 1, (1, 1), steps=(3,)),
        StreamCase(64, 1, (1, 1), generations=5, steps=(12,)),
        StreamCase(65, 32, (2, 32), generations=3, steps=(7,)),
        StreamCase(130, 3, (3, 3), generations=2000, steps=(5000,)),
        StreamCase(321, 37, (1, 37), generations=64, steps=(70,), pyramid=True),
        StreamCase(321, 77, (6, 1), generations=65, steps=(130,), pyramid=True),
        StreamCase(
            1000, 600, (4, 6), generations=33, steps=(100,), compression="zstd", pyramid=True
        ),
        pytest.param(
            StreamCase(1000, 600, (3, 2), generations=1000, steps=(1001,)), marks=pytest.mark.slow
        ),
        StreamCase(1000, 600, (3, 2), steps=(3000,), rule="B36/S23"),
        StreamCase(700, 90, (11, 5), generations=1, steps=(3,), rule="B0/S8"),
        StreamCase(512, 512, (8, 8), generations=10, steps=(20,), rule="B0123478/S34678"),
    ],
    ids=lambda case: f"{case.width}x{case.height}-{case.tiles[0]}x{case.tiles[1]}",
)
def test_cases(case: StreamCase, torus: bool) -> None:
    case = replace(case, torus=torus)
    check(case)
    check(case, least=True, reopen=True)


def test_many_tiles() -> None:
    """Each tile has one word and one row, so that windows go over many of them."""
    check(StreamCase(24 * 64, 24, (24, 24), generations=70, steps=(71,)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "torus", "compression", "generations"),
    [(64, True, "none", 1000), (32, False, "zstd", 65)],
)
def test_thousands_of_tiles(side: int, torus: bool, compression: str, generations: int) -> None:
    case = StreamCase(side * 64 - 3, 700, (side, side), torus, generations=generations)
    case = replace(case, steps=(generations + 1,), compression=compression, pyramid=True)
    check(case, least=generations < 100)


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(st.data(), cases(most=500), st.integers(1, 3), st.booleans(), st.integers(1, 2))
def test_any_shape_for_long(
    data: st.DataObject, case: StreamCase, slots: int, chained: bool, lanes: int
) -> None:
    backends = [CpuTarget(threads=1) for _ in range(lanes)]
    check_shape(case, data.draw(shapes(case, slots, chained)), backends, reopen=True)


@pytest.mark.slow
@settings(max_examples=examples(20))
@given(cases(most=1000), st.booleans(), st.booleans(), st.integers(1, 2))
def test_streamed_is_in_memory_for_long(
    real_disk: Path, case: StreamCase, least: bool, reopen: bool, lanes: int
) -> None:
    backends = [CPU] if lanes == 1 else [CpuTarget(threads=1) for _ in range(lanes)]
    check(case, backends, least=least, reopen=reopen, folder=real_disk)


def test_chunks_of_rows() -> None:
    """Tiles have several chunks, from a universe whose rows are wide."""
    case = StreamCase(1 << 19, 500, (2, 2), generations=40, steps=(80,), pyramid=True)
    assert case.grid.words.nbytes > 4 * (4 << 20)
    check(case, memory=64 << 20)
