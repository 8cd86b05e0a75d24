"""Animations against what Pillow reads back."""

from __future__ import annotations

import os
import resource
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lifesim.errors import LifesimError
from lifesim.gif import GifWriter
from lifesim.render import PALETTES, RenderError, density_levels, palette_table
from lifesim.soup import random_grid


def read_gif(path):
    """Return the frames as RGB arrays, milliseconds of each, times to play or None."""
    frames, times = [], []
    with Image.open(path) as image:
        repeat = image.info.get("loop")
        for number in range(image.n_frames):
            image.seek(number)
            frames.append(np.asarray(image.convert("RGB")))
            times.append(image.info["duration"])
    return frames, times, repeat


@given(
    st.integers(1, 70),
    st.integers(1, 20),
    st.lists(st.sampled_from(["random", "same", "one", "levels", "black"]), min_size=1, max_size=6),
    st.sampled_from(PALETTES),
    st.integers(0, 2**32),
)
def test_gif_round_trip(tmp_path_factory, width, height, kinds, palette, seed):
    path = tmp_path_factory.mktemp("gif") / "a.gif"
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 256, (height, width), np.uint8)
    expected = []
    with GifWriter(path, palette, frame_ms=40) as gif:
        for kind in kinds:
            if kind == "random":
                levels = rng.integers(0, 2, levels.shape, np.uint8) * np.uint8(255)
            elif kind == "levels":
                levels = rng.integers(0, 256, levels.shape, np.uint8)
            elif kind == "one":
                levels[rng.integers(height), rng.integers(width)] ^= np.uint8(255)
            elif kind == "black":
                levels = np.zeros_like(levels)
            gif.append(levels)
            expected.append(palette_table(palette)[levels])
        assert not path.exists()
    frames, times, repeat = read_gif(path)
    assert os.listdir(path.parent) == ["a.gif"]
    # Pillow joins frames in which nothing changed when it reads them no more than here.
    assert len(frames) == len(expected)
    for frame, wanted in zip(frames, expected, strict=True):
        np.testing.assert_array_equal(frame, wanted)
    assert set(times) == {40}
    assert repeat == 0


def test_gif_options(tmp_path):
    with GifWriter(tmp_path / "a.gif", frame_ms=250, repeat=False) as gif:
        gif.append(np.zeros((3, 4), np.uint8))
        gif.append(np.full((3, 4), 255, np.uint8))
    frames, times, repeat = read_gif(tmp_path / "a.gif")
    assert (len(frames), times, repeat) == (2, [250, 250], None)


def test_large_gif_frames(tmp_path):
    """Frames have many sub-blocks and full code tables, and only the changes after them."""
    levels = density_levels(random_grid(1000, 900, 0.5, 4), None, 0)
    path = tmp_path / "a.gif"
    with GifWriter(path) as gif:
        gif.append(levels)
        once = os.path.getsize(gif._draft._temporary)
        levels[450:460, 500:520] ^= np.uint8(255)
        gif.append(levels)
    assert os.path.getsize(path) < once + (1 << 16)
    frames, _, _ = read_gif(path)
    np.testing.assert_array_equal(frames[1], palette_table("dark")[levels])


def write_gif(path, frames):
    with GifWriter(path) as gif:
        for levels in frames:
            gif.append(levels)


def test_gif_errors(tmp_path):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    first = np.zeros((4, 4), np.uint8)
    for frames, says in [
        ([first, first[:3]], "frame of 4x3 pixels in a GIF of 4x4"),
        ([np.zeros((1, 65536), np.uint8)], "at most 65535 pixels a side, not 65536x1"),
        ([], "at least one frame"),
    ]:
        with pytest.raises(RenderError, match=says):
            write_gif(path, frames)
        assert os.listdir(tmp_path) == ["a.gif"]
    with pytest.raises(LifesimError, match="cannot write"):
        GifWriter(tmp_path / "missing" / "a.gif")
    with pytest.raises(RenderError, match="unknown palette"):
        GifWriter(path, "jet")
    for frame_ms in (0, -100, 655360):
        with pytest.raises(RenderError, match="10 to 655350 ms"):
            GifWriter(path, frame_ms=frame_ms)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.gif"]


def test_a_closed_gif_stays_closed(tmp_path):
    gif = GifWriter(tmp_path / "a.gif")
    gif.append(np.zeros((2, 2), np.uint8))
    gif.close()
    gif.close()
    gif.abort()
    with pytest.raises(ValueError, match="closed"):
        gif.append(np.zeros((2, 2), np.uint8))
    assert os.listdir(tmp_path) == ["a.gif"]


@pytest.mark.parametrize(
    "levels", [np.zeros(3, np.uint8), np.zeros((2, 2), bool), np.zeros((0, 2), np.uint8)]
)
def test_levels_of_the_wrong_kind(levels, tmp_path):
    with GifWriter(tmp_path / "a.gif") as gif:
        gif.append(np.zeros((2, 2), np.uint8))
        with pytest.raises(ValueError, match="levels must be uint8"):
            gif.append(levels)


def test_a_full_disk_keeps_the_frames_before(tmp_path):
    """The file size limit stands in for the disk: a frame is written in part, then fails."""
    small = np.zeros((64, 64), np.uint8)
    noise = np.random.default_rng(1).integers(0, 256, (64, 64), np.uint8)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with GifWriter(tmp_path / "a.gif") as gif:
            gif.append(small)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
            with pytest.raises(LifesimError, match=r"cannot write .*: File too large"):
                gif.append(noise)
            gif.append(255 - small)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    frames, _, _ = read_gif(tmp_path / "a.gif")
    assert len(frames) == 2
    np.testing.assert_array_equal(frames[1], palette_table("dark")[255 - small])
    assert os.listdir(tmp_path) == ["a.gif"]
