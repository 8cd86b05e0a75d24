"""The emulation itself: tiny kernels whose right answer, or error, is known."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from kernels.targets.cuda.device import Device, Slice
from tests.emulation import EmulatedDevice
from tests.emulation.build import cache
from tests.emulation.emulated import EmulatedModule
from tests.emulation.sanitized import run_sanitized

ORDERS = ["forward", "reverse", "shuffled:1", "shuffled:2"]
ONE = (1, 1, 1)
LANES = np.arange(32, dtype=np.uint32)
FULL = "0xffffffffu"

PREFIX = """
#include <cstdint>
typedef std::uint32_t u32;
typedef unsigned long long u64;
"""

Build = Callable[..., EmulatedModule]


@pytest.fixture(params=ORDERS)
def device(request: pytest.FixtureRequest) -> EmulatedDevice:
    return EmulatedDevice(order=request.param, timeout=20)


@pytest.fixture(scope="session")
def build() -> Build:
    """A module of one kernel `k` with these parameters and this body."""

    def make(
        device: EmulatedDevice, parameters: str, body: str, before: str = "", **defines: int
    ) -> EmulatedModule:
        text = f'{PREFIX}{before}\nextern "C" __global__ void k({parameters}) {{\n{body}\n}}\n'
        # Equal kernels at one place, which the compiled file names: so that each is
        # compiled once, not once for every order, nor in every run.
        source = cache() / hashlib.sha256(text.encode()).hexdigest()[:16] / "tiny.cu"
        source.parent.mkdir(exist_ok=True)
        if not source.exists():
            draft = source.with_name(f"{os.getpid()}.cu")  # of several processes that write it
            draft.write_text(text)
            os.replace(draft, source)
        return device.module(source, defines)

    return make


def put(device: EmulatedDevice, values: npt.NDArray[Any]) -> Any:
    buffer = device.alloc(values.nbytes)
    device.upload(buffer, values)
    return buffer


def get(device: Device, buffer: Any, dtype: Any = np.uint32) -> npt.NDArray[Any]:
    values = np.empty(buffer.nbytes // np.dtype(dtype).itemsize, dtype)
    device.download(values, buffer)
    return values


# --- collectives -------------------------------------------------------------


def test_collectives(device: EmulatedDevice, build: Build) -> None:
    cases: dict[str, npt.NDArray[Any]] = {  # by lane, where v = 100 + lane
        f"__shfl_sync({FULL}, v, 5)": np.full(32, 105),
        f"__shfl_sync({FULL}, v, 37)": np.full(32, 105),
        f"__shfl_sync({FULL}, v, 1, 8)": 101 + LANES // 8 * 8,
        f"__shfl_sync({FULL}, v, 31 - threadIdx.x)": 131 - LANES,
        f"__shfl_up_sync({FULL}, v, 3)": 100 + np.where(LANES < 3, LANES, LANES - 3),
        f"__shfl_up_sync({FULL}, v, 1, 4)": 100 + np.where(LANES % 4, LANES - 1, LANES),
        f"__shfl_down_sync({FULL}, v, 3)": 100 + np.where(LANES > 28, LANES, LANES + 3),
        f"__shfl_down_sync({FULL}, v, 2, 8)": 100 + LANES + np.where(LANES % 8 < 6, 2, 0),
        f"__shfl_xor_sync({FULL}, v, 16)": 100 + (LANES ^ 16),
        # Later groups cannot be read, earlier ones can.
        f"__shfl_xor_sync({FULL}, v, 16, 16)": 100 + (LANES & 15),
        f"__ballot_sync({FULL}, v % 3 == 0)": np.full(32, 0x24924924),
        f"__any_sync({FULL}, v == 131)": np.full(32, 1),
        f"__all_sync({FULL}, v == 131)": np.full(32, 0),
        f"__all_sync({FULL}, v)": np.full(32, 1),
        f"__match_any_sync({FULL}, v & 1)": np.where(LANES % 2, 0xAAAAAAAA, 0x55555555),
    }
    out = device.alloc(128 * len(cases))
    body = "u32 v = 100 + threadIdx.x;\n" + "\n".join(
        f"out[{32 * i} + threadIdx.x] = {c};" for i, c in enumerate(cases)
    )
    build(device, "u32* out", body).launch("k", ONE, (32, 1, 1), out)
    for case, found in zip(cases, get(device, out).reshape(-1, 32), strict=True):
        np.testing.assert_array_equal(found, cases[case], err_msg=case)


def test_shuffles_of_64_bits(device: EmulatedDevice, build: Build) -> None:
    values = np.random.default_rng(1).integers(0, 2**64, 32, np.uint64)
    data = put(device, values)
    module = build(
        device,
        "u64* p",
        f"""u64 v = __shfl_up_sync({FULL}, p[threadIdx.x], 1);
        long long s = __shfl_down_sync({FULL}, (long long)v, 1);
        __syncwarp();
        p[threadIdx.x] = threadIdx.x == 31 ? v : (u64)s;""",
    )
    module.launch("k", ONE, (32, 1, 1), data)
    expected = values.copy()
    expected[31] = values[30]
    np.testing.assert_array_equal(get(device, data, np.uint64), expected)


def test_parts_of_a_warp_go_separate_ways(device: EmulatedDevice, build: Build) -> None:
    body = """u32 v = threadIdx.x;
    if (v < 16) { v += __shfl_xor_sync(0xffffu, v, 1); v = __shfl_sync(0xffffu, v, 3); }
    else v = __ballot_sync(0xffff0000u, v & 1);
    out[threadIdx.x] = v + __shfl_sync(0xffffffffu, v, 0);"""
    out = device.alloc(128)
    build(device, "u32* out", body).launch("k", ONE, (32, 1, 1), out)
    expected = np.where(LANES < 16, 5, 0xAAAA0000).astype(np.uint32) + np.uint32(5)
    np.testing.assert_array_equal(get(device, out), expected)


def test_a_lane_outside_the_mask_gives_a_pattern(device: EmulatedDevice, build: Build) -> None:
    body = "if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0xffffu, threadIdx.x, 1);"
    out = device.alloc(64)
    build(device, "u32* out", body).launch("k", ONE, (32, 1, 1), out)
    assert get(device, out)[15] == 0xA5A5A5A5


def test_block_sum_through_shared_memory(device: EmulatedDevice, build: Build) -> None:
    body = """__shared__ u32 tile[256];
    u32 t = threadIdx.x;
    tile[t] = p[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (u32 half = blockDim.x / 2; half; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];"""
    values = np.random.default_rng(2).integers(0, 2**32, 256 * 5, np.uint32)
    data, sums = put(device, values), device.alloc(20)
    module = build(device, "const u32* p, u32* sums", body)
    module.launch("k", (5, 1, 1), (256, 1, 1), data, sums)
    expected = values.reshape(5, 256).sum(1, dtype=np.uint32)
    np.testing.assert_array_equal(get(device, sums), expected)


def test_barriers_that_vote_and_threads_that_left(device: EmulatedDevice, build: Build) -> None:
    body = """u32 t = threadIdx.x;
    if (t >= 70) return;
    u32 n = __syncthreads_count(t % 2), a = __syncthreads_and(t < 70), o = __syncthreads_or(t == 3);
    out[t] = n * 100 + a * 10 + o + __syncthreads_or(0);"""
    out = device.alloc(280)
    build(device, "u32* out", body).launch("k", ONE, (96, 1, 1), out)
    np.testing.assert_array_equal(get(device, out), np.full(70, 3511))


def test_dynamic_shared_memory_and_three_dimensions(device: EmulatedDevice, build: Build) -> None:
    before = """
    #if !defined(DYNAMIC_SHARED)
    #define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
    #endif
    """
    body = """DYNAMIC_SHARED(u32, tile);
    u32 t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    u32 n = blockDim.x * blockDim.y * blockDim.z;
    u32 b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    tile[t] = t;
    __syncthreads();
    out[b * n + t] = b * 1000 + tile[n - 1 - t];"""
    module = build(device, "u32* out", body, before)
    out = device.alloc(4 * 24 * 24)
    module.launch("k", (2, 3, 4), (4, 3, 2), out, shared=96)
    expected = np.arange(24)[:, None] * 1000 + np.arange(24)[::-1]
    np.testing.assert_array_equal(get(device, out), expected.ravel())
    with pytest.raises(RuntimeError, match=r"dynamic shared|poison"):
        module.launch("k", ONE, (4, 3, 2), out, shared=92)


def test_atomics(device: EmulatedDevice, build: Build) -> None:
    body = """u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&p[0], t);
    atomicMin(&p[1], 1000 - t);
    atomicMax(&p[2], t);
    atomicOr(&p[3], 1u << t % 32);
    atomicAnd(&p[4], ~(1u << t % 7));
    atomicXor(&p[5], t);
    atomicExch(&p[6], 7u);
    for (u32 old = p[7], seen; ; old = seen)  // an addition by compare and swap
        if ((seen = atomicCAS(&p[7], old, old + 3)) == old) break;
    atomicAdd(q, ~0ull);
    atomicSub(&p[8], 1);"""
    start = np.array([0, 9999, 0, 0, 0xFF, 0, 0, 0, 0], np.uint32)
    words, wide = put(device, start), put(device, np.array([1000], np.uint64))
    module = build(device, "u32* p, u64* q", body)
    module.launch("k", (3, 1, 1), (50, 1, 1), words, wide)
    t = np.arange(150, dtype=np.uint32)
    expected = [t.sum(), 851, 149, 2**32 - 1, 0x80, np.bitwise_xor.reduce(t), 7, 450, 2**32 - 150]
    np.testing.assert_array_equal(get(device, words), expected)
    assert get(device, wide, np.uint64)[0] == 850


def test_spinning_on_an_atomic_lets_others_run(device: EmulatedDevice, build: Build) -> None:
    body = """for (u32 turn = 0; turn < blockDim.x; turn++) {
        if (turn == threadIdx.x) atomicAdd(p, 1u);
        while (atomicAdd(p, 0u) <= turn) {}
    }"""
    data = put(device, np.zeros(1, np.uint32))
    build(device, "u32* p", body).launch("k", ONE, (40, 1, 1), data)
    assert get(device, data)[0] == 40


def test_intrinsics(device: EmulatedDevice, build: Build) -> None:
    cases = {
        "__popc(0xF0F0u)": 8,
        "__popcll(~0ull)": 64,
        "__clz(0)": 32,
        "__clz(1)": 31,
        "__clzll(0)": 64,
        "__ffs(0)": 0,
        "__ffs(8)": 4,
        "__ffsll(1ll << 40)": 41,
        "__brev(1u)": 0x80000000,
        "(u32)(__brevll(2ull) >> 32)": 0x40000000,
        "__byte_perm(0x33221100u, 0x77665544u, 0x7531u)": 0x77553311,
        "__byte_perm(0x33229900u, 0u, 0x0009u)": 0x000000FF,
        "__funnelshift_l(0x80000001u, 5u, 1u)": 11,
        "__funnelshift_l(1u, 5u, 32u)": 5,
        "__funnelshift_lc(1u, 5u, 32u)": 1,
        "__funnelshift_r(0x80000001u, 5u, 1u)": 0xC0000000,
        "__funnelshift_r(1u, 5u, 32u)": 1,
        "__funnelshift_rc(1u, 5u, 32u)": 5,
        "__umulhi(0xffffffffu, 0xffffffffu)": 0xFFFFFFFE,
        "(u32)__mulhi(-1, 1)": 0xFFFFFFFF,
        "(u32)__umul64hi(~0ull, ~0ull)": 0xFFFFFFFE,
        "(u32)__mul64hi(-1, 1)": 0xFFFFFFFF,
        "min(3, 4) + max(3u, 4u)": 7,
        "__ldg(&make_uint4(1, 2, 3, 4).z)": 3,
        "(u32)sizeof(ulonglong2) + (u32)alignof(uint4)": 32,
    }
    body = "\n".join(f"out[{i}] = {c};" for i, c in enumerate(cases))
    body = body.replace("&make_uint4(1, 2, 3, 4).z", "&quad.z")
    body = "uint4 quad = make_uint4(1, 2, 3, 4);\n" + body
    out = device.alloc(4 * len(cases))
    build(device, "u32* out", body).launch("k", ONE, ONE, out)
    assert dict(zip(cases, get(device, out).tolist(), strict=True)) == cases


def test_templates_may_have_shared_variables(device: EmulatedDevice, build: Build) -> None:
    before = """
    template <int N> __device__ u32 reversed(u32 v) {
        __shared__ u32 tile[N];
        tile[threadIdx.x % N] = v;
        __syncthreads();
        u32 r = tile[N - 1 - threadIdx.x % N];
        __syncthreads();
        return r;
    }
    """
    body = """__shared__ __align__(16) u32 tile[8];
    tile[threadIdx.x] = reversed<8>(threadIdx.x) + 10 * reversed<SIZE>(threadIdx.x % SIZE);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];"""
    out = device.alloc(32)
    module = build(device, "u32* out", body, before, SIZE=4)
    module.launch("k", ONE, (8, 1, 1), out)
    expected = LANES[:8][::-1] + 10 * (3 - LANES[:8] % 4)
    np.testing.assert_array_equal(get(device, out), expected)


def test_shared_memory_starts_with_a_pattern_in_every_block(
    device: EmulatedDevice, build: Build
) -> None:
    body = """__shared__ u32 tile[2];
    out[blockIdx.x] = tile[1];
    tile[1] = 0;"""
    out = device.alloc(12)
    build(device, "u32* out", body).launch("k", (3, 1, 1), ONE, out)
    np.testing.assert_array_equal(get(device, out), np.full(3, 0xA5A5A5A5))


def test_scalars_of_every_size_and_arguments_on_the_stack(
    device: EmulatedDevice, build: Build
) -> None:
    parameters = (
        "long long* out, signed char a, unsigned short b, int c, u32 d, long long e, "
        "u64 f, short g, unsigned char h, int i, bool j"
    )
    names = "abcdefghij"
    body = "".join(f"out[{i}] = (long long){n};" for i, n in enumerate(names))
    values: list[np.integer[Any]] = [
        np.int8(-1), np.uint16(65535), np.int32(-2**31), np.uint32(2**32 - 1), np.int64(-(2**63)),
        np.uint64(2**63 - 1), np.int16(-300), np.uint8(255), np.int32(-7), np.uint8(1),
    ]  # fmt: skip
    out = device.alloc(80)
    build(device, parameters, body).launch("k", ONE, ONE, out, *values)
    assert get(device, out, np.int64).tolist() == [int(v) for v in values]


def test_a_missing_barrier_shows_between_orders(build: Build) -> None:
    body = """__shared__ u32 tile[32];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[31 - threadIdx.x];"""
    results = []
    for order in ("forward", "reverse"):
        device = EmulatedDevice(order=order)
        out = device.alloc(128)
        build(device, "u32* out", body).launch("k", ONE, (32, 1, 1), out)
        results.append(get(device, out))
    assert not np.array_equal(results[0], results[1])


def test_shuffles_are_fast_enough(build: Build) -> None:
    device = EmulatedDevice()
    out = device.alloc(128)
    body = f"""u32 v = threadIdx.x;
    for (int i = 0; i < 2000; i++) v += __shfl_xor_sync({FULL}, v, i % 32);
    out[threadIdx.x] = v;"""
    module = build(device, "u32* out", body)
    begin = time.perf_counter()
    module.launch("k", ONE, (32, 1, 1), out)
    assert time.perf_counter() - begin < 2  # 0.01 s on an idle machine


def test_ucontext_serves_where_there_is_no_own_switch(build: Build) -> None:
    device = EmulatedDevice()
    out = device.alloc(128)
    body = f"out[threadIdx.x] = __shfl_xor_sync({FULL}, threadIdx.x, 1);"
    module = build(device, "u32* out", body, EMULATION_UCONTEXT=1)
    module.launch("k", ONE, (32, 1, 1), out)
    np.testing.assert_array_equal(get(device, out), LANES ^ 1)


# --- errors ------------------------------------------------------------------

FAILURES = {
    "lane exits": (
        f"if (threadIdx.x == 7) return; out[0] = __shfl_sync({FULL}, 1u, 0);",
        r"tiny\.cu:\d+.*mask 0xffffffff|lane 7, which has exited",
    ),
    "partial warp": (
        f"if (threadIdx.x >= 32) out[0] = __ballot_sync({FULL}, 1);",
        "names lane 8, which the block has not",
    ),
    "not in the mask": ("__syncwarp(1u << (threadIdx.x + 1) % 8);", "does not name the calling"),
    "bad width": (f"out[0] = __shfl_sync({FULL}, 1u, 0, 12);", "width 12"),
    "masks differ": (
        "if (threadIdx.x < 32) __syncwarp(threadIdx.x < 4 ? 0xffffu : 0xffffffffu);",
        r"deadlock.*__syncwarp at .*tiny\.cu:\d+ \(mask 0x",
    ),
    "barrier against collective": (
        f"if (threadIdx.x == 0) __syncthreads(); else if (threadIdx.x < 32) __syncwarp({FULL});",
        "deadlock.*__syncthreads.*__syncwarp",
    ),
    "misaligned": (
        "((uint4*)(out + 1))->x = 1;",
        r"misaligned access of .*uint4.*tiny\.cu:\d+",
    ),
    "misaligned word": ("*(u32*)((char*)out + 2) = 1;", "misaligned"),
    "null": ("u32* p = nullptr; p[threadIdx.x / 100] = 1;", "null pointer"),
    "index": ("u32 t[4] = {}; t[n + 4] = 1; out[0] = t[n];", "index out of the array's bounds"),
    "shared index": ("__shared__ u32 t[4]; t[n + 4] = 1;", "index out of the array's bounds"),
    "shift": ("out[0] = 1u << (n + 32);", "shift by too many bits"),
    "overflow": ("out[0] = u32(2147483647 + (n + 1));", "signed .* overflows"),
    "division": ("out[0] = 5 / n;", "division by zero"),
    "assertion": ("assert(n == 1);", "assertion n == 1 failed"),
    "trap": ("__trap();", "__trap"),
    "wild": ("*(u32*)(u64(n) + 64) = 1;", "not mapped|SEGV"),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("failure", FAILURES)
def test_errors_end_the_launch(device: EmulatedDevice, build: Build, failure: str) -> None:
    if device.sanitize and failure == "wild":
        pytest.skip("the sanitizer ends the process")
    body, message = FAILURES[failure]
    out = device.alloc(256)
    module = build(device, "u32* out, int n", body, "#include <cassert>")
    with pytest.raises(RuntimeError, match=message):
        module.launch("k", ONE, (40, 1, 1), out, np.int32(0))
    # and leave the device fit for the next
    fine = build(device, "u32* out, int n", "if (threadIdx.x == 0) out[0] = 42;")
    fine.launch("k", ONE, (40, 1, 1), out, np.int32(0))
    assert get(device, out)[0] == 42


def test_an_endless_loop_ends(build: Build) -> None:
    device = EmulatedDevice(timeout=0.2)
    if device.sanitize:
        pytest.skip("the time limit ends a sanitized process")
    module = build(device, "volatile u32* p", "while (*p != 1) {}")
    with pytest.raises(RuntimeError, match="time limit"):
        module.launch("k", ONE, ONE, put(device, np.zeros(1, np.uint32)))


def test_endless_recursion_ends(build: Build) -> None:
    device = EmulatedDevice()
    if device.sanitize:
        pytest.skip("the sanitizer ends the process")
    before = """
    __device__ __noinline__ u32 deep(volatile u32* p, u32 n) {
        volatile u32 room[100]; room[n % 100] = *p; return deep(p, n + 1) + room[n % 100];
    }
    """
    module = build(device, "volatile u32* p", "*p = deep(p, 0);", before)
    with pytest.raises(RuntimeError, match="stack is full"):
        module.launch("k", ONE, ONE, device.alloc(4))


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("16", "0 bytes past the end of a buffer of 64 bytes"),
        ("16 + 100", "400 bytes past the end of a buffer of 64 bytes"),
        ("-1", "1 bytes before the start of a buffer of 64 bytes"),
    ],
)
def test_writes_outside_are_reported(
    device: EmulatedDevice, build: Build, index: str, message: str
) -> None:
    if device.sanitize:
        message = "heap-buffer-overflow"
    out = device.alloc(64)
    module = build(device, "u32* out", f"out[{index}] = 1;")
    with pytest.raises(RuntimeError, match=message):
        module.launch("k", ONE, ONE, out)


def test_pointers_into_buffers(device: EmulatedDevice, build: Build) -> None:
    module = build(device, "u32* to, const u32* from", "to[threadIdx.x] = from[threadIdx.x];")
    values = np.arange(100, dtype=np.uint32)
    source, target = put(device, values), put(device, np.zeros(50, np.uint32))
    module.launch("k", ONE, (32, 1, 1), Slice(target, 4 * 10), Slice(source, 4 * 68))
    module.launch("k", ONE, (1, 1, 1), Slice(target, 0), source)
    expected = np.zeros(50, np.uint32)
    expected[10:42] = values[68:]
    np.testing.assert_array_equal(get(cast(Device, device), target), expected)
    for offset in (-4, 204):
        with pytest.raises(ValueError, match="buffer of 200 bytes"):
            module.launch("k", ONE, ONE, Slice(target, offset), source)
    message = "heap-buffer-overflow" if device.sanitize else "past the end of a buffer"
    with pytest.raises(RuntimeError, match=message):
        module.launch("k", ONE, (32, 1, 1), Slice(target, 4 * 19), source)


def test_arguments_are_checked(build: Build) -> None:
    device = EmulatedDevice()
    module = build(device, "u32* out, int n, u64 m", "")
    out = device.alloc(4)
    module.launch("k", ONE, ONE, out, np.int32(1), np.int64(2))
    wrong: list[tuple[Any, ...]] = [
        (out, np.int64(1), np.int64(2)),
        (out, np.int32(1), np.int32(2)),
        (out, out, np.int64(2)),
        (np.uint64(5), np.int32(1), np.int64(2)),
        (out, 1, np.int64(2)),
        (out, np.float32(1), np.int64(2)),
    ]
    for arguments in wrong:
        with pytest.raises(TypeError, match="argument"):
            module.launch("k", ONE, ONE, *arguments)
    with pytest.raises(RuntimeError, match="3 parameters, not 1"):
        module.launch("k", ONE, ONE, out)
    with pytest.raises(RuntimeError, match="no kernel named"):
        module.launch("other", ONE, ONE)
    for grid, block in [((0, 1, 1), ONE), (ONE, (1025, 1, 1)), (ONE, (32, 64, 1))]:
        with pytest.raises(RuntimeError, match="invalid configuration"):
            module.launch("k", grid, block, out, np.int32(1), np.int64(2))


def test_a_source_that_does_not_compile(build: Build) -> None:
    with pytest.raises(RuntimeError, match="nonsense"):
        build(EmulatedDevice(), "", "nonsense;")


# --- memory ------------------------------------------------------------------


def test_copies_within_the_device() -> None:
    device = EmulatedDevice()
    values = np.arange(20, dtype=np.uint32)
    source, target = put(device, values), put(device, values)
    device.copy(target, 4, source, 40, 12)
    device.copy(target, 80, source, 80, 0)
    device.copy(source, 0, source, 40, 40)
    expected = values.copy()
    expected[1:4] = values[10:13]
    np.testing.assert_array_equal(get(cast(Device, device), target), expected)
    np.testing.assert_array_equal(get(cast(Device, device), source), np.tile(values[10:], 2))
    for to, start, nbytes in ((72, 0, 12), (0, 72, 12), (-4, 0, 4), (0, -4, 4)):
        with pytest.raises(ValueError, match="buffer of 80 bytes"):
            device.copy(target, to, source, start, nbytes)
    with pytest.raises(ValueError, match="overlap"):
        device.copy(target, 0, target, 8, 12)


def test_memory_is_counted_and_freed() -> None:
    device = EmulatedDevice(memory=1000)
    buffer = device.alloc(600)
    assert device.free_memory() == 400
    with pytest.raises(MemoryError):
        device.alloc(401)
    del buffer
    assert device.free_memory() == 1000


def test_copies_with_offsets() -> None:
    device: Device = EmulatedDevice()
    buffer = device.alloc(8)
    device.upload(buffer, np.array([1, 2], np.uint16), offset=2)
    np.testing.assert_array_equal(get(device, buffer, np.uint16), [0xA5A5, 1, 2, 0xA5A5])
    part = np.empty((1, 1), np.uint16)
    device.download(part, buffer, offset=4)
    assert part[0, 0] == 2
    with pytest.raises(ValueError, match="buffer of 8 bytes"):
        device.upload(buffer, np.zeros(2, np.uint32), offset=4)
    with pytest.raises(ValueError, match="contiguous"):
        device.upload(buffer, np.zeros((4, 4), np.uint8)[:, 0])


def test_pinned_memory() -> None:
    device: Device = EmulatedDevice()
    memory = device.pinned(5000)
    assert (memory.shape, memory.dtype) == ((5000,), np.uint8)
    assert memory.ctypes.data % 4096 == 0
    memory[:] = 7
    buffer = device.alloc(5000)
    device.upload(buffer, memory)
    assert (get(device, buffer, np.uint8) == 7).all()


def test_threads_share_a_device(build: Build) -> None:
    device = EmulatedDevice()
    module = build(device, "u32* p", "p[blockIdx.x * blockDim.x + threadIdx.x] += 1;")

    def work(n: int) -> npt.NDArray[Any]:
        for _ in range(20):
            data = put(device, np.full(128, n, np.uint32))
            for _ in range(3):
                module.launch("k", (4, 1, 1), (32, 1, 1), data)
        return get(device, data)

    with ThreadPoolExecutor(4) as pool:
        for n, found in enumerate(pool.map(work, range(8))):
            np.testing.assert_array_equal(found, n + 3)
    assert device.free_memory() == device.info.memory


# --- the address sanitizer ---------------------------------------------------

SANITIZED = """
import numpy as np
from pathlib import Path
from kernels.targets.cuda.device import Device, Slice
from tests.emulation import EmulatedDevice

