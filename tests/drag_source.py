"""A program with a small window from which files can be dragged, as from a file manager.

    python -m tests.drag_source FILE ...

It offers to copy and to move them; of files that were taken to be moved it removes them, as file
managers do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

TITLE = "source of files"


class Source(QLabel):
    """A label that is dragged with the mouse, and files with it."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__("Drag me")
        self._paths = [os.path.abspath(path) for path in paths]
        self.setWindowTitle(TITLE)
        self.setGeometry(20, 40, 160, 60)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Begin to drag."""
        if not event.buttons():
            return
        drag, data, actions = QDrag(self), QMimeData(), Qt.DropAction
        data.setUrls([QUrl.fromLocalFile(path) for path in self._paths])
        drag.setMimeData(data)
        taken = drag.exec(actions.CopyAction | actions.MoveAction, actions.MoveAction)
        if taken is actions.MoveAction:
            for path in self._paths:
                os.remove(path)


if __name__ == "__main__":
    app = QApplication(["source"])
    source = Source(sys.argv[1:])
    source.show()
    app.exec()
