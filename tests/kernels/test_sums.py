"""Pairwise sums: every version against the obvious one, for every k."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import sums
from kernels.sums import ref
from kernels.sums.slicing import Words
from tests.emulation import EmulatedDevice

SOURCE = Path(sums.__file__).parent
COUNTS = (0, 1, 31, 32, 33)
HURTS = (0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x55555555, 0xAAAAAAAA)


def pairs_that_hurt(k: int) -> tuple[Words, Words]:
    """All pairs of: the numbers above, the powers of two, and those less one (long
    carries), cut to k bits; then random ones."""
    top = 2**k - 1
    values = sorted({v & top for v in HURTS} | {1 << i for i in range(k)} | {top >> 1, top - 1})
    few = np.array(values, np.uint32)
    a, b = (x.ravel() for x in np.meshgrid(few, few))
    random = np.random.default_rng(k).integers(0, top, (2, 1000), np.uint32, endpoint=True)
    return np.concatenate([a, random[0]]), np.concatenate([b, random[1]])


@st.composite
def batches(draw: st.DrawFn) -> tuple[int, Words, Words]:
    k = draw(st.integers(1, 32))
    count = draw(st.one_of(st.sampled_from(COUNTS), st.integers(0, 200)))
    top = 2**k - 1
    number = st.one_of(st.sampled_from([v & top for v in HURTS]), st.integers(0, top))
    a, b = (
        np.array(draw(st.lists(number, min_size=count, max_size=count)), np.uint32)
        for _ in range(2)
    )
    return k, a, b


# --- slicing -----------------------------------------------------------------


@given(batches())
def test_slicing_equals_the_obvious(batch: tuple[int, Words, Words]) -> None:
    k, values, _ = batch
    planes = sums.slice_bits(values, k)
    np.testing.assert_array_equal(planes, ref.slice_bits(values, k))
    assert planes.shape == (k, -(-values.size // 32))
    assert planes.flags.c_contiguous
    np.testing.assert_array_equal(ref.unslice_bits(planes, values.size), values)
    np.testing.assert_array_equal(sums.unslice_bits(planes, values.size), values)


def test_one_bit_at_every_place() -> None:
    values = np.uint32(1) << np.arange(32, dtype=np.uint32)
    np.testing.assert_array_equal(sums.slice_bits(values, 32)[:, 0], values)
    np.testing.assert_array_equal(sums.slice_bits(values[::-1], 32)[:, 0], values[::-1])


def test_slicing_checks_its_arguments() -> None:
    five = np.array([5], np.uint32)
    for k in (0, 33):
        with pytest.raises(ValueError, match="k must be"):
            sums.slice_bits(five, k)
    with pytest.raises(ValueError, match="more than 2 bits: 5"):
        sums.slice_bits(five, 2)
    with pytest.raises(ValueError, match="uint32"):
        sums.slice_bits(five.astype(np.int64), 3)
    with pytest.raises(ValueError, match="33 numbers"):
        sums.unslice_bits(np.zeros((3, 1), np.uint32), 33)


# --- CUDA, emulated ----------------------------------------------------------


@cache
def device(order: str = "forward") -> EmulatedDevice:
    return EmulatedDevice(order=order)


def check_planes(add: Callable[[Words, Words], Words], k: int, a: Words, b: Words) -> None:
    planes = add(sums.slice_bits(a, k), sums.slice_bits(b, k))
    assert planes.shape == (sums.sum_bits(k), -(-a.size // 32))
    np.testing.assert_array_equal(sums.unslice_bits(planes, a.size), ref.add(a, b))


def add_emulated(a: Words, b: Words) -> Words:
    return sums.add_bitwise(device(), a, b)


@pytest.mark.parametrize("k", range(1, 33))
def test_emulated_bitwise(k: int) -> None:
    a, b = pairs_that_hurt(k)
    check_planes(add_emulated, k, a, b)
    for count in COUNTS:
        check_planes(add_emulated, k, a[-count - 1 : -1], b[-count - 1 : -1])


@pytest.mark.parametrize("order", ["reverse", "shuffled:1"])
def test_emulated_bitwise_in_other_orders(order: str) -> None:
    a, b = pairs_that_hurt(17)
    check_planes(lambda x, y: sums.add_bitwise(device(order), x, y), 17, a, b)


@pytest.mark.parametrize("count", [*COUNTS, 1000])
def test_emulated_naive(count: int) -> None:
    a, b = (x[:count] for x in pairs_that_hurt(32))
    np.testing.assert_array_equal(sums.add_naive(device(), a, b), ref.add(a, b))


def test_launchers_check_their_arguments() -> None:
    words = np.zeros((2, 3), np.uint32)
    with pytest.raises(ValueError, match="shapes"):
        sums.add_bitwise(device(), words, words[:1])
    with pytest.raises(ValueError, match="uint32"):
        sums.add_bitwise(device(), words, words.astype(np.int32))
    with pytest.raises(ValueError, match="33"):
        sums.add_bitwise(device(), *[np.zeros((33, 1), np.uint32)] * 2)
    with pytest.raises(ValueError, match="shapes"):
        sums.add_naive(device(), words, words)
    # Planes that are a view are as good.
    wide = np.arange(12, dtype=np.uint32).reshape(2, 6)[:, ::2]
    np.testing.assert_array_equal(
        sums.add_bitwise(device(), wide, wide), sums.add_bitwise(device(), wide.copy(), wide.copy())
    )


@given(st.integers(1, 2**38), st.integers(1, 200))
def test_choice_covers_the_work(threads: int, multiprocessors: int) -> None:
    params = sums.choose(threads, multiprocessors)
    blocks, block = params.grid[0], params.block[0]
    assert block in (32, 64, 128, 256)
    assert blocks * block >= threads > (blocks - 1) * block
    assert block == 32 or blocks >= 2 * multiprocessors


def test_choice_has_its_limits() -> None:
    for threads in (0, 2**40):
        with pytest.raises(ValueError, match=r"nothing|too many"):
            sums.choose(threads, 1)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("k", [1, 32])
def test_nvcc_compiles(k: int, tmp_path: Path) -> None:
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 80, 90)]
    command = ["nvcc", "-std=c++17", *arches, "--fatbin", "-Werror=all-warnings", f"-DK={k}"]
    done = subprocess.run(
        [*command, str(SOURCE / "sums.cu"), "-o", str(tmp_path / "sums.fatbin")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


# --- CPU levels --------------------------------------------------------------

LEVELS = {  # vector type, -march, what the CPU must have
    "v2": ("v128", "x86-64-v2", {"sse4_2"}),
    "v3": ("v256", "x86-64-v3", {"avx2", "bmi2", "fma", "movbe"}),
    "v4": ("v512", "x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
}
POINTER = ctypes.c_void_p
NAIVE = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, ctypes.c_size_t)
BITWISE = ctypes.CFUNCTYPE(
    None, POINTER, POINTER, POINTER, ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t
)


class SumsOps(ctypes.Structure):
    """sums.hpp's."""

    _fields_ = (("vector_bytes", ctypes.c_int), ("naive", NAIVE), ("bitwise", BITWISE))


