"""Run each command as it is installed, and compare what it prints with known answers.

`python tests/smoke.py [--backend NAME] PYTHON...`, where PYTHON is the command line of an
interpreter that has bulkbits installed, as `qemu-x86_64 -cpu Nehalem .venv/bin/python`. Prints a
line for each command. Exit code 1: an answer is wrong, or none came. Needs nothing but Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).resolve().parents[1] / "data"
_DIGITS = 123456789012345678901234567890


def _lifesim(*arguments: str) -> list[str]:
    return ["lifesim", "run", *arguments, "--quiet", "--json"]


class Job(NamedTuple):
    """A command, its standard input, and what it must print: text, or some of its JSON."""

    command: list[str]
    stdin: str
    wanted: str | dict[str, Any]
    code: int = 0


JOBS = [
    Job(
        _lifesim(str(DATA / "patterns" / "gosper-gun.rle"), "--steps", "60"),
        "",
        {"population": 46, "digest": "d20cf937c741f470c08db62bf8c0b3a2"},
    ),
    Job(
        _lifesim("--size", "300x200", "--seed", "1", "--steps", "100"),
        "",
        {"population": 5507, "digest": "bf8b08ac3ad74a2c82391e9bfa51154a"},
    ),
    Job(["arith", "eval", "mul", "-", "file"], f"{_DIGITS}\n-7\n", f"{_DIGITS**2}\n49\n"),
    Job(
        ["ckyparse", "accept", "-g", str(DATA / "grammars" / "dyck.cfg"), "--tokens", "chars"],
        "(())\n)(\n",
        "1\t(())\n0\t)(\n",
        code=1,
    ),
    Job(["semigroups", "enumerate", "bihecke:4", "--quiet", "--json"], "", {"size": 477}),
]


def differs(printed: str, wanted: str | dict[str, Any], backend: str) -> bool:
    """Return whether a command printed something else than it must."""
    if isinstance(wanted, str):
        return printed != wanted
    found = json.loads(printed)
    return any(found[name] != value for name, value in {**wanted, "backend": backend}.items())


def main(arguments: list[str]) -> int:
    """Run all of them, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("python", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    # Commands run in a folder of their own: no package of this checkout is found there.
    python = [os.path.abspath(part) if os.sep in part else part for part in given.python]
    wrong = 0
    for command, stdin, wanted, code in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "file").write_text(stdin)
            done = subprocess.run(
                [*python, "-m", *command, "--backend", given.backend],
                input=stdin,
                capture_output=True,
                text=True,
                cwd=folder,
            )
        failed = done.returncode != code or differs(done.stdout, wanted, given.backend)
        wrong += failed
        print(f"{'WRONG' if failed else 'right'}: {' '.join(command)}", flush=True)
        if failed:
            print(f"exit code {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
