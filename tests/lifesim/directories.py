"""Helpers that tests of the commands on universe directories share."""

from __future__ import annotations

import errno
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from kernels.targets import cpu
from lifesim.store import disk
from lifesim.store.universe import Universe

DATA = Path(__file__).parents[2] / "data" / "patterns"
ACORN, GUN, GLIDER = (DATA / f"{name}.rle" for name in ("acorn", "gosper-gun", "glider"))

needs_extension = pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")


def full_disk(patch: pytest.MonkeyPatch, files: int) -> None:
    """The disk has room for so many more files of tiles."""
    left = [files]
    real = disk.replace

    def refuse(source: str, target: str) -> None:
        if target.endswith(".h5"):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    patch.setattr(disk, "replace", refuse)


def digest_of(lifesim, steps: int, *args: object) -> str:
    done = lifesim("run", "--steps", steps, "--json", *args)
    assert done.code == 0, done
    return done.facts["digest"]


def tile_file(path: str, tile: int = 0) -> Path:
    with Universe.open(path) as universe:
        return Path(universe.tiles_folder) / universe.record(tile).file


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 16
    path.write_bytes(data)


def dataset_start(path: Path, name: str) -> int:
    with h5py.File(path) as file:
        return file[name].id.get_offset()


def pixels(path: str) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image).astype(int)


def wait_for_generation(path: str, generation: int) -> None:
    for _ in range(3000):
        with Universe.open(path) as universe:
            if universe.generation >= generation:
                return
        time.sleep(0.01)
    pytest.fail(f"{path} did not move on")
