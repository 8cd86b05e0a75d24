"""Contract of the engines of Life: universes in a device's memory, arenas of them, and chains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from kernels.life.rules import CellRule
from kernels.targets.cuda.array import DeviceArray

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, order=True)
class LifeShape:
    """The size of a universe in cells, and whether its edges meet.

    torus: whether they do; otherwise all outside is dead for ever.
    planes: the bits of a cell, one in each bit plane: 1 for rules of two states.
    """

    width: int
    height: int
    torus: bool
    planes: int = 1

    @property
    def row_words(self) -> int:
        """The 64-bit words of a row of packed cells, in one plane."""
        return -(-self.width // 64)


@dataclass(frozen=True, slots=True)
class ChainShape:
    """The sizes that a chain is made for: universes that follow each other from top to bottom.

    generations: that each universe is moved on. height: of a typical follower. planes: as of
        LifeShape.
    """

    width: int
    generations: int
    torus: bool
    height: int
    planes: int = 1

    @property
    def typical(self) -> LifeShape:
        """Return the shape of a typical follower."""
        return LifeShape(self.width, self.height, self.torus, self.planes)


def check_planes(
    shapes: Sequence[LifeShape], chain: ChainShape | None = None, planes: int = 1
) -> None:
    """Raise ValueError for shapes of another number of bit planes than an engine computes."""
    asked = [shape.planes for shape in shapes]
    if chain is not None:
        asked.append(chain.planes)
    for count in asked:
        if count != planes:
            raise ValueError(f"cells in {count} bit planes, where the rule has {planes}")


# The class of the rules that an engine computes. An engine of more rules is one of fewer.
RuleT = TypeVar("RuleT", bound=CellRule, contravariant=True)


class LifeUniverse(ABC):
    """A universe of cells in the memory of its engine.

    planes: the bits of a cell, as of LifeShape.
    generation: how many generations it has been moved on since it was made.
    stride: a number of generations that step() does without waste; others cost more.
    reads_beside_steps: whether get() and view() may be called while another thread makes one
        pass: they find the cells as they were before it. It may change from step to step.
    ahead: generations that are likely to be asked for after those of the next step.
    due: generations that should be made in one step soon, as it is found out by them how to go on
        fast; 0 where there is no need.
    """

    width: int
    height: int
    generation: int
    stride: int
    planes = 1
    reads_beside_steps = False
    ahead = 0
    due = 0

    @abstractmethod
    def step(self, generations: int) -> None:
        """Move on by generations >= 0.

        Interrupted (KeyboardInterrupt), the universe stands at a whole generation,
        which `generation` tells, and can go on from there.
        """

    def step_until(self, stopped: Callable[[], bool], generations: int) -> None:
        """Move on by generations, or by fewer where stopped() becomes true meanwhile.

        It is asked by the calling thread, 100 times a second, while passes are under way; a
        pass that is broken off leaves the generation before it. Engines that cannot break off
        a pass make all generations. Not for universes of a chain.
        """
        self.step(generations)

    def next_steps(self, at_most: int) -> int:
        """Return what to give step() next, so that it makes whole passes.

        at_most: generations, at least 1. The result is not more, but in a chain at least one
        pass, and 0 after the last.
        """
        return at_most - at_most % self.stride or at_most

    def first_pass(self, generations: int) -> int:
        """Return how many generations the first pass of step(generations) makes.

        Where passes are none of the caller's business, it is `generations`.
        """
        return generations

    def view(self) -> Words | None:
        """Return the cells where they lie in host memory, as words() packs them; else None.

        Nobody may write to them, and the next pass overwrites them or makes them old.
        """
        return None

    def room(self, y: int, count: int) -> Words | None:
        """Return the host memory in which rows y to y + count - 1 lie, so that rows written there,
        as put() takes them, need not be put; else None.

        They must be what put() would take: nothing is checked. Threads may write there when they
        may put(). Raises ValueError for rows outside.
        """
        return None

    @abstractmethod
    def put(self, y: int, words: Words) -> None:
        """Set the cells of rows y to y + len(words) - 1; on return `words` is the caller's again.

        words: C-contiguous uint64 (rows, ceil(width / 64)), or, of cells in several bit planes,
        (rows, planes, ceil(width / 64)), so that a band of rows is in one piece; padding bits
        zero. Raises ValueError for any other array, for rows outside, and for cells in states that
        the rule does not have. Any number of threads may put and get different rows at once, while
        no thread steps this universe.
        """

    @abstractmethod
    def get(self, y: int, words: Words) -> None:
        """Write rows y to y + len(words) - 1 into `words`, padding bits zero; else as put()."""

    def words(self) -> Words:
        """Return all rows, packed as put() takes them.

        The array is the caller's: later steps do not change it.
        """
        words = np.empty((self.height, *self._row_shape()), np.uint64)
        self.get(0, words)
        return words

    def device_words(self) -> DeviceArray | None:
        """Return a copy of all rows, as words() packs them, in the memory of the device that has
        the universe; None where it lies in host memory, or on several devices.

        The array is the caller's: later steps do not change it. Raises MemoryError.
        """
        return None

    def _row_shape(self) -> tuple[int, ...]:
        """Return the shape of one row of words."""
        row_words = -(-self.width // 64)
        return (row_words,) if self.planes == 1 else (self.planes, row_words)

    def check_rows(self, y: int, words: Words, *, written: bool = False) -> None:
        """Raise ValueError where put() or, if written, get() must."""
        row = self._row_shape()
        if words.dtype != np.uint64 or not words.ndim or words.shape[1:] != row:
            row_text = " x ".join(map(str, row))
            raise ValueError(f"{words.dtype} {words.shape} for rows of {row_text} uint64")
        if not words.flags.c_contiguous or (written and not words.flags.writeable):
            raise ValueError("rows must be C-contiguous, and writable where they are written")
        if y < 0 or y + len(words) > self.height:
            raise ValueError(f"rows {y} to {y + len(words) - 1} of {self.height}")


@dataclass(frozen=True)
class LifeChain:
    """A way to move on blocks of a tall universe, top to bottom, with no row computed twice.

    Every pass moves the rows that a block holds up by as many rows as it makes generations.
    The rows above that it needs for this, twice as many, are those that the block before
    has left behind before the same pass of its own. The first block of a chain has none
    before: it is a window with a halo of `generations` rows above and below.

    passes: generations of each pass, the same for all blocks. planes: as of LifeShape.
    trims: whether passes of the first block leave out the rows of its halo that nothing needs any
    more: on a plane those below only, as rows above may be the plane's first.
    """

    width: int
    torus: bool
    passes: tuple[int, ...]
    planes: int = 1
    trims: bool = False

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The generations made before each pass, and after the last."""
        return tuple(accumulate(self.passes, initial=0))

    @property
    def generations(self) -> int:
        """The generations of all passes together."""
        return self.starts[-1]

    @cached_property
    def longest(self) -> int:
        """The generations of the longest pass."""
        return max(self.passes)

    def least_height(self, *, first: bool) -> int:
        """Return the least height of the first universe, or of a follower."""
        return 2 * self.longest + (2 * self.generations if first else 0)

    def check_height(self, height: int, *, first: bool) -> None:
        """Raise ValueError for a height below the least."""
        least = self.least_height(first=first)
        if height < least:
            raise ValueError(f"{height} rows of cells in a chain, where {least} are the least")

    def trimmed(self, i: int) -> tuple[int, int]:
        """Return how many rows pass i of the first universe leaves out, at its top and at its
        bottom."""
        if not self.trims:
            return 0, 0
        if self.torus:
            return self.starts[i + 1], self.starts[i + 1]
        return 0, self.starts[i]

    def rows_made(self, height: int, *, first: bool) -> int:
        """Return how many rows of a universe so high all passes make, each counted once for each of
        its generations."""
        if not first:
            return height * self.generations
        return sum(steps * (height - sum(self.trimmed(i))) for i, steps in enumerate(self.passes))

    @property
    def slack(self) -> int:
        """The rows of memory that a follower takes beside its own."""
        return 3 * self.longest


