"""Random sentences of a grammar.

With probabilities a sentence is drawn as they say, top down, and thrown away where its
length is not wanted. Without, a length is drawn among those that are wanted and that
sentences have, each as likely, and then a tree of that many tokens, each as likely
(ckyparse.derivations says what counts as a tree where there are infinitely many).
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from .analysis import is_empty, is_finite, lengths, shortest, trimmed
from .derivations import Derivations
from .grammar import Grammar, Nonterminal

Sentence = tuple[str, ...]

MORE = 20  # tokens that a sentence has beside those that it needs, if nothing is said
LONGEST = 10_000  # tokens of a sentence by probabilities, if nothing is said
EFFORT = 2_000_000  # steps without a sentence before giving up
MAX_COST = 100_000_000  # of counting trees: some twenty seconds


class SampleError(ValueError):
    """Says that there is no such sentence, or none was found."""


@dataclass
class Rejected:
    """Sentences that were drawn and not wanted.

    short: how many of which lengths below what was wanted. long: how many above, most of
    them not drawn to their ends. lost: how many that no string of terminals came from.
    """

    short: Counter[int] = field(default_factory=Counter)
    long: int = 0
    lost: int = 0

    def __len__(self) -> int:
        return self.short.total() + self.long + self.lost

    def __str__(self) -> str:
        kinds = []
        if self.short:
            found = [min(self.short), max(self.short)]
            which = " to ".join(map(str, dict.fromkeys(found)))
            kinds.append(f"{self.short.total()} with only {which} tokens")
        if self.long:
            kinds.append(f"{self.long} too long")
        if self.lost:
            kinds.append(f"{self.lost} without an end")
        return f"{len(self)} rejected" + (": " if kinds else "") + ", ".join(kinds)


def sentences(
    grammar: Grammar,
    count: int,
    seed: int,
    length: int | None = None,
    minimum: int = 0,
    maximum: int | None = None,
    rejected: Rejected | None = None,
) -> Iterator[Sentence]:
    """Yield `count` sentences, the same for a seed.

    length: tokens of each; or minimum and maximum, both included. rejected: is told what
    was drawn for nothing. Raises SampleError at once where the language is empty or has
    no sentence of such a length, and later where none can be found by drawing.
    """
    if length is not None:
        if minimum or maximum is not None:
            raise ValueError("a length, or a minimum and a maximum; not both")
        minimum = maximum = length
    if count < 0 or minimum < 0 or (maximum is not None and maximum < minimum):
        raise ValueError(f"{count} sentences of {minimum} to {maximum} tokens")
    source = random.Random(seed)
    rejected = Rejected() if rejected is None else rejected
    if grammar.is_probabilistic:
        grammar, total = _possible(grammar), grammar
        bound = _bounded(grammar, minimum, maximum)
        bound = max(bound, LONGEST) if maximum is None else maximum
        return _Draws(grammar, total, minimum, bound, rejected).sentences(count, source)
    grammar = trimmed(grammar)[0]
    return _uniform(grammar, count, minimum, _bounded(grammar, minimum, maximum), source)


def _possible(grammar: Grammar) -> Grammar:
    """Return it without productions of probability zero, and without useless symbols."""
    return trimmed(grammar.with_productions(p for p in grammar.productions if p.probability))[0]


def _bounded(grammar: Grammar, minimum: int, maximum: int | None) -> int:
    """Return the maximum, or one that leaves a choice. Raises SampleError if no sentence fits."""
    if is_empty(grammar):
        raise SampleError(f"the language of {grammar.start} is empty: there are no sentences")
    least = shortest(grammar)[grammar.start]
    limit = max(minimum, least) + MORE if maximum is None else maximum
    infinite = maximum is None and not is_finite(grammar)
    while limit <= LONGEST:
        # Lengths beyond those wanted are looked at, too, to say what there is.
        found = lengths(grammar, limit + MORE)
        if any(minimum <= n <= limit for n in found):
            return limit
        if not infinite:
            wanted = f"{minimum} to {maximum}" if minimum != maximum else f"{minimum}"
            if maximum is None:
                wanted = f"{minimum} or more"
            near = [n for n in found if n < minimum][-3:] + [n for n in found if n > minimum][:3]
            said = ", ".join(map(str, near or [least]))
            raise SampleError(f"no sentence has {wanted} tokens; lengths nearby: {said}")
        limit *= 2
    return limit


def _uniform(
    grammar: Grammar, count: int, minimum: int, maximum: int, source: random.Random
) -> Iterator[Sentence]:
    derivations = Derivations(grammar)
    if derivations.cost(maximum) > MAX_COST:
        raise SampleError(f"counting the trees of {maximum} tokens would take too long")
    possible = [n for n in range(minimum, maximum + 1) if derivations.count(n)]

    def draw() -> Sentence:
        return derivations.draw(possible[int(source.random() * len(possible))], source)

    return (draw() for _ in range(count))


class _Draws:
    """Sentences by probabilities."""

    def __init__(
        self,
        grammar: Grammar,
        total: Grammar,
        minimum: int,
        maximum: int,
        rejected: Rejected,
    ) -> None:
        self.start, self.rejected = grammar.start, rejected
        self.minimum, self.maximum = minimum, maximum
        self.least = shortest(grammar)
        # Of each symbol, the running sums of its productions' shares, and their symbols
        # from right to left; behind them is what derives nothing.
        self.choices: dict[
            Nonterminal, tuple[list[float], list[tuple[Nonterminal | str, ...]]]
        ] = {}
        for symbol in grammar.nonterminals:
            kept = grammar.productions_of(symbol)
            whole = sum(p.probability or 0 for p in total.productions_of(symbol))
            sums = [float(share / whole) for share in accumulate(p.probability or 0 for p in kept)]
            self.choices[symbol] = sums, [p.rhs[::-1] for p in kept]

    def sentences(self, count: int, source: random.Random) -> Iterator[Sentence]:
        left = EFFORT
        while count:
            tokens, steps = self.draw(source.random, left)
            left -= steps
            if tokens is not None:
                yield tokens
                count, left = count - 1, EFFORT
            elif left <= 0:
                raise SampleError(
                    f"no sentence of {self.minimum} to {self.maximum} tokens was found; "
                    f"{self.rejected}"
                )

    def draw(self, draw: Callable[[], float], effort: int) -> tuple[Sentence | None, int]:
        """Return a sentence, if it is one that is wanted, and the steps that it took."""
        tokens: list[str] = []
        waiting: list[Nonterminal | str] = [self.start]
        needed = self.least[self.start]  # tokens, at the least
        steps = 1
        while waiting:
            symbol = waiting.pop()
            if isinstance(symbol, str):
                tokens.append(symbol)
                continue
            steps += 1
            sums, sides = self.choices[symbol]
            choice = bisect_right(sums, draw())
            if choice == len(sides) or steps > effort:
                self.rejected.lost += 1
                return None, steps
            side = sides[choice]
            waiting += side
            needed -= self.least[symbol]
            needed += sum(1 if isinstance(s, str) else self.least[s] for s in side)
            if needed > self.maximum:
                self.rejected.long += 1
                return None, steps
        if len(tokens) < self.minimum:
            self.rejected.short[len(tokens)] += 1
            return None, steps
        return tuple(tokens), steps
