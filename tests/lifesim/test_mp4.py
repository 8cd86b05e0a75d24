"""MP4 films of runs: what the program is given, and what a player sees of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lifesim import BitGrid, Life, Rule, mp4
from lifesim.colours import colours_of
from lifesim.errors import LifesimError
from lifesim.outputs import open_output
from lifesim.render import RenderError, density_levels, palette_table
from lifesim.view import PictureView

GLIDER = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]
FAKE = """#!{python}
import sys
with open(sys.argv[-1], "wb") as file:
    file.write(" ".join(sys.argv[1:-1]).encode() + b"\\n" + sys.stdin.buffer.read())
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in place of ffmpeg that writes what it is given; return an empty folder."""
    if sys.platform == "win32":
        pytest.skip("needs programs that begin with #!")
    bin_folder, folder = tmp_path / "bin", tmp_path / "films"
    bin_folder.mkdir()
    folder.mkdir()
    program = bin_folder / "ffmpeg"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_folder))
    return folder


def frames(path: Path, width: int, height: int) -> tuple[bytes, np.ndarray]:
    """Return the options that the program was given, and the pictures."""
    head, _, data = path.read_bytes().partition(b"\n")
    return head, np.frombuffer(data, np.uint8).reshape(-1, height, width, 3)


def test_a_film_of_a_notebook(fake: Path) -> None:
    life = Life(BitGrid.from_cells(16, 12, GLIDER), backend="cpu")
    film = life.animate(8, 2, scale=0, frame_ms=40)
    film.save(fake / "film.MP4")
    options, seen = frames(fake / "film.MP4", 16, 12)
    assert b"-framerate 25 " in options
    assert len(seen) == 5
    again = Life(BitGrid.from_cells(16, 12, GLIDER), backend="cpu")
    for picture in seen:
        levels = density_levels(again.grid(), None, 0)
        assert np.array_equal(picture, palette_table("dark")[levels])
        again.run(2)
    assert os.listdir(fake) == ["film.MP4"]


@pytest.mark.parametrize("topology", ["torus", "unbounded"])
def test_a_film_of_a_run(fake: Path, topology: str) -> None:
    """It has the colours of states as they are, which a GIF has not always."""
    rule = Rule.parse("345/2/4")
    states = np.random.default_rng(2).integers(0, 4, (12, 18))
    life = Life(BitGrid.from_states(states, 2), rule=rule, topology=topology, backend="cpu")
    view = PictureView(None, 0)
    path = fake / "a.mp4"
    output = open_output(str(path), 1, view)
    output.check(*life.bounds)
    pictures = []
    for _ in range(3):
        output.add(life)
        pictures.append(life.pixels(life.frame(), 0, "dark"))
        life.run(1)
    output.cut()
    output.abort()  # which leaves the finished film
    assert output.written == [str(path)]
    if topology == "torus":
        _, seen = frames(path, 18, 12)
        assert np.array_equal(seen, pictures)
    else:
        head, _ = path.read_bytes().split(b"\n", 1)
        width, height = map(int, head.split(b"-video_size ")[1].split()[0].split(b"x"))
        _, seen = frames(path, width, height)
        dead = colours_of(rule, "dark")[0]
        for picture, whole in zip(seen, pictures, strict=True):
            assert (picture != dead).any(axis=2).sum() == (whole != dead).any(axis=2).sum()


def test_a_film_that_is_given_up_leaves_what_was_there(fake: Path) -> None:
    path = fake / "a.mp4"
    path.write_bytes(b"old")
    output = open_output(str(path), 1, PictureView(), force=True)
    output.add(Life(BitGrid(20, 10), backend="cpu"))
    output.abort()
    assert path.read_bytes() == b"old"
    assert os.listdir(fake) == ["a.mp4"]
    with pytest.raises(LifesimError, match="it is no MP4 film"):
        open_output(str(path), 1, PictureView())


def test_what_no_film_has(fake: Path) -> None:
    output = open_output(str(fake / "a.mp4"), 1, PictureView(None, 0))
    with pytest.raises(LifesimError, match="at most 16,384 pixels"):
        output.check(20_000, 10)
    with pytest.raises(RenderError, match="10 to 655350 ms"):
        Life(BitGrid(8, 8), backend="cpu").animate(1, frame_ms=5)


def test_without_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    film = Life(BitGrid(8, 8), backend="cpu").animate(1)
    with pytest.raises(LifesimError, match=r"^an MP4 needs the ffmpeg program: pip install"):
        film.save(tmp_path / "a.mp4")
    with pytest.raises(LifesimError, match="pip install"):
        open_output(str(tmp_path / "a.mp4"), 1, PictureView()).check(8, 8)
    assert not list(tmp_path.iterdir())


def test_the_program_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its film is one that a player shows: a cell that lives is light in it."""
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "a.mp4"
    Life(BitGrid.from_cells(16, 12, GLIDER), backend="cpu").animate(4, scale=-2).save(path)
    read = [mp4.find(), "-v", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    data = subprocess.run(read, capture_output=True, check=True).stdout
    seen = np.frombuffer(data, np.uint8).reshape(5, 48, 64)
    life = Life(BitGrid.from_cells(16, 12, GLIDER), backend="cpu")
    for picture in seen:
        alive = np.asarray(life.grid())
        middles = picture[2::4, 2::4]
        assert middles[alive].min() > 150
        assert middles[~alive].max() < 100
        life.run(1)
