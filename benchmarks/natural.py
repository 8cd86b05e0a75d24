"""A made-up grammar of the size and shape of those that linguists wrote for air travel.

    python -m benchmarks.natural [--seed 1] > natural.cfg

Some 5 500 productions over 550 nonterminals and 930 words: phrases in layers, right-hand
sides of 1 to 5 symbols with few of them frequent, recursion through modifiers and
conjunctions, words of several categories. Sentences are derived from it, 11 words on
average, and every fourth has two words exchanged, so that some are rejected.
"""

from __future__ import annotations

import argparse
import random
from functools import lru_cache

from ckyparse.grammar import Grammar, Nonterminal, Production, Symbol

LAYERS = (6, 24, 90, 180, 250)  # nonterminals: from clauses down to the categories of words
WORDS = 930
PRODUCTIONS = 5500
LENGTHS = (0.22, 0.46, 0.21, 0.08, 0.03)  # of right-hand sides of 1, 2, 3, 4, 5 symbols
RECURSIVE = 0.06  # of the symbols of a right-hand side are of the same layer or above
DEPTH = 14
LONGEST = 40  # words


def grammar(seed: int = 1) -> Grammar:
    """The same for the same seed, on every machine."""
    source = random.Random(f"natural {seed}")
    names = [[Nonterminal(f"L{x}_{i}") for i in range(n)] for x, n in enumerate(LAYERS)]
    found: dict[tuple[Nonterminal, tuple[Symbol, ...]], None] = {}
    # Every word has a category and every category a word; some words have several.
    for w in range(WORDS):
        found[names[-1][w % LAYERS[-1]], (f"w{w}",)] = None
        while source.random() < 0.25:
            found[_frequent(source, names[-1]), (f"w{w}",)] = None
    # Every phrase has a production straight down, and every symbol is used.
    for x in range(len(LAYERS) - 1):
        for i, name in enumerate(names[x]):
            below = names[x + 1]
            rhs: list[Symbol] = [below[i % len(below)]]
            rhs += [below[j] for j in range(i + LAYERS[x], len(below), LAYERS[x])][:1]
            found[name, tuple(rhs)] = None
        for j in range(LAYERS[x + 1]):
            found[names[x][j % LAYERS[x]], (names[x + 1][j],)] = None
    while len(found) < PRODUCTIONS:
        x = source.choices(range(len(LAYERS) - 1), (1, 3, 8, 10))[0]
        length = source.choices(range(1, 6), LENGTHS)[0]
        rhs = []
        for _ in range(length):
            up = length > 1 and source.random() < RECURSIVE
            layer = source.randint(0, x) if up else source.randint(x + 1, len(LAYERS) - 1)
            rhs.append(_frequent(source, names[layer]))
        found[_frequent(source, names[x]), tuple(rhs)] = None
    return Grammar(names[0][0], (Production(lhs, rhs) for lhs, rhs in found))


def _frequent(source: random.Random, names: list[Nonterminal]) -> Nonterminal:
    """The first ones more often, as words and phrases are in a language."""
    return names[int(len(names) * source.random() ** 1.7)]


def sentences(of: Grammar, count: int, seed: int = 1, mean: int = 11) -> list[list[str]]:
    """Token lists of 3 to 40 words, derived from the grammar and thinned to the mean length."""
    source = random.Random(f"sentences {seed}")
    rules: dict[Nonterminal, list[tuple[Symbol, ...]]] = {}
    for production in of.productions:
        rules.setdefault(production.lhs, []).append(production.rhs)

    @lru_cache(None)
    def shallow(symbol: Nonterminal) -> tuple[Symbol, ...]:
        """The production that ends soonest: one that goes down only."""
        layer = int(symbol.name[1])
        down = [
            rhs
            for rhs in rules[symbol]
            if all(isinstance(s, str) or int(s.name[1]) > layer for s in rhs)
        ]
        return min(down, key=len)

    def derive(symbol: Symbol, depth: int) -> list[str]:
        if isinstance(symbol, str):
            return [symbol]
        rhs = source.choice(rules[symbol]) if depth < DEPTH else shallow(symbol)
        return [word for part in rhs for word in derive(part, depth + 1)]

    # Lengths are spread as a sum of a few coin throws around the mean; which sentence of a
    # length comes is left to chance.
    result: list[list[str]] = []
    while len(result) < count:
        wanted = max(3, round(source.gauss(mean, mean / 3)))
        words = derive(of.start, 0)
        while abs(len(words) - wanted) > 1 or len(words) > LONGEST:
            words = derive(of.start, 0)
        if len(result) % 4 == 3:
            i, j = source.sample(range(len(words)), 2)
            words[i], words[j] = words[j], words[i]
        result.append(words)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    print(grammar(parser.parse_args().seed))
