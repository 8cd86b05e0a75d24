"""Dialogs for files and folders: the desktop's own where it has one, else a wide one of Qt's."""

from __future__ import annotations

import os
from collections.abc import Mapping

from PySide6.QtCore import QDir
from PySide6.QtWidgets import QFileDialog, QSplitter, QTreeView, QWidget

_WIDE, _HIGH, _FRAME = 980, 620, 40  # pixels; what a title takes
_DETAIL_FROM = 700  # pixels of width
_PLACES = 170  # pixels: folders that are at hand, at the left
_COLUMNS = 360, 90, 150, 160  # pixels: name, size, type, date

Mode = QFileDialog.FileMode


def open_file(parent: QWidget, title: str, folder: str, filters: str) -> str:
    """Ask for a file that there is; '' is: not after all."""
    return _asked(made(parent, title, folder, filters, Mode.ExistingFile))[0]


def open_folder(parent: QWidget, title: str, folder: str = "") -> str:
    """Ask for a folder; '' is: not after all."""
    dialog = made(parent, title, folder, "", Mode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return _asked(dialog)[0]


def save_file(parent: QWidget, title: str, path: str, filters: str) -> tuple[str, str]:
    """Ask where to save, and in which of the filters; '' is: not after all."""
    dialog = made(parent, title, "", filters, Mode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.selectFile(path)
    return _asked(dialog)


def save_in_form(
    parent: QWidget, title: str, path: str, suffixes: Mapping[str, str]
) -> tuple[str, str]:
    """Ask where to save, and in which of the filters, each with the suffix that a name has with it:
    the name follows. '' is: not after all."""
    dialog = made(parent, title, "", ";;".join(suffixes), Mode.AnyFile)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.selectFile(path)
    dialog.setDefaultSuffix(os.path.splitext(path)[1].removeprefix("."))

    def follow(chosen: str) -> None:
        suffix = suffixes[chosen]
        dialog.setDefaultSuffix(suffix.removeprefix("."))
        file = (dialog.selectedFiles() or [path])[0]
        dialog.selectFile(os.path.splitext(file)[0] + suffix)

    dialog.filterSelected.connect(follow)
    return _asked(dialog)


def made(
    parent: QWidget, title: str, folder: str, filters: str, mode: QFileDialog.FileMode
) -> QFileDialog:
    """Make a dialog, as wide as the screen has room for. The desktop's own has a size of its
    own."""
    dialog = QFileDialog(parent, title, folder or QDir.currentPath(), filters)
    dialog.setFileMode(mode)
    room = parent.screen().availableGeometry()
    width, height = min(_WIDE, room.width()), min(_HIGH, room.height() - _FRAME)
    dialog.resize(width, height)
    views = QFileDialog.ViewMode
    dialog.setViewMode(views.Detail if width >= _DETAIL_FROM else views.List)
    table = dialog.findChild(QTreeView, "treeView")
    if table is not None:  # Qt's own dialog
        for column, wide in enumerate(_COLUMNS):
            table.header().resizeSection(column, wide)
    parts = dialog.findChild(QSplitter, "splitter")
    if parts is not None:
        parts.setSizes([_PLACES, width - _PLACES])
    return dialog


def _asked(dialog: QFileDialog) -> tuple[str, str]:
    """Ask, and wait for the answer: a path and a filter."""
    agreed = dialog.exec()
    paths, chosen = dialog.selectedFiles(), dialog.selectedNameFilter()
    dialog.deleteLater()  # by Qt, back in its loop: not in pieces, by Python's collector
    return (paths[0], chosen) if agreed and paths else ("", "")
