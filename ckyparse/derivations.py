"""Trees of a grammar by their number of tokens: counted, and drawn uniformly.

The numbers are exact (Hickey and Cohen, Uniform random generation of strings in a
context-free language, SIAM J. Comput. 12, 1983). They take time in the square of the
length, once; then drawing takes about a step for each node of a tree.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from itertools import accumulate
from operator import mul

from .analysis import nullable, shortest, trimmed, unit_graph
from .grammar import Grammar, Nonterminal, Production
from .graphs import components

Choices = tuple[list[int], list[int]]  # running sums of weights, and what is chosen


class Derivations:
    """Counts how many trees have how many tokens.

    Symbols that derive each other with nothing beside them, in a cycle, would have
    infinitely many. From one of those to another, or to itself, there is one step here.
    So each sentence still has a tree.
    """

    def __init__(self, grammar: Grammar) -> None:
        grammar = trimmed(grammar)[0]
        symbols = {symbol: i for i, symbol in enumerate(grammar.nonterminals)}
        # Of each symbol and each terminal, the number of trees of 0, 1, … tokens.
        self._counts: list[list[int]] = [[] for _ in symbols]
        self._words: dict[str, list[int]] = {terminal: [] for terminal in grammar.terminals}
        # Symbols after those that they derive alone; those of a cycle together.
        graph = unit_graph(grammar, nullable(grammar))
        self._groups = [
            [symbols[symbol] for symbol in group] for group in components(graph, graph.__getitem__)
        ]
        group_of = {symbol: group for group in self._groups for symbol in group}
        least = shortest(grammar)
        self._rules: dict[int, list[_Rule]] = {symbol: [] for symbol in group_of}
        for production in grammar.productions:
            lhs = symbols[production.lhs]
            parts = [symbols[s] if isinstance(s, Nonterminal) else s for s in production.rhs]
            rows = [self._words[s] if isinstance(s, str) else self._counts[s] for s in parts]
            inner = [s in group_of[lhs] for s in parts]
            self._rules[lhs].append(_Rule(production, parts, rows, inner, least))
        self._rules_of = {
            symbol: [rule for member in group for rule in self._rules[member]]
            for symbol, group in group_of.items()
        }
        self._choices: dict[tuple[int, int], tuple[list[int], list[_Rule]]] = {}
        self._levels = 0

    def count(self, length: int) -> int:
        """Return trees of sentences of so many tokens."""
        self._extend(length)
        return self._counts[0][length]  # the start symbol is the first

    def cost(self, length: int) -> int:
        """About how many products of small numbers count() takes."""
        rules = [rule for rules in self._rules.values() for rule in rules]
        pairs = sum(len(rule.parts) - 1 for rule in rules if rule.parts)
        return pairs * length**2 // 2 * (1 + length // 256)  # with long numbers for many tokens

    def draw(self, length: int, source: random.Random) -> tuple[str, ...]:
        """Return the sentence of a tree of so many tokens, each tree as likely as any other.

        There must be one.
        """
        self._extend(length)
        tokens: list[str] = []
        waiting: list[tuple[int | str, int]] = [(0, length)]
        while waiting:
            symbol, length = waiting.pop()
            if isinstance(symbol, str):
                tokens.append(symbol)
                continue
            choices = self._choices.get((symbol, length))
            if choices is None:
                rules = [rule for rule in self._rules_of[symbol] if rule.trees[length]]
                sums = list(accumulate(rule.trees[length] for rule in rules))
                choices = self._choices[symbol, length] = sums, rules
            sums, rules = choices
            rule = rules[bisect_right(sums, _below(sums[-1], source))]
            waiting += reversed(rule.split(length, source))
        return tuple(tokens)

    def _extend(self, length: int) -> None:
        for n in range(self._levels, length + 1):
            for word in self._words.values():
                word.append(n == 1)
            for row in self._counts:
                row.append(0)
            for group in self._groups:
                total = 0
                for symbol in group:
                    for rule in self._rules[symbol]:
                        rule.trees.append(rule.firsts(n)[0] if rule.low <= n <= rule.high else 0)
                        total += rule.trees[n]
                for symbol in group:
                    self._counts[symbol][n] = total
            for rules in self._rules.values():
                for rule in rules:
                    rule.extend(n)
            self._levels = n + 1


class _Rule:
    """A production, and how many trees its parts have.

    trees: of 0, 1, … tokens with this production at the root; without those where a part
    that is `inner`, in a cycle with the left-hand side, has all the tokens.
    """

    def __init__(
        self,
        production: Production,
        parts: list[int | str],
        rows: list[list[int]],
        inner: list[bool],
        least: dict[Nonterminal, int],
    ) -> None:
        self.parts, self.rows, self.inner = parts, rows, inner
        self.trees: list[int] = []
        # Row i counts what the parts from i on derive together.
        self.rests: list[list[int]] = [[] for _ in parts[:-1]] + rows[-1:]
        self.low = sum(1 if isinstance(s, str) else least[s] for s in production.rhs)
        self.high = self.low if all(isinstance(s, str) for s in parts) else 1 << 62
        self.choices: dict[tuple[int, int, bool], Choices] = {}

    def firsts(self, n: int) -> list[int]:
        """Return for each i the trees of n tokens of the parts from i on, where those before it
        have none. At least one number."""
        if not self.parts:
            return [int(n == 0)]
        last = len(self.parts) - 1
        result = [0 if self.inner[last] else self.rows[last][n]]
        for i in reversed(range(last)):
            result.append(sum(self._weights(i, n, n, result[-1])))
        return result[::-1]

    def extend(self, n: int) -> None:
        """Count the rests of n tokens; of fewer they are counted."""
        for i in reversed(range(1, len(self.parts) - 1)):
            row, rest = self.rows[i], self.rests[i + 1]
            self.rests[i].append(sum(map(mul, row, reversed(rest[: n + 1]))))

    def split(self, n: int, source: random.Random) -> list[tuple[int | str, int]]:
        """Return the parts with numbers of tokens that sum to n, as often as they have trees."""
        result = []
        left = n
        for i in range(len(self.parts) - 1):
            key = i, left, left == n
            choices = self.choices.get(key)
            if choices is None:
                if left == n:
                    weights = self._weights(i, n, n, self.firsts(n)[i + 1])
                else:
                    weights = self._weights(i, left, n, self.rests[i + 1][left])
                taken = [k for k, weight in enumerate(weights) if weight]
                choices = self.choices[key] = list(accumulate(weights[k] for k in taken)), taken
            sums, taken = choices
            share = (
                taken[bisect_right(sums, _below(sums[-1], source))] if len(taken) > 1 else taken[0]
            )
            result.append((self.parts[i], share))
            left -= share
        if self.parts:
            result.append((self.parts[-1], left))
        return result

    def _weights(self, i: int, left: int, n: int, none: int) -> list[int]:
        """Return trees of the parts from i on with `left` tokens of n, by how many part i has.

        none: trees of the parts behind it with all of them.
        """
        row, rest = self.rows[i], self.rests[i + 1]
        weights = [row[0] * none, *map(mul, row[1 : left + 1], reversed(rest[:left]))]
        if left == n and n and self.inner[i]:
            weights[n] = 0
        return weights


def _below(count: int, source: random.Random) -> int:
    """Return a random number from 0 to count - 1."""
    bits = count.bit_length()
    while (number := source.getrandbits(bits)) >= count:
        pass
    return number
