"""Begins and ends the application."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from functools import partial
from types import TracebackType
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QMessageLogContext, QSettings, QSocketNotifier, QtMsgType
from PySide6.QtCore import qInstallMessageHandler as install_message_handler
from PySide6.QtWidgets import QApplication

from ui.cli import why_not
from ui.launch import ViewLaunch
from ui.qt import theme
from ui.qt.background import Background, Opening
from ui.qt.film.loading import shared
from ui.qt.garbage import Collector
from ui.qt.menus.script import ScriptMenu
from ui.qt.menus.start import StartMenu
from ui.qt.window import LifeWindow
from ui.session import Session


def run(launch: ViewLaunch) -> int:
    """Show a window until it is closed; the exit code."""
    launch.check()
    backend = launch.pick()
    session = launch.empty(backend) if launch.path else launch.session(backend)
    app = application("lifesim")
    settings = QSettings("bulkbits", "lifesim")
    if launch.theme:
        settings.setValue("view/theme", launch.theme)
        settings.setValue("view/palette", launch.theme)
    window = LifeWindow(session, backend, settings)
    sys.excepthook = report
    if launch.is_bare:
        window.menu_of(StartMenu).begin()
    window.show()
    shared().begin()  # long before somebody asks for plots
    if launch.script:
        scripts, script = window.menu_of(ScriptMenu), launch.script
        if launch.path:
            scripts.run_when_opened(script)
        else:
            scripts.run_path(script)
    if launch.path:
        # What came from standard input cannot be opened again.
        path = "" if launch.path == "-" else os.path.abspath(launch.path)
        name = os.path.basename(path) or "standard input"

        def make(opening: Opening) -> Session:
            return launch.session(backend, opening, opening.tell)

        window.menu_of(StartMenu).begin_unless_opened()
        window.open_with(f"Opening {name}…", make, path)
    with signals() as arrived:
        app.exec()
    code = 130 if arrived else 0
    if shared().is_busy:
        # Qt does not bear that its modules are imported while it ends, and nobody is to wait.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


@runtime_checkable
class Open(Protocol):
    """A window: the one for universes, the one for parsing."""

    background: Background

    def report(self, error: BaseException) -> None:
        """Say what went wrong."""

    def close(self) -> bool:
        """Close it; False where it stays."""

    def isVisible(self) -> bool:
        """Tell whether it is open."""


def windows() -> list[Open]:
    """Return the windows that are open."""
    found = QApplication.topLevelWidgets()
    return [window for window in found if isinstance(window, Open) and window.isVisible()]


def application(name: str) -> QApplication:
    """Make the application.

    Qt ends the process where it finds no display: then with one line of the command of that name,
    and code 2.
    """
    install_message_handler(partial(_message, name))
    app = QApplication.instance() or QApplication([name])
    assert isinstance(app, QApplication)
    app.setApplicationName(name)
    app.setApplicationDisplayName("")
    app.setDesktopFileName(name)
    theme.apply(app, theme.system_theme())
    Collector(app)
    return app


_warnings: list[str] = []  # the first one says why Qt gives up


def _message(name: str, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    line = " ".join(message.split())
    if kind is QtMsgType.QtFatalMsg:
        why = why_not((*_warnings, line)[0].removesuffix("."))
        print(f"{name}: no window can be opened: {why}", file=sys.stderr, flush=True)
        os._exit(2)  # Qt would abort
    if kind is QtMsgType.QtWarningMsg and not _warnings:
        _warnings.append(line)
    if kind is QtMsgType.QtCriticalMsg or os.environ.get("QT_DEBUG_PLUGINS"):
        print(f"{name}: {line}", file=sys.stderr)


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an error in a slot, as sys.excepthook: the window lives on."""
    window = _whose(trace)
    if window is None:
        sys.__excepthook__(kind, error, trace)
    else:
        window.report(error)


def _whose(trace: TracebackType | None) -> Open | None:
    """Return, of the windows that are open, the one of the innermost package that code is of."""
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(trace)]

    def depth(window: Open) -> int:
        package = type(window).__module__.rpartition(".")[0]
        return len(package) if any(name.startswith(f"{package}.") for name in modules) else 0

    return max(windows(), key=depth, default=None)


@contextlib.contextmanager
def signals() -> Iterator[list[int]]:
    """Let Ctrl-C close all windows, which may ask about changes; a second one doesn't wait, unless
    a window was to stay. Yields those that have arrived."""
    ours, qts = socket.socketpair()
    for end in (ours, qts):
        end.setblocking(False)
    notifier = QSocketNotifier(qts.fileno(), QSocketNotifier.Type.Read)
    arrived: list[int] = []

    def arrive() -> None:
        with contextlib.suppress(BlockingIOError):
            arrived.extend(qts.recv(64))
        if len(arrived) > 1:
            os._exit(130)
        kept = [window for window in windows() if not window.close()]
        if kept and not any(window.background.is_lasting for window in kept):
            arrived.clear()

    notifier.activated.connect(arrive)
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    old = signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
    try:
        yield arrived
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler)
        notifier.setEnabled(False)
        ours.close()
        qts.close()
