"""Python source: whether it is complete, what running it shows, and how a name goes on."""

from __future__ import annotations

import ast
import builtins
import codeop
import keyword
import linecache
import os
import re
import sys
import tokenize
from collections.abc import Callable
from typing import Any

from lifesim.errors import LifesimError

_MOST_BYTES = 1 << 24  # of a script
_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.)?([A-Za-z_]\w*)?$")


class ScriptError(LifesimError):
    """Raised for a script that cannot be read, in one line."""


def is_complete(source: str) -> bool:
    """Tell whether source that is typed line by line can run: a block ends by an empty line.

    What is wrong is complete, too: running it says what is wrong.
    """
    try:
        if codeop.compile_command(source, symbol="exec") is None:
            return False
    except (SyntaxError, ValueError, OverflowError):
        return True
    lines = source.split("\n")
    last = lines[-1]
    if len(lines) == 1:
        return not last.rstrip().endswith(":")
    return not last.strip() or not last[0].isspace()


def run_source(source: str, name: str, names: dict[str, Any], show: Callable[[str], None]) -> None:
    """Run source as a person types it: where it ends with an expression, its value is shown, and
    is `_` from then on.

    name: of the source, in tracebacks. names: the globals. show: is given a line. Raises what the
    source does, and SyntaxError.
    """
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    tree = compile(source, name, "exec", ast.PyCF_ONLY_AST)
    assert isinstance(tree, ast.Module)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
        exec(compile(tree, name, "exec"), names)
        value = eval(compile(ast.Expression(last.value), name, "eval"), names)
        if value is not None:
            names["_"] = value
            show(f"{value!r}\n")
    else:
        exec(compile(tree, name, "exec"), names)


def read_script(path: str) -> str:
    """Return the source in a file. Raises ScriptError for one that cannot be read or is no text."""
    try:
        if not os.path.isfile(path):
            raise ScriptError(f"cannot read {path}: it is no file")
        if os.path.getsize(path) > _MOST_BYTES:
            raise ScriptError(f"{path} is no script: it has more than {_MOST_BYTES >> 20} MiB")
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        raise ScriptError(f"cannot read {path}: {error.strerror or error}") from None
    except (SyntaxError, UnicodeDecodeError, LookupError):
        raise ScriptError(
            f"{path} is no Python source: it is not in the encoding it says"
        ) from None


def run_script(path: str, source: str, names: dict[str, Any]) -> None:
    """Run a script as Python does: modules beside it can be imported. Raises what it does."""
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    try:
        linecache.checkcache(path)
        exec(compile(source, path, "exec"), names)
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def completions(line: str, names: dict[str, Any]) -> tuple[str, list[str]]:
    """Return what is typed of the last name of a line, and all names that it may become.

    Nothing is computed for that: attributes are those of the object's class and its own.
    """
    match = _NAME.search(line)
    path, begun = (match[1] or "", match[2] or "") if match else ("", "")
    if not path:
        known = {*names, *getattr(names, "lazy", ()), *dir(builtins), *keyword.kwlist}
    else:
        known = set(_attributes(path[:-1].split("."), names))
    found = sorted(name for name in known if name.startswith(begun))
    return begun, [name for name in found if begun.startswith("_") or not name.startswith("_")]


def _attributes(path: list[str], names: dict[str, Any]) -> list[str]:
    value: Any = dict.get(names, path[0])
    for name in path[1:]:
        value = getattr(value, "__dict__", {}).get(name)
    return dir(value) if value is not None else []
