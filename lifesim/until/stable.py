"""Find what a pattern settles to, and since when.

The universe is looked at in epochs, each twice as long as the one before. Within an epoch, cells
are compared with those at its beginning (Brent's way to find a cycle); the first time that they are
the same, moved or not, the whole pattern repeats itself. What does not, but flies apart or grows,
is seen by its population, and proved at the end of an epoch, if it can be (lifesim.until.proof).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from lifesim.until.found import Found
from lifesim.until.law import last_breach, period_of
from lifesim.until.movers import Alone, Lines, Mover, UnprovableError
from lifesim.until.proof import Proof, prove
from lifesim.until.repeating import found_repeating
from lifesim.until.walk import Walk

_FIRST = 64  # generations of the first epoch
_LOOKS = 2048  # in an epoch of as many generations; more in longer ones, but not in each generation
_FEW_LOOKS = 256  # ... of a universe so large that a look takes long
_LARGE = 1 << 24  # cells
_MOST_LOOKS = 1 << 14
_SEEN = 2  # epochs in which the populations keep to a law, before that counts without a proof
_LONG = 2048  # generations of the least epoch that counts so
_SPAN = 4096  # generations that are gone back at once


def settle(walk: Walk, name: str) -> Found | None:
    """Take a universe to the generation from which it has settled; None where that is not seen up
    to the last generation. name: of the condition."""
    alone = Alone(walk.life.rule, walk.breathe)
    length, seen = _FIRST, 0
    while walk.now < walk.last:
        start, step = walk.now, _step(walk, length)
        walk.keep()
        before = walk.state()
        populations = [before.population]
        for at in range(start + step, min(start + length, walk.last) + 1, step):
            walk.to(at)
            if walk.displacement(before) is not None:
                return found_repeating(walk, start, at - start, name)
            populations.append(walk.population())
        end = start + length
        walk.to(min(end, walk.last))
        if not all(walk.life.bounds):
            found, seen = _steady(walk, populations, step, seen, alone, name)
            if found:
                return found
        if end > walk.last:
            return None
        length *= 2
    return None


def _step(walk: Walk, length: int) -> int:
    """Return how many generations are made between two looks at the cells."""
    frame = walk.life.frame()
    looks = _FEW_LOOKS if frame.width * frame.height > _LARGE else _LOOKS
    step = 1 << max((length // looks).bit_length() - 1, 0) // 2
    while length // step > _MOST_LOOKS:
        step *= 2
    return step


def _steady(
    walk: Walk, populations: list[int], step: int, seen: int, alone: Alone, name: str
) -> tuple[Found | None, int]:
    """Return what a pattern has settled to as it is now, if anything, and in how many epochs in a
    row the populations have kept to a law."""
    last = populations[len(populations) // 2 :]
    found = period_of(last, len(last) // 4)
    seen = 0 if found is None else seen + 1
    period = None if found is None else found * step
    if walk.is_whole_plane and walk.life.rule.nine_cells is not None:
        now = walk.now
        walk.keep()
        proof = prove(walk.cells(), period, alone)
        if proof:
            return _proved(walk, proof, now, name), seen
    if period and seen >= _SEEN and len(populations) * step >= _LONG:
        return _observed(walk, len(populations), period, name), seen
    return None, seen


def _proved(walk: Walk, proof: Proof, now: int, name: str) -> Found | None:
    """Find since when a pattern is what was proved of it in generation `now`; None where too few
    generations may be made for that."""
    period = proof.period
    if proof.core is not None:
        if now + 2 * period > walk.last:
            return None
        began = _law_began(walk, period, now + 2 * period)
        return Found(
            name,
            True,
            began,
            "growing",
            period,
            proof.displacement,
            began,
            proof.growth,
            None,
            True,
        )
    if proof.is_one:
        return found_repeating(walk, now, period, name) if now + period <= walk.last else None
    began = _parts_began(walk, proof.movers, now)
    ships = sum(mover.moves for mover in proof.movers)
    kind = "ships" if ships == len(proof.movers) else "debris with ships"
    return Found(name, True, began, kind, period, None, began, Fraction(0), ships, True)


def _observed(walk: Walk, looks: int, period: int, name: str) -> Found | None:
    """Tell by which law populations grow that seem to keep to one; None where each generation's
    do not."""
    now = walk.now
    stop = now + 4 * period
    if stop > walk.last:
        return None
    populations = _populations(walk, now, stop)
    least = period_of(populations, period)
    if least is None:
        return None
    began = _law_began(walk, least, stop)
    growth = Fraction(sum(populations[least : 2 * least]) - sum(populations[:least]), least)
    kind = "growing" if growth else "periodic population"
    seen = stop - began
    return Found(name, True, began, kind, least, None, began, growth, None, False, seen)


def _populations(walk: Walk, start: int, stop: int) -> list[int]:
    """Return the populations of generations from start to stop, both included."""
    found = []
    for generation in range(start, stop + 1):
        walk.to(generation)
        found.append(walk.population())
    return found


def _law_began(walk: Walk, period: int, stop: int) -> int:
    """Return the first generation from which populations keep to the law of a period, up to a
    generation `stop`."""
    began = stop
    known: list[int] = []  # populations from `began` on
    for start in _back(walk, stop):
        end = began - 1 if known else stop
        populations = [*_populations(walk, start, end), *known]
        began = start
        if len(populations) > 2 * period:
            breach = last_breach(populations, period)
            if breach is not None:
                return start + breach + 1
        known = populations[: 2 * period + 1] if len(populations) > 2 * period else populations
    return began


def _parts_began(walk: Walk, movers: Sequence[Mover], now: int) -> int:
    """Return the first generation from which all cells are those of movers, which never meet from
    generation `now` on."""
    lines: Lines | None = Lines.of(movers)

    def are_parts(generation: int) -> bool:
        walk.to(generation)
        if walk.population() != sum(mover.population(generation - now) for mover in movers):
            return False
        parts = np.concatenate([mover.cells(generation - now) for mover in movers])
        parts = parts[np.lexsort((parts[:, 0], parts[:, 1]))]
        return bool(np.array_equal(walk.cells(), parts))

    def holds(generation: int) -> bool:
        """Tell whether movers are all there is and never meet: so it is ever after, too."""
        try:
            clear = lines is not None and not lines.moved(generation - now).meetings(walk.breathe)
        except UnprovableError:
            clear = False
        if clear and are_parts(generation):
            return True
        walk.to(generation)
        walk.keep()
        return False

    began = walk.least(holds, now) if holds(now) else now
    # Before that, movers may be near each other and yet go on as they would alone.
    for start in _back(walk, began):
        others = [at for at in range(start, began) if not are_parts(at)]
        if others:
            return others[-1] + 1
        began = start
    return began


def _back(walk: Walk, stop: int) -> Iterator[int]:
    """Go back from a generation to the first, by short spans; yield where each begins."""
    while stop > walk.first:
        start = max(at for at in walk.kept() if at < stop)
        while stop - start > _SPAN:
            middle = (start + stop) // 2
            walk.to(middle)
            walk.keep()
            start = middle
        yield start
        stop = start
