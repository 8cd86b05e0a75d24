"""Exact least solutions of polynomial systems, where these are rational.

The nodes of a system lead to one another, and x = F(x) has positive coefficients, so that its
least solution, if it is finite, is where every nonnegative one is at least as large. Most systems
of grammars come down to one unknown by substitution; for that it is decided whether the solution
is rational, irrational or infinite. For others a fraction near the solution is tried and proved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from kernels.cky.weighted.semirings import Edge, Node, Semiring, Value

from .sums import Approximate, Edges, NotRationalError, decimal, grown, least, solve_polynomials

# A polynomial: the factors of each monomial, in the order of the nodes, with its coefficient.
Monomial = tuple[int, ...]
Polynomial = dict[Monomial, Fraction]

_IRRATIONAL = (
    "the probabilities of empty strings are irrational here: there are floats of them, but no "
    "exact values"
)
_UNKNOWN = (
    "the probabilities of empty strings are roots of polynomials here, and no fraction was found "
    "that is one: there are floats of them, but no exact values"
)
_MONOMIALS = 4000  # of a polynomial that is made by substitution
_DEGREE = 200
_BITS = 1 << 14  # of an approximation
_PROVED = 128  # nodes of a system without substitutions whose solution is proved


def solve(part: list[Node], edges: Edges[Node], values: dict[Node, Value]) -> None:
    """Set the values of a part to the least solution, Fractions or all math.inf.

    values: of the nodes that are not in the part. Raises NotRationalError.
    """
    ring = Semiring(Fraction(1))
    inside = set(part)
    system: dict[Node, list[Edge[Node]]] = {}
    size = 0
    for node in part:
        system[node] = []
        for weight, nodes in edges(node):
            size += 1
            others = tuple(child for child in nodes if child not in inside)
            factor = ring.value([(weight, others)], values)
            if factor:
                system[node].append((factor, tuple(n for n in nodes if n in inside)))
    rules = [(node, nodes) for node, own in system.items() for _, nodes in own]
    positive = grown({node for node, nodes in rules if not nodes}, rules, all)
    kept = {
        node: [edge for edge in own if positive.issuperset(edge[1])]
        for node, own in system.items()
        if node in positive
    }
    if sum(map(len, kept.values())) < size:  # what is left may fall apart
        values.update(dict.fromkeys(part, ring.zero))
        values.update(least(kept, kept.__getitem__, ring))
    elif any(weight == math.inf for own in kept.values() for weight, _ in own):
        values.update(dict.fromkeys(part, math.inf))
    else:
        values.update(_solution(kept))


def _solution(system: dict[Node, list[Edge[Node]]]) -> dict[Node, Value]:
    order = list(system)
    number = {node: k for k, node in enumerate(order)}
    equations: dict[int, Polynomial] = {k: {} for k in range(len(order))}
    for k, node in enumerate(order):
        for weight, nodes in system[node]:
            monomial = tuple(sorted(number[n] for n in nodes))
            equations[k][monomial] = equations[k].get(monomial, Fraction(0)) + weight
    substituted = _substituted(equations)
    if substituted is None:
        return _proved(system)
    if substituted == math.inf:
        return dict.fromkeys(order, math.inf)
    assert isinstance(substituted, list)
    ((last, polynomial),) = equations.items()
    coefficients = [Fraction(0)] * (max(map(len, polynomial)) + 1)
    for monomial, factor in polynomial.items():
        coefficients[len(monomial)] += factor
    root = least_root(coefficients)
    if not isinstance(root, Fraction):
        return dict.fromkeys(order, math.inf)
    found = {last: root}
    for k, equation in reversed(substituted):
        found[k] = _at(equation.items(), found)
    return {node: found[k] for k, node in enumerate(order)}


def _substituted(equations: dict[int, Polynomial]) -> list[tuple[int, Polynomial]] | float | None:
    """Substitute unknowns until one is left; return them in this order with what they equal.

    None where every unknown is in a product with itself, or polynomials become too long;
    math.inf where one is found to be infinite.
    """
    done: list[tuple[int, Polynomial]] = []
    while len(equations) > 1:
        free = [k for k, own in equations.items() if all(k not in m or m == (k,) for m in own)]
        if not free:
            return None
        k = min(free, key=lambda k: len(equations[k]))
        own = equations.pop(k)
        loop = own.pop((k,), Fraction(0))
        if loop >= 1:
            return math.inf
        own = {m: factor / (1 - loop) for m, factor in own.items()}
        for node in equations:
            found = _inserted(equations[node], k, own)
            if found is None:
                return None
            equations[node] = found
        done.append((k, own))
    return done


def _inserted(polynomial: Polynomial, k: int, own: Polynomial) -> Polynomial | None:
    """Return a polynomial with another in place of an unknown; None where it becomes too long."""
    result: Polynomial = {}
    for monomial, factor in polynomial.items():
        terms: Polynomial = {tuple(n for n in monomial if n != k): factor}
        for _ in range(monomial.count(k)):
            product: Polynomial = {}
            for left, a in terms.items():
                for right, b in own.items():
                    if len(left) + len(right) > _DEGREE:
                        return None
                    both = tuple(sorted(left + right))
                    product[both] = product.get(both, Fraction(0)) + a * b
            terms = product
            if len(terms) > _MONOMIALS:
                return None
        for m, a in terms.items():
            result[m] = result.get(m, Fraction(0)) + a
    return result if len(result) <= _MONOMIALS else None


def _at(terms: Iterable[tuple[Monomial, Fraction]], found: Mapping[int, Fraction]) -> Fraction:
    return sum(
        (factor * math.prod(found[n] for n in monomial) for monomial, factor in terms), Fraction(0)
    )


def least_root(coefficients: list[Fraction]) -> Fraction | float:
    """Return the least solution of x = c[0] + c[1] x + c[2] x² + ... or math.inf if there is none.

    No coefficient is negative, the first and the last are positive, and there are at least three.
    By Newton's method from below, rounded down, so that all is proved. Raises NotRationalError.
    """

    def value(x: Fraction, factors: list[Fraction]) -> Fraction:
        result = Fraction(0)
        for factor in reversed(factors):
            result = result * x + factor
        return result

    slopes = [k * c for k, c in enumerate(coefficients)][1:]
    scale = math.lcm(*(c.denominator for c in coefficients))
    # The denominator of a rational root divides this.
    most = int(coefficients[-1] * scale)
    bits, x = 2 * most.bit_length() + 32, Fraction(0)
    while bits <= _BITS:
        missing, slope = value(x, coefficients) - x, value(x, slopes)
        if missing <= 0:
            return x
        if slope >= 1:  # and it only grows: the values are never reached
            return math.inf
        step = missing / (1 - slope)
        # Where no fraction is as near as a solution, there is no rational one.
        near = x.limit_denominator(most)
        if near >= x and value(near, coefficients) == near and value(near, slopes) <= 1:
            return near
        above = x + 2 * step
        if abs(near - x) > 2 * step and value(above, coefficients) < above:
            raise NotRationalError(_IRRATIONAL)
        after = Fraction(math.floor((x + step) * (1 << bits)), 1 << bits)
        if after <= x:
            bits *= 2
        x = max(x, after)
    raise NotRationalError(_UNKNOWN)


def _proved(system: dict[Node, list[Edge[Node]]]) -> dict[Node, Value]:
    """Return fractions that are found near the solution, and proved to be it."""
    if len(system) <= _PROVED:
        near = {n: [(decimal(w), nodes) for w, nodes in own] for n, own in system.items()}
        values: dict[Node, Value] = dict.fromkeys(system, Decimal(0))
        solve_polynomials(Approximate(Decimal(1)), list(system), near.__getitem__, values)
        if math.inf not in values.values():
            for digits in (4, 7, 14):
                tried = {n: Fraction(v).limit_denominator(10**digits) for n, v in values.items()}
                if _is_least(system, tried):
                    return tried
    raise NotRationalError(_UNKNOWN)


def _is_least(system: dict[Node, list[Edge[Node]]], values: dict[Node, Fraction]) -> bool:
    """Say whether these are the least solution.

    It is the one at which the derivative's spectral radius is not above 1, as the system is
    irreducible and not linear (Etessami and Yannakakis 2009).
    """
    ring = Semiring(Fraction(1))
    if any(ring.value(own, values) != values[node] for node, own in system.items()):
        return False
    rows: dict[Node, dict[Node, Fraction]] = {}
    for node, own in system.items():
        row = rows[node] = {}
        for weight, nodes in own:
            for k, child in enumerate(nodes):
                slope = ring.value([(weight, nodes[:k] + nodes[k + 1 :])], values)
                row[child] = row.get(child, Fraction(0)) + slope
    # By elimination: all pivots but the last are below 1, and the last is not above it.
    while rows:
        node, row = rows.popitem()
        loop = row.pop(node, Fraction(0))
        if loop >= 1:
            return not rows and loop == 1
        for other in rows.values():
            weight = other.pop(node, None)
            if weight is not None:
                for child, slope in row.items():
                    more = weight * slope / (1 - loop)
                    other[child] = other.get(child, Fraction(0)) + more
    return True
