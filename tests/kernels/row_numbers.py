"""Batches of integers of mixed lengths, made of Python's and back; what the pool makes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from kernels.bignum.cuda import long_rows
from kernels.bignum.cuda.layouts import Rows
from kernels.bignum.cuda.transfer import Transfer
from kernels.bignum.numbers import Numbers
from kernels.bignum.plan import Operations, PoolOperation
from kernels.targets.cuda.device import Buffer, Device

DIVISIONS = (PoolOperation.DIVMOD, PoolOperation.FLOORDIV, PoolOperation.MOD)
EDGES = (1, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025)


@st.composite
def magnitudes(draw: st.DrawFn, bits: int) -> int:
    """Sizes at the borders of words, tiles and teams; ones, single bits, long carries."""
    size = draw(st.one_of(st.sampled_from([e for e in EDGES if e <= bits]), st.integers(1, bits)))
    kind = draw(st.integers(0, 6))
    if kind == 0:
        return 0
    if kind < 4:
        return ((1 << size) - 1, 1 << size - 1, (1 << size - 1) + 1)[kind - 1]
    value = draw(st.integers(0, (1 << size) - 1))
    return value if kind < 6 else value | ((1 << size // 2) - 1) << size // 4


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.builds(lambda m, minus: -m if minus else m, magnitudes(bits), st.booleans())


def rows_of(device: Device, values: Sequence[int], *, gap: int = 0, zeros: int = 0) -> Rows:
    """gap: words that lie unused between numbers; zeros: on top of each."""
    lengths = [-(-abs(v).bit_length() // 32) + zeros for v in values]
    starts = np.cumsum([gap + n for n in lengths], dtype=np.int64) - lengths
    room = -(-(int(starts[-1]) + lengths[-1] if values else 1) // 4) * 4
    words = np.full(max(4, room), 0xDEADBEEF, np.uint32)
    for v, start, n in zip(values, starts, lengths, strict=True):
        words[start : start + n] = np.frombuffer(abs(v).to_bytes(4 * n, "little"), "<u4")
    negative = None
    if any(v < 0 for v in values):
        signs = np.zeros(-(-len(values) // 32), np.uint32)
        for k, v in enumerate(values):
            signs[k // 32] |= np.uint32((v < 0) << k % 32)
        negative = _upload(device, signs)
    return Rows(
        _upload(device, words),
        _upload(device, starts.astype(np.uint64)),
        _upload(device, np.array(lengths, np.uint64)),
        len(values),
        max(lengths, default=0),
        sum(lengths),
        negative,
    )


def ints_of(device: Device, rows: Rows) -> list[int]:
    """Return the numbers; check what a batch promises: sizes, no negative zero, numbers apart."""
    starts, lengths = (np.empty(rows.count, np.uint64) for _ in range(2))
    words = np.empty(rows.words.nbytes // 4, np.uint32)
    signs = np.zeros(-(-rows.count // 32), np.uint32)
    if rows.count:
        device.download(starts, rows.starts)
        device.download(lengths, rows.lengths)
        device.download(words, rows.words)
        if rows.negative is not None:
            device.download(signs, rows.negative)
    assert int(lengths.max(initial=0)) <= rows.longest
    assert int(lengths.sum()) <= rows.total
    order = np.argsort(starts, kind="stable")
    used = order[lengths[order] > 0]
    assert (starts[used][1:] >= (starts + lengths)[used][:-1]).all(), "numbers overlap"
    values = []
    for k, (start, n) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        value = int.from_bytes(words[start : start + n].astype("<u4").tobytes(), "little")
        negative = bool(signs[k // 32] >> np.uint32(k % 32) & 1)
        assert value or not negative, "a negative zero"
        values.append(-value if negative else value)
    return values


def expected(operation: PoolOperation, a: int, b: int) -> tuple[int, int]:
    if operation in DIVISIONS:
        quotient, remainder = divmod(a, b)
        if operation == PoolOperation.MOD:
            return remainder, 0
        return quotient, remainder if operation == PoolOperation.DIVMOD else 0
    return {
        PoolOperation.ADD: a + b,
        PoolOperation.SUBTRACT: a - b,
        PoolOperation.MULTIPLY: a * b,
        PoolOperation.GCD: math.gcd(a, b),
        PoolOperation.COMPARE: (a > b) - (a < b),
    }[operation], 0


def _upload(device: Device, array: np.ndarray) -> Buffer:
    buffer = device.alloc(max(16, array.nbytes))
    device.upload(buffer, np.ascontiguousarray(array))
    return buffer


def run_pool(
    device: Device, operations: Operations, a: Numbers, b: Numbers
) -> tuple[Numbers, Numbers | None]:
    """Compute from and to the host, long numbers too."""
    transfer = Transfer(device)
    found = long_rows.run(device, operations, transfer.put_rows(a), transfer.put_rows(b))
    results, remainders = found
    return transfer.get_rows(results), remainders and transfer.get_rows(remainders)
