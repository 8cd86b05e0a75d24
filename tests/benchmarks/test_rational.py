"""The benchmark of rationals: that it measures what it says, and nothing wrong."""

from __future__ import annotations

import json
import operator

import pytest

from benchmarks import rational as benchmark


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "RUN_SECONDS", 1e-6)
    monkeypatch.setattr(benchmark, "RUNS", 1)


def test_fills_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--place", "host", "--words", "1", "--words", "3", "--count", "20"]
    benchmark.main([*arguments, "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["place"] == "host"
    rows = [benchmark.Row(**row) for row in figures["rows"]]
    assert [(row.words, row.operation) for row in rows] == [
        (words, name) for words in (1, 3) for name in ("add", "multiply", "divide")
    ]
    assert all(min(row.reduced, row.unreduced, row.mpq, row.gcd) > 0 for row in rows)
    benchmark.main(arguments)
    assert capsys.readouterr().out.startswith("In the memory of: host (")
    row = benchmark.Row(4, "add", 1000, 250.0, 50.0, 500.0, 100.0)
    assert benchmark.as_markdown([row]).splitlines()[2:] == [
        "| 4 | add | 1,000 | 250 | 50 | 500 | 2 | 100 | 2.5 |"
    ]


def test_processor_times(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--processor-time", "--words", "2", "--count", "20"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == ["add", "multiply", "divide"]


def test_operands_are_of_full_length() -> None:
    assert set(benchmark.integers(1, 50, 3).bit_length().tolist()) == {96}


def test_measures_no_wrong_results(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (benchmark.rationals(seed, 5, 2, "host") for seed in (1, 3))
    benchmark.verify("add", a, b)

    def wrong(x: object, y: object) -> object:
        return operator.add(x, y) if x is not a and not hasattr(x, "reduce") else a - b

    monkeypatch.setitem(benchmark.OPERATIONS, "add", wrong)
    with pytest.raises(benchmark.WrongResultError, match=r"^add$"):
        benchmark.verify("add", a, b)


def test_bad_arguments() -> None:
    for arguments in (["--words", "0"], ["--count", "0"], ["--place", "moon"]):
        with pytest.raises(SystemExit):
            benchmark.main(arguments)
