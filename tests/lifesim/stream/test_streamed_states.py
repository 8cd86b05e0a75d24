"""Runs on disk of rules of several states are those in memory, cell for cell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.targets.choose import pick
from kernels.targets.cpu import CpuTarget
from lifesim.stream.phase import PhaseShape
from tests.kernels.life.test_cuda import EmulatedBackend
from tests.lifesim.stream.streamed import RANGES, SEVERAL, StreamCase, cases, check, check_shape
from tests.quick import examples

pytestmark = pytest.mark.usefixtures("no_syncs")


@settings(max_examples=examples(25))
@given(cases(most=80, rules=SEVERAL), st.booleans(), st.booleans())
def test_streamed_is_in_memory(case: StreamCase, least: bool, reopen: bool) -> None:
    check(case, least=least, reopen=reopen)


@settings(max_examples=examples(10))
@given(st.data(), cases(rules=SEVERAL), st.integers(1, 3), st.booleans(), st.integers(1, 2))
def test_any_shape(
    data: st.DataObject, case: StreamCase, slots: int, chained: bool, lanes: int
) -> None:
    """The shapes include those that nobody would choose, and chains."""
    across, down = (data.draw(st.integers(1, count)) for count in case.tiles)
    backends = [CpuTarget(threads=1) for _ in range(lanes)]
    check_shape(case, PhaseShape(across, down, slots, chained), backends)


@settings(max_examples=examples(15))
@given(cases(most=20, rules=RANGES), st.booleans(), st.booleans())
def test_rules_that_reach_far(case: StreamCase, least: bool, reopen: bool) -> None:
    check(case, least=least, reopen=reopen)


@settings(max_examples=examples(10))
@given(st.data(), cases(most=20, rules=RANGES), st.integers(1, 3), st.integers(1, 2))
def test_any_shape_by_rules_that_reach_far(
    data: st.DataObject, case: StreamCase, slots: int, lanes: int
) -> None:
    across, down = (data.draw(st.integers(1, count)) for count in case.tiles)
    backends = [CpuTarget(threads=1) for _ in range(lanes)]
    check_shape(case, PhaseShape(across, down, slots), backends)


@settings(max_examples=examples(5))
@given(cases(most=30, rules=SEVERAL))
def test_the_reference_backend(case: StreamCase) -> None:
    check(case, [pick("reference")], least=True)


def test_chains() -> None:
    """Blocks follow each other, and no row is computed twice."""
    case = StreamCase(300, 1200, (3, 4), generations=33, steps=(67,))
    for rule in ("3458/37/25", "LifeHistory"):
        check_shape(replace(case, rule=rule), PhaseShape(1, 1, 3, chained=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        StreamCase(65, 20, (2, 3), rule="345/2/4", generations=5, steps=(12,)),
        StreamCase(200, 30, (3, 2), False, "3458/37/25", generations=9, steps=(20,)),
        StreamCase(100, 20, (2, 2), rule="WireWorld", generations=5, steps=(12,)),
        StreamCase(150, 40, (3, 2), rule="Bugs", generations=2, steps=(5,)),
    ],
    ids=lambda case: f"{case.width}x{case.height}",
)
def test_emulated_device(case: StreamCase) -> None:
    check(case, [EmulatedBackend()])


def test_chunks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles have several chunks of a page each."""
    monkeypatch.setattr("lifesim.store.tilefile._CHUNK", 4096)
    case = StreamCase(1000, 300, (2, 2), rule="345/2/4", generations=40, steps=(80,))
    for compression in ("none", "zstd"):
        check(replace(case, compression=compression, pyramid=True), memory=64 << 20)
