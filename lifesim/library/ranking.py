"""Say how well a pattern fits what somebody looks for."""

from __future__ import annotations

from collections.abc import Sequence

from bulkbits import fuzzy
from lifesim.library.entry import PatternEntry, key_of

_LONGEST = 200  # letters of what is looked for


def ranked(text: str, entries: Sequence[PatternEntry]) -> list[PatternEntry]:
    """Return the entries that fit, best first, those that fit alike in their order.

    Each word of the text must stand somewhere in an entry, or begin a word there: in its names
    counts more than in its kind, period ("p30"), speed, discoverer, year and rule, and these more
    than in the sentence about it. Where nothing fits, the letters in their order, somewhere in a
    name, are enough: "gspr" finds the Gosper gun. All entries fit a text without letters.
    """
    words = text[:_LONGEST].casefold().split()
    if not words:
        return list(entries)
    fitting = [(_fit(text, words, entry), entry) for entry in entries]
    if not any(fit for fit, _ in fitting):
        return fuzzy.ranked(text[:_LONGEST], entries, lambda entry: entry.title)
    chosen = [pair for pair in fitting if pair[0] > 0]
    return [entry for _, entry in sorted(chosen, key=lambda pair: -pair[0])]


def _fit(text: str, words: Sequence[str], entry: PatternEntry) -> int:
    """Return how well an entry fits; 0 where a word is nowhere in it."""
    names = [key_of(name) for name in (entry.name, entry.title, *entry.others)]
    facts = (entry.kind, entry.speed, entry.discoverer, entry.rule)
    numbers = [f"p{entry.period}", str(entry.period)] if entry.period is not None else []
    if entry.year is not None:
        numbers.append(str(entry.year))
    of_facts = [word for fact in facts for word in fact.casefold().split()] + numbers
    about = entry.about.casefold()
    total = 0
    for word in words:
        gain = max(
            max((_in_name(key_of(word), name) for name in names), default=0),
            max((_in_word(word, fact) for fact in of_facts), default=0),
            2 if word in about else 0,
        )
        if not gain:
            return 0
        total += gain
    wanted = key_of(text)
    if wanted in names:
        return total + 1000
    return total + (200 if wanted and any(name.startswith(wanted) for name in names) else 0)


def _in_name(word: str, name: str) -> int:
    if not word:
        return 0
    parts = name.split("-")
    if word in parts or (word in name and "-" in word):
        return 60
    if any(part.startswith(word) for part in parts):
        return 40
    return 20 if word in name else 0


def _in_word(word: str, fact: str) -> int:
    if word == fact:
        return 15
    return 10 if word.isalpha() and fact.startswith(word) else 0