@pytest.fixture(scope="module", params=LEVELS)
def level(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SumsOps:
    name = request.param
    vector, march, needs = LEVELS[name]
    flags = ["-O3", f"-march={march}", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    if platform.machine() != "x86_64":
        if name != "v2":
            pytest.skip("levels are of x86-64")
        flags.remove(f"-march={march}")
    elif not needs <= cpu_flags():
        pytest.skip(f"the CPU is not {march}")
    library = tmp_path_factory.mktemp(name) / "sums.so"
    command = ["g++", "-std=c++17", *flags, f"-DLEVEL={name}", f"-DVECTOR={vector}"]
    done = subprocess.run(
        [*command, "-shared", "-fPIC", str(SOURCE / "sums.cpp"), "-o", str(library)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    weak = subprocess.run(["nm", "-C", str(library)], capture_output=True, text=True, check=True)
    # What is weak may be merged with other levels' code (w is the C library's).
    assert not [s for s in weak.stdout.splitlines() if " W " in s or " V " in s or " u " in s]
    return SumsOps.in_dll(ctypes.CDLL(str(library)), f"sums_{name}")


def cpu_flags() -> set[str]:
    text = Path("/proc/cpuinfo").read_text()
    return set(next(line for line in text.splitlines() if line.startswith("flags")).split())


def at(array: npt.NDArray[Any]) -> int:
    return array.ctypes.data


def add_on_cpu(level: SumsOps, a: Words, b: Words, extra: int = 0, shift: int = 0) -> Words:
    """Planes `extra` words longer than their groups, `shift` words into the memory."""
    k, groups = a.shape
    planes, stride = sums.sum_bits(k), groups + extra

    def place(rows: int) -> tuple[Words, Words]:
        memory = np.full(rows * stride + 64, 0xC7C7C7C7, np.uint32)
        return memory, memory[shift : shift + rows * stride].reshape(rows, stride)

    (_, x), (_, y), (memory, z) = place(k), place(k), place(planes)
    x[:, :groups], y[:, :groups] = a, b
    level.bitwise(at(x), at(y), at(z), k, groups, stride)
    result = z[:, :groups].copy()
    z[:, :groups] = 0xC7C7C7C7
    assert (memory == 0xC7C7C7C7).all(), "a write outside"
    return result


def test_level_knows_its_width(level: SumsOps) -> None:
    assert level.vector_bytes in (16, 32, 64)


@pytest.mark.parametrize("k", range(1, 33))
def test_cpu_bitwise(level: SumsOps, k: int) -> None:
    a, b = pairs_that_hurt(k)
    check_planes(lambda x, y: add_on_cpu(level, x, y), k, a, b)
    for count in (*COUNTS, 511, 512, 513, 1000):
        check_planes(
            lambda x, y: add_on_cpu(level, x, y, extra=5, shift=3), k, a[-count:], b[-count:]
        )


@settings(max_examples=50)
@given(batches(), st.integers(0, 9), st.integers(0, 15))
def test_cpu_bitwise_of_any_batch(
    level: SumsOps, batch: tuple[int, Words, Words], extra: int, shift: int
) -> None:
    k, a, b = batch
    check_planes(lambda x, y: add_on_cpu(level, x, y, extra, shift), k, a, b)


@pytest.mark.parametrize("groups", [2047, 2048, 2049, 4096 + 17])
def test_cpu_bitwise_in_parts(level: SumsOps, groups: int) -> None:
    a, b = np.random.default_rng(groups).integers(0, 2**32, (2, 3, groups), np.uint32)
    found = add_on_cpu(level, a, b)
    count = 32 * groups
    expected = sums.unslice_bits(a, count) + sums.unslice_bits(b, count)
    np.testing.assert_array_equal(sums.unslice_bits(found, count), expected)


@pytest.mark.parametrize("count", [*COUNTS, 7, 8, 9, 15, 16, 17, 1000])
def test_cpu_naive(level: SumsOps, count: int) -> None:
    a, b = (np.ascontiguousarray(x[:count]) for x in pairs_that_hurt(32))
    c = np.full(count + 1, 77, np.uint32)
    level.naive(at(a), at(b), at(c), count)
    np.testing.assert_array_equal(c[:count], ref.add(a, b))
    assert c[count] == 77
