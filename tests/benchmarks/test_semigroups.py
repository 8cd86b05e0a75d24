"""The benchmark of semigroups, run small."""

from __future__ import annotations

import json

import pytest

from benchmarks import semigroups as benchmark
from kernels.transformations.cuda.engine import CudaSemigroupEngine
from kernels.transformations.ref import ReferenceSemigroupEngine
from tests.emulation import EmulatedDevice


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "SECONDS", 1e-9)


def test_fills_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--backend", "reference", "--cases", "zero_rook:3", "full:3"]
    arguments += ["--green", "zero_rook:3"]
    benchmark.main([*arguments, "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert (figures["backend"], figures["exact"]) == ("reference", True)
    rows = [benchmark.Row(**row) for row in figures["rows"]]
    assert [(row.case, row.elements, row.computed) for row in rows] == [
        ("zero_rook:3", 34, 102),
        ("full:3", 27, 81),
    ]
    assert all(min(row.seconds, row.moved, row.memory) > 0 for row in rows)
    (green,) = figures["green"]
    assert green["idempotents"] == 8
    assert green["classes"] == dict.fromkeys("RLHD", 34)
    benchmark.main([*arguments, "--hash-only", "--alone"])
    out = capsys.readouterr().out
    assert "hashes only" in out
    assert "| zero_rook:3 | 34 |" in out
    assert "34 R, 34 L, 34 H, 34 D" in out


def test_on_a_device() -> None:
    engine = CudaSemigroupEngine(EmulatedDevice())
    row, enumerator = benchmark.measure(
        engine, "bihecke:3", benchmark.problem_of("bihecke:3", engine)
    )
    assert (row.elements, row.computed, row.deduced) == (23, 48, 44)
    assert benchmark.measure_green("bihecke:3", enumerator, None).idempotents == 19


def test_without_green(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--backend", "reference", "--cases", "catalan:3", "--green", "--json"])
    assert json.loads(capsys.readouterr().out)["green"] == []


def test_rows_are_as_they_say() -> None:
    row = benchmark.Row("bihecke:5", 31103, 0.5, 40000, 208824, 10**9, 2 * 10**9, 1.5)
    assert row.ratio == 3
    assert benchmark.as_markdown(row) == (
        "| bihecke:5 | 31,103 | 0.5 | 62,206 | 40,000 | 208,824 | 1 | 2 | 2 | 1.5 | 3 |"
    )


def test_measures_no_wrong_results() -> None:
    """Measuring one semigroup in the name of another raises WrongResultError."""
    problem = benchmark.problem_of("bihecke:3", ReferenceSemigroupEngine())
    benchmark.measure(ReferenceSemigroupEngine(), "bihecke:3", problem)
    with pytest.raises(benchmark.WrongResultError, match=r"^zero_rook:3 has size 34, not 23$"):
        benchmark.measure(ReferenceSemigroupEngine(), "zero_rook:3", problem)


@pytest.mark.parametrize("arguments", [["--cases", "moon:3"], ["--backend", "moon"]])
def test_bad_arguments(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        benchmark.main(arguments)
