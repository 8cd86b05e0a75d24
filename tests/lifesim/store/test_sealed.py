"""Lines of JSON with a checksum: what goes in comes out, or nothing does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.store.sealed import seal, unseal
from tests.damage import flips
from tests.quick import examples

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
facts = st.dictionaries(
    st.text(max_size=8).filter(lambda key: key != "checksum"), values, min_size=1
)


@given(facts)
def test_round_trip(facts: dict[str, Any]) -> None:
    line = seal(facts)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert unseal(line) == facts
    assert json.loads(line).keys() == {"checksum", *facts}


def test_facts_that_look_like_a_blank_checksum() -> None:
    facts = {"a": "0" * 32, "b": '{"checksum":"' + "0" * 32}
    assert unseal(seal(facts)) == facts


@settings(max_examples=examples(10))
@given(facts)
def test_every_flipped_bit_is_seen(facts: dict[str, Any]) -> None:
    assert not any(unseal(line) for line in flips(seal(facts)))


@settings(max_examples=examples(30))
@given(facts)
def test_every_cut_is_seen(facts: dict[str, Any]) -> None:
    line = seal(facts)
    assert not any(unseal(line[:end]) for end in range(len(line)))
    assert unseal(line + b" ") is None
    assert unseal(line + b"\n") is None


@pytest.mark.parametrize("line", [b"", b"\n", b"{}\n", b"null\n", b'{"checksum":""}\n', b"\xff\n"])
def test_what_was_never_sealed(line: bytes) -> None:
    assert unseal(line) is None
