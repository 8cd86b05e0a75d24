"""Begins and ends the application."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QMessageLogContext, QSettings, QSocketNotifier, QtMsgType
from PySide6.QtCore import qInstallMessageHandler as install_message_handler
from PySide6.QtWidgets import QApplication

from ui.launch import Launch
from ui.qt import theme
from ui.qt.window import Window

if TYPE_CHECKING:
    from ui.qt.parsing.window import ParseWindow


def run(launch: Launch) -> int:
    """Show a window until it is closed; the exit code."""
    launch.check()
    backend = launch.pick()
    session = launch.empty(backend) if launch.path else launch.session(backend)
    app = application("lifesim")
    settings = QSettings("bulkbits", "lifesim")
    if launch.theme:
        settings.setValue("view/theme", launch.theme)
        settings.setValue("view/palette", launch.theme)
    window = Window(session, backend, settings)
    sys.excepthook = reporter(window)
    window.show()
    if launch.path:
        # What came from standard input cannot be opened again.
        path = "" if launch.path == "-" else os.path.abspath(launch.path)
        name = os.path.basename(path) or "standard input"
        window.open_with(f"Opening {name}…", lambda: launch.session(backend), path)
    with signals(window) as arrived:
        app.exec()
    return 130 if arrived else 0


class Reporting(Protocol):
    """A window that can say what went wrong."""

    def report(self, error: BaseException) -> None: ...


def application(name: str) -> QApplication:
    """Qt ends the process where it finds no display: then with one line of the command of that
    name, and code 2."""
    install_message_handler(partial(_message, name))
    app = QApplication.instance() or QApplication([name])
    assert isinstance(app, QApplication)
    app.setApplicationName(name)
    app.setApplicationDisplayName("")
    app.setDesktopFileName(name)
    theme.apply(app, theme.system_theme())
    return app


_warnings: list[str] = []  # the first one says why Qt gives up


def _message(name: str, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    line = " ".join(message.split())
    if kind is QtMsgType.QtFatalMsg:
        why = (*_warnings, line)[0].removesuffix(".")
        print(f"{name}: no window can be opened: {why}", file=sys.stderr, flush=True)
        os._exit(2)  # Qt would abort
    if kind is QtMsgType.QtWarningMsg and not _warnings:
        _warnings.append(line)
    if kind is QtMsgType.QtCriticalMsg or os.environ.get("QT_DEBUG_PLUGINS"):
        print(f"{name}: {line}", file=sys.stderr)


def reporter(
    window: Reporting,
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    def report(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        # From a slot: the window lives on.
        window.report(error)

    return report


@contextlib.contextmanager
def signals(window: Window | ParseWindow) -> Iterator[list[int]]:
    """Ctrl-C closes the window, which may ask about changes; a second one doesn't wait, unless
    the window was to stay. Yields those that have arrived."""
    ours, qts = socket.socketpair()
    for end in (ours, qts):
        end.setblocking(False)
    notifier = QSocketNotifier(qts.fileno(), QSocketNotifier.Type.Read, window)
    arrived: list[int] = []

    def arrive() -> None:
        with contextlib.suppress(BlockingIOError):
            arrived.extend(qts.recv(64))
        if len(arrived) > 1:
            os._exit(130)
        if not window.close() and not window.background.is_busy:
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
