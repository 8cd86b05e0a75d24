"""Run the enumeration behind a Semigroup: go on, stop, and begin anew where that must be."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from bulkbits.plurals import many
from kernels.targets.costs import START_COSTS
from kernels.transformations import (
    CayleyTables,
    EnumerationProblem,
    Enumerator,
    HashCollisionError,
    ProductCounts,
    SemigroupEngine,
)

from .bases import first_points, more_points
from .engines import EngineChoice
from .finished import CopiedTables, Finished
from .limits import numbers_within
from .proving import PATIENCE, ProofSchedule

_ROOM = 1 << 26  # bytes: what is enumerated at once takes less

StopReason = Literal["finished", "enough", "limit", "time", "cancelled"]


@dataclass(frozen=True)
class Progress:
    """Tells how far an enumeration is.

    size: elements found so far. expanded: of these, all products with generators are known.
    level: length of the words whose products are being found. counts: products computed and
    deduced. nbytes: of memory taken.
    """

    size: int
    expanded: int
    level: int
    counts: ProductCounts
    nbytes: int


class CancelledError(RuntimeError):
    """Raised where a semigroup was needed whole, and cancel() stopped it at `found` elements."""

    def __init__(self, found: int) -> None:
        super().__init__(f"cancelled at {many(found, 'element')}")
        self.found = found

    def __reduce__(self) -> tuple[Any, ...]:
        """Take apart for a copy or pickle."""
        return type(self), (self.found,), vars(self)


class MemoryFullError(MemoryError):
    """Raised where the memory given is full; with more of it the enumeration can go on.

    found: how many elements. level: the length of the words under way. reason: what was missing.
    """

    def __init__(self, found: int, level: int, reason: str) -> None:
        super().__init__(f"stopped at {many(found, 'element')}, level {level}: {reason}")
        self.found, self.level, self.reason = found, level, reason

    def __reduce__(self) -> tuple[Any, ...]:
        """Take apart for a copy or pickle."""
        return type(self), (self.found, self.level, self.reason), vars(self)


@dataclass(frozen=True, eq=False)
class EnumerationState:
    """Holds what another EnumerationRunner needs to go on. tables: None where nothing was begun."""

    engines: EngineChoice
    problem: EnumerationProblem
    choose: bool
    trust: bool
    memory: int
    tables: CayleyTables | None
    rules: int


class EnumerationRunner:
    """Enumerates on whole maps, or on the images of some points with a proof.

    Where rows are images of some points, it is proved in the end that what is found holds for
    whole maps; also where it stops before, if that does not take long. To notice early what does
    not hold, it is looked for again and again as numbers become more: where it is, the points
    become more, and all begins anew. What was proved keeps its numbers.

    engines: made when they are needed. problem: of which memory may be 0, for what the engine
        takes by default; rows of some points are compared even if it says not to.
    choose: whether points are to be chosen.
    tables: to go on from; if all is finished it was proved. finished: an
        enumeration that was proved, instead. rules: how many were checked.

    Steps and questions may come from several threads: each has the lock for its time. Only
    progress() and cancel() wait for nothing.
    """

    def __init__(
        self,
        engines: EngineChoice,
        problem: EnumerationProblem,
        choose: bool = False,
        tables: CayleyTables | None = None,
        rules: int = 0,
        finished: Finished | None = None,
    ) -> None:
        self._engines = engines
        self._engine: SemigroupEngine | None = None
        self._enumerator: Enumerator | None = None
        self._choose = choose
        self._trust = not problem.compare
        self._memory = problem.memory
        self._spent = 0.0  # seconds, by the first engine
        self._before = ProductCounts()  # of what it did
        self._proof = ProofSchedule()
        self._cancels = 0
        self.problem = problem
        self.lock = threading.RLock()
        if finished is not None:
            self._enumerator, self._proof.needed = finished, not problem.whole
            self._proof.checked, self._proof.rules = finished.expanded, rules
        elif tables is not None:
            self._start(tables)
            self._proof.checked = self.enumerator.expanded if self.enumerator.finished else 0
            self._proof.rules = rules if self._proof.checked else 0

    def state(self) -> EnumerationState:
        """Return what there is, for restored(); to be asked with the lock held."""
        tables = self.found().tables() if self.begun else None
        return EnumerationState(
            *(self._engines, self.problem, self._choose, self._trust, self._memory),
            *(tables, self.rules),
        )

    @classmethod
    def restored(cls, state: EnumerationState) -> EnumerationRunner:
        """Return one that goes on, apart from the one before, once it is asked for something."""
        problem = replace(state.problem, compare=not state.trust, memory=state.memory)
        tables = state.tables
        if tables is not None and len(tables.right) == len(tables.first):
            # What was found, and proved, is not found anew.
            problem = replace(problem, compare=state.problem.compare)
            found = Finished(problem, tables.starts, CopiedTables(tables), len(tables.first))
            return cls(state.engines, problem, rules=state.rules, finished=found)
        return cls(state.engines, problem, state.choose, tables=tables)

    @property
    def begun(self) -> bool:
        """True once an enumerator has begun, or tables were loaded."""
        return self._enumerator is not None

    @property
    def engine(self) -> SemigroupEngine:
        """Engine that is used now, chosen when it is first asked for."""
        with self.lock:
            if self._engine is None:
                self._engine = self._engines.first()
            return self._engine

    @property
    def memory(self) -> int:
        """Bytes that the enumeration may take."""
        return self._memory or self.engine.memory

    @property
    def enumerator(self) -> Enumerator:
        """Return the enumerator, begun if it was not; what it found may have to be checked."""
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
        """True if all is found and, where that is needed, proved."""
        if not self.begun:
            return False
        with self.lock:
            return self.enumerator.finished and self.proved

    def cancel(self) -> None:
        """Stop what runs now; from any thread, or from a signal's handler, which a lock could
        stop for ever."""
        self._cancels += 1

    def run(
        self,
        most: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        enough: int | None = None,
    ) -> StopReason:
        """Enumerate until no more than `most` numbers can be found, or `enough` are."""
        everything = most is None and seconds is None and progress is None and enough is None
        if everything and self._enumerator is None and self._at_once():
            return "finished"
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
                if enough is None and progress is None and self._done:
                    return "finished"  # as small ones are after the first step
                told = None if progress is None else self.progress()
            if progress is not None and told is not None:
                progress(told)

    def found(self) -> Enumerator:
        """Return the enumerator, what it found proved for whole maps if that does not take long.

        To be asked with the lock held.
        """
        reached = self._proof.checked
        while self._unsettled:
            self._look(PATIENCE)
            while self.enumerator.expanded < reached and not self.enumerator.finished:
                self._expand(reached - self.enumerator.expanded)
        return self.enumerator

    def set_memory(self, memory: int) -> None:
        """Give it other memory, and go on from what is found."""
        with self.lock:
            if isinstance(self._enumerator, Finished):
                self._memory = self._enumerator.memory = memory
                return
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
        """True if what is found is known to hold for whole maps."""
        return not self._proof.needed or self._proof.covers(self.enumerator)

    @property
    def rules(self) -> int:
        """Number of rules that were found to hold for whole maps, where that needs a proof."""
        return self._proof.rules

    @property
    def _unsettled(self) -> bool:
        return self._proof.needed and self._proof.is_unsettled(self.enumerator)

    @property
    def _done(self) -> bool:
        """True if all is found, and nothing is to be proved of it."""
        return self.enumerator.finished and not self._unsettled

    def _at_once(self) -> bool:
        """Enumerate all in one call, if it is small; return whether it was done."""
        if self._choose or self._trust or 0 < self._memory < _ROOM:
            return False
        with self.lock:
            if self._enumerator is not None:
                return False  # another thread was first
            self._enumerator = self._engines.at_once(self.problem)
            return self._enumerator is not None

    def _start(self, tables: CayleyTables | None = None) -> None:
        problem = self.problem
        if self._choose:
            problem = replace(problem, points=first_points(problem.generators))
        proving = not problem.whole
        compare = proving or not self._trust
        problem = replace(problem, memory=self.memory, compare=compare)
        self._enumerator = self.engine.start(problem, tables)
        self.problem, self._choose, self._proof.needed = problem, False, proving

    def _restart(self, problem: EnumerationProblem) -> None:
        self._enumerator = None  # before another takes memory
        self._proof.forget()
        self.problem = problem

    def _step(self, most: int | None, enough: int | None) -> bool:
        """Do one piece of work; return False where there is none that may be done."""
        enumerator = self.enumerator
        done = enumerator.finished or (enough is not None and enumerator.size >= enough)
        count = 0 if done else numbers_within(enumerator, most)
        if not count:
            if self._unsettled:
                self._look(PATIENCE)
                return True
            return False
        began = time.monotonic()
        if most is None and enough is None and not self._proof.needed:
            self._expand()
        else:
            self._expand(count)
        self._spent += time.monotonic() - began
        if self._spent > START_COSTS.seconds and not self.enumerator.finished:
            self._grow_out()
        if self._proof.needed and self._proof.is_due(self.enumerator):
            self._look()
        return True

    def _grow_out(self) -> None:
        """Go on with the larger engine, if there is one and it has room."""
        self._spent = -math.inf
        engine = self._engines.larger()
        if engine is None or type(engine) is type(self.engine):
            return
        problem = replace(self.problem, memory=self._memory or engine.memory)
        before = self.enumerator
        try:
            enumerator = engine.start(problem, before.tables())
        except MemoryError:
            return
        self._engine, self._enumerator, self.problem = engine, enumerator, problem
        self._before += before.counts

    def _expand(self, most: int | None = None) -> None:
        """Expand `most` numbers of the level under way at most, or as many as are soon done."""
        enumerator = self.enumerator
        try:
            if most is None:
                enumerator.expand_on()
            else:
                enumerator.expand(most)
        except HashCollisionError:
            seed = (self.problem.seed + 1) % 2**64
            self._restart(replace(self.problem, seed=seed, hash_bits=128))
        except MemoryError as error:
            found = enumerator.size - (not self.problem.monoid)
            why = str(error) or "there is not enough memory"
            level = len(enumerator.starts) - 2
            raise MemoryFullError(found, level, why) from None

    def _look(self, patience: int = 0) -> None:
        """Look for what does not hold for whole maps, and begin anew with more points if it is.

        patience: see ProofSchedule.look().
        """
        failed = self._proof.look(self.enumerator, patience)
        if len(failed):
            points = more_points(self.problem, failed)
            self._restart(replace(self.problem, points=points))

    def progress(self) -> Progress:
        """Return how far it is, without waiting for anybody."""
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
