"""How many cells live, how densely, and how fast they are computed, against the generation."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.draft import Draft
from lifesim.errors import cannot_write

_MOST = 4096

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Point:
    """Numbers of a generation.

    population: live cells, of so many cells; None where the universe has no bounds. rate: cell
    updates a second.
    """

    generation: int
    population: int
    cells: int | None
    rate: float

    @property
    def density(self) -> float:
        """Return the share of cells that live; nan where there is none, as without bounds."""
        return self.population / self.cells if self.cells else math.nan


class Series:
    """Keeps at most `most` points, at about equal distances, the first and the last among them.

    What is told of a generation that is not after the last one takes the place of all from
    there on: time has gone back.
    """

    def __init__(self, most: int = _MOST) -> None:
        if most < 4:
            raise ValueError(f"a series holds at least 4 points, not {most}")
        self._most = most
        self._points: list[Point] = []
        self._step = 1  # generations between two points at least, but for the last

    def __len__(self) -> int:
        return len(self._points)

    @property
    def points(self) -> tuple[Point, ...]:
        """Return all points, by generation."""
        return tuple(self._points)

    def add(self, point: Point) -> None:
        """Add a point; of those from its generation on none stays."""
        points = self._points
        while points and points[-1].generation >= point.generation:
            points.pop()
        # The last one need not keep its distance while it is the last.
        if len(points) >= 2 and points[-1].generation - points[-2].generation < self._step:
            points.pop()
        points.append(point)
        if len(points) > self._most:
            self._thin()

    def _thin(self) -> None:
        span = self._points[-1].generation - self._points[0].generation
        self._step = max(2 * self._step, -(-2 * span // self._most))
        kept = self._points[:1]
        for point in self._points[1:-1]:
            if point.generation - kept[-1].generation >= self._step:
                kept.append(point)
        self._points = [*kept, self._points[-1]]

    def clear(self) -> None:
        """Drop all points."""
        self._points.clear()
        self._step = 1

    # Numbers of points are rounded to doubles only here.

    def generations(self) -> Numbers:
        """Return the generations, float64 (points,)."""
        return np.array([float(point.generation) for point in self._points], np.float64)

    def populations(self) -> Numbers:
        """Return the populations, float64 (points,)."""
        return np.array([float(point.population) for point in self._points], np.float64)

    def densities(self) -> Numbers:
        """Return the shares of cells that live, float64 (points,), nan where there is none."""
        return np.array([point.density for point in self._points], np.float64)

    def rates(self) -> Numbers:
        """Return the cell updates a second, float64 (points,)."""
        return np.array([point.rate for point in self._points], np.float64)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all points as CSV; what has no density has an empty field there. Raises
        LifesimError; there is nothing half-written then."""
        lines = ["generation,population,density,rate"]
        for point in self._points:
            density = "" if point.cells is None else f"{point.density:.9g}"
            lines.append(f"{point.generation},{point.population},{density},{point.rate:.6g}")
        with Draft(path, refusal=cannot_write) as draft:
            draft.append(("\n".join(lines) + "\n").encode())
