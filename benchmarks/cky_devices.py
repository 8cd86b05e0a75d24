"""Batches of strings on several GPUs, beside one.

    python -m benchmarks.cky_devices [--device 0,1]

The least of three times of CKYParser.accepts() for random strings in memory, after a first
call that compiles; what is accepted is compared.
"""

from __future__ import annotations

import time

import click
import numpy as np

from bulkbits.options import Devices
from ckyparse import CKYParser
from ckyparse.grammar import Grammar
from kernels.cky import Batch

# Symbols, rules, strings, tokens of each; no symbols: balanced brackets.
CASES = (
    (32, 8192, 1 << 20, 128),
    (256, 65536, 1 << 20, 32),
    (512, 8192, 1 << 18, 32),
    (32, 8192, 1 << 23, 32),
    (0, 0, 1 << 23, 32),
)
BRACKETS = "S -> S S | '(' S ')' | '(' ')'"


@click.command()
@click.option("--device", "devices", type=Devices(), default="0,1", help="The GPUs. [0,1]")
def main(devices: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    for symbols, rules, count, length in CASES:
        if symbols:
            grammar = Grammar.random(symbols, rules, seed=1)
            name = f"{symbols} symbols, {rules} rules"
        else:
            grammar, name = Grammar.fromstring(BRACKETS), "brackets"
        tokens = rng.integers(0, len(grammar.terminals), count * length).astype(np.uint32)
        batch = Batch(tokens, np.arange(0, count * length + 1, length))
        one, expected = measured(grammar, batch, devices[0])
        several, found = measured(grammar, batch, devices)
        assert np.array_equal(found, expected)
        click.echo(
            f"{count:,} of {length} tokens, {name}: {1e3 * one:.1f} and {1e3 * several:.1f} ms, "
            f"{one / several:.2f} times"
        )


def measured(
    grammar: Grammar, batch: Batch, device: int | tuple[int, ...]
) -> tuple[float, np.ndarray]:
    """Seconds, and what is accepted."""
    parser = CKYParser(grammar, backend="cuda", device=device)
    accepted, least = parser.accepts(batch), float("inf")
    for _ in range(3):
        began = time.perf_counter()
        accepted = parser.accepts(batch)
        least = min(least, time.perf_counter() - began)
    return least, accepted


if __name__ == "__main__":
    main()
