"""Python's integers on every CPU level, in lists that are not what they seem, and their memory."""

from __future__ import annotations

import ctypes
import gc
import operator
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.bignum.cpu.engine import ints_to_numbers, numbers_to_ints
from kernels.bignum.numbers import Numbers, to_ints
from kernels.targets import cpu, memory
from tests.bignum_batches import LAYOUTS, assert_numbers, hurtful, lay_out
from tests.quick import examples

_cpu: Any = cpu._cpu
pytestmark = pytest.mark.skipif(not cpu.levels(), reason="the CPU kernels are not built")

LONG = (1 << 64_000) - 1  # a thousand words; signals are looked at after 2^20

HERE = Path(__file__).parent
KERNELS = HERE.parent.parent / "kernels" / "bignum" / "cpu"


# --- digits ------------------------------------------------------------------


@pytest.mark.parametrize("level", cpu.levels())
@settings(max_examples=examples(60))
@given(st.lists(hurtful(40), max_size=20), st.sampled_from(LAYOUTS), st.integers(0, 99))
def test_there_and_back(level: str, values: list[int], layout: str, seed: int) -> None:
    numbers = Numbers(*_cpu.bignum_from_ints(values, level=level))
    assert_numbers(numbers, values)
    assert _cpu.bignum_to_ints(lay_out(values, layout, seed), level=level) == values


@pytest.mark.parametrize("level", cpu.levels())
def test_every_number_of_digits(level: str) -> None:
    """Quads, several at once, and what is left of them, beside other numbers."""
    for digits in range(90):
        values = [sign * (2 ** (30 * digits) - low) for low in (0, 1, 2) for sign in (1, -1)]
        numbers = Numbers(*_cpu.bignum_from_ints(values, level=level))
        assert to_ints(numbers) == values
        for count in range(1, len(values) + 1):  # each of them once at the end of the words
            part = Numbers(*_cpu.bignum_from_ints(values[:count], level=level))
            assert _cpu.bignum_to_ints(part, level=level) == values[:count]


@pytest.mark.parametrize("level", cpu.levels())
def test_more_digits_than_are_moved_at_once(level: str) -> None:
    """Signals are looked at after 2^22 digits, which are whole words; the rest begins there."""
    rng = random.Random(5)
    for extra in (1, 64):
        bits = 30 * 2**22 + extra
        values = [rng.getrandbits(bits) | 1 << bits - 1, -3]
        numbers = Numbers(*_cpu.bignum_from_ints(values, level=level))
        assert _cpu.bignum_to_ints(numbers, level=level) == values


@pytest.mark.parametrize("level", ["no such", "", "\ud800", b"v2", 3])
def test_levels_that_are_none(level: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="level"):
        _cpu.bignum_from_ints([1], level=level)


# --- lists that a sample tells little about ----------------------------------


class Mine(int):
    """An integer with a mind of its own, of which only its digits count."""

    def __index__(self) -> int:
        raise AssertionError

    def __neg__(self) -> int:
        raise AssertionError


class Seven:
    def __index__(self) -> int:
        return 7