class LifeArena(ABC):
    """Memory for universes that take turns.

    slots: how many universes it holds at a time; one spare copy serves whichever of them
    steps. One universe steps at a time; others may be put to and got from meanwhile, by
    one or several other threads.
    chain: of open_chained(); None where there is no room for one.
    planes: of all its universes, as of LifeShape.
    """

    slots: int
    chain: LifeChain | None
    planes = 1

    @abstractmethod
    def open(self, slot: int, shape: LifeShape) -> LifeUniverse:
        """Return a universe in a slot, at generation 0.

        Its cells are undefined until every row has been put. The universe that had the
        slot before must not be used any more. Raises ValueError where it does not fit, and
        for cells in another number of bit planes than the arena's.
        """

    @abstractmethod
    def open_chained(self, slot: int, height: int, *, first: bool) -> LifeUniverse:
        """Return a universe of the arena's chain in a slot, at generation 0.

        first: it begins a chain, as a window whose first and last chain.generations rows
        are halo: they are spoiled when it has made all passes. Otherwise it follows the
        chained universe opened before: its rows are, at generation 0, the `height` rows
        next below those. In generation t they have become the rows that were t rows
        further up, and none is spoiled, but for columns at edges that are none of the
        universe's.

        step() of either makes whole passes of the chain, as next_steps() gives them, and
        raises ValueError for any other number. Universes step in the order in which they
        were opened, each after the one before has made all its passes, or step() raises
        ValueError; they may be opened and put to earlier. Raises ValueError as open(),
        for a height below chain.least_height(), and where there is no chain.
        """

    @abstractmethod
    def close(self) -> None:
        """Give the memory back; no universe of the arena may be used any more."""

    def check_slot(self, slot: int, shape: LifeShape) -> None:
        """Raise ValueError where open() must, whatever room there is."""
        if not 0 <= slot < self.slots:
            raise ValueError(f"no slot {slot}: there are {self.slots}")
        if shape.width < 1 or shape.height < 1:
            raise ValueError(f"{shape.width}x{shape.height} cells")
        check_planes([shape], planes=self.planes)

    def check_chained(self, slot: int, height: int, *, first: bool) -> LifeShape:
        """Return the shape of a universe of the chain.

        Raises ValueError where open_chained() must, whatever room there is.
        """
        if self.chain is None:
            raise ValueError("there is no chain in this arena")
        self.chain.check_height(height, first=first)
        shape = LifeShape(self.chain.width, height, self.chain.torus, self.chain.planes)
        self.check_slot(slot, shape)
        return shape


