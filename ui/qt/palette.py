"""The command palette: any action by a few letters of its name."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QKeySequence, QPainter, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from bulkbits.fuzzy import ranked
from ui.qt.actions import Action, Registry
from ui.qt.list_keys import ListKeys

_ROW = 28  # pixels
_PAGE = 8  # rows

_ID = Qt.ItemDataRole.UserRole
_KEYS = Qt.ItemDataRole.UserRole + 1
_PLACE = Qt.ItemDataRole.UserRole + 2


class CommandPalette(QDialog):
    """A list of all actions, searched by typing.

    Actions that can be done now come first; others are shown dim and do nothing.
    """

    def __init__(self, registry: Registry, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Command palette")
        self._registry = registry
        frame = QFrame(self)
        frame.setObjectName("palette")
        self.line = QLineEdit()
        self.line.setPlaceholderText("What do you want to do?")
        self.line.setAccessibleName("Find an action")
        self.list = QListWidget()
        self.list.setAccessibleName("Actions")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setItemDelegate(_Delegate(self.list))
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(8, 8, 8, 8)
        inner.addWidget(self.line)
        inner.addWidget(self.list)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)
        self.line.textChanged.connect(self._search)
        ListKeys(self.list, _PAGE, self.line, chosen=self._choose)
        self.list.itemClicked.connect(lambda _: self._choose())
        width = min(620, max(320, parent.width() - 80))
        self._highest = min(440, max(200, parent.height() - 120))
        self.setFixedWidth(width)
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(corner.x() + (parent.width() - width) // 2, corner.y() + 64)
        self._search("")
        self.line.setFocus()

    def _search(self, text: str) -> None:
        found = ranked(text, self._registry, lambda action: f"{action.name} {action.place}")
        possible = [action for action in found if self._registry.is_enabled(action.id)]
        others = [action for action in found if not self._registry.is_enabled(action.id)]
        self.list.clear()
        for action in possible:
            self.list.addItem(_item(action))
        for action in others:
            item = _item(action)
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        if possible:
            self.list.setCurrentRow(0)
        margins = self.line.sizeHint().height() + 32
        self.setFixedHeight(min(self._highest, margins + _ROW * max(1, self.list.count())))

    def _choose(self) -> None:
        item = self.list.currentItem()
        if item is not None and item.flags():
            id = item.data(_ID)
            self.close()
            self._registry.run(id)


def _item(action: Action) -> QListWidgetItem:
    item = QListWidgetItem(action.name)
    keys = ", ".join(
        QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in action.keys
    )
    item.setData(_ID, action.id)
    item.setData(_KEYS, keys)
    item.setData(_PLACE, action.place)
    item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{action.name}, {keys}")
    return item


class _Delegate(QStyledItemDelegate):
    """Draws the title, dim its menu, and the keys at the right."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        self.initStyleOption(option, index)
        # The stubs of PySide6 leave out what QStyleOption has.
        known: Any = option
        palette: QPalette = known.palette
        where: QRect = known.rect.adjusted(10, 0, -10, 0)
        painter.save()
        if known.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(known.rect, palette.highlight())
            ink = dim = palette.color(QPalette.ColorRole.HighlightedText)
        else:
            enabled = bool(known.state & QStyle.StateFlag.State_Enabled)
            group = QPalette.ColorGroup.Active if enabled else QPalette.ColorGroup.Disabled
            ink = palette.color(group, QPalette.ColorRole.Text)
            dim = palette.color(QPalette.ColorRole.PlaceholderText)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(ink)
        painter.drawText(where, left, known.text)
        painter.setPen(dim)
        place = where.adjusted(painter.fontMetrics().horizontalAdvance(known.text) + 14, 0, 0, 0)
        painter.drawText(place, left, index.data(_PLACE))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(where, right, index.data(_KEYS))
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(200, _ROW)
