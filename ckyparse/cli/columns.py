"""Results beside lines, and as objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from ckyparse.cli.lines import ACCEPTED, DROPPED, REJECTED, UNDECIDED, Lines

_ANSWERS = {ACCEPTED: "true", REJECTED: "false", UNDECIDED: "null"}


def numbered(lines: Lines, texts: Sequence[str]) -> bytes:
    """Write each line that is not DROPPED behind its text and a tab; ? if UNDECIDED."""
    rows = []
    for i, status in enumerate(lines.status.tolist()):
        if status != DROPPED:
            text = "?" if status == UNDECIDED else texts[i]
            rows.append(b"%s\t%s\n" % (text.encode(), lines.line(i)))
    return b"".join(rows)


def objects(lines: Lines, columns: Mapping[str, Sequence[str | None]], named: bool) -> bytes:
    """Return a JSON object for each line that is not DROPPED, a line each.

    columns: more entries, as JSON; what is None has no entry, and UNDECIDED lines have none
    of them. named: with the file.
    """
    file = f'"file": {json.dumps(lines.path)}, ' if named else ""
    rows = []
    for i in np.flatnonzero(lines.status != DROPPED).tolist():
        status = int(lines.status[i])
        more = "".join(
            f', "{name}": {column[i]}'
            for name, column in columns.items()
            if status != UNDECIDED and column[i] is not None
        )
        rows.append(f'{{{file}"line": {lines.first + i}, "accepted": {_ANSWERS[status]}{more}}}\n')
    return "".join(rows).encode()
