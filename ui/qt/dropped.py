"""What is dragged onto a window, or dropped there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QDropEvent


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
