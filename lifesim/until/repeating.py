"""Patterns that repeat themselves as a whole: the least period, and since when."""

from __future__ import annotations

from fractions import Fraction

from lifesim.until.found import Found
from lifesim.until.walk import Walk


def moved_after(walk: Walk, generation: int, period: int) -> tuple[int, int] | None:
    """Return how far the cells of a generation have moved `period` generations later, None where
    they are others then."""
    walk.to(generation)
    before = walk.state()
    walk.to(generation + period)
    return walk.displacement(before)


def found_repeating(walk: Walk, generation: int, period: int, name: str) -> Found:
    """Tell since when, and with which least period, a pattern repeats itself that does so from a
    generation on after some period.

    The periods of a pattern are the multiples of the least one. name: of the condition.
    """
    walk.to(generation)
    walk.keep()
    for prime in primes_of(period):
        while period % prime == 0:
            if moved_after(walk, generation, period // prime) is None:
                break
            period //= prime

    def holds(at: int) -> bool:
        walk.to(at)
        walk.keep()
        if moved_after(walk, at, period) is None:
            return False
        walk.drop(at)
        return True

    began = walk.least(holds, generation)
    displacement = moved_after(walk, began, period)
    assert displacement is not None
    walk.to(began)
    kind = "oscillator" if period > 1 else "still life"
    if any(displacement):
        kind = "spaceship"
    if not walk.population() and period == 1:
        kind = "empty"
    return Found(name, True, began, kind, period, displacement, began, Fraction(0), 0, True)


def primes_of(number: int) -> list[int]:
    """Return the prime factors of a number, each once, the least first."""
    found, factor = [], 2
    while factor * factor <= number:
        if number % factor == 0:
            found.append(factor)
            while number % factor == 0:
                number //= factor
        factor += 1
    return found + [number] * (number > 1)
