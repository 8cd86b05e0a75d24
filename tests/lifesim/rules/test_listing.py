"""The list of rules that have a name, and the folders of rule files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lifesim.rule import Rule, RuleError
from lifesim.rules import files
from tests.commands import Done

WIRES = """@RULE Wires

Wires that conduct.

@TABLE
n_states:3
neighborhood:Moore
symmetries:permute
1,0,0,0,0,0,0,0,0,2
2,0,0,0,0,0,0,0,0,0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Wires.rule").write_text(WIRES)
    (tmp_path / "Broken.rule").write_text("@RULE Broken\n@TABLE\nn_states:three\n")
    return tmp_path


def test_rules_are_listed_and_searched(folder: Path, lifesim: Callable[..., Done]) -> None:
    done = lifesim("rules", "--rules", str(folder), "--search", "wires", "--json")
    assert [rule["name"] for rule in json.loads(done.out)] == ["WireWorld", "Wires"]
    found = json.loads(done.out)[1]
    assert (found["states"], found["known_for"]) == (3, "Wires that conduct.")
    done = lifesim("rules", "--search", "highlife")
    assert "HighLife  B36/S23  (Life-like, 2 states)" in done.out


def test_a_rule_file_is_found_in_a_folder_and_beside_a_pattern(folder: Path) -> None:
    rule = Rule.parse("Wires", [str(folder)])
    assert (str(rule), rule.states) == ("Wires", 3)
    assert Rule.parse("Wires", beside=str(folder / "a.rle")) == rule
    files.look_in([str(folder)])
    try:
        assert Rule.parse("Wires") == rule
    finally:
        files.look_in([])
    with pytest.raises(RuleError, match="unknown rule 'Wires'"):
        Rule.parse("Wires", [])


def test_a_broken_rule_file_is_said_with_its_line(folder: Path) -> None:
    with pytest.raises(RuleError, match=r"Broken\.rule, line 3"):
        Rule.parse("Broken", [str(folder)])
