"""@TABLE: transitions with variables and symmetries, as Golly's rule tables have them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import product
from math import prod

from kernels.tables.diagram import DiagramError, Transition, of_transitions
from kernels.tables.rules import CELLS, CENTRE, TableRule
from lifesim.ruletables.errors import RuleFileError, at, shown
from lifesim.ruletables.sections import Line, without_comment
from lifesim.ruletables.symmetries import (
    NEIGHBOURHOODS,
    Sets,
    TableNeighbours,
    permutation_count,
    permutations,
)

MOST_CASES = 1 << 17  # transitions of a table, with their symmetries and bound variables
MOST_VARIABLES = 1 << 14

_HEAD = re.compile(r"(n_states|neighborhood|symmetries):\s*(.*)")
# As in Golly, a brace needs no = before it.
_VARIABLE = re.compile(r"var\s+([^\s={},]+)\s*(?:=\s*|(?={))(.*)")


@dataclass(slots=True)
class _Table:
    """A table as far as it has been read."""

    path: str
    states: int = 0
    neighbourhood: TableNeighbours | None = None
    symmetry: str = ""
    variables: dict[str, tuple[int, ...]] = field(default_factory=dict)
    cases: dict[tuple[Sets, int], None] = field(default_factory=dict)  # in the order of the file


def read_table(lines: list[Line], path: str) -> TableRule:
    """Return the rule of a table. Raises RuleFileError with file and line."""
    table = _Table(path)
    last = 1
    for line in lines:
        text = without_comment(line.text)
        last = line.number
        if not text:
            continue
        if match := _HEAD.fullmatch(text):
            _head(table, match[1], match[2], line.number)
        elif match := _VARIABLE.fullmatch(text):
            _variable(table, match[1], match[2], line.number)
        else:
            _transition(table, text, line.number)
    _check_head(table, last)
    transitions = [Transition(_nine(table, sets), output) for sets, output in table.cases]
    try:
        return of_transitions(transitions, table.states)
    except DiagramError as error:
        raise RuleFileError(f"{path}: {error}") from None


def _nine(table: _Table, sets: Sets) -> tuple[int, ...]:
    """Return the sets of the cell and its neighbours in the order of CELLS; others may be any."""
    assert table.neighbourhood is not None
    allowed = [(1 << table.states) - 1] * len(CELLS)
    allowed[CENTRE] = sets[0]
    for cell, one in zip(table.neighbourhood.cells, sets[1:], strict=True):
        allowed[CELLS.index(cell)] = one
    return tuple(allowed)


def _head(table: _Table, key: str, value: str, line: int) -> None:
    if table.cases or table.variables:
        raise at(table.path, line, f"{key} stands behind variables or transitions")
    if key == "n_states":
        if not re.fullmatch(r"\d{1,4}", value, re.ASCII) or not 2 <= int(value) <= 256:
            raise at(table.path, line, f"n_states is 2 to 256, not {shown(value)}")
        table.states = int(value)
    elif key == "neighborhood":
        if value not in NEIGHBOURHOODS:
            known = ", ".join(NEIGHBOURHOODS)
            raise at(table.path, line, f"no neighborhood {shown(value)}: there are {known}")
        table.neighbourhood, table.symmetry = NEIGHBOURHOODS[value], ""
    elif table.neighbourhood is None:
        raise at(table.path, line, "symmetries stands before neighborhood")
    elif value not in table.neighbourhood.symmetries:
        known = ", ".join(table.neighbourhood.symmetries)
        raise at(table.path, line, f"no symmetries {shown(value)} there: there are {known}")
    else:
        table.symmetry = value


def _check_head(table: _Table, line: int) -> None:
    missing = [
        name
        for name, value in (
            ("n_states", table.states),
            ("neighborhood", table.neighbourhood),
            ("symmetries", table.symmetry),
        )
        if not value
    ]
    if missing:
        raise at(table.path, line, f"{missing[0]} is missing")


def _variable(table: _Table, name: str, value: str, line: int) -> None:
    """Take a variable: states, and variables before it, in braces or without."""
    _check_head(table, line)
    if len(table.variables) >= MOST_VARIABLES:
        raise at(table.path, line, f"more than {MOST_VARIABLES} variables")
    inside = value[1:-1] if value.startswith("{") and value.endswith("}") else value
    members: dict[int, None] = {}
    for word in inside.split(","):
        found = _states(table, word.strip(), line)
        members.update(dict.fromkeys(found))
    table.variables[name] = tuple(members)


def _states(table: _Table, word: str, line: int) -> tuple[int, ...]:
    """Return the states that a word stands for: a variable's, or the one of a number."""
    if word in table.variables:
        return table.variables[word]
    if not re.fullmatch(r"\d{1,9}", word, re.ASCII):
        raise at(table.path, line, f"{shown(word)} is no state and no variable")
    if int(word) >= table.states:
        raise at(table.path, line, f"state {word}, where {table.states - 1} is the last")
    return (int(word),)


def _transition(table: _Table, text: str, line: int) -> None:
    _check_head(table, line)
    assert table.neighbourhood is not None
    words = [word.strip() for word in text.split(",")]
    if len(words) == 1 and not table.variables and table.states <= 10:
        words = list(text)
    wanted = len(table.neighbourhood.cells) + 2
    if len(words) != wanted:
        raise at(table.path, line, f"a transition has {wanted} entries, not {len(words)}")
    values = [_states(table, word, line) for word in words]
    repeated = {word for word in words if word in table.variables and words.count(word) > 1}
    if len(values[-1]) > 1 and words[-1] not in repeated:
        raise at(table.path, line, f"the next state {shown(words[-1])} may be any of several")
    _expand(table, words, values, sorted(repeated), line)


def _expand(
    table: _Table,
    words: list[str],
    values: list[tuple[int, ...]],
    bound: list[str],
    line: int,
) -> None:
    """Add a transition for each choice of the variables that stand in it more than once.

    Where two choices fit the same cells Golly takes the first, by this order: the variable whose
    name comes first changes quickest, each through its states as they are listed.
    """
    choices = [table.variables[name] for name in reversed(bound)]
    if prod(map(len, choices)) > MOST_CASES:
        raise _too_many(table, line)
    for chosen in product(*choices):
        state = dict(zip(reversed(bound), chosen, strict=True))
        sets = tuple(
            1 << state[word] if word in state else sum(1 << one for one in found)
            for word, found in zip(words[:-1], values[:-1], strict=True)
        )
        output = state.get(words[-1], values[-1][0])
        _add(table, sets, output, line)


def _add(table: _Table, sets: Sets, output: int, line: int) -> None:
    """Add a transition with all that are equal to it by symmetry."""
    assert table.neighbourhood is not None
    centre, around = sets[0], sets[1:]
    if table.symmetry == "permute":
        if len(table.cases) + permutation_count(around) > MOST_CASES:
            raise _too_many(table, line)
        for one in permutations(around):
            table.cases.setdefault(((centre, *one), output))
        return
    for order in table.neighbourhood.orders(table.symmetry):
        table.cases.setdefault(((centre, *(around[i] for i in order)), output))
    if len(table.cases) > MOST_CASES:
        raise _too_many(table, line)


def _too_many(table: _Table, line: int) -> RuleFileError:
    return at(table.path, line, f"with variables and symmetries more than {MOST_CASES} transitions")
