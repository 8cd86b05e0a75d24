"""Life on several devices: each has a strip of rows, with a halo of its neighbours' rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from kernels.life.contract import (
    ChainShape,
    LifeArena,
    LifeChain,
    LifeEngine,
    LifeShape,
    LifeUniverse,
    Words,
    check_planes,
)
from kernels.life.costs import STRIP_COSTS, StripCosts
from kernels.life.cuda.engine import (
    QUEUED,
    CudaLifeEngine,
    DeviceArena,
    DeviceLife,
)
from kernels.life.cuda.sizes import layout_bytes, staging_bytes
from kernels.life.plan import CudaPlan, choose_cuda, cuda_pass, pass_steps
from kernels.life.rules import NineCellRule
from kernels.signals import undisturbed
from kernels.targets.cuda.device import Device


@dataclass(frozen=True, slots=True)
class Strip:
    """Rows first to end - 1 of a universe, held by one of several devices.

    above, below: rows of its neighbours around them, copied from time to time: the halo. Rows
    that are not all right any more come nearer by one a generation.
    """

    first: int
    end: int
    above: int
    below: int
    plan: CudaPlan

    @property
    def height(self) -> int:
        """The rows of the strip with its halo."""
        return self.above + self.end - self.first + self.below


_ROUND = 32  # passes from one exchange to the next, at most


@lru_cache(maxsize=64)
def choose_strips(
    width: int,
    height: int,
    torus: bool,
    multiprocessors: tuple[int, ...],
    costs: StripCosts = STRIP_COSTS,
) -> tuple[Strip, ...]:
    """Return strips on as many of the devices, from the first on, as should be done soonest.

    multiprocessors: of each device. A strip has rows in proportion to them.
    """
    counts = range(1, len(multiprocessors) + 1)
    ways = [cut_strips(width, height, torus, multiprocessors[:count], costs) for count in counts]
    return min(ways, key=lambda strips: _pass_cost(strips, multiprocessors, costs))


def _pass_cost(
    strips: tuple[Strip, ...], multiprocessors: tuple[int, ...], costs: StripCosts
) -> float:
    """Return what a pass costs, in the unit of StripCosts.

    The host queues one pass while another runs.
    """
    plan = strips[0].plan
    columns = 32 * plan.layout.panels * plan.layout.row_words
    longest = max(
        strip.height * columns * plan.steps / multiprocessors[i] for i, strip in enumerate(strips)
    )
    if len(strips) > 1:
        longest += costs.exchange * plan.steps / strips[0].below
    return max(longest, costs.queuing * len(strips))


def cut_strips(
    width: int,
    height: int,
    torus: bool,
    multiprocessors: tuple[int, ...],
    costs: StripCosts = STRIP_COSTS,
) -> tuple[Strip, ...]:
    """Return one strip for each device, from the first on; fewer where rows are too few.

    All have the same layout. A halo is as high as both ways to lose time are alike: to compute
    it, for nothing in the end, and to exchange it often.
    """
    for count in range(len(multiprocessors), 0, -1):
        cuts = [
            height * sum(multiprocessors[:i]) // sum(multiprocessors[:count])
            for i in range(count + 1)
        ]
        least = min(end - first for first, end in pairwise(cuts))
        common = choose_cuda(width, -(-height // count), torus, multiprocessors[0])
        if least >= common.steps:
            break
    halo = 0
    if count > 1:
        best = math.isqrt(int(costs.exchange * multiprocessors[0] / (2 * width)))
        passes = min(_ROUND, min(best, least // 4) // common.steps)
        halo = max(1, passes) * common.steps
    strips = []
    for i, (first, end) in enumerate(pairwise(cuts)):
        above = halo if torus or i > 0 else 0
        below = halo if torus or i < count - 1 else 0
        rows = above + end - first + below
        plan = cuda_pass(common.layout, rows, common.steps, multiprocessors[i])
        strips.append(Strip(first, end, above, below, plan))
    return tuple(strips)


def strips_of(shape: LifeShape, multiprocessors: tuple[int, ...]) -> tuple[Strip, ...]:
    """Return the strips that a universe of a shape is cut into."""
    return choose_strips(shape.width, shape.height, shape.torus, multiprocessors)


def strips_bytes(shapes: Sequence[LifeShape], slots: int, multiprocessors: tuple[int, ...]) -> int:
    """Return the bytes that an arena takes on the device where it takes most."""
    return (slots + 1) * max(_rooms(shapes, multiprocessors)) + staging_bytes(shapes, slots)


def _rooms(shapes: Sequence[LifeShape], multiprocessors: tuple[int, ...]) -> list[int]:
    """Return the bytes that each device needs for its strip of any of the shapes."""
    rooms = [0] * len(multiprocessors)
    for shape in shapes:
        for i, strip in enumerate(strips_of(shape, multiprocessors)):
            rooms[i] = max(rooms[i], layout_bytes(strip.plan.layout, strip.height))
    return rooms


class SeveralLifeEngine(LifeEngine[NineCellRule]):
    """Life on several devices: universes lie in strips of rows, one for each device.

    A chain, whose blocks come one after the other, is the first device's: whoever moves a
    universe in blocks gives each device blocks of its own.
    """

    def __init__(self, devices: Sequence[Device]) -> None:
        self.devices = tuple(devices)
        self._first = CudaLifeEngine(self.devices[0])

    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: NineCellRule,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return an arena of strips; with a chain, one of the first device."""
        check_planes(shapes, chain)
        if chain is not None:
            return self._first.arena(shapes, slots, rule, chain)
        return StripsArena(self.devices, shapes, slots, rule)

    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return 0, and device memory as if every device took as much as that which takes most."""
        check_planes(shapes, chain)
        if chain is not None:
            most = self._first.arena_bytes(shapes, slots, chain)[1]
        else:
            multiprocessors = tuple(device.info.multiprocessors for device in self.devices)
            most = strips_bytes(shapes, slots, multiprocessors)
        return 0, len(self.devices) * most

    def chain(self, shape: ChainShape) -> LifeChain:
        """Return the chain of the first device."""
        return self._first.chain(shape)


class StripsArena(LifeArena):
    """An arena on each device, whose slots hold strips of the same universes."""

    chain = None

    def __init__(
        self,
        devices: Sequence[Device],
        shapes: Sequence[LifeShape],
        slots: int,
        rule: NineCellRule,
    ) -> None:
        self.slots = slots
        self._multiprocessors = tuple(device.info.multiprocessors for device in devices)
        self._arenas = [
            DeviceArena(device, [], slots, rule, room=room)
            for device, room in zip(devices, _rooms(shapes, self._multiprocessors), strict=True)
        ]

    def open(self, slot: int, shape: LifeShape) -> StripsLife:
        """Return a universe in a slot of all devices that have a strip of it."""
        self.check_slot(slot, shape)
        strips = strips_of(shape, self._multiprocessors)
        lives = []
        for arena, strip in zip(self._arenas, strips, strict=False):
            part = replace(shape, height=strip.height)
            arena.check_room(part, strip.plan.layout)
            lives.append(DeviceLife(arena, slot, part, strip.plan))
        return StripsLife(lives, strips, torus=shape.torus)

    def open_chained(self, slot: int, height: int, *, first: bool) -> LifeUniverse:
        """Raise ValueError: chains are the first device's alone."""
        raise ValueError("there is no chain in this arena")

    def close(self) -> None:
        """Close the arenas of all devices."""
        for arena in self._arenas:
            arena.close()


