"""Copies of what the package has: by copy, deepcopy and pickle."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semigroups import (
    CancelledError,
    Family,
    GeneratorsError,
    Semigroup,
    StoredError,
    bihecke,
    full,
    parse_generators,
    zero_rook,
)
from semigroups.enumeration import NoElementError
from semigroups.running import MemoryFullError
from tests.semigroups.stepping import assert_part
from tests.semigroups.test_finished import QUESTIONS, no_engine
from tests.transformations_oracle import enumerate_maps

WAYS: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    *(
        lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    ),
]
NAMES = ["copy", "deepcopy", *(f"pickle {k}" for k in range(2, pickle.HIGHEST_PROTOCOL + 1))]
ways = pytest.mark.parametrize("way", WAYS, ids=NAMES)

CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "bihecke": (bihecke(3), {}),
    "base": (zero_rook(3), {"base": [3], "monoid": False}),
    "auto": (zero_rook(3), {"base": "auto"}),
    "hash only": (full(3), {"hash_only": True, "memory": 1 << 29}),
}


@ways
@pytest.mark.parametrize("case", CASES)
def test_a_finished_semigroup(way: Callable, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has all of it, without an engine."""
    generators, options = CASES[case]
    made = Semigroup(generators, backend="reference", **options)
    expected = {name: ask(made) for name, ask in QUESTIONS.items()}
    found = way(made)
    assert (found.memory, found.backend) == (made.memory, "reference")
    monkeypatch.setattr("semigroups.engines.EngineChoice.first", no_engine)
    assert {name: ask(found) for name, ask in QUESTIONS.items()} == expected
    again = way(found)
    assert again.finished
    assert QUESTIONS["rules"](again) == expected["rules"]


@ways
def test_an_unfinished_semigroup(way: Callable) -> None:
    """Both go on, without each other."""
    family = Family.parse("bihecke:4")
    expected = enumerate_maps(family.generators())
    made = Semigroup(family, backend="reference")
    begun = way(made)
    assert (repr(begun), begun.current_size) == (repr(made), 0)
    made.run(limit=100)
    found = way(made)
    assert repr(found) == repr(made)
    assert_part(found, expected)
    size = made.current_size
    assert found.size == 477
    assert made.current_size == size
    assert_part(found, expected)
    assert_part(made, expected)


@ways
def test_a_semigroup_of_a_file(way: Callable, tmp_path: Path) -> None:
    made = Semigroup(bihecke(3), backend="reference")
    assert made.run()
    made.save(tmp_path / "S.h5")
    found = way(Semigroup.load(tmp_path / "S.h5", backend="reference"))
    (tmp_path / "S.h5").unlink()
    assert list(found.rules) == list(made.rules)
    assert found.position(made.element(9)) == 9


@ways
def test_what_semigroups_tell(way: Callable) -> None:
    found = Semigroup(bihecke(3), backend="reference")
    for kind in ("R", "L", "J", "H", "D"):
        classes = found.green(kind)  # type: ignore[arg-type]
        for _ in range(2):  # before and after what is made once
            same = way(classes)
            assert (same.kind, len(same), repr(same)) == (kind, len(classes), repr(classes))
            for name in ("of", "groups", "regular", "sizes"):
                assert np.array_equal(getattr(same, name), getattr(classes, name))
            assert not same.of.flags.writeable
            last = len(classes) - 1
            assert np.array_equal(same.members(last), classes.members(last))
    assert list(way(found.words())) == list(found.words())
    assert list(way(found.rules)) == list(found.rules)
    assert way(found.progress) == found.progress
    assert way(Family.parse("bihecke:3")) == Family.parse("bihecke:3")


def an_error(call: Callable[[], Any]) -> Exception:
    with pytest.raises((ValueError, RuntimeError, IndexError)) as caught:
        call()
    error: Exception = caught.value
    return error


@ways
def test_errors(way: Callable, tmp_path: Path) -> None:
    (tmp_path / "S.h5").write_bytes(b"no")
    errors = [
        an_error(lambda: Semigroup.load(tmp_path / "S.h5")),
        an_error(lambda: parse_generators(b"[[0, 9]]", "maps.json")),
        CancelledError(5),
        an_error(lambda: Semigroup([[0]]).element(7)),
        MemoryFullError(5, 2, "full"),
    ]
    kinds = [StoredError, GeneratorsError, CancelledError, NoElementError, MemoryFullError]
    assert [type(error) for error in errors] == kinds
    assert (errors[0].path, errors[0].reason) == (str(tmp_path / "S.h5"), "this is no HDF5 file")
    assert (errors[3].index, errors[3].size) == (7, 1)
    for error in errors:
        same = way(error)
        assert (type(same), str(same), vars(same)) == (type(error), str(error), vars(error))
