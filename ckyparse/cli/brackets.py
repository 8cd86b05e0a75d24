"""Trees as text, however deep."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nltk.tree import Tree


@dataclass(frozen=True)
class Style:
    """Says how a node is written: its label between first and last, what is below after `between`.

    always: the label is followed by `between` even where there is nothing below.
    """

    first: str
    between: str
    last: str
    always: bool
    quoted: Callable[[Any], str]


# As nltk writes a tree on one line. Tokens of a JSON array can have newlines.
BRACKETS = Style("(", " ", ")", True, lambda symbol: str(symbol).replace("\n", "\\n"))
ARRAYS = Style("[", ", ", "]", False, lambda symbol: json.dumps(str(symbol)))


def written(tree: Tree, style: Style) -> str:
    """Write a tree on one line."""
    pieces: list[str] = []
    waiting: list[tuple[bool, Any]] = [(True, tree)]  # what is a node, and what is text
    while waiting:
        is_node, item = waiting.pop()
        if not is_node:
            pieces.append(item)
        elif isinstance(item, str):
            pieces.append(style.quoted(item))
        else:
            pieces.append(style.first + style.quoted(item.label()))
            if style.always or item:
                pieces.append(style.between)
            waiting.append((False, style.last))
            for number, child in enumerate(reversed(item)):
                if number:
                    waiting.append((False, style.between))
                waiting.append((True, child))
    return "".join(pieces)
