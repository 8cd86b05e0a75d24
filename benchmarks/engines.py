"""The engines of a plane without bounds beside the one that chooses among them while it runs.

    python -m benchmarks.engines [--backend cpu|cuda|auto] [--patterns FOLDER] [--seconds SECONDS]
                                 [--threads THREADS]

Milliseconds for all generations of a pattern, without reading it, and how many times as long the
choice takes as the quickest engine does: of the processor, or with another backend than cpu as
they pass, the best of four, of which the first compiles. With auto the choice has GPU and CPU,
tiles are on the GPU if the pattern is large, and HashLife is on the CPU; with cuda all that runs on
the GPU does. An engine that is not done after SECONDS is stopped (a dash), and so is one that does
not run there. FOLDER is Golly's Patterns; without it only patterns of data/patterns and soups are
run. All populations must be the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from lifesim import patterns
from lifesim.engine import Life
from lifesim.errors import LifesimError
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
    ("soup-4000", 1000),
    ("soup-4000", 5000),
    ("Life/Breeders/breeder.lif", 10**4),
    ("Life/Breeders/spacefiller.rle", 2000),
    ("HashLife/metapixel-galaxy.mc.gz", 1 << 14),
    ("HashLife/jagged2.mc", 1 << 16),
    ("HashLife/broken-lines.mc", 1 << 16),
    ("Non-Totalistic/limited-spacefiller.rle", 2000),
    ("Non-Totalistic/rr14gun.rle", 10**5),
    ("Non-Totalistic/pondpuffer-spaceship.rle", 10**5),
    ("Non-Totalistic/JustFriends/oscillators.rle", 10**5),
    ("Other-Rules/b2ein-spaceships-and-rakes.rle", 10**4),
)
REPEATS = 4  # with a GPU, of which the first compiles
GPU_CASES = (("soup-16384", 1000),)  # which take a CPU minutes


def pattern_of(name: str, golly: Path | None) -> Pattern | None:
    """Return a pattern by its name; None where Golly's folder has it and is not given."""
    if name.startswith("soup-"):
        side = int(name.removeprefix("soup-"))
        return Pattern(random_grid(side, side, seed=1, density=0.375), 0, 0)
    if "/" not in name:
        return patterns.read(DATA / name)
    return patterns.read(golly / name) if golly else None


def measure(
    pattern: Pattern,
    generations: int,
    engine: str,
    seconds: float,
    backend: str,
    threads: int | None,
) -> tuple[float, int] | None:
    """Return the seconds that a run takes, and the population; None where it took too long, or the
    engine does not run there."""
    on_cpu = backend == "cpu"
    clock = time.process_time if on_cpu else time.perf_counter
    times, population = [], 0
    for _ in range(1 if on_cpu else REPEATS):
        try:
            life = Life.from_start(place(pattern), engine=engine, backend=backend, threads=threads)
        except LifesimError:
            return None
        end = time.monotonic() + seconds
        began = clock()
        life.run(generations, stopped=lambda end=end: time.monotonic() > end)
        population = life.population()  # which waits for a GPU
        times.append(clock() - began)
        if life.generation != generations:
            return None
    return min(times), population


def main() -> int:
    """Print the table. Returns 1 where populations differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--backend", choices=("cpu", "cuda", "auto"), default="cpu")
    parser.add_argument("--patterns", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    try:
        print(f"on {pick(options.backend, threads=options.threads).describe()}\n")
    except BackendUnavailableError as error:
        parser.error(str(error))
    print(f"| pattern | generations | {' | '.join(ENGINES)} | auto / best |")
    print(f"| --- | ---: | {'---: | ' * len(ENGINES)}---: |")
    wrong = 0
    for name, generations in CASES + (() if options.backend == "cpu" else GPU_CASES):
        pattern = pattern_of(name, options.patterns)
        if pattern is None:
            continue
        how = options.seconds, options.backend, options.threads
        found = {engine: measure(pattern, generations, engine, *how) for engine in ENGINES}
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
