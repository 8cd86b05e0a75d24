"""JSON that carries a checksum over every byte of itself."""

from __future__ import annotations

import hashlib
import json
from typing import Any

HEAD, _DIGITS = b'{"checksum":"', 32
_BLANK = b"0" * _DIGITS


def seal(facts: dict[str, Any]) -> bytes:
    """Return one line of JSON: the facts, after the BLAKE2b-128 of the line with zeros for it."""
    body = json.dumps(facts, separators=(",", ":")).encode()
    blank = HEAD + _BLANK + b'",' + body[1:] + b"\n"
    return blank.replace(_BLANK, _hash(blank), 1)


def unseal(line: bytes) -> dict[str, Any] | None:
    """Return the facts of a line, its newline included; None where a bit of it is not as written.

    The checksum keeps off faults, and nobody who means harm: what the facts are is to be checked.
    """
    start = len(HEAD)
    if not line.startswith(HEAD) or not line.endswith(b"\n"):
        return None
    blank = line[:start] + _BLANK + line[start + _DIGITS :]
    if line[start : start + _DIGITS] != _hash(blank):
        return None
    try:
        facts: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return None
    facts.pop("checksum", None)
    return facts


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGITS // 2).hexdigest().encode()
