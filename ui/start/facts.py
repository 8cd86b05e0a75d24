"""What is said about a pattern of a library, on its card and beside it."""

from __future__ import annotations

from lifesim.library import PatternEntry
from ui.start.cards import Card, short_path


def card_of(entry: PatternEntry) -> Card:
    """Return the card of a pattern: its title, and its period, speed and size."""
    return Card(entry.path, entry.title, _brief(entry), entry.title)


def _brief(entry: PatternEntry) -> str:
    facts = []
    if entry.lifespan is not None:
        facts.append(f"{entry.lifespan:,} gen")
    if entry.speed:
        facts.append(entry.speed)
    elif entry.period is not None and entry.period > 1:
        facts.append(f"p{entry.period:,}")
    facts.append(_size(entry))
    return "  ".join(fact for fact in facts if fact)


def _size(entry: PatternEntry) -> str:
    """Return how wide and high a pattern is; '' where that is not known."""
    if entry.width is None or entry.height is None:
        return ""
    return f"{entry.width:,} × {entry.height:,}"


def facts_of(entry: PatternEntry, *, is_ours: bool = False) -> list[tuple[str, str]]:
    """Return the facts of a pattern, as pairs of what is said and what it is: those alone that are
    known. is_ours: it comes with this program, so that commands know it by its name."""
    rows = [
        ("Kind", entry.kind if entry.kind != "other" else ""),
        ("Rule", entry.rule),
        ("Size", _size(entry)),
        ("Period", f"{entry.period:,}" if entry.period is not None else ""),
        ("Speed", entry.speed),
        ("Settles at", f"generation {entry.lifespan:,}" if entry.lifespan is not None else ""),
        ("Found by", entry.discovered),
        ("Also called", "; ".join(entry.others)),
        ("Name", entry.name) if is_ours else ("File", short_path(entry.path)),
    ]
    return [(label, value) for label, value in rows if value]
