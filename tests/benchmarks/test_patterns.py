"""The benchmark of pattern files, run small."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import patterns as benchmark
from lifesim import patterns
from lifesim.grid import BitGrid


def test_a_row_for_each_format(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--side", "70", "--rounds", "1", "--formats", *benchmark.FORMATS])
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[1] for line in lines] == list(benchmark.FORMATS)


def test_wrong_cells_are_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = BitGrid.from_cells(9, 9, [(1, 1), (3, 3)])
    other = patterns.Pattern(BitGrid.from_cells(9, 9, [(0, 0), (3, 3)]))
    monkeypatch.setattr(patterns, "read", lambda path: other)
    with pytest.raises(benchmark.WrongResultError, match="rle"):
        benchmark.measure("rle", grid, tmp_path, 1)
