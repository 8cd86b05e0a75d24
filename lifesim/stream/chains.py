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
    """A block to be moved on, and the window that this takes."""

    block: TileBlock
    window: TileWindow
    role: Role = Role.ALONE

    @property
    def cells(self) -> int:
        """Return the number of cells of the window."""
        return self.window.across.length * self.window.down.length


def chains(
    tiling: Tiling, todo: Sequence[TileBlock], generations: int, chain: LifeChain | None
) -> list[list[BlockTask]]:
    """Arrange blocks one below the other, so that only the first of them computes what is above it.

    Where there is no chain, or nobody follows, each stands alone.
    """
    found: list[list[BlockTask]] = []
    for column in sorted({(block.left, block.right) for block in todo}):
        run: list[BlockTask] = []
        for block in [b for b in todo if (b.left, b.right) == column]:
            below = tiling.below(block, generations) if chain else None
            whole = tiling.window(block, generations)
            alone = BlockTask(block, whole)
            if not chain or not below or below.across.length != chain.width:
                found.append([alone])
                run = []
                continue
            enough = below.down.length >= chain.least_height(first=False)
            if run and run[-1].block.bottom == block.top and enough:
                if len(run) == 1:  # a block alone begins a chain when it is followed
                    window = replace(run[0].window, torus=tiling.torus)
                    run[0] = BlockTask(run[0].block, window, Role.FIRST)
                run.append(BlockTask(block, below, Role.FOLLOWER))
                continue
            run = [alone]
            found.append(run)
            if whole.down.length < chain.least_height(first=True):
                run = []
    return found
