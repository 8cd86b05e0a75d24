"""Types of the compiled extension; the documentation of each function is in its docstring."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

_Bools: TypeAlias = npt.NDArray[np.bool_]
_U8: TypeAlias = npt.NDArray[np.uint8]
_U16: TypeAlias = npt.NDArray[np.uint16]
_U32: TypeAlias = npt.NDArray[np.uint32]
_U64: TypeAlias = npt.NDArray[np.uint64]
_I8: TypeAlias = npt.NDArray[np.int8]
_I32: TypeAlias = npt.NDArray[np.int32]
_I64: TypeAlias = npt.NDArray[np.int64]
_Digits: TypeAlias = npt.NDArray[np.signedinteger[Any]]  # int16, int32 or int64
_Maps: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]  # uint8, uint16 or uint32

class _Numbers(Protocol):
    """A batch of integers, see kernels.bignum.numbers.Numbers."""

    @property
    def words(self) -> _U64: ...
    @property
    def count(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def starts(self) -> _I64 | None: ...
    @property
    def lengths(self) -> _I64 | None: ...
    @property
    def negative(self) -> _Bools | None: ...

# The arguments of Numbers, in order.
_NumberFields: TypeAlias = tuple[_U64, int, int, int, _I64 | None, _I64 | None, _Bools | None]

RUNS_FIELDS: int  # how many numbers the state of runs_walk() has
compiler: str  # the version of the C++ compiler
DIGITS_ARE_KNOWN: bool  # whether integers of Python are read where they lie

class CkyParser:
    def __init__(self, level: str, plan: object) -> None: ...
    def lanes(self, narrow: bool) -> int: ...
    def scratch_bytes(self, narrow: bool, length: int) -> int: ...
    def recognise(
        self,
        terminals: _U32,
        offsets: _I64,
        order: _I64,
        bounds: _I64,
        narrow: _I64,
        symbol: int,
        longest: _I32 | None,
        accepted: _Bools | None,
        threads: int,
    ) -> None: ...
    def charts(
        self,
        terminals: _U32,
        offsets: _I64,
        order: _I64,
        bounds: _I64,
        narrow: _I64,
        words: Sequence[_U32],
    ) -> None: ...

class CkyWords:
    def __init__(self, words: list[bytes], chars: bool, unknown: int) -> None: ...
    def encode(self, text: _U8, threads: int) -> tuple[_U32, _I64, _I64, _I64]: ...

TABLES_FIELD: int

class TablesUniverse:
    def __init__(
        self,
        level: str,
        states: int,
        corners: bool,
        stays_empty: bool,
        maps: _U32,
        columns: _U64,
        pairs: _U32,
        finals: _U8,
        walk: _U32,
        counts: _U32,
        width: int,
        height: int,
        torus: bool,
        threads: int,
    ) -> None: ...
    def step(self, generations: int, stopped: Callable[[], bool] | None) -> int: ...
    def put(self, y: int, words: _U64) -> None: ...
    def get(self, y: int, words: _U64) -> None: ...
    def generation(self) -> int: ...
    @staticmethod
    def nbytes(width: int, height: int) -> int: ...

class Settling:
    def __init__(
        self,
        level: str,
        width: int,
        height: int,
        torus: bool,
        birth: int,
        survival: int,
        threads: int,
        circuit: LifeCircuit | None = None,
    ) -> None: ...
    def put(self, y: int, words: _U64) -> None: ...
    def get(self, y: int, words: _U64) -> None: ...
    def step(self, count: int, stopped: Callable[[], bool] | None) -> None: ...
    def rounds(self) -> int: ...
    def windows(self) -> int: ...
    @staticmethod
    def nbytes(width: int, height: int) -> float: ...

class TilesPlane:
    def __init__(
        self,
        level: str,
        birth: int,
        survival: int,
        memory: int,
        threads: int,
        circuit: LifeCircuit | None = None,
    ) -> None: ...
    def step(self, generations: int, stopped: Callable[[], bool] | None) -> None: ...
    def put(self, places: _I64, squares: _U64) -> None: ...
    def moved(self) -> int: ...
    def settled(self) -> bool: ...
    def nbytes(self) -> int: ...
    def population(self) -> int: ...
    def box(self) -> tuple[int, int, int, int] | None: ...
    def squares(
        self, i0: int, j0: int, i1: int, j1: int, cursor: int, places: _I64, words: _U64
    ) -> tuple[int, int | None]: ...
    def get(self, x: int, y: int, words: _U64) -> None: ...
    def counts(self, x: int, y: int, level: int, blocks: npt.NDArray[np.float64]) -> None: ...

def ageing_pass(
    level: str,
    src: _U64,
    dst: _U64,
    width: int,
    torus: bool,
    birth: int,
    survival: int,
    states: int,
    steps: int,
    panels: int,
    useful: int,
    columns: int,
    halo: int,
    band_rows: int,
    block_rows: int,
    threads: int,
    stopped: Callable[[], bool] | None = None,
    circuit: LifeCircuit | None = None,
    edge: int = 0,
) -> bool: ...
def macrocell_lines(
    text: bytes, start: int, most: int, highest: int, levels: bytearray
) -> tuple[int, int, bytes, bytes, bytes]: ...

class HashTree:
    def __init__(
        self,
        level: str,
        birth: int,
        survival: int,
        memory: int,
        threads: int,
        circuit: LifeCircuit | None = None,
    ) -> None: ...
    def step(self, generations: bytes, stopped: Callable[[], bool] | None) -> bool: ...
    def put(self, places: _I64, squares: _U64, stopped: Callable[[], bool] | None) -> bool: ...
    def build(
        self,
        levels: _U8,
        children: _I64,
        leaves: _U64,
        stopped: Callable[[], bool] | None,
    ) -> bool: ...
    def move_a_row(self, down: bool, stopped: Callable[[], bool] | None) -> bool: ...
    def population(self) -> int: ...
    def margins(self) -> list[int] | None: ...
    def root(self) -> int: ...
    def root_level(self) -> int: ...
    def children(self, ids: _U32, out: _U32) -> None: ...
    def rows(self, ids: _U32, out: _U32) -> None: ...
    def populations(self, ids: _U32, out: npt.NDArray[np.float64]) -> None: ...
    def listing(self, lifted: bool) -> tuple[_U32, _U8, _U32]: ...
    def set_pause(self, milliseconds: int) -> None: ...
    def nbytes(self) -> int: ...
    def statistics(self) -> dict[str, int]: ...

class SemigroupEnumerator:
    def __init__(
        self,
        level: str,
        generators: _Maps,
        points: _U32,
        monoid: bool,
        compare: bool,
        memory: int,
        key: _U32,
        factors: _U64,
        mask: Sequence[int],
        threads: int,
        level2: int,
    ) -> None: ...
    def expand(self, most: int, on: bool = False) -> bool: ...
    def resume(
        self,
        starts: Sequence[int],
        first: _U32,
        suffix: _U32,
        prefix: _U32,
        last: _U32,
        right: _U32,
        left: _U32,
        hashes: _U64,
    ) -> None: ...
    def state(self) -> list[int]: ...
    def starts(self, known: int) -> list[int]: ...
    def read(self, name: str, start: int, out: npt.NDArray[Any]) -> None: ...
    def maps(self, numbers: _U64, out: _Maps) -> None: ...
    def positions(self, maps: _Maps, out: _I64) -> None: ...
    def differ(self, words: _U32, letters: _U32, others: _U32) -> tuple[int, int] | None: ...

def bignum_arenas() -> tuple[int, int]: ...
def bignum_absolute(a: _Numbers, threads: int) -> _NumberFields: ...
def bignum_add(
    level: str, a: _Numbers, b: _Numbers, subtract: bool, threads: int
) -> _NumberFields: ...
def bignum_bit_length(a: _Numbers, threads: int) -> _I64: ...
def bignum_compare(a: _Numbers, b: _Numbers, threads: int) -> _I8: ...
def bignum_concatenate(batches: list[_Numbers], threads: int) -> _NumberFields: ...
def bignum_divmod(
    a: _Numbers, b: _Numbers, threads: int
) -> tuple[_NumberFields, _NumberFields]: ...
def bignum_floordiv(a: _Numbers, b: _Numbers, threads: int) -> _NumberFields: ...
def bignum_from_ints(
    values: list[int] | tuple[int, ...], by_bytes: bool = False, level: str | None = None
) -> _NumberFields: ...
def bignum_from_lines(
    text: bytes | str, base: int, threads: int
) -> _NumberFields | tuple[int, int, int]: ...
def bignum_gcd(level: str, a: _Numbers, b: _Numbers, threads: int) -> _NumberFields: ...
def bignum_invert(a: _Numbers, moduli: _Numbers, threads: int) -> _NumberFields | int: ...
def bignum_isqrt(a: _Numbers, threads: int) -> _NumberFields: ...
def bignum_load_gmp(path: str) -> str: ...
def bignum_low_bits(a: _Numbers, bits: int, threads: int) -> _NumberFields: ...
def bignum_mod(a: _Numbers, b: _Numbers, threads: int) -> _NumberFields: ...
def bignum_multiply(level: str, a: _Numbers, b: _Numbers, threads: int) -> _NumberFields: ...
def bignum_multiply_add(
    level: str, a: _Numbers, b: _Numbers, c: _Numbers, threads: int
) -> _NumberFields: ...
def bignum_negate(a: _Numbers, threads: int) -> _NumberFields: ...
def bignum_power(a: _Numbers, exponents: _I64, threads: int) -> _NumberFields: ...
def bignum_powmod(
    level: str, a: _Numbers, exponents: _Numbers, moduli: _Numbers, threads: int
) -> _NumberFields: ...
def bignum_select(mask: _Bools, a: _Numbers, b: _Numbers, threads: int) -> _NumberFields: ...
def bignum_shift(a: _Numbers, counts: _I64, threads: int) -> _NumberFields: ...
def bignum_sign(a: _Numbers, threads: int) -> _I8: ...
def bignum_sum(level: str, a: _Numbers, threads: int) -> _NumberFields: ...
def bignum_to_ints(a: _Numbers, by_bytes: bool = False, level: str | None = None) -> list[int]: ...
def bignum_to_lines(a: _Numbers, base: int, threads: int) -> str: ...
def cells_ages(
    level: str,
    words: _U64,
    first: int,
    scale: int,
    known: _U64 | None,
    before: _U16 | None,
    passed: int,
    shades: _U8,
    counts: _U16,
    levels: _U8,
) -> None: ...
def cells_climb(
    level: str, live: _U8 | _U16 | _U32, scale: int, levels: _U8, above: _U16 | _U32 | None
) -> None: ...
def cells_densities(level: str, words: _U64, first: int, scale: int, levels: _U8) -> None: ...
def cells_fill_soup(level: str, words: _U64, y0: int, w0: int, digits: int, key: int) -> None: ...
def cells_survey(
    level: str, words: _U64, y0: int, w0: int, counts: _U8 | None
) -> tuple[int, int, int]: ...
def cky_mark_lines(text: _U8, starts: _I64, marks: _U8, shown: bool) -> bytes: ...
def cky_narrow_tokens(tokens: _U32, terminals: int, out: _U8 | _U16 | _U32) -> None: ...
def circuit_search(table: bytes, inputs: int, moves: int, seed: int) -> list[list[int]]: ...

class LifeCircuit:
    def __init__(self, ops: Sequence[Sequence[int]], native: bool) -> None: ...
    def native(self) -> bool: ...

def levels() -> list[str]: ...
def life_pass(
    level: str,
    src: _U64,
    dst: _U64,
    width: int,
    torus: bool,
    birth: int,
    survival: int,
    steps: int,
    panels: int,
    useful: int,
    columns: int,
    halo: int,
    band_rows: int,
    block_rows: int,
    threads: int,
    stopped: Callable[[], bool] | None = None,
    circuit: LifeCircuit | None = None,
    edge: int = 0,
) -> bool: ...
def life_folded(
    level: str,
    src: _U64,
    dst: _U64,
    width: int,
    torus: bool,
    birth: int,
    survival: int,
    generations: int,
    pieces: int,
    halo: int,
    stretch: int,
    threads: int,
    stopped: Callable[[], bool] | None = None,
) -> bool: ...
def ranges_step(
    level: str,
    src: _U8,
    dst: _U8,
    torus: bool,
    runs: Sequence[tuple[int, int, int]],
    radius: int,
    middle: bool,
    birth: Sequence[tuple[int, int]],
    survival: Sequence[tuple[int, int]],
    states: int,
    columns: int,
    rows: int,
    threads: int,
) -> None: ...
def rational_combine(
    level: str, operation: str, n1: _Numbers, d1: _Numbers, n2: _Numbers, d2: _Numbers, threads: int
) -> tuple[_NumberFields, _NumberFields] | None: ...
def redundant_add(
    level: str, word: int, x: _Digits, y: _Digits, subtract: bool, out: _Digits, threads: int
) -> None: ...
def redundant_normalise(level: str, word: int, x: _Digits, out: _U64) -> None: ...
def redundant_sum(
    level: str, word: int, numbers: _U64, positive: int, out: _Digits, threads: int
) -> None: ...
def runs_walk(
    text: bytes,
    first: int,
    last: int,
    state: _I64,
    words: _U64 | None,
    width: int,
    left: int,
    top: int,
) -> tuple[int, int]: ...
def runs_write(words: _U64, left: int, width: int, pen: _I64) -> bytes: ...
def semigroup_components(graphs: Sequence[_U32], threads: int) -> list[_U32]: ...
def semigroup_counts(
    level: str,
    sets: _Maps,
    monoid: bool,
    limit: int,
    sizes: _I32,
    idempotents: _I32,
    longest: _I32,
    threads: int,
) -> None: ...
def semigroup_idempotents(
    right: _U32, first: _U32, suffix: _U32, classes: _U32 | None, threads: int
) -> _U32: ...
def semigroup_join(a: _U32, b: _U32) -> _U32: ...
def semigroup_letters(
    numbers: _U32, offsets: _I64, first: _U32, suffix: _U32, threads: int
) -> _U32: ...
def semigroup_meet(a: _U32, b: _U32) -> _U32: ...
def semigroup_rules(right: _U32, suffix: _U32) -> tuple[_U32, _U32, _U32]: ...
def semigroup_small(
    level: str, generators: _Maps, monoid: bool, limit: int
) -> tuple[int, int, bytes] | None: ...
def semigroup_traced(
    start: _U32, word: _U32, graph: _U32, letters: _U32, rests: _U32, threads: int
) -> _U32: ...
def sums_bitwise(
    level: str, a_planes: _U32, b_planes: _U32, out_planes: _U32, threads: int
) -> None: ...
def sums_naive(level: str, a: _U32, b: _U32, out: _U32, threads: int) -> None: ...
def vector_bits(level: str) -> int: ...
def weighted_run(
    level: str,
    semiring: str,
    tables: Sequence[_U32],
    units: bool,
    weights: Sequence[npt.NDArray[Any]],
    constants: npt.NDArray[Any] | None,
    terminals: _U32,
    offsets: _I64,
    which: _I64,
    symbol: int,
    results: npt.NDArray[Any],
    done: _U8,
    chart: npt.NDArray[Any] | None,
    threads: int,
) -> None: ...
def weighted_scratch_bytes(
    level: str, semiring: str, tables: Sequence[_U32], units: bool, length: int
) -> int: ...
