"""Count how many numbers may be expanded so that a limit on elements is kept."""

from __future__ import annotations

import numpy as np

from kernels.transformations import Enumerator, Maps

_FEW = 256  # numbers that are expanded at once before it pays to look products up
_PEEKED = 4 << 20  # bytes of products that are looked up in advance near a limit


def numbers_within(enumerator: Enumerator, most: int | None) -> int:
    """Return how many numbers may be expanded so that no more than `most` can be found.

    Near the limit products are looked up first, of ever more numbers: they may be known.
    """
    if most is None:
        return enumerator.waiting
    generators = enumerator.problem.generators
    room = max(0, most - enumerator.size)
    count = room // enumerator.problem.letters
    if count >= _FEW:
        return min(count, enumerator.waiting)
    most_at_once = min(enumerator.waiting, max(1, _PEEKED // generators.nbytes))
    ahead = 2 * count or 1
    while ahead <= most_at_once and _new_elements(enumerator, ahead) <= room:
        count, ahead = ahead, 2 * ahead
    return min(count, enumerator.waiting)


def _new_elements(enumerator: Enumerator, count: int) -> int:
    """Return how many elements, at most, the next numbers' products will add."""
    start = enumerator.expanded
    maps = enumerator.maps(np.arange(start, start + count))
    products: Maps = np.concatenate([images[maps] for images in enumerator.problem.generators])
    unknown = products[enumerator.positions(products) < 0]
    return len({row.tobytes() for row in unknown})
