"""JSON that carries a checksum over every byte of itself."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_HEAD, _DIGITS = b'{"checksum":"', 32
_BLANK = b"0" * _DIGITS


def seal(facts: dict[str, Any]) -> bytes:
    """One line of JSON: the facts, after the BLAKE2b-128 of the line with zeros for it."""
    body = json.dumps(facts, separators=(",", ":")).encode()
    blank = _HEAD + _BLANK + b'",' + body[1:] + b"\n"
    return blank.replace(_BLANK, _hash(blank), 1)


def unseal(line: bytes) -> dict[str, Any] | None:
    """The facts of a line, its newline included; None where a bit of it is not as written."""
    start = len(_HEAD)
    if not line.startswith(_HEAD) or not line.endswith(b"\n"):
        return None
    blank = line[:start] + _BLANK + line[start + _DIGITS :]
    if line[start : start + _DIGITS] != _hash(blank):
        return None
    facts: dict[str, Any] = json.loads(line)
    del facts["checksum"]
    return facts


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGITS // 2).hexdigest().encode()
