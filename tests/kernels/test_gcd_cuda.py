"""GCDs on a device, emulated and real, against Python's."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import gcd_device as benchmark
from kernels.bignum.cuda.layouts import Slabs
from kernels.gcd import plan
from kernels.gcd.cuda import gcd as gcd_device
from kernels.targets.cuda.device import Device, DeviceInfo
from tests.emulation import EmulatedDevice
from tests.nvcc import needs_nvcc, nvcc
from tests.quick import examples

WIDTHS = (*plan.CLASSES, 33, 182, 200)  # the last two: on either side of SHARED


@pytest.fixture(
    scope="module",
    params=["forward", "shuffled:1", pytest.param("cuda", marks=pytest.mark.gpu)],
)
def device(request: pytest.FixtureRequest) -> Device:
    if request.param == "cuda":
        from kernels.targets.cuda.target import CudaDevice

        return CudaDevice()
    return EmulatedDevice(order=request.param)


def put(device: Device, values: list[int]) -> Slabs:
    """Signs are left out: a GCD looks at none."""
    bits = max((abs(value).bit_length() for value in values), default=0)
    batch = Slabs(device.alloc(0), len(values), bits)
    raw = b"".join(abs(value).to_bytes(4 * batch.width, "little") for value in values)
    rows = np.zeros((batch.slabs * 32, batch.width), np.uint32)
    rows[: len(values)] = np.frombuffer(raw, np.uint32).reshape(-1, batch.width)
    words = np.ascontiguousarray(rows.reshape(-1, 32, batch.width).transpose(0, 2, 1))
    buffer = device.alloc(words.nbytes)
    device.upload(buffer, words)
    return replace(batch, words=buffer)


def get(device: Device, batch: Slabs) -> list[int]:
    words = np.empty((batch.slabs, batch.width, 32), np.uint32)
    device.download(words, batch.words)
    rows = words.transpose(0, 2, 1).reshape(-1, batch.width)
    assert not rows[batch.count :].any()
    assert batch.negative is None
    return [int.from_bytes(row.tobytes(), "little") for row in rows[: batch.count]]


def check(device: Device, a: list[int], b: list[int]) -> None:
    result = gcd_device.gcd(device, put(device, a), put(device, b))
    count = max(len(a), len(b)) if a and b else 0
    pairs = zip(a * (count if len(a) == 1 else 1), b * (count if len(b) == 1 else 1), strict=True)
    expected = [math.gcd(x, y) for x, y in pairs]
    assert get(device, result) == expected
    assert result.bits == max((x.bit_length() for x in expected), default=0)


def fibonacci(bits: int) -> tuple[int, int]:
    """Neighbours: every quotient of Euclid's algorithm is 1."""
    a, b = 0, 1
    while (a + b).bit_length() <= bits:
        a, b = b, a + b
    return a, b


