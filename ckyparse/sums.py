"""Least solutions of systems of sums of products, one strongly connected part after another.

Weights are added and multiplied as a semiring of kernels.cky.weighted.semirings says, the same
that engines parse with. Here is how systems in them are solved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import singledispatch

import numpy as np

from kernels.cky.weighted.semirings import Best, Counting, Edge, Node, Semiring, Value

from .grammar import GrammarError
from .graphs import components

Matrix = dict[Node, dict[Node, Value]]  # what is not there is zero
Edges = Callable[[Node], Iterable[Edge[Node]]]

# Rows of a closure together: what takes seconds and half a gigabyte.
MOST_PAIRS = 4_000_000

_DIGITS = Context(prec=120, Emax=MAX_EMAX, Emin=MIN_EMIN)
_DENSE = 16  # nodes of a part from which on numpy is faster
_DENSE_ERROR = Decimal("1e-15")
_DENSE_ROUNDING = 1e-9
_NEWTON_STEPS = 2000
_NEWTON_ERROR = Decimal("1e-30")  # at a double root three quarters of the digits are lost


def decimal(number: Fraction) -> Decimal:
    """Return a number with all digits that are computed with here."""
    return _DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))


class NotRationalError(ValueError):
    """Says that a value is a root of polynomials and not rational, so that no exact number is it.

    The text says "irrational" where that is proved; of some systems of several unknowns it is
    not known whether a fraction with a large denominator would do.
    """


class TooSmallError(ValueError):
    """Says that a probability is not zero, but smaller than floats can be."""


def solved(inner: Matrix[Node], outer: Matrix[Node], semiring: Semiring) -> Matrix[Node]:
    """Return the least X = inner X + outer, inner of a strongly connected part; by elimination
    (Lehmann 1977). Both matrices are used up."""
    if isinstance(semiring, Counting):  # a cycle has no end of them
        columns = dict.fromkeys(b for row in outer.values() for b in row)
        return {a: dict.fromkeys(columns, math.inf) for a in inner}
    if isinstance(semiring.one, float) and len(inner) >= _DENSE:
        solution = _solved_densely(inner, outer, semiring)
        if solution is not None:
            return solution
    add, multiply = semiring.add, semiring.multiply
    for k, row in inner.items():
        star = semiring.star(row.pop(k, semiring.zero))
        for part in (row, outer[k]):
            part.update({b: multiply(star, value) for b, value in part.items()})
        for a, other in inner.items():
            weight = other.pop(k, None) if a != k else None
            if weight is None:
                continue
            for into, part in ((other, row), (outer[a], outer[k])):
                for b, value in part.items():
                    value = multiply(weight, value)
                    into[b] = add(into[b], value) if b in into else value
    return outer


def _solved_densely(
    inner: Matrix[Node], outer: Matrix[Node], semiring: Semiring
) -> Matrix[Node] | None:
    """Return the same for floats, if no value is infinite."""
    places = {a: k for k, a in enumerate(inner)}
    columns = {b: k for k, b in enumerate(dict.fromkeys(b for a in outer for b in outer[a]))}
    square = np.zeros((len(places), len(places)))
    sides = np.zeros((len(places), len(columns)))
    for a, k in places.items():
        square[k, [places[b] for b in inner[a]]] = list(inner[a].values())
        sides[k, [columns[b] for b in outer[a]]] = list(outer[a].values())
    for k in range(len(places)):
        star = semiring.star(float(square[k, k]))
        if star == math.inf or np.isinf(sides[k]).any():
            return None
        square[k, k] = 0
        square[k] *= star
        sides[k] *= star
        column = square[:, k].copy()
        square[:, k] = 0
        square = semiring.combine(square, np.outer(column, square[k]))
        sides = semiring.combine(sides, np.outer(column, sides[k]))
    return {a: dict(zip(columns, sides[k].tolist(), strict=True)) for a, k in places.items()}


class Approximate(Semiring):
    """Sums of products of Decimals; where there are polynomials, 12 digits or more are right."""


@singledispatch
def solve_polynomials(
    semiring: Semiring, part: list[Node], edges: Edges[Node], values: dict[Node, Value]
) -> None:
    """Set the values of a part with products of its own nodes; they are zero before.

    A semiring that has no way of its own has that of its base class. For sums in general these
    are exact, of Fractions. Raises NotRationalError where they are not rational.
    """
    from .roots import solve

    solve(part, edges, values)


@solve_polynomials.register
def _infinite(
    semiring: Counting, part: list[Node], edges: Edges[Node], values: dict[Node, Value]
) -> None:
    values.update(dict.fromkeys(part, math.inf))


@solve_polynomials.register
def _greatest(
    semiring: Best, part: list[Node], edges: Edges[Node], values: dict[Node, Value]
) -> None:
    for _ in range(len(part) + 1):  # a best tree has no node twice on a path
        changed = False
        for node in part:
            value = semiring.value(edges(node), values)
            changed |= value != values[node]
            values[node] = value
        if not changed:
            return
    values.update(dict.fromkeys(part, math.inf))


@solve_polynomials.register
def _by_newton(
    semiring: Approximate, part: list[Node], edges: Edges[Node], values: dict[Node, Value]
) -> None:
    """Approach the solution by Newton's method from below, which converges if done part by part
    (Etessami and Yannakakis 2009); a step that is infinite shows that no solution is finite."""
    inside = set(part)
    dense = len(part) >= _DENSE
    error = _DENSE_ERROR if dense else _NEWTON_ERROR
    for _ in range(_NEWTON_STEPS):
        slopes = {node: _slopes(edges(node), inside, values, semiring) for node in part}
        found = {node: semiring.value(edges(node), values) for node in part}
        if math.inf in found.values():
            break
        missing = {node: found[node] - values[node] for node in part}
        steps = _dense_steps(slopes, missing) if dense else _steps(slopes, missing, semiring)
        if math.inf in steps.values():
            break
        for node, step in steps.items():
            values[node] += step
        if all(step <= values[n] * error for n, step in steps.items()):
            return
    values.update(dict.fromkeys(part, math.inf))


def _steps(
    slopes: Matrix[Node], missing: dict[Node, Value], semiring: Semiring
) -> dict[Node, Value]:
    return {
        node: semiring.value(((weight, (child,)) for child, weight in row.items()), missing)
        for node, row in closure(slopes, semiring).items()
    }


def _slopes(
    edges: Iterable[Edge[Node]], part: set[Node], values: Mapping[Node, Value], semiring: Semiring
) -> dict[Node, Value]:
    result: dict[Node, Value] = {}
    for weight, nodes in edges:
        for k, node in enumerate(nodes):
            if node in part:
                slope = semiring.value([(weight, nodes[:k] + nodes[k + 1 :])], values)
                result[node] = semiring.add(result.get(node, semiring.zero), slope)
    return result


def _dense_steps(slopes: Matrix[Node], missing: dict[Node, Value]) -> dict[Node, Value]:
    """Newton's steps in floats: the equations to solve are near, what is missing is exact."""
    places = {node: k for k, node in enumerate(slopes)}
    most = max(missing.values())
    if most <= 0:
        return dict.fromkeys(places, Decimal(0))
    square = np.eye(len(places))
    for node, k in places.items():
        square[k, [places[n] for n in slopes[node]]] -= [float(x) for x in slopes[node].values()]
    try:
        found = np.linalg.solve(square, [float(missing[node] / most) for node in places])
    except np.linalg.LinAlgError:
        found = np.array([-1.0])
    if not np.isfinite(found).all() or found.min() < -_DENSE_ROUNDING * abs(found).max():
        return dict.fromkeys(places, math.inf)
    return {node: Decimal(max(float(found[k]), 0.0)) * most for node, k in places.items()}


