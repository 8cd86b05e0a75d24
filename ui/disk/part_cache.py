"""Parts of tile files in memory, as far as a budget goes, read by threads of their own."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from lifesim.errors import LifesimError
from ui.disk.parts import (
    NOWHERE,
    SLAB,
    Levels,
    Snapshot,
    Stripe,
    TilePiece,
    Wanted,
)

BUDGET = 384 << 20
_THREADS = 2
_OVERHEAD = 400  # bytes of memory that a part takes beside its own
_FORGOTTEN = 3.0  # seconds after which nobody waits for what nobody has asked for again
_CLOSING = 1.0  # seconds that a read has to end in
_TELLING = 1 / 30  # seconds between two tellings that more has come


class PartCache:
    """Keeps the parts of one universe that have been read. Any thread may call it."""

    def __init__(
        self,
        view: Snapshot,
        arrived: Callable[[], None],
        failed: Callable[[LifesimError], None],
        look_again: Callable[[], None],
        budget: int = BUDGET,
    ) -> None:
        self._view, self.budget = view, budget
        self._arrived, self._failed, self._look_again = arrived, failed, look_again
        self._changed = threading.Condition()
        self._parts: OrderedDict[tuple[Stripe, int], tuple[object, Levels]] = OrderedDict()
        self._bytes = 0
        self._wanted: OrderedDict[Stripe, tuple[float, Wanted]] = OrderedDict()  # last is next
        self._reading: set[Stripe] = set()
        self._bad: dict[Stripe, object] = {}  # and their tags
        self._told = 0.0
        self._closed = False
        self._drawing = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name="tiles", daemon=True) for _ in range(_THREADS)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def view(self) -> Snapshot:
        """Return the universe as it is now."""
        return self._view

    def show(self, view: Snapshot) -> None:
        """Show another view; parts that are the same in it stay."""
        with self._changed:
            if view.cut is not self._view.cut:
                self._wanted.clear()
                self._bad.clear()
                self._parts.clear()
                self._bytes = 0
            self._view = view
            self._changed.notify_all()

    @property
    def bytes(self) -> int:
        """Return how many bytes the parts take that are kept."""
        return self._bytes

    def forgive(self) -> bool:
        """Try again what could not be read, when it is asked for; False if there is nothing."""
        with self._changed:
            bad, self._bad = self._bad, {}
        return bool(bad)

    def close(self) -> None:
        """Stop the threads; waits for them, but not long."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(_CLOSING)

    def look(
        self, view: Snapshot, pieces: list[TilePiece]
    ) -> tuple[list[tuple[TilePiece, Levels]], list[TilePiece]]:
        """Return those that are at hand, though perhaps of an older generation, and those that
        would have to be read for an exact picture. view: whose pieces they are."""
        found: list[tuple[TilePiece, Levels]] = []
        missing: list[TilePiece] = []
        with self._changed:
            if view.cut is not self._view.cut:
                return found, pieces
            for piece in pieces:
                key = piece.stripe, piece.slab
                part = self._parts.get(key)
                if part is None or not _is_of(part[1], piece):
                    missing.append(piece)
                    continue
                self._parts.move_to_end(key)
                found.append((piece, part[1]))
                if part[0] is not self._view.tag(piece.stripe):
                    missing.append(piece)
        return found, missing

    def ask(self, view: Snapshot, pieces: list[TilePiece]) -> set[Stripe]:
        """Have these read, the first one first; before all that was asked for earlier.

        Returns those that will be: not what could not be read, until forgive().
        """
        now = time.monotonic()
        slabs: dict[Stripe, Wanted] = {}
        for stripe, slab, *_ in pieces:
            some = slabs.get(stripe)
            first, last = some or (slab, slab)
            slabs[stripe] = Wanted(min(first, slab), max(last, slab))
        with self._changed:
            if view.cut is not self._view.cut:
                return set()
            for stripe in [*slabs]:
                if self._bad.get(stripe) is self._view.tag(stripe):
                    del slabs[stripe]
            for stripe in reversed(slabs):
                if stripe not in self._reading:
                    self._wanted[stripe] = now, slabs[stripe]
                    self._wanted.move_to_end(stripe)
            self._changed.notify_all()
        return set(slabs)

    def wait(self, stripes: set[Stripe], seconds: float) -> None:
        """Wait until none of them is to be read any more, or it has taken too long."""

        def done() -> bool:
            return self._closed or not any(
                stripe in self._wanted or stripe in self._reading for stripe in stripes
            )

        with self._changed:
            self._changed.wait_for(done, seconds)

    # --- threads ---------------------------------------------------------------

    def _work(self) -> None:
        while job := self._next():
            view, stripe, wanted = job
            try:
                if stripe.tile == NOWHERE:
                    with self._drawing:  # which takes memory
                        rows = view.read(stripe)
                else:
                    rows = view.read(stripe)
            except (LifesimError, MemoryError) as error:
                self._miss(stripe, view, error)
            else:
                self._keep(view, stripe, rows, wanted)
                del rows
            self._finish(stripe)

    def _next(self) -> tuple[Snapshot, Stripe, Wanted] | None:
        with self._changed:
            while True:
                if self._closed:
                    return None
                self._forget()
                if self._wanted:
                    stripe, (_, wanted) = self._wanted.popitem()
                    self._reading.add(stripe)
                    return self._view, stripe, wanted
                self._changed.wait()

    def _forget(self) -> None:
        """Drop what is wanted by nobody any more: the last one is the one asked for last."""
        if self._wanted:
            asked, _ = self._wanted[next(reversed(self._wanted))]
            if time.monotonic() - asked > _FORGOTTEN:
                self._wanted.clear()
                self._changed.notify_all()

    def _keep(self, view: Snapshot, stripe: Stripe, rows: Levels, wanted: Wanted) -> None:
        # Of the neighbours too, as who looks here may look there next.
        first, last = max(wanted.first - 1, 0), min(wanted.last + 1, (rows.shape[-1] - 1) // SLAB)
        parts = [
            (slab, rows[..., slab * SLAB : (slab + 1) * SLAB].copy())
            for slab in range(first, last + 1)
        ]
        tag = view.tag(stripe)
        with self._changed:
            if view.cut is not self._view.cut:
                return
            self._bad.pop(stripe, None)
            for slab, part in parts:
                old = self._parts.pop((stripe, slab), None)
                if old:
                    self._bytes -= old[1].nbytes + _OVERHEAD
                self._parts[stripe, slab] = tag, part
                self._bytes += part.nbytes + _OVERHEAD
            while self._bytes > self.budget:
                _, (_, part) = self._parts.popitem(last=False)
                self._bytes -= part.nbytes + _OVERHEAD

    def _miss(self, stripe: Stripe, view: Snapshot, error: Any) -> None:
        """Ignore a failure where the universe has moved on meanwhile: the next picture asks
        again."""
        self._look_again()
        tag = view.tag(stripe)
        with self._changed:
            same = view.cut is self._view.cut and self._view.tag(stripe) is tag
            if not same or self._closed:
                return
            self._bad[stripe] = tag
        if isinstance(error, MemoryError):
            error = LifesimError("out of memory")
        self._failed(error)

    def _finish(self, stripe: Stripe) -> None:
        with self._changed:
            self._reading.discard(stripe)
            self._forget()
            now = time.monotonic()
            tell = now > self._told + _TELLING or not (self._wanted or self._reading)
            tell = tell and not self._closed
            if tell:
                self._told = now
            self._changed.notify_all()
        if tell:
            self._arrived()


def _is_of(part: Levels, piece: TilePiece) -> bool:
    """Tell whether a part has as many rows and columns as a piece."""
    return (part.shape[0], part.shape[-1]) == (piece.rows, piece.columns)
