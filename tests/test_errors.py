"""Errors of all packages, as they travel between processes, and faults of the commands' own."""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("lifesim", "ckyparse", "kernels", "bulkbits", "arith", "semigroups", "ui")
# Importing these begins a command, or needs what not everybody has.
NOT_IMPORTED = ("__main__", "_cpu", "begin", "qt")
BASES = {"_PathError", "StrangerError"}  # raised as others only
ARGUMENTS: dict[str, object] = {
    "str": "G.cfg",
    "int": 3,
    "bool": True,
    "Sequence[str]": ("x", "y"),
}


def classes() -> Iterator[type[Exception]]:
    """Yield all exception classes that modules of the packages define, private ones included."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if set(found.name.split(".")) & set(NOT_IMPORTED):
                continue
            for value in vars(importlib.import_module(found.name)).values():
                is_error = inspect.isclass(value) and issubclass(value, Exception)
                if is_error and value.__module__ == found.name:
                    yield value


def made(kind: type[Exception]) -> Exception:
    """Return one with all that its constructor takes."""
    if "__init__" not in {name for base in own_bases(kind) for name in vars(base)}:
        return kind("it broke")
    parameters = list(inspect.signature(kind).parameters.values())
    return kind(*(ARGUMENTS[str(p.annotation).removesuffix(" | None")] for p in parameters))


def own_bases(kind: type[Exception]) -> list[type]:
    return [base for base in kind.__mro__ if base.__module__.split(".")[0] in PACKAGES]


COPIES: dict[str, Callable[[Exception], Exception]] = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
}


@pytest.mark.parametrize("way", COPIES)
def test_errors_are_the_same_in_another_process(way: str) -> None:
    kinds = list(classes())
    assert {"UnknownTokenError", "PatternError", "NoFileError"} <= {k.__name__ for k in kinds}
    wrong = []
    for kind in kinds:
        if kind.__name__ in BASES:
            continue
        error = made(kind)
        error.add_note("while it was tried")
        try:
            again = COPIES[way](error)
        except TypeError as failed:
            wrong.append(f"{kind.__qualname__}: {failed}")
            continue
        same = type(again) is kind and (str(again), again.args) == (str(error), error.args)
        if not same or vars(again) != vars(error):
            wrong.append(f"{kind.__qualname__}: {again!r} {vars(again)}")
    assert not wrong


COMMANDS = ("arith", "ckyparse", "lifesim", "semigroups")
# The command's first module, or one of a subcommand, has a fault.
FAULTY = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "{0}.{1}":
            raise ZeroDivisionError("a fault\\n\\x1b[31m")
sys.meta_path.insert(0, Finder())
from {0}.__main__ import main
main()
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize("module", ["cli", "cli.bench"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_of_a_commands_own_has_an_exit_code_of_its_own(command: str, module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAULTY.format(command, module), "bench"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (70, "")
    first, *_, last = done.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert last == (
        f"{command}: internal error, please report it with the lines above: "
        "ZeroDivisionError: a fault \\x1b[31m"
    )


def test_a_fault_after_output_that_nobody_takes() -> None:
    """A fault keeps its exit code though what was printed cannot be written."""
    code = """
import sys
from bulkbits.faults import fail_internally
print("much")
fail_internally("arith", KeyError("a fault"))
"""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=buffered,
        )
    assert done.returncode == 70
    assert done.stderr.endswith("above: KeyError: 'a fault'\n")


def test_a_fault_with_no_standard_error_to_say_it_on() -> None:
    shell = f'exec {sys.executable} -c "$1" >&- 2>&-'
    code = """
from bulkbits.faults import fail_internally
fail_internally("arith", KeyError("a fault"))
"""
    done = subprocess.run(["sh", "-c", shell, "sh", code], cwd=ROOT)
    assert done.returncode == 70
