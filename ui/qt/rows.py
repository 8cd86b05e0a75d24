"""What fits into small windows: a layout in rows, of which what does not fit beside what comes
before begins another one, and a place that is scrolled where it is too low."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSpacerItem,
    QVBoxLayout,
    QWidget,
)

_LEAST = 80  # pixels of height, of what is scrolled

_Line = list[tuple[QLayoutItem, int]]  # and widths


class RowsLayout(QLayout):
    """Lays out items from left to right, in rows; of a row, those that expand share the room that
    is left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(6)

    # --- what Qt asks of a layout ----------------------------------------------

    def addItem(self, item: QLayoutItem) -> None:
        """Add an item at the end."""
        self._items.append(item)

    def addStretch(self) -> None:
        """Add nothing, which expands."""
        self.addItem(QSpacerItem(0, 0))

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        """Return an item; None where there is none."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        """Remove an item and return it; None where there is none."""
        if not 0 <= index < len(self._items):
            return None
        taken = self._items.pop(index)
        self.invalidate()
        return taken

    def expandingDirections(self) -> Qt.Orientation:
        """Return that more width is of use."""
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        """Return that the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows at a width."""
        heights = [self._height(line) for line in self._lines(width)]
        return sum(heights) + self.spacing() * max(0, len(heights) - 1)

    def sizeHint(self) -> QSize:
        """Return the size of one row."""
        shown = self._shown()
        width = sum(item.sizeHint().width() for item in shown)
        height = max((item.sizeHint().height() for item in shown), default=0)
        return QSize(width + self.spacing() * max(0, len(shown) - 1), height)

    def minimumSize(self) -> QSize:
        """Return the size of the largest item."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, rect: QRect) -> None:
        """Place the items."""
        super().setGeometry(rect)
        top = rect.top()
        for line in self._lines(rect.width()):
            left, height = rect.left(), self._height(line)
            for item, width in line:
                tall = min(height, item.sizeHint().height())
                item.setGeometry(QRect(left, top + (height - tall) // 2, width, tall))
                left += width + self.spacing()
            top += height + self.spacing()

    # --- rows ------------------------------------------------------------------

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if item.spacerItem() or not item.isEmpty()]

    def _height(self, line: _Line) -> int:
        return max(item.sizeHint().height() for item, _ in line)

    def _lines(self, width: int) -> list[_Line]:
        lines: list[_Line] = []
        used = 0
        for item in self._shown():
            hint = min(item.sizeHint().width(), width)
            if lines and used + self.spacing() + hint <= width:
                lines[-1].append((item, hint))
                used += self.spacing() + hint
            else:
                lines.append([(item, hint)])
                used = hint
        return [self._widened(line, width) for line in lines]

    def _widened(self, line: _Line, width: int) -> _Line:
        left = width - sum(wide for _, wide in line) - self.spacing() * (len(line) - 1)
        eager = [item for item, _ in line if self._expands(item)]
        if not eager:
            return line
        more, rest = divmod(left, len(eager))
        return [
            (item, wide + (more + (rest if item is eager[0] else 0)) * (item in eager))
            for item, wide in line
        ]

    def _expands(self, item: QLayoutItem) -> bool:
        if item.spacerItem():
            return True
        return bool(item.expandingDirections() & Qt.Orientation.Horizontal)


class RowsWidget(QWidget):
    """Is as high as its rows, which change with its width. below: other rows."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.rows = [RowsLayout() for _ in range(count)]
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 6)
        for rows in self.rows:
            column.addLayout(rows)
        column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that the new width needs."""
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Take the height that is needed, also after something within has another width."""
        column = self.layout()
        assert column is not None
        column.invalidate()
        self.setMinimumHeight(column.heightForWidth(self.width()))


class Scrolled(QScrollArea):
    """A widget in the place of itself: as large as it is, where there is room for it."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self._widget = widget
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(widget)

    def sizeHint(self) -> QSize:
        """Return the size that the widget would like."""
        return self._widget.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return all of its width, and of its height a little."""
        size = self._widget.minimumSizeHint()
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(size.width() + bar, min(size.height(), _LEAST))
