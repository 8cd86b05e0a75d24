"""Larger than Life on devices, emulated and, where there is one, a GPU."""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.life.bytewise import packed
from kernels.life.contract import LifeEngine, LifeShape
from kernels.ranges import plan
from kernels.ranges.cuda.engine import CudaRangeEngine
from kernels.ranges.ref import ReferenceRangeEngine
from kernels.ranges.rules import RangeRule, circle, diamond, square
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.kernels.test_ranges import BUGS, RangesContract, rules, soup
from tests.quick import examples


@cache
def device() -> Device:
    return cast(Device, EmulatedDevice())  # its methods take its own buffers only


@cache
def gpu() -> Device:
    from kernels.targets.cuda.target import CudaDevice

    return cast(Device, CudaDevice())


class TestEmulated(RangesContract):
    a_rule = RangeRule(diamond(1, middle=True), birth=((1, 2),), survival=((1, 3),))
    another_rule = RangeRule(square(1, middle=False), ((3, 3),), ((2, 3),))

    @pytest.fixture
    def engine(self) -> LifeEngine[RangeRule]:
        return CudaRangeEngine(device(), 1)


class TestEmulatedWithStates(RangesContract):
    planes = 3
    a_rule = RangeRule(circle(1, middle=False), ((2, 3),), ((3, 5),), states=5)
    another_rule = RangeRule(square(1, middle=True), ((3, 3),), ((3, 4),), states=8)
    few_times = (1, 2)

    @pytest.fixture
    def engine(self) -> LifeEngine[RangeRule]:
        return CudaRangeEngine(device(), 3)


def check(device: Device, rule: RangeRule, width: int, height: int, torus: bool, seed: int) -> None:
    cells = soup(width, height, rule.states, seed)
    shape = LifeShape(width, height, torus, rule.planes)
    engine = CudaRangeEngine(device, rule.planes)
    universe = engine.universe(packed(cells, rule.planes), shape, rule)
    universe.step(2)
    reference = ReferenceRangeEngine(rule.planes)
    expected = reference.step(reference.step(cells, rule, torus), rule, torus)
    np.testing.assert_array_equal(universe.words(), packed(expected, rule.planes))


SIZES = st.integers(1, 70), st.integers(1, 30), st.booleans(), st.integers(0, 9)


@settings(max_examples=examples(15), deadline=None)
@given(rules(), *SIZES)
def test_a_device_makes_what_the_reference_does(
    rule: RangeRule, width: int, height: int, torus: bool, seed: int
) -> None:
    check(device(), rule, width, height, torus, seed)


@pytest.mark.parametrize("rule", [BUGS, RangeRule(circle(3, middle=False), ((5, 9),), ((6, 12),))])
def test_many_bands(rule: RangeRule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_SUMS", 1)
    for torus in (True, False):
        check(device(), rule, 1100, 50, torus, 3)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 500), st.booleans())
def test_rows_of_a_device(width: int, height: int, reach: int, square: bool) -> None:
    rows = plan.device_rows(width, height, reach, square=square)
    assert 1 <= rows <= min(height, 1 << 15)
    nbytes = plan.device_bytes(width, height, reach, square=square)
    assert nbytes >= 4 * (width + 1) * rows


@pytest.mark.gpu
class TestGpu(TestEmulated):
    @pytest.fixture
    def engine(self) -> LifeEngine[RangeRule]:
        return CudaRangeEngine(gpu(), 1)

    def test_rules(self) -> None:
        for seed, rule in enumerate(
            [
                BUGS,
                RangeRule(square(100, middle=False), ((9350, 12360),), ((10350, 15740),)),
                RangeRule(diamond(40, middle=True), ((900, 1200),), ((900, 1700),)),
                RangeRule(circle(10, middle=True), ((100, 150),), ((100, 180),), states=7),
            ]
        ):
            check(gpu(), rule, 1500, 700, bool(seed % 2), seed)
