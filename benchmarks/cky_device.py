"""CKY parsing on a GPU: Fujita's Table 7.2 with ours beside it, ragged lengths, and a grammar
like that of a natural language.

    python -m benchmarks.cky_device [--table] [--symbols 256 512] [--count 1081344] [--json]

Microseconds per string of length 32, from terminals on the device to charts and bits of
acceptance there; the median of up to five runs. Fujita's are of a GTX TITAN X (2017). direct
is his circuit, every rule at every split point, on this device; it takes too long beyond 128
symbols. --table takes all of his grammars, not only those that there is a figure to reach for.
Beyond 128 symbols there are fewer strings, by as much. Where it pays for very many strings,
rows of up to 32 symbols use code that is generated from the grammar, from the start; the last
column says so, and how many seconds it took to generate and compile (or to find in the cache).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import natural
from benchmarks.cky_tables import LENGTH, TABLE, random_rules, random_strings, splits
from kernels.cky import Batch, Rules
from kernels.cky.cuda.circuit import circuit, enough
from kernels.cky.cuda.dense import DenseColumns, shared_bytes
from kernels.cky.cuda.direct import DirectColumns
from kernels.cky.cuda.engine import CudaCky, kind
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cuda.device import Device

RUNS = 5
SECONDS = 0.5  # enough of runs, if there are two
REACH = {
    (32, 8192): 0.03,
    (64, 8192): 0.09,
    (128, 16384): 0.35,
    (256, 65536): 1.5,
    (512, 131072): 5.0,
    (32, 32768): 0.045,
}
COUNT = 8 * 132 * 1024  # strings: eight blocks of the dense kernel for each multiprocessor
SAMPLE = 4096  # strings that are compared with the direct circuit


@dataclass(frozen=True, slots=True)
class Row:
    symbols: int
    rules: int
    strings: int
    us: float
    direct: float | None
    fujita: float
    reach: float | None
    accepted: float  # share, of a sample
    columns: str
    generated: float | None  # seconds that generated code took, if there is any


def microseconds(engine: CudaCky, batch: Batch, runs: int) -> float:
    """Return the microseconds of a string, the median of runs; a single run has no warm-up."""
    resident = engine.resident(batch)
    if runs > 1:
        resident.run(0)
    engine.device.synchronize()
    times: list[float] = []
    while len(times) < min(runs, 2) or (len(times) < runs and sum(times) < SECONDS):
        start = time.perf_counter()
        resident.run(0)
        engine.device.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times) / len(batch) * 1e6


def check(engine: CudaCky, batch: Batch, symbol: int = 0) -> None:
    """Raises AssertionError where the direct circuit has other answers."""
    direct = DirectColumns(engine.device, engine.rules)
    theirs = CudaCky(engine.device, engine.rules, columns=direct).longest(batch, symbol)
    if not np.array_equal(engine.longest(batch, symbol), theirs):
        raise AssertionError("the direct circuit does not agree")


def made(device: Device, of: Rules) -> tuple[CudaCky, float | None]:
    """An engine as it is after very many strings, and the seconds for generated code, if any."""
    capability = device.info.capability
    if (
        kind(of, capability) is not DenseColumns
        or not enough(of)
        or circuit(of, shared_bytes(capability)) is None
    ):
        return CudaCky(device, of), None
    start = time.perf_counter()
    columns = DenseColumns(device, of, circuit=True)
    return CudaCky(device, of, columns=columns), time.perf_counter() - start


def measure(device: Device, symbols: int, rules: int, count: int, *, direct: bool) -> Row:
    of = random_rules(symbols, rules)
    engine, generated = made(device, of)
    strings = random_strings(of, count, LENGTH)
    sample = strings.take(np.arange(min(count, SAMPLE)))
    accepted = float(engine.accept(sample, 0).mean())
    # The direct circuit is slow: where it is not asked for it sees halves of strings.
    check(engine, sample if direct else random_strings(of, len(sample), LENGTH // 2))
    us = microseconds(engine, strings, RUNS)
    theirs = None
    if direct:
        slow = CudaCky(device, of, columns=DirectColumns(device, of))
        theirs = microseconds(slow, strings, 1)
    name = type(engine.columns).__name__
    key = symbols, rules
    fujita = TABLE[key][1]
    return Row(*key, count, us, theirs, fujita, REACH.get(key), accepted, name, generated)


def mixed_lengths(device: Device, count: int = COUNT) -> tuple[float, float]:
    """Picoseconds per split and string, lengths 8 to 128 mixed, and all 68 (32 symbols)."""
    of = random_rules(32, 8192)
    engine = CudaCky(device, of)
    times = []
    for lengths in (range(8, 129), 68):
        batch = random_strings(of, count, lengths)
        times.append(microseconds(engine, batch, RUNS) * count / splits(batch.lengths) * 1e6)
    return times[0], times[1]


def natural_language(device: Device, count: int = 10_000) -> dict[str, float]:
    """Microseconds per sentence: data on the device; from token lists, through CKYParser."""
    from ckyparse import CKYParser
    from ckyparse.normal import NormalForm

    grammar = natural.grammar()
    sentences = natural.sentences(grammar, count)
    form = NormalForm(grammar)
    batch = Batch.of([[form.vocabulary[word] for word in s] for s in sentences])
    engine = CudaCky(device, form.rules)
    check(engine, batch.take(np.arange(min(count, SAMPLE))), form.start)
    resident = microseconds(engine, batch, RUNS)
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        engine.accept(batch, form.start)
        times.append(time.perf_counter() - start)
    parser = CKYParser(grammar, backend="cuda")
    parser.accepts(sentences)
    start = time.perf_counter()
    parser.accepts(sentences)
    whole = time.perf_counter() - start
    return {
        "device": resident,
        "with copies": min(times) / count * 1e6,
        "from token lists": whole / count * 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="all grammars of Table 7.2")
    parser.add_argument("--symbols", type=int, nargs="+", help="only grammars with so many")
    parser.add_argument("--count", type=int, default=COUNT, help="strings")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        device = pick("cuda").device  # type: ignore[attr-defined]
    except BackendUnavailableError as error:
        sys.exit(f"cky_device: {error}")
    cases = list(TABLE) if arguments.table else list(REACH)
    if arguments.symbols:
        cases = [case for case in cases if case[0] in arguments.symbols]
    if not arguments.json:
        print("| symbols | rules | µs | reach | direct | Fujita | ratio | accepted | columns |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    rows = []
    for symbols, rules in cases:
        count = min(arguments.count, arguments.count * 128 // symbols)
        direct = (symbols, rules) in REACH and symbols <= 128
        row = measure(device, symbols, rules, count, direct=direct)
        rows.append(row)
        if not arguments.json:
            reach = "" if row.reach is None else f"{row.reach:g}"
            theirs = "" if row.direct is None else f"{row.direct:.3g}"
            kernel = row.columns
            if row.generated is not None:
                kernel += f", generated code ({row.generated:.1f} s)"
            tail = f"{row.fujita:g} | {row.fujita / row.us:.0f} | {row.accepted:.0%} | {kernel}"
            print(
                f"| {symbols} | {rules} | {row.us:.4f} | {reach} | {theirs} | {tail} |", flush=True
            )
    mixed, equal = mixed_lengths(device)
    language = natural_language(device)
    if arguments.json:
        numbers = {"mixed": mixed, "equal": equal, "natural": language}
        print(json.dumps({"rows": [asdict(row) for row in rows], **numbers}))
        return
    print(f"lengths 8 to 128 mixed: {mixed:.3f} ps a split and string; all 68: {equal:.3f}")
    print(f"mixed lengths reach {equal / mixed:.0%} of the rate of equal ones")
    for what, us in language.items():
        print(f"natural language, {what}: {us:.3f} µs a sentence")


if __name__ == "__main__":
    main()
