"""The contract between the engines and the hardware."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Shape = tuple[int, int, bool]  # width, height, torus
ChainShape = tuple[int, int, bool, int]  # width, generations, torus, height of a typical follower

PAGE = 4096


class BackendUnavailableError(RuntimeError):
    """The backend asked for cannot run here; the message says why, in one line."""


class LifeUniverse(ABC):
    """A universe of Life-like cells in a backend's own memory.

    generation: how many generations it has been moved on since it was made.
    stride: a number of generations that step() does without waste; others cost more.
    """

    width: int
    height: int
    generation: int
    stride: int

    @abstractmethod
    def step(self, generations: int) -> None:
        """Move on by generations >= 0.

        Interrupted (KeyboardInterrupt), the universe stands at a whole generation,
        which `generation` tells, and can go on from there.
        """

    def next_steps(self, at_most: int) -> int:
        """What to give step() next, so that it makes whole passes, of at_most >= 1 generations.

        It is not more than at_most, but in a chain at least one pass, and 0 after the last.
        """
        return at_most - at_most % self.stride or at_most

    @abstractmethod
    def put(self, y: int, words: Words) -> None:
        """Set the cells of rows y to y + len(words) - 1; on return `words` is the caller's again.

        words: C-contiguous uint64 (rows, ceil(width / 64)), padding bits zero. Raises
        ValueError for any other array and for rows outside. Any number of threads may
        put and get different rows at once, while no thread steps this universe.
        """

    @abstractmethod
    def get(self, y: int, words: Words) -> None:
        """Write rows y to y + len(words) - 1 into `words`, padding bits zero; else as put()."""

    def words(self) -> Words:
        """The cells, packed: uint64 (height, ceil(width / 64)), padding bits zero.

        The array is the caller's: later steps do not change it.
        """
        words = np.empty((self.height, -(-self.width // 64)), np.uint64)
        self.get(0, words)
        return words

    def check_rows(self, y: int, words: Words, *, written: bool = False) -> None:
        """Raises ValueError where put() or, if written, get() must."""
        row_words = -(-self.width // 64)
        if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != row_words:
            raise ValueError(f"{words.dtype} {words.shape} for rows of {row_words} uint64")
        if not words.flags.c_contiguous or (written and not words.flags.writeable):
            raise ValueError("rows must be C-contiguous, and writable where they are written")
        if y < 0 or y + len(words) > self.height:
            raise ValueError(f"rows {y} to {y + len(words) - 1} of {self.height}")


@dataclass(frozen=True)
class LifeChain:
    """How blocks of a tall universe, top to bottom, are moved on with no row computed twice.

    Every pass moves the rows that a block holds up by as many rows as it makes generations.
    The rows above that it needs for this, twice as many, are those that the block before
    has left behind before the same pass of its own. The first block of a chain has none
    before: it is a window with a halo of `generations` rows above and below.

    passes: generations of each pass, the same for all blocks.
    """

    width: int
    torus: bool
    passes: tuple[int, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Generations made before each pass, and after the last."""
        return tuple(accumulate(self.passes, initial=0))

    @property
    def generations(self) -> int:
        return self.starts[-1]

    @cached_property
    def longest(self) -> int:
        """Generations of the longest pass."""
        return max(self.passes)

    def least_height(self, *, first: bool) -> int:
        """Of a first universe, or of a follower."""
        return 2 * self.longest + (2 * self.generations if first else 0)

    def check_height(self, height: int, *, first: bool) -> None:
        """Raises ValueError for one below the least."""
        least = self.least_height(first=first)
        if height < least:
            raise ValueError(f"{height} rows of cells in a chain, where {least} are the least")

    @property
    def slack(self) -> int:
        """Rows of memory that a follower takes beside its own."""
        return 3 * self.longest


