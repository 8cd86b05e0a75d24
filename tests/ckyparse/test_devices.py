"""ckyparse on several devices: what comes out is the same as from one."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, nullcontext
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckyparse import CKYParser
from ckyparse.cli.devices import pays
from kernels.targets import choose
from kernels.targets.contract import BackendUnavailableError
from kernels.targets.costs import START_COSTS
from kernels.targets.cuda import early
from kernels.targets.reference import ReferenceTarget
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


def test_other_gpus_begin_where_that_pays() -> None:
    start = START_COSTS.seconds
    assert not pays(9 * start, 100, 0, 3)  # all is done
    assert not pays(start, 100, 100, 1)
    assert pays(2.1 * start, 100, 100, 1)
    assert pays(1.1 * start, 100, 400, 3)
    assert not pays(0.9 * start, 100, 400, 3)
    assert pays(4.1 * start, 100, None, 3)  # of a pipe as much is expected as has come
    assert not pays(3.9 * start, 100, None, 3)


def test_where_it_does_not_pay_one_gpu_has_all(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    args = ["accept", "-g", str(tmp_path / "g"), "--tokens", "chars"]
    text = b"()\n)(\n" * 40
    expected = run([*args, "--backend", "reference"], of(text))
    made: list[int] = []

    def pays(spent: float, done: int, ahead: int | None, others: int) -> bool:
        made.append(others)
        return False

    with ExitStack() as stack:
        small_blocks(stack, 10)
        stack.enter_context(several_devices(pays))
        assert run([*args, "--backend", "cuda", "--device", "0,1,2"], of(text)) == expected
    assert set(made) == {2}


def test_a_gpu_that_is_not_there_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    args = ["accept", "-g", str(tmp_path / "g"), "--backend", "cuda", "--device", "0,8"]
    with several_devices():
        done = run(args, of(b"()"))
    assert (done.code, done.out) == (3, b"")
    assert done.err == ["ckyparse: no CUDA device 8: there are 8"]


def test_a_gpu_that_fails_to_follow_is_told(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(GRAMMARS["dyck.cfg"])
    args = ["accept", "-g", str(tmp_path / "g"), "--tokens", "chars", "--backend", "cuda"]

    def pick(name: str, *, device: int) -> ReferenceTarget:
        if device == 1:
            raise BackendUnavailableError("out of order")
        return ReferenceTarget()

    with ExitStack() as stack:
        small_blocks(stack, 10)
        stack.enter_context(several_devices())
        stack.enter_context(mock.patch.object(choose, "pick", pick))
        stack.enter_context(mock.patch.object(early, "is_done", return_value=True))
        done = run([*args, "--device", "0,1"], of(b"()\n" * 4000))
    assert done.code == 3
    assert (done.out, done.err) == (b"", ["ckyparse: out of order"])


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
