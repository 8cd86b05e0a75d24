"""The error of rule files, and how bytes of a file are shown in it."""

from __future__ import annotations

from lifesim.errors import LifesimError


class RuleFileError(LifesimError):
    """A rule file cannot be found or read; the message names file and line."""


def at(path: str, line: int, what: str) -> RuleFileError:
    """Return the error for a line of a file."""
    return RuleFileError(f"{path}, line {line}: {what}")


def shown(text: str, most: int = 40) -> str:
    """Return text as a message quotes it: short, and without what a terminal would obey."""
    return ascii(text if len(text) <= most else text[: most - 3] + "...")