class LifeArena(ABC):
    """Memory for universes that take turns.

    slots: how many universes it holds at a time; one spare copy serves whichever of them
    steps. One universe steps at a time; others may be put to and got from meanwhile, by
    one or several other threads.
    chain: of open_chained(); None where there is no room for one.
    """

    slots: int
    chain: LifeChain | None

    @abstractmethod
    def open(self, slot: int, width: int, height: int, *, torus: bool) -> LifeUniverse:
        """A universe in a slot, at generation 0.

        Its cells are undefined until every row has been put. The universe that had the
        slot before must not be used any more. Raises ValueError where it does not fit.
        """

    @abstractmethod
    def open_chained(self, slot: int, height: int, *, first: bool) -> LifeUniverse:
        """A universe of the arena's chain in a slot, at generation 0.

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


class ChainTurns:
    """Where the chained universes of one arena are.

    opened: how many there were. stepping: the number of the one that has stepped last, and
    made: the passes that it has made.
    """

    def __init__(self, chain: LifeChain) -> None:
        self.chain = chain
        self.opened = self.stepping = self.made = 0


class ChainedUniverse(LifeUniverse):
    """What the universes of a chain have in common on all backends: the order of things.

    A backend says how to take what the one before has left, how to leave rows behind for
    the one after, and how to make a pass. Entry i of the history is both: before pass i it
    is taken, and replaced by what is left.
    """

    def __init__(self, turns: ChainTurns, height: int, *, first: bool) -> None:
        turns.chain.check_height(height, first=first)
        self.chain, self.first = turns.chain, first
        self.width, self.height, self.generation = self.chain.width, height, 0
        self.stride = self.chain.longest
        # The row of the memory at which row 0 stands: in front is room for what is taken.
        self.base = 0 if first else 2 * self.chain.longest
        self._turns = turns
        self._number = turns.opened = turns.opened + 1
        self._taken = -1  # the pass that has what it takes

    def next_steps(self, at_most: int) -> int:
        starts, made = self.chain.starts, self._passes_made()
        after = max(made + 1, bisect_right(starts, self.generation + at_most) - 1)
        return starts[min(after, len(starts) - 1)] - self.generation

    def _passes_made(self) -> int:
        return bisect_left(self.chain.starts, self.generation)

    def step(self, generations: int) -> None:
        starts, made = self.chain.starts, self._passes_made()
        after = bisect_left(starts, self.generation + generations)
        if after < made or after == len(starts) or starts[after] != self.generation + generations:
            raise ValueError(f"{generations} generations from {self.generation} are no passes")
        if after == made:
            return
        self._await_turn(made)
        for i in range(made, after):
            # A pass that was interrupted finds its entry replaced: it takes nothing anew.
            if not self.first and self._taken != i:
                self._take(i)
                self._taken = i
            self._leave(i)
            self._make(i)

    def _await_turn(self, made: int) -> None:
        """Raises ValueError where another has to step first, or has stepped since."""
        turns = self._turns
        if turns.stepping == self._number:
            return
        if made:
            raise ValueError("another universe of the chain has stepped since")
        before = self._number - 1, len(self.chain.passes)
        if not self.first and (turns.stepping, turns.made) != before:
            raise ValueError("the universe before in the chain has not made all its passes")
        turns.stepping, turns.made = self._number, 0

    def left_rows(self, i: int) -> tuple[int, int]:
        """First and last + 1 of the rows to leave behind before pass i."""
        end = self.height - (self.chain.starts[i] if self.first else 0)
        return end - 2 * self.chain.passes[i], end

    def entry(self, i: int) -> tuple[int, int]:
        """First and last + 1 of the rows of the history that pass i takes and leaves."""
        return 2 * self.chain.starts[i], 2 * self.chain.starts[i + 1]

    @abstractmethod
    def _take(self, i: int) -> None:
        """Copy entry i of the history to right in front of row 0."""

    @abstractmethod
    def _leave(self, i: int) -> None:
        """Copy left_rows(i) to entry i of the history."""

    @abstractmethod
    def _make(self, i: int) -> None:
        """Make pass i, and count it in `generation` and `made` of the turns.

        A follower's is over what it has taken and its rows, 2 passes[i] more; `height` rows
        of the result from passes[i] on are its rows then.
        """


def even_passes(generations: int, longest: int) -> tuple[int, ...]:
    """As few passes as can be, none longer by two than another."""
    count = -(-generations // longest)
    return tuple(generations // count + (i < generations % count) for i in range(count))


def with_slack(shapes: Sequence[Shape], shape: ChainShape, chain: LifeChain) -> list[Shape]:
    """`shapes` and the typical follower, those that may follow with what they take beside."""
    width, _, torus, height = shape
    return [
        (w, h + chain.slack if (w, on) == (width, torus) else h, on)
        for w, h, on in (*shapes, (width, height, torus))
    ]


def check_chain(chain: ChainShape) -> None:
    """Raises ValueError for sizes that make no chain."""
    width, generations, _, height = chain
    if width < 1 or generations < 1 or height < 2:
        raise ValueError(f"no chain of {width}x{height} cells for {generations} generations")


class Backend(ABC):
    """One way to compute. Results are the same, bit for bit, on every backend."""

    name: str

    @abstractmethod
    def describe(self) -> str:
        """What computes, in a few words: device, level, threads."""

    def life(
        self, words: Words, width: int, height: int, *, torus: bool, birth: int, survival: int
    ) -> LifeUniverse:
        """A universe that starts as `words` (copied).

        words: C-contiguous uint64 (height, ceil(width / 64)), padding bits zero.
        torus: whether edges meet; otherwise all outside is dead for ever.
        birth, survival: bit sets of neighbour counts, 0 to 511. Raises MemoryError,
        and ValueError for any other array.
        """
        if len(words) != height:
            raise ValueError(f"{len(words)} rows for a height of {height}")
        arena = self.life_arena([(width, height, torus)], 1, birth=birth, survival=survival)
        universe = arena.open(0, width, height, torus=torus)
        universe.put(0, words)
        return universe

    @abstractmethod
    def life_arena(
        self,
        shapes: Sequence[Shape],
        slots: int,
        *,
        birth: int,
        survival: int,
        chain: ChainShape | None = None,
    ) -> LifeArena:
        """Memory for `slots` universes at a time, of one rule (see life()).

        shapes: (width, height, torus) of every universe that will be opened in it.
        chain: for open_chained(), with room for followers of the typical height and of all
        heights in `shapes` with the chain's width and topology. Raises MemoryError, and
        ValueError as life_chain().
        """

    @abstractmethod
    def arena_bytes(
        self, shapes: Sequence[Shape], slots: int, chain: ChainShape | None = None
    ) -> tuple[int, int]:
        """Bytes of host memory and of device memory that life_arena() would take."""

    @abstractmethod
    def life_chain(self, chain: ChainShape) -> LifeChain:
        """The chain of a life_arena(). Raises ValueError for sizes below 1, a height below 2."""

    @abstractmethod
    def free_device_memory(self) -> int | None:
        """Bytes; None where it computes in host memory."""

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """Uninitialised host memory (nbytes,) that put() and get() copy fastest from and to.

        It starts at a page. Views of it serve as well. Raises MemoryError.
        """
        memory = np.empty(nbytes + PAGE, np.uint8)
        start = -memory.ctypes.data % PAGE
        return memory[start : start + nbytes]
