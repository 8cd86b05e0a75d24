"""Ageing cells on CUDA devices: the contract, emulated and on a GPU, and any plan."""

from __future__ import annotations

import pytest

from kernels.ageing import engine_for
from kernels.ageing.cuda.engine import AgeingDeviceArena
from kernels.ageing.plan import age_planes
from kernels.life.bytewise import packed
from kernels.life.contract import LifeShape
from kernels.life.plan import CudaPlan, cuda_layout
from kernels.life.rules import AgeingRule
from kernels.targets.contract import Target
from tests.ageing_contract import RULES, AgeingContract, ageing, moved, some_states
from tests.kernels.life.test_cuda import EmulatedBackend, device
from tests.life_cells_contract import assert_holds


class Emulated(AgeingContract):
    sizes = ((1, 1), (33, 1), (1, 65), (64, 64), (513, 3), (127, 29), (4100, 3))
    times = (1, 9)
    few_times = (1, 9)
    chain_widths = (64, 577)
    examples = 5

    @pytest.fixture
    def backend(self) -> Target:
        return EmulatedBackend()


@pytest.mark.slow
class TestThreeStatesEmulated(Emulated):
    states = 3


@pytest.mark.slow
class TestFourStatesEmulated(Emulated):
    states = 4


@pytest.mark.slow
class TestTwentyFiveStatesEmulated(Emulated):
    states = 25


@pytest.mark.slow
class TestAllStatesEmulated(Emulated):
    states = 256


@pytest.mark.gpu
class Cuda(AgeingContract):
    examples = 10  # each with a rule that is compiled for it

    @pytest.fixture(scope="module")
    @staticmethod
    def backend() -> Target:
        from kernels.targets.cuda.target import CudaTarget

        return CudaTarget()


class TestThreeStatesOnAGpu(Cuda):
    states = 3


class TestFourStatesOnAGpu(Cuda):
    states = 4


class TestFiveStatesOnAGpu(Cuda):
    states = 5


class TestTwentyFiveStatesOnAGpu(Cuda):
    states = 25


class TestAllStatesOnAGpu(Cuda):
    states = 256


def check_plan(plan: CudaPlan, width: int, height: int, torus: bool, rule: AgeingRule) -> None:
    """Make two passes: the second reads what the first has written."""
    shape = LifeShape(width, height, torus, rule.planes)
    cells = some_states(rule.states, width, height)
    universe = AgeingDeviceArena(device(), [shape], 1, rule, plan).open(0, shape)
    universe.put(0, packed(cells, rule.planes))
    assert universe.stride == plan.steps
    universe.step(2 * plan.steps)
    expected = moved(cells, rule, torus, 2 * plan.steps)
    assert_holds(universe, packed(expected, rule.planes), (plan, rule))


CASES = [
    pytest.param(states, words, torus, marks=() if few else pytest.mark.slow)
    for states in RULES
    for words in (1, 2, 3, 4)
    for torus in (True, False)
    for few in [(states, words, torus) in ((3, 2, True), (4, 4, False), (25, 1, True))]
]


@pytest.mark.parametrize(("states", "words", "torus"), CASES)
def test_plans(states: int, words: int, torus: bool) -> None:
    """Panels beside each other, words of all numbers a lane, segments of few rows."""
    rule = RULES[states][words % 2]
    width = 2 * 32 * 8 * words + (words + 4) * 12 + (words == 3)
    layout = cuda_layout(width, torus, words, 8, 3, 1 + age_planes(states))
    assert layout.panels > 1
    for height, segment in ((7, 3), (1, 1)):
        check_plan(CudaPlan(layout, 3, segment, resident=8), width, height, torus, rule)


@pytest.mark.slow
@pytest.mark.parametrize("states", [3, 4, *range(5, 20), 33, 34, 65, 66, 129, 130, 255])
def test_every_number_of_states(states: int) -> None:
    """Counters of all lengths, whatever they begin with."""
    layout = cuda_layout(61, True, 2, 8, 5, 1 + age_planes(states))
    check_plan(CudaPlan(layout, 5, 4, resident=8), 61, 9, True, ageing("B2/S1345", states))


def test_the_engine_emulated() -> None:
    """Rows are put, moved on and got by what engine_for() gives."""
    rule, cells = ageing("B2/S345", 4), some_states(4, 130, 12)
    shape = LifeShape(130, 12, True, 2)
    universe = engine_for(EmulatedBackend(), 2).universe(packed(cells, 2), shape, rule)
    universe.step(1)
    assert_holds(universe, packed(moved(cells, rule, True, 1), 2))


@pytest.mark.slow
def test_a_table_of_nine_cells_emulated() -> None:
    """A rule that minds where neighbours are is compiled as a circuit that is searched for."""
    rule = AgeingRule(RULES[5][0].table ^ 1 << 3 ^ 1 << 161, 5)
    layout = cuda_layout(100, True, 2, 8, 3, 1 + age_planes(5))
    check_plan(CudaPlan(layout, 3, 4, resident=8), 100, 9, True, rule)
