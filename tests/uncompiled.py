"""What each package computes, for one process that has the compiled kernels and one without.

`python -m tests.uncompiled PACKAGE FOLDER [blocked]` prints JSON: each result by its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Differs between two runs, or says who computes.
_OWN = re.compile(
    r"(?m)^.*: running on the slow reference backend: .*\n"
    r"|^products: .* computed.*\n|^.* elements/s, .*\n"
    r'|(?<="id": ")[0-9a-f]+'
)
_FLOAT = re.compile(r"-\d+\.\d{9,}")


def said(call: Callable[[], Any]) -> str:
    """Return what comes out of it, or what it raises."""
    try:
        return repr(call())
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def called(name: str, *arguments: object, stdin: bytes = b"") -> str:
    """Return what a command prints, and its exit code."""
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    sys.argv = [name, *map(str, arguments)]
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    main = __import__(f"{name}.cli", fromlist=["main"]).main
    code: Any = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    shown = out.buffer.getvalue().decode(errors="backslashreplace")  # type: ignore[attr-defined]
    return _OWN.sub("", f"{code}\n{shown}\n{err.getvalue()}")


def digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes()).hexdigest()


# --- arith --------------------------------------------------------------------------------------


def arith(folder: Path) -> Iterator[tuple[str, Any]]:
    import numpy as np

    import arith as package
    from arith import IntArray, RationalArray, RedundantInt

    source = random.Random(1)

    def number() -> int:
        return source.getrandbits(source.choice((0, 1, 8, 63, 64, 65, 130, 700))) * (
            -1 if source.random() < 0.4 else 1
        )

    a = [number() for _ in range(60)]
    b = [number() or 1 for _ in range(60)]
    x, y, small = IntArray(a), IntArray(b), IntArray([n % 70 for n in a])
    calls: dict[str, Callable[[], Any]] = {
        "add": lambda: (x + y).to_ints(),
        "sub": lambda: (7 - x).to_ints(),
        "mul": lambda: (x * y).to_ints(),
        "divmod": lambda: [part.to_ints() for part in divmod(x, y)],
        "zero": lambda: x // (y - y),
        "shift": lambda: [(x << small).to_ints(), (x >> small).to_ints()],
        "shift wrongly": lambda: x << x,
        "pow": lambda: (x ** (small % 5)).to_ints(),
        "powmod": lambda: pow(x, abs(y) % 1000, abs(y) + 1).to_ints(),
        "gcd": lambda: x.gcd(y).to_ints(),
        "isqrt": lambda: abs(x).isqrt().to_ints(),
        "isqrt wrongly": lambda: x.isqrt(),
        "compare": lambda: [(x < y).tolist(), (x == y).tolist(), x.bit_length().tolist()],
        "sum": lambda: [x.sum(), x.min(), x.max()],
        "where": lambda: IntArray.where(np.array(a) > np.array(b), x, y).to_ints(),
        "slices": lambda: [x[3:50:7].to_ints(), x[[5, -1, 0]].to_ints(), x[-1]],
        "index": lambda: x[60],
        "text": lambda: [x.to_lines(), x.to_lines(base=16)],
        "bytes": lambda: x.to_bytes(100, "big", signed=True),
        "bytes wrongly": lambda: x.to_bytes(8, "big", signed=True),
        "numpy": lambda: IntArray([1, -5, 2**62]).to_numpy(np.int64).tolist(),
        "numpy wrongly": lambda: x.to_numpy(np.int64),
        "mixed": lambda: IntArray([1, "2", 3]),
        "float": lambda: IntArray([1, 2.5]),
        "repr": lambda: repr(x[:5]),
    }
    for name, call in calls.items():
        yield name, said(call)
    texts = [
        b"1\n-2\n+3\n", b"# none\n\n  12  \n", b"0x1F\n-0xff", b"12a", b"1\n 2 3", b"-", b"--1",
        b"\xff", b"1\r\n2\r\n", "\u0663".encode(), b"1_000", b"\t7\t", b"\x0b8", b"9\x0c", b"1\x00",
        b"+0x10", b"0x", b"012", b"-0", b"1\r2", b"f", b"FF", b"x1", b"1#2", b"\x1c5", b"\xc2\xa06",
    ]  # fmt: skip
    for text in texts:
        for base in (0, 10, 16, 8):
            yield (
                f"lines {text!r} {base}",
                said(lambda text=text, base=base: IntArray.from_lines(text, base).to_ints()),
            )
    p = RationalArray([Fraction(n, abs(d)) for n, d in zip(a, b, strict=True)])
    q = RationalArray([Fraction(d, 1 + abs(n)) for n, d in zip(a, b, strict=True)])
    rational: dict[str, Callable[[], Any]] = {
        "+": lambda: (p + q).to_fractions(),
        "*": lambda: (p * q).to_fractions(),
        "/": lambda: (p / q).to_fractions(),
        "//": lambda: (p // q).to_ints(),
        "<": lambda: (p < q).tolist(),
        "sum": lambda: p.sum(),
        "**": lambda: (p**-1).to_fractions(),
    }
    for name, call in rational.items():
        yield f"rational {name}", said(call)

    def changed(value: int) -> list[int]:
        made = RedundantInt(value)
        made += 10**390
        made -= 1
        return [made.to_int(), hash(made.digits.tobytes()) * 0]

    for value in (5, -(10**400)):
        yield f"redundant {value}", said(lambda value=value: changed(value))
    keys = [source.getrandbits(64) | 1 for _ in range(40)]
    yield "factors", said(lambda: package.shared_factors(keys))
    numbers = folder / "numbers.txt"
    numbers.write_text("\n".join(map(str, a)))
    for operation in ("neg", "add", "gcd", "lcm", "mul", "cmp", "sum", "isqrt", "divmod"):
        files = [numbers] * (1 if operation in ("neg", "sum", "isqrt") else 2)
        yield f"arith eval {operation}", called("arith", "eval", operation, *files)
    moduli = folder / "moduli.txt"
    moduli.write_text("\n".join(str(n) for n in (15 * 2**90 + 15, 21 * 2**80 + 21, 77)))
    yield "arith shared-primes", called("arith", "shared-primes", moduli)


# --- ckyparse -----------------------------------------------------------------------------------


def ckyparse(folder: Path) -> Iterator[tuple[str, Any]]:
    grammars = ROOT / "data" / "grammars"
    for path in sorted(grammars.glob("*.*cfg")):
        lines = path.with_suffix(".examples").read_bytes()
        text = b"\n".join(
            line.partition(b" ")[2] for line in lines.splitlines() if line[:1] in (b"+", b"-")
        )
        stdin = text[:1500] + b"\nz z\n\xff\n"
        weighted = path.suffix == ".pcfg"
        ways: list[tuple[object, ...]] = [
            ("accept",), ("accept", "--format", "jsonl"), ("accept", "--only", "rejected"),
            ("count",), ("accept", "--unknown", "error"),
            ("parse", "--limit", 99 if weighted else 3, "--format", "tsv"),
        ]  # fmt: skip
        if weighted:
            ways += [("prob",), ("prob", "--exact"), ("prob", "--best"), ("parse", "--best")]
        tokens = ("--tokens", "space") if "english" in path.name else ("--tokens", "chars")
        for way, *rest in ways:
            printed = called("ckyparse", way, "-g", path, *tokens, *rest, stdin=stdin)
            if weighted:  # floats have last digits of their own, which trees are ordered by
                printed = _FLOAT.sub(lambda found: f"{float(found[0]):.9f}", printed)
                printed = "\n".join(sorted(printed.split("\n")))
            yield f"{path.name} {way} {rest}", printed
        if tokens[-1] == "space":
            yield (
                f"{path.name} regex",
                called("ckyparse", "accept", "-g", path, "--tokens", r"regex:\w+", stdin=stdin),
            )
        yield (
            f"{path.name} json",
            called(
                "ckyparse",
                "count",
                "-g",
                path,
                "--tokens",
                "json",
                stdin=b'["the"]\n[1]\n["("]\n[\n',
            ),
        )
        yield f"{path.name} convert", called("ckyparse", "convert", path)
        yield f"{path.name} sample", called("ckyparse", "sample", path, "-n", 5, "--seed", 1)


# --- semigroups ---------------------------------------------------------------------------------


def semigroups(folder: Path) -> Iterator[tuple[str, Any]]:
    import numpy as np

    from semigroups import Semigroup, count_batch

    counts = count_batch(np.random.default_rng(4).integers(0, 4, (20, 2, 4)), limit=60)
    yield "counts", [counts.sizes.tolist(), counts.idempotents.tolist(), counts.longest.tolist()]
    for seed in range(3):
        s = Semigroup(np.random.default_rng(seed).integers(0, 5, (3, 5)))
        results: dict[str, Callable[[], Any]] = {
            "size": lambda s=s: [s.size, s.levels, s.contains_identity],
            "words": lambda s=s: [s.word(i) for i in range(0, s.size, 7)],
            "elements": lambda s=s: s.elements(range(s.size)).tolist(),
            "positions": lambda s=s: s.positions(
                np.random.default_rng(9).integers(0, 5, (99, 5))
            ).tolist(),
            "products": lambda s=s: s.product(range(5), range(5, 10)).tolist(),
            "graphs": lambda s=s: [s.right_cayley.tolist(), s.left_cayley.tolist()],
            "rules": lambda s=s: list(s.rules)[:99],
            "idempotents": lambda s=s: s.idempotents.tolist(),
            "outside": lambda s=s: s.word(10**6),
            **{
                f"green {kind}": lambda s=s, kind=kind: repr(s.green(kind))
                for kind in ("R", "L", "J", "D", "H")
            },
        }
        for name, call in results.items():
            yield f"{name} {seed}", said(call)
    for family in ("bihecke:4", "full:4", "zero_hecke:4"):
        file = folder / f"{family.replace(':', '')}.h5"
        yield (
            f"enumerate {family}",
            called("semigroups", "enumerate", family, "--levels", "--green", "--out", file),
        )
        yield f"words {family}", called("semigroups", "words", file, *range(9))
        yield f"info {family}", called("semigroups", "info", file)
        yield (
            f"rules {family}",
            called("semigroups", "enumerate", family, "--rules-out", "-", "--quiet"),
        )
        for kind in ("json", "lines", "gap"):
            yield f"convert {family} {kind}", called("semigroups", "convert", family, "--to", kind)


# --- lifesim ------------------------------------------------------------------------------------


def lifesim(folder: Path) -> Iterator[tuple[str, Any]]:
    names = ("acorn.rle", "daynight-ship.rle", "glider.rle", "gosper-gun.rle", "seeds-block.rle")
    for path in (ROOT / "data" / "patterns" / name for name in (*names, "pulsar.cells")):
        outs = [folder / f"{path.stem}.{kind}" for kind in ("rle", "cells", "mc", "lif", "png")]
        way = [part for out in outs for part in ("--out", out)]
        yield f"run {path.name}", called("lifesim", "run", path, "--steps", 70, "--quiet", *way)[:1]
        for out in outs:
            yield f"of {path.name} {out.suffix}", digest(out) if out.exists() else None
        yield f"info {path.name}", called("lifesim", "info", outs[0], "--json")
        yield f"convert {path.name}", called("lifesim", "convert", outs[2], "-")
    soup = folder / "soup"
    yield "soup", called("lifesim", "random", "--size", 512, "--seed", 3, "--out", soup)[:1]
    yield "streamed", called("lifesim", "run", soup, "--steps", 30, "--quiet")[:1]
    yield "info of soup", called("lifesim", "info", soup, "--json")
    yield "verify", called("lifesim", "verify", soup)[:1]
    for wrong in (
        b"x = 3, y = 1\n3o!",
        b"bob$9",
        b"#Life 1.06\n1 x",
        b"[M2] \n1 2 3\n",
        b"!\n.O.\nq",
    ):
        file = folder / "wrong"
        file.write_bytes(wrong)
        yield f"wrong {wrong!r}", called("lifesim", "info", file)


PACKAGES: dict[str, Callable[[Path], Iterator[tuple[str, Any]]]] = {
    "arith": arith,
    "ckyparse": ckyparse,
    "lifesim": lifesim,
    "semigroups": semigroups,
}

if __name__ == "__main__":
    if sys.argv[3:] == ["blocked"]:
        sys.modules["kernels._cpu"] = None  # type: ignore[assignment]
    print(json.dumps(dict(PACKAGES[sys.argv[1]](Path(sys.argv[2])))), file=sys.__stdout__)
