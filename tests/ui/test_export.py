"""Pictures and films: their pixels, read again, are those that lifesim.render draws."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageSequence

from kernels.targets.choose import pick
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.cuda.device import Device
from lifesim import mp4, render
from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid, Box
from lifesim.mp4 import FfmpegError, Mp4Writer
from lifesim.rule import LIFE
from lifesim.soup import random_grid
from lifesim.topology import Topology
from tests.quick import examples
from ui.cells.saving import Whole
from ui.cells.session import MemorySession
from ui.film import export
from ui.film.export import ExportCancelledError, ExportLook
from ui.film.films import ExportError, FilmClip, RunExport
from ui.film.recording import Recording
from ui.film.stills import Afar, AfarSource
from ui.picture.age_colours import age_table
from ui.picture.ages import Ages
from ui.picture.draw import draw
from ui.picture.request import FrameRequest
from ui.picture.sources import MemorySource
from ui.picture.viewport import Viewport

SIDE = 100
WHOLE = Box(0, 0, SIDE, SIDE)


def soup(seed: int = 1) -> Whole:
    return Whole(random_grid(SIDE, SIDE, 0.4, seed), LIFE, Topology.TORUS, 10)


def rgb(image: Image.Image) -> npt.NDArray[np.uint8]:
    return np.asarray(image.convert("RGB"))


def drawn(grid: BitGrid, look: ExportLook) -> npt.NDArray[np.uint8]:
    levels = render.density_levels(grid, look.region, look.scale)
    if look.any_cell:
        levels = np.where(levels > 0, 255, 0).astype(np.uint8)
    return np.asarray(render.palette_table(look.palette)[levels])


def run_of(whole: Whole, generations: int, every: int) -> list[BitGrid]:
    life = Life(whole.cells, backend="reference")
    found = [whole.cells]
    for _ in range(generations // every):
        life.run(every)
        found.append(life.grid())
    return found


# --- pictures ------------------------------------------------------------------


@pytest.mark.parametrize("any_cell", [False, True])
@pytest.mark.parametrize("scale", [-3, 0, 1, 3, 9])
@pytest.mark.parametrize("region", [WHOLE, Box(-20, 30, 77, 200), Box(13, 7, 31, 1)])
def test_png(tmp_path: Path, region: Box, scale: int, any_cell: bool) -> None:
    look = ExportLook(region, scale, "viridis", any_cell)
    path = str(tmp_path / "a.png")
    export.save_png(path, MemorySource(soup().cells), look)
    with Image.open(path) as image:
        assert np.array_equal(rgb(image), drawn(soup().cells, look))


@pytest.mark.parametrize("times", [0, 1])
def test_a_png_that_is_given_up(tmp_path: Path, times: int) -> None:
    heard: list[float] = []

    def progress(share: float) -> None:
        heard.append(share)
        if len(heard) > times:
            raise ExportCancelledError

    source = MemorySource(soup().cells)
    with pytest.raises(ExportCancelledError):
        export.save_png(str(tmp_path / "a.png"), source, ExportLook(Box(0, 0, 9, 9)), progress)
    assert not list(tmp_path.iterdir())


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(-4, 8), st.integers(-9, 90), st.integers(-9, 90), st.integers(1, 60), st.booleans()
)
def test_png_of_a_source(
    tmp_path_factory: pytest.TempPathFactory, scale: int, x: int, y: int, side: int, any_cell: bool
) -> None:
    source = MemorySource(soup().cells)
    region = Box(x, y, max(side, 10 - min(x, y)), max(side, 10 - min(x, y)))
    path = str(tmp_path_factory.mktemp("png") / "a.png")
    asked: list[FrameRequest] = []

    def ask(request: FrameRequest) -> MemorySource:
        asked.append(request)
        return source

    look = ExportLook(region, scale, "light", any_cell)
    export.save_png_of_source(path, ask, look)
    view = asked[0].viewport
    box = view.box
    assert box.x <= region.x
    assert box.y <= region.y
    assert box.x + box.width >= region.x + region.width
    assert box.width < region.width + 2 * (1 << max(0, scale))
    with Image.open(path) as image:
        levels = draw(asked[0], source).pixels
        assert np.array_equal(rgb(image), render.palette_table("light")[levels])
        if scale <= 0:
            assert np.array_equal(rgb(image), drawn(source.grid, look))


class Reading(MemorySource):
    """Comes in time, or never."""

    missing = 0

    def levels(self, box: Box, scale: int) -> npt.NDArray[np.uint8]:
        levels = super().levels(box, scale)
        return np.zeros_like(levels) if self.missing else levels


def test_png_of_what_is_still_being_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_BAND", 1000)
    asked: list[FrameRequest] = []

    def ask(request: FrameRequest) -> Reading:
        source = Reading(soup().cells)
        source.missing = 2 - len(asked) % 3
        asked.append(request)
        return source

    path, look = tmp_path / "a.png", ExportLook(WHOLE)
    export.save_png_of_source(str(path), ask, look)
    with Image.open(path) as image:
        assert np.array_equal(rgb(image), drawn(soup().cells, look))
    assert len(asked) == 30
    path.unlink()

    def never(request: FrameRequest) -> Reading:
        source = ask(request)
        source.missing = 1
        return source

    monkeypatch.setattr(export, "_PATIENCE", 0.05)
    with pytest.raises(ExportError, match="cannot be read"):
        export.save_png_of_source(str(path), never, look)

    def stop(_: float) -> None:
        raise ExportCancelledError

    with pytest.raises(ExportCancelledError):
        export.save_png_of_source(str(path), never, look, stop)
    assert not list(tmp_path.iterdir())


def test_png_of_a_universe_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_BAND", 1000)
    calls = 0

    def ask(request: FrameRequest) -> MemorySource:
        nonlocal calls
        calls += 1
        return MemorySource(soup(min(calls, most)).cells, min(calls, most))

    path, look = tmp_path / "a.png", ExportLook(WHOLE)
    most = 5
    export.save_png_of_source(str(path), ask, look)
    with Image.open(path) as image:
        assert np.array_equal(rgb(image), drawn(soup(5).cells, look))
    path.unlink()
    most = 10**9
    with pytest.raises(ExportError, match="goes on too fast"):
        export.save_png_of_source(str(path), ask, look)
    assert not list(tmp_path.iterdir())


def test_pictures_that_cannot_be(tmp_path: Path) -> None:
    path, source = str(tmp_path / "a.png"), MemorySource(soup().cells)
    with pytest.raises(ExportError, match="outside"):
        export.save_png(path, source, ExportLook(Box(100, 0, 5, 5)))
    with pytest.raises(ExportError, match="1:4 and nearer"):
        export.save_png(path, source, ExportLook(WHOLE, 3, ages=True))
    with pytest.raises(LifesimError, match="palette"):
        export.save_png(path, source, ExportLook(WHOLE, 0, "mauve"))
    with pytest.raises(LifesimError, match="too large"):
        export.save_png(path, source, ExportLook(WHOLE, -12))
    with pytest.raises(ExportError, match="a side"):
        export.save_png_of_source(path, lambda _: source, ExportLook(WHOLE, -9))
    with pytest.raises(LifesimError, match="cannot write"):
        export.save_png(str(tmp_path / "none" / "a.png"), source, ExportLook(WHOLE))
    assert not list(tmp_path.iterdir())


# --- ages ----------------------------------------------------------------------


def aged(grids: list[BitGrid], every: int, look: ExportLook) -> list[npt.NDArray[np.uint8]]:
    """Pictures of a film, as a window that saw nothing but its pictures would draw them."""
    ages, found = Ages(), []
    across, down = render.image_size(look.region.width, look.region.height, look.scale)
    side = 1 << max(look.scale, 0)
    view = Viewport(0, 0, look.scale, across, down)
    for number, grid in enumerate(grids):
        cells = BitGrid(-(-look.region.width // side) * side, -(-look.region.height // side) * side)
        part = look.region.common(Box(0, 0, SIDE, SIDE))
        assert part is not None
        cells.paste(grid.crop(part), part.x - look.region.x, part.y - look.region.y)
        request = FrameRequest(view, ages=True)
        frame = draw(request, ages.seen(request, MemorySource(cells, number * every)))
        found.append(np.asarray(age_table(look.palette)[frame.pixels]))
    return found


@pytest.mark.parametrize("scale", [-1, 0, 1, 2])
@pytest.mark.parametrize("region", [WHOLE, Box(-3, 6, 80, 70), Box(5, 6, 83, 99)])
def test_ages_in_films(tmp_path: Path, region: Box, scale: int) -> None:
    look, path = ExportLook(region, scale, "viridis", ages=True), str(tmp_path / "a.gif")
    expected = aged(run_of(soup(), 12, 3), 3, look)
    assert len(np.unique(expected[-1])) > len(np.unique(expected[0]))
    recording = Recording(str(tmp_path / "film"))
    for number, grid in enumerate(run_of(soup(), 12, 3)):
        recording.add(Whole(grid, LIFE, Topology.TORUS, 3 * number))
    for film in (RunExport(soup(), 12, 3), FilmClip(recording, recording.shots)):
        export.save_gif(path, film, look, 25)
        with Image.open(path) as image:
            frames = [rgb(frame) for frame in ImageSequence.Iterator(image)]
        assert len(frames) == len(expected)
        for frame, picture in zip(frames, expected, strict=True):
            assert np.array_equal(frame, picture)
    recording.close()


@pytest.mark.parametrize("scale", [-1, 0, 1, 2])
def test_ages_in_pictures_are_those_of_the_view(
    tmp_path: Path, scale: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ages are those of the view from memory, and band by band of a universe elsewhere."""
    monkeypatch.setattr(export, "_BAND", 300)
    grids, ages, path = run_of(soup(), 9, 3), Ages(), str(tmp_path / "a.png")
    view = Viewport(4, 8, scale, 20, 12)
    request = FrameRequest(view, ages=True)
    for number, grid in enumerate(grids):
        source = MemorySource(grid, number)
        levels = draw(request, ages.seen(request, source)).pixels
    look = ExportLook(view.box, scale, "light", ages=True)
    for _ in range(2):  # what is known stays known
        export.save_png(path, source, look, ages=ages)
        with Image.open(path) as image:
            assert np.array_equal(rgb(image), age_table("light")[levels])
        export.save_png_of_source(path, lambda _: source, look, ages=ages)
        with Image.open(path) as image:
            assert np.array_equal(rgb(image), age_table("light")[levels])
    export.save_png(path, source, look)
    with Image.open(path) as image:
        assert len(np.unique(rgb(image).reshape(-1, 3), axis=0)) <= 2  # all are young


