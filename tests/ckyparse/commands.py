"""Grammars and helpers for the tests of the ckyparse command."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

COMMAND = [sys.executable, "-c", "from ckyparse.cli import main; main()"]
DYCK = "S -> '(' S ')' S |\n"
ENGLISH = """S -> NP VP
NP -> 'I' | Det N | NP PP
Det -> 'the' | 'a'
N -> 'man' | 'park' | 'dog'
VP -> V NP | VP PP
V -> 'saw' | 'walked'
PP -> P NP
P -> 'in' | 'with'
"""
COINS = "S -> S S [0.4] | 'a' [0.4] | 'b' [0.2]\n"
CYCLIC = "S -> S | 'a' | S 'b'\n"


class Done(NamedTuple):
    code: int
    out: str
    err: str


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def refused(done: Done, says: str, code: int = 2) -> None:
    assert done.code == code, done
    assert re.search(says, done.err), done.err
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("ckyparse: ")


def closes(line: str) -> bool:
    depth = 0
    for character in line:
        depth += {"(": 1, ")": -1}.get(character, -math.inf)
        if depth < 0:
            return False
    return depth == 0
