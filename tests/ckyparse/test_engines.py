"""Which engine a batch gets."""

from __future__ import annotations

from typing import Any

import pytest

from ckyparse import CKYParser
from ckyparse import engines as module
from kernels.backend import BackendUnavailableError
from kernels.reference import ReferenceBackend


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that backends were asked for by; all are the reference."""
    names: list[str] = []

    def pick(name: str, **options: Any) -> ReferenceBackend:
        names.append(name)
        return ReferenceBackend()

    monkeypatch.setattr(module, "pick", pick)
    return names


def test_a_few_short_sentences_stay_on_the_cpu(asked: list[str]) -> None:
    parser = CKYParser("S -> S S [0.5] | 'a' [0.5]")
    assert asked == []
    parser.accepts(["a"] * 512)
    parser.counts(["aa", "a"])
    next(parser.parse("aaa"))
    parser.log_probabilities(["a"])
    assert asked == ["cpu"]
    parser.accepts(["a"] * 513)
    parser.counts(["a"] * 513)
    assert asked == ["cpu", "auto"]


def test_long_sentences_are_no_small_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = CKYParser("S -> S S | 'a'")
    batch = parser.encode(["a" * 24]).batch
    rules = parser.normal_form.rules
    assert module.is_small(rules, batch)
    monkeypatch.setattr(module, "_STEPS", 24**3 // 6)
    assert module.is_small(rules, batch)
    monkeypatch.setattr(module, "_STEPS", 24**3 // 6 - 1)
    assert not module.is_small(rules, batch)


def test_a_backend_that_is_named_is_taken(asked: list[str]) -> None:
    parser = CKYParser("S -> 'a'", backend="cuda")
    parser.accepts(["a"])
    assert asked == ["cuda"]


def test_without_the_compiled_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    def pick(name: str, **options: Any) -> ReferenceBackend:
        if name == "cpu":
            raise BackendUnavailableError("not built")
        return ReferenceBackend()

    monkeypatch.setattr(module, "pick", pick)
    assert CKYParser("S -> 'a'").accepts(["a", ""]).tolist() == [True, False]
