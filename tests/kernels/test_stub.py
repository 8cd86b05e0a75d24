"""The stub kernels/_cpu.pyi types all that the compiled extension binds, as it is bound."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

_cpu: Any = pytest.importorskip("kernels._cpu")

STUB = Path(__file__).parents[2] / "kernels" / "_cpu.pyi"


def typed() -> dict[str, list[str]]:
    """Return the parameters of each function and method of the stub, [] for numbers and texts."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = [arg.arg for arg in node.args.args]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = []
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    found[f"{node.name}.{method.name}"] = [arg.arg for arg in method.args.args]
    return {name: parameters for name, parameters in found.items() if not name.startswith("_")}


def bound() -> dict[str, list[str]]:
    """Return the same of the extension, by the signatures in its docstrings."""
    found: dict[str, list[str]] = {}
    for name, value in vars(_cpu).items():
        if name.startswith("__"):
            continue
        if isinstance(value, type):
            for method, function in vars(value).items():
                if method == "__init__" or not method.startswith("__"):
                    found[f"{name}.{method}"] = parameters(function)
        else:
            found[name] = [] if isinstance(value, int | str) else parameters(value)
    return found


def parameters(function: Any) -> list[str]:
    """Return the names of a function's parameters; those of overloads are the same."""
    signatures = [line for line in function.__doc__.splitlines() if "->" in line]
    [names] = {tuple(re.findall(r"[(,] ?(\w+)(?=: |[,)])", plain(line))) for line in signatures}
    return list(names)


def plain(signature: str) -> str:
    """Return a signature without what is in brackets, and what is returned."""
    arguments = signature.rpartition(" -> ")[0]
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", arguments)) != arguments:
        arguments = shorter
    return arguments


def test_all_that_is_bound_is_typed() -> None:
    assert typed() == bound()


def test_nothing_is_left_to_any_name() -> None:
    assert "__getattr__" not in STUB.read_text()
