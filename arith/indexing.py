"""What stands in brackets after an array of one dimension, as numpy understands it."""

from __future__ import annotations

import operator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Chosen: TypeAlias = "int | slice | npt.NDArray[np.int64]"


def chosen(index: Any, count: int) -> Chosen:
    """Return the place, slice or places that `index` takes from an array of `count` numbers.

    The result is an int in 0..count - 1 (one number), a slice, or int64 of such places, in
    the order asked for. `...` and `()` take all. Raises IndexError for what has no place,
    for a mask of another length, for True, False, None and several indices, which ask for
    other dimensions than one, and for what is no index.
    """
    if isinstance(index, tuple):
        index = _alone(index)
    if isinstance(index, np.ndarray) and index.ndim == 0:
        index = index[()]
    if isinstance(index, slice):
        return index
    if index is ...:
        return slice(None)
    if index is None or isinstance(index, (bool, np.bool_)):
        raise IndexError(f"an IntArray has one dimension, and {index} as its index asks for two")
    if isinstance(index, (np.ndarray, list)):
        return _places(index, count)
    try:
        at = operator.index(index)
    except TypeError:
        raise IndexError(
            "an index is an integer, a slice, a sequence of integers or a mask,"
            f" not {type(index).__name__}"
        ) from None
    if not -count <= at < count:
        raise IndexError(f"index {at} of an IntArray of {count}")
    return at % count


def _alone(indices: tuple[Any, ...]) -> Any:
    """Return the one index of a tuple, which may have `...` beside it."""
    rest = [index for index in indices if index is not ...]
    if len(rest) > 1 or len(indices) - len(rest) > 1:
        raise IndexError(f"an IntArray has one dimension, not the {len(indices)} of this index")
    return rest[0] if rest else ...


def _places(index: npt.NDArray[Any] | list[Any], count: int) -> npt.NDArray[np.int64]:
    try:
        found = np.asarray(index)
    except ValueError:  # lists of different lengths in a list
        raise IndexError("an IntArray has one dimension, the index has more") from None
    if found.ndim != 1:
        raise IndexError(f"an IntArray has one dimension, the index {found.shape}")
    if found.dtype == np.bool_:
        if len(found) != count:
            raise IndexError(f"a mask of {len(found)} for an IntArray of {count}")
        return np.flatnonzero(found).astype(np.int64, copy=False)
    if isinstance(index, list) and not index:
        return np.empty(0, np.int64)
    if found.dtype.kind not in "iu":
        raise IndexError(f"indices are integers or a mask, not {found.dtype}")
    bad = (found < -count) | (found >= count)
    if bad.any():
        raise IndexError(f"index {int(found[bad.argmax()])} of an IntArray of {count}")
    places = found.astype(np.int64)  # `count` need not fit the index's own dtype
    places[places < 0] += count
    return places
