"""Find what makes a grammar ambiguous, where that can be seen.

Whether a grammar is ambiguous cannot be decided in general. What is said here is true of
the grammar; where nothing is said, it may be ambiguous still.
"""

from __future__ import annotations

from itertools import combinations

from .analysis import cycle, filling, nullable, shortest, trimmed, unit_graph
from .grammar import Grammar, Nonterminal, Production, Symbol
from .graphs import components

Sentence = tuple[str, ...]
Strings = dict[Sentence, int]  # with their numbers of trees

EFFORT = 100_000  # strings put together in search of a sentence with two parses
LONGEST = 32  # tokens of such a sentence
MAX_EMPTY = 8  # symbols of a production that may be empty; of more, combinations are not tried

MOST = 5  # hints of a kind


def hints(grammar: Grammar) -> list[str]:
    """Return statements about cycles and ambiguity, all true, each a line."""
    grammar = trimmed(grammar)[0]
    if not grammar.productions:
        return []
    found = []
    way = cycle(grammar)
    if way is not None:
        steps = " ⇒ ".join(symbol.name for symbol in way)
        found.append(f"cyclic: {steps}, so that some sentences have infinitely many parses")
    for kind in (_recursions(grammar), _repetitions(grammar)):
        found += kind[:MOST]
        if len(kind) > MOST:
            found.append(f"ambiguous: so are {len(kind) - MOST} more symbols")
    if way is None:
        sentence, number, length = ambiguous_sentence(grammar)
        if sentence is not None:
            text = " ".join(sentence)
            found.append(f"ambiguous: {text!r} has {number} parses; no shorter sentence has two")
        elif not found:
            found.append(f"no sentence of up to {length} tokens has two parses")
    return found


def ambiguous_sentence(grammar: Grammar, effort: int = EFFORT) -> tuple[Sentence | None, int, int]:
    """Return a shortest sentence with more than one parse, and the number of its parses.

    None and 0 if none was found, and then up to which length there is none. The grammar
    has no cycles. Strings are put together from the shortest on, `effort` of them, from
    one terminal of each kind: those that stand alone, for the same symbols, are alike.
    """
    search = _Search(_thinned(trimmed(grammar)[0]), effort)
    for length in range(LONGEST + 1):
        try:
            search.extend(length)
        except _TooManyError:
            return None, 0, length - 1
        several = [s for s, n in search.strings[search.start][length].items() if n > 1]
        if several:
            sentence = min(several)
            return sentence, search.strings[search.start][length][sentence], length
    return None, 0, LONGEST


def _recursions(grammar: Grammar) -> list[str]:
    """Look for A → A α and A → β A, which can be applied to β A α in either order; or A → A γ A."""
    found = []
    for symbol in grammar.nonterminals:
        rules = [p for p in grammar.productions_of(symbol) if len(p.rhs) > 1]
        left = [p for p in rules if p.rhs[0] == symbol]
        right = [p for p in rules if p.rhs[-1] == symbol]
        both = [p for p in left if p.rhs[-1] == symbol]
        if both:
            found.append(f"ambiguous: {_bare(both[0])} begins and ends with {symbol}")
        elif left and right:
            found.append(
                f"ambiguous: {_bare(left[0])} and {_bare(right[0])} can be applied in either order"
            )
    return found


def _repetitions(grammar: Grammar) -> list[str]:
    """Look for symbols that derive the same in two ways when empty ones are left out."""
    empty, full = nullable(grammar), filling(grammar)
    found = []
    for symbol in grammar.nonterminals:
        seen: dict[tuple[Symbol, ...], Production] = {}
        for production in grammar.productions_of(symbol):
            rhs = production.rhs
            places = [i for i, s in enumerate(rhs) if s in empty]
            if len(places) > MAX_EMPTY:
                continue
            mine: set[tuple[Symbol, ...]] = set()
            twice: tuple[Symbol, ...] | None = None
            for number in range(len(places) + 1):
                for out in combinations(places, number):
                    rest = tuple(s for i, s in enumerate(rhs) if i not in out)
                    # With something in each part, what is left out tells the trees apart.
                    if rest in mine and all(isinstance(s, str) or s in full for s in rest):
                        twice = twice or rest
                    mine.add(rest)
            again = [rest for rest in mine if rest in seen]
            if twice:
                what = f"{_bare(production)} comes to {_words(twice)} in two ways"
            elif again:
                rest = min(again, key=lambda r: (len(r), _words(r)))
                what = f"{_bare(seen[rest])} and {_bare(production)} both come to {_words(rest)}"
            else:
                for rest in mine:
                    seen.setdefault(rest, production)
                continue
            found.append(f"ambiguous: {what}, as symbols can be empty")
            break
    return found


