"""Pairwise sums: every version against the obvious one, for every k."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import sums as benchmark
from kernels import sums
from kernels.sums import ref
from kernels.sums.slicing import Words
from kernels.targets import cpu
from kernels.targets.cpu import CpuTarget
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

SOURCE = Path(sums.__file__).parent
COUNTS = (0, 1, 31, 32, 33)
HURTS = (0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x55555555, 0xAAAAAAAA)


def pairs_that_hurt(k: int) -> tuple[Words, Words]:
    """Return all pairs of: the numbers above, the powers of two, and those less one (long
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


FEW = {1, 2, 3, 8, 17, 31, 32}


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "k", [pytest.param(k, marks=() if k in FEW else pytest.mark.slow) for k in range(1, 33)]
)
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


@needs_nvcc
@pytest.mark.sample(1)
@pytest.mark.parametrize("k", [1, 32])
def test_nvcc_compiles(k: int) -> None:
    arches = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 80, 90)]
    nvcc(SOURCE / "cuda" / "sums.cu", *arches, "--fatbin", f"-DK={k}")


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
    command = [
        os.environ.get("CXX", "g++"),
        "-std=c++17",
        *flags,
        f"-DLEVEL={name}",
        f"-DVECTOR={vector}",
    ]
    done = subprocess.run(
        [*command, "-shared", "-fPIC", str(SOURCE / "cpu" / "sums.cpp"), "-o", str(library)],
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


@pytest.mark.sample(2)
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


@settings(max_examples=examples(50))
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


# --- CPU backend ---------------------------------------------------------------


@pytest.fixture(params=[(name, n) for name in cpu.levels() for n in (1, 2, 3)], ids=str)
def backend(request: pytest.FixtureRequest) -> CpuTarget:
    name, threads = request.param
    return CpuTarget(threads, name)


@pytest.mark.sample(40)
@pytest.mark.parametrize("k", range(1, 33))
def test_backend_bitwise(backend: CpuTarget, k: int) -> None:
    a, b = pairs_that_hurt(k)
    for count in (*COUNTS, a.size):
        check_planes(lambda x, y: sums.add_bitwise_cpu(backend, x, y), k, a[:count], b[:count])


@pytest.mark.parametrize("count", [*COUNTS, 1000])
def test_backend_naive(backend: CpuTarget, count: int) -> None:
    a, b = (x[:count] for x in pairs_that_hurt(32))
    np.testing.assert_array_equal(sums.add_naive_cpu(backend, a, b), ref.add(a, b))


# One thread takes at least 4096 words; these are some threads' work and a bit more.
@pytest.mark.parametrize("groups", [4095, 4096, 4097, 8192, 8193, 12289, 40000])
def test_backend_shares_out_the_work(backend: CpuTarget, groups: int) -> None:
    a, b = np.random.default_rng(groups).integers(0, 2**32, (2, 3, groups), np.uint32)
    count = 32 * groups
    expected = sums.unslice_bits(a, count) + sums.unslice_bits(b, count)
    found = sums.add_bitwise_cpu(backend, a, b)
    np.testing.assert_array_equal(sums.unslice_bits(found, count), expected)
    np.testing.assert_array_equal(sums.add_naive_cpu(backend, a[0], b[0]), ref.add(a[0], b[0]))


def test_backend_takes_views_and_a_place_for_the_result(backend: CpuTarget) -> None:
    wide = np.arange(1200, dtype=np.uint32).reshape(3, 400)
    a, b = wide[:, ::2], wide[:, 1::2]
    expected = sums.add_bitwise_cpu(backend, a.copy(), b.copy())
    np.testing.assert_array_equal(sums.add_bitwise_cpu(backend, a, b), expected)
    memory = np.full((6, 200), 0xC7C7C7C7, np.uint32)
    assert sums.add_bitwise_cpu(backend, a, b, memory[1:5]).base is memory
    np.testing.assert_array_equal(memory[1:5], expected)
    assert (memory[[0, 5]] == 0xC7C7C7C7).all()
    row = np.full(202, 0xC7C7C7C7, np.uint32)
    sums.add_naive_cpu(backend, a[0], b[0], row[1:201])
    np.testing.assert_array_equal(row[1:201], ref.add(a[0], b[0]))
    assert (row[[0, 201]] == 0xC7C7C7C7).all()
    a.flags.writeable = False
    np.testing.assert_array_equal(sums.add_bitwise_cpu(backend, a, b), expected)


def words(*shape: int) -> Words:
    return np.zeros(shape, np.uint32)


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        (words(2, 9), words(2, 9), words(2, 9)),  # no room for the carries
        (words(2, 9), words(2, 9), words(4, 9)),
        (words(2, 9), words(2, 9), words(3, 8)),
        (words(2, 9), words(3, 9), words(3, 9)),
        (words(2, 9), words(2, 8), words(3, 9)),
        (words(32, 9), words(32, 9), words(33, 9)),  # taken modulo 2^32
        (words(33, 9), words(33, 9), words(32, 9)),
        (words(0, 9), words(0, 9), words(1, 9)),
        (words(9), words(9), words(2, 9)),
        (words(2, 9), words(2, 9), words(27)),
        (words(2, 9), words(2, 9), words(3, 18)[:, ::2]),
        (words(2, 18)[:, ::2], words(2, 9), words(3, 9)),
        (words(2, 9), words(9, 2).T, words(3, 9)),
        (words(2, 9).astype(np.int32), words(2, 9), words(3, 9)),
        (words(2, 9), words(2, 9).astype(np.float32), words(3, 9)),
        (words(2, 9), words(2, 9), words(3, 9).astype(np.uint64)),
    ],
)
def test_extension_refuses_planes(
    a: npt.NDArray[Any], b: npt.NDArray[Any], out: npt.NDArray[Any], backend: CpuTarget
) -> None:
    with pytest.raises(ValueError, match=r"arrays|planes"):
        extension().sums_bitwise(backend.level, a, b, out, backend.threads)
    assert not out.any()


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        (words(9), words(9), words(8)),
        (words(9), words(8), words(9)),
        (words(8), words(9), words(9)),
        (words(1, 9), words(1, 9), words(1, 9)),
        (words(9), words(9), words(18)[::2]),
        (words(18)[::2], words(9), words(9)),
        (words(9), words(9)[::-1], words(9)),
        (words(9), words(9).astype(np.uint64), words(9)),
        (words(9), words(9), words(9).astype(np.int32)),
    ],
)
def test_extension_refuses_numbers(
    a: npt.NDArray[Any], b: npt.NDArray[Any], out: npt.NDArray[Any], backend: CpuTarget
) -> None:
    with pytest.raises(ValueError, match="arrays"):
        extension().sums_naive(backend.level, a, b, out, backend.threads)


