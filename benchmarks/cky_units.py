"""Grammars with thousands of unit rules, and with right-hand sides of thousands of symbols that
can be empty: seconds and memory from the text to numbers of parses.

    python -m benchmarks.cky_units [--symbols 1000 10000]

Each line is a process of its own: the text is read, and the parses of "a" and "a a" are counted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable


def _chain(n: int, last: str, each: str = "") -> str:
    rows = [f"A{i} -> A{i + 1}{each.replace('#', str(i))}\n" for i in range(n - 1)]
    return "".join(rows) + f"A{n - 1} -> {last}\n"


def _empty(n: int) -> str:
    names = [f"A{i}" for i in range(n)]
    return f"S -> {' '.join(names)}\n" + "".join(f"{name} -> 'a' |\n" for name in names)


GRAMMARS: dict[str, Callable[[int], str]] = {
    "chain": lambda n: _chain(n, "'a'"),
    "chain-words": lambda n: _chain(n, "'a'", " | 'w#'"),
    "cycle": lambda n: _chain(n, "A0 | 'a'"),
    "empty-same": lambda n: f"S -> {'A ' * n}\nA -> 'a' |\n",
    "empty": _empty,
}


def _measure(name: str, symbols: int) -> str:
    from ckyparse import CKYParser

    text = GRAMMARS[name](symbols)
    start = time.perf_counter()
    counts = CKYParser(text).counts([["a"], ["a", "a"]])
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    found = ", ".join(map(str, counts))
    return f"{name:12} {symbols:7,} {seconds:8.2f} s {memory:6,} MiB   {found}"


def main() -> None:
    """Print a line for each grammar and size."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--symbols", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--grammar", choices=GRAMMARS, help="in this process")
    options = parser.parse_args()
    if options.grammar:
        print(_measure(options.grammar, options.symbols[0]))
        return
    for name in GRAMMARS:
        for symbols in options.symbols:
            arguments = ["--grammar", name, "--symbols", str(symbols)]
            command = [sys.executable, "-m", "benchmarks.cky_units", *arguments]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
