"""Numbers of parses, probabilities and best parses: microseconds per string.

    python -m benchmarks.cky_weighted [--backend cpu] [--threads N]

From terminals in memory to values in memory, best of three runs, through kernels.cky.weighted;
2 and 8 primes are exact numbers of parses modulo so many. nltk's ViterbiParser beside it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks import natural
from benchmarks.cky_tables import random_rules, random_strings
from ckyparse import Grammar
from ckyparse.normal import NormalForm
from kernels.cky import Batch, Rules
from kernels.cky.weighted import INSIDE, VITERBI, WeightedCky, Weights, primes, weighted_for
from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError

RUNS = 3
CATALAN = "S -> S S [0.5] | 'a' [0.5]"
# Knudsen and Hein's grammar of secondary structures (1999).
HAIRPINS = """
S -> L S [0.8] | L [0.2]
F -> 'a' F 'u' [0.2] | 'u' F 'a' [0.2] | 'c' F 'g' [0.2] | 'g' F 'c' [0.2] | L S [0.2]
L -> 'a' [0.2] | 'c' [0.2] | 'g' [0.2] | 'u' [0.2] | 'a' F 'u' [0.1] | 'c' F 'g' [0.1]
"""


@dataclass(frozen=True, eq=False)
class ParsingCase:
    what: str
    rules: Rules
    start: int
    batch: Batch
    inside: Weights
    counting: Weights


def _ones(weights: Weights) -> Weights:
    arrays = (weights.binary, weights.units, weights.lexical, weights.loops)
    return Weights(*(np.array([1] * array.size, object) for array in arrays))


def _of_grammar(what: str, text: str, count: int, length: int) -> ParsingCase:
    form = NormalForm(Grammar.fromstring(text))
    batch = random_strings(form.rules, count, length)
    return ParsingCase(
        what, form.rules, form.start, batch, form.probabilities(), form.counting()[0]
    )


def cases(scale: int) -> Iterator[ParsingCase]:
    """scale: how many times more strings than a core needs."""
    yield _of_grammar("S → S S | a, length 32", CATALAN, 500 * scale, 32)
    yield _of_grammar("the same, 200", CATALAN, 4 * scale, 200)
    yield _of_grammar("RNA hairpins, 60", HAIRPINS, 200 * scale, 60)
    grammar = natural.grammar()
    form = NormalForm(grammar)
    sentences = natural.sentences(grammar, min(500 * scale, 10_000))
    batch = Batch.of([[form.vocabulary[word] for word in words] for words in sentences])
    counting = form.counting()[0]
    even = Weights(
        *(
            np.full(array.size, 1.0)
            for array in (counting.binary, counting.units, counting.lexical, counting.loops)
        )
    )
    inside = replace(even, lexical=np.full(counting.lexical.size, 0.1))
    yield ParsingCase("natural language, 11 words", form.rules, form.start, batch, inside, counting)
    rules = random_rules(32, 8192)
    inside = Weights(
        np.full(len(rules.binary), 1 / 256), np.empty(0), np.ones(len(rules.lexical)), np.ones(32)
    )
    batch = random_strings(rules, 8 * scale, 32)
    yield ParsingCase("32 symbols, 8 192 rules, 32", rules, 0, batch, inside, _ones(inside))


def microseconds(run: Callable[[], object], count: int) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) / count * 1e6


def measure(engine: WeightedCky, case: ParsingCase) -> list[float]:
    """inside, Viterbi, 2 primes, 8 primes."""
    batch, start, count = case.batch, case.start, len(case.batch)
    return [
        microseconds(lambda: engine.values(batch, start, case.inside, INSIDE), count),
        microseconds(lambda: engine.values(batch, start, case.inside, VITERBI), count),
        microseconds(lambda: engine.residues(batch, start, case.counting, primes(2)), count),
        microseconds(lambda: engine.residues(batch, start, case.counting, primes(8)), count),
    ]


def nltk_viterbi(text: str, tokens: list[str]) -> float:
    from nltk import PCFG
    from nltk.parse import ViterbiParser

    parser = ViterbiParser(PCFG.fromstring(text))
    return microseconds(lambda: list(parser.parse(tokens)), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    try:
        backend = pick(arguments.backend, threads=arguments.threads)
    except BackendUnavailableError as error:
        sys.exit(f"cky_weighted: {error}")
    print("| what | strings | inside | Viterbi | 2 primes | 8 primes |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for case in cases(200 if backend.name == "cuda" else 1):
        times = measure(weighted_for(backend, case.rules), case)
        shown = " | ".join(f"{us:.3g}" for us in times)
        print(f"| {case.what} | {len(case.batch)} | {shown} |", flush=True)
    for name, text, tokens in (
        ("S → S S | a", CATALAN, ["a"] * 16),
        ("RNA hairpins", HAIRPINS, list("acguacguacguacgu")),
    ):
        theirs = nltk_viterbi(text, tokens)
        form = NormalForm(Grammar.fromstring(text))
        batch = Batch.of([[form.vocabulary[token] for token in tokens]] * 500)
        engine = weighted_for(backend, form.rules)
        best = form.best()
        ours = microseconds(
            lambda: engine.values(batch, form.start, best, VITERBI),  # noqa: B023
            len(batch),
        )
        print(f"{name}, 16 tokens: nltk's ViterbiParser {theirs:.0f}, ours {ours:.1f} µs")


if __name__ == "__main__":
    main()
