"""Code for dense.cu that is generated from the rules of a small grammar.

A warp that has computed a tile of pairs makes symbols of it at once, in registers, by ORs
that are written out: "to[3*ROW]=p[0]|p[17];" for the rules 3 → 0 0 and 3 → 2 1 of the first
tile. No pairs go through shared memory, and no lists of them are read. It takes a compiler
seconds, so that it pays only for very many strings.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..rules import Rules
from .dense_plan import MAX_WARPS, DensePlan, below, join, kept, padded, ring, room, single_tokens
from .lists import Lists, ListWriter
from .tiles import TILE, slots, tiles

MOST = 12_000  # rules: some 6 characters each, in an argument that may have 128 KiB


def enough(rules: Rules) -> bool:
    """Return whether there are so many rules that generated code is quicker than lists of them: in
    any case a row of each symbol and warp is read.
    """
    return len(rules.binary) >= 2 * padded(rules.symbols) ** 3 // TILE**2


def circuit(rules: Rules, shared: int = 227 * 1024) -> DensePlan | None:
    """Return a plan for one tile a warp.

    None where there are more tiles, or too many rules, or too little shared memory: so many
    bytes that a block can have.
    """
    rows = padded(rules.symbols)
    if (rows // TILE) ** 2 > MAX_WARPS or len(rules.binary) > MOST:
        return None
    places, tile_of = tiles(rules)
    warps = len(places)
    codes, runs, count = slots(places, 1, warps)
    writer = ListWriter(warps, rows * warps)
    # Of each symbol, the rows of all warps.
    symbol, of = below(rules)
    parts = (of[:, None] * warps + np.arange(warps)).reshape(-1)
    made = Lists.of(np.arange(rows), np.repeat(symbol, warps), parts)
    heads = [codes, runs, writer.write(made), writer.write(single_tokens(rules))]
    program = writer.program()
    left = room(shared) - rows * warps
    best = ring(count, shared, left, -(-len(program) // 2))
    if best is None:
        return None
    step, depth, size = best

    a, b, c = rules.binary.astype(np.int64).T
    bits = np.zeros((warps, rows), np.uint64)
    pair = (b % TILE * TILE + c % TILE).astype(np.uint64)
    np.bitwise_or.at(bits, (tile_of[b // TILE, c // TILE], a), np.uint64(1) << pair)
    return DensePlan(
        symbols=rows,
        warps=warps,
        passes=1,
        buckets=0,
        units=bool(len(rules.units)),
        slots=count,
        runs=runs.shape[1],
        step=step,
        depth=depth,
        kept=kept(len(program), left - size),
        wires=_wires(bits),
        heads=join(heads),
        program=program,
    )


def _wires(bits: npt.NDArray[np.uint64]) -> str:
    """Return the body of a switch over warps. bits: of each and each symbol, the set of its
    pairs."""
    cases = []
    for warp, masks in enumerate(bits.tolist()):
        lines = [f"case {warp}:"]
        for symbol, mask in enumerate(masks):
            terms = [f"p[{q}]" for q in range(TILE * TILE) if mask >> q & 1]
            lines.append(f"to[{symbol}*ROW]={'|'.join(terms) or 0};")
        cases.append("".join([*lines, "break;"]))
    return "".join(cases)
