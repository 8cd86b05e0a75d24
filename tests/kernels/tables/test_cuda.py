"""Tables on CUDA devices: the contract, emulated and on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import cast

import pytest

from kernels.life.contract import LifeEngine
from kernels.tables import columns
from kernels.tables.columns import columns_of
from kernels.tables.cuda.engine import SOURCE, CudaTablesEngine
from kernels.tables.rules import TableRule
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.tables_contract import A_CASE, TablesContract


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
@pytest.mark.parametrize(("pairs", "walk"), [(0, 0), (1, 0), (0, 1)])
def test_nvcc_compiles(pairs: int, walk: int) -> None:
    macros = [f"-DPAIRS={pairs}", f"-DWALK={walk}"]
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 90)]
    nvcc(SOURCE, *arches, "--fatbin", *macros)