def pairs_that_hurt(bits: int) -> list[tuple[int, int]]:
    rng = random.Random(bits)
    top, some, other = 2**bits - 1, rng.getrandbits(bits) | 1, rng.getrandbits(bits) | 1
    half = rng.getrandbits(bits // 2) | 1
    third = rng.getrandbits(max(bits // 3, 1)) | 1
    values = {0, 1, 2, 3, top, top - 1, top // 2, top // 2 + 1, top // 3, some, half, third}
    values |= {2**k + d for k in (30, 31, 32, 61, 62, 63, 64, 93) if k < bits for d in (-1, 0, 1)}
    values |= {1 << rng.randrange(bits) for _ in range(4)}
    pairs = [(a, b) for a in sorted(values) for b in (0, 1, 3, top, some, top // 2 + 1, half)]
    pairs += [(a, a) for a in sorted(values)]
    pairs += [(some, some ^ 1), (some, some - 2), (some, some ^ 1 << bits // 2)]
    pairs += [(some, some ^ 1 << bits - 1), (top, some), fibonacci(bits)]
    pairs += [(half * half, half * third), (half * third, half), (half << bits // 3, half)]
    a, b = fibonacci(bits - bits // 3 - 1)
    pairs += [(a * third, b * third), (a << bits // 3, b << bits // 3)]
    for twos in (1, 31, 32, 33, bits // 2):
        pairs += [((some << twos) & top, (other << twos) & top), ((some << twos) & top, other)]
    return [pair[::order] for pair in pairs for order in (1, -1) if max(pair) <= top]


@pytest.mark.sample(6)
@pytest.mark.parametrize("words", WIDTHS)
def test_pairs_that_hurt(device: Device, words: int) -> None:
    pairs = pairs_that_hurt(32 * words)
    if isinstance(device, EmulatedDevice):
        if words > 32 and device.order.kind:
            pytest.skip("takes long: forward is enough")
        pairs = pairs[:: words // 8 if words > 64 else 1 if words in (2, 32) else 3]
    check(device, *map(list, zip(*pairs, strict=True)))


@pytest.mark.parametrize(
    ("team", "shared"),
    [
        (2, True),
        (4, False),
        (8, True),
        pytest.param(1, False, marks=pytest.mark.slow),
        pytest.param(16, True, marks=pytest.mark.slow),
        pytest.param(32, False, marks=pytest.mark.slow),
        pytest.param(32, True, marks=pytest.mark.slow),
    ],
)
def test_teams(device: Device, monkeypatch: pytest.MonkeyPatch, team: int, shared: bool) -> None:
    """Use short numbers, of few limbs for each thread, in either memory."""
    if not shared:
        monkeypatch.setattr(plan, "SHARED", 0)
    monkeypatch.setattr(plan, "CLASSES", ())
    monkeypatch.setattr(plan, "ROOM", 1 << 20 if team == 1 else 0)
    monkeypatch.setattr(plan, "FEW", 1 << 20)
    monkeypatch.setattr(plan, "MAX_TEAM", team)
    for words in (2, 5 * team):
        params = plan.gcd_launch(words, 1, device.info)
        assert params.defines["TEAM"] == team
        assert bool(params.scratch) is not shared
        pairs = pairs_that_hurt(32 * words)[:: 2 * team]
        check(device, *map(list, zip(*pairs, strict=True)))
    check(device, *random_pairs(32 * 9 * team, 5))


@pytest.mark.parametrize("words", [1, 7, 9, 31])
def test_widths_between_the_classes(device: Device, words: int) -> None:
    check(device, *map(list, zip(*pairs_that_hurt(32 * words)[::5], strict=True)))


@st.composite
def operands(draw: st.DrawFn, bits: int) -> list[list[int]]:
    """Mixed lengths, multiples of each other, of common factors and of powers of two."""
    length = st.integers(0, bits)
    number = st.one_of(
        st.integers(0, 9),
        length.flatmap(lambda n: st.integers(0, 2**n - 1)),
        length.map(lambda n: 2**n - 1),
        st.tuples(length, length).map(lambda p: abs(2 ** p[0] - 2 ** p[1])),
    )
    pool = draw(st.lists(number, min_size=1, max_size=8))
    top = 2**bits - 1
    values = [x for x in pool if x <= top]
    values += [p for x in pool[:3] for y in pool[-3:] if (p := x * y) <= top]
    values += [y for x in pool[-3:] if (y := x << draw(st.integers(0, 70))) <= top]
    count = draw(st.sampled_from([0, 1, 2, 31, 32, 33]))
    result = []
    for _ in range(2):
        stride, start = draw(st.integers(1, 8)), draw(st.integers(0, 8))
        n = 1 if draw(st.integers(0, 7)) == 0 else count
        sign = draw(st.sampled_from([1, 1, -1]))
        result.append([sign * values[(start + i * stride) % len(values)] for i in range(n)])
    return result


@settings(max_examples=examples(60))
@given(st.data())
def test_any_operands(device: Device, data: st.DataObject) -> None:
    bits = 32 * data.draw(st.sampled_from([2, 8, 32, 40]))
    check(device, *data.draw(operands(bits)))


def random_pairs(bits: int, count: int, seed: int = 1) -> tuple[list[int], list[int]]:
    """Lengths from half of the bits to all; an eighth has a long common factor."""
    rng = random.Random(seed)
    a, b = [], []
    for i in range(count):
        common = rng.getrandbits(rng.randrange(bits // 2)) if i % 8 == 0 else 1
        room = bits - common.bit_length()
        for values in (a, b):
            values.append(common * rng.getrandbits(rng.randrange(room // 2, room) + 1))
    return a, b


@pytest.mark.parametrize("words", WIDTHS[:-2])
def test_random_pairs(device: Device, words: int) -> None:
    real = not isinstance(device, EmulatedDevice)
    check(device, *random_pairs(32 * words, 20000 if real else 64))


@pytest.mark.gpu
@pytest.mark.parametrize("words", [*range(1, 34), 47, 64, 128, 186, 187, 256, 400])
def test_random_pairs_of_full_length_on_a_gpu(words: int) -> None:
    from kernels.targets.cuda.target import CudaDevice

    rng = random.Random(words)
    a, b = ([rng.getrandbits(32 * words) for _ in range(20001)] for _ in range(2))
    check(CudaDevice(), a, b)


def test_operands_are_checked(device: Device) -> None:
    two, three = put(device, [1, 2]), put(device, [1, 2, 3])
    with pytest.raises(ValueError, match="2 and 3"):
        gcd_device.gcd(device, two, three)
    check(device, [], [])
    check(device, [], [5])
    check(device, [0], [0])


def test_choice() -> None:
    info = DeviceInfo("H200", 132, 141 << 30, (9, 0), None)
    for words in range(1, 33):
        params = plan.gcd_launch(words, 1000, info)
        assert words <= int(params.defines["WORDS"]) < 2 * words + 1
        assert params.grid[0] * params.block[0] >= 1000
    for words in (33, 128, 129, 1000, 4000, 5850):
        params = plan.gcd_launch(words, 10**6, info)
        team = int(params.defines["TEAM"])
        assert params.grid == (31250 * team, 1, 1)
        assert params.shared <= plan.SHARED
        assert 31 * params.limbs >= 32 * words
        assert params.limbs % team == 0
        assert params.limbs // team % plan.CHUNK == 1
        assert params.shared == 8 * (32 // team) * params.limbs
    params = plan.gcd_launch(50000, 10**6, info)
    assert params.shared == 0
    assert params.scratch == 132 * plan.WARPS * 8 * params.limbs
    with pytest.raises(ValueError, match="nothing"):
        plan.gcd_launch(3, 0, info)


def test_benchmark_measures(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [benchmark.measure(device, bits, 32, runs=1) for bits in (64, 256)]
    assert [(row.bits, row.count, row.cgbn) for row in rows] == [(64, 32, None), (256, 32, 4.2)]
    all_pairs = benchmark.measure_pairs(device, 64, 40, runs=1)
    assert all_pairs.found >= 1
    text = benchmark.as_markdown(
        [benchmark.Row(1024, 32, 2.0, 18.0, 482.0)], [benchmark.PairsRow(1024, 20000, 0.5, 1)]
    )
    assert "| 1024 | 32 | 2.000 | 18 | 482 | 9.0 |" in text
    assert "| 1024 | 20000 | 0.5000 | 2.500 | 631 |" in text

    def wrong(device: Device, a: Slabs, b: Slabs) -> Slabs:
        return a

    monkeypatch.setattr(gcd_device, "gcd", wrong)
    with pytest.raises(benchmark.WrongResultError, match="64 bits"):
        benchmark.measure(device, 64, 32, runs=1)


@needs_nvcc
@pytest.mark.sample(2)
@pytest.mark.parametrize("defines", [["WORDS=2"], ["WORDS=32"], [], ["SCRATCH=1", "TEAM=8"]])
def test_nvcc_takes_it(defines: list[str]) -> None:
    # Some functions are needed by one of the kernels only.
    options = ["-cubin", "-arch=sm_75", "-diag-suppress=177"]
    nvcc(gcd_device.SOURCE, *options, *(f"-D{text}" for text in defines))
