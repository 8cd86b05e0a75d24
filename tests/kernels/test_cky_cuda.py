"""CKY parsing on a CUDA device, emulated and real: the contract, for each way to compute charts."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.cky import Batch, Rules, cells, engine_for
from kernels.cky.cuda import engine as cuda
from kernels.cky.cuda.columns import Columns
from kernels.cky.cuda.dense import DenseColumns
from kernels.cky.cuda.device_batch import PinnedPool, narrow, token_dtype
from kernels.cky.cuda.direct import DirectColumns
from kernels.cky.cuda.engine import CudaCky, kind
from kernels.cky.cuda.plan import (
    PART,
    SHARED,
    SIMILAR,
    SparseParams,
    choose,
    launches,
    sparse_cost,
    table,
    threads_for,
)
from kernels.cky.cuda.scatter import ScatterColumns
from kernels.cky.cuda.sparse import SparseColumns
from kernels.cky.ref import ReferenceCky
from kernels.targets.choose import pick
from kernels.targets.cuda.device import Device
from kernels.targets.reference import ReferenceTarget
from tests.cky_contract import CkyContract, Make, random_rules, random_strings
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc

SOURCE = Path(cuda.__file__).parent
Maker = Callable[[Device, Rules], Columns]
BRACKETS = Rules.make(4, 2, [(0, 0, 0), (0, 1, 3), (3, 0, 2), (0, 1, 2)], [(1, 0), (2, 1)])


@cache
def device(name: str) -> Device:
    if name == "cuda":
        from kernels.targets.cuda.target import CudaDevice

        return CudaDevice()
    return cast(Device, EmulatedDevice(order=name))


def of_few_threads(device: Device, rules: Rules) -> Columns:
    return SparseColumns(device, rules, threads=128)


def of_little_room(device: Device, rules: Rules) -> Columns:
    """Many chunks, one word to a group, cells in global memory."""
    return SparseColumns(device, rules, SparseParams(1, PART, False), 64)


def of_some_lanes(device: Device, rules: Rules) -> Columns:
    return SparseColumns(device, rules, SparseParams(4, PART, True), 96)


class Contract(CkyContract):
    examples = 5
    length = 6
    counts = (1, 31, 33, 1100)
    symbols = (1, 2, 9, 17)
    lengths = (1, 2, 8, 9)
    columns: ClassVar[Maker]

    @pytest.fixture(params=["shuffled:1", pytest.param("cuda", marks=pytest.mark.gpu)])
    def make(self, request: pytest.FixtureRequest) -> Make:
        on = device(request.param)
        return lambda rules, memory=None: CudaCky(on, rules, memory, type(self).columns(on, rules))


class TestSparse(Contract):
    columns = staticmethod(of_few_threads)


class TestSparseOfLittleRoom(Contract):
    columns = staticmethod(of_little_room)


class TestSparseOfSomeLanes(Contract):
    columns = staticmethod(of_some_lanes)


class TestDense(Contract):
    examples = 2
    symbols = (1, 9, 17)
    columns = staticmethod(DenseColumns)


class TestScatter(Contract):
    examples = 2
    symbols = (9,)
    columns = staticmethod(ScatterColumns)


class TestDirect(Contract):
    columns = staticmethod(DirectColumns)


# --- the sparse tables -----------------------------------------------------------


@given(st.integers(1, 60), st.integers(0, 300), st.integers(0, 99), st.integers(0, 40))
def test_table_has_every_rule_once(symbols: int, rules: int, seed: int, extra: int) -> None:
    rng = np.random.default_rng(seed)
    binary = rng.integers(0, symbols, (rules, 3), np.int32)
    found = table(binary, PART + extra)
    assert sorted(np.column_stack([found.left, found.right]).tolist()) == sorted(binary.tolist())
    sizes = np.diff(found.part_first)
    assert found.part_first[0] == 0
    assert found.part_first[-1] == rules
    assert ((sizes > 0) & (sizes <= PART)).all()
    assert np.repeat(found.part, sizes).tolist() == found.right.tolist()
    ends = found.part_first[found.chunk]
    assert (ends[0], ends[-1]) == (0, rules)
    assert (np.diff(ends) <= PART + extra).all()


@given(st.integers(1, 1 << 20), st.integers(0, 1 << 20))
def test_choice_fits_a_block(symbols: int, rules: int) -> None:
    params = choose(symbols, rules)
    assert params.lanes in (1, 2, 4, 8, 16, 32)
    assert params.room >= PART
    assert params.shared(symbols) <= SHARED


@pytest.mark.parametrize("place", ["forward", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_rows_beyond_a_word_of_the_mask(place: str) -> None:
    """S → X S needs every row of the last column, the lowest first."""
    rules = Rules.make(2, 1, [(0, 1, 0)], [(0, 0), (1, 0)])
    batch = Batch.of([[0] * n for n in (31, 32, 33, 63, 64, 65, 70)])
    for columns in (of_little_room, of_some_lanes):
        engine = CudaCky(device(place), rules, None, columns(device(place), rules))
        assert engine.longest(batch, 0).tolist() == batch.lengths.tolist()
        assert engine.longest(batch, 1).tolist() == [1] * len(batch)


# --- how a batch is cut up -------------------------------------------------------


@given(
    st.lists(st.integers(1, 60), max_size=50).map(sorted),
    st.integers(1, 2000),
    st.integers(1, 9),
)
def test_launches_cover_all_groups(longest: list[int], room: int, wave: int) -> None:
    found = launches(np.array(longest, np.int64), 2, room, wave)
    assert [g for x in reversed(found) for g in range(x.first, x.first + x.groups)] == list(
        range(len(longest))
    )
    for x in found:
        assert x.length == longest[x.first + x.groups - 1]
        assert x.groups == 1 or x.groups * cells(x.length) * 2 <= room
        similar = longest[x.first] >= SIMILAR * x.length
        assert similar or x.groups <= wave


@given(st.integers(1, 1 << 25), st.integers(1, 1 << 25), st.integers(1, 200))
def test_blocks_have_whole_warps(work: int, groups: int, multiprocessors: int) -> None:
    threads = threads_for(work, groups, multiprocessors)
    assert threads in (128, 256, 512, 1024)
    assert threads_for(work, groups + 1, multiprocessors) <= threads
    assert threads_for(work, 1, multiprocessors) >= min(1024, work // 8)


def test_model_chooses_by_the_grammar() -> None:
    rng = np.random.default_rng(1)

    def grammar(symbols: int, rules: int) -> Rules:
        binary = rng.integers(0, symbols, (rules, 3))
        return Rules.make(symbols, symbols, binary, [(a, a) for a in range(symbols)])

    assert sparse_cost(BRACKETS, 40) > sparse_cost(BRACKETS, 20)
    for rules in (grammar(32, 8192), grammar(128, 131_072)):
        assert kind(rules, (9, 0)) is DenseColumns
    for rules in (grammar(128, 16_384), grammar(512, 131_072)):
        assert kind(rules, (9, 0)) is ScatterColumns
    for rules in (grammar(64, 256), grammar(512, 8192), grammar(1500, 6000), BRACKETS):
        assert kind(rules, (9, 0)) is SparseColumns


# --- streams of parts ------------------------------------------------------------


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several parts of few tokens each, and so several threads."""
    monkeypatch.setattr(cuda, "TOKENS", 50)


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("place", ["forward", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_parts_overlap_and_come_in_order(place: str) -> None:
    draw = random.Random(6)
    rules = random_rules(draw, 5, 2, 12, 2, 5)
    strings = [[0] * 60, *random_strings(draw, rules, 150, 9)]
    draw.shuffle(strings)
    batch = Batch.of(strings)
    reference, done = ReferenceCky(rules).longest(batch, 0), list[int]()
    # With memory for one chart of the longest, a single thread; then several.
    little = cells(60) * 4 * rules.symbols * 4
    for memory in (little, 3 * little):
        engine = CudaCky(device(place), rules, memory, of_some_lanes(device(place), rules))
        np.testing.assert_array_equal(engine.longest(batch, 0, done.append), reference)
        assert len(done) > 3
        assert done == sorted(set(done))
        assert done.pop() == len(strings)
        done.clear()
        accepted = engine.accept(batch, 0)
        np.testing.assert_array_equal(accepted, (reference == batch.lengths) & (reference > 0))


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_leaves_the_engine_usable(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "WORKERS", workers)
    engine = CudaCky(device("forward"), BRACKETS, None, of_some_lanes(device("forward"), BRACKETS))
    batch = Batch.of([[0, 1] * (n % 9 + 1) for n in range(200)])
    calls: list[int] = []

    def interrupt(done: int) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.accept(batch, 0, interrupt)
    assert len(calls) == 1
    assert engine.accept(batch, 0).all()


@pytest.mark.parametrize("place", ["forward", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_resident_batch_runs_again_and_again(place: str) -> None:
    engine = CudaCky(device(place), BRACKETS)
    strings = [[0, 1], [], [1, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0]]
    resident = engine.resident(Batch.of(strings))
    for _ in range(2):
        resident.run(0)
        assert resident.accepted().tolist() == [True, False, False, True, True, False]
    resident.run(1)
    assert not resident.accepted().any()


@pytest.mark.parametrize("place", ["forward", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("terminals", [2, 255, 256, 257, 65535, 65536, 70000])
def test_tokens_of_any_width(terminals: int, place: str) -> None:
    """The last terminal is a word, all beyond it are none: 256 more is not the same again."""
    rules = Rules.make(1, terminals, [], [(0, terminals - 1), (0, 0)])
    engine = CudaCky(device(place), rules)
    known = [0, 1, terminals - 1]
    unknown = [terminals, terminals + 1, 255, 256, 65535, 65536, 1 << 24, 2**32 - 1]
    tokens = [t + more for t in known + unknown for more in (0, 1 << 8, 1 << 16, 1 << 31)]
    tokens = [t for t in tokens if t < 1 << 32]
    accepted = engine.accept(Batch.of([[t] for t in tokens]), 0)
    assert accepted.tolist() == [t in (0, terminals - 1) for t in tokens]


@pytest.mark.parametrize("built", [True, False])
@given(st.integers(1, 70000), st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_narrow_tokens_say_the_same(built: bool, terminals: int, tokens: list[int]) -> None:
    wide = np.array([*tokens, terminals - 1, terminals], np.uint32)
    found = np.empty(wide.size, token_dtype(terminals))
    with pytest.MonkeyPatch.context() as patch:
        if not built:
            patch.setattr("kernels.cky.cuda.device_batch._cpu", None)
        narrow(wide, terminals, found)
    np.testing.assert_array_equal(found, np.minimum(wide, terminals))


class Counting(EmulatedDevice):
    """most: bytes of page-locked memory to be had."""

    most = 1 << 40

    def pinned(self, nbytes: int) -> npt.NDArray[np.uint8]:
        self.most -= nbytes
        if self.most < 0:
            raise MemoryError
        return super().pinned(nbytes)


def test_memory_of_a_part_is_for_the_next() -> None:
    on = Counting()
    engine = CudaCky(on, BRACKETS)
    batch = Batch.of([[0, 1]] * 100)
    on.most = 1 << 20
    for _ in range(3):
        assert engine.accept(batch, 0).all()
    assert on.most == 0
    # Without more of it, plain memory does.
    assert CudaCky(on, BRACKETS).accept(batch, 0).all()


def test_a_shelf_keeps_what_is_given_back() -> None:
    on = Counting()
    shelf = PinnedPool(on)
    first = shelf.take(1 << 21)
    shelf.give(first)
    assert shelf.take(1 << 20) is first
    second = shelf.take(1 << 20)
    assert second is not first
    shelf.give(second)
    assert shelf.take(1 << 21).nbytes == 1 << 21
    left = on.most
    assert shelf.take((1 << 26) + 1).nbytes == (1 << 26) + 1  # plain
    assert on.most == left


def test_an_engine_is_of_its_backend() -> None:
    with pytest.raises(TypeError, match="reference"):
        CudaCky.of(ReferenceTarget(), BRACKETS)


@pytest.mark.gpu
def test_the_engine_of_a_gpu_is_this_one() -> None:
    engine = engine_for(pick("cuda"), BRACKETS, 1 << 20)
    assert isinstance(engine, CudaCky)
    assert engine.memory == 1 << 20
    assert engine.accept(Batch.of([[0, 1], [1, 0]]), 0).tolist() == [True, False]


# --- compiling -------------------------------------------------------------------


@needs_nvcc
@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "defines"),
    [
        ("pack", ["-DLANES=1"]),
        ("pack", ["-DLANES=1", "-DTOKEN_BYTES=1"]),
        ("sparse", ["-DLANES=1", "-DTHREADS=1024"]),
        ("sparse", ["-DLANES=32", "-DIN_SHARED=0"]),
        ("direct", []),
        ("scatter", []),
    ],
)
def test_nvcc_compiles(name: str, defines: list[str]) -> None:
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 80, 90)]
    nvcc(SOURCE / f"{name}.cu", *arches, "--fatbin", *defines)
