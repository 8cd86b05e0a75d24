"""Finding by a few letters of what is meant, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

_Item = TypeVar("_Item")


def score(query: str, text: str) -> int | None:
    """Return how well a text fits; None where letters are missing. Blanks in the query mean
    nothing.

    Letters that follow each other count most, then those that begin words; a shorter text is
    better than a longer one. Of all ways to place the letters the best one counts.
    """
    wanted = "".join(query.lower().split())
    low = text.lower()
    # best[j]: of placing the letters so far, the last of them at j; None where it cannot be.
    best: list[int | None] = []
    for number, letter in enumerate(wanted):
        row: list[int | None] = []
        before: int | None = None  # the best place of the letters before, anywhere left of j
        for j, found in enumerate(low):
            if found == letter:
                begins = j == 0 or not low[j - 1].isalnum()
                gain = 8 if begins else 1
                if number == 0:
                    row.append(gain)
                else:
                    ways = [] if before is None else [before]
                    adjacent = best[j - 1] if j else None
                    if adjacent is not None:
                        ways.append(adjacent + 8)
                    row.append(max(ways) + gain if ways else None)
            else:
                row.append(None)
            if number and (here := best[j]) is not None:
                before = here if before is None else max(before, here)
        best = row
    ends = [value for value in best if value is not None]
    if wanted and not ends:
        return None
    return 100 * max(ends, default=0) - len(text)


def ranked(query: str, items: Iterable[_Item], text: Callable[[_Item], str]) -> list[_Item]:
    """Return the items that fit, best first; equals, and all for an empty query, in their order."""
    if not query.strip():
        return list(items)
    scored = [(score(query, text(item)), item) for item in items]
    fitting = [(value, item) for value, item in scored if value is not None]
    return [item for _, item in sorted(fitting, key=lambda pair: -pair[0])]
