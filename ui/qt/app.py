"""Begins and ends the application."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QSettings, QSocketNotifier, QtMsgType
from PySide6.QtCore import qInstallMessageHandler as install_message_handler
from PySide6.QtWidgets import QApplication

from ui.launch import Launch
from ui.qt import theme
from ui.qt.window import Window


def run(launch: Launch) -> int:
    """Show a window until it is closed; the exit code."""
    launch.check()
    backend = launch.pick()
    session = launch.empty(backend) if launch.path else launch.session(backend)
    app = _application()
    settings = QSettings("bulkbits", "lifesim")
    if launch.theme:
        settings.setValue("view/theme", launch.theme)
        settings.setValue("view/palette", launch.theme)
    window = Window(session, backend, settings)
    sys.excepthook = _reporter(window)
    window.show()
    if launch.path:
        path = os.path.abspath(launch.path)
        name = os.path.basename(path)
        window.open_with(f"Opening {name}…", lambda: launch.session(backend), path)
    with _signals(window) as arrived:
        app.exec()
    return 130 if arrived else 0


def _application() -> QApplication:
    """Qt ends the process where it finds no display: then with one line and code 2."""
    install_message_handler(_message)
    app = QApplication.instance() or QApplication(["lifesim"])
    assert isinstance(app, QApplication)
    app.setApplicationName("lifesim")
    app.setApplicationDisplayName("")
    app.setDesktopFileName("lifesim")
    theme.apply(app, theme.system_theme())
    return app


_warnings: list[str] = []  # the first one says why Qt gives up


def _message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    line = " ".join(message.split())
    if kind is QtMsgType.QtFatalMsg:
        why = (*_warnings, line)[0].removesuffix(".")
        print(f"lifesim: no window can be opened: {why}", file=sys.stderr, flush=True)
        os._exit(2)  # Qt would abort
    if kind is QtMsgType.QtWarningMsg and not _warnings:
        _warnings.append(line)
    if kind is QtMsgType.QtCriticalMsg or os.environ.get("QT_DEBUG_PLUGINS"):
        print(f"lifesim: {line}", file=sys.stderr)


def _reporter(
    window: Window,
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    def report(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        # From a slot: the window lives on.
        window.report(error)

    return report


@contextlib.contextmanager
def _signals(window: Window) -> Iterator[list[int]]:
    """Ctrl-C closes the window, which may ask about changes; a second one doesn't wait.
    Yields those that have arrived."""
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
        window.close()

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
