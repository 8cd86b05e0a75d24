"""Universes on disk whose rule is a table of a file: the table is theirs, and stays."""

from __future__ import annotations

import base64
import shutil
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lifesim.rule import Rule
from lifesim.store.facts import FactError
from lifesim.store.rulefacts import rule_facts, rule_of
from lifesim.store.universe import Universe
from tests.commands import refused
from tests.tables_contract import some_case

# Each cell becomes what stands to its left.
LEFT = """@RULE Left
@TABLE
n_states:3
neighborhood:Moore
symmetries:none
var a={0,1,2}
var b=a
var c=a
var d=a
var e=a
var f=a
var g=a
var h=a
h,a,b,c,d,e,f,0,g,0
h,a,b,c,d,e,f,1,g,1
h,a,b,c,d,e,f,2,g,2
@COLORS
1 255 0 0
2 0 128 255
"""


def some_rule() -> Rule:
    return Rule(some_case(3, 1).rule, "Some rule's (2)", {2: (1, 2, 3)})


@pytest.mark.parametrize("states", [2, 3, 29, 256])
def test_a_table_comes_back(states: int) -> None:
    rule = Rule(some_case(states, 1).rule, "Some rule's (2)", {1: (1, 2, 3)})
    again = rule_of(rule_facts(rule))
    assert again == rule
    assert again.colours == rule.colours
    other = Rule(rule.cells, rule.name)
    assert rule_of(rule_facts(other)).colours == {}


@pytest.mark.parametrize(
    "name", ["B3/S23", "345/2/4", "WireWorld", "LifeHistory", "B36/S23History", "JvN29"]
)
def test_a_name_that_says_it_all_is_enough(name: str) -> None:
    rule = Rule.parse(name)
    assert rule_facts(rule) == {"rule": rule.name}
    assert rule_of(rule_facts(rule)) == rule


def test_a_name_that_a_file_takes_for_another_rule_is_not() -> None:
    rule = Rule(some_case(3, 1).rule, "WireWorld")
    assert "table" in rule_facts(rule)
    assert rule_of(rule_facts(rule)) == rule


def zeros(size: int) -> str:
    return base64.b64encode(zlib.compress(bytes(size))).decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"states": 1},
        {"states": 257},
        {"states": True},
        {"states": 4},
        {"bytes": [12] * 8},
        {"bytes": [12] * 10},
        {"bytes": [0] + [12] * 8},
        {"bytes": [4 << 22] * 9},
        {"bytes": [12.0] * 9},
        {"bytes": "12"},
        {"levels": None},
        {"levels": "!"},
        {"levels": "A"},
        {"levels": "AAAA"},
        {"levels": base64.b64encode(b"no such thing").decode()},
        {"levels": zeros(1)},
        {"levels": zeros(1 << 27)},
        {"colours": None},
        {"colours": [[1, 2, 3]]},
        {"colours": [[3, 1, 2, 3]]},
        {"colours": [[1, 2, 3, 256]]},
        {"colours": [[1, 2, 3, -1]]},
        {"colours": [[1, 2, 3, 4]] * 4},
    ],
    ids=str,
)
def test_what_was_never_written(wrong: dict[str, Any]) -> None:
    facts = rule_facts(some_rule())
    with pytest.raises(FactError):
        rule_of({**facts, "table": {**facts["table"], **wrong}})


@pytest.mark.parametrize("name", ["", "../there", "a" * 101, "a\n", "B3/S23", 7])
def test_names_that_no_file_has(name: object) -> None:
    with pytest.raises(FactError):
        rule_of({**rule_facts(some_rule()), "rule": name})


@pytest.mark.parametrize("table", [None, [], 1, {}])
def test_what_is_no_table(table: object) -> None:
    with pytest.raises(FactError):
        rule_of({"rule": "Left", "table": table})


def test_entries_that_name_no_node() -> None:
    facts = rule_facts(some_rule())
    size = sum(facts["table"]["bytes"])
    levels = base64.b64encode(zlib.compress(b"\xff" * size)).decode()
    with pytest.raises(FactError, match="table is none"):
        rule_of({**facts, "table": {**facts["table"], "levels": levels}})


def test_a_universe_needs_its_rule_file_no_more(lifesim, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "Left.rule").write_text(LEFT)
    soup = ["--size", "300x200", "--rule", "Left", "--rules", "rules", "--seed", 5]
    expected = lifesim("run", *soup, "--steps", 40, "--json").facts
    assert lifesim("random", *soup, "--tiles", "2x3", "-o", "soup").code == 0
    shutil.rmtree("rules")
    ran = lifesim("run", "soup", "--steps", 40, "--json").facts
    for key in ("digest", "population", "rule"):
        assert ran[key] == expected[key]
    assert lifesim("verify", "soup", "--recompute").code == 0
    lifesim("render", "soup", "--region", "0,0,64x64", "--scale", "1:1", "-o", "soup.png")
    with Universe.open("soup") as universe, Image.open("soup.png") as picture:
        assert universe.rule.colours == {1: (255, 0, 0), 2: (0, 128, 255)}
        states = universe.region((0, 0, 64, 64)).states()
        seen = np.asarray(picture.convert("RGB"))
    assert np.array_equal(seen[states == 1], np.full(((states == 1).sum(), 3), (255, 0, 0)))
    assert np.array_equal(seen[states == 2], np.full(((states == 2).sum(), 3), (0, 128, 255)))
    refused(lifesim("run", "soup", "--steps", 1, "--rule", "Left"), 2, "rule")