def test_extension_refuses_what_else_is_wrong(backend: CpuTarget) -> None:
    memory = words(7, 9)
    for a, b in ((memory[:2], memory[5:]), (memory[5:], memory[3:5])):
        with pytest.raises(ValueError, match="overlaps"):
            extension().sums_bitwise(backend.level, a, b, memory[1:4], 1)
    line = words(30)
    for first, second in ((0, 20), (21, 16)):  # the first or the last word
        a, b = line[first : first + 9], line[second : second + 9]
        with pytest.raises(ValueError, match="overlaps"):
            extension().sums_naive(backend.level, a, b, line[8:17], 1)
    extension().sums_naive(backend.level, line[:5], line[10:15], line[5:10], 1)  # beside them
    three = words(9), words(9), words(9)
    with pytest.raises(ValueError, match="thread"):
        extension().sums_naive(backend.level, *three, 0)
    with pytest.raises(ValueError, match="no level"):
        extension().sums_naive("v0", *three, 1)
    three[2].flags.writeable = False
    with pytest.raises(TypeError):
        extension().sums_naive(backend.level, *three, 1)


def extension() -> Any:
    return importlib.import_module("kernels._cpu")


def test_cpu_launchers_check_their_arguments(backend: CpuTarget) -> None:
    with pytest.raises(ValueError, match="shapes"):
        sums.add_bitwise_cpu(backend, words(2, 3), words(1, 3))
    with pytest.raises(ValueError, match="uint32"):
        sums.add_bitwise_cpu(backend, words(2, 3), words(2, 3).astype(np.int32))
    with pytest.raises(ValueError, match="33"):
        sums.add_bitwise_cpu(backend, words(33, 1), words(33, 1))
    with pytest.raises(ValueError, match="shapes"):
        sums.add_naive_cpu(backend, words(2, 3), words(2, 3))
    with pytest.raises(ValueError, match="shapes of the arrays"):
        sums.add_naive_cpu(backend, words(3), words(3), words(4))


# --- the benchmark -------------------------------------------------------------


def test_benchmark_fills_the_columns_it_can(capsys: pytest.CaptureFixture[str]) -> None:
    emulated = cast(Device, device())  # its methods take its own buffers only
    rows = benchmark.measure(None, emulated, 100, [1, 32], launches=1)
    assert [row.k for row in rows] == [1, 32]
    for row in rows:
        assert row.naive_cpu is row.bitwise_cpu is None
        assert row.naive_gpu is not None
        assert row.bitwise_gpu is not None
    rows = [benchmark.Row(7, 8.0, 4.0, 2.0, 0.5), benchmark.Row(8, 1.0, None, 0.25, None)]
    assert benchmark.as_markdown(rows).splitlines()[2:] == [
        "| 7 | 8.0000 | 4.0000 | 2.0000 | 0.5000 | 2.00 | 4.00 | 4.00 | 8.00 |",
        "| 8 | 1.0000 |  | 0.2500 |  |  |  | 4.00 |  |",
    ]
    if cpu.levels():
        benchmark.main(["--device", "cpu", "--pairs", "33", "--json"])
        figures = json.loads(capsys.readouterr().out)
        assert [row["k"] for row in figures["rows"]] == list(range(1, 33))
        assert all(row["bitwise_cpu"] > 0 for row in figures["rows"])
        assert figures["gpu"] is None


def test_benchmark_measures_no_wrong_sums() -> None:
    a, b = benchmark.pairs_of(5, 40)
    good, planes = a + b, sums.slice_bits(a + b, 6)
    benchmark.verify(5, good, planes)
    for naive, sliced in ((good ^ np.uint32(1), planes), (good, planes ^ np.uint32(1))):
        with pytest.raises(benchmark.WrongSumsError, match="k = 5"):
            benchmark.verify(5, naive, sliced)
