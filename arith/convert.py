"""Between Numbers and numpy arrays, bytes, limbs: all that needs no arithmetic.

The layout of limbs: 64-bit words, the lowest first; see kernels/bignum/numbers.py.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kernels.bignum.errors import IndexedOverflowError
from kernels.bignum.numbers import Mask, Numbers, Words64
from kernels.targets.dlpack import host_array

from .memory import refuse

ByteOrder = Literal["little", "big"]

_FEW = 16  # numbers that are looked at one after the other


def from_numpy(values: npt.NDArray[Any]) -> Numbers:
    """Return a batch of a 1-D array of any integer or boolean dtype."""
    magnitudes = values.astype(np.uint64)
    negative = None
    if values.dtype.kind == "i":
        negative = values < 0
        # Two's complement: right for the smallest number too.
        np.negative(magnitudes, out=magnitudes, where=negative)
    return dense(magnitudes.reshape(-1, 1), negative)


def to_numpy(numbers: Numbers, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return numbers as a dtype. Raises OverflowError, naming the first index that does not fit."""
    wanted = np.dtype(dtype)
    if wanted.kind not in "iu":
        raise TypeError(f"an integer dtype is wanted, not {wanted}")
    limits = np.iinfo(wanted)
    low, too_large = lowest_words(numbers)
    negative = numbers.negative
    if negative is None:
        too_large |= low > np.uint64(limits.max)
        result = low.astype(wanted)
    else:
        bound = np.where(negative, np.uint64(-int(limits.min)), np.uint64(limits.max))
        too_large |= low > bound
        result = np.where(negative, np.negative(low), low).astype(wanted)
    if too_large.any():
        raise IndexedOverflowError("the number", int(too_large.argmax()), f" leaves {wanted}")
    return result


def lowest_words(numbers: Numbers) -> tuple[Words64, Mask]:
    """Return the lowest words, uint64 (count), and which numbers have more than that."""
    if numbers.dense:
        words = limbs_of(numbers)
        low = words[:, 0] if words.shape[1] else np.zeros(len(words), np.uint64)
        large: Mask = np.asarray(words[:, 1:].any(axis=1))
        return low, large
    # Not by limbs_of(), which has room for the longest number in every row.
    starts, lengths = numbers.start_array(), numbers.length_array()
    low, more = np.zeros(len(starts), np.uint64), np.zeros(len(starts), np.bool_)
    low[lengths > 0] = numbers.words[starts[lengths > 0]]
    left, top = np.flatnonzero(lengths > 1), lengths - 1
    while len(left) > _FEW:  # those whose words were zero from the topmost down
        found = numbers.words[starts[left] + top[left]] != 0
        more[left[found]] = True
        left = left[~found]
        top[left] -= 1
        left = left[top[left] > 0]
    for i in left:
        more[i] = numbers.words[starts[i] + 1 : starts[i] + lengths[i]].any()
    return low, more


def from_limbs(limbs: Any, negative: npt.NDArray[Any] | None) -> Numbers:
    """Return a batch of uint64 or uint32 limbs (count, width), lowest first, a number a row."""
    if any(hasattr(limbs, name) for name in ("__dlpack__", "__cuda_array_interface__")):
        limbs = host_array(limbs)
    if not isinstance(limbs, np.ndarray):
        raise TypeError(f"limbs are a numpy array, not {type(limbs).__name__}")
    if limbs.ndim != 2 or limbs.dtype not in (np.dtype(np.uint64), np.dtype(np.uint32)):
        raise TypeError(
            f"limbs are uint64 or uint32 (count, width), not {limbs.dtype} {limbs.shape}"
        )
    if negative is not None:
        negative = np.asarray(negative)
        if negative.dtype != np.bool_ or negative.shape != limbs.shape[:1]:
            raise ValueError(
                f"negative is bool {limbs.shape[:1]}, not {negative.dtype} {negative.shape}"
            )
    if limbs.dtype == np.uint32:
        if limbs.shape[1] % 2 or not limbs.flags.c_contiguous or limbs.ctypes.data % 8:
            even = np.zeros((len(limbs), limbs.shape[1] + limbs.shape[1] % 2), np.uint32)
            even[:, : limbs.shape[1]] = limbs
            limbs = even
        limbs = limbs.view(np.uint64)
    return dense(limbs, negative)


def dense(limbs: Words64, negative: Mask | None) -> Numbers:
    """Return rows as dense numbers, without copying where their words lie one after the other."""
    count, width = limbs.shape
    inner, outer = limbs.strides[1], limbs.strides[0]
    if count and width and ((width > 1 and inner != 8) or outer % 8 or outer < 8 * width):
        limbs = np.ascontiguousarray(limbs)
        outer = limbs.strides[0]
    if not count or not width:
        return Numbers(np.empty(0, np.uint64), count, 0, 0, negative=None)
    step = outer // 8 if count > 1 else width
    words = np.lib.stride_tricks.as_strided(limbs, ((count - 1) * step + width,), (8,))
    if negative is not None:
        nonzero = limbs.any(axis=1)
        negative = np.ascontiguousarray(negative & nonzero)
        if not negative.any():
            negative = None
    return Numbers(words, count, width, step, negative=negative)


