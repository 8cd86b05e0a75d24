"""Grammars whose rules have two symbols at most, numbered: the first half of the normal form.

Only what has to be is transformed (Lange & Leiß 2009, "To CNF or not to CNF?"): long
right-hand sides become binary by helpers; rules with ε or one symbol stay what they are. So there
are no more than a small multiple of the grammar's rules, and their derivations are those of the
grammar one by one.
"""

from __future__ import annotations

from .analysis import trimmed
from .grammar import Grammar, Nonterminal
from .sums import grown

# What a symbol derives in one step: none to two symbols; and its production, or -1.
Rule = tuple[tuple[int, ...], int]

LONG = 16  # symbols of a right-hand side from which on it is halved


class BinaryGrammar:
    """A grammar with binary rules; useless productions are left out.

    Symbols are numbers: first those that derive a string that is not empty (nonterminals
    with the start symbol as 0, wrapped terminals, helpers), then
    those that derive only the empty string. A wrapped terminal stands for a terminal
    beside other symbols, a helper for what follows the first symbol of a right-hand side
    of three or more; equal rests share one. Of a right-hand side of more than LONG symbols
    two neighbours each become a helper first, again and again: if all can be empty, each
    helper of a chain would lead to all that follow. The start symbol is 0 even if it
    derives nothing. The numbers are the same in every process.

    A derivation here is one tree of the original grammar and the other way
    round: a helper has one rule, and a production's rule is its own.

    grammar: the original. productions: its useful ones. vocabulary: all its terminals, with
    their numbers. derivations: of each symbol, its rules but for those of a single
    terminal. lexicon: of each symbol, the terminals of its lexical rules, each with the
    number of its production, -1 for a wrapped one. nullable_ids: the symbols that derive
    the empty string.
    """

    start = 0

    def __init__(self, grammar: Grammar) -> None:
        """Number the symbols of a grammar's useful productions, and make their rules."""
        self.grammar = grammar
        self.productions = trimmed(grammar)[0].productions
        self.vocabulary = {terminal: a for a, terminal in enumerate(grammar.terminals)}
        self._binarize()
        rules = [(lhs, rhs) for lhs, own in enumerate(self.derivations) for rhs, _ in own]
        empty = {lhs for lhs, rhs in rules if not rhs}
        self.nullable_ids = frozenset(grown(empty, rules, all) if empty else ())
        self._solid = len(self.derivations)  # symbols that derive more than the empty string
        if empty:
            words = {symbol for symbol, own in enumerate(self.lexicon) if own}
            self._order(grown(words, rules, any))
        self._symbols = max(self._solid, 1)

    def _binarize(self) -> None:
        """Number the symbols and make their rules."""
        names = dict.fromkeys([self.grammar.start, *(p.lhs for p in self.productions)])
        self._names: list[Nonterminal | None] = list(names)
        self._ids = {name: number for number, name in enumerate(names)}
        wrapped: dict[str, int] = {}
        helpers: dict[tuple[int, int], int] = {}
        ids, rules = self._ids, []
        self.lexicon: list[dict[int, int]] = [{} for _ in names]
        for p, production in enumerate(self.productions):
            rhs = production.rhs
            lhs = ids[production.lhs]
            if len(rhs) == 1 and isinstance(rhs[0], str):
                self.lexicon[lhs][self.vocabulary[rhs[0]]] = p
                continue
            numbers = [
                wrapped.setdefault(symbol, len(ids) + len(wrapped))
                if isinstance(symbol, str)
                else ids[symbol]
                for symbol in rhs
            ]
            rules.append((lhs, numbers, p))
        first = len(ids) + len(wrapped)
        self.derivations: list[list[Rule]] = [[] for _ in range(first)]

        def helper(left: int, right: int) -> int:
            return helpers.setdefault((left, right), first + len(helpers))

        for lhs, numbers, p in rules:
            while len(numbers) > LONG:
                ends = numbers[len(numbers) & ~1 :]
                pairs = zip(numbers[::2], numbers[1::2], strict=False)
                numbers = [helper(*pair) for pair in pairs] + ends
            while len(numbers) > 2:
                last = numbers.pop()
                numbers[-1] = helper(numbers[-1], last)
            self.derivations[lhs].append((tuple(numbers), p))
        self.derivations += [[(pair, -1)] for pair in helpers]
        self.lexicon += [{self.vocabulary[terminal]: -1} for terminal in wrapped]
        self.lexicon += [{} for _ in helpers]
        self._names += [None] * (len(wrapped) + len(helpers))

    def _order(self, solid: set[int]) -> None:
        """Move all other symbols to the end."""
        count = len(self.derivations)
        self._solid = len(solid)
        if self._solid == count:
            return
        order = sorted(range(count), key=lambda symbol: symbol not in solid)
        new = sorted(range(count), key=order.__getitem__)
        self.derivations = [
            [(tuple(new[s] for s in rhs), p) for rhs, p in self.derivations[old]] for old in order
        ]
        self.lexicon = [self.lexicon[old] for old in order]
        self._names = [self._names[old] for old in order]
        self._ids = {name: new[number] for name, number in self._ids.items()}
        self.nullable_ids = frozenset(new[symbol] for symbol in self.nullable_ids)

    def id_of(self, symbol: Nonterminal) -> int | None:
        """Return its number; None if it is useless or derives no more than the empty string."""
        number = self._ids.get(symbol)
        return number if number is not None and number < self._symbols else None

    def symbol_of(self, number: int) -> Nonterminal | None:
        """Return the nonterminal of that number; None for helpers and wrapped terminals."""
        return self._names[number]

    def nullable(self, symbol: Nonterminal) -> bool:
        """Return whether it is useful and derives the empty string."""
        return self._ids.get(symbol) in self.nullable_ids
