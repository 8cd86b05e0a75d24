"""Test the counts of many small semigroups."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kernels.targets.contract import BackendUnavailableError
from kernels.targets.cpu import levels
from semigroups import Semigroup, SemigroupCounts, batch, count_batch

MAPS = np.random.default_rng(7).integers(0, 4, (50, 2, 4))
BACKENDS = ["auto", "reference", *(["cpu"] if levels() else [])]


@pytest.mark.parametrize("backend", BACKENDS)
def test_counts_are_those_of_semigroups(backend: str) -> None:
    counts = count_batch(MAPS, monoid=False, backend=backend)
    assert isinstance(counts, SemigroupCounts)
    for k, generators in enumerate(MAPS):
        alone = Semigroup(generators, monoid=False, backend="reference")
        assert counts.sizes[k] == alone.size
        assert counts.idempotents[k] == len(alone.idempotents)
        assert counts.longest[k] == max(map(len, alone.words()))
    doubled = np.concatenate((MAPS, MAPS[:, :1]), axis=1)
    again = count_batch(doubled, monoid=False, backend=backend)
    assert np.array_equal(again.sizes, counts.sizes)
    assert np.array_equal(again.longest, counts.longest)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("monoid", [False, True])
def test_a_limit_is_of_elements(backend: str, monoid: bool) -> None:
    sizes = count_batch(MAPS, monoid=monoid).sizes
    middle = int(np.median(sizes))
    counts = count_batch(MAPS, monoid=monoid, limit=middle, backend=backend)
    assert np.array_equal(counts.sizes, np.where(sizes <= middle, sizes, -1))
    assert np.array_equal(counts.longest < 0, sizes > middle)
    assert np.array_equal(counts.idempotents < 0, sizes > middle)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_sets(backend: str) -> None:
    counts = count_batch(MAPS[:0], backend=backend)
    assert [len(c) for c in (counts.sizes, counts.idempotents, counts.longest)] == [0, 0, 0]
    assert counts.sizes.dtype == np.int32


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        (MAPS[0], "sets of generators are integers (semigroups, generators, degree), not int64"),
        (MAPS * 0.5, "not float64 (50, 2, 4)"),
        (MAPS.astype(bool), "not bool"),
        (MAPS[:, :0], "0 generators of 4 points"),
        (MAPS[:, :, :0], "2 generators of 0 points"),
        (np.zeros((1, 1, 257), int), "1 generators of 257 points: batches are of 1 to 65,536"),
        (np.where(MAPS[3, 1, 2] == MAPS, MAPS, 4), "sends"),
        ([[[0, 1], [1, 2]]], "set 0, generator 1 sends 1 to 2: no map of the points 0 to 1"),
        ([[[0, -1]]], "set 0, generator 0 sends 1 to -1"),
        (np.array([[[0, 256]]]), "sends 1 to 256"),
        (np.array([[[0] * 255 + [256]]]), "sends 255 to 256"),
    ],
)
def test_what_are_no_maps(sets: Any, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        count_batch(sets)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"limit": 0}, "limit is a number of elements, 1 to 1,048,575, not 0"),
        ({"limit": 1 << 20}, "not 1048576"),
        ({"backend": "cuda"}, "backend is one of auto, cpu, reference, not 'cuda'"),
        ({"threads": 0}, "threads is how many work"),
    ],
)
def test_wrong_options(options: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        count_batch(MAPS, **options)


def test_auto_does_without_the_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, **options: Any) -> Any:
        if name == "cpu":
            raise BackendUnavailableError("not built")
        return pick(name, **options)

    pick = batch.pick
    monkeypatch.setattr(batch, "pick", missing)
    assert count_batch(MAPS[:3]).sizes.min() > 0
    with pytest.raises(BackendUnavailableError):
        count_batch(MAPS[:3], backend="cpu")
