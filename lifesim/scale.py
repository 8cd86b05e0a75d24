"""How much of Life it takes to see how fast a target is: a GPU needs more than a CPU."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.targets.contract import Target


@dataclass(frozen=True, slots=True)
class MeasuringScale:
    """Sizes of universes to measure a kind of target by, large enough to keep it busy.

    bench_sides: cells of a side, of the squares of `lifesim bench`. soup_side: of the square of
    `lifesim doctor`. window_cells: cells of a window of a universe on disk, window_seconds: for how
    long it is measured. usual_rate: cell updates a second, where it is not worth the time to
    measure.
    """

    bench_sides: tuple[int, ...]
    soup_side: int
    window_cells: int
    window_seconds: float
    usual_rate: float


ON_GPUS = MeasuringScale((4096, 16384, 65536), 16384, 1 << 31, 0.15, 3e13)
ON_THE_CPU = MeasuringScale((1024, 4096, 16384), 2048, 1 << 27, 0.05, 2e11)
ON_THE_REFERENCE = MeasuringScale((256,), 256, 1 << 14, 0.05, 2e7)


def scale_of(target: Target) -> MeasuringScale:
    """Return the scale to measure a target by."""
    if target.devices:
        return ON_GPUS
    return ON_THE_REFERENCE if target.is_reference else ON_THE_CPU
