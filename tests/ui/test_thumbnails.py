"""Small pictures of files: what is drawn, what is refused, what is kept on disk."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim import patterns
from lifesim.cancelling import ReadCancelledError
from lifesim.colours import state_colours
from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import Rule
from lifesim.soup import random_grid
from tests.quick import examples
from tests.waiting import until
from ui import opening
from ui.start import thumbnails
from ui.start.kept import ThumbnailCache, _packed, _unpacked
from ui.start.painter import ThumbnailPainter
from ui.start.thumbnails import (
    HIGHEST,
    WIDEST,
    FileGoneError,
    Thumbnail,
    ThumbnailError,
    drawn,
    fingerprint,
)

GLIDER = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]


def glider(folder: Path, name: str = "glider.rle") -> str:
    path = str(folder / name)
    patterns.write(Pattern(BitGrid.from_cells(3, 3, GLIDER)), path)
    return path


def test_a_small_pattern_has_a_pixel_for_each_cell(tmp_path: Path) -> None:
    expected = np.zeros((3, 3), np.uint8)
    for x, y in GLIDER:
        expected[y, x] = 255
    assert np.array_equal(drawn(glider(tmp_path)).pixels, expected)


def test_a_large_pattern_is_drawn_by_its_densities(tmp_path: Path) -> None:
    path = str(tmp_path / "soup.rle")
    grid = random_grid(1000, 500, 0.5, 1)
    patterns.write(Pattern(grid), path)
    pixels = drawn(path).pixels
    box = grid.bounding_box()
    assert box is not None
    assert pixels.shape == (-(-box.height // 4), -(-box.width // 4))
    block = grid.crop(box).states()[:4, :4]
    assert pixels[0, 0] == (510 * int(block.sum()) + 16) // 32


def test_states_have_their_colours(tmp_path: Path) -> None:
    path, rule = tmp_path / "brain.rle", Rule.parse("/2/3")
    path.write_text("x = 3, y = 1, rule = /2/3\nA.B!\n")
    colours = state_colours(rule)
    assert colours is not None
    assert np.array_equal(drawn(str(path)).pixels, colours[[[1, 0, 2]]])


def test_a_macrocell_file_wider_than_any_memory(tmp_path: Path) -> None:
    path = tmp_path / "far.mc"
    lines = ["[M2] (test)", "#R B3/S23", "$$..*$...*$.***$$$$"]
    lines += [f"{level} {number} 0 0 {number}" for number, level in enumerate(range(4, 104), 1)]
    path.write_text("\n".join(lines) + "\n")
    pixels = drawn(str(path)).pixels
    assert pixels.shape[0] <= HIGHEST
    assert pixels[0, 0]
    assert pixels[-1, -1]


@pytest.mark.parametrize("size", [(64, 32), (1500, 700)])
def test_a_universe_on_disk(tmp_path: Path, size: tuple[int, int]) -> None:
    path = str(tmp_path / "universe")
    session = opening.random(*size, 0.5, 1, backend="reference")
    session.save(path)
    session.close()
    before = fingerprint(path)
    pixels = drawn(path).pixels
    assert 0 < pixels.shape[0] <= HIGHEST
    assert 0 < pixels.shape[1] <= WIDEST
    assert 20 < pixels.mean() < 200
    os.utime(os.path.join(path, "manifest.json"), (1, 1))
    assert fingerprint(path) != before


def test_what_has_no_thumbnail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnails, "_MOST_TEXT", 5000)
    monkeypatch.setattr(thumbnails, "_MOST_PACKED", 1000)
    for name, content, why in (
        ("prose.rle", b"It was the best of times.", "cannot be read"),
        ("large.cells", b"O" * 5001, "larger than"),
        ("wide.rle", b"x = 99999, y = 99999\no!", "too large"),
        ("wider.rle", b"x = 9999999999999999999, y = 1\no!", "too large"),
        ("packed.rle.gz", gzip.compress(os.urandom(4000)), "packed"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ThumbnailError, match=why):
            drawn(str(path))
    os.mkfifo(tmp_path / "pipe.rle")
    for call in (fingerprint, drawn):
        with pytest.raises(ThumbnailError, match="not a file"):
            call(str(tmp_path / "pipe.rle"))  # and never waits for who writes to it
        with pytest.raises(FileGoneError):
            call(str(tmp_path / "none.rle"))
    with pytest.raises(ThumbnailError, match="cannot be read"):
        drawn(str(tmp_path))
    with pytest.raises(FileGoneError):
        fingerprint(glider(tmp_path) + "/below")
    with pytest.raises(ThumbnailError):
        fingerprint("a\0b")


def test_what_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnails, "_SECONDS", -1.0)
    with pytest.raises(ThumbnailError, match="too long"):
        drawn(glider(tmp_path))
    monkeypatch.undo()
    with pytest.raises(ReadCancelledError):
        drawn(glider(tmp_path), lambda: True)


def test_fewer_pixels_are_the_brightest_of_blocks() -> None:
    pixels = np.zeros((5, 7), np.uint8)
    pixels[4, 6], pixels[0, 0] = 9, 3
    thumbnail = Thumbnail(pixels)
    assert thumbnail.within(7, 5) is pixels
    assert thumbnail.within(6, 5).tolist() == [[3, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 9]]
    assert thumbnail.within(0, 9).tolist() == [[9]]


# --- kept ------------------------------------------------------------------------------


@settings(max_examples=examples(60))
@given(st.data())
def test_what_is_kept_is_what_was_put_or_nothing(data: st.DataObject) -> None:
    height, width = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    channels = data.draw(st.sampled_from([(), (3,)]))
    values = data.draw(st.binary(min_size=243, max_size=243))
    size = height * width * (3 if channels else 1)
    pixels = np.frombuffer(values, np.uint8)[:size].reshape(height, width, *channels)
    packed = _packed(Thumbnail(pixels))
    found = _unpacked(packed)
    assert found is not None
    assert np.array_equal(found.pixels, pixels)
    assert found.pixels.shape == pixels.shape
    at = data.draw(st.integers(0, len(packed) - 1))
    bit = 1 << data.draw(st.integers(0, 7))
    assert _unpacked(packed[:at]) is None
    assert _unpacked(packed + b"\0") is None
    assert _unpacked(packed[:at] + bytes([packed[at] ^ bit]) + packed[at + 1 :]) is None


def test_a_damaged_file_is_removed(tmp_path: Path) -> None:
    cache = ThumbnailCache(tmp_path / "cache")
    assert cache.get("a") is None
    cache.put("a", Thumbnail(np.full((2, 3), 7, np.uint8)))
    (path,) = (tmp_path / "cache").iterdir()
    assert cache.get("a") is not None
    assert cache.get("b") is None
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.get("a") is None
    assert not path.exists()


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = ThumbnailCache(tmp_path / "file" / "cache")
    cache.put("a", Thumbnail(np.zeros((1, 1), np.uint8)))
    cache.trim()
    assert cache.get("a") is None


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    cache = ThumbnailCache(tmp_path)
    for number, name in enumerate("abcdef"):
        cache.put(name, Thumbnail(np.full((1, 1), number, np.uint8)))
        os.utime(cache._path(name), (number, number))
    (tmp_path / "other").touch()
    cache.get("a")  # used last
    cache.trim(most_files=3)
    assert [name for name in "abcdef" if cache.get(name) is not None] == ["a", "e", "f"]
    size = cache._path("a").stat().st_size
    cache.trim(most_bytes=2 * size + 1)
    assert sum(cache.get(name) is not None for name in "abcdef") == 2
    assert (tmp_path / "other").exists()


# --- the painter -----------------------------------------------------------------------


class Watched:
    """A painter that draws when it is let, and what it told."""

    def __init__(self, cache: ThumbnailCache) -> None:
        self.told: list[tuple[str, Thumbnail | ThumbnailError]] = []
        self.drawn: list[str] = []
        self.go = threading.Semaphore(0)
        self.painter = ThumbnailPainter(cache, lambda *told: self.told.append(told), self._draw)

    def _draw(self, path: str, is_cancelled: Callable[[], bool]) -> Thumbnail:
        self.drawn.append(path)
        while not self.go.acquire(timeout=0.01):
            if is_cancelled():
                raise ReadCancelledError("cancelled")
        return drawn(path, is_cancelled)


def test_what_was_asked_for_last_is_drawn_first(tmp_path: Path) -> None:
    watched = Watched(ThumbnailCache(tmp_path / "cache"))
    paths = [glider(tmp_path, f"{number}.rle") for number in range(4)]
    watched.painter.want(paths[0])
    until(lambda: watched.drawn)
    for path in (*paths, paths[1], str(tmp_path / "none")):
        watched.painter.want(path)
    watched.go.release(9)
    until(lambda: len(watched.told) == 5)
    assert watched.drawn == [paths[0], paths[1], paths[3], paths[2]]
    assert [path for path, _ in watched.told][1] == str(tmp_path / "none")
    assert isinstance(watched.told[1][1], FileGoneError)
    watched.painter.close()
    watched.painter.want(paths[0])
    again = Watched(ThumbnailCache(tmp_path / "cache"))  # has them all
    again.painter.want(paths[3])
    until(lambda: again.told)
    assert not again.drawn
    again.painter.close()


def test_a_file_that_changes_while_it_is_drawn(tmp_path: Path) -> None:
    watched = Watched(ThumbnailCache(tmp_path / "cache"))
    path = glider(tmp_path)
    watched.painter.want(path)
    until(lambda: watched.drawn)
    watched.painter.want(path)  # is being drawn
    patterns.write(Pattern(BitGrid.from_cells(5, 1, [(0, 0), (4, 0)])), path)
    watched.painter.want(path, again=True)
    watched.go.release(9)
    until(lambda: len(watched.told) == 2)
    (_, found), (_, last) = watched.told[0], watched.told[1]
    assert isinstance(found, Thumbnail)
    assert isinstance(last, Thumbnail)
    assert last.pixels.shape == (1, 5)
    watched.painter.close()


def test_a_painter_that_is_closed_gives_up(tmp_path: Path) -> None:
    watched = Watched(ThumbnailCache(tmp_path / "cache"))
    watched.painter.want(glider(tmp_path))
    until(lambda: watched.drawn)
    thread = watched.painter._thread
    assert thread is not None
    watched.painter.close()
    thread.join(60)
    assert not thread.is_alive()
    assert not watched.told
