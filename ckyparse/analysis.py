"""Say of a grammar what can be said without parsing anything.

The fixpoints take time linear in the size of the grammar (Sippu and Soisalon-Soininen,
Parsing Theory I, chapters 4.4 and 4.5).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from heapq import heapify, heappop, heappush

from .grammar import Grammar, Nonterminal, Production, Symbol
from .graphs import components


def productive(grammar: Grammar) -> frozenset[Nonterminal]:
    """Return the symbols that derive some string of terminals."""
    return _fixpoint(grammar, True)


def nullable(grammar: Grammar) -> frozenset[Nonterminal]:
    """Return the symbols that derive the empty string."""
    return _fixpoint(grammar, False)


def reachable(grammar: Grammar) -> frozenset[Nonterminal]:
    """Return the symbols that occur in what the start symbol derives."""
    found, waiting = {grammar.start}, [grammar.start]
    while waiting:
        for production in grammar.productions_of(waiting.pop()):
            for symbol in production.rhs:
                if isinstance(symbol, Nonterminal) and symbol not in found:
                    found.add(symbol)
                    waiting.append(symbol)
    return frozenset(found)


def trimmed(grammar: Grammar) -> tuple[Grammar, list[str]]:
    """Return the grammar without useless symbols, and a note for each thing that was dropped.

    The language, and the trees of each sentence, stay. If the language is empty, no
    productions are left. Probabilities stay as they are, so that those of a left-hand side
    may sum to less than one; a note says so.
    """
    good = productive(grammar)
    dropped: list[tuple[Production, Nonterminal]] = []
    kept: list[Production] = []
    lost: dict[Nonterminal, Fraction] = {}
    for production in grammar.productions:
        bad = [s for s in production.rhs if isinstance(s, Nonterminal) and s not in good]
        if not bad:
            kept.append(production)
        elif production.lhs in good:
            dropped.append((production, bad[0]))
            share = lost.setdefault(production.lhs, Fraction())
            lost[production.lhs] = share + (production.probability or 0)
    empty = grammar.start not in good
    reached = frozenset[Nonterminal]()
    if not empty:
        reached = reachable(grammar.with_productions(kept))
    notes: list[str] = []
    for symbol in grammar.nonterminals:
        productions = grammar.productions_of(symbol)
        place = _at(productions[0]) if productions else ""
        if symbol not in good:
            if symbol != grammar.start:
                notes.append(f"{place}{symbol} dropped: it derives no string of terminals")
        elif symbol not in reached and not empty:
            notes.append(f"{place}{symbol} dropped: {grammar.start} does not lead to it")
    notes += [
        f"{_at(production)}{production} dropped: {symbol} derives no string of terminals"
        for production, symbol in dropped
        if production.lhs in reached
    ]
    notes += [
        f"the probabilities of {lhs} lose {float(share):.6g} with what was dropped"
        for lhs, share in lost.items()
        if share and lhs in reached
    ]
    if empty:
        notes.insert(0, f"the language is empty: {grammar.start} derives no string of terminals")
    if len(reached) == len(grammar.nonterminals) and len(kept) == len(grammar.productions):
        return grammar, notes
    return grammar.with_productions(p for p in kept if p.lhs in reached), notes


def is_empty(grammar: Grammar) -> bool:
    """Return whether there is no sentence."""
    return grammar.start not in productive(grammar)


def is_finite(grammar: Grammar) -> bool:
    """Return whether there are finitely many sentences."""
    grammar = trimmed(grammar)[0]
    full = filling(grammar)
    graph = _graph(grammar)
    groups = components(graph, graph.__getitem__)
    home: dict[Symbol, int] = {symbol: i for i, group in enumerate(groups) for symbol in group}
    for production in grammar.productions:
        again = any(home.get(s) == home[production.lhs] for s in production.rhs)
        if again and sum(isinstance(s, str) or s in full for s in production.rhs) > 1:
            return False  # a symbol derives itself with something beside it
    return True


def cycle(grammar: Grammar) -> tuple[Nonterminal, ...] | None:
    """Return A, …, A of which each derives the next and nothing beside it; None if there is none.

    Of useful symbols, so that some sentence has infinitely many parses if there is one.
    """
    grammar = trimmed(grammar)[0]
    graph = unit_graph(grammar, nullable(grammar))
    for component in components(graph, graph.__getitem__):
        begin = component[0]
        if len(component) > 1 or begin in graph[begin]:
            return _round(graph, begin)
    return None


def unit_graph(
    grammar: Grammar, empty: Collection[Nonterminal]
) -> dict[Nonterminal, list[Nonterminal]]:
    """Return the edges from A to each B, once, that A derives beside symbols of `empty` only."""
    graph: dict[Nonterminal, dict[Nonterminal, None]] = {a: {} for a in grammar.nonterminals}
    for production in grammar.productions:
        full = [s for s in production.rhs if s not in empty]
        if len(full) < 2:
            for symbol in full or production.rhs:
                if isinstance(symbol, Nonterminal):
                    graph[production.lhs][symbol] = None
    return {a: list(below) for a, below in graph.items()}


def _fixpoint(grammar: Grammar, terminals: bool) -> frozenset[Nonterminal]:
    """Return the least set with the left-hand side of each production whose symbols are all in it.

    terminals: whether those are in it.
    """
    found: set[Nonterminal] = set()
    waiting: list[Nonterminal] = []
    missing: list[int] = []  # of each production, its symbols that are not known to be in
    uses: dict[Nonterminal, list[int]] = {}
    for number, production in enumerate(grammar.productions):
        needs = [s for s in production.rhs if isinstance(s, Nonterminal)]
        missing.append(len(needs))
        if len(needs) < len(production.rhs) and not terminals:
            continue
        for symbol in needs:
            uses.setdefault(symbol, []).append(number)
        if not needs and production.lhs not in found:
            found.add(production.lhs)
            waiting.append(production.lhs)
    while waiting:
        for number in uses.get(waiting.pop(), ()):
            missing[number] -= 1
            lhs = grammar.productions[number].lhs
            if not missing[number] and lhs not in found:
                found.add(lhs)
                waiting.append(lhs)
    return frozenset(found)


def filling(grammar: Grammar) -> frozenset[Nonterminal]:
    """Return the symbols of a trimmed grammar that derive a string which is not empty."""
    above: dict[Nonterminal, list[Nonterminal]] = {}
    found: set[Nonterminal] = set()
    for production in grammar.productions:
        for symbol in production.rhs:
            if isinstance(symbol, str):
                found.add(production.lhs)
            else:
                above.setdefault(symbol, []).append(production.lhs)
    waiting = list(found)
    while waiting:
        for symbol in above.get(waiting.pop(), ()):
            if symbol not in found:
                found.add(symbol)
                waiting.append(symbol)
    return frozenset(found)


def _graph(grammar: Grammar) -> dict[Nonterminal, list[Nonterminal]]:
    graph: dict[Nonterminal, list[Nonterminal]] = {a: [] for a in grammar.nonterminals}
    for production in grammar.productions:
        graph[production.lhs] += [s for s in production.rhs if isinstance(s, Nonterminal)]
    return graph


def _round(
    graph: Mapping[Nonterminal, Collection[Nonterminal]], begin: Nonterminal
) -> tuple[Nonterminal, ...]:
    """Return a shortest way from a node back to it; there is one."""
    before: dict[Nonterminal, Nonterminal] = {}
    queue = [begin]
    for node in queue:  # grows
        for child in graph[node]:
            if child not in before:
                before[child] = node
                queue.append(child)
        if begin in before:
            break
    way = [begin, before[begin]]
    while way[-1] != begin:
        way.append(before[way[-1]])
    return tuple(reversed(way))


def _at(production: Production) -> str:
    return f"line {production.line}: " if production.line else ""


def shortest(grammar: Grammar) -> dict[Nonterminal, int]:
    """Return the fewest tokens that each productive symbol derives (Knuth 1977)."""
    found: dict[Nonterminal, int] = {}
    missing: list[int] = []
    length: list[int] = []
    uses: dict[Nonterminal, list[int]] = {}
    queue: list[tuple[int, int]] = []  # (length, production)
    for number, production in enumerate(grammar.productions):
        needs = [s for s in production.rhs if isinstance(s, Nonterminal)]
        missing.append(len(needs))
        length.append(len(production.rhs) - len(needs))
        for symbol in needs:
            uses.setdefault(symbol, []).append(number)
        if not needs:
            queue.append((length[number], number))
    heapify(queue)
    while queue:
        fewest, number = heappop(queue)
        lhs = grammar.productions[number].lhs
        if lhs in found:
            continue
        found[lhs] = fewest
        for use in uses.get(lhs, ()):
            missing[use] -= 1
            length[use] += fewest
            if not missing[use]:
                heappush(queue, (length[use], use))
    return found


def lengths(grammar: Grammar, up_to: int) -> list[int]:
    """Return which numbers of tokens, up to this one, some sentence has."""
    grammar = trimmed(grammar)[0]
    mask = (2 << up_to) - 1
    # Bit n of a number says whether there is something of n tokens.
    found: dict[Nonterminal, int] = dict.fromkeys(grammar.nonterminals, 0)
    graph = _graph(grammar)
    for component in components(graph, graph.__getitem__):
        grown = True
        while grown:
            grown = False
            for symbol in component:
                before = found[symbol]
                for production in grammar.productions_of(symbol):
                    some = 1
                    for part in production.rhs:
                        some = _sums(some, 2 if isinstance(part, str) else found[part]) & mask
                    found[symbol] |= some
                grown |= found[symbol] != before
    start = found[grammar.start]
    return [n for n in range(start.bit_length()) if start >> n & 1]


def _sums(a: int, b: int) -> int:
    """Return the set of sums of two sets of numbers, each as the bits of a number."""
    if a.bit_count() > b.bit_count():
        a, b = b, a
    result = 0
    while a:
        low = a & -a
        result |= b << low.bit_length() - 1
        a ^= low
    return result
