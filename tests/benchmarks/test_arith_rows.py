"""What is measured of each row of `arith bench`."""

from __future__ import annotations

import pytest

from benchmarks import arith_rows
from kernels.targets.cpu import levels


@pytest.mark.skipif(not levels(), reason="the CPU kernels are not built")
def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    arith_rows.main(["--bits", "64", "--op", "invert", "--op", "add", "--count", "20"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:]] == [["| invert", "64"], ["| add", "64"]]
    assert all(float(cell) > 0 for line in lines[2:] for cell in line.strip("| ").split(" | ")[1:])
