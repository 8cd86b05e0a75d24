"""The benchmark of conversions measures every column it names."""

from __future__ import annotations

import pytest

from benchmarks.conversions import COLUMNS, main


def test_a_row_for_each_size(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--bits", "64", "4096", "--count", "3", "--rounds", "1"])
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.count("|") == len(COLUMNS) + 1
    for row, bits in zip(rows, ("64", "4096"), strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[:2] == [bits, "3"]
        assert len(cells) == len(COLUMNS)
        assert all(float(cell) >= 0 for cell in cells[2:])
