"""Runs leave outputs behind whole or not at all."""

from __future__ import annotations

import os

import numpy as np
import pytest
from PIL import Image

from kernels.draft import Draft
from lifesim import patterns, render
from lifesim.engine import Life
from lifesim.errors import LifesimError, cannot_write
from lifesim.grid import Box
from lifesim.outputs import PATTERN, check_target, numbered, open_output
from lifesim.render import RenderError
from lifesim.soup import random_grid
from lifesim.start import place
from lifesim.view import PictureView


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def universe(width: int = 40, height: int = 30) -> Life:
    return Life(random_grid(width, height, 0.4, 2), backend="reference")


def run(path: str, steps: int, every: int | None, view: PictureView | None = None) -> list[str]:
    life = universe()
    output = open_output(path, every, view or PictureView())
    output.check(life.width, life.height)
    if every:
        output.add(life)
    life.run(steps, every=every, on_snapshot=output.add)
    output.close(life)
    return output.written


@pytest.mark.parametrize("extension", ["rle", "rle.gz", "mc", "RLE.GZ", "png"])
def test_snapshots_are_numbered(folder, extension):
    written = run(f"a.{extension}", 5, 2)
    names = [f"a-{n:08d}.{extension}" for n in (0, 2, 4)] + [f"a.{extension}"]
    assert written == names
    assert sorted(os.listdir()) == sorted(names)
    for name, generation in zip(names, (0, 2, 4, 5), strict=True):
        life = universe()
        life.run(generation)
        if extension == "png":
            levels = render.density_levels(life.grid(), None, -4)
            with Image.open(name) as image:
                np.testing.assert_array_equal(np.asarray(image), levels)
        else:
            start = place(patterns.read(name))
            assert (start.grid, start.generation) == (life.grid(), generation)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("soup.rle", "soup-00000050.rle"),
        ("b.c/soup.rle.gz", "b.c/soup-00000050.rle.gz"),
        ("a.b.MC.Gz", "a.b-00000050.MC.Gz"),
        (".rle", "-00000050.rle"),
    ],
)
def test_names_of_snapshots(path, name):
    assert numbered(path, 50) == name


def test_large_generations_have_long_names():
    assert numbered("a.rle", 10**9) == "a-1000000000.rle"


def test_only_the_end(folder):
    assert run("a.rle", 3, None) == ["a.rle"]
    assert os.listdir() == ["a.rle"]


def test_series(folder):
    assert run("a.csv", 5, 2) == ["a.csv"]
    lines = (folder / "a.csv").read_text().splitlines()
    assert lines[0] == "generation,population,density"
    for line, generation in zip(lines[1:], (0, 2, 4, 5), strict=True):
        life = universe()
        life.run(generation)
        live = life.grid().population()
        assert line == f"{generation},{live},{live / 1200:.9g}"
    assert os.listdir() == ["a.csv"]


def test_a_series_has_no_generation_twice(folder):
    run("a.csv", 4, 2)
    assert len((folder / "a.csv").read_text().splitlines()) == 4


def test_animations(folder):
    assert run("a.gif", 6, 2, PictureView(Box(0, 0, 8, 8), -1, "light")) == ["a.gif"]
    with Image.open("a.gif") as image:
        assert image.size == (16, 16)
        assert image.n_frames == 4
    assert os.listdir() == ["a.gif"]


@pytest.mark.parametrize("path", ["a.csv", "a.gif"])
def test_an_abort_leaves_nothing_and_what_was_there(folder, path):
    (folder / path).write_bytes(b"old")
    output = open_output(path, 1, PictureView(), force=True)
    output.add(universe())
    assert len(os.listdir()) == 2
    output.abort()
    assert os.listdir() == [path]
    assert (folder / path).read_bytes() == b"old"


