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
    if entry.width is not None and entry.height is not None:
        facts.append(f"{entry.width:,} × {entry.height:,}")
    return "  ".join(facts)


def facts_of(entry: PatternEntry, *, is_ours: bool = False) -> list[tuple[str, str]]:
    """Return the facts of a pattern, as pairs of what is said and what it is: those alone that are
    known. is_ours: it comes with this program, so that commands know it by its name."""
    found = ", ".join(part for part in (entry.discoverer, str(entry.year or "")) if part)
    sides = entry.width is not None and entry.height is not None
    rows = [
        ("Kind", entry.kind if entry.kind != "other" else ""),
        ("Rule", entry.rule),
        ("Size", f"{entry.width:,} × {entry.height:,}" if sides else ""),
        ("Period", f"{entry.period:,}" if entry.period is not None else ""),
        ("Speed", entry.speed),
        ("Settles at", f"generation {entry.lifespan:,}" if entry.lifespan is not None else ""),
        ("Found by", found),
        ("Also called", "; ".join(entry.others)),
        ("Name", entry.name) if is_ours else ("File", short_path(entry.path)),
    ]
    return [(label, value) for label, value in rows if value]