device = EmulatedDevice()
assert device.sanitize
module = device.module(Path({source!r}), {{}})
buffer, out = device.alloc(64), device.alloc(64)
for kernel in ("fine", "reads", "writes", "shared", "dynamic"):
    try:
        module.launch(kernel, (2, 1, 1), (32, 1, 1), buffer, out, np.int32(16), shared=64)
        print(kernel, "passed")
    except RuntimeError as error:
        print(kernel, "reported", str(error).split("ERROR: AddressSanitizer: ")[1].split()[0])
"""

SANITIZED_KERNELS = """
#define KERNEL(name) extern "C" __global__ void name(const unsigned* p, unsigned* q, int n)
KERNEL(fine) {
    unsigned v = p[threadIdx.x % n];
    for (int i = 1; i < 32; i *= 2) v += __shfl_xor_sync(~0u, v, i);
    __shared__ unsigned t[32];
    t[threadIdx.x] = v;
    __syncthreads();
    q[threadIdx.x % n] = t[31 - threadIdx.x];
}
KERNEL(reads) { if (p[n + threadIdx.x] == 77) q[0] = 1; }
KERNEL(writes) { q[-1] = p[0]; }
KERNEL(shared) {
    __shared__ unsigned t[8];
    unsigned* end = t + threadIdx.x % 8 + n - 8;
    q[0] = *end;
}
KERNEL(dynamic) {
    DYNAMIC_SHARED(unsigned, t);
    q[0] = t[n];
}
"""


def test_the_sanitizer_reports_reads_outside(tmp_path: Path) -> None:
    source = tmp_path / "tiny.cu"
    source.write_text(SANITIZED_KERNELS)
    try:
        done = run_sanitized(["-c", SANITIZED.format(source=str(source))])
    except RuntimeError as error:
        pytest.skip(str(error))
    assert done.stdout.splitlines() == [
        "fine passed",
        "reads reported heap-buffer-overflow",
        "writes reported heap-buffer-overflow",
        "shared reported global-buffer-overflow",
        "dynamic reported use-after-poison",
    ], done.stderr


def test_sanitizing_needs_the_sanitizer() -> None:
    if EmulatedDevice().sanitize:
        pytest.skip("it is there")
    with pytest.raises(RuntimeError, match="not loaded"):
        EmulatedDevice(sanitize=True)
