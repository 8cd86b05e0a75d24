"""Grammars at random, and their languages in the most obvious way: what is held to be true."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from hypothesis import reject
from hypothesis import strategies as st

from ckyparse.grammar import Grammar, Nonterminal, Production, Symbol

Sentence = tuple[str, ...]
Languages = dict[Nonterminal, set[Sentence]]

_MOST_STEPS = 200_000  # a second


def languages(grammar: Grammar, up_to: int) -> Languages:
    """Return the strings of at most so many tokens that each symbol derives."""
    found: Languages = {symbol: set() for symbol in grammar.nonterminals}
    grown = True
    while grown:
        grown = False
        for production in grammar.productions:
            strings: set[Sentence] = {()}
            for symbol in production.rhs:
                ends = {(symbol,)} if isinstance(symbol, str) else found[symbol]
                strings = {a + b for a in strings for b in ends if len(a) + len(b) <= up_to}
            grown |= not strings <= found[production.lhs]
            found[production.lhs] |= strings
    return found


def language(grammar: Grammar, up_to: int) -> set[Sentence]:
    """The sentences of at most so many tokens, straight from the productions."""
    return languages(grammar, up_to)[grammar.start]


def trees(grammar: Grammar, up_to: int) -> Counter[Sentence]:
    """The number of trees of each sentence of a grammar without cycles, by expanding the
    leftmost nonterminal in every way. Examples with too many are passed over: symbols that
    can be empty have trees without number, nearly."""
    shortest: dict[Symbol, int] = {
        symbol: min(map(len, found), default=up_to + 1)
        for symbol, found in languages(grammar, up_to).items()
    }
    shortest |= dict.fromkeys(grammar.terminals, 1)
    found: Counter[Sentence] = Counter()
    waiting: list[tuple[Symbol, ...]] = [(grammar.start,)]
    steps = 0
    while waiting:
        form = waiting.pop()
        steps += 1
        if steps > _MOST_STEPS:
            reject()
        if sum(shortest[symbol] for symbol in form) > up_to:
            continue
        at = next((i for i, s in enumerate(form) if isinstance(s, Nonterminal)), None)
        if at is None:
            found[tuple(map(str, form))] += 1
        else:
            symbol = form[at]
            assert isinstance(symbol, Nonterminal)
            for production in grammar.productions_of(symbol):
                waiting.append(form[:at] + production.rhs + form[at + 1 :])
    return found


@st.composite
def grammars(
    draw: st.DrawFn,
    nonterminals: int = 4,
    terminals: int = 2,
    productions: int = 8,
    longest: int = 4,
    probabilities: bool = False,
) -> Grammar:
    """Small ones of any kind: empty and unit productions, cycles, useless symbols, mixed
    right-hand sides. Each symbol has a production. S is the start symbol."""
    symbols = [Nonterminal(name) for name in "SABCDEFG"[: draw(st.integers(1, nonterminals))]]
    letters = list("abcdefgh"[: draw(st.integers(1, terminals))])
    sides = st.lists(st.sampled_from([*symbols, *letters]), max_size=longest).map(tuple)
    rows = [(symbol, draw(sides)) for symbol in symbols]
    more = st.lists(st.tuples(st.sampled_from(symbols), sides), max_size=productions - len(rows))
    rows = list(dict.fromkeys(rows + draw(more)))
    if not probabilities:
        return Grammar(symbols[0], [Production(lhs, rhs) for lhs, rhs in rows])
    shares = [draw(st.integers(1, 9)) for _ in rows]
    sums = {
        s: sum(n for (lhs, _), n in zip(rows, shares, strict=True) if lhs == s) for s in symbols
    }
    return Grammar(
        symbols[0],
        [
            Production(lhs, rhs, Fraction(share, sums[lhs]))
            for (lhs, rhs), share in zip(rows, shares, strict=True)
        ],
    )
