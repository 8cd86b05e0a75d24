"""Grammars made from a normal form that answer other questions: of prefixes, of infinity."""

from __future__ import annotations

from collections.abc import Iterable

from kernels.cky.rules import Rules, sorted_rows
from kernels.cky.weighted import Weights

from .graphs import components

Pairs = list[tuple[int, int]]


def prefixes(rules: Rules, start: int) -> tuple[Rules, int]:
    """Return the grammar of all prefixes, not empty, of what the start symbol derives; its symbol.

    Every symbol must derive something. A' derives the prefixes of what A does: A → B C
    makes A' → B C' and A' → B'. Symbols that can begin with one another have the same
    prefixes and become one, which leaves few of the unit rules. For a symbol of single
    terminals A' is A.
    """
    binary, units, lexical = (rows.tolist() for rows in (rules.binary, rules.units, rules.lexical))
    # What a symbol can begin with; of those that derive more than single terminals.
    first: dict[int, list[int]] = {a: [] for a, _, _ in binary}
    first |= {a: [] for a, b in units if b in first}
    for a, b, *_ in (*binary, *units):
        if a in first:
            first[a].append(b)
    words = {a: set(own) for a, own in _listed(lexical).items()}
    for a, b in units:  # closed; so what b has by then does no harm
        words.setdefault(a, set()).update(words.get(b, ()))
    prime = {a: a for a in range(rules.symbols)}
    for k, part in enumerate(components(sorted(first), lambda a: first.get(a, ()))):
        if part[0] in first:
            prime.update(dict.fromkeys(part, rules.symbols + k))

    begins: dict[int, set[int]] = {}
    for a, beginnings in first.items():
        begins.setdefault(prime[a], {a}).update(beginnings)

    binary += {(prime[a], b, prime[c]) for a, b, c in binary}
    for a, own in begins.items():
        units += {(a, prime[b]) for b in own if b in first}
        lexical += [(a, word) for word in set[int]().union(*(words.get(b, ()) for b in own))]
    return _made(rules, prime[start], binary, units, lexical)


def infinite(rules: Rules, start: int, masks: Weights) -> tuple[Rules, int] | None:
    """Return the grammar of the strings of which the start symbol has infinitely many trees; None
    if there are none.

    masks: bool, which weights of rules are infinite. A string of A* has a derivation from A
    that uses one of those.
    """
    binary, units, lexical = (rows.tolist() for rows in (rules.binary, rules.units, rules.lexical))
    marked = rules.symbols
    cycles: Pairs = [(a, a) for a in masks.loops.nonzero()[0].tolist()]
    cycles += [(a, b) for a, b in rules.units[masks.units].tolist()]
    above = _listed([(b, a) for a, b in units])
    for a, b, c in binary:
        above.setdefault(b, []).append(a)
        above.setdefault(c, []).append(a)
    able = _closed({a for a, _ in cycles}, above)
    if start not in able:
        return None
    twice = []
    for a, b, c in binary:
        if b in able:
            twice.append((marked + a, marked + b, c))
        if c in able:
            twice.append((marked + a, b, marked + c))
    units += [(marked + a, marked + b) for a, b in units if b in able]
    units += [(marked + a, b) for a, b in cycles]
    return _made(rules, marked + start, binary + twice, units, lexical)


def _made(
    rules: Rules,
    start: int,
    binary: list[tuple[int, int, int]],
    units: Pairs,
    lexical: Pairs,
) -> tuple[Rules, int]:
    """Return the rules of the symbols that the start symbol leads to, numbered anew in their order.

    What Rules.make would make, but sooner where there are many units.
    """
    below = _listed(units)
    kids = {a: list(own) for a, own in below.items()}
    for a, b, c in binary:
        kids.setdefault(a, []).extend((b, c))
    useful = sorted(_closed({start}, kids))
    count = len(useful)
    number = {a: k for k, a in enumerate(useful)}

    reached: dict[int, set[int]] = {}
    for part in components(useful, lambda a: below.get(a, ())):
        inner = {b for a in part for b in below.get(a, ())}
        outer = [reached[b] for b in inner.difference(part)]
        # One set for all of a part.
        reached.update(dict.fromkeys(part, inner.union(part, *outer)))
    closed = [(number[a], number[b]) for a in useful for b in reached[a] if a != b]
    rows = [(number[a], number[b], number[c]) for a, b, c in binary if a in number]
    words = [(number[a], terminal) for a, terminal in lexical if a in number]
    made = Rules(
        count,
        rules.terminals,
        sorted_rows(rows, (count,) * 3),
        sorted_rows(closed, (count,) * 2),
        sorted_rows(words, (count, rules.terminals)),
    )
    return made, number[start]


def _listed(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    result: dict[int, list[int]] = {}
    for a, b in pairs:
        result.setdefault(a, []).append(b)
    return result


def _closed(found: set[int], neighbours: dict[int, list[int]]) -> set[int]:
    found, waiting = set(found), list(found)
    while waiting:
        for a in neighbours.get(waiting.pop(), ()):
            if a not in found:
                found.add(a)
                waiting.append(a)
    return found
