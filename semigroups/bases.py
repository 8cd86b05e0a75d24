"""Choose points on whose images maps are told apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.transformations import EnumerationProblem, Maps, NumberArray

_CANDIDATES = 8  # points whose orbits are followed
_STEPS = 200  # for how long
_WHOLE = 4  # beyond 1 / 4 of all points, all are taken


def first_points(generators: Maps) -> NumberArray:
    """Return one point, of a long orbit: (1,).

    Orbits of points that are no images of others are the longest there are, if there are such
    points. They are followed for so many steps.
    """
    inner, moved = (np.zeros(generators.shape[1], np.bool_) for _ in range(2))
    for images in generators:
        moves = images != np.arange(len(images))
        moved |= moves
        inner[images[moves]] = True
    outer = np.flatnonzero(moved & ~inner)
    if not outer.size:
        outer = np.flatnonzero(moved) if moved.any() else np.zeros(1, np.int64)
    chosen = outer[np.linspace(0, len(outer) - 1, min(_CANDIDATES, len(outer))).astype(np.int64)]
    orbits = [0] * len(chosen) if len(chosen) == 1 else [_reached(generators, p) for p in chosen]
    return chosen[[int(np.argmax(orbits))]].astype(np.uint32)


def _reached(generators: Maps, point: int) -> int:
    """Return how many points are reached in so many steps."""
    seen = np.zeros(generators.shape[1], np.bool_)
    seen[point] = True
    edge = np.array([point])
    for _ in range(_STEPS):
        targets = generators[:, edge].ravel()
        edge = np.unique(targets[~seen[targets]])
        if not edge.size:
            break
        seen[edge] = True
    return int(np.count_nonzero(seen))


def more_points(problem: EnumerationProblem, failed: npt.NDArray[np.bool_]) -> NumberArray:
    """Return others besides, ascending, so that each of some rules fails at one of them.

    failed: (rules, degree), where they fail. All points where they would be a good part of all:
    to tell them apart saves little then. Each time there are half as many again at least, so
    that it is not done often.
    """
    points = set(problem.points.tolist())
    least = problem.width + (problem.width + 1) // 2
    while len(failed):
        # Where most rules fail.
        point = int(np.count_nonzero(failed, axis=0).argmax())
        points.add(point)
        failed = failed[~failed[:, point]]
    if max(least, len(points)) * _WHOLE > problem.degree:
        return np.arange(problem.degree, dtype=np.uint32)
    for p in range(0, problem.degree, problem.degree // least):
        if len(points) >= least:
            break
        points.add(p)
    return np.array(sorted(points), np.uint32)
