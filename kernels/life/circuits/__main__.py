"""Makes the C++ header of the circuits that are kept, and searches for them anew.

python -m kernels.life.circuits >kernels/life/known.hpp
python -m kernels.life.circuits search  # prints the table of known.py; minutes
"""

from __future__ import annotations

import sys

from kernels.life.circuits.known import FOUND, KNOWN, NO_TOP_CELLS, rule_of

_SEEDS, _MOVES = 40, 8000  # of the search

_HEAD = """\
// Well-known rules as circuits, made from the table in circuits/known.py, which says how.
#pragma once
#include "circuit.hpp"

namespace {

"""
_RULE = """\
struct {name} {{
    template <class W>
    BITS_FN W operator()(const RowState<W>& top, const RowState<W>& mid,
                         const RowState<W>& low) const {{
        {lines}
    }}
}};

"""


def header() -> str:
    """Return the C++ header of the known rules."""
    parts = [_HEAD]
    names = []
    for (birth, survival), circuit in zip(FOUND, KNOWN.values(), strict=True):
        name = f"B{birth}S{survival}"
        lines = circuit.source.replace("; ", ";\n        ")
        parts.append(_RULE.format(name=name, lines=lines))
        names.append(f'    RULE("{birth}", "{survival}", {name})')
    parts.append("// Any other rule is looked up as it runs, or is a circuit found at run time.\n")
    parts.append("#define KNOWN_RULES(RULE) \\\n" + " \\\n".join(names) + "\n\n}  // namespace\n")
    return "".join(parts)


def _search() -> None:
    """Print the table of circuits, searched for anew."""
    from kernels import _cpu

    for birth, survival in FOUND:
        table = rule_of(birth, survival).table.to_bytes(64, "little")
        found = (_cpu.circuit_search(table, NO_TOP_CELLS, _MOVES, seed) for seed in range(_SEEDS))
        best = min(found, key=len)
        print(f'    ("{birth}", "{survival}"): (')
        for op in best:
            print(f"        {tuple(op)},")
        print("    ),", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["search"]:
        _search()
    else:
        print(header(), end="")
