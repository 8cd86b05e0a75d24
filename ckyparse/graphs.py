"""Parts of directed graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(
    roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]
) -> Iterator[list[Node]]:
    """Yield the strongly connected parts of what the roots lead to, successors first.

    Tarjan 1972, without recursion.
    """
    low: dict[Node, float] = {}
    path: list[Node] = []
    for root in roots:
        if root in low:
            continue
        low[root] = len(low)
        stack = [(root, len(low) - 1, len(path), iter(successors(root)))]
        path.append(root)
        while stack:
            node, number, place, rest = stack[-1]
            for child in rest:
                if child not in low:
                    low[child] = len(low)
                    stack.append((child, len(low) - 1, len(path), iter(successors(child))))
                    path.append(child)
                    break
                low[node] = min(low[node], low[child])
            else:
                stack.pop()
                if low[node] == number:
                    part = path[place:]
                    del path[place:]
                    low.update(dict.fromkeys(part, math.inf))
                    yield part
                else:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[node])
