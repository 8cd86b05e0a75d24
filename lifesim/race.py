"""The choice among engines while a run is under way: which of them is quickest, by measurement."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_FIRST = 0.001  # seconds of the first turn of all
_TURN = 0.02  # ... of others, at first
_PART = 0.05  # ... and later, as a part of all seconds so far
_LEAST = 0.003  # ... of a trial in a run that is soon over
_WORTH = 5  # the run goes on for at least so many trials, where another engine is tried
_CLEARLY = 1.2  # another engine is so many times as fast before it takes over
_PATIENCE = 4  # turns that one step of an engine on trial may take
_HOPELESS = 30  # an engine that is slower than this many times is tried no later for it


@dataclass(slots=True)
class _Turn:
    """The time that an engine has without a break.

    length: seconds that it is to have. is_trial: whether it is one to find out its speed.
    generations, seconds: made so far. half: the same when half of the length was over; what came
    before does not count, as some engines need a while to become quick.
    """

    length: float
    is_trial: bool
    generations: int = 0
    seconds: float = 0.0
    half: tuple[int, float] = (0, 0.0)

    def add(self, generations: int, seconds: float) -> None:
        """Add a step."""
        if 2 * self.seconds < self.length:
            self.half = self.generations, self.seconds
        self.generations += generations
        self.seconds += seconds

    @property
    def rate(self) -> float:
        """Return the generations per second since half of it."""
        generations, seconds = self.half
        return (self.generations - generations) / max(self.seconds - seconds, 1e-9)


class Race:
    """A race of engines to make the most generations per second.

    The leader runs. From time to time each of the others has a turn, a small part of all the time
    so far, in which it too moves the universe on; whoever was faster leads from then on. Who was
    slower is tried again later, the later the slower it was, as universes change.

    names: of the engines. engine: the one that runs now. seconds: that all took so far.
    """

    def __init__(self, names: Sequence[str], first: str) -> None:
        """Begin with the engine called `first`."""
        self.names = tuple(names)
        self.engine = self._leader = first
        self.seconds = 0.0
        self._rates = dict.fromkeys(names, 0.0)
        self._due = dict.fromkeys(names, 0.0)  # when each is tried next, in seconds of the race
        self._turn = _Turn(_FIRST, is_trial=False)
        self._trial = _TURN  # seconds of the next trial

    @property
    def patience(self) -> float:
        """Return how many seconds a step may take before it is better broken off: as the engine is
        only on trial, and another one waits."""
        return _PATIENCE * self._turn.length if self._turn.is_trial else math.inf

    @property
    def pace(self) -> float:
        """Return the generations per second of the engine in this turn, 0 at its beginning."""
        turn = self._turn
        return turn.generations / turn.seconds if turn.seconds > 0 else 0.0

    @property
    def left_of_turn(self) -> float:
        """Return how many seconds of the turn are left."""
        return max(self._turn.length - self._turn.seconds, 0.0)

    def add(self, generations: int, seconds: float) -> None:
        """Count a step of the engine that runs."""
        self._turn.add(generations, seconds)
        self.seconds += seconds

    def choose(self, left: int, is_worth: Callable[[str, float], bool]) -> str:
        """Return the engine that is to make the next step: the one that runs, unless its turn is
        over and another is to run.

        left: generations that the run still has, as far as that is known. is_worth(name, rate):
        whether an engine can be as fast as `rate`, generations per second, and can be had at a
        price that is small beside the time so far.
        """
        turn = self._turn
        if turn.seconds < turn.length:
            return self.engine
        rate = self._rates[self.engine] = turn.rate
        if turn.is_trial:
            return self._judged()
        # Where the end is not known, a run is taken to go on for as long as it went on already.
        ahead = max(left / max(rate, 1e-9), self.seconds)
        if ahead > _WORTH * max(_LEAST, _PART * self.seconds):
            self._trial = min(ahead / _WORTH, self._longest())
            for name in self.names:
                if name == self.engine or self._due[name] > self.seconds:
                    continue
                if is_worth(name, rate):
                    return name
                self._due[name] = 2 * self.seconds
        self._turn = _Turn(self._turn_length(), is_trial=False)
        return self.engine

    def _judged(self) -> str:
        """Return who leads after a trial."""
        leader, tried = self._leader, self.engine
        rates = self._rates
        winner, loser = leader, tried
        if rates[tried] > _CLEARLY * rates[leader]:
            winner, loser = tried, leader
        slower = min(rates[winner] / max(rates[loser], 1e-9), _HOPELESS)
        self._due[loser] = self.seconds * (1 + slower / 2)
        self._leader = winner
        if winner == tried:
            self._turn = _Turn(self._turn_length(), is_trial=False)
        return winner

    def moved(self, name: str, seconds: float) -> None:
        """Say that the engine that was chosen runs now, and what it took to move there."""
        self.seconds += seconds
        self.engine = name
        is_trial = name != self._leader
        length = max(self._trial, 2 * seconds) if is_trial else self._turn_length()
        self._turn = _Turn(length, is_trial)

    def refused(self, name: str, seconds: float) -> None:
        """Say that the engine that was chosen cannot hold the universe just now: then the one that
        runs goes on."""
        self.seconds += seconds
        self._due[name] = 2 * self.seconds
        self._rates[name] = 0.0
        self._leader = self.engine
        self._turn = _Turn(self._turn_length(), is_trial=False)

    def gave_up(self) -> list[str]:
        """Say that the engine that runs cannot go on, and return the others, the fastest first:
        lead() says which of them goes on."""
        self._rates[self.engine] = 0.0
        self._due[self.engine] = 2 * self.seconds
        others = [name for name in self.names if name != self.engine]
        return sorted(others, key=lambda name: -self._rates[name])

    def lead(self, name: str, seconds: float) -> None:
        """Say that an engine runs now and leads, and what it took to move there."""
        self._leader = name
        self.moved(name, seconds)

    def _turn_length(self) -> float:
        """Return how many seconds the next turn of the leader has: the first two are as long as
        one."""
        return _TURN - self.seconds if self.seconds < _TURN / 2 else self._longest()

    def _longest(self) -> float:
        return max(_TURN, _PART * self.seconds)
