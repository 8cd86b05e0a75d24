"""Read what the first lines of a pattern file say, in any format, without its cells.

The facts that we write are comments of a fixed form, which other programs show as they are:

    #N Gosper glider gun
    #O Bill Gosper, 1970
    #C The first gun, and the first pattern known to grow without end.
    #C Kind: gun
    #C Period: 30
    #C Also: p30 gun; Gosper gun

`Speed:` and `Lifespan:` are the others. Of other people's files all lines that fit are read, and
the first other comment is what is said about the pattern.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Iterator

from lifesim.library.entry import KINDS, PatternEntry, key_of

HEAD = 1 << 14  # bytes of a file that are looked at
_LONGEST = 400  # letters of a fact
_SIZE = re.compile(r"x\s*=\s*([0-9]{1,18})\s*,\s*y\s*=\s*([0-9]{1,18})", re.IGNORECASE)
_RULE = re.compile(r"rule\s*=\s*(\S.*)", re.IGNORECASE)
_BOARD_RULE = re.compile(r"#(?:RULE|R|r|GOLLY)\s+(\S.*)")
_KEYWORD = re.compile(r"#[A-Z]{2,}")  # as #CXRLE and MCell's #COLORS
_FACT = re.compile(r"(Kind|Period|Speed|Lifespan|Also)\s*:\s*(.+)", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:Pattern )?(Name|Author|Discoverer|Discovered by)\s*:\s*(.+)", re.IGNORECASE
)
_YEAR = re.compile(r"(.*?)[\s,(]*\b((?:19|20)[0-9]{2})\)?\.?")
_ADDRESS = re.compile(r"(?:https?://|www\.|conwaylife\.com)\S*", re.IGNORECASE)


def entry_of(path: str, name: str) -> PatternEntry:
    """Return what is known of a pattern file that is called `name`.

    Raises OSError where it cannot be opened, and for what is no plain file.
    """
    return _entry(_text(_head(path)), path, name)


def _head(path: str) -> bytes:
    """Return the first bytes of a plain file, decompressed. Never waits, as a pipe would make one
    do."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is no plain file")
        head = file.read(HEAD)
    if not head.startswith(b"\x1f\x8b"):
        return b"" if head.startswith(b"PK\x03\x04") else head
    try:
        return zlib.decompressobj(31).decompress(head, HEAD)
    except zlib.error:
        return b""


def _text(head: bytes) -> str:
    """Return the lines that are whole."""
    if len(head) >= HEAD:
        head = head[: head.rfind(b"\n") + 1]
    return head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def shown(text: str) -> str:
    """Return somebody else's text as it may be printed: one line, not long, no control letters."""
    words = " ".join(text.split())
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _entry(text: str, path: str, name: str) -> PatternEntry:
    says: dict[str, str] = {}
    for key, value in _facts(text):
        says.setdefault(key, value)
    if text.startswith("!") and len(text) < HEAD:
        rows = [line.strip() for line in text.splitlines() if not line.startswith("!")]
        says |= {"width": str(max(map(len, rows), default=0)), "height": str(len(rows))}
    discoverer, year = _who(says.get("author", ""))
    kind = says.get("kind", "").casefold()
    return PatternEntry(
        name=name,
        title=says.get("name") or shown(name.rpartition("/")[2]),
        kind=kind if kind in KINDS else "other",
        rule=says.get("rule") or "B3/S23",
        path=path,
        discoverer=discoverer,
        year=year,
        width=_number(says.get("width")),
        height=_number(says.get("height")),
        period=_number(says.get("period")),
        speed=says.get("speed", ""),
        lifespan=_number(says.get("lifespan")),
        about=says.get("about", ""),
        others=tuple(other.strip() for other in says.get("also", "").split(";") if key_of(other)),
    )


def _facts(text: str) -> Iterator[tuple[str, str]]:
    """Yield what lines say, as keys and values; of a key the first counts."""
    is_life_105 = text.startswith("#Life")
    for line in text.splitlines():
        line = line.strip()
        if size := _SIZE.match(line):
            yield "width", size[1]
            yield "height", size[2]
            if rule := _RULE.search(line):
                yield "rule", shown(rule[1]).rstrip(",")
            return
        if line.startswith("!"):
            yield from _comment(line[1:])
        elif line.startswith("#"):
            key, rest = line[1:2], line[2:]
            if rule := _BOARD_RULE.fullmatch(line):
                yield "rule", shown(rule[1])
            elif key == "N" and not is_life_105 and rest.strip():
                yield "name", shown(rest)
            elif key == "O" and rest.strip():
                yield "author", shown(rest)
            elif key in ("C", "c", "D") and not _KEYWORD.match(line):
                yield from _comment(rest)


def _comment(text: str) -> Iterator[tuple[str, str]]:
    line = shown(text)
    if fact := _FACT.fullmatch(line):
        yield fact[1].casefold(), fact[2]
    elif named := _NAMED.fullmatch(line):
        yield "name" if named[1].casefold() == "name" else "author", named[2]
    elif any(letter.isalpha() for letter in line) and not _ADDRESS.fullmatch(line):
        yield "about", line


def _who(text: str) -> tuple[str, int | None]:
    """Divide "Bill Gosper, November 1970" into who it was and the year."""
    dated = _YEAR.fullmatch(text)
    if not dated:
        return text, None
    months = r"[\s,]*\b(?:\d{1,2}\s+)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?$"
    who = re.sub(months, "", dated[1].rstrip(" ,(")).rstrip(" ,(")
    return who, int(dated[2])


def _number(text: str | None) -> int | None:
    match = re.match(r"[0-9]{1,18}", text or "")
    return int(match[0]) if match else None
