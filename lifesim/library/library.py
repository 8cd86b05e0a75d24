"""PatternLibrary: the pattern files of a folder, and what they say of themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from lifesim.errors import LifesimError
from lifesim.library.entry import KINDS, PatternEntry, key_of
from lifesim.library.folder import pattern_files
from lifesim.library.heads import entry_of
from lifesim.library.ranking import ranked

if TYPE_CHECKING:
    from lifesim.patterns import Pattern


class PatternLibrary:
    """The patterns of a folder, which are found while somebody asks for them.

    Iterating gives each PatternEntry as soon as the first lines of its file are read, and goes on
    where it was left: whoever has little time takes some and asks again later. The folder is gone
    through once. Threads may share a library.

    >>> library = PatternLibrary.of_ours()
    >>> [ship.name for ship in library.search("c/10", kind="spaceship")]
    ['copperhead']
    >>> grid = library.read(library.find("copperhead")).grid
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Make the library of a folder, as of_folder() does."""
        self.folder = os.path.abspath(folder)
        self._entries: list[PatternEntry] = []
        self._notes: list[str] = []
        self._coming = self._found()
        self._lock = Lock()

    @classmethod
    def of_ours(cls) -> PatternLibrary:
        """Return the patterns that come with this program, by kind, period and size."""
        return _ours()

    @classmethod
    def of_folder(cls, path: str | os.PathLike[str]) -> PatternLibrary:
        """Return the patterns in a folder and in those within it.

        Nothing is read yet. Files of all formats that can be read are found, by their extensions.
        Only the beginnings of files are read (16 KB); what cannot be read is left out, and said
        in `notes`. Raises LifesimError for what is no folder.
        """
        if not os.path.isdir(path):
            raise LifesimError(f"{os.fspath(path)} is no folder")
        return cls(path)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was left out so far and why, one line each."""
        return tuple(self._notes)

    def __iter__(self) -> Iterator[PatternEntry]:
        at = 0
        while (entry := self._entry(at)) is not None:
            yield entry
            at += 1

    def search(
        self, text: str = "", *, kind: str | None = None, rule: str | None = None
    ) -> list[PatternEntry]:
        """Return the entries that fit a text, best first; all, in their order, for an empty one.

        Each word must stand in an entry: in its names, which counts most, its kind, period (as
        "p30"), speed, discoverer, year and rule, or what is said about it. Where nothing has all
        words, letters of a title in their order are enough. kind: one of KINDS, only such entries.
        rule: in any notation that is read, only patterns of that rule. Reads the whole folder.
        Raises LifesimError for a kind or rule that there is not.
        """
        if kind is not None and kind not in KINDS:
            raise LifesimError(f"unknown kind {kind!r}: known are {', '.join(KINDS)}")
        entries = [entry for entry in self if kind is None or entry.kind == kind]
        if rule is not None:
            wanted, text_of = rule_name(rule), rule.strip().partition(":")[0]
            if wanted is None and not any(entry.rule == text_of for entry in entries):
                from lifesim.rule import Rule

                Rule.parse(rule)  # says what is wrong with it
            entries = [
                entry
                for entry in entries
                if (rule_name(entry.rule) == wanted if wanted else entry.rule == text_of)
            ]
        return ranked(text, entries)

    def find(self, name: str) -> PatternEntry | None:
        """Return the entry of a name, a title or another name, in any case of letters, with blanks
        or hyphens; None where there is none."""
        exact = next((entry for entry in self if entry.name == name), None)
        return exact or next((entry for entry in self if entry.is_called(name)), None)

    def nearest(self, name: str, most: int = 3) -> list[str]:
        """Return the names of entries that are nearly a name which is not there, nearest first."""
        import difflib

        names = {key_of(known): entry.name for entry in self for known in _names(entry)}
        close = difflib.get_close_matches(key_of(name)[:100], names, most, 0.7)
        return list(dict.fromkeys(names[key] for key in close))

    def read(self, entry: PatternEntry) -> Pattern:
        """Read the cells of an entry, as lifesim.read_pattern() does, with what that raises."""
        from lifesim import patterns

        if not os.path.isfile(entry.path):  # else a pipe in its place would make us wait
            raise LifesimError(f"cannot read {entry.path}: it is no file any more")
        return patterns.read(entry.path)

    def _entry(self, at: int) -> PatternEntry | None:
        with self._lock:
            while at >= len(self._entries):
                found = next(self._coming, None)
                if found is None:
                    return None
                self._entries.append(found)
            return self._entries[at]

    def _found(self) -> Iterator[PatternEntry]:
        try:
            for name, path in pattern_files(self.folder, self._notes.append):
                try:
                    yield entry_of(path, name)
                except OSError as error:
                    self._notes.append(f"cannot read {path}: {error.strerror or error}")
        except OSError as error:
            self._notes.append(f"cannot list {self.folder}: {error.strerror or error}")


class _OurLibrary(PatternLibrary):
    """Our own patterns, few enough to be read at once and put in an order."""

    def _found(self) -> Iterator[PatternEntry]:
        yield from sorted(super()._found(), key=_order)


def _order(entry: PatternEntry) -> tuple[int, int, int, str]:
    cells = (entry.width or 0) * (entry.height or 0)
    return KINDS.index(entry.kind), entry.period or 0, cells, entry.name


def _names(entry: PatternEntry) -> tuple[str, ...]:
    return entry.name, entry.title, *entry.others


@lru_cache(1)
def _ours() -> PatternLibrary:
    return _OurLibrary(our_folder())


def our_folder() -> str:
    """Return the folder of our own patterns: beside this module where the program is installed,
    data/patterns where it is used from its sources."""
    here = Path(__file__).resolve()
    installed, source = here.parent / "patterns", here.parents[2] / "data" / "patterns"
    return str(installed if installed.is_dir() else source)


@lru_cache(1 << 10)
def rule_name(text: str) -> str | None:
    """Return a rule in its usual notation, without bounds; None for one that cannot be read."""
    from lifesim.rule import Rule

    try:
        return Rule.parse(text.partition(":")[0]).name
    except LifesimError:
        return None
