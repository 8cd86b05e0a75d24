"""The table of the `bench` commands: figures are recorded ones, Ctrl-C leaves the rows so far."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bulkbits.comparison import Comparison, Row, markdown, present, rate_text, ratio_text
from bulkbits.references import RecordedRate, find, references, value_of
from bulkbits.timing import Samples

RESULTS = (Path(__file__).parents[2] / "benchmarks" / "RESULTS.md").read_text()
# What the columns of RESULTS.md count: work a second, or seconds for each piece of work.
RATES = {"all": 1e9, "10¹²/s": 1e12}
SECONDS = {
    **{"ns": 1e-9, "ours, ns": 1e-9, "µs a string": 1e-6, "new": 1e-6, "s": 1.0},
    **{"one thread": 1e-3, "GPU": 1e-3, "hashlife": 1e-3},
}
HALF, ONE = Samples((39.0, 40.0, 80.0), 1), Samples((80.0, 78.0, 81.0), 2)


def section(heading: str) -> str:
    """Return what stands below a heading, up to the next of its rank or a higher one."""
    found = re.search(rf"^(#+) {re.escape(heading)}\n", RESULTS, re.MULTILINE)
    assert found, heading
    rest = RESULTS[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def cells(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [part.strip().replace("\\|", "|") for part in parts]


def figures(reference: RecordedRate) -> list[str]:
    """Return what stands in the cells that a reference names, in all tables of its section."""
    found, head = [], None
    for line in section(reference.source.section).splitlines():
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells(line)
        elif reference.column in head and tuple(cells(line)[: len(reference.row)]) == reference.row:
            found += cells(line)[head.index(reference.column)].replace("**", "").split(", ")
    return found


@pytest.mark.parametrize(
    "reference", references(), ids=lambda r: f"{r.command}-{r.kind}-{r.operation}-{r.size}"
)
def test_every_figure_is_still_recorded(reference: RecordedRate) -> None:
    assert reference.figure in figures(reference)
    text = " ".join(section(reference.source.section).replace("\\\n", " ").split())
    assert reference.source.command in text
    value = value_of(reference.figure)
    if reference.column in RATES:
        assert reference.rate == pytest.approx(value * RATES[reference.column])
        return
    work = 1
    if reference.size.endswith(("generations", "elements")):
        work = int(reference.size.split()[0].replace(",", ""))
    assert reference.rate == pytest.approx(work / (value * SECONDS[reference.column]))


def test_no_row_has_two_figures() -> None:
    names = [(r.command, r.kind, r.operation, r.size) for r in references()]
    assert len(set(names)) == len(names)
    assert find("arith", "cpu", "add", "256 bits") is references()[names.index(
        ("arith", "cpu", "add", "256 bits")
    )]  # fmt: skip
    assert find("arith", "reference", "add", "256 bits") is None


def comparison() -> Comparison:
    return Comparison("arith", "cpu", "cpu", "Paperweight 9000", ["No tea."])


def add() -> Row:
    return Row("add", "256 bits", "numbers", HALF, {"gmpy2": ONE}, details={"count": 3})


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        add,
        lambda: Row("S | a", "7", "strings", ONE),
        lambda: Row("torus", "9", "cells", problem="too large"),
    ]
    present(comparison(), rows, as_json=False)
    first, note, _, *table, _, said, source = capsys.readouterr().out.splitlines()
    assert first.endswith("on cpu; Paperweight 9000.")
    assert note == "No tea."
    assert len({len(line) for line in table}) == 1
    assert set(table[1]) <= set("|- ")
    reference = 1e9 / 3.6
    assert cells(table[0])[3:] == [
        "here", "reference", "/ reference", "of", "gmpy2", "/ gmpy2"
    ]  # fmt: skip
    assert cells(table[2]) == [
        "add", "256 bits", "numbers", "40.0", "278 M", ratio_text(40 / reference),
        "Xeon, 2 cores", "80.0", "0.513",
    ]  # fmt: skip
    assert cells(table[3]) == ["S | a", "7", "strings", "80.0", *[""] * 5]
    assert cells(table[4])[3] == "too large"
    assert "take turns" in said
    assert "`python -m benchmarks.bignum_cpu`" in source


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    present(comparison(), [add, lambda: Row("a", "b", "c", problem="no")], as_json=True)
    facts = json.loads(capsys.readouterr().out)
    assert (facts["command"], facts["interrupted"]) == ("arith bench", False)
    measured, missing = facts["results"]
    assert (measured["rate"], measured["best"], measured["rounds"]) == (40.0, 80.0, 3)
    assert measured["count"] == 3
    assert measured["reference"]["figure"] == "3.6"
    assert measured["reference"]["command"] == "python -m benchmarks.bignum_cpu"
    assert measured["peers"] == {"gmpy2": {"rate": 80.0, "ratio": pytest.approx(40 / 78)}}
    assert missing == {"operation": "a", "size": "b", "unit": "c", "problem": "no"}


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("end", [KeyboardInterrupt, ValueError])
def test_what_ends_it_leaves_the_rows_so_far(
    end: type[BaseException], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> Row:
        raise end

    with pytest.raises(end):
        present(comparison(), [add, fail, add], as_json=as_json)
    said = capsys.readouterr().out
    if as_json:
        facts = json.loads(said)
        assert facts["interrupted"] == (end is KeyboardInterrupt)
        assert [row["operation"] for row in facts["results"]] == ["add"]
    else:
        assert said.count("| add ") == 1
    with pytest.raises(end):
        present(comparison(), [fail], as_json=as_json)
    assert capsys.readouterr().out == ""


def test_numbers_as_people_read_them() -> None:
    for rate, text in (
        (0.5, "0.500"), (40, "40.0"), (999.4, "999"), (999.6, "1.00 k"), (68e6, "68.0 M"),
        (3.75e13, "37.5 T"), (9.9e15, "9900 T"),
    ):  # fmt: skip
        assert rate_text(rate) == text
    for ratio, text in (
        (0.02061, "0.0206"), (1, "1.00"), (41.34, "41.3"), (99.96, "100"), (5680, "5,680"),
        (3123456, "3,120,000"),
    ):  # fmt: skip
        assert ratio_text(ratio) == text
    assert markdown([["a", "b"], ["1", "2|3"]]) == [
        "| a   | b    |", "| --- | ---- |", "| 1   | 2\\|3 |"
    ]  # fmt: skip
