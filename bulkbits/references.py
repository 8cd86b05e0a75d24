"""Figures that benchmarks/RESULTS.md records, for the tables of the `bench` commands.

None is measured here. Each says in which section and table it stands, which tests look up, and
by which command it was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Source:
    """The source of some figures.

    machine: a name for a table's cell; described: what it is. section: the heading in
    benchmarks/RESULTS.md. command: what made the figures, as it stands there.
    """

    machine: str
    described: str
    section: str
    command: str


@dataclass(frozen=True, slots=True)
class RecordedRate:
    """A figure of benchmarks/RESULTS.md.

    command, kind, operation, size: the row of a `bench` command that it is for; kind is "cpu" or
    "cuda". row: the first cells of its line there; column: the head of its column. figure: as it
    stands in that cell. rate: the same as work a second.
    """

    command: str
    kind: str
    operation: str
    size: str
    source: Source
    row: tuple[str, ...]
    column: str
    figure: str
    rate: float

    def facts(self) -> dict[str, Any]:
        """Return it for --json."""
        return {
            "rate": self.rate,
            "figure": self.figure,
            "machine": self.source.described,
            "section": self.source.section,
            "command": self.source.command,
        }


_XEON = "two cores of a Sapphire Rapids Xeon, AVX-512"
_H200 = "one NVIDIA H200"

_LIFE_CPU = Source(
    "Xeon, 2 cores", _XEON, "Life on a CPU", "python -m benchmarks.life --device cpu --seconds 5"
)
_LIFE_GPU = Source(
    "H200", _H200, "Life on one NVIDIA H200", "python -m benchmarks.life --device cuda:0"
)
_TILES_CPU = Source(
    "Zen 5, 1 thread",
    "one thread, of the processor, of two busy cores, Zen 5, AVX-512",
    "Planes without an edge, in tiles",
    "python -m benchmarks.plane --bgolly ... --lifelib ... --patterns ... --rounds 5",
)
_TILES_GPU = Source(
    "H200",
    f"{_H200} and 16 cores of its host",
    "Planes without an edge, in tiles, on a GPU",
    "python -m benchmarks.plane --cuda --bgolly ... --lifelib ... --patterns ... --rounds 3",
)
_ENGINES = Source(
    "Zen 5, 1 core",
    "one core, Zen 5, AVX-512, busy with other work, in its own time",
    "The engine that is chosen while a plane runs",
    "python -m benchmarks.engines --patterns FOLDER --seconds 10 --threads 1",
)
_NUMBERS_CPU = Source(
    "Xeon, 2 cores", _XEON, "Big numbers on a CPU", "python -m benchmarks.bignum_cpu"
)
_NUMBERS_GPU = Source(
    "H200",
    f"{_H200}, operands and results on the device",
    "Big numbers on one NVIDIA H200",
    "python -m benchmarks.bignum_device",
)
_INVERSES = Source(
    "16 cores",
    "the 16 cores of the H200's host",
    "Modular inverses",
    "arith bench --op invert --backend cpu",
)
_PARSING_CPU = Source(
    "Xeon, 2 cores", _XEON, "CKY parsing on a CPU", "python -m benchmarks.cky_cpu"
)
_PARSING_GPU = Source(
    "H200",
    _H200,
    "Before and after the engines were given one shape",
    "ckyparse bench --backend cuda",
)
_MAPS_CPU = Source(
    "2 cores",
    "two shared cores, AVX-512",
    "Semigroups of maps on a CPU",
    "python -m benchmarks.semigroups --backend cpu --alone --green bihecke:6",
)
_MAPS_GPU = Source(
    "H200",
    _H200,
    "Semigroups of maps on one NVIDIA H200",
    "python -m benchmarks.semigroups --backend cuda --alone --cases bihecke:5 bihecke:6 "
    "zero_rook:7 full:7",
)


def value_of(figure: str) -> float:
    """Return the number that a figure is, as 4 616."""
    return float(figure.replace(" ", ""))


def _life() -> Iterator[RecordedRate]:
    cpu = {"torus 4096×4096 B3/S23": "401", "torus 16384×16384 B3/S23": "564"}
    gpu = {
        "torus 16384×16384 B3/S23": "47.6",
        "torus 65536×65536 B3/S23": "50.8",
        "torus 131072×131072 B3/S23": "52.9",
        "torus 262144×262144 B3/S23": "53.8",
        "torus 65535×65535 B3/S23": "47.0",
        "plane 65536×65536 B3/S23": "50.4",
        "torus 65536×65536 B36/S23": "39.3",
        "torus 65536×65536 B3678/S34678": "35.4",
    }
    for kind, source, column, unit, figures in (
        ("cpu", _LIFE_CPU, "all", 1e9, cpu),
        ("cuda", _LIFE_GPU, "10¹²/s", 1e12, gpu),
    ):
        for name, figure in figures.items():
            topology, size, rule = name.split()
            rate = unit * value_of(figure)
            yield RecordedRate(
                "lifesim", kind, f"{topology} {rule}", size, source, (name,), column, figure, rate
            )
    for kind, source, column, figures in (
        ("cpu", _TILES_CPU, "one thread", {"acorn": "0.67", "soup-1000": "132.45"}),
        ("cuda", _TILES_GPU, "GPU", {"acorn": "3.25", "soup-1000": "1.63"}),
    ):
        for name, generations in (("acorn", 5206), ("soup-1000", 1000)):
            row = (name, str(generations))
            yield _plane(kind, f"{name}, tiles", generations, source, row, column, figures[name])
    gun = ("gosper-gun.rle", "100000")
    yield _plane("cpu", "gosper-gun, hashlife", 100_000, _ENGINES, gun, "hashlife", "0.5")


def _plane(
    kind: str,
    operation: str,
    generations: int,
    source: Source,
    row: tuple[str, ...],
    column: str,
    figure: str,
) -> RecordedRate:
    """Return a figure in milliseconds of a pattern on a plane without bounds."""
    rate, size = generations / (1e-3 * value_of(figure)), f"{generations:,} generations"
    return RecordedRate("lifesim", kind, operation, size, source, row, column, figure, rate)


def _numbers() -> Iterator[RecordedRate]:
    names = {"add": "add", "mul": "multiply", "muladd": "multiply_add", "divmod": "divmod"}
    names["gcd"] = "gcd"
    cpu: Mapping[str, Mapping[int, str]] = {
        "add": {256: "3.6", 1024: "14.7", 4096: "90.5"},
        "mul": {256: "4.8", 1024: "32.0", 4096: "259"},
        "divmod": {256: "42.9", 1024: "181", 4096: "1615"},
        "gcd": {256: "86.4", 1024: "356", 4096: "2656"},
    }
    gpu: Mapping[str, Mapping[int, str]] = {
        "add": {256: "0.0249", 1024: "0.0918", 4096: "0.3718"},
        "mul": {256: "0.0311", 1024: "0.1527", 4096: "1.8104"},
        "muladd": {256: "0.0353", 1024: "0.2085"},
        "divmod": {256: "0.0715", 1024: "0.4445", 4096: "4.0902"},
        "gcd": {256: "0.2925", 1024: "1.6417", 4096: "22.5798"},
    }
    for name, figures in cpu.items():
        for bits, figure in figures.items():
            row = (str(bits), names[name])
            yield _number("cpu", name, bits, _NUMBERS_CPU, row, "ours, ns", figure)
    for name, figures in gpu.items():
        for bits, figure in figures.items():
            row = (names[name], f"{2 * bits} by {bits}" if name == "divmod" else str(bits))
            yield _number("cuda", name, bits, _NUMBERS_GPU, row, "ns", figure)
    for bits, figure in ((256, "201"), (1024, "791"), (4096, "4 616")):
        yield _number("cpu", "invert", bits, _INVERSES, (str(bits),), "ns", figure)


def _number(
    kind: str, name: str, bits: int, source: Source, row: tuple[str, ...], column: str, figure: str
) -> RecordedRate:
    rate = 1e9 / value_of(figure)
    return RecordedRate("arith", kind, name, f"{bits} bits", source, row, column, figure, rate)


def _parsing() -> Iterator[RecordedRate]:
    cpu = {
        "random 32,8192": ("32 symbols, 8 192 rules, length 32", "2.09"),
        "random 32,32768": ("32 symbols, 32 768 rules, length 32", "2.15"),
        "random 64,8192": ("64 symbols, 8 192 rules, length 32", "6.97"),
        "random 128,16384": ("128 symbols, 16 384 rules, length 32", "24.8"),
        "random 256,65536": ("256 symbols, 65 536 rules, length 32", "101"),
        "random 512,131072": ("512 symbols, 131 072 rules, length 32", "341"),
        "S -> S S | a": ("S → S S | a, length 32", "0.0287"),
    }
    gpu = {
        "brackets": ("brackets, 32 tokens", "0.020"),
        "random 32,8192": ("32 symbols, 8192 rules, 32 tokens", "0.046"),
        "random 32,2048": ("32 symbols, 2048 rules, 32 tokens", "0.036"),
    }
    for kind, source, column, figures in (
        ("cpu", _PARSING_CPU, "µs a string", cpu),
        ("cuda", _PARSING_GPU, "new", gpu),
    ):
        for name, (row, figure) in figures.items():
            rate = 1e6 / value_of(figure)
            yield RecordedRate(
                "ckyparse", kind, name, "length 32", source, (row,), column, figure, rate
            )


def _semigroups() -> Iterator[RecordedRate]:
    elements = {
        "bihecke:5": 31_103,
        "bihecke:6": 7_505_009,
        "zero_rook:6": 13_327,
        "zero_rook:7": 130_922,
        "full:6": 46_656,
        "full:7": 823_543,
    }
    cpu = {
        "bihecke:5": ("biHecke 5", "0.023"),
        "bihecke:6": ("biHecke 6", "10.3"),
        "zero_rook:6": (
            "0-rook 6 as `Semigroup` has it, on the images of a point, proved",
            "0.012",
        ),
        "zero_rook:7": ("0-rook 7 likewise", "0.24"),
        "full:6": ("all maps of 6 points", "0.013"),
        "full:7": ("all maps of 7 points", "0.49"),
    }
    gpu = {
        "bihecke:5": ("biHecke 5", "0.0063"),
        "bihecke:6": ("biHecke 6", "0.0236"),
        "full:7": ("all maps of 7 points", "0.0146"),
    }
    for kind, source, figures in (("cpu", _MAPS_CPU, cpu), ("cuda", _MAPS_GPU, gpu)):
        for name, (row, figure) in figures.items():
            count = elements[name]
            rate, size = count / value_of(figure), f"{count:,} elements"
            yield RecordedRate("semigroups", kind, name, size, source, (row,), "s", figure, rate)


@cache
def references() -> tuple[RecordedRate, ...]:
    """Return all figures."""
    return (*_life(), *_numbers(), *_parsing(), *_semigroups())


def find(command: str, kind: str, operation: str, size: str) -> RecordedRate | None:
    """Return the figure for a row of a `bench` command on that kind of target, None without one."""
    wanted = command, kind, operation, size
    for reference in references():
        if wanted == (reference.command, reference.kind, reference.operation, reference.size):
            return reference
    return None
