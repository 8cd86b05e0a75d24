"""Bytes and passes of universes, arenas and chains on a device: pure functions of sizes."""

from __future__ import annotations

from collections.abc import Sequence

from kernels.life.chain import check_chain, with_slack
from kernels.life.contract import ChainShape, LifeChain, LifeShape
from kernels.life.costs import CUDA_TUNING, CudaTuning
from kernels.life.plan import SHORT_PASSES, CudaLayout, CudaPlan, choose_cuda, pass_steps

BAND_BYTES = 1 << 26  # of rows that are packed or unpacked at once


def row_bytes(layout: CudaLayout) -> int:
    """Return the bytes of a row of all panels."""
    return 4 * layout.parts * layout.panels * layout.row_words


def layout_bytes(layout: CudaLayout, height: int) -> int:
    """Return the bytes of a universe in panels.

    Raises MemoryError where the kernels do not reach that far.
    """
    if layout.parts * layout.panels * height * layout.lanes >= 1 << 32:
        raise MemoryError(
            f"{layout.period}x{height} cells are more than one device's kernels address"
        )
    return height * row_bytes(layout)


def slot_bytes(
    shapes: Sequence[LifeShape], multiprocessors: int, tuning: CudaTuning = CUDA_TUNING
) -> int:
    """Return the bytes of a buffer that holds a universe of any of the shapes."""
    return max(
        layout_bytes(plan_of(shape, multiprocessors, tuning).layout, shape.height)
        for shape in shapes
    )


def plan_of(shape: LifeShape, multiprocessors: int, tuning: CudaTuning = CUDA_TUNING) -> CudaPlan:
    """Return the plan of the longest passes over a universe of that shape."""
    return choose_cuda(shape.width, shape.height, shape.torus, multiprocessors, tuning)


def staging_bytes(shapes: Sequence[LifeShape], slots: int) -> int:
    """Return the bytes that one thread that puts and one that gets take to pack and unpack rows."""
    raw = max(
        min(8 * shape.planes * shape.row_words * shape.height, BAND_BYTES) for shape in shapes
    )
    return min(slots, 2) * raw


def chain_plan(
    chain: ChainShape, multiprocessors: int, tuning: CudaTuning = CUDA_TUNING
) -> CudaPlan:
    """Return the plan whose layout all universes of a chain have.

    Raises ValueError for sizes that make no chain.
    """
    check_chain(chain)
    return choose_cuda(chain.width, chain.height, chain.torus, multiprocessors, tuning)


def chain_of(chain: ChainShape, plan: CudaPlan) -> LifeChain:
    """Return a chain of passes as long as the plan's, or shorter where the height is too small."""
    longest = next(s for s in (plan.steps, *SHORT_PASSES) if s <= chain.height // 2)
    passes = [
        steps for steps, count in pass_steps(chain.generations, longest) for _ in range(count)
    ]
    return LifeChain(chain.width, chain.torus, tuple(passes), chain.planes)


def device_chain(
    chain: ChainShape, multiprocessors: int, tuning: CudaTuning = CUDA_TUNING
) -> LifeChain:
    """Return the chain that an arena of a device has."""
    return chain_of(chain, chain_plan(chain, multiprocessors, tuning))


def chain_bytes(
    shapes: Sequence[LifeShape], shape: ChainShape, layout: CudaLayout, chain: LifeChain
) -> tuple[int, int]:
    """Return the bytes of a slot that holds any of the chain's universes, and of the history."""
    slot = max(
        layout_bytes(layout, one.height)
        for one in with_slack(shapes, shape, chain)
        if (one.width, one.torus) == (chain.width, chain.torus)
    )
    return slot, 2 * chain.generations * row_bytes(layout)


def device_bytes(
    shapes: Sequence[LifeShape],
    slots: int,
    multiprocessors: int,
    chain: ChainShape | None = None,
    tuning: CudaTuning = CUDA_TUNING,
) -> int:
    """Return the bytes that an arena takes, with the staging of one thread that puts and one that
    gets."""
    slot, history = slot_bytes(shapes, multiprocessors, tuning), 0
    if chain is not None:
        layout = chain_plan(chain, multiprocessors, tuning).layout
        made = device_chain(chain, multiprocessors, tuning)
        chained, history = chain_bytes(shapes, chain, layout, made)
        slot = max(slot, chained)
        shapes = [*shapes, LifeShape(chain.width, chain.height, chain.torus, chain.planes)]
    return (slots + 1) * slot + history + staging_bytes(shapes, slots)