def test_what_was_recorded_from_afar_has_no_ages(tmp_path: Path) -> None:
    afar = AfarSource(
        Afar(np.ones((25, 25), np.uint8), 2, SIDE, SIDE, LIFE, Topology.TORUS, generation=3)
    )
    with pytest.raises(ExportError, match="no ages"):
        export.save_png(str(tmp_path / "a.png"), afar, ExportLook(WHOLE, 2, ages=True))
    assert not list(tmp_path.iterdir())


# --- GIF -----------------------------------------------------------------------


def test_gif_of_a_run(tmp_path: Path) -> None:
    whole, look = soup(), ExportLook(Box(5, 6, 80, 70), 1, "dark")
    path = str(tmp_path / "a.gif")
    told: list[float] = []
    export.save_gif(path, RunExport(whole, 20, 5), look, 25, told.append)
    with Image.open(path) as image:
        frames = [rgb(frame) for frame in ImageSequence.Iterator(image)]
        assert image.info["duration"] == 40
    expected = run_of(whole, 20, 5)
    assert len(frames) == len(expected) == 5
    for frame, grid in zip(frames, expected, strict=True):
        assert np.array_equal(frame, drawn(grid, look))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert whole.cells == soup().cells


def test_a_film_leaves_the_session_where_it_is(tmp_path: Path) -> None:
    session = MemorySession(soup().cells, backend=pick("auto", threads=1))
    film = RunExport(session.whole(), 4, 1, pick("auto", threads=1))
    export.save_gif(str(tmp_path / "a.gif"), film, ExportLook(WHOLE), 10)
    assert session.status().generation == 0
    assert session.whole().cells == soup().cells
    session.close()


