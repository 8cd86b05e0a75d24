"""Trees and their sums in the most obvious way, straight from the productions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from nltk.parse import ChartParser
from nltk.tree import Tree

from ckyparse.forest import Forest
from ckyparse.grammar import Grammar, Nonterminal, Symbol
from ckyparse.normal import NormalForm
from kernels.cky import ref
from kernels.cky.batch import Mask
from kernels.cky.rules import cell, cells

Use = tuple[object, int, int]


class TooManyError(Exception):
    """There are more trees than a test has time for."""


def strings(up_to: int, letters: str = "ab") -> Iterator[tuple[str, ...]]:
    for length in range(up_to + 1):
        yield from product(letters, repeat=length)


def numbers(form: NormalForm, tokens: Sequence[str]) -> list[int]:
    return [form.vocabulary.get(token, form.rules.terminals) for token in tokens]


def chart(form: NormalForm, tokens: Sequence[str]) -> Mask:
    result = np.zeros((cells(len(tokens)), form.rules.symbols), np.bool_)
    for (i, j), found in ref.table(form.rules, numbers(form, tokens)).items():
        result[cell(i, j), sorted(found)] = True
    return result


def forest(form: NormalForm, tokens: Sequence[str]) -> Forest:
    return Forest(form, tokens, chart(form, tokens))


def trees(grammar: Grammar, tokens: Sequence[str], budget: int = 1000) -> list[Tree]:
    """Those without a node below one of the same production over the same tokens."""
    left = [budget]

    def of(symbol: Symbol, i: int, j: int, above: frozenset[Use]) -> list[Tree | str]:
        if isinstance(symbol, str):
            return [symbol] if j == i + 1 and tokens[i] == symbol else []
        found: list[Tree | str] = []
        for production in grammar.productions_of(symbol):
            use = production, i, j
            if use not in above:
                below = side(production.rhs, i, j, above | {use})
                found += [Tree(grammar.label(symbol), children) for children in below]
        left[0] -= 1 + len(found)
        if left[0] < 0:
            raise TooManyError
        return found

    def side(
        rhs: tuple[Symbol, ...], i: int, j: int, above: frozenset[Use]
    ) -> list[list[Tree | str]]:
        if not rhs:
            return [[]] if i == j else []
        found = []
        for k in range(i, j + 1):
            rests = side(rhs[1:], k, j, above)
            if rests:
                found += [[first, *rest] for first in of(rhs[0], i, k, above) for rest in rests]
        return found

    return [
        tree for tree in of(grammar.start, 0, len(tokens), frozenset()) if isinstance(tree, Tree)
    ]


def flat(tree: Tree) -> str:
    return " ".join(str(tree).split())


def nltk_trees(parser: type[ChartParser], grammar: Grammar, tokens: Sequence[str]) -> list[str]:
    """Those of an nltk chart parser; none where it does not know a token."""
    if not set(tokens) <= set(grammar.terminals):
        return []
    return [flat(tree) for tree in parser(grammar.to_nltk(), trace=0).parse(list(tokens))]


def probability(grammar: Grammar, tree: Tree) -> Fraction:
    """Return the probability of the productions that a tree shows."""
    result = Fraction(1)
    for node in tree.subtrees():
        rhs = tuple(
            Nonterminal(str(child.label())) if isinstance(child, Tree) else child for child in node
        )
        (production,) = (
            p for p in grammar.productions_of(Nonterminal(str(node.label()))) if p.rhs == rhs
        )
        assert production.probability is not None
        result *= production.probability
    return result


def inside(grammar: Grammar, tokens: Sequence[str], rounds: int = 400) -> float | None:
    """The probability of a string, by adding up trees of ever more levels; None if that takes
    too long."""
    spans = [(i, j) for i in range(len(tokens) + 1) for j in range(i, len(tokens) + 1)]
    values = {(a, i, j): 0.0 for a in grammar.nonterminals for i, j in spans}

    def side(rhs: tuple[Symbol, ...], i: int, j: int) -> float:
        if not rhs:
            return float(i == j)
        first = rhs[0]
        if isinstance(first, str):
            return side(rhs[1:], i + 1, j) if i < j and tokens[i] == first else 0.0
        return sum(
            value * side(rhs[1:], k, j) for k in range(i, j + 1) if (value := values[first, i, k])
        )

    for _ in range(rounds):
        grown = {
            (a, i, j): sum(
                float(p.probability or 0) * side(p.rhs, i, j) for p in grammar.productions_of(a)
            )
            for a, i, j in values
        }
        done = all(abs(grown[key] - values[key]) <= 1e-15 * grown[key] for key in values)
        values = grown
        if done:
            return values[grammar.start, 0, len(tokens)]
    return None


def begins_sentence(grammar: Grammar, tokens: Sequence[str]) -> bool:
    """Return whether some sentence starts with the tokens.

    Symbols lead from state to state of an automaton of those sentences: state k is that of
    k tokens read, and the last one is left no more (Bar-Hillel, Perles and Shamir 1961).
    """
    n = len(tokens)
    found: set[tuple[Nonterminal, int, int]] = set()

    def after(symbol: Symbol, states: set[int]) -> set[int]:
        if isinstance(symbol, str):
            read = {k + 1 for k in states if k < n and tokens[k] == symbol}
            return read | ({n} & states)
        return {q for a, p, q in found if a == symbol and p in states}

    size = -1
    while size < len(found):
        size = len(found)
        for production in grammar.productions:
            for k in range(n + 1):
                states = {k}
                for symbol in production.rhs:
                    states = after(symbol, states)
                found |= {(production.lhs, k, q) for q in states}
    return (grammar.start, 0, n) in found
