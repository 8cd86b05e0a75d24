"""Tables on the CPU: by columns, by pairs of columns, and by a path through the levels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernels.life.contract import LifeEngine
from kernels.tables import columns
from kernels.tables.columns import columns_of
from kernels.tables.rules import TableRule
from tests.tables_contract import A_CASE, TablesContract

cpu = pytest.importorskip("kernels.targets.cpu")
if not cpu.levels():
    pytest.skip("the CPU kernels are not built", allow_module_level=True)

from kernels.tables.cpu.engine import CpuTablesEngine  # noqa: E402


class TestCpu(TablesContract):
    def made(self, planes: int) -> LifeEngine[TableRule]:
        return CpuTablesEngine(cpu.CpuTarget(threads=1), planes)


class TestThreads(TablesContract):
    sizes = (600, 600)

    def made(self, planes: int) -> LifeEngine[TableRule]:
        return CpuTablesEngine(cpu.CpuTarget(threads=3), planes)


class TestPairs(TestCpu):
    @pytest.fixture(autouse=True)
    def few_triples(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(columns, "_MOST_TRIPLES", 0)
        columns_of.cache_clear()
        assert columns_of(A_CASE.rule).pairs.size
        yield
        columns_of.cache_clear()


class TestWalk(TestCpu):
    @pytest.fixture(autouse=True)
    def few_columns(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(columns, "_MOST_COLUMNS", 0)
        columns_of.cache_clear()
        assert columns_of(A_CASE.rule).walk.size
        yield
        columns_of.cache_clear()