class LifeEngine(ABC, Generic[RuleT]):
    """Computes rules of one class on one target; results are the same, bit for bit, on all of them.

    Those of rules of two states and nine cells are LifeEngine[NineCellRule]: they have one bit
    plane, and refuse shapes of more. What computes rules of several states is a LifeEngine of
    another class of rules.
    """

    def universe(self, words: Words, shape: LifeShape, rule: RuleT) -> LifeUniverse:
        """Return a universe that starts as `words` (copied).

        words: all rows, as put() takes them. Raises MemoryError, and ValueError for any other
        array.
        """
        if len(words) != shape.height:
            raise ValueError(f"{len(words)} rows for a height of {shape.height}")
        universe = self.arena([shape], 1, rule).open(0, shape)
        universe.put(0, words)
        return universe

    @abstractmethod
    def arena(
        self,
        shapes: Sequence[LifeShape],
        slots: int,
        rule: RuleT,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Return memory for `slots` universes at a time, of one rule.

        shapes: of every universe that will be opened in it.
        chain: makes open_chained() possible, with room for followers of the typical height and
        of all heights in `shapes` with the chain's width and topology. Raises MemoryError, and
        ValueError as chain() does, and for cells in another number of bit planes than the rule's.
        """

    @abstractmethod
    def arena_bytes(
        self, shapes: Sequence[LifeShape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Return the bytes of host memory and of device memory that arena() would take.

        Raises ValueError as arena().
        """

    @abstractmethod
    def chain(self, shape: ChainShape) -> LifeChain:
        """Return the chain that an arena would have.

        Raises ValueError for sizes below 1, a height below 2, and planes that the engine's
        rules do not have.
        """