def _bare(production: Production) -> str:
    return str(Production(production.lhs, production.rhs))


def _words(symbols: tuple[Symbol, ...]) -> str:
    return " ".join(s.name if isinstance(s, Nonterminal) else repr(s) for s in symbols) or "nothing"


def _thinned(grammar: Grammar) -> Grammar:
    """Return the grammar with one terminal for all that are alike.

    They are right-hand sides by themselves, of the same symbols, and are nowhere else.
    """
    alone: dict[str, list[Nonterminal]] = {}
    among: set[str] = set()
    for production in grammar.productions:
        words = [s for s in production.rhs if isinstance(s, str)]
        if len(production.rhs) == 1:
            for word in words:
                alone.setdefault(word, []).append(production.lhs)
        else:
            among.update(words)
    kinds: dict[frozenset[Nonterminal], str] = {}
    dropped = set()
    for word, symbols in alone.items():
        if word not in among and kinds.setdefault(frozenset(symbols), word) != word:
            dropped.add(word)
    return grammar.with_productions(p for p in grammar.productions if dropped.isdisjoint(p.rhs))


class _TooManyError(Exception):
    pass


class _Search:
    """The strings of each symbol, by length, with their numbers of trees."""

    def __init__(self, grammar: Grammar, effort: int) -> None:
        self.grammar, self.start, self.effort = grammar, grammar.start, effort
        self.strings: dict[Symbol, list[Strings]] = {s: [] for s in grammar.nonterminals}
        self.least: dict[Symbol, int] = dict.fromkeys(grammar.terminals, 1)
        self.least.update(shortest(grammar).items())
        # Without cycles each group is one symbol.
        graph = unit_graph(grammar, nullable(grammar))
        self.order = [group[0] for group in components(graph, graph.__getitem__)]
        # Of each right-hand side, for each part, what those from it on derive, by length.
        self.rests: dict[tuple[Symbol, ...], list[list[Strings]]] = {
            p.rhs: [[] for _ in p.rhs] for p in grammar.productions
        }

    def extend(self, length: int) -> None:
        """Find all strings of so many tokens; shorter ones are there already."""
        for rows in self.strings.values():
            rows.append({})
        for terminal in self.grammar.terminals:
            rows = self.strings.setdefault(terminal, [{}])
            rows.append({(terminal,): 1} if len(rows) == 1 else {})
        for symbol in self.order:
            row = self.strings[symbol][length]
            for production in self.grammar.productions_of(symbol):
                for string, number in self.derived(production.rhs, length).items():
                    row[string] = row.get(string, 0) + number

    def derived(self, rhs: tuple[Symbol, ...], length: int) -> Strings:
        """Return what a right-hand side derives of so many tokens."""
        if not rhs:
            return {(): 1} if length == 0 else {}
        rests = self.rests[rhs]
        before = sum(self.least[symbol] for symbol in rhs)
        for i in reversed(range(len(rhs))):
            before -= self.least[rhs[i]]
            first = self.strings[rhs[i]]
            for total in range(len(rests[i]), length - before + 1):
                if i == len(rhs) - 1:
                    rests[i].append(first[total])
                    continue
                found: Strings = {}
                for taken in range(self.least[rhs[i]], total + 1):
                    left, behind = first[taken], rests[i + 1][total - taken]
                    self.effort -= len(left) * len(behind)
                    if self.effort < 0:
                        raise _TooManyError
                    for a, n in left.items():
                        for b, m in behind.items():
                            found[a + b] = found.get(a + b, 0) + n * m
                rests[i].append(found)
        return rests[0][length] if len(rests[0]) > length else {}
