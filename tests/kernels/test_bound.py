"""No argument of a function of kernels._cpu, however wrong, crashes it or holds it up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("kernels._cpu")

from tests.kernels import bound

ROOT = Path(__file__).parent.parent.parent
EVERY = [(name, i) for name, calls in bound.CALLS.items() for i in range(len(calls))]


def fuzzed(folder: Path, count: int, seed: int, *names: str) -> str:
    """Make wrong calls in a process of their own, and return what it says of them."""
    told = folder / "calls"
    with told.open("w") as out:
        ended = subprocess.run(
            [sys.executable, "-m", "tests.kernels.bound", str(count), str(seed), *names],
            cwd=ROOT, stdout=out, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    text = told.read_text(errors="replace")
    assert ended.returncode == 0, f"ended with {ended.returncode} in the{text}\n{ended.stderr}"
    return text


def test_there_is_a_call_of_everything_that_is_bound() -> None:
    assert sorted(bound.CALLS) == sorted(bound.names())


@pytest.mark.parametrize(("name", "i"), EVERY)
def test_right_calls_return(name: str, i: int) -> None:
    function, arguments = bound.CALLS[name][i]()
    function(*arguments)


def test_some_wrong_calls_of_each(tmp_path: Path) -> None:
    assert "all returned" in fuzzed(tmp_path, 4, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_many_wrong_calls(seed: int, tmp_path: Path) -> None:
    assert "all returned" in fuzzed(tmp_path, 150, seed)


@pytest.mark.slow
def test_nothing_is_left_of_a_call() -> None:
    """Calls run in a process of their own: the garbage collector has little else to look at."""
    asked = [sys.executable, "-m", "tests.kernels.left"]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stdout + ended.stderr


def changed(name: str, **places: Any) -> None:
    """Make the first right call of a function, with other arguments at some places."""
    function, arguments = bound.CALLS[name][0]()
    for place, value in places.items():
        arguments[int(place[1:])] = value
    function(*arguments)


@pytest.mark.parametrize("halo", [2**31 - 1, 2**30, -1])
def test_halos_that_would_overflow(halo: int) -> None:
    with pytest.raises(ValueError, match="parameters of a pass"):
        changed("life_pass", _11=halo, _10=32, _7=1)


def test_bands_longer_than_the_universe() -> None:
    expected, found = np.zeros((8, 1), np.uint64), np.zeros((8, 1), np.uint64)
    changed("life_pass", _2=expected)
    changed("life_pass", _2=found, _12=2**63 - 1)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("width", [2**63 - 1, 2**62, 2**41])
def test_widths_that_would_overflow(width: int) -> None:
    numbers = bound._dense()
    numbers.width, numbers.count = width, 0
    numbers.negative = None
    with pytest.raises((ValueError, MemoryError)):
        changed("bignum_sum", _1=numbers)


def test_negative_exponents_do_not_reach_gmp() -> None:
    """It ends the process where there is no inverse."""
    with pytest.raises(ValueError, match="an exponent is negative"):
        changed("bignum_powmod", _2=bound._numbers(-3))


@pytest.mark.parametrize(
    "offsets", [[0, 2**62, 6, 7], [0, -5, 6, 7], [0, 6, 2, 7], [-1, 2, 6, 7], [0, 2, 8, 7]]
)
def test_every_offset_of_a_batch_is_looked_at(offsets: list[int]) -> None:
    for name in ("CkyParser.recognise", "CkyParser.charts"):
        with pytest.raises(ValueError, match="contradict"):
            changed(name, _1=np.array(offsets, np.int64))


def test_more_threads_than_there_can_be() -> None:
    changed("sums_naive", _4=2**31 - 1)
    function, arguments = bound.CALLS["bignum_add"][0]()
    function(*arguments[:-1], 2**31 - 1)
    with pytest.raises(ValueError, match="thread"):
        changed("sums_naive", _4=0)


def test_results_that_share_memory_with_an_operand() -> None:
    words = np.zeros((9, 1), np.uint64)
    with pytest.raises(ValueError, match="contradict"):
        changed("life_pass", _1=words[:8], _2=words[1:])
    tokens = np.zeros(3, np.uint32)
    with pytest.raises(ValueError, match="overlaps"):
        changed("cky_narrow_tokens", _0=tokens, _2=tokens.view(np.uint8)[:3])


def test_a_list_that_changes_while_it_is_read() -> None:
    class Emptying:
        def __index__(self) -> int:
            values.clear()
            return 5

    values: list[Any] = [1 << 70, Emptying(), 1 << 70, 1 << 80]
    function, _ = bound.CALLS["bignum_from_ints"][0]()
    assert function(values)[1] == 4
