"""The commands and the Python of README.md and docs, run in order in a fresh folder."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/cluster.md"]
PROGRAMS = ("lifesim", "arith", "ckyparse", "semigroups", "dask", "pip", "scripts/")
SHELL = ("echo", "printf", "seq", "mkdir", "openssl")

# What is not run here, and why.
LEFT_OUT = {
    r"scripts/": "this is one of them",
    r"pip install": "what is installed is what is tested",
    r"(lifesim|ckyparse) view": "a window, which tests/ui has",
    r".* --device 0,1,2,3": "four GPUs",
    r"dask (scheduler|worker)": "processes that stay, which tests/bulkbits/cluster has",
    r".*(scheduler\.json|tls://|/scratch/)": "a scheduler that is running",
}
# Smaller numbers, so that nothing takes minutes.
SMALLER = {
    "tcp://host:8786": "local:1",
    "--size 64K": "--size 4K",
    "--size 16K": "--size 4K",
    "--steps 16384": "--steps 1024",
    "--steps 2048": "--steps 256",
    "--memory 1G": "--memory 16M",
    "--region 30000,20000,": "--region 300,200,",
    "-n 100000": "-n 10000",
    "lifesim bench": "lifesim bench --size 256 --seconds 0.1",
    "semigroups bench bihecke:5": "semigroups bench bihecke:4",
    "arith bench": "arith bench --bits 256 --op add --count 10000",
    "ckyparse bench": "ckyparse bench --grammar 8,32 --length 8 --count 1024",
    "bihecke:6 --limit 1000000": "bihecke:5 --limit 10000",
}
# Exit codes that say something other than that all went well.
CODES = {
    r"arith shared-primes": {0, 1},  # something is found
    r"ckyparse accept": {0, 1},  # something is rejected
    r"semigroups enumerate .*--limit": {1},
}


class Piece(NamedTuple):
    """A command, or a block of Python. line: of the page, from 1."""

    line: int
    text: str
    is_python: bool


def pieces(page: str) -> list[Piece]:
    """Return the commands and the Python of a page, in order."""
    found, block, language = [], [], ""
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        if line.startswith("```"):
            if language == "python":
                found.append(Piece(number - len(block), "\n".join(block), True))
            language, block = "" if language else line[3:] or "text", []
        elif language:
            block.append(line)
        elif line.startswith("    ") and line.strip().startswith((*PROGRAMS, *SHELL)):
            found.append(Piece(number, line.strip(), False))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fresh folder that has the data of the sources, as a checkout has."""
    shutil.copytree(ROOT / "data", tmp_path / "data")
    return tmp_path


def command(text: str, folder: Path) -> str:
    """Run a line of shell, and return what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {text}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    codes = next((codes for start, codes in CODES.items() if re.match(start, text)), {0})
    assert done.returncode in codes, (text, done)
    assert "Traceback" not in done.stderr, (text, done)
    return done.stdout


def python(piece: Piece, page: str, names: dict[str, Any]) -> None:
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


def test_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command("lifesim random --size 4K --density 0.37 --seed 1 --out soup", folder)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "readme"}
    blocks = [piece for piece in pieces("README.md") if piece.is_python]
    assert len(blocks) >= 6
    for block in blocks:
        python(block, "README.md", names)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands(page: str, folder: Path) -> None:
    run, left_out = [], set()
    for piece in pieces(page):
        if piece.is_python:
            continue
        reasons = {start for start in LEFT_OUT if re.match(start, piece.text)}
        left_out |= reasons
        if reasons:
            continue
        text = piece.text
        for large, small in SMALLER.items():
            text = re.sub(re.escape(large) + r"(?![KMG])", small, text)
        command(text, folder)
        run.append(text.split()[0])
    if page == "README.md":
        assert {"lifesim", "arith", "ckyparse", "semigroups"} <= set(run)


def test_each_reason_for_leaving_out_is_needed() -> None:
    texts = [piece.text for page in PAGES for piece in pieces(page) if not piece.is_python]
    for start in LEFT_OUT:
        assert any(re.match(start, text) for text in texts), start
    for large in SMALLER:
        assert any(large in text for text in texts), large
