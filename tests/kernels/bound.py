"""Calls of all that kernels._cpu binds, right ones and ones gone wrong.

CALLS has a right call of each function and method, by name; names() lists what there is, so that
none can be forgotten. mutated() makes a call wrong somewhere. Run as a program this module makes
many such calls, each after writing down what it calls: no call may crash the process, or hold it
up: all must look at signals.
"""

from __future__ import annotations

import faulthandler
import inspect
import random
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from kernels import _cpu
from kernels.ageing import plan as ageing
from kernels.bignum.cpu import engine as bignum
from kernels.bignum.numbers import from_ints
from kernels.cky.cpu.plan import host_plan
from kernels.cky.rules import Rules
from kernels.cky.weighted.tables import RuleTables
from kernels.life.contract import LifeShape
from kernels.targets.cpu import Machine, levels
from kernels.transformations.hashing import HashKey, row_stride

Call = tuple[Callable[..., Any], list[Any]]

MEMORY = 4 << 30  # bytes of addresses that a process of many calls may have
SECONDS = 0.5  # after which a call is interrupted
GRACE = 30  # more after which it is held up


def names() -> list[str]:
    """Return the names of all functions, and Class.method of all methods, constructors too."""
    found = []
    for name in dir(_cpu):
        value = getattr(_cpu, name)
        if inspect.isclass(value):
            methods = [m for m in vars(value) if m == "__init__" or not m.startswith("__")]
            found += [f"{name}.{method}" for method in methods]
        elif callable(value) and not name.startswith("__"):
            found.append(name)
    return found


def u32(*values: Any) -> Any:
    return np.array(values, np.uint32)


def i64(*values: Any) -> Any:
    return np.array(values, np.int64)


def _level() -> str:
    return levels()[-1]


def _life() -> list[Any]:
    src = np.arange(8, dtype=np.uint64).reshape(8, 1)
    return [_level(), src, np.zeros_like(src), 60, True, 8, 12, 1, 1, 64, 0, 0, 8, 6, 2, None]


