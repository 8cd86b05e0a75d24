"""The needs of a window, and how it is said that something is missing."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lifesim import doctor, window
from lifesim.doctor import Unknown

ROOT = Path(__file__).parents[2]
HAS_QT = importlib.util.find_spec("PySide6") is not None
needs_qt = pytest.mark.skipif(
    not HAS_QT or not sys.platform.startswith("linux") or shutil.which("ldd") is None,
    reason="needs Qt and ldd",
)
DEBIAN = """\
/somewhere/PySide6/QtGui.abi3.so:
\tlinux-vdso.so.1 (0x00007ffd)
\tlibGL.so.1 => /lib/x86_64-linux-gnu/libGL.so.1 (0x00007f27)
/somewhere/PySide6/Qt/plugins/platforms/libqxcb.so:
\tlibxcb-keysyms.so.1 => not found
\tlibxcb-cursor.so.0 => /lib/x86_64-linux-gnu/libxcb-cursor.so.0 (0x00007f27)
\tlibxcb-icccm.so.4 => not found
\tlibQt6XcbQpa.so.6 => /somewhere/PySide6/Qt/lib/libQt6XcbQpa.so.6 (0x00007f27)
\tlibxcb-keysyms.so.1 => not found
\tlibunheard-of.so.3 => not found
"""


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Return a function that lets an ldd say something, of a PySide6 that is there."""
    folder = tmp_path / "PySide6"
    folder.mkdir()
    (folder / "QtGui.abi3.so").touch()
    monkeypatch.setattr(window, "_folder", lambda: folder)

    def says(text: str) -> None:
        program = tmp_path / "ldd"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return says


def test_exactly_what_is_missing_is_named(loader: Callable[[str], None]) -> None:
    loader(DEBIAN)
    found = window.missing()
    assert found == ("libunheard-of.so.3", "libxcb-icccm.so.4", "libxcb-keysyms.so.1")
    assert window.packages(found) == ("libxcb-icccm4", "libxcb-keysyms1")
    assert window.advice(found) == (
        "the system lacks libunheard-of.so.3, libxcb-icccm.so.4, libxcb-keysyms.so.1: "
        "on Debian and Ubuntu, apt install libxcb-icccm4 libxcb-keysyms1"
    )
    assert window.advice(found[:1]) == "the system lacks libunheard-of.so.3"
    report = doctor.collect()
    assert isinstance(report.window, Unknown)
    assert "apt install libxcb-icccm4 libxcb-keysyms1" in report.window.reason


def test_where_nobody_can_tell_nothing_is_missing(
    loader: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert window.missing() == ()
    monkeypatch.setattr(window, "_folder", lambda: None)
    assert window.missing() == ()
    with pytest.raises(window.WindowUnavailableError, match="pip install"):
        window.look()


@pytest.mark.parametrize(
    ("environment", "platforms"),
    [
        ({}, ["xcb"]),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, ["xcb"]),
        ({"WAYLAND_DISPLAY": "wayland-0"}, ["wayland"]),
        ({"QT_QPA_PLATFORM": "offscreen"}, ["offscreen"]),
        ({"QT_QPA_PLATFORM": "wayland:extra;xcb"}, ["wayland", "xcb"]),
    ],
)
def test_the_platform_is_the_one_that_qt_would_take(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], platforms: list[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert window._platforms() == platforms


@needs_qt
def test_every_library_has_a_package() -> None:
    """Look at those that Qt's files ask for themselves, except those that no system is without."""
    folder = window._folder()
    assert folder is not None
    files = [folder / f"{name}.abi3.so" for name in window._MODULES]
    files += [window._plugin(folder, name) for name in ("xcb", "wayland")]
    parts = "Core", "Gui", "Widgets", "Svg", "DBus", "XcbQpa", "OpenGL", "WaylandClient"
    files += [folder / "Qt" / "lib" / f"libQt6{part}.so.6" for part in parts]
    everywhere = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
    asked: set[str] = set()
    for file in files:
        if file.is_file():
            asked |= {name.decode() for name in re.findall(rb"\0(lib[\w.+-]+\.so\.\d+)(?=\0)",
                      file.read_bytes())}  # fmt: skip
    own = {path.name for path in folder.rglob("lib*.so*")}
    known = {name for name in asked if not name.startswith(("libQt6", "libicu", "libpyside6"))}
    unknown = known - own - everywhere - set(window.PACKAGES)
    assert not unknown


def test_the_page_on_the_viewer_names_packages_that_there_are() -> None:
    text = (ROOT / "docs/howto/viewer.md").read_text()
    [line] = re.findall(r"apt install ((?:.*\\\n)*.*)", text)
    named = set(line.replace("\\\n", " ").split("#")[0].split())
    assert "libxcb-icccm4" in named
    assert named <= set(window.PACKAGES.values())


@needs_qt
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["lifesim", "ckyparse"])
def test_a_window_that_cannot_be_opened_says_what_is_missing(name: str, tmp_path: Path) -> None:
    """A plugin of Qt asks for a library that no system has."""
    folder = window._folder()
    assert folder is not None
    plugins = tmp_path / "plugins" / "platforms"
    plugins.mkdir(parents=True)
    (tmp_path / "lib").symlink_to(folder / "Qt" / "lib")
    data = window._plugin(folder, "xcb").read_bytes()
    assert data.count(b"\0libxcb-icccm.so.4\0") == 1
    changed = data.replace(b"\0libxcb-icccm.so.4\0", b"\0libxcb-icccm.so.9\0")
    (plugins / "libqxcb.so").write_bytes(changed)
    environment = {
        **os.environ,
        "DISPLAY": ":987",
        "QT_QPA_PLATFORM": "xcb",
        "QT_QPA_PLATFORM_PLUGIN_PATH": str(plugins),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", name, "view"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{name}: no window can be opened: the system lacks ")
    assert "libxcb-icccm.so.9" in done.stderr
    assert done.stderr.count("\n") == 1
