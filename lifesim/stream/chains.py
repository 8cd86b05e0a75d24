"""Find which blocks of a phase follow each other, so that no row is computed twice."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernels.life.contract import LifeChain
from lifesim.store.tiling import TileBlock, TileWindow, Tiling


class Role(enum.Enum):
    """The place of a block in a chain (kernels.life.contract.LifeChain)."""

    ALONE = enum.auto()
    FIRST = enum.auto()
    FOLLOWER = enum.auto()


@dataclass(frozen=True, slots=True)
class BlockTask:
    """A block to be moved on, and the window that this takes. chain: the one that it has a place
    in, None where it stands alone."""

    block: TileBlock
    window: TileWindow
    role: Role = Role.ALONE
    chain: LifeChain | None = None

    def updates(self, generations: int) -> int:
        """Return how many updates of cells a phase of so many generations takes, halos included."""
        across, height = self.window.across.length, self.window.down.length
        if self.chain is None:
            return across * height * generations
        return across * self.chain.rows_made(height, first=self.role is Role.FIRST)


def chains(
    tiling: Tiling, todo: Sequence[TileBlock], halo: int, chain: LifeChain | None
) -> list[list[BlockTask]]:
    """Arrange blocks one below the other, so that only the first of them computes what is above it.

    halo: cells that a window has around its block; of a chain its generations. Where there is no
    chain, or nobody follows, each stands alone.
    """
    found: list[list[BlockTask]] = []
    for column in sorted({(block.left, block.right) for block in todo}):
        run: list[BlockTask] = []
        for block in [b for b in todo if (b.left, b.right) == column]:
            below = tiling.below(block, halo) if chain else None
            whole = tiling.window(block, halo)
            alone = BlockTask(block, whole)
            if not chain or not below or below.across.length != chain.width:
                found.append([alone])
                run = []
                continue
            enough = below.down.length >= chain.least_height(first=False)
            if run and run[-1].block.bottom == block.top and enough:
                if len(run) == 1:  # a block alone begins a chain when it is followed
                    window = replace(run[0].window, torus=tiling.torus)
                    run[0] = BlockTask(run[0].block, window, Role.FIRST, chain)
                run.append(BlockTask(block, below, Role.FOLLOWER, chain))
                continue
            run = [alone]
            found.append(run)
            if whole.down.length < chain.least_height(first=True):
                run = []
    return found
