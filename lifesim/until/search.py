"""Find the first generation for which a condition is true, looking at as few as can be.

A universe goes forward by steps that become longer until the condition is true, and then back, to
copies kept on the way, to halve the span between the last generation for which it was not and the
first for which it was. That is exact for what stays true once it is: that nothing lives, and that
the pattern repeats itself. Populations are looked at in each generation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from lifesim.grid import GridError
from lifesim.pauses import Progress
from lifesim.until.conditions import Condition, Empty, Population, Repeats, parse
from lifesim.until.found import Found
from lifesim.until.repeating import found_repeating, moved_after
from lifesim.until.stable import settle
from lifesim.until.walk import Walk, Walked

_FIRST = 64  # generations before cells are compared with others than the first
_LONG = 1 << 13  # generations of a step: what lives so long may be something that never dies


def search(
    life: Walked,
    condition: Condition | str,
    generations: int | None,
    progress: Callable[[Progress], None] | None,
    stopped: Callable[[], bool],
) -> Found:
    """Take a universe to the first generation for which a condition is true, or, if there is none,
    on by `generations`. Else as Life.run_until()."""
    if isinstance(condition, str):
        condition = parse(condition)
    if generations is not None and operator.index(generations) < 0:
        raise ValueError(f"a universe cannot go back {-generations} generations")
    walk = Walk(life, generations, progress, stopped)
    found = _search(walk, condition, str(condition))
    if found is None or (found.never and generations is not None):
        walk.to(walk.last)
        found = found or Found(str(condition), False, walk.now)
        return replace(found, generation=walk.now)
    walk.to(found.generation)
    return found


def _search(walk: Walk, condition: Condition, name: str) -> Found | None:
    match condition:
        case Population():
            return _counted(walk, condition, name)
        case Empty() if (
            not walk.life.rule.stays_empty
        ):  # what comes alive out of nothing need not stay
            return _counted(walk, Population("=", 0), name)
        case Empty():
            return _emptied(walk, name)
        case Repeats():
            return _repeats(walk, condition.period, name)
    return settle(walk, name)


def _counted(walk: Walk, condition: Population, name: str) -> Found | None:
    """Look at the population of each generation, until the cells are those of one before."""
    before, start = walk.state(), walk.now
    while not condition.holds(walk.population()):
        if walk.now >= walk.last:
            return None
        if walk.now >= 2 * start - walk.first + _FIRST:
            before, start = walk.state(), walk.now
        walk.to(walk.now + 1)
        if walk.displacement(before) is not None and not condition.holds(walk.population()):
            found = found_repeating(walk, start, walk.now - start, name)
            return replace(found, met=False, never=True)
    return Found(name, True, walk.now)


def _emptied(walk: Walk, name: str) -> Found | None:
    def holds(generation: int) -> bool:
        walk.to(generation)
        if walk.population():
            walk.keep()
            return False
        return True

    step = 1
    while not holds(walk.now):
        if walk.now >= walk.last:
            return None
        if walk.is_endless and step > _LONG:
            found = _settled(walk, name)
            if found and found.kind == "empty":
                return Found(name, True, found.generation)
            if found:
                return replace(found, met=False, never=True)
        walk.to(min(walk.now + step, walk.last))
        step *= 2
    return Found(name, True, walk.least(holds, walk.now))


def _repeats(walk: Walk, period: int, name: str) -> Found | None:
    step = period
    while (generation := walk.now) + period <= walk.last:
        walk.keep()
        if moved_after(walk, generation, period) is not None:
            return found_repeating(walk, generation, period, name)
        if walk.is_endless and generation == walk.first:
            found = _settled(walk, name)
            if found:
                same = found.displacement is not None and found.growth == 0
                met = same and found.period is not None and period % found.period == 0
                return replace(found, met=met, never=not met)
        step = min(step, walk.last - period - generation)
        if not step:
            return None
        walk.to(generation + step)
        step *= 2
    return None


def _settled(walk: Walk, name: str) -> Found | None:
    """Return what is proved of what becomes of the universe, for ever, after any number of
    generations; None where nothing can be, or only populations tell of it."""
    try:
        found = settle(walk, name)
    except GridError:  # too large to compare
        return None
    return found if found and found.proved else None
