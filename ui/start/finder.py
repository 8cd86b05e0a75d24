"""Finds patterns of a library in a thread of its own: only what was asked for last."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from bulkbits.plurals import many
from lifesim.errors import LifesimError
from lifesim.library import KINDS, PatternEntry, PatternLibrary
from lifesim.library.library import rule_name
from ui.start.cards import Card
from ui.start.facts import card_of

_OFTEN = 500  # files that are read between two looks at what is wanted now
MOST_SHOWN = 1000  # entries: a list of more is slow, and nobody reads it


@dataclass(frozen=True, slots=True)
class Wanted:
    """Says what is looked for. kind, rule: None for any."""

    library: PatternLibrary
    text: str = ""
    kind: str | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class FoundPatterns:
    """Says what was found: the best of `count` entries, at most MOST_SHOWN, and their cards.

    kinds, rules: those that the library has at all, in order. is_whole: the library has been read
    to its end; else entries are some that were found so far. problem: why nothing could be looked
    for, '' where it could. notes: what the library left out.
    """

    wanted: Wanted
    entries: tuple[PatternEntry, ...]
    cards: tuple[Card, ...]
    count: int
    kinds: tuple[str, ...]
    rules: tuple[str, ...]
    is_whole: bool
    problem: str = ""
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """Say how many patterns there are."""
        if self.problem:
            return self.problem
        if not self.is_whole:
            return f"{self.count:,} so far…"
        if not self.count:
            wanted = self.wanted
            narrowed = wanted.text.strip() or wanted.kind or wanted.rule
            return "Nothing fits." if narrowed else "There are no pattern files."
        text = many(self.count, "pattern")
        if self.count > len(self.entries):
            text += f", of which the first {len(self.entries):,} are shown"
        return f"{text}; {len(self.notes):,} files were left out" if self.notes else text


class Finder:
    """Looks for what is wanted. told: is called in the finder's thread, with FoundPatterns."""

    def __init__(self, told: Callable[[FoundPatterns], None]) -> None:
        self._told = told
        self._wanted: Wanted | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def look(self, wanted: Wanted) -> None:
        """Look for this, in place of what is being looked for."""
        with self._changed:
            if self._closed:
                return
            self._wanted = wanted
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="finder", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Tell of nothing more; the thread ends soon."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                while self._wanted is None and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                wanted, self._wanted = self._wanted, None
            assert wanted is not None
            self._find(wanted)

    def _is_old(self) -> bool:
        return self._closed or self._wanted is not None

    def _tell(self, found: FoundPatterns) -> None:
        with self._changed:
            if not self._is_old():
                self._told(found)

    def _find(self, wanted: Wanted) -> None:
        some: list[PatternEntry] = []
        kinds: set[str] = set()
        rules: set[str] = set()
        for entry in wanted.library:
            if self._is_old():
                return
            some.append(entry)
            kinds.add(entry.kind)
            rules.add(rule_name(entry.rule) or "")
            if len(some) % _OFTEN == 0 and not (wanted.text.strip() or wanted.kind or wanted.rule):
                self._tell(_found(wanted, some, kinds, rules, is_whole=False))
        problem = ""
        try:
            some = wanted.library.search(wanted.text, kind=wanted.kind, rule=wanted.rule)
        except LifesimError as error:
            some, problem = [], str(error)
        self._tell(_found(wanted, some, kinds, rules, problem=problem))


def _found(
    wanted: Wanted,
    entries: list[PatternEntry],
    kinds: set[str],
    rules: set[str],
    *,
    is_whole: bool = True,
    problem: str = "",
) -> FoundPatterns:
    some = tuple(entries[:MOST_SHOWN])
    cards = tuple(map(card_of, some))
    has = tuple(kind for kind in KINDS if kind in kinds), tuple(sorted(rules - {""}))
    notes = wanted.library.notes
    return FoundPatterns(wanted, some, cards, len(entries), *has, is_whole, problem, notes)
