"""The examples on pages: commands and Python, found in Markdown and run in a fresh folder.

On a page stand, in order: lines of shell, indented by four blanks; blocks `console`, where lines
that begin with `$ ` are shell and the others are what is printed; blocks `python`, where a comment
beside a value says what it is; and blocks `pycon`, as doctest reads them. What follows the line
<!-- gpu --> needs a GPU.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PROGRAMS = ("lifesim", "arith", "ckyparse", "semigroups", "dask", "pip", "scripts/")
SHELL = ("echo", "printf", "seq", "mkdir", "openssl", "python", "head", "sed", "ls", "cat", "wc")
AS_PRINTED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Piece(NamedTuple):
    """An example. line: of the page, from 1. printed: what the page says comes out, if it does."""

    line: int
    text: str
    kind: str  # shell, python or pycon
    printed: str | None = None
    needs_gpu: bool = False


def all_pages() -> list[str]:
    """Return the paths of all pages that have examples."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path.relative_to(ROOT).as_posix() for path in paths if any(pieces_in(path))]


def pieces(page: str) -> list[Piece]:
    """Return the examples of a page, in order."""
    return list(pieces_in(ROOT / page))


def pieces_in(path: Path) -> Iterator[Piece]:
    """Yield the examples of a file of Markdown."""
    block: list[str] = []
    language, needs_gpu, marked = "", False, False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("```"):
            if language:
                yield from _in_block(language, block, number - len(block), needs_gpu)
                language = ""
            else:
                language, needs_gpu = line[3:] or "text", marked
            block = []
        elif language:
            block.append(line)
        elif line.startswith("    ") and line.strip().startswith((*PROGRAMS, *SHELL)):
            yield Piece(number, line.strip(), "shell", needs_gpu=marked)
            continue
        marked = line == "<!-- gpu -->" or (marked and not line)


def _in_block(language: str, lines: list[str], first: int, gpu: bool) -> Iterator[Piece]:
    if language in ("python", "pycon"):
        yield Piece(first, "\n".join(lines), language, needs_gpu=gpu)
    elif language == "console":
        starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
        for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            command, printed = lines[at][2:], lines[at + 1 : end]
            while command.endswith("\\"):
                command = command[:-1] + printed.pop(0).strip()
            yield Piece(first + at, command, "shell", "\n".join(printed), gpu)


def run_shell(text: str, folder: Path) -> tuple[int, str]:
    """Run a line of shell, and return its exit code and all that it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {text}"],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "PYTHONPATH": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def check_printed(piece: Piece, came: str, page: str) -> None:
    """Check that what came out is what the page says; `...` stands for anything."""
    if piece.printed is None:
        return
    said = f"{piece.printed}\n" if piece.printed else ""
    same = doctest.OutputChecker().check_output(said, came, AS_PRINTED)
    assert same, f"{page}:{piece.line}: {piece.text}\nprinted:\n{came}"


def run_pycon(piece: Piece, page: str, names: dict[str, Any]) -> None:
    """Run a block as doctest does."""
    test = doctest.DocTestParser().get_doctest(piece.text, names, page, page, piece.line)
    test.globs = names  # which the next block goes on with
    failures = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=AS_PRINTED)
    runner.run(test, out=failures.write, clear_globs=False)
    assert not runner.failures, failures.getvalue()


def run_python(piece: Piece, page: str, names: dict[str, Any]) -> None:
    """Run a block as it is printed: what a comment beside a value says is what comes out."""
    lines = piece.text.splitlines()
    for statement in ast.parse(piece.text).body:
        # So that a traceback names the line of the page.
        code = ast.Module([ast.increment_lineno(statement, piece.line - 1)], [])
        at = statement.end_lineno - piece.line if statement.end_lineno else 0
        said = re.search(r"  # (.*)$", lines[at])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), page, "eval"), names)
                if value is not None:
                    out.write(repr(value).strip("()"))
            else:
                exec(compile(code, page, "exec"), names)
        if said and isinstance(statement, ast.Expr) and re.match(r"[\[(\d]|True|False", said[1]):
            came, comment = (re.sub(r"\s+|[()]", "", text) for text in (out.getvalue(), said[1]))
            assert comment.startswith(came), f"{page}:{at + piece.line}: {out.getvalue()}"
