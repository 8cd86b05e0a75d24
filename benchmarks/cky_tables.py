"""Fujita's Table 7.2 (2017): microseconds per string of length 32, CKY on a GTX TITAN X and
on one core of a Core i7-4790, by nonterminals and binary rules; and grammars like his."""

from __future__ import annotations

import numpy as np

from kernels.cky import Batch, Rules

LENGTH = 32

# For as many binary rules as nonterminals, twice as many, and so on: CPU and GPU.
_COLUMNS = {
    32: """4.62 1.24   7.75 1.22   12.4 1.13   23.1 0.956   41.0 0.827   78.1 0.767
           156 1.35    310 5.56    626 1.84    1310 3.01    2730 6.00""",
    64: """8.24 2.25   13.5 2.16   23.8 1.58   42.0 1.54    76.1 1.48    151 1.80
           296 3.36    588 3.68    1740 6.06   3510 10.8    7010 20.4    14100 39.5""",
    128: """16.6 3.34  27.1 2.77   48.1 3.48   83.6 3.99    156 4.65     295 5.02
           574 6.71    1910 10.7   3850 18.6   7690 34.1    16200 65.1""",
    256: """33.5 5.45  55.2 7.64   95.0 9.80   169 13.1     306 18.9     588 33.8
           2010 62.4   4070 125    8140 248    16900 501""",
    512: """65.6 12.8  107 16.1    184 21.2    329 32.7     605 54.2     2070 97.6
           4180 188    8320 370    16900 736""",
}
TABLE: dict[tuple[int, int], tuple[float, float]] = {}
for _symbols, _text in _COLUMNS.items():
    _times = [float(word) for word in _text.split()]
    for _doubling, _pair in enumerate(zip(_times[::2], _times[1::2], strict=True)):
        TABLE[_symbols, _symbols << _doubling] = _pair


def random_rules(symbols: int, rules: int, seed: int = 1) -> Rules:
    """Rules drawn without repetition from all symbols**3, and a terminal for each symbol."""
    source = np.random.default_rng((symbols, rules, seed))
    drawn = source.choice(symbols**3, rules, replace=False)
    triples = np.stack(np.unravel_index(drawn, (symbols,) * 3), axis=1)
    return Rules.make(symbols, symbols, triples, [(a, a) for a in range(symbols)])


def random_strings(rules: Rules, count: int, lengths: int | range, seed: int = 1) -> Batch:
    """Random terminals; lengths as given, or drawn from a range."""
    source = np.random.default_rng(seed)
    if isinstance(lengths, int):
        sizes = np.full(count, lengths, np.int64)
    else:
        sizes = source.integers(lengths.start, lengths.stop, count)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    terminals = source.integers(0, rules.terminals, int(offsets[-1]), np.uint32)
    return Batch(terminals, offsets)


def splits(lengths: np.ndarray) -> int:
    """Split triples (i, k, j) of strings of these lengths, in all: (n**3 - n) / 6 each."""
    return int(((lengths**3 - lengths) // 6).sum())
