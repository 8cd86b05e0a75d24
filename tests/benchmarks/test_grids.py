"""The benchmark of bounded grids, run small."""

from __future__ import annotations

import pytest

from benchmarks import grids as benchmark


def test_a_row_for_each_size(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "GENERATIONS", 2)
    arguments = ["--backend", "reference", "--seconds", "0.01", "--sizes", "9", "12"]
    benchmark.main(arguments)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [line.split()[1] for line in lines] == ["size", "---", "9²", "12²"]
    assert {line.count("|") for line in lines} == {3 + len(benchmark.BOUNDS)}
    assert all(float(figure) > 0 for figure in lines[2].split("|")[2:-1])
