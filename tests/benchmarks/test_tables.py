"""The benchmark of rules of tables: small, beside a program that stands for bgolly."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import tables
from kernels.targets.cpu import levels
from lifesim import patterns
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import Rule

pytestmark = pytest.mark.skipif(not levels(), reason="the extension is not built")


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    """An electron on a wire of 9 cells, which none of them ever leaves."""
    path = tmp_path / "wire.rle"
    cells = BitGrid.from_states([[2, 1, 3, 3, 3, 3, 3, 3, 3]])
    patterns.write(Pattern(cells, rule=Rule.parse("WireWorld")), path)
    return path


def rows(path: Path, golly: str, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    given = ["--generations", "5", "--seconds", "0", "--golly", golly]
    tables.main([path.name, "--patterns", str(path.parent), *given])
    lines = capsys.readouterr().out.splitlines()
    assert "5 generations" in lines[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[3:]]


def test_a_row_for_each_pattern(wire: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ((name, ours, *rest),) = rows(wire, "", capsys)
    assert name == "wire"
    assert float(ours.removesuffix(" ms")) >= 0
    assert rest == ["", "", ""]


@pytest.mark.parametrize(("population", "equal"), [("9", "yes"), ("1,009", "NO")])
def test_populations_are_compared(
    population: str, equal: str, wire: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "peer"
    program.write_text(f"#!/bin/sh\necho 0: 9\necho 5: {population}\n")
    program.chmod(0o755)
    ((_, _, *times, found),) = rows(wire, str(program), capsys)
    assert found == equal
    assert all(float(cell) >= 0 for cell in times)


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "glider.rle"
    patterns.write(Pattern(BitGrid.from_cells(3, 3, [(1, 1)])), path)
    with pytest.raises(SystemExit, match="rule B3/S23 is not a table"):
        tables.main([str(path), "--golly", ""])
    with pytest.raises(SystemExit, match="none"):
        tables.main([str(tmp_path / "none.rle"), "--golly", ""])