ODD: list[Any] = [
    *(0, -1, -(2**200), 2**64 - 1, 2**64, -(2**5000), 2**100_000),
    *(True, False, np.int8(-3), np.uint64(2**64 - 1), Mine(-(2**90)), Mine(0), Seven()),
]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(1, 1500),
    st.sampled_from([1, 60, 64, 500, 1024]),
    st.lists(st.tuples(st.integers(0, 1499), st.sampled_from(ODD)), max_size=4),
    st.sampled_from([list, tuple]),
)
def test_odd_ones_at_any_place(
    count: int, bits: int, odd: list[tuple[int, Any]], kind: Callable[[Any], Any]
) -> None:
    """Longer, shorter and negative numbers, and what only stands for one, among many alike."""
    rng = random.Random(bits)
    values: list[Any] = [rng.getrandbits(bits) | 1 << bits - 1 for _ in range(count)]
    for place, value in odd:
        values[place % count] = value
    wanted = [int.__add__(x, 0) if isinstance(x, int) else operator.index(x) for x in values]
    numbers = ints_to_numbers(kind(values))
    assert_numbers(numbers, wanted)
    lengths = [-(-x.bit_length() // 64) for x in wanted]
    assert numbers.width == max(lengths)
    assert numbers.dense == (count * max(lengths) <= 1.5 * sum(lengths))
    assert (numbers.negative is not None) == (min(wanted) < 0)
    assert numbers_to_ints(numbers) == wanted


@pytest.mark.parametrize("free", [None, 128 << 20])
def test_only_what_a_sample_sees_is_long(free: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for all as for those of the sample would be 9 GB: too much, or given up soon."""
    if free is not None:
        monkeypatch.setattr(memory, "available_memory", lambda: free)
    count, long = 1 << 16, 1 << 2**20
    values = [0] * count
    values[:: count // 256] = [long] * 256
    numbers = ints_to_numbers(values)
    assert not numbers.dense
    assert len(numbers.words) == 256 * (2**14 + 1)
    assert numbers_to_ints(numbers) == values


def test_what_was_begun_is_given_up_where_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last number is longer: there is room for another batch only without the first one."""
    told = [1 << 40, 1 << 40, 0, 0, 1 << 40, 1 << 40]
    monkeypatch.setattr(memory, "available_memory", lambda: told.pop(0))
    values = [LONG] * 9000
    values[8998] = LONG << 64
    numbers = ints_to_numbers(values)
    assert told == []
    monkeypatch.undo()
    assert numbers.width == 1001
    assert numbers_to_ints(numbers) == values


@pytest.mark.parametrize("place", [0, 255, 256, 700, 999])
@pytest.mark.parametrize("bad", [None, 1.5, "3"])
def test_what_is_no_integer_is_found_at_any_place(place: int, bad: Any) -> None:
    values: list[Any] = [2**70] * 1000
    values[place] = bad
    with pytest.raises(TypeError, match=f"an integer is wanted at index {place}"):
        ints_to_numbers(values)


# --- while signals are looked at ---------------------------------------------


@contextmanager
def handling(handler: Callable[[], object]) -> Any:
    """Gives a function that makes a call during which a signal comes, before it looks for one."""

    def call(function: Callable[[], Any]) -> Any:
        # No bytecode runs between the two, so it is the function that finds the signal.
        trip = partial(ctypes.pythonapi.PyErr_SetInterruptEx, int(signal.SIGUSR1))
        return list(map(operator.call, [trip, function]))[1]

    before = signal.signal(signal.SIGUSR1, lambda *_: handler())
    try:
        yield call
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize(
    "change",
    [
        list.clear,
        lambda values: values.append(3),
        lambda values: values.__setitem__(slice(1100, None), [LONG << 1] * 1200),
        lambda values: values.__setitem__(slice(None), [5] * len(values)),
        lambda values: values.__setitem__(1190, -1),
        lambda values: values.__setitem__(1190, Seven()),
    ],
)
def test_a_list_that_a_handler_changes(passes: int, change: Callable[[list[Any]], Any]) -> None:
    """The list is read as it was or as it is then. Numbers of many lengths are read twice."""
    values: list[Any] = [-LONG, *[LONG] * 1199, *[1] * (1200 if passes == 2 else 0)]
    asked = []
    with handling(lambda: (asked.append(1), change(values))) as call:
        numbers = call(lambda: ints_to_numbers(values))
    assert asked == [1]
    found, wanted = numbers_to_ints(numbers), [operator.index(x) for x in values]
    # What was read before the handler ran may be as it was.
    assert len(found) == len(wanted)
    read = next(i for i in range(len(wanted) + 1) if found[i:] == wanted[i:])
    assert set(found[:read]) <= {-LONG, LONG}


def test_both_ways_can_be_interrupted() -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    words = np.full(1000, 2**64 - 1, np.uint64)
    numbers = Numbers(words, 1200, 1000)
    for call in (lambda: ints_to_numbers([LONG] * 1200), lambda: numbers_to_ints(numbers)):
        with handling(stop) as during, pytest.raises(Stopped):
            during(call)
    assert numbers_to_ints(numbers) == [LONG] * 1200


def test_nobody_finds_a_list_that_is_not_whole() -> None:
    """A handler that walks over all objects, as debuggers do, would find places without an int."""
    count, found = 1203, []
    numbers = Numbers(np.full(1000, 2**64 - 1, np.uint64), count, 1000)
    others = [x for x in gc.get_objects() if type(x) is list and len(x) == count]

    def look() -> None:
        seen = [x for x in gc.get_objects() if type(x) is list and len(x) == count]
        found.append([x for x in seen if not any(x is other for other in others)])

    with handling(look) as call:
        values = call(lambda: numbers_to_ints(numbers))
    assert found == [[]]
    assert gc.is_tracked(values)
    assert values == [LONG] * count


# --- the memory of the integers ----------------------------------------------

KEEPING = """
from kernels import _cpu
from kernels.bignum.cpu.engine import ints_to_numbers, numbers_to_ints

values = [(1 << 1023) + i for i in range(40_000)]
numbers = ints_to_numbers(values)
assert _cpu.bignum_arenas() == (0, 0)
few = numbers_to_ints(ints_to_numbers(values[:3000]))
assert _cpu.bignum_arenas() == (0, 0), "what is small is left to Python"
first = numbers_to_ints(numbers)
used, kept = _cpu.bignum_arenas()
assert used >= 4 and kept == 0, (used, kept)
assert first == values
second = numbers_to_ints(numbers)
assert _cpu.bignum_arenas()[0] >= 2 * used - 2
del first
most = _cpu.bignum_arenas()[1]
assert most >= (used - 3) // 2 * (2 << 20), "they are kept"
assert second == values
third = numbers_to_ints(numbers)
assert _cpu.bignum_arenas()[1] < most, "and used again"
assert second == third == values
some = third[::1000]
del second, third
assert some == values[::1000]
print("whole")
"""


def test_arenas_are_kept_and_used_again() -> None:
    if sys.platform != "linux" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("Python's arenas are left alone here")
    known = {name: value for name, value in os.environ.items() if name != "PYTHONMALLOC"}
    run = [sys.executable, "-c", KEEPING]
    ended = subprocess.run(run, capture_output=True, text=True, timeout=120, env=known)
    assert ended.stdout == "whole\n", ended.stderr


@pytest.mark.parametrize("allocator", ["debug", "malloc"])
def test_other_allocators_of_python(allocator: str) -> None:
    """Python's checks of what is written past an object find nothing, and plain malloc() serves."""
    code = KEEPING.replace("assert _cpu.", "_cpu.").replace("assert used", "used")
    code = code.replace("assert most", "most")
    known = {**os.environ, "PYTHONMALLOC": allocator}
    run = [sys.executable, "-c", code]
    ended = subprocess.run(run, capture_output=True, text=True, timeout=120, env=known)
    assert ended.stdout == "whole\n", ended.stderr


@pytest.mark.slow
def test_threads_share_no_arena(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program = str(tmp_path / "stress")
    flags = ["-std=c++17", "-O1", "-g", "-fsanitize=thread", "-pthread", f"-I{KERNELS}"]
    sources = [str(HERE / "arenas_stress.cpp"), str(KERNELS / "arenas.cpp")]
    built = subprocess.run(
        [compiler, *flags, *sources, "-ldl", "-o", program], capture_output=True, text=True
    )
    if built.returncode and "tsan" in built.stderr:
        pytest.skip("the compiler has no thread sanitizer")
    assert built.returncode == 0, built.stderr
    run = ["setarch", "-R", program] if shutil.which("setarch") else [program]
    ended = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