class StripsLife(LifeUniverse):
    """A universe in strips, each moved on as if it were the whole: only its halo gets wrong.

    One thread queues the passes of all devices, which run at the same time, and the copies
    between them: a device waits for its neighbours only, and the host for none but at the end.
    """

    def __init__(
        self, lives: Sequence[DeviceLife], strips: Sequence[Strip], *, torus: bool
    ) -> None:
        self._lives, self._strips = lives, strips
        self.width, self.height, self.generation = lives[0].width, strips[-1].end, 0
        self.stride = lives[0].stride
        count = len(strips)
        seams = count if torus and count > 1 else count - 1
        # Every other one first: a copy waits for all that is queued on both of its devices.
        self._seams = [(i, (i + 1) % count) for i in (*range(0, seams, 2), *range(1, seams, 2))]
        self._halo = strips[0].below
        self._fresh = 0  # generations to come that the halos are good for

    def step(self, generations: int) -> None:
        """Move on by generations, all strips at the same time."""
        try:
            for steps, count in pass_steps(generations, self.stride):
                for done in range(0, count, QUEUED):
                    with undisturbed():  # or some strips would be ahead of others
                        for _ in range(min(QUEUED, count - done)):
                            self._queue(steps)
                    self._synchronize()
        finally:
            self._synchronize()  # other threads may use the memory next

    def _queue(self, steps: int) -> None:
        """Queue a pass of all strips."""
        if self._fresh < steps:
            self._exchange()
        for life in self._lives:
            life.queue(steps)
        self._fresh -= steps
        self.generation += steps

    def _exchange(self) -> None:
        """Queue the copies that make the halos anew."""
        for i, j in self._seams:
            above, below = self._strips[i], self._strips[j]
            halo, end = self._halo, above.height - above.below
            self._lives[i].queue_rows(end, self._lives[j], below.above, halo)
            self._lives[j].queue_rows(0, self._lives[i], end - halo, halo)
        self._fresh = self._halo

    def _synchronize(self) -> None:
        for life in self._lives:
            life.synchronize()

    def put(self, y: int, words: Words) -> None:
        """Put the rows of each strip; halos are exchanged before the next pass."""
        self.check_rows(y, words)
        self._fresh = 0
        self._each(DeviceLife.put, y, words)

    def get(self, y: int, words: Words) -> None:
        """Get the rows of each strip."""
        self.check_rows(y, words, written=True)
        self._each(DeviceLife.get, y, words)

    def _each(self, move: Callable[[DeviceLife, int, Words], None], y: int, words: Words) -> None:
        """Put or get in a thread for each strip: devices have links of their own."""
        parts = []
        for life, strip in zip(self._lives, self._strips, strict=True):
            first, end = max(y, strip.first), min(y + len(words), strip.end)
            if first < end:
                row = strip.above + first - strip.first
                parts.append((life, row, words[first - y : end - y]))
        if len(parts) < 2:
            for part in parts:
                move(*part)
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(lambda part: move(*part), parts))
