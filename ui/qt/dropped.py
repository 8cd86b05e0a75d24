"""What is dragged onto a window, or dropped there."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget


def files_of(event: QDropEvent) -> list[str]:
    """Return the paths of the files; the event is taken if it has any.

    They are taken as copies, whatever is proposed: who offers to move a file removes it when it is
    taken so.
    """
    paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    if paths:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    return paths


def lead_files(window: QWidget) -> None:
    """Let files that are dropped on the text fields of a window be dropped on the window itself.

    A field would take their names as text, as a move if that is proposed: then the file manager
    removes the files. Of text, fields of several lines still take what is dropped.
    """
    for line in window.findChildren(QLineEdit):
        line.setAcceptDrops(False)  # Qt asks what it lies in, then
    for field in window.findChildren(QPlainTextEdit):
        _FilesLed(field, window)


class _FilesLed(QObject):
    """Has files that are dragged over a field be the window's."""

    def __init__(self, field: QPlainTextEdit, window: QWidget) -> None:
        super().__init__(field)
        self._window = window
        field.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hand the event to the window if it has files."""
        if not isinstance(event, QDropEvent) or not files_of(event):
            return False
        if isinstance(event, QDragEnterEvent):
            self._window.dragEnterEvent(event)
        elif isinstance(event, QDragMoveEvent):
            self._window.dragMoveEvent(event)
        else:
            self._window.dropEvent(event)
        return True
