"""What is measured of many small semigroups."""

from __future__ import annotations

import pytest

from benchmarks import small_semigroups
from kernels.transformations import as_maps
from tests.transformations_oracle import enumerate_maps


def test_what_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = small_semigroups.random_generators(4, 3)
    total = sum(len(enumerate_maps(as_maps(case), False)) for case in cases)
    small_semigroups.main(["--count", "4", "--degree", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"4 semigroups of degree 3, {total} maps"
    assert lines[1].startswith("Semigroup: ")
    assert lines[2].startswith("count_batch: ")
    monkeypatch.setattr(small_semigroups, "libsemigroups", lambda: lambda generators: 0)
    with pytest.raises(SystemExit, match="they find different sizes"):
        small_semigroups.main(["--count", "4", "--degree", "3"])
