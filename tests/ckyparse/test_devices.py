"""ckyparse on several devices: what comes out is the same as from one."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckyparse import CKYParser
from tests.ckyparse.odd_inputs import (
    COMMANDS,
    GRAMMARS,
    Case,
    cases,
    of,
    run,
    run_case,
    several_devices,
    small_blocks,
)
from tests.quick import examples


@settings(max_examples=examples(25), deadline=None)
@given(cases, st.integers(4, 40), st.integers(2, 4))
def test_the_same_on_several_devices(case: Case, size: int, count: int) -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        small_blocks(stack, size)
        expected = run_case(case, Path(name), ["--backend", "reference"])
        devices = ["--device", ",".join(map(str, range(count)))]
        with several_devices():
            found = run_case(case, Path(name), ["--backend", "cuda", *devices])
        assert found == expected
        # What is not worth a GPU is left to the CPU, in as many parts at a time.
        assert run_case(case, Path(name), devices) == run_case(case, Path(name), [])


def test_several_devices_are_gpus(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    args = ["accept", "-g", str(tmp_path / "g"), "--device"]
    done = run([*args, "0,1", "--backend", "cpu"], of(b"()"))
    assert done.code == 3
    assert "0,1 are GPUs" in done.err[0]
    assert run([*args, "0,0"], of(b"()")).code == 2


@pytest.mark.parametrize("place", ["reference", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_parser_takes_several_devices(place: str) -> None:
    if place == "cuda":
        two_gpus()
    strings = ["()" * (i % 9) + ")" * (i % 2) for i in range(400)]
    one = CKYParser(GRAMMARS["dyck.cfg"], backend="reference")
    with several_devices() if place == "reference" else nullcontext():
        several = CKYParser(GRAMMARS["dyck.cfg"], backend="cuda", device=(0, 1))
        np.testing.assert_array_equal(several.accepts(strings), one.accepts(strings))
        np.testing.assert_array_equal(several.prefixes(strings), one.prefixes(strings))
        assert list(several.counts(strings)) == list(one.counts(strings))
        assert next(several.parse("()")).leaves() == ["(", ")"]


def two_gpus() -> None:
    from kernels.targets.cuda.target import device_count

    if device_count() < 2:
        pytest.skip("there is one GPU")


@pytest.mark.gpu
@pytest.mark.parametrize("command", COMMANDS[:8])
def test_two_gpus(command: tuple[str, str, list[str]], tmp_path: Path) -> None:
    two_gpus()
    source = np.random.default_rng(1)
    lines = ["()" * n + "(" * (n % 2) for n in source.integers(0, 20, 20_000)]
    case = Case(command, ["\n".join(lines).encode()], ["--backend", "cuda"])
    with ExitStack() as stack:
        small_blocks(stack, 1 << 14, 1 << 20)
        assert run_case(case, tmp_path, ["--device", "0,1"]) == run_case(case, tmp_path, [])
