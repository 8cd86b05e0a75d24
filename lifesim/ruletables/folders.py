"""Rule files by the name of a rule: where they are looked for, and in what order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from lifesim.ruletables.colours import Colour, read_colours, read_names
from lifesim.ruletables.errors import RuleFileError, shown
from lifesim.ruletables.files import RuleFile, contents, has_cells, parse
from lifesim.ruletables.sections import Sections, lines_of, sections_of

# Where programs and distributions keep Golly's files.
GOLLYS = (
    "/usr/share/golly/Rules",
    "/usr/local/share/golly/Rules",
    "/usr/share/games/golly/Rules",
    "/opt/golly/Rules",
)
_MOST_NAME = 100

# A folder, or the rule files of an archive: their contents by their paths.
Place: TypeAlias = str | Mapping[str, bytes]


def folders_for(rules: Sequence[str] = (), pattern: str | None = None) -> list[str]:
    """Return the folders to look in, first to last.

    They are those asked for, that of the pattern's file, the user's own, and Golly's: the
    user's of Golly, and those that come with it. rules: folders that somebody asks for. pattern:
    the path of a pattern file.
    """
    home = os.path.expanduser("~")
    own = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(own):  # as the specification of that variable wants it
        own = os.path.join(home, ".config")
    beside = [] if pattern is None else [os.path.dirname(pattern) or "."]
    golly = os.path.join(home, ".golly", "Rules")
    return [*rules, *beside, os.path.join(own, "bulkbits", "rules"), golly, *GOLLYS]


def find(name: str, folders: Iterable[Place]) -> RuleFile | None:
    """Return the rule of a name from the first folder that has it; None where none has.

    An archive counts as a folder. In each NAME.rule is looked for, and only if none has it
    NAME.table, then NAME.tree. A NAME.rule without a table or tree gives its colours to the one
    that is found. What NAME.rule does not say of colours or names of states stands in
    PREFIX-shared.rule, where NAME has a hyphen and PREFIX is what stands before the last one. Names
    may come from anyone's pattern: one that is no plain file name is not looked for, and raises
    RuleFileError, as does a file that is found and cannot be read. A link is followed, as the
    folder's owner put it there.
    """
    check_name(name)
    places = list(folders)
    found, looks = _rule_file(name, places)
    for kind in (".table", ".tree"):
        if found is None:
            for path, data in _files(name + kind, places):
                found = parse(data, path)
                break
    if found is None:
        return None
    if not looks and "-" in name:
        shared = name.rpartition("-")[0] + "-shared"
        looks = [sections for _, _, sections in _rule_sections(shared, places)]
    return _with_looks(found, looks)


def check_name(name: str) -> None:
    """Raise RuleFileError for a rule's name that cannot be that of a file."""
    plain = name.isprintable() and not set(name) & set('/\\:*?"<>|')
    if not (name and plain and len(os.fsencode(name)) <= _MOST_NAME):
        raise RuleFileError(f"{shown(name)} cannot be the name of a rule file")
    if name.startswith((".", "-", " ")) or ".." in name or name.endswith(" "):
        raise RuleFileError(f"{shown(name)} cannot be the name of a rule file")


def _files(file: str, folders: Iterable[Place]) -> Iterator[tuple[str, bytes]]:
    """Give the path and the contents of a file from those folders that have it."""
    for folder in folders:
        if isinstance(folder, Mapping):
            for path, data in folder.items():
                if path.rpartition("/")[2] == file:
                    yield path, data
        elif os.path.exists(path := os.path.join(folder, file)):
            yield path, contents(path)


def _rule_sections(name: str, folders: Iterable[Place]) -> Iterator[tuple[bytes, str, Sections]]:
    for path, data in _files(name + ".rule", folders):
        yield data, path, sections_of(lines_of(data, path))


def _rule_file(name: str, folders: list[Place]) -> tuple[RuleFile | None, list[Sections]]:
    """Return the first NAME.rule that has a table or tree, and all sections with colours so far."""
    looks: list[Sections] = []
    for data, path, sections in _rule_sections(name, folders):
        if "COLORS" in sections:
            looks.append(sections)
        if has_cells(sections):
            return parse(data, path), looks
    return None, looks


def _with_looks(found: RuleFile, looks: list[Sections]) -> RuleFile:
    """Return the rule with the colours and names of the first sections that have any."""
    colours: dict[int, Colour] = {}
    names = dict(found.names)
    for sections in looks:
        colours = colours or read_colours(sections.get("COLORS", []), found.cells.states)
        names = names or read_names(sections.get("NAMES", []), found.cells.states)
    return replace(found, colours=colours, names=names)
