"""Compute what the module `graphs` does by numpy and plain Python; it checks the arguments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.uint32]


def strong_components(graph: Array) -> Array:
    """Find strong components after Tarjan, with a stack of its own.

    Depth-first search and linear graph algorithms, 1972.
    """
    size = len(graph)
    check_below(graph, size, "the graph")
    low = [0] * size  # 0: not seen; else when seen, or the least that is reached
    component = [-1] * size
    clock = components = 0
    for root in range(size):
        if low[root]:
            continue
        open_nodes = [root]  # seen, and in no component yet
        clock += 1
        low[root] = clock
        path = [(root, clock, iter(graph[root].tolist()))]
        while path:
            node, seen, edges = path[-1]
            for target in edges:
                if not low[target]:
                    clock += 1
                    low[target] = clock
                    open_nodes.append(target)
                    path.append((target, clock, iter(graph[target].tolist())))
                    break
                if component[target] < 0 and low[target] < low[node]:
                    low[node] = low[target]
            else:
                path.pop()
                if low[node] == seen:
                    while component[node] < 0:
                        component[open_nodes.pop()] = components
                    components += 1
                elif low[node] < low[path[-1][0]]:
                    low[path[-1][0]] = low[node]
    return numbered(np.array(component, np.int64))


def numbered(labels: npt.NDArray[np.int64]) -> Array:
    """Number classes of equal labels by their first members."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.uint32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.uint32)
    return rank[which]


def join(a: Array, b: Array) -> Array:
    """Return the least equivalence above two.

    Each class of a gets the least number of those that it is found to be joined with.
    """
    check_below(a, len(a), "a")
    check_below(b, len(a), "b")
    labels = np.arange(len(a))
    while True:
        least = np.full(len(a), len(a))
        np.minimum.at(least, b, labels[a])
        lower = labels.copy()
        np.minimum.at(lower, a, least[b])
        lower = lower[lower]
        if np.array_equal(lower, labels):
            return numbered(labels[a])
        labels = lower


def meet(a: Array, b: Array) -> Array:
    """Return the classes that two equivalences share."""
    check_below(a, len(a), "a")
    check_below(b, len(a), "b")
    return numbered(a.astype(np.int64) * len(a) + b)


def idempotents(right: Array, first: Array, suffix: Array, classes: Array | None) -> Array:
    """Return the numbers e with e e = e, found by following all words at once."""
    which = np.arange(len(right), dtype=np.uint32)
    place, word = which, which
    found = []
    while which.size:
        ended = word == 0
        found.append(which[ended & (place == which)])
        going = ~ended
        if classes is not None:
            going &= classes[place] == classes[which]
        which = which[going]
        place, word = _step(place[going], word[going], right, first, suffix)
    return np.sort(np.concatenate([np.empty(0, np.uint32), *found]))


def traced(start: Array, word: Array, graph: Array, letters: Array, rests: Array) -> Array:
    """Follow from each start the edges of a word: letters[word], then those of rests[word]."""
    result, which = start.copy(), np.flatnonzero(word)
    place, rest = start[which], word[which]
    while which.size:
        place, rest = _step(place, rest, graph, letters, rests)
        result[which] = place
        going = rest > 0
        which, place, rest = which[going], place[going], rest[going]
    return result


def _step(
    place: Array, word: Array, graph: Array, letters: Array, rests: Array
) -> tuple[Array, Array]:
    letter, rest = letters[word], rests[word]
    check_below(letter, graph.shape[1], "a word")
    if (rest >= word).any():
        raise ValueError("a word does not end")
    after = graph[place, letter]
    check_below(after, len(graph), "the graph")
    return after, rest


def rules(right: Array, suffix: Array) -> tuple[Array, Array, Array]:
    """Return (u, g, r): the products u g = r that follow from no others."""
    size, letters = right.shape
    check_below(right, len(suffix), "the graph")
    # An edge is a tree's if it is the first that leads to a number.
    flat = right.reshape(-1)
    most = np.maximum.accumulate(np.concatenate((np.zeros(1, np.uint32), flat)))[:-1]
    tree = (flat > most).reshape(size, letters)
    before = suffix[1:size]
    if (before >= np.arange(1, size)).any():
        raise ValueError("a word does not end")
    chosen = ~tree
    chosen[1:] &= tree[before]
    u, g = np.nonzero(chosen)
    return u.astype(np.uint32), g.astype(np.uint32), right[chosen]


def letters(numbers: Array, offsets: npt.NDArray[np.int64], first: Array, suffix: Array) -> Array:
    """Return the letters of all words, each as long as its offsets say."""
    result = np.empty(int(offsets[-1]), np.uint32)
    place, end, word = offsets[:-1], offsets[1:], numbers
    while place.size:
        if ((word == 0) != (place == end)).any():
            raise ValueError("a word is not of its level")
        going = place < end
        place, end, word = place[going], end[going], word[going]
        result[place] = first[word]
        if (suffix[word] >= word).any():
            raise ValueError("a word does not end")
        place, word = place + 1, suffix[word]
    return result


def check_below(numbers: Array, bound: int, name: str) -> None:
    """Raise ValueError where a number is not below a bound."""
    if numbers.size and int(numbers.max()) >= bound:
        raise ValueError(f"{name} leads to {int(numbers.max())}, of {bound}")