def test_gif_of_a_recording(tmp_path: Path) -> None:
    recording = Recording(str(tmp_path / "film"))
    cells = run_of(soup(), 9, 1)
    for generation, grid in enumerate(cells):
        recording.add(Whole(grid, LIFE, Topology.TORUS, generation))
    path = str(tmp_path / "a.gif")
    export.save_gif(path, FilmClip(recording, recording.shots[2:7]), ExportLook(WHOLE), 50)
    with Image.open(path) as image:
        frames = [rgb(frame) for frame in ImageSequence.Iterator(image)]
    for frame, grid in zip(frames, cells[2:7], strict=True):
        assert np.array_equal(frame, drawn(grid, ExportLook(WHOLE)))
    recording.close()
    with pytest.raises(ExportError, match="nothing has been recorded"):
        FilmClip(recording, [])


def test_a_film_that_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    path.write_text("before")

    def stop(share: float) -> None:
        if share > 0.5:
            raise ExportCancelledError

    with pytest.raises(ExportCancelledError):
        export.save_gif(str(path), RunExport(soup(), 20, 1), ExportLook(WHOLE), 10, stop)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_way_between_two_pictures_can_be_given_up(tmp_path: Path) -> None:
    calls = 0

    def stop(_: float) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise ExportCancelledError

    with pytest.raises(ExportCancelledError):
        export.save_gif(
            str(tmp_path / "a.gif"), RunExport(soup(), 10**12, 10**12), ExportLook(WHOLE), 10, stop
        )
    assert not list(tmp_path.iterdir())


