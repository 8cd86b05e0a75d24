"""The unbounded plane on a CUDA device, in tiles that are visited there as they change."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernels.life.plan import rule_defines
from kernels.life.rules import NineCellRule
from kernels.plane.checks import check_places, check_rule
from kernels.plane.contract import Places, PlaneBox, PlaneEngine, PlaneUniverse, Words
from kernels.plane.tiles.cuda.memory import (
    COUNTS,
    FAILED,
    IDLE,
    NUMBER,
    SPARE,
    TAKEN,
    TileMemory,
    entries_for,
)
from kernels.plane.tiles.cuda.reading import Reader
from kernels.signals import undisturbed
from kernels.targets.contract import Target
from kernels.targets.cuda.device import Buffer, Device, Slice
from kernels.targets.cuda.turns import whole_device

ROUND, SLOTS, NOW = 15, 4, 4  # as tile.hpp has them
PERIOD = ROUND * SLOTS  # generations: a plane in which all comes back after them is left as it is
_VISIT, _TIDY, _BOTH = 1, 2, 3  # phases of a round
_TIDY_ROUNDS = 32  # as visit.cu has it
_SOME = 4096  # squares uploaded at a time
_MOMENT = 0.005  # seconds of rounds between two looks of the host
_MOST = 1 << 24  # visits in a launch: a tenth of a second
_VISITING = Path(__file__).with_name("visit.cu")


@dataclass(frozen=True)
class Launch:
    """The way in which rounds are launched.

    warps: of a block. blocks: by default one for each multiprocessor. together: the host looks on
    only now and then, and blocks wait for each other between the phases of a round; else each
    phase is launched, for where one block runs after the other. rounds: of the first launch; others
    take about a moment. room: for how many tiles at first.
    """

    warps: int = 16
    blocks: int | None = None
    together: bool = True
    rounds: int = 64
    room: int = 1024


class _Time(NamedTuple):
    """The generation of a plane, and where its cells are.

    base: generations at the beginning of round `number`; within: generations beyond that, at
    which the cells are those of slot NOW.
    """

    base: int
    number: int
    within: int

    @property
    def slot(self) -> int:
        """The slot that holds its cells."""
        return NOW if self.within else self.number % SLOTS


class CudaTilesPlane(PlaneUniverse):
    """A plane without an edge, in tiles of 96 x 96 cells on a CUDA device."""

    def __init__(self, rule: NineCellRule, memory: int, device: Device, launch: Launch) -> None:
        """Make an empty plane. memory: bytes of the device that it may take."""
        check_rule(rule)
        self._device, self._launch_as = device, launch
        self._visiting = device.module(_VISITING, rule_defines(rule))
        self._tiles = TileMemory(device, memory, launch.room)
        self._reader = Reader(self._tiles)
        self._time = _Time(0, 1, 0)
        self.generation = 0
        self._edited = False  # cells have been set since the last round
        self._unlisted = False  # there was no room for all tiles of the next round
        self._whole = 0  # the round that visits all tiles
        self._pace = float(launch.rounds)  # that take a moment
        self._active = -1  # tiles that the next round visits; -1: unknown
        self._edits = 0
        self._using = threading.Lock()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep others from using it meanwhile."""
        if not self._using.acquire(blocking=False):
            raise RuntimeError("the plane is in use")
        try:
            yield
        finally:
            self._using.release()

    def _stand(self, at: _Time) -> None:
        self._time = at
        self.generation = at.base + at.within

    # --- setting cells ------------------------------------------------------

    def put(self, places: Places, squares: Words) -> None:
        """Set all cells of some squares."""
        check_places(places, squares)
        if not len(places):
            return
        with self._in_use():
            self._edits += 1
            self._edited = True
            self._fold()
            parts = [slice(n, n + _SOME) for n in range(0, len(places), _SOME)]
            for part in parts:
                self._with_room("make_room", *self._uploaded(places[part], squares[part]))
            slot = np.uint32(self._time.slot)
            with undisturbed():
                for part in parts:
                    self._tiles.launch("put", slot, *self._uploaded(places[part], squares[part]))
                self._tiles.launch("survey", slot)
                self._device.synchronize()

    def _fold(self) -> None:
        """Begin a round with the cells that there are, also within one."""
        base, number, within = self._time
        if within:
            with undisturbed():
                self._tiles.launch("fold", np.uint32(number % SLOTS))
                self._stand(_Time(base + within, number, 0))

    def _uploaded(self, places: Places, squares: Words) -> tuple[Buffer, Buffer, np.uint32]:
        at, words = self._device.alloc(places.nbytes), self._device.alloc(squares.nbytes)
        self._device.upload(at, places)
        self._device.upload(words, squares)
        return at, words, np.uint32(len(places))

    # --- room ---------------------------------------------------------------

    def _with_room(self, kernel: str, *args: Buffer | Slice | np.integer[Any]) -> None:
        """Launch a kernel that makes tiles until it has found room for all. Raises MemoryError."""
        tried = False
        while True:
            self._tiles.tell(FAILED, 0)
            self._tiles.launch(kernel, *args)
            state = self._tiles.state()
            if int(state[TAKEN]) * 2 >= entries_for(self._tiles.held.room):
                self._tiles.renew()
            if not state[FAILED]:
                return
            if not tried:
                tried = True
                if self._sweep() >= self._tiles.held.room // 8:
                    continue
            try:
                self._tiles.grow()
            except MemoryError:
                self._sweep()
                raise

    def _sweep(self) -> int:
        """Free tiles that hold nothing; return how many are to spare."""
        _, number, within = self._time
        with undisturbed():
            self._tiles.launch("sweep", np.uint64(number), np.uint32(within > 0))
            self._tiles.tell(IDLE, 0)
        return int(self._tiles.state()[SPARE])

    # --- moving on ----------------------------------------------------------

    def step(self, generations: int) -> None:
        """Move on by any number of generations; of what has settled, at once."""
        self._step(None, generations)

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or until stopped() is true between some rounds."""
        self._step(stopped, generations)

    def _step(self, stopped: Callable[[], bool] | None, generations: int) -> None:
        with self._in_use():
            if generations <= 0:
                return
            self._edits += 1
            self._prepare()
            rounds, left = divmod(generations + self._time.within, ROUND)
            while rounds:
                done = self._some_rounds(rounds)
                rounds -= done
                if self._unlisted:
                    self._prepare()
                if rounds and stopped is not None and stopped():
                    return
            if left:
                self._with_room("reach", np.uint32(self._time.number % SLOTS))
                self._part(left)
                self._sweep()
            elif self._time.within:
                self._stand(self._time._replace(within=0))

    def _prepare(self) -> None:
        """List the tiles that the next round is to visit, where that is not done yet."""
        number = np.uint64(self._time.number)
        if self._edited:
            # Begin anew, as if nothing had lived until now. Out of nothing it cannot have come:
            # the round that would bring it back visits all tiles.
            self._fold()
            self._tiles.launch("link")
            self._tiles.launch("restart", number)
            self._tiles.tell(COUNTS, 0, 0, 0)
            self._whole = self._time.number + SLOTS - 1
        if self._edited or self._unlisted:
            self._active = -1
            self._with_room("spread", number)
        self._edited = self._unlisted = False

    def _some_rounds(self, rounds: int) -> int:
        """Move on by some rounds, at most so many, about a moment; return how many."""
        number = self._time.number
        if number > self._whole and self._active == 0:
            # Every PERIOD generations from here bring back what is there.
            number += rounds % SLOTS
            self._tiles.tell(COUNTS, 0, 0, 0)
            self._stand(_Time(self._time.base + ROUND * rounds, number, 0))
            return rounds
        some = max(1, min(rounds, int(self._pace), _MOST // self._tiles.held.room))
        if number == self._whole:
            self._tiles.launch("list_all", np.uint64(number))
        elif number < self._whole:
            some = min(some, self._whole - number)
        began = time.perf_counter()
        with undisturbed():
            self._launch(number, some)
            self._collect()
        done = self._time.number - number
        took = max(time.perf_counter() - began, 1e-6)
        if done == some:
            self._pace = min(max(1.0, done * _MOMENT / took), 2 * self._pace + 1)
        return done

    def _launch(self, number: int, rounds: int) -> None:
        launch, tiles = self._launch_as, self._tiles
        blocks = launch.blocks or self._device.info.multiprocessors
        grid, block = (blocks, 1, 1), (32 * launch.warps, 1, 1)
        tiles.tell(FAILED, 0, 0)  # and ARRIVED

        def start(first: int, count: int, phases: int) -> None:
            arguments = np.uint64(first), np.uint32(count), np.uint32(phases)
            self._visiting.launch("rounds", grid, block, *tiles.held.parameters, *arguments)

        if launch.together:
            with whole_device(self._device.info):
                start(number, rounds, _BOTH)
                self._device.synchronize()
            return
        start(number, 1, _VISIT)
        start(number, 1, _TIDY)
        if number % _TIDY_ROUNDS == _TIDY_ROUNDS - 1:
            tiles.tell(IDLE, 0)

    def _collect(self) -> None:
        """See how many rounds have been made."""
        state = self._tiles.state()
        base, number, within = self._time
        done = int(state[NUMBER]) - number
        self._active = int(state[COUNTS + int(state[NUMBER]) % 3]) if done > 0 else -1
        if done > 0:
            # Tiles that the next round needs may be missing: the round that is made is whole.
            self._unlisted = self._unlisted or int(state[FAILED]) == number + done - 1
            base, number, within = base + ROUND * done, number + done, 0
        self._stand(_Time(base, number, within))

    def _part(self, generations: int) -> None:
        """Go on to some generations beyond the last round, beside what the next begins with."""
        slot = np.uint32(self._time.number % SLOTS)
        parameters = self._tiles.held.parameters
        blocks = self._tiles.grid(self._tiles.held.room)
        with undisturbed():
            self._visiting.launch(
                "part", blocks, (256, 1, 1), *parameters, slot, np.uint32(generations)
            )
            self._stand(self._time._replace(within=generations))

    # --- reading ------------------------------------------------------------

    def population(self) -> int:
        """Return the number of live cells."""
        with self._in_use():
            return self._reader.population(self._time.slot)

    def box(self) -> PlaneBox | None:
        """Return the smallest rectangle that holds every live cell, None where none lives."""
        with self._in_use():
            return self._reader.box(self._time.slot)

    def squares(self, box: PlaneBox | None = None) -> Iterator[tuple[Places, Words]]:
        """Yield the squares that hold live cells. Raises RuntimeError where these have changed."""
        edits = self._edits
        first: int | None = 1
        while first is not None:
            if edits != self._edits:
                raise RuntimeError("the plane was changed while its squares were read")
            with self._in_use():
                places, squares, first = self._reader.squares(self._time.slot, box, first)
            if len(places):
                yield places, squares

    def get(self, x: int, y: int, words: Words) -> None:
        """Write the cells of a rectangle."""
        with self._in_use():
            self._reader.get(self._time.slot, x, y, words)

    def counts(self, x: int, y: int, level: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return how many cells live in each of many blocks."""
        with self._in_use():
            return self._reader.counts(self._time.slot, x, y, level, shape)

    @property
    def nbytes(self) -> int:
        """Return the bytes of the device's memory that its tiles and lists take."""
        return self._tiles.nbytes


class CudaTilesEngine(PlaneEngine):
    """The unbounded plane in tiles on one CUDA-like device."""

    def __init__(self, device: Device, launch: Launch | None = None) -> None:
        """launch: how rounds are launched, where that is not as on a GPU."""
        self.device, self._launch = device, launch or Launch()

    @classmethod
    def of(cls, target: Target) -> CudaTilesEngine:
        """Return the engine of the first device of a target. Raises TypeError where it has none."""
        if not target.devices:
            raise TypeError(f"this is no CUDA device: {target.describe()}")
        return cls(target.devices[0])

    def universe(self, rule: NineCellRule, memory: int) -> CudaTilesPlane:
        """Return an empty plane, at generation 0."""
        return CudaTilesPlane(rule, memory, self.device, self._launch)
