"""What a manifest says of a rule: its name, and where no name says it all, its table.

A rule file may change, or be somewhere else, while a universe lasts. So the table of such a rule
is kept in the manifest, with the colours of its states.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from functools import lru_cache
from typing import Any

from kernels.tables.rules import CELLS, ENTRIES, TableRule
from lifesim.rule import Rule, RuleError
from lifesim.rules.files import could_be_one
from lifesim.store import facts as checked
from lifesim.store.facts import FactError, Facts

_MOST_TEXT = 1 << 26  # characters of a table as text, that does not get smaller
_MOST_NAME = 1 << 20  # characters: of neighbourhoods of any shape
_MOST_STATES = 256


def rule_facts(rule: Rule) -> dict[str, Any]:
    """Return what a manifest says of a rule: `rule`, its name, and for one of a file `table`."""
    colours = tuple(sorted((state, *colour) for state, colour in rule.colours.items()))
    table = _table_facts(rule, colours)
    return {"rule": rule.name} | ({"table": table} if table else {})


@lru_cache(maxsize=16)
def _table_facts(rule: Rule, colours: tuple[tuple[int, ...], ...]) -> dict[str, Any] | None:
    """Return the table of a rule; None where its name says it all. colours: (state, red, green,
    blue)."""
    if not isinstance(rule.cells, TableRule):
        return None
    try:
        if Rule.parse(rule.name, folders=()) == rule:
            return None
    except RuleError:
        pass  # a name that only files have
    levels = rule.cells.levels
    return {
        "states": rule.states,
        "bytes": [len(level) for level in levels],
        "levels": base64.b64encode(zlib.compress(b"".join(levels))).decode(),
        "colours": [list(colour) for colour in colours],
    }


def rule_of(facts: Facts) -> Rule:
    """Return the rule of a manifest. No rule file is looked for. Raises FactError for what is
    none."""
    if "table" in facts:
        return _table_rule(facts)
    try:
        name = checked.text(facts, "rule", "[A-Za-z0-9+/=,.@-]*", _MOST_NAME)
        return Rule.parse(name, folders=())
    except RuleError:
        raise FactError("rule is none") from None


def _table_rule(facts: Facts) -> Rule:
    """Return the rule whose table is in the manifest."""
    name = checked.text(facts, "rule", r"[\s\S]*", 128)
    if not could_be_one(name):
        raise FactError("rule is no name of a rule file")
    table = facts["table"]
    if not isinstance(table, dict):
        raise FactError("table is none")
    states = checked.integer(table, "states", 2, _MOST_STATES)
    sizes = [
        checked.as_integer(size, "bytes of table", 1, 4 * ENTRIES)
        for size in checked.as_items(table.get("bytes"), "bytes of table", len(CELLS), len(CELLS))
    ]
    if sum(sizes) > 4 * ENTRIES:
        raise FactError("table is too large")
    text = checked.text(table, "levels", "[A-Za-z0-9+/]*={0,2}", _MOST_TEXT)
    data = _unpacked(text, sum(sizes))
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    levels = tuple(data[end - size : end] for size, end in zip(sizes, ends, strict=True))
    try:
        cells = TableRule(states, levels)
    except ValueError:
        raise FactError("table is none") from None
    return Rule(cells, name, _colours_of(table, states))


def _unpacked(text: str, size: int) -> bytes:
    """Return so many bytes that a text holds, compressed."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, zlib.error):
        raise FactError("levels of table are not as they are written") from None
    if len(data) != size or not unpacking.eof:
        raise FactError("levels of table are of another size")
    return data


def _colours_of(table: Facts, states: int) -> dict[int, tuple[int, int, int]]:
    """Return the colours of states that have one."""
    colours = {}
    for item in checked.items(table, "colours", states):
        state, red, green, blue = (
            checked.as_integer(value, "colours of table", 0, 255)
            for value in checked.as_items(item, "colours of table", 4, 4)
        )
        if state >= states:
            raise FactError("colours of table are of more states")
        colours[state] = red, green, blue
    return colours
