"""The enumeration behind a Semigroup: it goes on, stops, and begins anew where it must."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kernels.transf import (
    Counts,
    Enumerator,
    HashCollisionError,
    Maps,
    Problem,
    Tables,
    Transf,
)

from .bases import first_points, more_points
from .engines import Engines
from .proof import Claim

_FEW = 256  # numbers that are expanded at once before it pays to look products up
_PEEKED = 4 << 20  # bytes of products that are looked up in advance near a limit
_FIRST_LOOK = 64  # numbers that are expanded before it is looked whether rules hold
_LOOKS = 4  # times as many before the next time
_GPU_START = 0.3  # seconds until one has begun: its context, kernels from the cache
_PATIENCE = 1 << 28  # images that are found, where it stops, to prove what there is

Stop = Literal["finished", "enough", "limit", "time", "cancelled"]


@dataclass(frozen=True)
class Progress:
    """How far an enumeration is.

    size: elements found so far. expanded: of these, all products with generators are known.
    level: length of the words whose products are being found. counts: products computed and
    deduced. nbytes: of memory taken.
    """

    size: int
    expanded: int
    level: int
    counts: Counts
    nbytes: int


class CancelledError(RuntimeError):
    """All of a semigroup was needed, and cancel() stopped its enumeration."""


class Runner:
    """Enumerates on whole maps, or on the images of some points with a proof.

    Where rows are images of some points, it is proved in the end that what is found holds for
    whole maps; also where it stops before, if that does not take long. To notice early what does
    not hold, it is looked for again and again as numbers become more: where it is, the points
    become more, and all begins anew. What was proved keeps its numbers.

    engines: made when they are needed. problem: of which memory may be 0, for what the engine
        takes by default; rows of some points are compared even if it says not to.
    choose: whether points are to be chosen.
    tables: to go on from; if all is finished it was proved. rules: how many were checked.

    Steps and questions may come from several threads: each has the lock for its time. Only
    progress() and cancel() wait for nothing.
    """

    def __init__(
        self,
        engines: Engines,
        problem: Problem,
        choose: bool = False,
        tables: Tables | None = None,
        rules: int = 0,
    ) -> None:
        self._engines = engines
        self._engine: Transf | None = None
        self._enumerator: Enumerator | None = None
        self._choose = choose
        self._trust = not problem.compare
        self._memory = problem.memory
        self._spent = 0.0  # seconds, by the first engine
        self._before = Counts()  # of what it did
        self._checked = self._looked = 0  # numbers of which it was proved, or looked whether
        self._next_look = _FIRST_LOOK
        self._proving = False
        self._cancels = 0
        self.problem = problem
        self.rules = 0
        self.lock = threading.RLock()
        if tables is not None:
            self._start(tables)
            self._checked = self.enumerator.expanded if self.enumerator.finished else 0
            self.rules = rules if self._checked else 0

    @property
    def begun(self) -> bool:
        return self._enumerator is not None

    @property
    def engine(self) -> Transf:
        with self.lock:
            if self._engine is None:
                self._engine = self._engines.first()
            return self._engine

    @property
    def memory(self) -> int:
        return self._memory or self.engine.memory

    @property
    def enumerator(self) -> Enumerator:
        """Begun, if it was not; what it found may have to be checked."""
        enumerator = self._enumerator
        if enumerator is None:
            with self.lock:
                if self._enumerator is None:
                    self._start()
                enumerator = self._enumerator
        assert enumerator is not None
        return enumerator

    @property
    def finished(self) -> bool:
        if not self.begun:
            return False
        with self.lock:
            return self.enumerator.finished and self.proved

    def cancel(self) -> None:
        """All that runs now; from any thread, or from a signal's handler, which a lock could
        stop for ever."""
        self._cancels += 1

    def run(
        self,
        most: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        enough: int | None = None,
    ) -> Stop:
        """Until no more than `most` numbers can be found, or `enough` are."""
        cancels = self._cancels
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            if self._cancels != cancels:
                return "cancelled"
            if end is not None and time.monotonic() >= end:
                return "finished" if self.finished else "time"
            with self.lock:
                if enough is not None and self.enumerator.size >= enough and not self._unsettled:
                    return "enough"
                if not self._step(most, enough):
                    return "finished" if self.enumerator.finished else "limit"
                told = self.progress()
            if progress is not None:
                progress(told)

    def found(self) -> Enumerator:
        """With what is found proved to hold for whole maps, if that does not take long.

        To be asked with the lock held.
        """
        reached = self._checked
        while self._unsettled:
            self._look(_PATIENCE)
            while self.enumerator.expanded < reached and not self.enumerator.finished:
                self._expand(reached - self.enumerator.expanded)
        return self.enumerator

    def set_memory(self, memory: int) -> None:
        """Goes on from what is found."""
        with self.lock:
            if self._enumerator is None:
                self._memory = memory
                return
            tables = self.found().tables()
            before, self._memory = self._memory, memory
            self._enumerator = None  # before another takes memory
            try:
                self._start(tables)
            except BaseException:
                self._memory = before
                self._start(tables)
                raise

    @property
    def proved(self) -> bool:
        """Whether what is found holds for whole maps."""
        return not self._proving or self._checked == self.enumerator.expanded

    @property
    def _unsettled(self) -> bool:
        if self.proved:
            return False
        return self.enumerator.finished or self._looked < self.enumerator.expanded

    def _start(self, tables: Tables | None = None) -> None:
        problem = replace(self.problem, memory=self.memory)
        if self._choose:
            problem = replace(problem, points=first_points(problem.generators))
        proving = not problem.whole
        problem = replace(problem, compare=proving or not self._trust)
        self._enumerator = self.engine.start(problem, tables)
        self.problem, self._choose, self._proving = problem, False, proving

    def _restart(self, problem: Problem) -> None:
        self._enumerator = None  # before another takes memory
        self._checked = self._looked = self.rules = 0
        self._next_look = _FIRST_LOOK
        self.problem = problem

    def _step(self, most: int | None, enough: int | None) -> bool:
        """One piece of work; False where there is none that may be done."""
        enumerator = self.enumerator
        done = enumerator.finished or (enough is not None and enumerator.size >= enough)
        count = 0 if done else self._room(most)
        if not count:
            if self._unsettled:
                self._look(_PATIENCE)
                return True
            return False
        began = time.monotonic()
        self._expand(count)
        self._spent += time.monotonic() - began
        if self._spent > _GPU_START and not self.enumerator.finished:
            self._grow_out()
        if self._proving and self.enumerator.expanded >= self._next_look:
            self._look()
        return True

    def _grow_out(self) -> None:
        """Goes on with the larger engine, if there is one and it has room."""
        self._spent = -math.inf
        engine = self._engines.larger()
        if engine is None or engine.name == self.engine.name:
            return
        problem = replace(self.problem, memory=self._memory or engine.memory)
        before = self.enumerator
        try:
            enumerator = engine.start(problem, before.tables())
        except MemoryError:
            return
        self._engine, self._enumerator, self.problem = engine, enumerator, problem
        self._before += before.counts

    def _expand(self, most: int) -> None:
        enumerator = self.enumerator
        try:
            enumerator.expand(most)
        except HashCollisionError:
            seed = (self.problem.seed + 1) % 2**64
            self._restart(replace(self.problem, seed=seed, hash_bits=128))
        except MemoryError as error:
            found = enumerator.size - (not self.problem.monoid)
            why = str(error) or "there is not enough memory"
            level = len(enumerator.starts) - 2
            raise MemoryError(f"stopped at {found} elements, level {level}: {why}") from None

    def _look(self, patience: int = 0) -> None:
        """Whether something is found that does not hold for whole maps; proves it if it is
        finished, or takes less than `patience` or than only to look.
        """
        enumerator = self.enumerator
        expanded = enumerator.expanded
        claim = Claim(enumerator, self._checked)
        if (
            not enumerator.finished
            and claim.by_maps > max(patience, claim.by_graphs)
            and claim.is_consistent()
        ):
            self._looked = expanded if patience else self._looked
        else:
            failed = claim.failures()
            if len(failed):
                points = more_points(self.problem, failed)
                self._restart(replace(self.problem, points=points))
                return
            self._checked, self.rules = expanded, self.rules + claim.rules
        self._next_look = _LOOKS * expanded

    def _room(self, most: int | None) -> int:
        """How many numbers may be expanded so that no more than `most` can be found."""
        enumerator = self.enumerator
        if most is None:
            return enumerator.waiting
        room = max(0, most - enumerator.size)
        count = room // self.problem.letters
        if count >= _FEW:
            return min(count, enumerator.waiting)
        # Near the limit products are looked up first, of ever more numbers: they may be known.
        most_at_once = min(enumerator.waiting, max(1, _PEEKED // self.problem.generators.nbytes))
        ahead = 2 * count or 1
        while ahead <= most_at_once and self._new(ahead) <= room:
            count, ahead = ahead, 2 * ahead
        return min(count, enumerator.waiting)

    def _new(self, count: int) -> int:
        """How many elements, at most, the next numbers' products will add."""
        enumerator, generators = self.enumerator, self.problem.generators
        start = enumerator.expanded
        maps = enumerator.maps(np.arange(start, start + count))
        products: Maps = np.concatenate([images[maps] for images in generators])
        unknown = products[enumerator.positions(products) < 0]
        return len({row.tobytes() for row in unknown})

    def progress(self) -> Progress:
        enumerator, no_element = self.enumerator, int(not self.problem.monoid)
        counts = replace(self._before)
        counts += enumerator.counts
        return Progress(
            enumerator.size - no_element,
            max(0, enumerator.expanded - no_element),
            len(enumerator.starts) - 2,
            counts,
            enumerator.nbytes,
        )
