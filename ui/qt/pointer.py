"""What is under the pointer, counted off the main thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt

from ui.qt.worker import PointAnswer, Question

if TYPE_CHECKING:
    from ui.qt.window import LifeWindow


class Pointer(QObject):
    """Keeps the status line's words about it true, also while cells and the view move."""

    def __init__(self, window: LifeWindow) -> None:
        super().__init__(window)
        self._window = window
        self._question: Question | None = None
        self._answer: PointAnswer | None = None
        window.canvas.pointed.connect(self._point)
        window.worker.answered.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def forget(self) -> None:
        """Take note that there is another universe."""
        self._answer = None

    def look_again(self) -> None:
        """Look again, as the view may have moved under the pointer."""
        question = self._question
        if question is not None and question.viewport != self._window.view.viewport:
            self._point(QPoint(question.x, question.y))

    def _point(self, at: QPoint | None) -> None:
        question = None
        if at is not None:
            question = Question(self._window.view.viewport, at.x(), at.y())
        if question is None or self._question is None or question.cells != self._question.cells:
            self._answer = None
        self._question = question
        self._window.worker.ask_about(question)
        self._show()

    def _take(self, answer: PointAnswer) -> None:
        if self._question is not None and answer.question.cells == self._question.cells:
            self._answer = answer
            self._show()

    def _show(self) -> None:
        cells = None if self._question is None else self._question.cells
        self._window.status_line.show_under(self._window.session, cells, self._answer)