def limbs_of(numbers: Numbers) -> Words64:
    """Return uint64 (count, width); a view where the numbers lie at equal distances."""
    count, width = numbers.count, numbers.width
    if numbers.dense:
        return np.lib.stride_tricks.as_strided(
            numbers.words, (count, width), (8 * numbers.step, 8), writeable=False
        )
    refuse(9 * count * width, "an array with room for the longest in every row")
    limbs = np.zeros((count, width), np.uint64)
    packed = pack(numbers)
    limbs[np.arange(width) < packed.length_array()[:, None]] = packed.words
    return limbs


def pack(numbers: Numbers) -> Numbers:
    """Return the same numbers with their words one after the other, and no others; ragged."""
    lengths = numbers.length_array()
    starts = np.zeros(numbers.count, np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    total = int(lengths.sum())
    refuse((8 if numbers.dense else 24) * total, "a copy of all words")
    if numbers.dense:
        words = np.ascontiguousarray(limbs_of(numbers)).reshape(-1)
    else:
        words = numbers.words[
            np.repeat(numbers.start_array() - starts, lengths) + np.arange(total, dtype=np.int64)
        ]
    return Numbers(words, numbers.count, numbers.width, 0, starts, lengths, numbers.negative)


def from_bytes(data: Any, width: int, byteorder: ByteOrder, *, signed: bool) -> Numbers:
    """Numbers of `width` bytes each, one after the other in any buffer."""
    raw = np.frombuffer(data, np.uint8)
    if width < 1 or len(raw) % width:
        raise ValueError(f"{len(raw)} bytes are no multiple of {width}")
    rows = raw.reshape(-1, width)
    if byteorder == "big":
        rows = rows[:, ::-1]
    elif byteorder != "little":
        raise ValueError(f"byteorder is 'little' or 'big', not {byteorder!r}")
    padded = np.zeros((len(rows), -(-width // 8) * 8), np.uint8)
    padded[:, :width] = rows
    negative = None
    if signed:
        negative = rows[:, -1] >= 128
        padded[:, width:][negative] = 255
    limbs = padded.view(np.uint64)
    if negative is not None and negative.any():
        limbs = limbs.copy()
        limbs[negative] = _complement(limbs[negative])
    return dense(limbs, negative)


def to_bytes(numbers: Numbers, width: int, byteorder: ByteOrder, *, signed: bool) -> bytes:
    """Return `width` bytes each. Raises OverflowError, naming the first index that does not fit."""
    if width < 1:
        raise ValueError(f"a number takes at least 1 byte, not {width}")
    if byteorder not in ("little", "big"):
        raise ValueError(f"byteorder is 'little' or 'big', not {byteorder!r}")
    negative = numbers.negative
    room = max(-(-width // 8), numbers.width)
    refuse(10 * numbers.count * room + numbers.count * width, "the buffer")
    limbs = limbs_of(numbers)
    padded = np.zeros((len(limbs), room), np.uint64)
    padded[:, : limbs.shape[1]] = limbs
    if negative is not None:
        if not signed:
            raise IndexedOverflowError("the number", int(negative.argmax()), " is negative")
        padded[negative] = _complement(padded[negative])
    raw = padded.view(np.uint8)
    # What is cut off must repeat the sign, and so must the top bit if it is one.
    sign = np.zeros(len(raw), np.uint8) if negative is None else negative * np.uint8(255)
    lost = (raw[:, width:] != sign[:, None]).any(axis=1)
    if signed:
        lost |= (raw[:, width - 1] ^ sign) >= 128
    if lost.any():
        raise IndexedOverflowError("the number", int(lost.argmax()), f" needs over {width} bytes")
    kept = raw[:, :width]
    return np.ascontiguousarray(kept if byteorder == "little" else kept[:, ::-1]).tobytes()


def _complement(limbs: Words64) -> Words64:
    """Return the two's complement of rows of limbs."""
    flipped = ~limbs
    carry = np.ones(len(limbs), np.bool_)
    for column in range(limbs.shape[1]):
        flipped[:, column] += carry
        carry &= flipped[:, column] == 0
    return flipped


def ragged(
    words: npt.NDArray[Any], lengths: npt.NDArray[Any], negative: npt.NDArray[Any] | None
) -> Numbers:
    """Return a batch of words one after the other, as pack() leaves them.

    Raises ValueError where the arrays contradict each other.
    """
    words = np.ascontiguousarray(words, np.uint64)
    lengths = np.ascontiguousarray(lengths, np.int64)
    if words.ndim != 1 or lengths.ndim != 1:
        raise ValueError("limbs and lengths have one dimension")
    check_lengths(lengths, len(words))
    starts = np.zeros(len(lengths), np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    if negative is not None:
        negative = np.asarray(negative)
        if negative.dtype != np.bool_ or negative.shape != lengths.shape:
            raise ValueError(f"signs are bool {lengths.shape}")
        # Zero is never negative.
        nonzero = lengths > 0
        if nonzero.any():
            nonzero[nonzero] = np.logical_or.reduceat(words != 0, starts[nonzero])
        negative = np.ascontiguousarray(negative & nonzero)
        negative = negative if negative.any() else None
    return Numbers(words, len(lengths), int(lengths.max(initial=0)), 0, starts, lengths, negative)


def check_lengths(lengths: npt.NDArray[np.int64], limbs: int) -> None:
    """Raise ValueError where lengths do not add up to so many limbs."""
    if (lengths < 0).any() or (lengths > limbs).any() or int(lengths.sum(dtype=object)) != limbs:
        raise ValueError(f"the lengths do not add up to the {limbs} limbs there are")
