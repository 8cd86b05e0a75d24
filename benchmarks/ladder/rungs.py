"""The rungs on a CUDA device: what there is, in which variants, and how one is launched."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from kernels.targets.cuda.device import Device

SOURCE = Path(__file__).with_name("ladder.cu")
MAX_GRID_Y = 65535  # blocks, of any CUDA device

Words = npt.NDArray[np.uint64]
Memory = Literal["global", "shared", "register"]


@dataclass(frozen=True, slots=True)
class Rung:
    """An implementation that stands in Fujita's tables.

    steps: generations a launch. bits: of a word, 8 where a word is one cell.
    published: 10^9 updates/s that he measured on a GeForce GTX TITAN X.
    """

    name: str
    kernel: str
    memory: Memory
    bits: int
    steps: int
    published: float

    @property
    def slice(self) -> int:
        """Rows and columns that a warp of a multi-step kernel writes."""
        return self.bits - 2 * self.steps


@dataclass(frozen=True, slots=True)
class Variant:
    """The choices that a rung leaves open; ladder.cu explains the macros of the same names.

    warps: of a CUDA block. columns: words in column-major order. whole_bytes: slices
    are stored as bytes.
    """

    warps: int = 1
    columns: bool = True
    whole_bytes: bool = False

    def __str__(self) -> str:
        order = "columns" if self.columns else "rows"
        store = ", bytes" if self.whole_bytes else ""
        return f"{many(self.warps, 'warp')}, {order}{store}"


def _multi_step() -> list[Rung]:
    # By kernel, his figures for 2, 4, 8 and 16 steps.
    table: dict[tuple[Memory, str, int], tuple[float, ...]] = {
        ("shared", "single32", 32): (451, 535, 322),
        ("shared", "single64", 64): (586, 808, 720, 359),
        ("shared", "double64", 64): (768, 1370, 1560, 873),
        ("register", "single32", 32): (489, 659, 487),
        ("register", "single64", 64): (672, 1330, 1510, 790),
        ("register", "double64", 64): (692, 1510, 1990, 1120),
    }
    return [
        Rung(f"{memory}_{form}_{steps}", f"{memory}_{form}", memory, bits, steps, rate)
        for (memory, form, bits), rates in table.items()
        for steps, rate in zip((2, 4, 8, 16), rates, strict=False)  # no 16 for 32 x 32
    ]


RUNGS: tuple[Rung, ...] = (
    Rung("word_per_cell", "word_per_cell", "global", 8, 1, 14.8),
    Rung("single_word", "single_word", "global", 64, 1, 478),
    Rung("double_word", "double_word", "global", 64, 1, 398),
    *_multi_step(),
)


def rung_named(name: str) -> Rung:
    """Raises KeyError."""
    return {rung.name: rung for rung in RUNGS}[name]


def variants(rung: Rung) -> list[Variant]:
    """Return all variants that a rung can be run in; the first is nearest to what he describes.

    He had blocks of one warp and words in column-major order, and does not say how
    slices that share words are written.
    """
    warps = (1, 4)
    if rung.bits == 8:
        return [Variant(n, columns=False) for n in warps]
    # A slice begins and ends between bytes where twice the steps are not a multiple of 8.
    stores = (False, True) if rung.memory != "global" and rung.steps % 4 == 0 else (False,)
    return [Variant(*v) for v in product(warps, (True, False), stores)]


class Simulation:
    """A torus of cells on a device, advanced by one rung.

    Width: a multiple of 64. Height: any from 1 to 65535; with columns, and in the
    multi-step kernels, far beyond.
    """

    def __init__(
        self,
        device: Device,
        rung: Rung,
        width: int,
        height: int,
        variant: Variant | None = None,
    ) -> None:
        """Raises ValueError for a size or variant that the rung does not support."""
        self.rung = rung
        self.width, self.height = width, height
        self.variant = variant or variants(rung)[0]
        if width < 64 or width % 64 or height < 1:
            raise ValueError(f"{rung.name}: the width is a multiple of 64, not {width}x{height}")
        if self.variant not in variants(rung):
            raise ValueError(f"{rung.name} does not come with {self.variant}")
        self.grid = self._grid()
        if max(self.grid[1:]) > MAX_GRID_Y:
            raise ValueError(f"{rung.name}: {width}x{height} is too high")
        self._device = device
        self._module = device.module(
            SOURCE,
            {
                "STEPS": rung.steps if rung.memory != "global" else 2,  # unused by global
                "WARPS": self.variant.warps,
                "COLUMNS": int(self.variant.columns),
                "BYTES": int(self.variant.whole_bytes),
            },
        )
        nbytes = width * height // (1 if rung.bits == 8 else 8)
        # Source, target and, for slices that are or-ed into their words, the target
        # after that, which a launch clears.
        spare = rung.memory != "global" and not self.variant.whole_bytes
        self._buffers = [device.alloc(nbytes) for _ in range(3 if spare else 2)]

    def _grid(self) -> tuple[int, int, int]:
        warps = self.variant.warps
        if self.rung.memory != "global":
            m = self.rung.slice
            return -(-self.width // m), -(-self.height // (m * warps)), 1
        across = self.width if self.rung.bits == 8 else self.width // 64
        down = self.height if self.rung.kernel != "double_word" else -(-self.height // 2)
        fast, slow = (down, across) if self.variant.columns else (across, down)
        return -(-fast // (32 * warps)), slow, 1

    def _block(self) -> tuple[int, int, int]:
        # Multi-step kernels: lane x of warp y.
        warps = self.variant.warps
        return (32 * warps, 1, 1) if self.rung.memory == "global" else (32, warps, 1)

    def load(self, words: Words) -> None:
        """Sets the cells: bit j of words[y, w] is the cell in column 64 w + j of row y."""
        if words.shape != (self.height, self.width // 64) or words.dtype != np.uint64:
            raise ValueError(f"not the words of {self.width}x{self.height} cells")
        self._device.upload(self._buffers[0], self._arrange(words))
        if len(self._buffers) == 3:
            self._device.upload(self._buffers[1], np.zeros(self._buffers[1].nbytes, np.uint8))

    def advance(self, generations: int) -> None:
        """Queues the launches. Raises ValueError for a part of a launch's generations."""
        launches, rest = divmod(generations, self.rung.steps)
        if rest:
            raise ValueError(f"{self.rung.name} goes in steps of {self.rung.steps}")
        across = self.width if self.rung.bits == 8 else self.width // self.rung.bits
        sizes = np.int32(across), np.int32(self.height)
        for _ in range(launches):
            if self.rung.memory == "global":
                buffers = self._buffers
            else:  # the kernel has a parameter for the spare one, used or not
                buffers = [*self._buffers[:2], self._buffers[-1]]
            self._module.launch(self.rung.kernel, self.grid, self._block(), *buffers, *sizes)
            # The target becomes the source; the spare one, now clear, the target.
            self._buffers = [*self._buffers[1:], self._buffers[0]]

    def words(self) -> Words:
        """The cells, as `load` takes them; waits for the launches."""
        dtype = np.dtype(f"u{self.rung.bits // 8}")
        shape = (self.height, self.width if self.rung.bits == 8 else self.width // self.rung.bits)
        stored = np.empty(shape[::-1] if self.variant.columns else shape, dtype)
        self._device.download(stored, self._buffers[0])
        rows = np.ascontiguousarray(stored.T if self.variant.columns else stored)
        if self.rung.bits == 8:
            rows = np.packbits(rows, axis=1, bitorder="little")
        return rows.view(np.uint64)

    def _arrange(self, words: Words) -> npt.NDArray[Any]:
        rows: npt.NDArray[Any] = np.ascontiguousarray(words)
        if self.rung.bits == 8:
            return np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
        if self.rung.bits == 32:
            rows = rows.view(np.uint32)
        return np.ascontiguousarray(rows.T) if self.variant.columns else rows


def run(
    device: Device,
    rung: Rung,
    words: Words,
    width: int,
    height: int,
    generations: int,
    variant: Variant | None = None,
) -> Words:
    """The cells after some generations, packed like `words` (see Simulation.load).

    Every rung takes and returns packed words, word_per_cell too.
    """
    simulation = Simulation(device, rung, width, height, variant)
    simulation.load(words)
    simulation.advance(generations)
    return simulation.words()
