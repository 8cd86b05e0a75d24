"""Enumeration on a CUDA device, emulated and real: the contract, and what is its own."""

from __future__ import annotations

import gc
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from kernels.targets.choose import pick
from kernels.targets.cuda.device import Device
from kernels.targets.reference import ReferenceTarget
from kernels.transformations import engine_for
from kernels.transformations.costs import BatchCosts
from kernels.transformations.cuda import enumerator as cuda
from kernels.transformations.cuda import launches, questions, rows
from kernels.transformations.cuda.engine import CudaSemigroupEngine
from semigroups.families import Family
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.transformations_contract import SemigroupEngineContract
from tests.transformations_model import assert_equal_tables, at, expected, make_problem

OTHERS = ((rows.SOURCE, 1), (rows.SOURCE, 4), (launches.GRAPH, 1))  # and the one that is quick


@cache
def device(name: str) -> Device:
    if name == "cuda":
        from kernels.targets.cuda.target import CudaDevice

        return CudaDevice()
    return cast(Device, EmulatedDevice(order=name))


class TestEmulated(SemigroupEngineContract):
    """Does what is quick; the class after it does all."""

    examples: ClassVar[int] = 2
    named: ClassVar[Sequence[str]] = ("bihecke:3", "zero_rook:4", "symmetric:4")
    degrees: ClassVar[Sequence[int]] = (257,)
    cycles: ClassVar[Sequence[int]] = (3, 5)
    many: ClassVar[int] = 100

    test_batches = test_chains_of_deduced_products = test_goes_on_from_every_place = None
    test_entries_that_contradict = test_goes_on_in_little_memory = test_little_memory = None

    @pytest.fixture
    def engine(self) -> CudaSemigroupEngine:
        return CudaSemigroupEngine(device("forward"))


@pytest.mark.slow
class TestEmulatedInAnyOrder(SemigroupEngineContract):
    cycles: ClassVar[Sequence[int]] = (8, 3, 5)

    @pytest.fixture(params=["reverse", "shuffled:1"])
    def engine(self, request: pytest.FixtureRequest) -> CudaSemigroupEngine:
        return CudaSemigroupEngine(device(request.param))


@pytest.mark.gpu
class TestCuda(SemigroupEngineContract):
    @pytest.fixture
    def engine(self) -> CudaSemigroupEngine:
        return CudaSemigroupEngine(device("cuda"))


def test_only_of_its_own_backend() -> None:
    with pytest.raises(TypeError, match="CUDA"):
        CudaSemigroupEngine.of(ReferenceTarget())


@pytest.mark.gpu
def test_the_engine_of_the_backend() -> None:
    engine = engine_for(pick("cuda"))
    assert isinstance(engine, CudaSemigroupEngine)
    assert 1 << 30 < engine.memory < engine.device.free_memory()


class Failing:
    """Emulates a device whose call number `at`, counted from 0, fails."""

    def __init__(self, device: Device, error: type[BaseException]) -> None:
        self._device, self._error = device, error
        self.info = device.info
        self.left = -1

    def _count(self) -> None:
        self.left -= 1
        if self.left == -1:
            raise self._error

    def module(self, *args: Any) -> Any:
        module, count = self._device.module(*args), self._count

        class Counted:
            def launch(self, *args: Any, **options: Any) -> None:
                count()
                module.launch(*args, **options)

        return Counted()

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._device, name)

        def counted(*args: Any) -> Any:
            self._count()
            return function(*args)

        return counted


# Families, and so little memory that the oldest rows give way to others, or all to the graph.
LITTLE = (("bihecke:3", 5000), ("zero_rook:3", 6000))


def check_failures(text: str, memory: int, error: type[BaseException], steps: range) -> None:
    """Let one call after the other fail."""
    problem = make_problem(Family.parse(text).generators(), memory=memory)
    final = expected(problem)
    failing = Failing(device("forward"), error)
    for k in steps:
        enumerator = CudaSemigroupEngine(cast(Device, failing)).start(problem)
        place = 0
        failing.left = k
        try:
            while not enumerator.finished:
                place = enumerator.expanded
                enumerator.expand(4)
        except error:
            assert enumerator.expanded == place
            assert_equal_tables(enumerator.tables(), at(final, place))
            found = enumerator.positions(problem.generators).tolist()
            wanted = range(1, problem.letters + 1)
            assert found == (list(wanted) if place else [-1] * len(wanted))
        ended, failing.left = failing.left >= 0, -1
        while not enumerator.finished:
            try:
                enumerator.expand(4)
            except MemoryError:  # arrays have grown in another order
                more = replace(problem, memory=1 << 20)
                enumerator = CudaSemigroupEngine(device("forward")).start(more, enumerator.tables())
        assert_equal_tables(enumerator.tables(), final)
        if ended:
            return
    raise AssertionError("the calls do not end")


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_nothing_is_lost_where_a_call_fails(error: type[BaseException]) -> None:
    check_failures(*LITTLE[0], error, range(5, 1000, 37))


