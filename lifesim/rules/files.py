"""Rules by the names of rule files, and the folders that this process looks for them in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from lifesim.rules.errors import RuleError, shown

if TYPE_CHECKING:
    from lifesim.ruletables import RuleFile

_asked: tuple[str, ...] = ()
_packed: ContextVar[Mapping[str, bytes] | None] = ContextVar("_packed", default=None)


def look_in(folders: Iterable[str]) -> None:
    """Set the folders that rules are looked for in first, from now on, in all of this process."""
    global _asked
    _asked = tuple(folders)


def asked_for() -> tuple[str, ...]:
    """Return the folders that look_in() was given last."""
    return _asked


@contextmanager
def packed_beside(rules: Mapping[str, bytes]) -> Iterator[None]:
    """Have find() look among the rule files of an archive as well, while its pattern is read.

    rules: their contents, by their paths.
    """
    token = _packed.set(rules)
    try:
        yield
    finally:
        _packed.reset(token)


def could_be_one(name: str) -> bool:
    """Tell whether a text may be the name of a rule file."""
    return re.fullmatch(r"[^\W_][\w .'()+&~-]{0,99}", name) is not None and not name.endswith(" ")


def find(name: str, folders: Sequence[str] | None, beside: str | None) -> RuleFile | None:
    """Return the rule file of a name, None where there is none.

    folders: those to look in; None takes those of look_in(), the archive of packed_beside(), that
    of the file `beside`, the user's own and Golly's (lifesim.ruletables.folders_for).
    Raises RuleError where there is one that cannot be read.
    """
    if not could_be_one(name):
        return None
    from lifesim import ruletables  # only where a name is none of those that are known

    places = ruletables.folders_for(_asked, beside) if folders is None else list(folders)
    packed = _packed.get() or {}
    if not packed and not any(os.path.isdir(place) for place in places):
        return None
    last = len(_asked) if folders is None else len(places)
    try:
        return ruletables.find(name, [*places[:last], packed, *places[last:]])
    except ruletables.RuleFileError as error:
        raise RuleError(f"rule {shown(name)}: {error}") from None


def listed(folders: Iterable[str]) -> dict[str, str]:
    """Return the names of the rule files in folders, and the path that find() takes for each."""
    found: dict[str, str] = {}
    for kind in (".rule", ".table", ".tree"):
        for folder in folders:
            for file in sorted(os.listdir(folder)) if os.access(folder, os.R_OK) else ():
                name, ending = os.path.splitext(file)
                path = os.path.join(folder, file)
                if ending == kind and could_be_one(name) and os.path.isfile(path):
                    found.setdefault(name, path)
    return found