def test_an_abort_after_the_end_changes_nothing(folder):
    life = universe()
    for path in ("a.csv", "a.gif", "a.png", "a.rle"):
        output = open_output(path, 1, PictureView())
        output.close(life)
        output.abort()
    assert sorted(os.listdir()) == ["a.csv", "a.gif", "a.png", "a.rle"]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("a.txt", "must end in one of .png, .gif, .mp4, .csv, .rle"),
        ("", "must end in"),
        ("a.png.gz", "must end in"),
        ("missing/a.rle", "there is no folder"),
        ("folder.rle", "it is a folder"),
        ("x" * 252 + ".rle", "name too long"),
        ("/proc/a.csv", "cannot write /proc/a.csv"),
        ("a.gif", "needs --every"),
    ],
)
def test_what_cannot_be_is_refused_first(folder, path, says):
    (folder / "folder.rle").mkdir()
    with pytest.raises(LifesimError, match=f"(?i){says}"):
        open_output(path, None, PictureView())
    assert os.listdir() == ["folder.rle"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(folder):
    folder.chmod(0o500)
    with pytest.raises(LifesimError, match="Permission denied"):
        open_output("a.rle", None, PictureView())


def test_a_pipe_is_not_opened_to_look_at_it(folder):
    os.mkfifo("a.rle")
    check_target("a.rle", PATTERN)
    check_target("-", PATTERN)
    assert os.listdir() == ["a.rle"]


@pytest.mark.parametrize(
    ("view", "says"),
    [
        (PictureView(Box(40, 0, 5, 5)), "outside the 40x30 universe"),
        (PictureView(Box(0, 30, 5, 5)), "outside"),
        (PictureView(Box(-5, 0, 5, 5)), "outside"),
        (PictureView(Box(0, -(10**18), 5, 10**18)), "outside"),
        (PictureView(None, -12), "too large"),
        (PictureView(None, 41), "scale"),
    ],
)
@pytest.mark.parametrize("path", ["a.png", "a.gif"])
def test_pictures_that_cannot_be_are_refused_first(folder, path, view, says):
    output = open_output(path, 1, view)
    with pytest.raises(RenderError, match=says):
        output.check(40, 30)


def test_animations_have_sides_of_16_bits(folder):
    open_output("a.png", 1, PictureView(None, 0)).check(70000, 10)
    with pytest.raises(RenderError, match="at most 65535"):
        open_output("a.gif", 1, PictureView(None, 0)).check(70000, 10)


def test_a_region_may_reach_over_the_edge():
    assert PictureView(Box(-4, 29, 5, 5), 0).image_size(40, 30) == (5, 5)


def test_unknown_palettes_are_refused_first():
    with pytest.raises(RenderError, match="unknown palette"):
        PictureView(palette="jet")


def test_drafts(folder):
    draft = Draft("a", refusal=cannot_write)
    draft.append(b"one")
    draft.append(b"")
    draft.append(b"two")
    assert "a" not in os.listdir()
    draft.finish()
    assert not draft.is_open
    draft.drop()
    assert (folder / "a").read_bytes() == b"onetwo"
    assert os.listdir() == ["a"]


def test_a_draft_keeps_mode_and_follows_links(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "real").write_bytes(b"old")
    (folder / "sub" / "real").chmod(0o640)
    os.symlink("sub/real", "a")
    draft = Draft("a", refusal=cannot_write)
    draft.append(b"new")
    draft.finish()
    assert os.path.islink("a")
    assert (folder / "sub" / "real").read_bytes() == b"new"
    assert (folder / "sub" / "real").stat().st_mode & 0o777 == 0o640


def test_a_draft_that_fails_goes_on_from_where_it_was(folder, monkeypatch):
    draft = Draft("a", refusal=cannot_write)
    draft.append(b"one")
    real = os.write
    with monkeypatch.context() as patch:

        def fill(handle, data):
            if len(data) < 3:
                raise OSError(28, "No space left on device")
            return real(handle, data[:2])

        patch.setattr(os, "write", fill)
        with pytest.raises(LifesimError, match="cannot write a: No space left on device"):
            draft.append(b"12345")
    draft.append(b"two")
    draft.finish()
    assert (folder / "a").read_bytes() == b"onetwo"


def test_a_draft_that_cannot_be_finished_leaves_no_trace(folder, monkeypatch):
    draft = Draft("a", refusal=cannot_write)
    draft.append(b"one")

    def fail(*paths):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(LifesimError, match="cannot write a: Input/output error"):
        draft.finish()
    assert os.listdir() == []