@pytest.mark.slow
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize(("text", "memory"), LITTLE)
def test_nothing_is_lost_where_many_calls_fail(
    text: str, memory: int, error: type[BaseException]
) -> None:
    check_failures(text, memory, error, range(0, 1000, 4))


@pytest.mark.parametrize(
    ("memory", "most"), [(5250, 4), (5750, 4), (6000, 4), (6500, 1 << 20), (7000, 4)]
)
def test_all_rows_go_amid_a_batch(memory: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go where the graph needs their memory: the batch under way forgets its slots too."""
    amid: list[int] = []
    drop = cuda.CudaEnumerator._drop_rows

    def watched(self: cuda.CudaEnumerator) -> bool:
        if self._claim is not None and self._store.capacity:
            amid.append(self._claim.products)
        return drop(self)

    monkeypatch.setattr(cuda.CudaEnumerator, "_drop_rows", watched)
    problem = make_problem(Family.parse("zero_rook:3").generators(), memory=memory)
    gc.disable()  # it would make room, at any moment, by freeing buffers that nothing holds
    try:
        enumerator = CudaSemigroupEngine(device("forward")).start(problem)
        while not enumerator.finished:
            enumerator.expand(most)
    finally:
        gc.enable()
    assert_equal_tables(enumerator.tables(), expected(problem))
    assert any(amid)


@pytest.mark.parametrize(("work", "items"), [(400, 1 << 30), (1 << 40, 10)])
def test_batches_that_would_take_long(
    monkeypatch: pytest.MonkeyPatch, work: int, items: int
) -> None:
    """They are cut, and the left graph is made in parts."""
    monkeypatch.setattr(cuda, "BATCH_COSTS", BatchCosts(work))
    monkeypatch.setattr(cuda, "MAX_ITEMS", items)
    problem = make_problem(Family.parse("zero_rook:3").generators())
    enumerator = CudaSemigroupEngine(device("forward")).start(problem)
    before, steps = enumerator.counts.computed, []
    while not enumerator.finished:
        enumerator.expand(1 << 20)
        steps.append(enumerator.counts.computed - before)
        before += steps[-1]
    assert_equal_tables(enumerator.tables(), expected(problem))
    row = 48  # bytes
    assert max(steps) * row <= max(work, 3 * row)
    assert len(steps) > len(enumerator.starts)


def test_memory_goes_with_the_enumerator() -> None:
    free = device("forward").free_memory()
    gc.disable()
    try:
        enumerator = CudaSemigroupEngine(device("forward")).start(make_problem([[1, 2, 0]]))
        enumerator.expand(1)
        assert free - device("forward").free_memory() == enumerator.nbytes
        del enumerator
        assert device("forward").free_memory() == free
    finally:
        gc.enable()


def test_questions_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_ASKED", 100)
    monkeypatch.setattr(questions, "_QUESTIONS", 7)
    problem = make_problem(Family.parse("zero_rook:3").generators())
    enumerator = CudaSemigroupEngine(device("forward")).start(problem)
    while not enumerator.finished:
        enumerator.expand(1 << 20)
    maps = enumerator.maps(np.arange(34))
    assert enumerator.positions(maps[::-1]).tolist() == list(range(34))[::-1]
    right = enumerator.array("right")
    words, letters = (a.ravel().astype(np.uint32) for a in np.indices(right.shape))
    others = right.ravel().copy()
    assert enumerator.differ(words, letters, others) is None
    others[[30, 90]] ^= 1
    x, y = maps[[others[30], others[30] ^ 1]]
    assert enumerator.differ(words, letters, others) == (30, int((x != y).argmax()))


def test_tables_of_two_elements_with_one_row() -> None:
    """Tables are refused that have the hashes, and words, of an element twice, as a file may."""
    problem = make_problem([[0, 0, 2], [0, 1, 1]])
    tables = expected(problem)
    twice = make_problem([[0, 0, 2], [0, 0, 2]])
    hashes = expected(twice).hashes[[0, 1, 1]]
    part = at(tables, 1)
    with pytest.raises(ValueError, match="tables"):
        CudaSemigroupEngine(device("forward")).start(twice, replace(part, hashes=hashes))


@needs_nvcc
@pytest.mark.parametrize(
    ("source", "item"),
    [(rows.SOURCE, 2), *(pytest.param(*x, marks=pytest.mark.slow) for x in OTHERS)],
)
def test_nvcc_keeps_vectors_in_registers(source: Path, item: int) -> None:
    said = nvcc(source, "-cubin", "-arch=sm_90", "-Xptxas=-v", f"-DITEM={item}")
    frames = re.findall(r"(\d+) bytes stack frame", said)
    assert frames
    assert max(int(n) for n in frames) <= 8
