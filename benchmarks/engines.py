"""The engines of a plane without bounds beside the one that chooses among them while it runs.

    python -m benchmarks.engines [--patterns FOLDER] [--seconds SECONDS] [--threads THREADS]

Milliseconds of the processor for all generations of a pattern, without reading it, and how many
times as long the choice takes as the quickest engine does. An engine that is not done after SECONDS
is stopped (a dash). FOLDER is Golly's Patterns; without it only patterns of data/patterns and a
soup are run. All populations must be the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from lifesim import patterns
from lifesim.engine import Life
from lifesim.patterns import Pattern
from lifesim.soup import random_grid
from lifesim.start import place

DATA = Path(__file__).parents[1] / "data" / "patterns"
ENGINES = ("auto", "tiles", "hashlife", "dense")
CASES = (
    ("r-pentomino.rle", 1103),
    ("acorn.rle", 5206),
    ("acorn.rle", 10**6),
    ("gosper-gun.rle", 10**5),
    ("gosper-gun.rle", 10**9),
    ("soup", 1000),
    ("soup", 5000),
    ("Life/Breeders/breeder.lif", 10**4),
    ("Life/Breeders/spacefiller.rle", 2000),
    ("HashLife/metapixel-galaxy.mc.gz", 1 << 14),
    ("HashLife/jagged2.mc", 1 << 16),
    ("HashLife/broken-lines.mc", 1 << 16),
)


def pattern_of(name: str, golly: Path | None) -> Pattern | None:
    """Return a pattern by its name; None where Golly's folder has it and is not given."""
    if name == "soup":
        return Pattern(random_grid(4000, 4000, seed=1, density=0.375), 0, 0)
    if "/" not in name:
        return patterns.read(DATA / name)
    return patterns.read(golly / name) if golly else None


def measure(
    pattern: Pattern, generations: int, engine: str, seconds: float, threads: int | None
) -> tuple[float, int] | None:
    """Return the seconds of the processor, and the population; None where it took too long."""
    life = Life.from_start(place(pattern), engine=engine, backend="cpu", threads=threads)
    end = time.monotonic() + seconds
    began = time.process_time()
    life.run(generations, stopped=lambda: time.monotonic() > end)
    took = time.process_time() - began
    return (took, life.population()) if life.generation == generations else None


def main() -> int:
    """Print the table. Returns 1 where populations differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--patterns", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    print(f"| pattern | generations | {' | '.join(ENGINES)} | auto / best |")
    print(f"| --- | ---: | {'---: | ' * len(ENGINES)}---: |")
    wrong = 0
    for name, generations in CASES:
        pattern = pattern_of(name, options.patterns)
        if pattern is None:
            continue
        found = {
            engine: measure(pattern, generations, engine, options.seconds, options.threads)
            for engine in ENGINES
        }
        done = {engine: each for engine, each in found.items() if each is not None}
        wrong += len({population for _, population in done.values()}) > 1
        texts = [f"{1e3 * each[0]:.1f}" if each else "-" for each in found.values()]
        others = [each[0] for engine, each in done.items() if engine != "auto"]
        ratio = f"{done['auto'][0] / min(others):.1f}" if others and "auto" in done else "-"
        stem = Path(name).name
        print(f"| {stem} | {generations} | {' | '.join(texts)} | {ratio} |", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
