"""Which engine a batch gets."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ckyparse import CKYParser
from ckyparse import engines as module
from ckyparse.engines import plain_cost, weighted_cost
from kernels.cky import Batch, Rules
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.reference import ReferenceTarget


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that backends were asked for by; all are the reference."""
    names: list[str] = []

    def pick(name: str, **options: Any) -> ReferenceTarget:
        names.append(name)
        return ReferenceTarget()

    monkeypatch.setattr(module, "pick", pick)
    return names


def test_little_stays_on_the_cpu(asked: list[str]) -> None:
    parser = CKYParser("S -> S S [0.5] | 'a' [0.5]")
    assert asked == []
    parser.accepts(["a"] * 10_000)
    parser.counts(["aa", "a"])
    next(parser.parse("aaa"))
    parser.log_probabilities(["a"])
    parser.accepts([])
    assert asked == ["cpu"]


@dataclass(frozen=True)
class Seen:
    """Milliseconds on 16 cores and on an H200 that had begun."""

    what: str
    count: int
    host: float
    device: float


# Where one of them was quicker by half or more, and it mattered.
PLAIN = [
    Seen("brackets", 1, 0.07, 0.50),
    Seen("brackets", 2048, 0.20, 1.2),
    Seen("brackets", 131_072, 3.1, 5.2),
    Seen("200", 1, 2.7, 58),
    Seen("200", 512, 4.4, 58),
    Seen("200", 16_384, 12, 61),
    Seen("language", 128, 6.0, 1.5),
    Seen("language", 2048, 11, 1.9),
    Seen("language", 32_768, 20, 4.5),
    Seen("dense", 1, 1.7, 4.2),
    Seen("dense", 32_768, 19, 5.3),
    Seen("dense 128", 1, 33, 133),
    Seen("dense 128", 2048, 252, 140),
    Seen("dense 128", 32_768, 735, 159),
]
WEIGHTED = [
    Seen("200", 1, 18, 1.3),
    Seen("200", 512, 604, 3.9),
    Seen("language", 512, 73, 7.4),
    Seen("language", 4096, 76, 22),
    Seen("dense", 1, 11, 3.3),
    Seen("dense", 512, 439, 8.9),
    Seen("dense 128", 1, 338, 61),
    Seen("dense 128", 512, 8111, 496),
]


def rules_and_batch(seen: Seen) -> tuple[Rules, Batch]:
    """Return rules and a batch of the size that was seen: symbols, binary rules, length."""
    symbols, binary, length = {
        "brackets": (4, 3, 32),
        "200": (1, 1, 200),
        "language": (2123, 4448, 0),
        "dense": (32, 8192, 32),
        "dense 128": (32, 8192, 128),
    }[seen.what]
    triples = [(i % symbols, i // symbols % symbols, i // symbols**2) for i in range(binary)]
    rules = Rules.make(symbols, 1, triples, [(0, 0)])
    lengths = np.full(seen.count, length)
    if not length:  # up to 23, 11 on average
        lengths = np.random.default_rng(1).normal(11, 4, seen.count).round().clip(3, 23)
        lengths[0] = 23
    offsets = np.append(0, lengths.cumsum()).astype(np.int64)
    return rules, Batch(np.zeros(offsets[-1], np.uint32), offsets)


@pytest.mark.parametrize(
    ("cost", "seen"),
    [(plain_cost, seen) for seen in PLAIN] + [(weighted_cost, seen) for seen in WEIGHTED],
)
def test_the_quicker_one_is_known(cost: Any, seen: Seen) -> None:
    found = cost(*rules_and_batch(seen), 16)
    assert (found.device < found.host) == (seen.device < seen.host)


@pytest.mark.parametrize("cost", [plain_cost, weighted_cost])
def test_more_threads_leave_more_to_the_cpu(cost: Any) -> None:
    rules, batch = rules_and_batch(Seen("dense", 4096, 0, 0))
    one, many = cost(rules, batch, 1), cost(rules, batch, 64)
    assert one.device == many.device < one.host
    assert many.host < one.host / 2


def test_a_gpu_begins_when_it_would_have_saved_its_start(asked: list[str]) -> None:
    """A GPU begins for many batches or a large one, and then has what it does better."""
    rules, batch = rules_and_batch(Seen("dense 128", 2560, 0, 0))
    host, device = plain_cost(rules, batch, 4)
    saved = host - device
    assert 0.05 < saved < 0.15
    engines = module.ParserEngines("auto", 0, 4, None)
    for _ in range(int(0.3 / saved)):
        engines.plain(rules, batch)
        assert asked == ["cpu"]
    engines.plain(rules, batch)
    made = engines._gpu.made
    assert made is not None
    made.result()
    assert asked == ["cpu", "auto"]
    one = Batch.of([[0]])
    assert engines._backend_for(plain_cost, rules, one) is engines._host
    assert engines._backend_for(plain_cost, rules, batch) is made.result()
    asked.clear()
    module.ParserEngines("auto", 0, 4, None).weighted(rules, batch)
    assert asked == ["cpu", "auto"]


def test_the_cpu_goes_on_while_a_gpu_starts() -> None:
    target, started = ReferenceTarget(), threading.Event()

    def make() -> ReferenceTarget:
        assert started.wait(60)
        return target

    start = module.BackgroundStart(make)
    assert start.instead(host=0.1, device=0.2) is None
    assert start.instead(host=0.2, device=0.05) is None
    assert start.made is None
    assert start.instead(host=0.25, device=0.05) is None
    assert start.made is not None
    assert start.instead(host=0.25, device=0.05) is None
    started.set()
    assert start.instead(host=9.0, device=0.05) is target  # waits: the CPU would take longer
    assert start.instead(host=0.25, device=0.05) is target
    assert start.instead(host=0.05, device=0.25) is None


def test_why_a_gpu_cannot_start_is_told() -> None:
    def make() -> ReferenceTarget:
        raise BackendUnavailableError("no")

    start = module.BackgroundStart(make)
    for _ in range(2):
        with pytest.raises(BackendUnavailableError, match="no"):
            start.instead(host=9.0, device=0.0)


def test_a_backend_that_is_named_is_taken(asked: list[str]) -> None:
    parser = CKYParser("S -> 'a'", backend="cuda")
    parser.accepts(["a"])
    assert asked == ["cuda"]


def test_without_the_compiled_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    def pick(name: str, **options: Any) -> ReferenceTarget:
        if name == "cpu":
            raise BackendUnavailableError("not built")
        return ReferenceTarget()

    monkeypatch.setattr(module, "pick", pick)
    assert CKYParser("S -> 'a'").accepts(["a", ""]).tolist() == [True, False]
