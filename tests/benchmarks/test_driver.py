"""The benchmark of the driver layers, run small on emulated devices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import driver as benchmark
from kernels.targets.contract import Target
from tests.kernels.life.test_cuda import EmulatedBackend

SMALL = [
    benchmark.Case("Life", "cell updates", benchmark.life(64)),
    benchmark.Case("multiply", "products", benchmark.products(40, 256)),
    benchmark.Case("CKY", "strings", benchmark.parsing(4, 12, 40, 4)),
    benchmark.Case("launches", "launches", benchmark.launches),
]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_a_row_of_the_table(case: benchmark.Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "LAUNCHES", 2)
    row = benchmark.measure([EmulatedBackend(), EmulatedBackend()], case, 1e-6)
    assert len(row.rates) == 2
    assert min(*row.rates, row.ratio) > 0
    *_, line = benchmark.as_table(["one", "other"], iter([replace(row, rates=(4e12, 2.0))]))
    assert line.startswith(f"| {case.unit}: {case.name} | 4e+12 | 2 | ")


def test_different_results_are_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "LAUNCHES", 1)
    first, second = EmulatedBackend(), EmulatedBackend()

    def start(target: Target) -> benchmark.Work:
        work = benchmark.launches(target)
        return work if target is first else replace(work, result=lambda: np.zeros(32, np.uint32))

    with pytest.raises(benchmark.DifferentResultsError, match="launches"):
        benchmark.measure([first, second], benchmark.Case("launches", "launches", start), 1e-6)
