"""A desktop for tests: an X server without a screen, a window manager, and xdotool as hands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pytest

from lifesim.window import advice
from lifesim.window import missing as missing_libraries
from tests.waiting import until

_NEEDS = ("Xvfb", "openbox", "xdotool")


class Desktop:
    """A context manager, within which programs have windows, a mouse and a keyboard.

    Skips the test where Xvfb, openbox, xdotool or a library that windows need is missing. folder:
    the home of all programs.
    """

    def __init__(self, folder: Path, width: int = 1280, height: int = 900) -> None:
        """Begin nothing yet. width, height: of the screen, in pixels."""
        missing = [name for name in _NEEDS if not shutil.which(name)]
        if missing:
            pytest.skip(f"{missing[0]} is not installed")
        if libraries := missing_libraries():
            pytest.skip(advice(libraries))
        self._folder, self._size = folder, f"{width}x{height}x24"
        self._started: list[subprocess.Popen[str]] = []
        self._environment = {
            **os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_CACHE_HOME": str(folder / "cache"), "QT_QPA_PLATFORM": "xcb",
        }  # fmt: skip
        for name in ("QT_SCALE_FACTOR", "WAYLAND_DISPLAY", "DISPLAY"):
            self._environment.pop(name, None)

    def __enter__(self) -> Desktop:
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._end()

    def _start(self) -> None:
        ours, theirs = os.pipe()
        # Without -noreset the server begins anew whenever its last program ends, such as xdotool,
        # and then drops a window manager that is just beginning.
        screen = ["-screen", "0", self._size, "-nolisten", "tcp", "-noreset"]
        try:
            self._begin(["Xvfb", "-displayfd", str(theirs), *screen], pass_fds=(theirs,))
        finally:
            os.close(theirs)
        with os.fdopen(ours) as told:
            self._environment["DISPLAY"] = f":{told.readline().strip()}"
        self._begin(["openbox"])
        until(lambda: self._do("get_num_desktops", check=False))

    def _end(self) -> None:
        for process in reversed(self._started):
            process.kill()
            process.wait()

    def _begin(
        self, command: Sequence[str], pass_fds: Sequence[int] = (), cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command, env=self._environment, pass_fds=pass_fds, cwd=cwd, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._started.append(process)
        return process

    def _do(self, *words: object, check: bool = True) -> str:
        done = subprocess.run(
            ["xdotool", *map(str, words)], env=self._environment, check=check, timeout=60,
            capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip() if done.returncode == 0 else ""

    # --- programs and windows --------------------------------------------------

    def python(self, *words: object, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start Python with these arguments."""
        return self._begin([sys.executable, *map(str, words)], cwd=cwd)

    def titles(self) -> list[str]:
        """Return the titles of all windows that are seen."""
        found = self._do("search", "--onlyvisible", "--name", ".+", check=False).split()
        return [self._do("getwindowname", number, check=False) for number in found]

    def window(self, title: str) -> str:
        """Wait for a window of which the title has a part that fits an expression; return it."""
        until(lambda: self._do("search", "--onlyvisible", "--name", title, check=False))
        return self._do("search", "--onlyvisible", "--name", title).split()[0]

    def gone(self, title: str) -> None:
        """Wait until no such window is seen any more."""
        until(lambda: not self._do("search", "--onlyvisible", "--name", title, check=False))

    def size(self, window: str) -> tuple[int, int]:
        """Return width and height of what is in the frame of a window, in pixels."""
        lines = self._do("getwindowgeometry", "--shell", window).splitlines()
        facts = dict(line.split("=") for line in lines)
        return int(facts["WIDTH"]), int(facts["HEIGHT"])

    def activate(self, window: str) -> None:
        """Bring a window to the front, and the keyboard to it."""
        self._do("windowactivate", "--sync", window)

    # --- hands -----------------------------------------------------------------

    def keys(self, *names: str) -> None:
        """Press keys, one after the other: ctrl+o, Return."""
        self._do("key", "--delay", 30, *names)

    def write(self, text: str) -> None:
        """Write a text."""
        self._do("type", "--delay", 15, text)

    def move(self, window: str, x: int, y: int) -> None:
        """Move the mouse to a pixel of a window; negative ones count from its right and bottom."""
        width, height = self.size(window)
        self._do("mousemove", "--window", window, x % width, y % height)

    def press(self) -> None:
        """Press the left button of the mouse."""
        self._do("mousedown", 1)

    def release(self) -> None:
        """Let go of it."""
        self._do("mouseup", 1)

    def click(self, window: str, x: int, y: int, times: int = 1) -> None:
        """Click on a pixel of a window."""
        self.move(window, x, y)
        self._do("click", "--repeat", times, "--delay", 60, 1)

    def drag(self, start: str, window: str, x: int, y: int) -> None:
        """Drag from the middle of a window to a pixel of another."""
        width, height = self.size(start)
        self.activate(start)
        self.move(start, width // 2, height // 2)
        self.press()
        for step in range(1, 7):  # far enough that it is no click
            self.move(start, width // 2 + 4 * step, height // 2)
        for back in (40, 20, 10, 0):  # programs are asked on the way
            self.move(window, x - back if x >= 0 else x, y)
        self.release()
