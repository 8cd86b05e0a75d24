"""The contract between a CUDA kernel that computes charts and the engine that feeds it."""

from __future__ import annotations

from typing import Protocol

from kernels.targets.cuda.device import Buffer, Slice


class Columns(Protocol):
    """Computes charts of groups of strings of one length, for the rules it was made for.

    lanes: 32-bit words of a group, whose strings are 32 * lanes. symbols: of a chart, those of
    the rules and perhaps more, which are never set. side: how many symbols' words of a lane
    lie side by side; it divides symbols. blocks: groups for each multiprocessor that are
    best computed in one launch.
    """

    lanes: int
    symbols: int
    side: int
    blocks: int

    def run(self, chart: Buffer | Slice, groups: int, length: int) -> None:
        """Queue the computing of all charts, and return at once.

        chart: uint32 (groups, cells(length), symbols / side, lanes, side), on the device.
            Before, the cells (j - 1, j) hold the lexical bits, not yet closed under units, and
            what the others hold does not matter. After, every cell is final.
        """