def test_films_that_cannot_be(tmp_path: Path) -> None:
    path = str(tmp_path / "a.gif")
    for rate in (0.0, 51.0, float("nan")):
        with pytest.raises(ExportError, match="pictures a second"):
            export.save_gif(path, RunExport(soup(), 2, 1), ExportLook(WHOLE), rate)
    for generations, every in ((-1, 1), (5, 0)):
        with pytest.raises(ExportError, match="goes on by"):
            RunExport(soup(), generations, every)
    with pytest.raises(ExportError, match="at most 1,000,000"):
        RunExport(soup(), 10**9, 1)
    with pytest.raises(LifesimError, match="65535"):
        export.save_gif(path, RunExport(soup(), 1, 1), ExportLook(Box(0, 0, 70000, 1)), 10)

    class Missing(Target):
        name = "missing"

        def describe(self) -> str:
            return "nothing"

        @property
        def devices(self) -> Sequence[Device]:
            raise BackendUnavailableError("nothing computes here")

    Missing.__abstractmethods__ = frozenset()
    with pytest.raises(ExportError, match="nothing computes here"):
        export.save_gif(path, RunExport(soup(), 1, 1, Missing()), ExportLook(WHOLE), 10)
    assert not list(tmp_path.iterdir())


def test_names(tmp_path: Path) -> None:
    export.check_path(str(tmp_path / "a.PNG"), ".png")
    folder = tmp_path / "b.png"
    folder.mkdir()
    for path, problem in (
        ("", "choose a file"),
        (str(tmp_path / "a.gif"), "must end in .png"),
        (str(tmp_path / "c" / "a.png"), "no folder"),
        (str(folder), "is a folder"),
    ):
        with pytest.raises(ExportError, match=problem):
            export.check_path(path, ".png")


# --- MP4 -----------------------------------------------------------------------

