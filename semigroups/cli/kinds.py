"""Tell what the command writes by how a file begins, so that nothing else is overwritten."""

from __future__ import annotations

import re

from bulkbits.overwriting import FileKind, begins

_COMMENT = re.compile(rb"#[^\r\n]*")
_LIST_OF_MAPS = re.compile(rb"\s*(?:\w+\s*:=\s*)?\W*(?:Transformation|Semigroup|Monoid)\b")
_RULE = re.compile(rb"[0-9 ]*\t[0-9 ]*")


def _is_stored(path: str) -> bool:
    from bulkbits.hdf5 import is_of
    from semigroups.archive import TYPE

    return is_of(path, TYPE)


SEMIGROUP = FileKind("saved semigroup", _is_stored)


def _are_generators(head: bytes) -> bool:
    text = _COMMENT.sub(b"", head)
    return not text.translate(None, b"0123456789,[] \t\r\n") or bool(_LIST_OF_MAPS.match(text))


GENERATORS = begins("list of generators", _are_generators)


def _are_rules(head: bytes) -> bool:
    """Return whether all lines are rules; the last one, which may be cut off, is looked at less."""
    lines = head.split(b"\n")
    return all(map(_RULE.fullmatch, lines[:-1])) and not lines[-1].translate(None, b"0123456789 \t")


RULES = begins("list of rules", _are_rules)
