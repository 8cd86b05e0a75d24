"""Makes reStructuredText of docstrings, which are plain text, and shows signatures as written.

Between `backticks` stands code. What a parameter is stands after its name and a colon, at the
beginning of a line or of a sentence; such names become a list. Blocks that begin with >>> or - are
left as they are.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
MODULE = re.compile(r"\b(?:npt|np|os|builtins)\.(?=[a-zA-Z])")
SPECIAL = re.compile(r"([*|\\]|_(?!\w))")


def converted(text: str, parameters: Iterable[str]) -> str:
    """Return a docstring as reStructuredText."""
    blocks = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(_block(block, list(parameters)) for block in blocks)


def _block(block: str, parameters: list[str]) -> str:
    if block.lstrip().startswith(">>>"):
        return inspect.cleandoc(block)
    if block.lstrip().startswith("- "):
        return _marked(inspect.cleandoc(block))
    lines = " ".join(line.strip() for line in block.splitlines())
    lines = re.sub(r"(?<=[.;)]) (?=Raises )", "\n\n", lines)
    return "\n\n".join(_described(part, parameters) for part in lines.split("\n\n"))


def _described(text: str, parameters: list[str]) -> str:
    """Return a paragraph; its descriptions of parameters as a list of definitions."""
    if not parameters:
        return _marked(text)
    names = "|".join(map(re.escape, parameters))
    start = rf"(?:^|(?<=[.;:)] ))((?:{names})(?:(?:, | and )(?:{names}))*): "
    before, *rest = re.split(start, text)
    parts = [_marked(before.strip())] if before.strip() else []
    for said, meaning in zip(rest[::2], rest[1::2], strict=True):
        shown = re.sub(rf"\b({names})\b", r"``\1``", said)
        parts.append(f"{shown}\n    {_marked(meaning.strip())}")
    return "\n\n".join(parts)


def _marked(text: str) -> str:
    """Return text with its code between double backticks and nothing else marked up."""
    pieces, end = [], 0
    for code in CODE.finditer(text):
        pieces += [SPECIAL.sub(r"\\\1", text[end : code.start()]), f"``{code[2]}``"]
        end = code.end()
        if text[end : end + 1].isalnum():
            pieces.append("\\ ")
    return "".join([*pieces, SPECIAL.sub(r"\\\1", text[end:])])


def _parameters(thing: object) -> list[str]:
    """Return the names of what a function or class takes, and of what a dataclass holds."""
    try:
        names = list(inspect.signature(thing).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        names = []
    return names + [
        name for name in getattr(thing, "__dataclass_fields__", {}) if name not in names
    ]


def process(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Convert the lines of a docstring in place."""
    lines[:] = [*converted("\n".join(lines), _parameters(thing)).split("\n"), ""]


def sign(
    app: Sphinx,
    what: str,
    name: str,
    thing: Any,
    options: object,
    arguments: str | None,
    returned: str | None,
) -> tuple[str, str | None] | None:
    """Show types by the names that the code has for them, where Sphinx would write out aliases."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    given = list(signature.parameters.values())
    if what == "method" and inspect.isfunction(thing) and given and given[0].name == "self":
        given = given[1:]
    written, _, result = stringify_signature(signature.replace(parameters=given)).rpartition(" -> ")
    short = MODULE.sub("", written or result)
    return short, MODULE.sub("", result) if written and what != "class" else None


def skip(
    app: Sphinx, what: str, name: str, thing: object, skipped: bool, options: object
) -> bool | None:
    """Leave out the fields of named tuples, of which Python only says their numbers."""
    text = getattr(thing, "__doc__", None)
    return True if str(text).startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of this extension."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
