"""Batches of universes: as each universe alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest

from kernels.life import batch as batches
from kernels.life.contract import LifeShape, Words
from kernels.life.cuda import batch
from kernels.targets.contract import Target
from kernels.targets.cuda.device import Device
from lifesim import BitGrid, Life, random_grid, run_batch
from lifesim.errors import LifesimError
from tests.emulation import EmulatedDevice


class Emulated(Target):
    name = "cuda"

    def __init__(self) -> None:
        self._device = cast(Device, EmulatedDevice(order="shuffled:1"))

    @property
    def devices(self) -> Sequence[Device]:
        return (self._device,)

    def describe(self) -> str:
        return "emulated"

    def free_device_memory(self) -> int | None:
        return self._device.free_memory()

    def staging(self, nbytes: int) -> npt.NDArray[np.uint8]:
        return self._device.pinned(nbytes)


def soups(count: int, width: int, height: int) -> Words:
    return np.stack([random_grid(width, height, 0.4, n).words for n in range(count)])


def alone(words: Words, width: int, generations: int, rule: str, topology: str) -> Words:
    made = []
    for one in words:
        life = Life(
            BitGrid(width, one.shape[0], one.copy()),
            rule=rule,
            topology=topology,
            backend="reference",
        )
        life.run(generations)
        made.append(life.grid().words)
    return np.stack(made)


CASES = [
    (128, 128, "B3/S23", "torus"),
    (320, 32, "B36/S23", "torus"),
    (100, 77, "B3/S23", "plane"),
    (63, 31, "B0123478/S34678", "plane"),
    pytest.param(300, 64, "B3/S23", "plane", marks=pytest.mark.slow),
    pytest.param(128, 128, "B3/S23H", "torus", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("width", "height", "rule", "topology"), CASES)
def test_on_a_gpu_emulated(width: int, height: int, rule: str, topology: str) -> None:
    words = soups(3, width, height)
    before = words.copy()
    made = run_batch(words, width, 21, rule=rule, topology=topology, backend=Emulated())
    assert (words == before).all()
    assert (made == alone(words, width, 21, rule, topology)).all()


def test_on_a_cpu() -> None:
    for width, topology in ((70, "torus"), (128, "plane")):
        words = soups(4, width, 40)
        made = run_batch(words, width, 30, topology=topology, backend="cpu", threads=1)
        assert (made == alone(words, width, 30, "B3/S23", topology)).all()


def test_several_uploads_and_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Universes go to the device in parts, and generations are made in several launches."""
    monkeypatch.setattr(batch, "UPLOADED", 2 * 64 * 8)
    monkeypatch.setattr(batch, "LAUNCH_SECONDS", 0.0)
    words = soups(5, 64, 64)
    made = run_batch(words, 64, 4, backend=Emulated())
    assert (made == alone(words, 64, 4, "B3/S23", "torus")).all()


def test_a_torus_that_fits_no_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its universes follow one another."""
    monkeypatch.setattr(batch, "run_batch", None)  # what would be called
    words = soups(2, 70, 40)
    made = run_batch(words, 70, 10, backend=Emulated())
    assert (made == alone(words, 70, 10, "B3/S23", "torus")).all()


def test_none_at_all() -> None:
    for backend in (Emulated(), "cpu"):
        none = np.empty((0, 64, 1), np.uint64)
        assert run_batch(none, 64, 5, backend=backend).shape == none.shape
        words = soups(2, 64, 64)
        assert (run_batch(words, 64, 0, backend=backend) == words).all()


def test_what_is_refused() -> None:
    words = soups(1, 100, 10)
    for wrong, width, generations in (
        (words.astype(np.int64), 100, 1),
        (words[0], 100, 1),
        (words, 128 + 1, 1),
        (words, 64, 1),
        (words, 0, 1),
        (words, 100, -1),
        (words | np.uint64(1 << 60), 100, 1),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            run_batch(wrong, width, generations, backend="cpu")
    with pytest.raises(ValueError, match="sphere"):
        run_batch(words, 100, 1, topology="sphere", backend="cpu")
    with pytest.raises(LifesimError, match="two states"):
        run_batch(words, 100, 1, rule="briansbrain", backend="cpu")
    with pytest.raises(ValueError, match="universes"):
        batches.run_batch(Emulated(), words, LifeShape(64, 64, True), None, 1)  # type: ignore[arg-type]


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    """Many, with the first and the last beside the reference."""
    words = np.tile(soups(100, 128, 128), (200, 1, 1))
    made = run_batch(words, 128, 500, backend="cuda")
    assert (made[:100] == alone(words[:100], 128, 500, "B3/S23", "torus")).all()
    assert (made.reshape(200, 100, 128, 2) == made[:100]).all()
    for topology, width, height in (("plane", 500, 500), ("torus", 256, 256), ("plane", 200, 31)):
        some = soups(5, width, height)
        found = run_batch(some, width, 100, topology=topology, backend="cuda")
        assert (found == alone(some, width, 100, "B3/S23", topology)).all()