def _strips() -> list[Any]:
    width = 32 * _cpu.vector_bits(_level())
    src = np.arange(8 * width // 64, dtype=np.uint64).reshape(8, -1)
    return [
        *(_level(), src, np.zeros_like(src), width, True, 8, 12, 3, 1, width, 32, 0, 8, 6, 2),
        lambda: False,
    ]


def _folded(alone: bool) -> list[Any]:
    rows = _cpu.vector_bits(_level()) // 32
    src = np.arange(2 * rows, dtype=np.uint64).reshape(-1, 2)
    cut = [1, 0, 7] if alone else [2, 3, 3]  # pieces, halo, generations at a time
    return [_level(), src, np.zeros_like(src), 128, True, 8, 12, 9, *cut, 2, lambda: False]


def _ageing(circuit: Any = None) -> list[Any]:
    plan = ageing.cpu_plan(
        LifeShape(600, 8, True, 2), 2, Machine(_cpu.vector_bits(_level()), 1 << 20, 2), 3
    )
    src = np.zeros((8, 2, 10), np.uint64)
    src[2, 0], src[3, 1] = 9, 5
    return [_level(), src, np.zeros_like(src), 600, True, 8, 12, 3, *plan, 2, None, circuit]


def _circuit() -> list[Any]:
    return [*_life(), _cpu.LifeCircuit([(0x96, 1, 7, 13), (0xE8, 16, 8, 2)], True)]


def _words(rows: int = 16, count: int = 2) -> Any:
    return np.arange(rows * count, dtype=np.uint64).reshape(rows, count)


def _numbers(*values: int) -> Any:
    return from_ints(list(values))


def _dense(count: int = 9, width: int = 3) -> Any:
    rng = np.random.default_rng(count)
    words = rng.integers(1, 1 << 63, count * width, np.uint64)
    return SimpleNamespace(
        words=words, count=count, width=width, step=width, starts=None, lengths=None,
        negative=np.arange(count) % 2 == 0,
    )  # fmt: skip


def _gmp(name: str, *more: Any, level: bool = False, dense: bool = False) -> Callable[[], Call]:
    def make() -> Call:
        bignum._need_gmp()
        a, b = (_dense(), _dense()) if dense else (_numbers(5, -7, 1 << 90), _numbers(3))
        args = [a if each is A else b if each is B else each for each in more]
        return getattr(_cpu, name), ([_level()] if level else []) + [*args, 2]

    return make


A, B = object(), object()


def _rules() -> Rules:
    """S -> S S | A B; A -> a; B -> b | A; as engines see them."""
    return Rules(
        symbols=3, terminals=2,
        binary=np.array([[0, 0, 0], [0, 1, 2]], np.uint32),
        units=np.array([[2, 1]], np.uint32),
        lexical=np.array([[1, 0], [2, 1]], np.uint32),
    )  # fmt: skip


def _batch() -> list[Any]:
    tokens = u32(0, 1, 0, 1, 0, 1, 1)
    return [tokens, i64(0, 2, 6, 7), i64(2, 0, 1), i64(0, 3), i64(1)]


def _parser(dense: bool) -> Any:
    return _cpu.CkyParser(_level(), host_plan(_rules(), dense))


def _charts(dense: bool) -> Call:
    parser = _parser(dense)
    return parser.charts, [*_batch(), [np.zeros((10, 3, parser.lanes(True)), np.uint32)]]


def _tables() -> list[Any]:
    t = RuleTables.of(_rules())
    return [
        *(t.left_rows, t.right, t.left_of, t.right_of, t.rule_rows, t.rule_symbols),
        *(t.unit_rows, t.unit_symbols, t.lexical_rows, t.lexical_symbols),
    ]


# Of each semiring the bytes of a value and of a result, and how many primes it has.
_SEMIRINGS = {
    "Plain<false>": (8, 16, 0),
    "Plain<true>": (8, 16, 0),
    "Scaled<false>": (16, 16, 0),
    "Scaled<true>": (16, 16, 0),
    "Residues<2>": (8, 8, 2),
    "Residues<8>": (32, 32, 8),
    "Wrapping": (8, 8, 0),
}


def _weighted(semiring: str) -> Call:
    tables = _tables()
    sizes = [tables[5].size, tables[7].size, tables[9].size]
    value, result, lanes = _SEMIRINGS[semiring]
    weights = [np.ones(n * value // 8).view(np.uint8) for n in sizes]
    constants = u32(*[2147483629] * (2 * lanes)) if lanes else None
    tokens, offsets = _batch()[:2]
    chart = np.zeros(3 * 3 * result // 8).view(np.uint8)
    return _cpu.weighted_run, [
        *(_level(), semiring, tables, True, weights, constants, tokens, offsets, i64(0), 0),
        *(np.zeros(result // 8).view(np.uint8), np.zeros(1, np.uint8), chart, 2),
    ]


def _tiles() -> Any:
    plane = _cpu.TilesPlane(_level(), 8, 12, 1 << 24, 2)
    plane.put(i64([0, 0], [-1, 2]), _words(2, 64))
    plane.step(20, None)
    return plane


def _settling() -> Any:
    universe = _cpu.Settling(_level(), 200, 130, True, 8, 12, 2)
    universe.put(0, _words(130, 4))
    universe.step(5, None)
    return universe


def _table(walk: bool) -> list[Any]:
    """Return a rule of 3 states that adds, modulo 3, the states of the column to the left."""
    maps = np.zeros((3, 256), np.uint32)
    maps[:, :3] = np.outer((9, 3, 1), range(3))
    sums = np.add.reduce(np.indices((3, 3, 3))).ravel() % 3
    none = np.zeros(0, np.uint32)
    if not walk:
        finals = np.arange(3, dtype=np.uint8)
        return [_level(), 3, True, True, maps, sums.astype(np.uint64), none, finals, none, none]
    level = u32([0, 1, 2], [1, 2, 0], [2, 0, 1])
    entries = np.concatenate((level[0], *(level.ravel(),) * 2, *(np.repeat(u32(0, 1, 2), 3),) * 6))
    counts = u32(1, 3, 3, 3, 3, 3, 3, 3, 3)
    empty = (np.zeros(0, np.uint64), none, np.zeros(0, np.uint8))
    return [_level(), 3, True, True, maps, *empty, entries, counts]


def _table_cells(walk: bool = False) -> Any:
    """Return a torus of 70 x 5 cells of that rule, some in state 1 and 2."""
    cells = _cpu.TablesUniverse(*_table(walk), 70, 5, True, 2)
    words = np.zeros((5, 2, 2), np.uint64)
    words[1:3, 0, 0], words[3, 1, 1] = 99, 5
    cells.put(0, words)
    return cells


def _tree(size: int = 3) -> Any:
    """A tree of squares with `size` gliders, 64 cells apart."""
    tree = _cpu.HashTree(_level(), 8, 12, 1 << 24, 2)
    squares = np.zeros((size, 64), np.uint64)
    squares[:, 9:12] = np.array([2, 4, 7], np.uint64) << np.uint64(30)
    tree.put(np.array([[i, -i] for i in range(size)], np.int64), squares, None)
    return tree


def _square_list() -> list[Any]:
    """A block in one of the corners of a root of level 6."""
    children = np.zeros((5, 4), np.int64)
    children[2:, 2] = 1, 2, 3
    leaves = np.zeros(5, np.uint64)
    leaves[1] = 0x303
    return [np.array([0, 3, 4, 5, 6], np.uint8), children, leaves]


def _asked(method: str, out: Any) -> Call:
    tree = _tree()
    return getattr(tree, method), [u32(tree.root(), 0), out]


def _engine_arguments() -> list[Any]:
    maps = np.array([[1, 2, 0, 3], [0, 0, 2, 3]], np.uint8)
    key = HashKey.make(row_stride(4, 1))
    return [
        *(_level(), maps, np.arange(4, dtype=np.uint32), True, True, 1 << 24, key.words),
        *(key.factors, list(key.mask), 2, 1 << 18),
    ]


def _small_counts() -> list[Any]:
    sets = np.array([[[1, 2, 0, 3], [0, 0, 2, 3]], [[3, 2, 1, 0], [1, 1, 1, 1]]], np.uint8)
    counts = (np.zeros(2, np.int32) for _ in range(3))
    return [_level(), sets, False, 1000, *counts, 2]


def _engine(most: int = 1 << 20) -> Any:
    engine = _cpu.SemigroupEnumerator(*_engine_arguments())
    while most and engine.state()[0] > engine.state()[1]:
        engine.expand(most)
    return engine


def _read(engine: Any, name: str, rows: int, width: int = 0) -> Any:
    dtype = np.uint64 if name == "hashes" else np.uint32
    out = np.empty((rows, width) if width else rows, dtype)
    engine.read(name, 0, out)
    return out


def _resume() -> Call:
    done = _engine()
    size = done.state()[0]
    arrays = [_read(done, name, size) for name in ("first", "suffix", "prefix", "last")]
    arrays += [_read(done, name, size, 2) for name in ("right", "left", "hashes")]
    return _engine(0).resume, [done.starts(0), *arrays]


GRAPH = u32([1, 2], [2, 0], [0, 1])


def _sums(k: int) -> list[Any]:
    shape = (k, 9) if k else (9,)
    out = (k + 1, 9) if k else (9,)
    return [
        _level(),
        np.ones(shape, np.uint32),
        np.ones(shape, np.uint32),
        np.zeros(out, np.uint32),
    ]


def _densities() -> list[Any]:
    return [_level(), _words(), 0, 2, np.zeros((4, 32), np.uint8)]


def _climb(highest: bool) -> list[Any]:
    live = np.arange(40, dtype=np.uint8).reshape(4, 10)
    above = None if highest else np.zeros((2, 5), np.uint16)
    return [_level(), live, 3, np.zeros_like(live), above]


def _ages(known: bool) -> list[Any]:
    counts, levels_ = np.zeros((4, 32), np.uint16), np.zeros((4, 32), np.uint8)
    before = (_words(), np.zeros((4, 32), np.uint16)) if known else (None, None)
    return [_level(), _words(), 0, 2, *before, 1, np.arange(9, dtype=np.uint8), counts, levels_]


def _ranges(radius: int) -> list[Any]:
    cells = np.eye(9, 70, dtype=np.uint8)
    runs = [(-1, -1, 1), (0, -1, 1), (1, -1, 1)]
    counts = [(3, 3)], [(3, 4)]
    return [
        _level(), cells, np.zeros_like(cells), True, runs, radius, True, *counts, 3, 64, 4, 2,
    ]  # fmt: skip


def _walk(words: Any) -> list[Any]:
    return [b"3o$bo!", 0, 6, np.zeros(_cpu.RUNS_FIELDS, np.int64), words, 64, 0, 0]


def _lines() -> Call:
    bignum._need_gmp()
    return _cpu.bignum_from_lines, [b"12\n-0x1f\n# no\n", 0, 2]


def _lazy(function: str, make: Callable[[], list[Any]]) -> Callable[[], Call]:
    return lambda: (getattr(_cpu, function), make())


def _digits(groups: int = 2) -> Any:
    return np.ones(32 * groups, np.int32)


TEXT = np.frombuffer("a (b\n\nü x".encode(), np.uint8)

CALLS: dict[str, list[Callable[[], Call]]] = {
    "levels": [_lazy("levels", list)],
    "vector_bits": [_lazy("vector_bits", lambda: [_level()])],
    "life_pass": [
        _lazy("life_pass", _life),
        _lazy("life_pass", _strips),
        _lazy("life_pass", lambda: [*_strips(), None, 2]),
        _lazy("life_pass", _circuit),
    ],
    "life_folded": [
        _lazy("life_folded", lambda: _folded(True)),
        _lazy("life_folded", lambda: _folded(False)),
    ],
    "ageing_pass": [
        _lazy("ageing_pass", _ageing),
        _lazy("ageing_pass", lambda: _ageing(_circuit()[-1])),
    ],
    "circuit_search": [_lazy("circuit_search", lambda: [bytes(range(64)), 0xFFFF, 3, 1])],
    "LifeCircuit.native": [lambda: (_circuit()[-1].native, [])],
    "LifeCircuit.__init__": [
        _lazy("LifeCircuit", lambda: [[(0x96, 1, 7, 13), (9, 16, 8, 2)], True])
    ],
    "sums_naive": [_lazy("sums_naive", lambda: [*_sums(0), 2])],
    "sums_bitwise": [_lazy("sums_bitwise", lambda: [*_sums(5), 2])],
    "ranges_step": [
        _lazy("ranges_step", lambda: _ranges(0)),
        _lazy("ranges_step", lambda: _ranges(1)),
    ],
    "runs_walk": [
        _lazy("runs_walk", lambda: _walk(None)),
        _lazy("runs_walk", lambda: _walk(_words())),
    ],
    "runs_write": [_lazy("runs_write", lambda: [_words(), 3, 70, np.zeros(2, np.int64)])],
    "cells_fill_soup": [_lazy("cells_fill_soup", lambda: [_level(), _words(), 0, 0, 1 << 31, 7])],
    "cells_survey": [
        _lazy("cells_survey", lambda: [_level(), _words(), 0, 0, np.zeros((2, 16), np.uint8)])
    ],
    "cells_densities": [_lazy("cells_densities", _densities)],
    "cells_climb": [
        _lazy("cells_climb", lambda: _climb(True)),
        _lazy("cells_climb", lambda: _climb(False)),
    ],
    "cells_ages": [_lazy("cells_ages", lambda k=k: _ages(k)) for k in (False, True)],
    "bignum_load_gmp": [_lazy("bignum_load_gmp", lambda: ["/nowhere/libgmp.so"])],
    "bignum_add": [_gmp("bignum_add", A, B, True, level=True, dense=d) for d in (False, True)],
    "bignum_sum": [_gmp("bignum_sum", A, level=True, dense=d) for d in (False, True)],
    "bignum_multiply": [_gmp("bignum_multiply", A, B, level=True, dense=d) for d in (False, True)],
    "bignum_multiply_add": [
        _gmp("bignum_multiply_add", A, B, A, level=True, dense=d) for d in (False, True)
    ],
    "bignum_gcd": [_gmp("bignum_gcd", A, B, level=True, dense=d) for d in (False, True)],
    "bignum_divmod": [_gmp("bignum_divmod", A, B), _gmp("bignum_divmod", A, B, dense=True)],
    "bignum_floordiv": [_gmp("bignum_floordiv", A, B)],
    "bignum_mod": [_gmp("bignum_mod", A, B)],
    "bignum_isqrt": [_gmp("bignum_isqrt", A)],
    "bignum_low_bits": [_gmp("bignum_low_bits", A, 70, dense=d) for d in (False, True)],
    "bignum_powmod": [
        _gmp("bignum_powmod", A, B, A, level=True),
        _gmp("bignum_powmod", A, from_ints([3]), A, level=True, dense=True),
    ],
    "rational_combine": [
        _gmp("rational_combine", "add", A, from_ints([3]), A, from_ints([5]), level=True),
        _gmp(
            "rational_combine",
            "multiply",
            A,
            from_ints([7]),
            A,
            from_ints([9]),
            level=True,
            dense=True,
        ),
    ],
    "bignum_invert": [
        _gmp("bignum_invert", A, from_ints([7])),
        _gmp("bignum_invert", A, B, dense=True),
    ],
    "bignum_power": [_gmp("bignum_power", A, i64(3))],
    "bignum_negate": [_gmp("bignum_negate", A)],
    "bignum_absolute": [_gmp("bignum_absolute", A)],
    "bignum_select": [_gmp("bignum_select", np.array([True, False, True]), A, B)],
    "bignum_concatenate": [_lazy("bignum_concatenate", lambda: [[_numbers(1), _dense()], 2])],
    "bignum_shift": [_gmp("bignum_shift", A, i64(70, -3, 0))],
    "bignum_compare": [_gmp("bignum_compare", A, B), _gmp("bignum_compare", A, B, dense=True)],
    "bignum_sign": [_gmp("bignum_sign", A)],
    "bignum_bit_length": [_gmp("bignum_bit_length", A)],
    "bignum_from_ints": [_lazy("bignum_from_ints", lambda: [[1, -(1 << 90), True, np.int8(3)]])],
    "bignum_to_ints": [_lazy("bignum_to_ints", lambda: [_numbers(5, -7)])],
    "bignum_arenas": [_lazy("bignum_arenas", list)],
    "bignum_from_lines": [_lines],
    "bignum_to_lines": [_gmp("bignum_to_lines", A, 10), _gmp("bignum_to_lines", A, 16)],
    "redundant_add": [
        _lazy("redundant_add", lambda: [_level(), 32, _digits(), _digits(), True, _digits(3), 2])
    ],
    "redundant_sum": [_lazy("redundant_sum", lambda: [_level(), 32, _words(3), 2, _digits(9), 2])],
    "redundant_normalise": [
        _lazy("redundant_normalise", lambda: [_level(), 32, _digits(), np.zeros(31, np.uint64)])
    ],
    "cky_narrow_tokens": [
        _lazy("cky_narrow_tokens", lambda d=d: [u32(0, 1, 900), 2, np.zeros(3, d)])
        for d in (np.uint8, np.uint16, np.uint32)
    ],
    "CkyParser.__init__": [
        _lazy("CkyParser", lambda d=d: [_level(), host_plan(_rules(), d)]) for d in (False, True)
    ],
    "CkyParser.lanes": [lambda: (_parser(True).lanes, [False])],
    "CkyParser.scratch_bytes": [lambda: (_parser(True).scratch_bytes, [False, 9])],
    "CkyParser.recognise": [
        lambda d=d: (
            _parser(d).recognise,
            [
                *(*_batch(), 0, np.zeros(3, np.int32) if d else None),
                *(None if d else np.zeros(3, np.bool_), 2),
            ],
        )
        for d in (False, True)
    ],
    "CkyParser.charts": [lambda d=d: _charts(d) for d in (False, True)],
    "CkyWords.__init__": [_lazy("CkyWords", lambda: [[b"a", b"(", b"xy"], True, 1])],
    "CkyWords.encode": [
        lambda c=c: (_cpu.CkyWords([b"a", b"(", b"xy"], c, 1).encode, [TEXT, 2])
        for c in (False, True)
    ],
    "cky_mark_lines": [_lazy("cky_mark_lines", lambda: [TEXT, i64(0, 5, 6, 10), TEXT[:3], True])],
    "weighted_scratch_bytes": [
        _lazy("weighted_scratch_bytes", lambda: [_level(), "Scaled<false>", _tables(), True, 9])
    ],
    "weighted_run": [lambda k=k: _weighted(k) for k in _SEMIRINGS],
    "TilesPlane.__init__": [
        _lazy("TilesPlane", lambda: [_level(), 8, 12, 1 << 24, 2]),
        _lazy("TilesPlane", lambda: [_level(), 8, 12, 1 << 24, 2, _circuit()[-1]]),
    ],
    "TilesPlane.step": [
        lambda s=s: (_tiles().step, [70, s]) for s in (None, lambda: False, lambda: True)
    ],
    "TilesPlane.put": [lambda: (_tiles().put, [i64([1, 2], [-3, 0]), _words(2, 64)])],
    "TilesPlane.moved": [lambda: (_tiles().moved, [])],
    "TilesPlane.settled": [lambda: (_tiles().settled, [])],
    "TilesPlane.nbytes": [lambda: (_tiles().nbytes, [])],
    "TilesPlane.population": [lambda: (_tiles().population, [])],
    "TilesPlane.box": [lambda: (_tiles().box, [])],
    "TilesPlane.squares": [
        lambda c=c: (
            _tiles().squares,
            [-4, -4, 4, 4, c, np.zeros((2, 2), np.int64), np.zeros((2, 64), np.uint64)],
        )
        for c in (0, 1)
    ],
    "TilesPlane.get": [lambda: (_tiles().get, [-70, -3, np.zeros((50, 3), np.uint64)])],
    "TilesPlane.counts": [
        lambda k=k: (_tiles().counts, [-1, 0, k, np.zeros((4, 5))]) for k in (2, 9)
    ],
    "Settling.__init__": [
        *(_lazy("Settling", lambda t=t: [_level(), 200, 130, t, 8, 12, 2]) for t in (False, True)),
        _lazy("Settling", lambda: [_level(), 200, 130, True, 8, 12, 2, _circuit()[-1]]),
    ],
    "Settling.put": [lambda: (_settling().put, [3, _words(7, 4)])],
    "Settling.get": [lambda: (_settling().get, [3, np.zeros((7, 4), np.uint64)])],
    "Settling.step": [
        lambda s=s: (_settling().step, [9, s]) for s in (None, lambda: False, lambda: True)
    ],
    "Settling.rounds": [lambda: (_settling().rounds, [])],
    "Settling.windows": [lambda: (_settling().windows, [])],
    "Settling.nbytes": [lambda: (_cpu.Settling.nbytes, [200, 130])],
    "TablesUniverse.__init__": [
        _lazy("TablesUniverse", lambda walk=walk: [*_table(walk), 70, 5, True, 2])
        for walk in (False, True)
    ],
    "TablesUniverse.step": [
        lambda walk=walk, s=s: (_table_cells(walk).step, [70, s])
        for walk in (False, True)
        for s in (None, lambda: False, lambda: True)
    ],
    "TablesUniverse.put": [
        lambda: (_table_cells().put, [2, np.zeros((3, 2, 2), np.uint64)]),
    ],
    "TablesUniverse.get": [
        lambda: (_table_cells().get, [2, np.zeros((3, 2, 2), np.uint64)]),
    ],
    "TablesUniverse.generation": [lambda: (_table_cells().generation, [])],
    "TablesUniverse.nbytes": [lambda: (_cpu.TablesUniverse.nbytes, [70, 5])],
    "macrocell_lines": [
        lambda: (
            _cpu.macrocell_lines,
            [b"[M2]\n$$.**$\n..*$\n4 1 0 2 0\n5 0 3 3 0", 12, 100, 64, bytearray([0, 3])],
        )
    ],
    "HashTree.__init__": [
        _lazy("HashTree", lambda: [_level(), 8, 12, 1 << 24, 2]),
        _lazy("HashTree", lambda: [_level(), 8, 12, 1 << 24, 2, _circuit()[-1]]),
    ],
    "HashTree.step": [
        lambda: (_tree().step, [bytes([200, 3]), None]),
        lambda: (_tree().step, [bytes(20) + b"\1", lambda: False]),
    ],
    "HashTree.put": [lambda: (_tree().put, [i64([1, 2], [-3, 0]), _words(2, 64), None])],
    "HashTree.build": [lambda: (_tree().build, [*_square_list(), None])],
    "HashTree.move_a_row": [lambda d=d: (_tree().move_a_row, [d, None]) for d in (False, True)],
    "HashTree.population": [lambda: (_tree().population, [])],
    "HashTree.margins": [lambda: (_tree().margins, [])],
    "HashTree.root": [lambda: (_tree().root, [])],
    "HashTree.root_level": [lambda: (_tree().root_level, [])],
    "HashTree.children": [lambda: _asked("children", np.zeros((2, 4), np.uint32))],
    "HashTree.rows": [lambda: _asked("rows", np.zeros((2, 32), np.uint32))],
    "HashTree.populations": [lambda: _asked("populations", np.zeros(2))],
    "HashTree.listing": [lambda d=d: (_tree().listing, [d]) for d in (False, True)],
    "HashTree.set_pause": [lambda: (_tree().set_pause, [10])],
    "HashTree.nbytes": [lambda: (_tree().nbytes, [])],
    "HashTree.statistics": [lambda: (_tree().statistics, [])],
    "SemigroupEnumerator.__init__": [_lazy("SemigroupEnumerator", _engine_arguments)],
    "SemigroupEnumerator.expand": [
        lambda: (_engine(0).expand, [9]),
        lambda: (_engine(0).expand, [9, True]),
    ],
    "SemigroupEnumerator.resume": [_resume],
    "SemigroupEnumerator.state": [lambda: (_engine().state, [])],
    "SemigroupEnumerator.starts": [lambda: (_engine().starts, [1])],
    "SemigroupEnumerator.read": [
        lambda: (_engine().read, ["right", 1, np.zeros((3, 2), np.uint32)]),
        lambda: (_engine().read, ["suffix", 1, np.zeros(3, np.uint32)]),
    ],
    "SemigroupEnumerator.maps": [
        lambda: (_engine().maps, [np.arange(3, dtype=np.uint64), np.zeros((3, 4), np.uint8)])
    ],
    "SemigroupEnumerator.positions": [
        lambda: (_engine().positions, [np.zeros((3, 4), np.uint8), i64(0, 0, 0)])
    ],
    "SemigroupEnumerator.differ": [lambda: (_engine().differ, [u32(1, 2), u32(0, 1), u32(3, 4)])],
    "semigroup_components": [_lazy("semigroup_components", lambda: [[GRAPH, GRAPH], 2])],
    "semigroup_join": [_lazy("semigroup_join", lambda: [u32(0, 1, 1), u32(0, 0, 2)])],
    "semigroup_meet": [_lazy("semigroup_meet", lambda: [u32(0, 1, 1), u32(0, 0, 2)])],
    "semigroup_idempotents": [
        _lazy("semigroup_idempotents", lambda c=c: [GRAPH, u32(0, 0, 1), u32(0, 0, 1), c, 2])
        for c in (None, u32(0, 0, 0))
    ],
    "semigroup_small": [
        _lazy("semigroup_small", lambda: [_level(), _engine_arguments()[1], True, 100]),
    ],
    "semigroup_counts": [_lazy("semigroup_counts", _small_counts)],
    "semigroup_traced": [
        _lazy(
            "semigroup_traced",
            lambda: [u32(0, 1), u32(2, 1), GRAPH, u32(0, 0, 1), u32(0, 0, 1), 2],
        )
    ],
    "semigroup_letters": [
        _lazy("semigroup_letters", lambda: [u32(2, 1), i64(0, 2, 3), u32(0, 0, 1), u32(0, 0, 1), 2])
    ],
    "semigroup_rules": [_lazy("semigroup_rules", lambda: [GRAPH, u32(0, 0, 1)])],
}


# --- calls gone wrong ---------------------------------------------------------------

EDGES = sorted(
    {sign * ((1 << bits) + more) for bits in (0, 1, 5, 6, 7, 8, 16, 24, 31, 32, 40, 56, 62, 63, 64)
     for more in (-1, 0, 1) for sign in (1, -1)}
)  # fmt: skip


class Odd:
    """Raises an error wherever it is asked for an attribute or an index."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __index__(self) -> int:
        raise ZeroDivisionError


STRANGE: list[Any] = [
    None, True, 1.5, float("nan"), "", "v9", "x" * 300, b"", [], [None], {}, (), object(), Odd(),
    int, np.float64(2), np.empty(0), np.zeros((1, 1, 1, 1)),
]  # fmt: skip


def _array(a: Any, others: list[Any], rng: random.Random) -> Any:
    """An array like another one, but for something."""
    edge = np.array([e & ((1 << 64) - 1) for e in EDGES], np.uint64)
    flat = a.reshape(-1)
    way = rng.randrange(16)
    if way <= 3 and flat.size:  # other entries
        b = a.copy()
        for _ in range(rng.choice([1, 1, 2, b.size])):
            value = edge[rng.randrange(len(edge))]
            b.reshape(-1)[rng.randrange(b.size)] = value.astype(b.dtype)
        return b
    if way == 4 and flat.size:  # near what they were
        b = a.copy()
        at = rng.randrange(b.size)
        if b.dtype != np.bool_:
            with np.errstate(over="ignore"):
                b.reshape(-1)[at] += b.dtype.type(1)
        return b
    if way == 5:
        return a[: rng.randrange(a.shape[0] + 1)] if a.ndim else a
    if way == 6:
        return np.concatenate([a] * rng.choice([2, 3, 40])) if a.ndim else a
    if way == 7:
        return a[::-1] if a.ndim else a
    if way == 8:
        return np.asfortranarray(a) if a.ndim > 1 else np.repeat(flat, 2)[::2]
    if way == 9:
        return a.astype(
            rng.choice([np.int8, np.uint16, np.uint32, np.int64, np.uint64, np.float32])
        )
    if way == 10:
        return rng.choice([a[None], flat, a.reshape(*a.shape, 1)])
    if way == 11:
        b = a.copy()
        b.setflags(write=False)
        return b
    if way == 12:  # not aligned
        raw = np.zeros(a.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(a.tobytes(), np.uint8)
        return raw[1:].view(a.dtype).reshape(a.shape)
    if way == 13:  # of sizes that no memory has
        shape = rng.choice(
            [(1 << 31, 1 << 31), (1 << 40,), (1, 1 << 57), (0, 1 << 58), (1 << 58, 0)]
        )
        try:
            return np.broadcast_to(np.zeros((), a.dtype), shape)
        except ValueError:
            return np.empty((0, 1 << 30), a.dtype)
    arrays = [x for x in others if isinstance(x, np.ndarray)]
    if way == 14 and arrays:  # memory of another
        return rng.choice(arrays)
    if way == 15 and arrays:
        other = rng.choice(arrays)
        if a.nbytes <= other.nbytes < 1 << 20 and other.flags.c_contiguous:
            return other.reshape(-1).view(np.uint8)[: a.nbytes].view(a.dtype).reshape(a.shape)
    return a.copy()


def _changed(value: Any, others: list[Any], rng: random.Random) -> Any:
    if rng.random() < 0.08:
        return rng.choice(STRANGE)
    if isinstance(value, bool) or value is None:
        return rng.choice([True, False, None, 2, np.zeros(3), np.zeros((4, 32), np.uint8)])
    if isinstance(value, int):
        return rng.choice([*EDGES, *range(-2, 70), rng.getrandbits(64), value + 1, value - 1])
    if isinstance(value, str):
        return rng.choice(["", "v2", "v3", "v4", "base", "right", "left", "hashes", "first", "\0"])
    if isinstance(value, bytes):
        return bytes(rng.choice(b"0123456789abcdefx-+# \n\xff\0") for _ in range(rng.randrange(99)))
    if isinstance(value, np.ndarray):
        try:
            return _array(value, others, rng) if value.nbytes < 1 << 20 else value[:1]
        except (ValueError, MemoryError):  # numpy has none such
            return value
    if isinstance(value, (list, tuple)):
        found = list(value)
        way = rng.randrange(4)
        if way == 0 or not found:
            return found + found[:1]
        at = rng.randrange(len(found))
        if way == 1:
            del found[at]
        else:
            found[at] = _changed(found[at], [*others, *found], rng)
        return found if isinstance(value, list) else tuple(found)
    if is_dataclass(value) or isinstance(value, SimpleNamespace):
        names_ = [f.name for f in fields(value)] if is_dataclass(value) else list(vars(value))
        all_ = {name: getattr(value, name) for name in names_}
        for extra in ("words",):  # a property that plans have
            if extra not in all_ and hasattr(value, extra):
                all_[extra] = getattr(value, extra)
        for _ in range(rng.choice([1, 1, 2])):
            name = rng.choice(list(all_))
            all_[name] = _changed(all_[name], [*others, *all_.values()], rng)
        return SimpleNamespace(**all_)
    return rng.choice(STRANGE)


def mutated(arguments: list[Any], rng: random.Random) -> list[Any]:
    """Return arguments of which one, two or three are changed; sometimes one is missing."""
    found = list(arguments)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if found:
            at = rng.randrange(len(found))
            found[at] = _changed(found[at], [x for i, x in enumerate(found) if i != at], rng)
    if found and rng.random() < 0.01:
        del found[-1]
    return found


def shown(value: Any) -> str:
    """A value, short enough to be read."""
    if isinstance(value, np.ndarray):
        text = np.array2string(value, threshold=40) if value.size < 4096 else "..."
        return f"{value.dtype}{value.shape} strides {value.strides} {text}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, SimpleNamespace):
        return "(" + ", ".join(f"{k}={shown(v)}" for k, v in vars(value).items()) + ")"
    return repr(value)[:200]


class _TookLongError(BaseException):
    pass


def _stop(number: int, frame: object) -> None:
    raise _TookLongError


def wrong_calls(name: str, count: int, seed: int) -> Iterator[tuple[Callable[..., Any], list[Any]]]:
    rng = random.Random(f"{name} {seed}")
    for i in range(count):
        function, arguments = CALLS[name][i % len(CALLS[name])]()
        yield function, mutated(arguments, rng)


def main(chosen: list[str], count: int, seed: int) -> None:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _stop)
    bignum._need_gmp()
    done = refused = 0
    for name in chosen:
        for function, arguments in wrong_calls(name, count, seed):
            said = "\n".join(["", f"call of {name}:", *map(shown, arguments), ""])
            sys.stdout.seek(0)
            sys.stdout.truncate()
            sys.stdout.write(said)
            sys.stdout.flush()
            faulthandler.dump_traceback_later(SECONDS + GRACE, exit=True)
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                function(*arguments)
                done += 1
            except (Exception, _TookLongError):
                refused += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
    sys.stdout.seek(0)
    sys.stdout.truncate()
    print(f"all returned: {done} done, {refused} refused")


if __name__ == "__main__":
    main(sys.argv[3:] or names(), int(sys.argv[1]), int(sys.argv[2]))
