"""Decision diagrams of rules: made from transitions, put into another order, and shared.

A diagram is a list of levels, one for each cell, in a given order. A level is a uint32 array
(nodes, states): the entry of a node for the state of the level's cell is a node of the next level,
or, in the last, the next state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.tables.rules import CELLS, CENTRE, ENTRIES, TableRule

Level = npt.NDArray[np.uint32]  # (nodes, states)
Bits = npt.NDArray[np.uint64]

_BATCH = 32  # transitions at a time: their bits and the number of a node make a key of 64 bits
_LOW = np.uint64(32)


class DiagramError(ValueError):
    """A rule needs a diagram of more than ENTRIES entries."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A next state, and the states of nine cells that lead to it.

    allowed: for each cell of CELLS, its states as a bit set. output: the next state.
    """

    allowed: tuple[int, ...]
    output: int


def rule_of(levels: Sequence[Level], states: int) -> TableRule:
    """Return the rule of a diagram in the order of CELLS. Raises DiagramError."""
    whole = shared(levels)
    return TableRule(states, tuple(level.astype("<u4").tobytes() for level in whole))


def levels_of(rule: TableRule) -> list[Level]:
    """Return the diagram of a rule."""
    return [
        np.frombuffer(level, "<u4").reshape(-1, rule.states).astype(np.uint32)
        for level in rule.levels
    ]


def unchanged(states: int) -> list[Level]:
    """Return the diagram by which each cell keeps its state."""
    every = np.arange(states, dtype=np.uint32)
    kept = np.repeat(every[:, None], states, axis=1)
    before = [np.zeros((1, states), np.uint32) for _ in range(CENTRE)]
    return [*before, every[None, :], *(kept for _ in CELLS[CENTRE + 1 :])]


def of_transitions(transitions: Sequence[Transition], states: int) -> TableRule:
    """Return the rule by which the first transition that fits gives the next state.

    A cell that none fits keeps its state. Raises DiagramError.
    """
    levels = unchanged(states)
    # The last ones first, as those before them go before them.
    for end in range(len(transitions), 0, -_BATCH):
        levels = _overridden(levels, transitions[max(0, end - _BATCH) : end], states)
    return rule_of(levels, states)


def _overridden(levels: list[Level], batch: Sequence[Transition], states: int) -> list[Level]:
    """Return the diagram in which the first fitting transition of at most 32 comes before levels.

    On the way down a key stands for a node of the old diagram together with the set of
    transitions that still may fit. Keys without transitions are nodes of the old diagram.
    """
    fitting, open_to_all = _sets(batch, states)
    keys = np.array([((1 << len(batch)) - 1) << 32], np.uint64)
    below: list[Bits] = []  # of each level, what the keys' entries are: keys of the next level
    for depth, level in enumerate(levels):
        bits, nodes = keys >> _LOW, keys & np.uint64(0xFFFFFFFF)
        _check_size(len(keys), states)
        bits = bits[:, None] & fitting[depth]
        sure = bits & open_to_all[depth + 1]
        lowest = sure & (~sure + np.uint64(1))
        # What is sure to fit hides transitions after it, and the old diagram.
        bits = np.where(lowest != 0, bits & (lowest | (lowest - np.uint64(1))), bits)
        nodes = np.where(lowest != 0, np.uint64(0), level[nodes.astype(np.intp)])
        children = bits << _LOW | nodes
        below.append(children)
        found = np.unique(children)
        keys = found[found >> _LOW != 0]
    outputs = np.array([one.output for one in batch], np.uint32)
    return _raised(levels, below, outputs)


def _sets(batch: Sequence[Transition], states: int) -> tuple[list[Bits], list[np.uint64]]:
    """Return bit sets of transitions: those that each state of each cell fits, and those that fit
    whatever the cells from a level on are.
    """
    fitting = [
        np.array(
            [
                sum((one.allowed[depth] >> state & 1) << i for i, one in enumerate(batch))
                for state in range(states)
            ],
            np.uint64,
        )
        for depth in range(len(CELLS))
    ]
    every = np.uint64((1 << len(batch)) - 1)
    open_to_all = [every]
    for sets in reversed(fitting):
        open_to_all.append(open_to_all[-1] & np.bitwise_and.reduce(sets))
    return fitting, open_to_all[::-1]


def _raised(levels: list[Level], below: list[Bits], outputs: npt.NDArray[np.uint32]) -> list[Level]:
    """Return a diagram of the old nodes and of the keys, from the last level up."""
    made: list[Level] = []
    names: npt.NDArray[np.uint32] | None = None  # the new numbers of the next level's old nodes
    keys = np.empty(0, np.uint64)
    key_names = np.empty(0, np.uint32)
    for old, children in zip(reversed(levels), reversed(below), strict=True):
        bits, nodes = children >> _LOW, (children & np.uint64(0xFFFFFFFF)).astype(np.intp)
        kept = nodes.astype(np.uint32) if names is None else names[nodes]
        if names is None:  # the last level: a set has one transition left, which is sure
            chosen = outputs[np.log2(np.maximum(bits, 1)).astype(np.intp)]
        else:
            places = np.minimum(np.searchsorted(keys, children), max(0, len(keys) - 1))
            chosen = key_names[places] if len(keys) else kept
        entries = np.where(bits != 0, chosen, kept).astype(np.uint32)
        renamed = old if names is None else names[old]
        _check_size(len(renamed) + len(entries), entries.shape[1])
        level, numbers = unique_rows(np.concatenate((renamed, entries)))
        made.append(level)
        names, key_names = numbers[: len(old)], numbers[len(old) :]
        keys = _keys_of(below, len(levels) - len(made))
    return _reached(made[::-1], int(key_names[0]))


def _keys_of(below: list[Bits], depth: int) -> Bits:
    """Return the keys of a level, in their order."""
    if depth == 0:
        return np.empty(0, np.uint64)
    found: Bits = np.unique(below[depth - 1])
    keys: Bits = found[found >> _LOW != 0]
    return keys


def shared(levels: Sequence[Level]) -> list[Level]:
    """Return the diagram with equal nodes merged and numbered by their order.

    Equal functions have equal results. Raises DiagramError.
    """
    made: list[Level] = []
    names: npt.NDArray[np.uint32] | None = None
    for level in reversed(_reached(list(levels), 0)):
        merged, names = unique_rows(level if names is None else names[level])
        made.append(merged)
    whole = made[::-1]
    if sum(level.size for level in whole) > ENTRIES:
        raise DiagramError(f"the rule has too many cases: more than {ENTRIES} entries")
    return whole


def _reached(levels: list[Level], root: int) -> list[Level]:
    """Return the diagram without the nodes that no path from the root meets."""
    made: list[Level] = []
    wanted = np.array([root])
    for level in levels:
        rows = level[wanted]
        made.append(rows)
        wanted = np.unique(rows)
        numbers = np.zeros(int(wanted[-1]) + 1, np.uint32)
        numbers[wanted] = np.arange(len(wanted))
        if len(made) < len(levels):
            made[-1] = numbers[rows]
    return made


def unique_rows(rows: Level) -> tuple[Level, npt.NDArray[np.uint32]]:
    """Return the different rows in ascending order, and the number that each row has there."""
    # Bytes of big-endian numbers compare as the rows do.
    texts = np.ascontiguousarray(rows.astype(">u4")).view(f"V{4 * rows.shape[1]}").ravel()
    _, first, numbers = np.unique(texts, return_index=True, return_inverse=True)
    return rows[first], numbers.astype(np.uint32)


def _check_size(nodes: int, states: int) -> None:
    if nodes * states > ENTRIES:
        raise DiagramError(f"the rule has too many cases: more than {ENTRIES} entries")


def reordered(levels: Sequence[Level], order: Sequence[int]) -> list[Level]:
    """Return the diagram with its levels in another order: level i is that of cell order[i].

    order: of the cells as the levels stand now, each once. Raises DiagramError.
    """
    made = shared(levels)
    now = list(range(len(made)))
    for place, cell in enumerate(order):
        for i in range(now.index(cell), place, -1):
            made[i - 1 : i + 1] = _swapped(made[i - 1], made[i])
            now[i - 1 : i + 1] = now[i], now[i - 1]
    return shared(made)


def _swapped(upper: Level, lower: Level) -> tuple[Level, Level]:
    """Return two levels, one below the other, so that the lower one's cell is asked first."""
    nodes, states = upper.shape
    _check_size(nodes * states, states)
    both = lower[upper].transpose(0, 2, 1).reshape(nodes * states, states)
    merged, numbers = unique_rows(both)
    return numbers.reshape(nodes, states), merged
