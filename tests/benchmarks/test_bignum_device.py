"""The benchmark of arithmetic on a device, run small under emulation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import bignum_device as benchmark
from tests.emulation import EmulatedDevice


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> EmulatedDevice:
    monkeypatch.setattr(benchmark, "MOST_BYTES", 1 << 14)
    monkeypatch.setattr(benchmark, "RUN_SECONDS", 0.0)
    return EmulatedDevice()


def test_rows_of_the_table(small: EmulatedDevice) -> None:
    chosen = [case for case in benchmark.cases() if case.bits[1] == 256]
    powers = [case for case in chosen if case.name.startswith("powmod")]
    chosen = [case for case in chosen if case not in powers]
    rows = list(benchmark.measure(small, chosen, most=45))
    assert [row.operation for row in rows] == [
        "add", "add modulo 2^bits", "multiply", "multiply_add", "divmod", "gcd",
    ]  # fmt: skip
    assert all(row.count == 45 and row.took > 0 for row in rows)
    assert benchmark.as_line(replace(rows[2], took=0.04)) == (
        "| multiply | 256 | 45 | 0.0400 | 0.049 | 1.23 | 0.0300 | 75% |"
    )
    assert "| divmod | 512 by 256 |" in benchmark.as_line(rows[4])
    (row,) = benchmark.measure(small, powers[1:], most=3)
    assert benchmark.as_line(row).startswith("| powmod of 65537 | 256 | 3 |")


def test_wrong_results_are_no_row(small: EmulatedDevice) -> None:
    case = replace(benchmark.cases()[0], python=lambda a, b: a - b)
    with pytest.raises(benchmark.WrongResultError, match=r"add of \(256, 256\) bits, number 0"):
        list(benchmark.measure(small, [case], most=5))
