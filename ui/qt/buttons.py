"""Small buttons with a text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QToolButton


def text_button(text: str, name: str, act: Callable[[], object]) -> QToolButton:
    """Make a button that calls a function. name: what it does, for tips and who cannot see."""
    button = QToolButton()
    button.setText(text)
    button.setAccessibleName(name)
    button.setToolTip(name)
    button.clicked.connect(act)
    return button
