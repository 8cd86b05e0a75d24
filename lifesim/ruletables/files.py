"""Rule files, whole: what they say of cells, colours and names."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from kernels.tables.rules import TableRule
from lifesim.ruletables.colours import Colour, read_colours, read_names
from lifesim.ruletables.errors import RuleFileError
from lifesim.ruletables.sections import MOST_BYTES, Line, Sections, lines_of, sections_of
from lifesim.ruletables.table import read_table
from lifesim.ruletables.tree import read_tree


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule as its file gives it.

    name: that of the file, without its ending. cells: the rule. colours: red, green and blue of
    states, where the file gives them; names: what it calls them. path: the file that has the rule.
    """

    name: str
    cells: TableRule
    colours: Mapping[int, Colour] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    path: str = ""


def read(path: str) -> RuleFile:
    """Read a rule file; its ending says which kind it is, .rule, .table or .tree.

    Raises RuleFileError, with file and line, and where the system does not let it be read.
    """
    return parse(contents(path), path)


def parse(data: bytes, path: str) -> RuleFile:
    """Read the contents of a rule file of this path. Raises RuleFileError."""
    name, kind = os.path.splitext(os.path.basename(path))
    lines = lines_of(data, path)
    if kind == ".table":
        return RuleFile(name, read_table(lines, path), path=path)
    if kind == ".tree":
        return RuleFile(name, read_tree(lines, path), path=path)
    sections = sections_of(lines)
    cells = _cells(sections, lines, path)
    colours = read_colours(sections.get("COLORS", []), cells.states)
    return RuleFile(name, cells, colours, read_names(sections.get("NAMES", []), cells.states), path)


def has_cells(sections: Sections) -> bool:
    """Tell whether a file says what becomes of cells, not only how they look."""
    return "TABLE" in sections or "TREE" in sections


def _cells(sections: Sections, lines: list[Line], path: str) -> TableRule:
    """Return the rule of the first section that has one."""
    for name, rows in sections.items():
        if name == "TABLE":
            return read_table(rows, path)
        if name == "TREE":
            return read_tree(rows, path)
    if "RULE" not in sections:
        raise RuleFileError(f"{path}, line 1: a rule file begins with @RULE and a name")
    raise RuleFileError(f"{path}: there is no @TABLE and no @TREE in it")


def contents(path: str) -> bytes:
    """Return the bytes of a file. Raises RuleFileError for what is no plain file, or too large."""
    try:
        # A pipe must not keep anyone waiting.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RuleFileError(f"{path} is not a file")
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RuleFileError(f"{path}: {error.strerror or error}") from None