FAKE = """#!{python}
import hashlib, json, os, sys
args = sys.argv[1:]
mode = {mode!r}
if mode == "fails":
    sys.stdin.buffer.read(1000)
    print("first line", file=sys.stderr)
    print(args[-1] + ": no  encoder", file=sys.stderr)
    sys.exit(3)
if mode == "hangs":
    import time
    time.sleep(600)
data = sys.stdin.buffer.read()
if mode == "says nothing":
    sys.exit(9)
assert args[args.index("-f") + 1] == "rawvideo"
assert args[args.index("-pixel_format") + 1] == "rgb24"
assert args[args.index("-i") + 1] == "-"
assert args[-3:-1] == ["-f", "mp4"]
facts = {{
    "size": args[args.index("-video_size") + 1],
    "rate": args[args.index("-framerate") + 1],
    "pixels": args[args.index("-pix_fmt") + 1],
}}
with open(args[-1], "wb") as file:
    file.write(json.dumps(facts).encode() + b"\\n" + data)
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(mode: str) -> None:
        program = folder / "ffmpeg"
        program.write_text(FAKE.format(python=sys.executable, mode=mode))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    yield make
    leftover = [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
    assert not leftover


@pytest.mark.parametrize(
    ("region", "scale"),
    [(Box(0, 0, 80, 60), 0), (Box(3, 4, 31, 17), -2), (Box(0, 0, 75, 81), 1), (Box(0, 0, 1, 1), 0)],
)
def test_mp4(tmp_path: Path, fake: object, region: Box, scale: int) -> None:
    assert callable(fake)
    fake("good")
    whole, look = soup(), ExportLook(region, scale, "viridis")
    path = tmp_path / "a.mp4"
    told: list[float] = []
    export.save_mp4(str(path), RunExport(whole, 12, 3), look, 29.97, told.append)
    head, _, data = path.read_bytes().partition(b"\n")
    pictures = [drawn(grid, look) for grid in run_of(whole, 12, 3)]
    height, width = pictures[0].shape[:2]
    even = height + height % 2, width + width % 2
    assert f'"size": "{even[1]}x{even[0]}"'.encode() in head
    assert b'"rate": "29.97"' in head
    assert b'"pixels": "yuv420p"' in head
    found = np.frombuffer(data, np.uint8).reshape(len(pictures), *even, 3)
    for some, picture in zip(found, pictures, strict=True):
        assert np.array_equal(some[:height, :width], picture)
        assert np.array_equal(some[-1, :width], picture[-1])
        assert np.array_equal(some[:height, -1], picture[:, -1])
    assert told == sorted(told)


@pytest.mark.skipif(
    not (shutil.which("ffmpeg") or find_spec("imageio_ffmpeg")),
    reason="there is no ffmpeg program",
)
@pytest.mark.parametrize(
    ("region", "scale"), [(Box(0, 0, 80, 60), -3), (Box(3, 4, 31, 17), -2), (Box(0, 0, 1, 1), 0)]
)
def test_mp4_as_a_player_sees_it(tmp_path: Path, region: Box, scale: int) -> None:
    whole, look = soup(), ExportLook(region, scale)
    path = str(tmp_path / "a.mp4")
    export.save_mp4(path, RunExport(whole, 12, 3), look, 24)
    read = [mp4.find(), "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(read, capture_output=True, check=True).stdout
    pictures = [drawn(grid, look) for grid in run_of(whole, 12, 3)]
    height, width = pictures[0].shape[:2]
    even = height + height % 2, width + width % 2
    found = np.frombuffer(data, np.uint8).reshape(len(pictures), *even, 3)[:, :height, :width]
    # Some of the sharpness of a picture is lost, but no cell looks like its opposite.
    errors = np.abs(found.astype(int) - np.stack(pictures))
    assert errors.mean() < 12
    assert np.quantile(errors, 0.99) < 100


def test_mp4_without_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(FfmpegError, match=r"pip install 'bulkbits\[mp4\]'"):
        export.save_mp4(str(tmp_path / "a.mp4"), RunExport(soup(), 1, 1), ExportLook(WHOLE), 10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("frames", [1, 60])
def test_mp4_where_the_program_fails(tmp_path: Path, fake: object, frames: int) -> None:
    assert callable(fake)
    fake("fails")
    path = tmp_path / "a.mp4"
    path.write_text("before")
    look = ExportLook(WHOLE, -2)
    with pytest.raises(FfmpegError) as told:
        export.save_mp4(str(path), RunExport(soup(), frames, 1), look, 10)
    assert str(told.value) == f"cannot write {path}: ffmpeg: {path}: no encoder"
    fake("says nothing")
    with pytest.raises(FfmpegError, match="ffmpeg: exit code 9"):
        export.save_mp4(str(path), RunExport(soup(), frames, 1), look, 10)
    assert path.read_text() == "before"


def test_mp4_can_be_given_up_though_the_program_hangs(tmp_path: Path, fake: object) -> None:
    assert callable(fake)
    fake("hangs")
    given_up = threading.Event()
    timer = threading.Timer(0.5, given_up.set)
    timer.start()

    def progress(_: float) -> None:
        if given_up.is_set():
            raise ExportCancelledError

    for frames in (1, 1000):  # it waits for the end, or to be rid of a picture
        with pytest.raises(ExportCancelledError):
            export.save_mp4(
                str(tmp_path / "a.mp4"),
                RunExport(soup(), frames, 1),
                ExportLook(WHOLE, -2),
                10,
                progress,
            )
    timer.join()
    assert not (tmp_path / "a.mp4").exists()


def test_mp4_of_too_large_a_picture_or_nowhere(tmp_path: Path, fake: object) -> None:
    assert callable(fake)
    fake("good")
    with pytest.raises(FfmpegError, match="at most 16,384 pixels"):
        Mp4Writer(str(tmp_path / "a.mp4"), 16386, 2, 10, lambda: None)
    with pytest.raises(LifesimError, match="cannot write"):
        Mp4Writer(str(tmp_path / "none" / "a.mp4"), 2, 2, 10, lambda: None)
    (tmp_path / "bin" / "ffmpeg").write_bytes(b"\0")
    with pytest.raises(FfmpegError, match="cannot start"):
        Mp4Writer(str(tmp_path / "a.mp4"), 2, 2, 10, lambda: None)
    assert mp4.find() == str(tmp_path / "bin" / "ffmpeg")


def test_the_view_as_it_is(tmp_path: Path) -> None:
    """A saved picture shows what a window shows of cells of the same box."""
    view = Viewport(3, 4, 2, 20, 15)
    path = str(tmp_path / "a.png")
    export.save_png(path, MemorySource(soup().cells), ExportLook(view.box, view.scale))
    frame = draw(FrameRequest(view), MemorySource(soup().cells))
    with Image.open(path) as image:
        assert np.array_equal(rgb(image), render.palette_table("dark")[frame.pixels])
