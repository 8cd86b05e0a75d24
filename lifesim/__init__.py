"""Conway's Game of Life and its relatives at one bit per cell.

>>> from lifesim import BitGrid, Life
>>> life = Life(BitGrid.from_cells(64, 64, [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]))
>>> life.run(256)
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # typing's own would be most of the time of importing this
if TYPE_CHECKING:
    from typing import Any

    from lifesim.batch import run_batch
    from lifesim.digests import digest
    from lifesim.engine import Life
    from lifesim.errors import DamagedDataError, LifesimError
    from lifesim.grid import BitGrid, Box
    from lifesim.patterns import Pattern
    from lifesim.patterns import read as read_pattern
    from lifesim.patterns import write as write_pattern
    from lifesim.pauses import Progress
    from lifesim.rule import Rule
    from lifesim.search import count as count_pattern
    from lifesim.search import find as find_pattern
    from lifesim.soup import random_grid
    from lifesim.store.universe import Universe
    from lifesim.stream.run import StreamedLife
    from lifesim.topology import JoinedEdges, Topology

__all__ = [
    "BitGrid",
    "Box",
    "DamagedDataError",
    "JoinedEdges",
    "Life",
    "LifesimError",
    "Pattern",
    "Progress",
    "Rule",
    "StreamedLife",
    "Topology",
    "Universe",
    "count_pattern",
    "digest",
    "find_pattern",
    "random_grid",
    "read_pattern",
    "run_batch",
    "write_pattern",
]

_HOME = {
    "BitGrid": "grid",
    "Box": "grid",
    "DamagedDataError": "errors",
    "JoinedEdges": "topology",
    "Life": "engine",
    "LifesimError": "errors",
    "Pattern": "patterns",
    "Progress": "pauses",
    "Rule": "rule",
    "StreamedLife": "stream.run",
    "Topology": "topology",
    "Universe": "store.universe",
    "count_pattern": "search:count",
    "digest": "digests",
    "find_pattern": "search:find",
    "random_grid": "soup",
    "read_pattern": "patterns:read",
    "run_batch": "batch",
    "write_pattern": "patterns:write",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `lifesim --help` must not wait for numpy."""
    if name not in _HOME:
        raise AttributeError(f"module 'lifesim' has no attribute {name!r}")
    from bulkbits.ownership import check

    check("kernels")
    module, _, attribute = _HOME[name].partition(":")
    return getattr(importlib.import_module(f"lifesim.{module}"), attribute or name)
