"""Carry-free arithmetic on a CUDA device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from kernels.targets.cuda.device import Buffer, Device

from ..contract import DigitArray, Format, Redundant, Words64

SOURCE = Path(__file__).with_name("redundant.cu")
CHUNK = 16  # bytes of digits, a thread's work
MAX_GRID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class DeviceDigits:
    """size digits from the start of a buffer."""

    buffer: Buffer
    size: int


@dataclass(frozen=True, slots=True)
class DigitLaunch:
    """A launch of one thread for each unit of work; overlap: threads of a block that
    repeat what the block before does."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]


def choose(units: int, threads: int, overlap: int = 0) -> DigitLaunch:
    """Return the launch for so many units of work, in blocks of so many threads."""
    blocks = -(-units // (threads - overlap))
    if not 1 <= blocks <= MAX_GRID:
        raise ValueError(f"{units} units of work are none or too many for one launch")
    return DigitLaunch((blocks, 1, 1), (threads, 1, 1))


class DeviceRedundant(Redundant[DeviceDigits]):
    """threads: of a block; tile: digits, a thread's way over zeros when normalising."""

    name: ClassVar[str] = "cuda"
    in_place: ClassVar[bool] = False

    def __init__(
        self, format: Format, device: Device, threads: int = 256, tile: int = 1024
    ) -> None:
        super().__init__(format)
        self._device, self._threads, self._tile = device, threads, tile
        macros = {"WORD": format.word, "THREADS": threads, "TILE": tile}
        self._module = device.module(SOURCE, macros)

    def put(self, digits: DigitArray) -> DeviceDigits:
        """Return digits that check_digits() lets pass, copied to where this engine has them."""
        x = self._room(digits.size)
        self._device.upload(x.buffer, np.ascontiguousarray(digits))
        self._device.synchronize()
        return x

    def get(self, x: DeviceDigits) -> DigitArray:
        """Return a copy of the digits on the host."""
        digits = np.empty(x.size, self.format.dtype)
        self._device.download(digits, x.buffer)
        return digits

    def add(
        self, x: DeviceDigits, y: DeviceDigits, digits: int, out: DeviceDigits | None = None
    ) -> DeviceDigits:
        """Return x + y."""
        return self._add(x, y, digits, out, 0)

    def subtract(
        self, x: DeviceDigits, y: DeviceDigits, digits: int, out: DeviceDigits | None = None
    ) -> DeviceDigits:
        """Return x - y; digits, out: as in add()."""
        return self._add(x, y, digits, out, 1)

    def negate(self, x: DeviceDigits) -> DeviceDigits:
        """Negate each digit, whatever the number: nothing carries."""
        result, chunks = self._room(x.size), self._chunks(x.size)
        params = choose(int(chunks), self._threads)
        self._module.launch(
            "redundant_negate", params.grid, params.block, x.buffer, result.buffer, chunks
        )
        return result

    def sum(self, numbers: Words64, positive: int, digits: int) -> DeviceDigits:
        """Return the sum of the first `positive` numbers less the others."""
        self.check_sum(numbers, positive, digits)
        count, width = numbers.shape
        # No buffer is empty; numbers without words are not looked at.
        words = self._device.alloc(max(numbers.nbytes, 8))
        if numbers.nbytes:
            self._device.upload(words, numbers)
        result = self._room(digits)
        chunks = self._chunks(digits)
        params = choose(int(chunks), self._threads, overlap=1)
        self._module.launch(
            "redundant_sum",
            params.grid,
            params.block,
            words,
            np.uint64(width),
            np.uint32(count),
            np.uint32(positive),
            result.buffer,
            chunks,
        )
        self._device.synchronize()  # numbers may change
        return result

    def normalise(self, x: DeviceDigits) -> int:
        """Return the value, in the one pass that propagates carries."""
        words = x.size * self.format.log // 64
        tiles = self._signs("redundant_signs", x.buffer, x.size)
        above = self._signs("redundant_tile_signs", tiles, -(-x.size // self._tile))
        result = self._device.alloc(8 * (words + 1))
        params = choose(words + 1, self._threads)
        self._module.launch(
            "redundant_normalise",
            params.grid,
            params.block,
            x.buffer,
            np.uint64(x.size),
            tiles,
            above,
            result,
            np.uint64(words),
        )
        host = np.empty(words + 1, np.uint64)
        self._device.download(host, result)
        return int.from_bytes(host.astype("<u8", copy=False).data, "little", signed=True)

    def _signs(self, kernel: str, x: Buffer, count: int) -> Buffer:
        tiles = -(-count // self._tile)
        signs = self._device.alloc(tiles)
        params = choose(tiles, self._threads)
        self._module.launch(
            kernel, params.grid, params.block, x, np.uint64(count), signs, np.uint64(tiles)
        )
        return signs

    def _add(
        self,
        x: DeviceDigits,
        y: DeviceDigits,
        digits: int,
        out: DeviceDigits | None,
        subtract: int,
    ) -> DeviceDigits:
        self.check_room(digits, x.size, y.size)
        result = self._room(digits) if out is None else out
        if result.size != digits or result.buffer in (x.buffer, y.buffer):
            raise ValueError("the place of the result has another size, or is an operand's")
        chunks = self._chunks(digits)
        params = choose(int(chunks), self._threads)
        self._module.launch(
            "redundant_add",
            params.grid,
            params.block,
            x.buffer,
            self._chunks(x.size),
            y.buffer,
            self._chunks(y.size),
            np.uint32(subtract),
            result.buffer,
            chunks,
        )
        return result

    def _room(self, digits: int) -> DeviceDigits:
        return DeviceDigits(self._device.alloc(digits * self.format.dtype.itemsize), digits)

    def _chunks(self, digits: int) -> np.uint64:
        return np.uint64(digits * self.format.dtype.itemsize // CHUNK)
