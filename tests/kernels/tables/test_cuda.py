"""Tables on CUDA devices: the contract, emulated and on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import cast

import numpy as np
import pytest

from kernels.life.bytewise import packed
from kernels.life.contract import LifeEngine, LifeShape
from kernels.tables import columns
from kernels.tables.columns import columns_of
from kernels.tables.cuda.engine import SOURCE, CudaTablesEngine
from kernels.tables.rules import TableRule
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.tables_contract import A_CASE, TablesContract, some_states


@cache
def emulated() -> Device:
    return cast(Device, EmulatedDevice())


class TestEmulated(TablesContract):
    sizes = (70, 9)

    def made(self, planes: int) -> LifeEngine[TableRule]:
        return CudaTablesEngine(emulated(), planes)


@pytest.mark.slow
class TestEmulatedPairs(TestEmulated):
    @pytest.fixture(autouse=True)
    def few_triples(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(columns, "_MOST_TRIPLES", 0)
        columns_of.cache_clear()
        assert columns_of(A_CASE.rule).pairs.size
        yield
        columns_of.cache_clear()


@pytest.mark.slow
class TestEmulatedWalk(TestEmulated):
    @pytest.fixture(autouse=True)
    def few_columns(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(columns, "_MOST_COLUMNS", 0)
        columns_of.cache_clear()
        assert columns_of(A_CASE.rule).walk.size
        yield
        columns_of.cache_clear()


@pytest.mark.gpu
class TestCuda(TablesContract):
    def made(self, planes: int) -> LifeEngine[TableRule]:
        from kernels.targets.cuda.target import CudaTarget

        return CudaTablesEngine(CudaTarget().devices[0], planes)


@needs_nvcc
@pytest.mark.parametrize(("pairs", "walk", "planes"), [(0, 0, 2), (1, 0, 4), (0, 1, 8)])
def test_nvcc_compiles(pairs: int, walk: int, planes: int) -> None:
    macros = [f"-DPAIRS={pairs}", f"-DWALK={walk}", f"-DPLANES={planes}"]
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 90)]
    nvcc(SOURCE, *arches, "--fatbin", *macros)


def test_a_state_that_the_rule_does_not_have() -> None:
    universe = CudaTablesEngine(emulated(), 3).universe(
        some_states(5, 70, 9), LifeShape(70, 9, True, 3), A_CASE.rule
    )
    for state in (5, 6, 7):
        cells = np.zeros((2, 70), np.uint8)
        cells[1, 69] = state
        with pytest.raises(ValueError, match="state that the rule does not have"):
            universe.put(0, packed(cells, 3))
    universe.put(0, packed(np.full((2, 70), 4, np.uint8), 3))