def closure(
    matrix: Matrix[Node], semiring: Semiring, right: Matrix[Node] | None = None
) -> Matrix[Node]:
    """Return the sum of all powers of a matrix, the identity among them; a row for each of its
    rows.

    right: what the sum is to be multiplied by from the right; a row for each node. Raises
    GrammarError where there are more than MOST_PAIRS entries.
    """
    add, multiply = semiring.add, semiring.multiply
    result: Matrix[Node] = {}
    pairs = 0
    for part in components(matrix, lambda node: matrix.get(node, ())):
        inside = set(part)
        if right is None:
            check_pairs(pairs + len(part) ** 2)
        inner: Matrix[Node] = {}
        outer: Matrix[Node] = {}
        for a in part:
            own = inner[a] = {}
            row = outer[a] = {a: semiring.one} if right is None else dict(right[a])
            for b, weight in matrix.get(a, {}).items():
                if b in inside:
                    own[b] = weight
                    continue
                for c, other in result[b].items():
                    product = multiply(weight, other)
                    row[c] = add(row[c], product) if c in row else product
        if len(part) > 1 or inner[part[0]]:
            outer = solved(inner, outer, semiring)
        result.update(outer)
        pairs += sum(map(len, outer.values()))
        check_pairs(pairs)
    return result


