"""Lists of the rules that are known by a name, of this program's own and of rule files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kernels.life.rules import AgeingRule, LifeRule, MapRule
from kernels.ranges.rules import RangeRule
from lifesim.rule import Rule
from lifesim.rules import files, jvn, named

_FIRST = 1 << 16  # bytes of a rule file that are looked at
_STATES = re.compile(rb"^\s*(?:n_states\s*:|num_states\s*=)\s*([0-9]{1,3})", re.MULTILINE)
_SAYS = re.compile(r"^@RULE\s+\S+[^\n]*\n(.*?)(?=^@[A-Z]+)", re.MULTILINE | re.DOTALL)
_LONGEST = 200

TABLES = (
    named.NamedRule(
        "WireWorld",
        "WireWorld",
        "Electrons run along wires; Brian Silverman built a computer of it.",
    ),
    named.NamedRule(
        "LifeHistory",
        "LifeHistory",
        "Life that marks where cells have lived; B36/S23History does the same for other rules.",
    ),
    named.NamedRule(
        "JvN29",
        "JvN29",
        "John von Neumann's automaton of 29 states, in which a machine builds copies of itself.",
    ),
    named.NamedRule(
        "Nobili32",
        "Nobili32",
        "Von Neumann's automaton with signals that cross, by Renato Nobili and Umberto Pesavento.",
    ),
    named.NamedRule(
        "Hutton32",
        "Hutton32",
        "Tim Hutton's variant of von Neumann's automaton: a line of arrows builds and retracts.",
    ),
)


@dataclass(frozen=True, slots=True)
class KnownRule:
    """A rule with a name. rule: its usual form; family: what kind it is; states: None where a file
    does not say them near its beginning; path: the file that it is from, None of our own."""

    name: str
    rule: str
    family: str
    states: int | None
    known_for: str
    others: tuple[str, ...] = ()
    path: str | None = None

    def has(self, text: str) -> bool:
        """Tell whether a text stands in any part of it, in any case of letters."""
        parts = (self.name, self.rule, self.family, self.known_for, *self.others)
        return any(text.casefold() in part.casefold() for part in parts)


def family_of(rule: Rule) -> str:
    """Return what people call rules of this kind."""
    match rule.cells:
        case LifeRule():
            return "Life-like"
        case AgeingRule():
            return "Generations"
        case RangeRule():
            return "Larger than Life"
        case MapRule():
            if rule.name.startswith("MAP"):
                return "MAP"
            if rule.name.startswith("W"):
                return "Wolfram"
            ends = {"V": "von Neumann", "H": "hexagonal"}
            return ends.get(rule.name[-1], "non-totalistic")
    return "JvN" if rule.name in jvn.NAMES else "table"


def own() -> Iterator[KnownRule]:
    """Give the rules that this program knows by itself."""
    for known in (*named.NAMED, *TABLES):
        rule = Rule.parse(known.rule, [])
        family = family_of(rule)
        yield KnownRule(known.name, rule.name, family, rule.states, known.known_for, known.others)


def of_files(folders: Iterable[str]) -> Iterator[KnownRule]:
    """Give the rules of the rule files in folders, which are not read as a whole."""
    for name, path in sorted(files.listed(folders).items()):
        try:
            with open(path, "rb") as file:
                data = file.read(_FIRST)
        except OSError:
            continue
        states = _STATES.search(data)
        says = _SAYS.search(data.decode("utf-8", "replace").replace("\r", ""))
        yield KnownRule(
            name, name, "table", int(states[1]) if states else None,
            _sentence(says[1]) if says else "", path=path,
        )  # fmt: skip


def _sentence(text: str) -> str:
    """Return the first lines of a description as one, short and without what a terminal obeys."""
    words = " ".join(text.split("\n\n")[0].replace("#", " ").split()) or " ".join(text.split())
    plain = "".join(letter if letter.isprintable() else "?" for letter in words)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 3] + "..."


def places(folders: Iterable[str]) -> list[str]:
    """Return the folders with rule files that names are looked for in, those asked for first."""
    from lifesim.ruletables import folders_for

    return [folder for folder in folders_for(tuple(folders)) if os.path.isdir(folder)]
