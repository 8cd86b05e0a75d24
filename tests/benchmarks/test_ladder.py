"""Every rung against numpy on random tori, the CUDA ones on the emulated device."""

from __future__ import annotations

import json
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest

import benchmarks.ladder.__main__ as command
from benchmarks.ladder import (
    CPU_RUNGS,
    RUNGS,
    CpuLadder,
    Rung,
    Variant,
    measure,
    run,
    rung_named,
    variants,
)
from benchmarks.ladder.rungs import Simulation, Words
from kernels.targets.cuda.device import Device
from tests.emulation import EmulatedDevice

CASES = [
    pytest.param(r, v, id=f"{r.name}-{v}", marks=() if i % 4 == 0 else pytest.mark.slow)
    for r in RUNGS
    for i, v in enumerate(variants(r))
]


def soup(width: int, height: int, seed: int = 1) -> Words:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2**64, (height, width // 64), np.uint64)


def reference(words: Words, generations: int) -> Words:
    cells = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    for _ in range(generations):
        sums = sum(np.roll(cells, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
        assert isinstance(sums, np.ndarray)
        cells = ((sums == 3) | ((sums == 4) & (cells == 1))).astype(np.uint8)
    return np.packbits(cells, axis=1, bitorder="little").view(np.uint64)


def emulated(order: str = "forward") -> Device:
    return cast(Device, EmulatedDevice(order=order))  # its methods take its own buffers only


@pytest.fixture(scope="module")
def device() -> Device:
    return emulated()


def check(
    device: Device, rung: Rung, variant: Variant | None, words: Words, launches: int = 2
) -> None:
    height, width = words.shape[0], 64 * words.shape[1]
    generations = launches * rung.steps
    got = run(device, rung, words, width, height, generations, variant)
    np.testing.assert_array_equal(got, reference(words, generations))


@pytest.mark.sample(10)
@pytest.mark.parametrize(("rung", "variant"), CASES)
def test_variants(device: Device, rung: Rung, variant: Variant) -> None:
    # Wider and higher than a block; the last slices are cut off both ways. Three
    # launches, so that each buffer has been source, target and spare.
    check(device, rung, variant, soup(128, 75), launches=3)


@pytest.mark.sample(31)
@pytest.mark.parametrize("rung", RUNGS, ids=lambda r: r.name)
@pytest.mark.parametrize("size", [(64, 1), (64, 2), (64, 3), (192, 5), (64, 64)], ids=str)
def test_sizes(device: Device, rung: Rung, size: tuple[int, int]) -> None:
    # Blocks that go round the torus, several times where it is low.
    for variant in (variants(rung)[0], variants(rung)[-1]):
        check(device, rung, variant, soup(*size))


@pytest.mark.parametrize("order", ["reverse", "shuffled:5"])
def test_order_of_lanes_does_not_matter(order: str) -> None:
    device = emulated(order)
    for rung in RUNGS:
        check(device, rung, variants(rung)[-1], soup(128, 70))


@pytest.mark.parametrize("rung", RUNGS, ids=lambda r: r.name)
def test_glider_crosses_the_seams(device: Device, rung: Rung) -> None:
    # One glider in the corner: it must not leave a trace in any other word.
    words = np.zeros((66, 2), np.uint64)
    words[[65, 0, 1], 0] = [2, 4, 7]
    check(device, rung, None, words, launches=4)


def test_all_alive_dies_and_dead_stays_dead(device: Device) -> None:
    for rung in RUNGS:
        for words in (np.zeros((64, 1), np.uint64), np.full((64, 1), 2**64 - 1, np.uint64)):
            assert not run(device, rung, words, 64, 64, rung.steps).any()


def test_nothing_for_no_generations(device: Device) -> None:
    words = soup(128, 33)
    for rung in RUNGS:
        for variant in variants(rung):
            np.testing.assert_array_equal(run(device, rung, words, 128, 33, 0, variant), words)


@pytest.mark.parametrize(
    ("width", "height"), [(0, 64), (32, 64), (96, 64), (64, 0), (64, 70000)], ids=str
)
def test_unsupported_sizes(device: Device, width: int, height: int) -> None:
    with pytest.raises(ValueError, match=str(height)):
        Simulation(device, rung_named("word_per_cell"), width, height)


def test_unsupported_variant_and_generations(device: Device) -> None:
    rung = rung_named("shared_double64_2")
    with pytest.raises(ValueError, match="bytes"):
        Simulation(device, rung, 64, 64, Variant(whole_bytes=True))
    with pytest.raises(ValueError, match="steps of 2"):
        Simulation(device, rung, 64, 64).advance(3)


def test_rungs_are_those_of_the_tables() -> None:
    assert len(RUNGS) == 3 + 2 * (3 + 4 + 4)
    assert len({rung.name for rung in RUNGS}) == len(RUNGS)
    assert all(rung.slice > 0 for rung in RUNGS if rung.memory != "global")
    assert max(RUNGS, key=lambda rung: rung.published).name == "register_double64_8"


@pytest.fixture(scope="module")
def cpu() -> CpuLadder:
    return CpuLadder()


@pytest.mark.parametrize("rung", CPU_RUNGS)
@pytest.mark.parametrize("width", [64, 128, 192, 640])
@pytest.mark.parametrize("height", [1, 2, 3, 8, 65])
def test_cpu(cpu: CpuLadder, rung: str, width: int, height: int) -> None:
    words = soup(width, height)
    for generations in (0, 1, 4):
        want: npt.NDArray[np.uint64] = reference(words, generations)
        np.testing.assert_array_equal(cpu.run(rung, words, generations), want)


def test_command_prints_both_tables(
    device: Device, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "cuda_device", lambda index: device)
    monkeypatch.setattr(measure, "verify", lambda *which: None)  # minutes, emulated
    sizes = ["--size=64", "--generations=16", "--cpu", "--cpu-size=64", "--cpu-generations=1"]
    command.main([*sizes, "--first-variant"])
    text = capsys.readouterr().out
    assert "GPU: emulated" in text
    assert text.count("\n|") == 2 + 2 + 1 + 1 + 2 + 2 + 4
    command.main([*sizes, "--first-variant", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert [f["rung"] for f in figures["gpu"]] == [rung.name for rung in RUNGS]
    assert len(figures["cpu"]) == 2 * len(CPU_RUNGS)


def test_command_without_cuda(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "cuda_device", lambda index: None)
    command.main(["--cpu-size=64", "--cpu-generations=1"])
    text = capsys.readouterr().out
    assert "No CUDA device" in text
    assert "– / 1990" in text


@pytest.mark.parametrize("bad", ["--size=100", "--cpu-size=0", "--generations=24"])
def test_command_refuses(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main([bad])
    assert "must be" in capsys.readouterr().err


def test_wrong_cells_are_found(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    rung = rung_named("single_word")
    monkeypatch.setattr(measure, "run", lambda d, r, *rest: run(d, r, *rest) ^ np.uint64(r is rung))
    with pytest.raises(measure.WrongCellsError, match="single_word"):
        measure.verify(device, rung, Variant())
