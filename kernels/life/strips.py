"""Life on several devices: each has a strip of rows, with a halo of its neighbours' rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from kernels.backend import LifeArena, LifeUniverse, Shape, Words
from kernels.device import Device
from kernels.life.cuda import QUEUED, DeviceArena, DeviceLife, layout_bytes, staging_bytes
from kernels.life.plan import Strip, choose_strips, pass_steps
from kernels.signals import undisturbed


def strips_bytes(shapes: Sequence[Shape], slots: int, multiprocessors: tuple[int, ...]) -> int:
    """What an arena takes on the device where it takes most."""
    return (slots + 1) * max(_rooms(shapes, multiprocessors)) + staging_bytes(shapes, slots)


def _rooms(shapes: Sequence[Shape], multiprocessors: tuple[int, ...]) -> list[int]:
    """Bytes on each device for the strip of any of the shapes."""
    rooms = [0] * len(multiprocessors)
    for shape in shapes:
        for i, strip in enumerate(choose_strips(*shape, multiprocessors)):
            rooms[i] = max(rooms[i], layout_bytes(strip.plan.layout, strip.height))
    return rooms


class StripsArena(LifeArena):
    """An arena on each device."""

    chain = None

    def __init__(
        self,
        devices: Sequence[Device],
        shapes: Sequence[Shape],
        slots: int,
        birth: int,
        survival: int,
    ) -> None:
        self.slots = slots
        self._multiprocessors = tuple(device.info.multiprocessors for device in devices)
        self._arenas = [
            DeviceArena(device, [], slots, birth, survival, room=room)
            for device, room in zip(devices, _rooms(shapes, self._multiprocessors), strict=True)
        ]

    def open(self, slot: int, width: int, height: int, *, torus: bool) -> StripsLife:
        if width < 1 or height < 1:
            raise ValueError(f"{width}x{height} cells")
        strips = choose_strips(width, height, torus, self._multiprocessors)
        lives = []
        for arena, strip in zip(self._arenas, strips, strict=False):
            arena.check(slot, width, strip.height, strip.plan.layout)
            lives.append(DeviceLife(arena, slot, width, strip.height, torus, strip.plan))
        return StripsLife(lives, strips, torus=torus)

    def open_chained(self, slot: int, height: int, *, first: bool) -> LifeUniverse:
        raise ValueError("there is no chain in this arena")

    def close(self) -> None:
        for arena in self._arenas:
            arena.close()


class StripsLife(LifeUniverse):
    """Each strip is moved on as if it were the whole: what is wrong then at its ends is halo.

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
        """A pass, of all strips."""
        if self._fresh < steps:
            self._exchange()
        for life in self._lives:
            life.queue(steps)
        self._fresh -= steps
        self.generation += steps

    def _exchange(self) -> None:
        """Make the halos anew."""
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
        self.check_rows(y, words)
        self._fresh = 0
        self._each(DeviceLife.put, y, words)

    def get(self, y: int, words: Words) -> None:
        self.check_rows(y, words, written=True)
        self._each(DeviceLife.get, y, words)

    def _each(self, move: Callable[[DeviceLife, int, Words], None], y: int, words: Words) -> None:
        """Put or get, in a thread for each strip: devices have links of their own."""
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
