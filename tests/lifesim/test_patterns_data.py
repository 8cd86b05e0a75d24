"""The patterns that come with the package, and what their README says of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lifesim import patterns
from lifesim.rule import Rule

FOLDER = Path(__file__).resolve().parents[2] / "data" / "patterns"
ROW = re.compile(r"^\| (\S+\.\w+) \| (\S+) \| (.+?) \|", re.MULTILINE)
FACTS = {
    name: (Rule.parse(rule), [tuple(map(int, fact.split(" → "))) for fact in facts.split(", ")])
    for name, rule, facts in ROW.findall((FOLDER / "README.md").read_text("utf-8"))
}
BGOLLY = shutil.which("bgolly")


# What all files claim of themselves is tested in library/test_claims.py.
@pytest.mark.parametrize("name", FACTS)
def test_pattern_files_are_complete(name: str) -> None:
    pattern = patterns.read(FOLDER / name)
    rule, facts = FACTS[name]
    assert pattern.rule == rule or (name.endswith(".cells") and pattern.rule is None)
    assert (0, pattern.grid.population()) == facts[0]
    assert pattern.name
    assert pattern.comments


@pytest.mark.skipif(BGOLLY is None, reason="bgolly is not installed")
@pytest.mark.parametrize("name", FACTS)
def test_golly_counts_the_same(name: str) -> None:
    for generation, population in FACTS[name][1]:
        command = [str(BGOLLY), "-m", str(generation), str(FOLDER / name)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        last = done.stdout.strip().splitlines()[-1].replace(",", "")
        assert last == f"{generation}: {population}"
