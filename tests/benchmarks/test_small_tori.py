"""The benchmark of small tori: it compares both ways, and measures each length of a call."""

from __future__ import annotations

import pytest

from benchmarks import small_tori
from kernels.targets.cpu import levels

pytestmark = pytest.mark.skipif(not levels(), reason="the extension is not built")


def test_both_ways_are_compared_and_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(small_tori, "SHORTEST", 0.0)
    small_tori.main(["--threads", "2", "--sides", "64", "70", "--calls", "1", "9", "--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()[4:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[:2] for row in rows] == [["64²", "1"], ["64²", "9"], ["70²", "1"], ["70²", "9"]]
    assert all(float(cell) > 0 for row in rows for cell in row[2:5])


def test_different_cells_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_tori.PassesOnly, "make_pass", lambda *_, **__: True)
    with pytest.raises(SystemExit, match="64x64: folded and in passes differ"):
        small_tori.main(["--sides", "64", "--calls", "1"])
