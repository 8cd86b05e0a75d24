"""The needs of a window: Qt's wheels bring Qt, but not the libraries of the system that it loads.

Nothing here imports Qt, which may not be possible. What is missing is told by the system's own
loader (ldd), of all files at once, where Qt itself names one of them, or one that is there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

# By Debian's and Ubuntu's names, of all that Qt's modules and platforms ask for themselves.
PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libOpenGL.so.0": "libopengl0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libgcc_s.so.1": "libgcc-s1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libstdc++.so.6": "libstdc++6",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
_MODULES = "QtCore", "QtGui", "QtWidgets", "QtSvg"
_MISSING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
_PATIENCE = 30.0  # seconds, for the loader


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """The means to show windows here. qt: the version of PySide6, '' where nothing tells. display:
    where windows would be shown, '' if nowhere."""

    qt: str
    display: str


class WindowUnavailableError(Exception):
    """There can be no window; one line says why."""


def look() -> WindowFacts:
    """Look whether a window could be opened here, but for a display. Raises
    WindowUnavailableError."""
    if _folder() is None:
        raise WindowUnavailableError("PySide6 is not installed: pip install 'bulkbits[gui]'")
    version = _version()
    if libraries := missing():
        found = f"PySide6 {version}".rstrip()
        raise WindowUnavailableError(f"{found} is installed, but {advice(libraries)}")
    return WindowFacts(
        version, os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY") or ""
    )


def missing() -> tuple[str, ...]:
    """Find the libraries that a window needs here and that the system's loader does not find,
    by their sonames, sorted; none where there is no PySide6, or no ldd to ask."""
    files = [str(file) for file in _files()]
    if not files or not sys.platform.startswith("linux"):
        return ()
    try:
        told = subprocess.run(
            ["ldd", *files],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(sorted(set(_MISSING.findall(told.stdout.decode(errors="replace")))))


def packages(libraries: tuple[str, ...]) -> tuple[str, ...]:
    """Return the packages of Debian and Ubuntu that bring libraries, sorted, as far as known."""
    return tuple(sorted({PACKAGES[name] for name in libraries if name in PACKAGES}))


def advice(libraries: tuple[str, ...]) -> str:
    """Say in one line that libraries, of which there is one at least, are missing, and how to get
    them."""
    names = ", ".join(libraries)
    text = f"the system lacks {names}"
    if known := packages(libraries):
        text += f": on Debian and Ubuntu, apt install {' '.join(known)}"
    return text


def _version() -> str:
    for name in ("PySide6", "PySide6_Essentials"):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return ""


def _folder() -> Path | None:
    """Find where PySide6 lies."""
    try:
        spec = importlib.util.find_spec("PySide6")
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec and spec.origin else None


def _files() -> list[Path]:
    """Find what is loaded for a window: Qt's modules, and the plugin of the platform."""
    folder = _folder()
    if folder is None:
        return []
    files = [folder / f"{name}.abi3.so" for name in _MODULES]
    files += [_plugin(folder, name) for name in _platforms()]
    return [file for file in files if file.is_file()]


def _platforms() -> list[str]:
    """Return the platforms that Qt would take here: the ones asked for, X11's otherwise, or
    Wayland's where there is no other."""
    asked = os.environ.get("QT_QPA_PLATFORM", "")
    if asked:
        return [name.partition(":")[0] for name in asked.split(";")]
    only_wayland = os.environ.get("WAYLAND_DISPLAY") and not os.environ.get("DISPLAY")
    return ["wayland" if only_wayland else "xcb"]


def _plugin(folder: Path, platform: str) -> Path:
    """Find a platform's plugin where Qt looks for it."""
    name = f"libq{os.path.basename(platform)}.so"
    own = os.environ.get("QT_QPA_PLATFORM_PLUGIN_PATH", "").split(os.pathsep)
    others = os.environ.get("QT_PLUGIN_PATH", "").split(os.pathsep)
    places = [Path(place) for place in own if place]
    places += [Path(place) / "platforms" for place in others if place]
    places.append(folder / "Qt" / "plugins" / "platforms")
    return next((place / name for place in places if (place / name).is_file()), places[-1] / name)
