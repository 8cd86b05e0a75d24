"""The benchmark of planes in tiles, run small."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("kernels._cpu")

from benchmarks import plane as benchmark


def fake_bgolly(folder: Path, population: int) -> str:
    """Write a program that says what bgolly does of a pattern with that population."""
    program = folder / "bgolly"
    program.write_text(f"#!/bin/sh\necho '0: 7'\necho '5,206: {population:,}'\n")
    program.chmod(0o755)
    return str(program)


def test_a_row_for_each_case(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["--rounds", "1", "--cases", "acorn", "lidka"]
    benchmark.main(arguments)
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "| " in line][2:]
    assert [(row[1], row[3], row[5]) for row in rows] == [
        ("acorn", "5206", "633"),
        ("lidka", "30000", "1623"),
    ]
    benchmark.main([*arguments[:-1], "--bgolly", fake_bgolly(tmp_path, 633)])
    assert "633" in capsys.readouterr().out


def test_another_population_is_no_row(tmp_path: Path) -> None:
    arguments = ["--rounds", "1", "--cases", "acorn", "--bgolly", fake_bgolly(tmp_path, 1633)]
    with pytest.raises(SystemExit, match="populations differ"):
        benchmark.main(arguments)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(SystemExit, match="No such file"):
        benchmark.main(["--rounds", "1", "--cases", "acorn", "--bgolly", "/nowhere/bgolly"])
