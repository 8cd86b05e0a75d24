"""Costs of phases on disk, measured on one machine (anew: `python -m benchmarks.costs disk`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PhaseCosts:
    """Costs of a phase beside its cells, bytes read and bytes written, in seconds.

    file: to make, sync and rename a file. phase: what each costs beside its files.
    task: of a cluster's worker, from one task to the next.
    byte: of a core, for a byte that is read or written: copies, checksums, survey, pyramid, and
        waiting for them, where the CPU computes too.
    host_rows, device_rows: what a block of a chain costs beside its own rows in each pass, as
        rows, without and with a device, which has segments to fill.
    """

    file: float
    phase: float
    task: float
    byte: float
    host_rows: int
    device_rows: int


# Of machines with 2 to 16 cores of a Xeon, an H200, and disks of 1 to 4 GB/s.
PHASE_COSTS = PhaseCosts(
    file=0.002, phase=0.02, task=0.03, byte=2e-9, host_rows=48, device_rows=600
)
