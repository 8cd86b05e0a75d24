"""The grammars of data/grammars and their sentences."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "data" / "grammars"
GRAMMARS = sorted(path for path in FOLDER.iterdir() if path.suffix in (".cfg", ".pcfg"))


@dataclass(frozen=True)
class Example:
    """parses: 0 for what is no sentence, inf for infinitely many."""

    tokens: tuple[str, ...]
    parses: float


def examples(path: Path) -> list[Example]:
    """Those beside a grammar; data/grammars/README.md says how they are written."""
    head, *lines = path.with_suffix(".examples").read_text("utf-8").removesuffix("\n").split("\n")
    assert head in ("%tokens chars", "%tokens space")
    found = []
    for line in lines:
        sign, _, text = line.partition(" ")
        assert sign[0] in "+-", line
        parses = 0 if sign == "-" else inf if sign == "+inf" else int(sign)
        found.append(Example(tuple(text if head.endswith("chars") else text.split(" ")), parses))
        if not text:
            found[-1] = Example((), parses)
    return found
