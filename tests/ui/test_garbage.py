"""Widgets are destroyed by the thread that made them, whoever makes garbage."""

from __future__ import annotations

import gc
import threading

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtWidgets import QApplication, QLabel, QWidget

from tests.waiting import until
from ui.qt.garbage import Collector

destroyed_by: list[threading.Thread] = []


class Part(QLabel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.whole = parent

    def __del__(self) -> None:
        destroyed_by.append(threading.current_thread())


def drop_a_widget() -> None:
    """Leave a window behind that refers to itself."""
    whole = QWidget()
    whole.part = Part(whole)  # type: ignore[attr-defined]


def make_garbage() -> None:
    for _ in range(100_000):
        cycle: list[object] = []
        cycle.append(cycle)


def test_only_the_main_thread_collects(app: QApplication) -> None:
    gc.enable()
    collector = Collector()
    try:
        for _ in range(20):
            drop_a_widget()
            maker = threading.Thread(target=make_garbage)
            maker.start()
            maker.join()
        until(lambda: app.processEvents() or len(destroyed_by) == 20)
    finally:
        collector.stop()
    assert set(destroyed_by) == {threading.main_thread()}
    assert gc.isenabled()
    gc.disable()  # as the other tests here have it
