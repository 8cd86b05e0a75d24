from __future__ import annotations

from kernels.life.contract import LifeEngine
from kernels.tables.ref import ReferenceTablesEngine
from kernels.tables.rules import TableRule
from tests.tables_contract import TablesContract


class TestReference(TablesContract):
    def made(self, planes: int) -> LifeEngine[TableRule]:
        return ReferenceTablesEngine(planes)