def check_pairs(pairs: int) -> None:
    """Raise GrammarError where there are too many."""
    if pairs > MOST_PAIRS:
        raise GrammarError(f"more than {MOST_PAIRS} pairs of symbols derive one another by units")


def least(roots: Iterable[Node], edges: Edges[Node], semiring: Semiring) -> dict[Node, Value]:
    """Return the values of the roots and of all that they lead to.

    Raises NotRationalError where they are roots of polynomials, and not rational, and the
    semiring is of exact numbers.
    """
    values: dict[Node, Value] = {}

    def successors(node: Node) -> Iterator[Node]:
        return (child for _, nodes in edges(node) for child in nodes)

    with localcontext(_DIGITS):
        for part in components(roots, successors):
            inside = set(part)
            inner: Matrix[Node] = {node: {} for node in part}
            constants: dict[Node, list[Edge[Node]]] = {node: [] for node in part}
            linear = True
            for node, row in inner.items():
                for edge in edges(node):
                    weight, nodes = edge
                    own = [child for child in nodes if child in inside]
                    if not own:
                        constants[node].append(edge)
                        continue
                    linear &= len(own) == 1
                    others = tuple(child for child in nodes if child not in inside)
                    slope = semiring.value([(weight, others)], values)
                    row[own[0]] = semiring.add(row.get(own[0], semiring.zero), slope)
            if not linear:
                values.update(dict.fromkeys(part, semiring.zero))
                solve_polynomials(semiring, part, edges, values)
                continue
            outer = {node: semiring.value(constants[node], values) for node in part}
            if len(part) == 1 and not inner[part[0]]:
                values.update(outer)
                continue
            for node, weights in closure(inner, semiring).items():
                terms = ((weight, (child,)) for child, weight in weights.items())
                values[node] = semiring.value(terms, outer)
    return values


def grown(
    found: set[Node],
    rules: Iterable[tuple[Node, Sequence[Node]]],
    enough: Callable[[Iterable[bool]], bool],
) -> set[Node]:
    """Return it with the left-hand sides of all rules of which enough symbols are found."""
    above: dict[Node, list[tuple[Node, Sequence[Node]]]] = {}
    for lhs, rhs in rules:
        for symbol in rhs:
            above.setdefault(symbol, []).append((lhs, rhs))
    found, waiting = set(found), list(found)
    while waiting:
        for lhs, rhs in above.get(waiting.pop(), ()):
            if lhs not in found and enough(symbol in found for symbol in rhs):
                found.add(lhs)
                waiting.append(lhs)
    return found
