"""Read all parses of one string off its chart, without writing them down.

Nodes are (symbol, start, end), symbols those of the normal form, so that a node has at most
two children. What a node can be is found when asked for: the chart says which symbols derive
which tokens, and so what there is below a node is never in vain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from kernels.cky.rules import cell, cells
from kernels.cky.weighted.semirings import Edge, Semiring

from .graphs import components
from .normal import NormalForm
from .sums import grown, least

if TYPE_CHECKING:
    from nltk.tree import Tree

Node = tuple[int, int, int]
# A production, or -1 for a helper or a wrapped terminal; and the children.
Step = tuple[int, tuple[Node, ...]]
# Productions with the nodes that they made.
Path = frozenset[tuple[int, Node]]
# The nodes of a strongly connected part, in the order of the heights of their lowest trees.
Knot = dict[Node, int]
_NOTHING: Path = frozenset()


class _Frame(NamedTuple):
    """A node of the tree that is being made, and what comes after it."""

    node: Node
    steps: Iterator[tuple[Step, Path]]
    agenda: _Agenda | None


class _Agenda(NamedTuple):
    """Nodes still to come, from the left; above: what must not occur below the first."""

    node: Node
    above: Path
    rest: _Agenda | None


class Forest:
    """The trees of one string, of the original grammar.

    chart: bool (cells, symbols) of normal_form.rules, as engines give it. terminals: the
        numbers of the tokens, where they are not those of the vocabulary.

    In cyclic grammars a string can have infinitely many trees. count() is math.inf then and
    probability() sums them all, but trees() gives those in which no node has an equal one,
    of the same production over the same tokens, above it. These are finitely many; without
    cycles they are all. nltk's chart parsers have the same rule, but miss some of them: which
    ones depends on their strategy.
    """

    def __init__(
        self,
        normal_form: NormalForm,
        tokens: Sequence[str],
        chart: npt.NDArray[np.bool_],
        terminals: Sequence[int] | None = None,
    ) -> None:
        if chart.shape != (cells(len(tokens)), normal_form.rules.symbols):
            raise ValueError(f"a chart of shape {chart.shape} for {len(tokens)} tokens")
        self.normal_form, self.tokens, self.chart = normal_form, tuple(tokens), chart
        if terminals is None:
            terminals = [normal_form.vocabulary.get(token, -1) for token in tokens]
        self.terminals = tuple(terminals)
        self._columns = np.array([cell(0, j) for j in range(1, len(tokens) + 1)], np.int64)
        self._end_masks: dict[tuple[int, int], int] = {}
        self._start_masks: dict[tuple[int, int], int] = {}

    @cached_property
    def root(self) -> Node | None:
        """The root of all trees; None if there is no tree."""
        root = self.normal_form.start, 0, len(self.tokens)
        return root if self._ends(root[0], 0) >> root[2] & 1 else None

    def steps(self, node: Node) -> Iterator[Step]:
        """Yield what a node can be. Each of the children, if there are any, can be something."""
        symbol, i, j = node
        form = self.normal_form
        if j == i + 1:
            production = form.lexicon[symbol].get(self.terminals[i])
            if production is not None:
                yield production, ()
        for rhs, production in form.derivations[symbol]:
            if len(rhs) == 2:
                left, right = rhs
                splits = self._ends(left, i) & self._starts(right, j)
                while splits:
                    k = (splits & -splits).bit_length() - 1
                    splits &= splits - 1
                    yield production, (_node(left, i, k), _node(right, k, j))
            elif not rhs:
                if i == j:
                    yield production, ()
            elif self._ends(rhs[0], i) >> j & 1:
                yield production, (_node(rhs[0], i, j),)

    def trees(self) -> Iterator[Tree]:
        """Yield one after another, each when asked for, and none twice; see the class for cycles.

        The time to the first, and between two, is that to write one down, and in cyclic
        grammars the time of count() before.
        """
        if self.root is None:
            return
        frames = [_Frame(self.root, self._choices(self.root, _NOTHING), None)]
        taken: list[Step] = []
        while frames:
            node, steps, agenda = frames[-1]
            del taken[len(frames) - 1 :]
            found = next(steps, None)
            if found is None:
                frames.pop()
                continue
            step, above = found
            taken.append(step)
            knot = self._knots.get(node, {})
            for child in reversed(step[1]):
                agenda = _Agenda(child, above if child in knot else _NOTHING, agenda)
            if agenda is None:
                yield self._tree([frame.node for frame in frames], taken)
            else:
                child, above, rest = agenda
                frames.append(_Frame(child, self._choices(child, above), rest))

    def count(self) -> int | float:
        """Return the number of trees; math.inf if there is no end to them."""
        if self.root is None:
            return 0
        values: dict[Node, int] = {}
        for part in self._parts:
            if len(part) > 1:
                return math.inf
            (node,) = part
            total = 0
            for _, children in self.steps(node):
                if node in children:
                    return math.inf
                total += math.prod([values[child] for child in children])
            values[node] = total
        return values[self.root]

    def probability(self) -> Fraction | float:
        """Return the sum over all trees; math.inf if it diverges.

        Raises NotRationalError where it has no exact value, see NormalForm.exact(), and
        ValueError for a grammar without probabilities.
        """
        weights = self._probabilities
        if self.root is None:
            return Fraction(0)

        def edges(node: Node) -> Iterator[Edge[Node]]:
            return ((weights[p], nodes) for p, nodes in self.steps(node) if weights[p])

        value: Fraction | float = least([self.root], edges, Semiring(Fraction(1)))[self.root]
        return value

    def best(self) -> tuple[Tree, Fraction] | None:
        """Return the most probable tree, the first of equals, and its probability.

        Raises ValueError for a grammar without probabilities, or where a cycle with a weight
        above 1 makes ever better trees.
        """
        weights = self._probabilities
        if self.root is None:
            return None
        values: dict[Node, Fraction] = {}
        chosen: dict[Node, Step] = {}
        for part in self._parts:
            for _ in range(len(part) + 1):
                changed, again = False, len(part) > 1
                for node in part:
                    for step in self.steps(node):
                        again |= node in step[1]
                        value = weights[step[0]]
                        for child in step[1]:
                            if child not in values:
                                break
                            value *= values[child]
                        else:
                            if node not in values or value > values[node]:
                                values[node], chosen[node] = value, step
                                changed = True
                if not (changed and again):
                    break
            else:
                raise ValueError("there is no best parse: a cycle of weight above 1")
        nodes, waiting = [], [self.root]
        while waiting:
            nodes.append(waiting.pop())
            waiting += reversed(chosen[nodes[-1]][1])
        return self._tree(nodes, [chosen[node] for node in nodes]), values[self.root]

    def spans(self) -> dict[tuple[int, int], list[str]]:
        """Return the names of what derives tokens start .. end - 1, in parses or not.

        By (start, end), of spans that are not empty and that something derives, in order.
        """
        result: dict[tuple[int, int], list[str]] = {}
        for i in range(len(self.tokens)):
            for j in range(i + 1, len(self.tokens) + 1):
                numbers = np.flatnonzero(self.chart[cell(i, j)]).tolist()
                names = [self.normal_form.symbol_of(number) for number in numbers]
                if found := [name.name for name in names if name is not None]:
                    result[i, j] = found
        return result

    def __repr__(self) -> str:
        trees = "no trees" if self.root is None else "trees"
        return f"<Forest of {trees} over {many(len(self.tokens), 'token')}>"

    def _repr_svg_(self) -> str:
        """Return the picture that notebooks show: the first tree, and how many there are."""
        from .drawing import notebook_forest

        return notebook_forest(self)

    @cached_property
    def _probabilities(self) -> list[Fraction]:
        """The probability of each production, and of -1."""
        if not self.normal_form.grammar.is_probabilistic:
            raise ValueError("the grammar has no probabilities")
        return [*(p.probability or Fraction(0) for p in self.normal_form.productions), Fraction(1)]

    @cached_property
    def _parts(self) -> list[list[Node]]:
        """The strongly connected parts of what the root leads to, lower ones first."""
        return list(
            components(
                [self.root] if self.root else [],
                lambda node: (child for _, children in self.steps(node) for child in children),
            )
        )

    @cached_property
    def _knots(self) -> dict[Node, Knot]:
        """The part of each node that has itself below it."""
        knots: dict[Node, Knot] = {}
        for part in self._parts if self.normal_form.cyclic else ():
            if len(part) > 1 or any(part[0] in children for _, children in self.steps(part[0])):
                knots.update(dict.fromkeys(part, self._heights(part)))
        return knots

    def _heights(self, part: list[Node]) -> Knot:
        inside = set(part)
        above: dict[Node, list[tuple[Node, list[Node]]]] = {node: [] for node in part}
        found: list[Node] = []
        for node in part:
            for _, children in self.steps(node):
                inner = [child for child in children if child in inside]
                for child in inner:
                    above[child].append((node, inner))
                if not inner:
                    found.append(node)
        heights: Knot = {}
        while len(heights) < len(part):
            height = len(heights)
            for node in found:
                heights.setdefault(node, height)
            rules = [rule for node in dict.fromkeys(found) for rule in above[node]]
            found = [
                node
                for node, nodes in rules
                if node not in heights and all(child in heights for child in nodes)
            ]
        return heights

    def _choices(self, node: Node, above: Path) -> Iterator[tuple[Step, Path]]:
        """Yield steps to trees without what is above, and what is above the children."""
        knot = self._knots.get(node)
        if knot is None:
            for step in self.steps(node):
                yield step, _NOTHING
            return

        def height(step: Step) -> int:
            return max((knot.get(child, -1) for child in step[1]), default=-1)

        # The shortest way out of the knot first.
        for step in sorted(self.steps(node), key=height):
            use = step[0], node
            inner = [child for child in step[1] if child in knot]
            if use not in above:
                below = above if step[0] < 0 else above | {use}
                # The lowest trees of lower nodes have nothing of higher ones.
                lowest = min((knot[made] for _, made in below), default=len(knot))
                if all(knot[child] < lowest for child in inner) or self._possible(
                    knot, below
                ).issuperset(inner):
                    yield step, below

    def _possible(self, knot: Knot, above: Path) -> set[Node]:
        """Return the nodes of a part that have trees without what is above."""
        rules = [
            (node, [child for child in children if child in knot])
            for node in knot
            for production, children in self.steps(node)
            if (production, node) not in above
        ]
        return grown({node for node, inner in rules if not inner}, rules, all)

    def _tree(self, nodes: Sequence[Node], steps: Sequence[Step]) -> Tree:
        """Make a tree of nodes from the root down, left before right, and what each is."""
        from nltk.tree import Tree

        form = self.normal_form
        done: list[list[Any]] = []  # the parts of each node, last one first
        for (symbol, i, j), (_, children) in zip(reversed(nodes), reversed(steps), strict=True):
            below = [done.pop() for _ in children]
            if below:
                parts = below[-1]
                parts += below[0] if len(below) == 2 else ()
            else:
                parts = [self.tokens[i]] if i < j else []
            name = form.symbol_of(symbol)
            done.append(parts if name is None else [Tree(form.grammar.label(name), parts[::-1])])
        return done[0][0]

    def _ends(self, symbol: int, i: int) -> int:
        """Bit j: the symbol derives tokens i .. j - 1."""
        mask = self._end_masks.get((symbol, i))
        if mask is None:
            mask = self._empty(symbol)
            if symbol < self.chart.shape[1]:
                mask |= _bits(self.chart[self._columns[i:] + i, symbol]) << 1
            mask <<= i
            self._end_masks[symbol, i] = mask
        return mask

    def _starts(self, symbol: int, j: int) -> int:
        """Bit i: the symbol derives tokens i .. j - 1."""
        mask = self._start_masks.get((symbol, j))
        if mask is None:
            mask = self._empty(symbol) << j
            if symbol < self.chart.shape[1] and j:
                mask |= _bits(self.chart[cell(0, j) : cell(0, j) + j, symbol])
            self._start_masks[symbol, j] = mask
        return mask

    def _empty(self, symbol: int) -> int:
        return int(symbol in self.normal_form.nullable_ids)


def _node(symbol: int, i: int, j: int) -> Node:
    """Return a node; what derives the empty string is the same everywhere."""
    return (symbol, i, j) if i < j else (symbol, 0, 0)


def _bits(flags: npt.NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
