"""Hand semigroups to other programs: graphs of networkx, text for GAP."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from kernels.transformations import Maps, NumberArray


def cayley_networkx(graph: NumberArray) -> Any:
    """Return a MultiDiGraph of elements: edges from i to graph[i, g], key and `generator` g.

    Raises ImportError where networkx is missing.
    """
    try:
        networkx: Any = import_module("networkx")
    except ImportError:
        raise ImportError("to_networkx() needs networkx: pip install networkx") from None
    result = networkx.MultiDiGraph()
    result.add_nodes_from(range(len(graph)))
    for g, targets in enumerate(graph.T):
        edges = enumerate(targets.tolist())
        result.add_edges_from((i, j, g, {"generator": g}) for i, j in edges)
    return result


def gap_text(generators: Maps, monoid: bool) -> str:
    """Return a Semigroup or Monoid of Transformations as text; points count from 1."""
    shifted = generators.astype(np.int64) + 1
    rows = (", ".join(map(str, row)) for row in shifted.tolist())
    body = ",\n".join(f"  Transformation([{row}])" for row in rows)
    return f"{'Monoid' if monoid else 'Semigroup'}([\n{body}\n]);\n"
