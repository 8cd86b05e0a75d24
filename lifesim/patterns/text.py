"""Lines, places and the rule text that the formats share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lifesim.cancelling import go_on
from lifesim.patterns.files import STEP
from lifesim.patterns.pattern import Pattern, PatternError
from lifesim.rule import LIFE, Rule, RuleError
from lifesim.topology import Edges, TopologyError, bounds_text, parse_bounds

# What repr() makes of a byte that is no UTF-8, not of a backslash that stood there.
_BYTE = re.compile(r"(?<!\\)((?:\\\\)*)\\udc([89a-f][0-9a-f])")


def lines(data: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the bytes of each line from `start`, line ends left off."""
    looked = start
    while start < len(data):
        if start - looked > STEP:
            looked = start
            go_on()
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, data[start:end].rstrip(b"\r")
        start = end + 1


def place(data: bytes, offset: int) -> tuple[int, int]:
    """Return line and column of a byte, both from 1."""
    return data.count(b"\n", 0, offset) + 1, offset - data.rfind(b"\n", 0, offset)


def error_at(what: str, name: str, data: bytes, offset: int) -> PatternError:
    """Return a PatternError that points at data[offset]."""
    line, column = place(data, offset)
    return PatternError(what, name, line, column)


def shown(text: bytes) -> str:
    """Return untrusted bytes as they may stand in an error message: quoted and short, a byte that
    is no UTF-8 as \\xb4."""
    decoded = text.decode("utf-8", "surrogateescape")
    quoted = repr(decoded if len(decoded) <= 40 else decoded[:37] + "...")
    return _BYTE.sub(r"\1\\x\2", quoted)


def decoded(text: bytes) -> str:
    """Return a name or comment: UTF-8, bytes that are not shown as U+FFFD, outer blanks off."""
    return text.decode("utf-8", "replace").strip()


def encoded(text: str) -> list[bytes]:
    """Return a name or comment as the lines it takes; at least one."""
    return [part.strip().encode("utf-8", "replace") for part in text.splitlines()] or [b""]


def one_line(text: str) -> bytes:
    """Return a name on a single line."""
    return b" ".join(encoded(text))


def parse_rule(text: str, beside: str) -> tuple[Rule, Edges | None, tuple[int, int] | None]:
    """Read `B3/S23`, with Golly's bounds after it or not: `B3/S23:T100,200`.

    beside: the path of the file that names the rule, beside which a rule file may be. Raises
    RuleError for an unknown rule, and for what lifesim.topology.parse_bounds() refuses.
    """
    rule, colon, bounds = text.partition(":")
    known = Rule.parse(rule, beside=beside)
    if not colon:
        return known, None, None
    try:
        return known, *parse_bounds(bounds.strip())
    except TopologyError as error:
        raise RuleError(str(error)) from None


def rule_text(pattern: Pattern) -> str:
    """Return the rule as parse_rule reads it; empty where the pattern names none.

    Bounds cannot stand without a rule: a bounded pattern that names none gets Life's.
    """
    bounds = ""
    if pattern.topology is not None and pattern.size is not None:
        bounds = f":{bounds_text(pattern.topology, pattern.size)}"
    if pattern.rule is None:
        return f"{LIFE}{bounds}" if bounds else ""
    return f"{pattern.rule}{bounds}"
