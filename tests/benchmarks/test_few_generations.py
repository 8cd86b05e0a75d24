"""The benchmark of few generations: small."""

from __future__ import annotations

import pytest

from benchmarks import few_generations
from kernels.targets.cpu import levels

pytestmark = pytest.mark.skipif(not levels(), reason="the extension is not built")


def test_a_line_for_each_number_of_generations(capsys: pytest.CaptureFixture[str]) -> None:
    few_generations.main(["--sizes", "130", "--seconds", "0.01", "--level", levels()[0]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"CPU level {levels()[0]} ")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[4:]]
    assert [row[:2] for row in rows] == [["130²", str(n)] for n in few_generations.GENERATIONS]
    assert all(float(cell) > 0 for row in rows for cell in row[2:])
