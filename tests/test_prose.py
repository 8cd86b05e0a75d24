"""What is written for people: paths that documents name exist, docstrings begin with a sentence."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HISTORY = ("CHANGELOG.md", "benchmarks/RESULTS.md")  # of what was there once
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|pyi|cpp|hpp|cu|md|toml))`")
# Words that a fragment begins with: "Of the rows.", "What is read.", "As long as the plan's."
FRAGMENT = re.compile(
    r"(Of|As|In|To|For|By|With|What|Where|Which|Who|Whom|Whose|If|When|Not|None|All|From|At|On|How"
    r"|Whether|Because|Between|Beside|Until|Before|After|Without|Like|Than|Since|Into|Within|Among"
    r"|Under|Over|Nothing|Nobody|Also|Only)\b"
)
DONE = (
    "arith",
    "benchmarks",
    "bulkbits",
    "ckyparse",
    "kernels",
    "lifesim",
    "semigroups",
    "tests",
    "ui",
)


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a checkout of git")
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def test_files_that_documents_name_exist() -> None:
    names = tracked()
    ends = {"/".join(name.split("/")[-n:]) for name in names for n in range(1, name.count("/") + 2)}
    missing = [
        f"{document}: {path}"
        for document in names
        if document.endswith(".md") and document not in HISTORY
        for path in NAMED.findall((ROOT / document).read_text())
        if path not in ends and "NAME" not in path
    ]
    assert not missing


def docstrings(name: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse((ROOT / name).read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{name}:{node.lineno}", ast.get_docstring(node) or ""


@pytest.mark.parametrize("folder", DONE)
def test_docstrings_begin_with_a_sentence(folder: str) -> None:
    wrong = [
        f"{place}: {text.splitlines()[0]}"
        for name in tracked()
        if name.startswith(f"{folder}/") and name.endswith(".py")
        for place, text in docstrings(name)
        if FRAGMENT.match(text)
    ]
    assert not wrong
