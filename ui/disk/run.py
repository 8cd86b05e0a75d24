"""The process that moves a universe on disk on, so that neither its work nor its end is felt
by whoever shows it. To be killed at any moment is safe, as it is for `lifesim run`.

Started as `python -m ui.disk.run DIRECTORY BACKEND`. Reads lines of JSON: first what to do,
{"to": GENERATION}, {"by": GENERATIONS}, {"on": [GENERATIONS, RATE]} or {"until": CONDITION,
"most": GENERATIONS or null, "looks": GENERATIONS}, later {"on": ...} with another speed and
{"stop": true}; the end of its input stops it too. {"every": GENERATIONS} comes with any of them or
alone: so many at most lie between two that are whole; 0 is any number.
Writes lines of JSON: {"where": TEXT}, {"share": DONE or null, "rate": CELL_UPDATES},
{"error": TEXT}, {"found": FACTS} at the end of a run until a condition, and, of each generation
that is whole, {"generation": NUMBER}: it waits there until {"seen": true} is read.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any, TextIO

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from lifesim.errors import LifesimError
from lifesim.pauses import Progress
from lifesim.store.universe import Universe
from lifesim.stream.run import StreamedLife

_LONG = 1.0  # seconds between two pictures from which on more generations lie between them
_MOST = 1 << 20
_NEWS = 0.1  # seconds between two lines
_SMALL = 1 << 26  # cells that are read and written in no time: they go in stages of about _LONG
_STAGE = 1024  # generations of the first one


class _Orders:
    """The orders that have been given, read by a thread of its own."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self.stopped, self.seen = threading.Event(), threading.Event()
        first = source.readline()
        self.first: dict[str, Any] = json.loads(first) if first else {"stop": True}
        self.speed: tuple[int, float | None] = (1, None)
        self.every = 0
        self._take(self.first)
        threading.Thread(target=self._read, name="orders", daemon=True).start()

    def _take(self, order: dict[str, Any]) -> None:
        self.every = order.get("every", self.every)
        if "on" in order:
            generations, rate = order["on"]
            self.speed = generations, rate
        elif "stop" in order:
            self._stop()
        elif "seen" in order:
            self.seen.set()

    def _read(self) -> None:
        for line in self._source:
            self._take(json.loads(line))
        self._stop()

    def _stop(self) -> None:
        self.stopped.set()
        self.seen.set()


class _Seen(Universe):
    """Stays a while at each generation that is whole, for those who look at it."""

    orders: _Orders

    def end_phase(self) -> None:
        super().end_phase()
        self._show()

    def jump(self, generations: int) -> None:
        super().jump(generations)
        self._show()

    def _show(self) -> None:
        self.orders.seen.clear()
        say(generation=self.generation)
        if not self.orders.stopped.is_set():
            self.orders.seen.wait()


class _Runner:
    def __init__(self, life: StreamedLife, orders: _Orders) -> None:
        self._life, self._orders = life, orders
        self._said = 0.0
        self._way: tuple[int, int] | None = None  # from where to where, if it is known
        self._shows = True  # whether to say how much is done

    def to(self, generation: int) -> None:
        """Run as far as that; or, where a phase that was broken off ends later, to its end.

        Of small universes in stages, as the rate of so little is not known before: where it is
        killed, the stage under way is what a later run finishes.
        """
        universe = self._life.universe
        self._way = universe.generation, generation
        if universe.phase or universe.width * universe.height > _SMALL:
            self._go(generation)
            return
        span = _STAGE
        while universe.generation < generation:
            began = time.monotonic()
            self._go(min(generation, universe.generation + span))
            if time.monotonic() - began < _LONG:
                span *= 2

    def _go(self, generation: int) -> None:
        universe = self._life.universe
        if universe.phase:
            generation = max(generation, universe.phase.stop)
        if generation > universe.generation:
            universe.set_run((universe.generation, generation))
        self._resume()

    def _resume(self) -> None:
        self._life.resume(every=self._orders.every or None, progress=self._tell)

    def until(self, condition: str, most: int | None, looks: int) -> None:
        """Run until a condition is true, or for so many generations, and tell what was found."""
        self._shows = most is not None
        found = self._life.run_until(
            condition,
            most,
            looks=looks,
            every=self._orders.every or None,
            progress=self._tell,
            on_snapshot=lambda life: None,  # whoever looks is told of each that is whole
        )
        say(found={**found.facts(), "generation": found.generation})

    def on(self) -> None:
        """Run to the end of the run that was broken off; where there is none, until stopped."""
        universe = self._life.universe
        if universe.manifest.run:
            self._resume()
            return
        if universe.phase:
            self._resume()
        speed = self._orders.speed
        generations, self._shows = speed[0], False
        try:
            while True:
                began, phases = time.monotonic(), len(self._life.tallies)
                self.to(universe.generation + generations)
                took = time.monotonic() - began
                if self._orders.speed != speed:
                    speed = self._orders.speed
                    generations = speed[0]
                elif took > _LONG and len(self._life.tallies) == phases + 1:
                    # A long phase costs little more than a short one.
                    generations = min(2 * generations, max(_MOST, speed[0]))
                self._shows = took > _LONG
                if not self._shows:
                    self._tell(None)
                wait = began + 1 / speed[1] - time.monotonic() if speed[1] else 0.0
                if self._orders.stopped.wait(max(wait, 0.0)):
                    raise KeyboardInterrupt
        finally:
            # Nobody asked for an end: there is none to be reached by a later run.
            universe.set_run(None)

    def _tell(self, now: Progress | None) -> None:
        if self._orders.stopped.is_set():
            raise KeyboardInterrupt
        if time.monotonic() < self._said + _NEWS:
            return
        self._said = time.monotonic()
        share = now.done / now.total if now and self._shows and now.total else None
        if now and share is not None and self._way and self._way[1] > self._way[0]:
            share = min(1.0, (now.generation - self._way[0]) / (self._way[1] - self._way[0]))
        say(share=share, rate=self._life.rate)


def say(**facts: Any) -> None:
    """Write facts as a line for the process that listens."""
    print(json.dumps(facts), flush=True)


def main(path: str, backend: str) -> int:
    """Run the universe of a directory as standard input tells; return an exit code."""
    orders = _Orders(sys.stdin)
    try:
        with _Seen.open(path, writing=True) as universe:
            assert isinstance(universe, _Seen)
            universe.orders = orders
            runner = pick(backend)
            say(where=runner.describe())
            life = StreamedLife(universe, [runner])
            run = _Runner(life, orders)
            try:
                if "to" in orders.first:
                    run.to(orders.first["to"])
                elif "by" in orders.first:
                    run.to(universe.generation + orders.first["by"])
                elif "until" in orders.first:
                    first = orders.first
                    run.until(first["until"], first["most"], first["looks"])
                elif "on" in orders.first:
                    run.on()
            finally:
                say(share=None, rate=life.rate)
    except KeyboardInterrupt:
        return 0
    except (LifesimError, BackendUnavailableError, MemoryError) as error:
        text = str(error) or "there is not enough memory for the run"
        say(error=" ".join(text.split()))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
