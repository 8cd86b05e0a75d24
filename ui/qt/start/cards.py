"""Lists of cards: a small picture, a title and a line. Cards lie in a grid, or are rows."""

from __future__ import annotations

from html import escape
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ui.qt.start.thumbs import Thumbs, image_of
from ui.qt.theme import colour_table
from ui.start.cards import Card
from ui.start.thumbnails import FileGoneError, Thumbnail

CARD = Qt.ItemDataRole.UserRole
_NO_INDEX = QModelIndex()
_MARGIN, _ROUND = 6, 5  # pixels
_LARGEST = 12  # pixels a cell

Index = QModelIndex | QPersistentModelIndex


class CardModel(QAbstractListModel):
    """The cards of a list, and what thumbnails say of them."""

    def __init__(self, thumbs: Thumbs, parent: QWidget) -> None:
        super().__init__(parent)
        self.thumbs = thumbs
        self.cards: list[Card] = []
        self._rows: dict[str, int] = {}
        thumbs.arrived.connect(self._arrive)

    def show(self, cards: list[Card]) -> None:
        """Show other cards."""
        self.beginResetModel()
        self.cards = cards
        self._rows = {card.path: row for row, card in enumerate(cards)}
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        """Return how many cards there are."""
        return 0 if parent.isValid() else len(self.cards)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a list or a screen reader asks of a card."""
        if not index.isValid():
            return None
        card = self.cards[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return card.title
        if role == CARD:
            return card
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"<span>{escape(card.tip)}</span>" if card.tip else None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            gone = ", gone" if self.thumbs.is_gone(card.path) else ""
            return f"{card.title}, {card.line}{gone}"
        return None

    def _arrive(self, path: str) -> None:
        row = self._rows.get(path)
        if row is not None:
            self.dataChanged.emit(self.index(row), self.index(row))


class CardList(QListView):
    """Shows cards. chosen: the card was pressed twice, or Return on it. current: another card is
    the one that keys go to, or None. removed: Delete was pressed on a card."""

    chosen = Signal(object)
    current = Signal(object)
    removed = Signal(object)

    def __init__(self, name: str, thumbs: Thumbs, *, rows: bool) -> None:
        """Show no card yet. name: for those who do not see the list."""
        super().__init__()
        self.setAccessibleName(name)
        self.cards = CardModel(thumbs, self)
        self._delegate = _CardDelegate(thumbs, rows, self)
        self.setModel(self.cards)
        self.setItemDelegate(self._delegate)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._rows = rows
        if not rows:
            self.setViewMode(QListView.ViewMode.IconMode)
            self.setMovement(QListView.Movement.Static)
            self.setResizeMode(QListView.ResizeMode.Adjust)
            # Else Qt leaves room for it beside the cards even while there is none.
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setDragDropMode(QListView.DragDropMode.NoDragDrop)  # what is dropped is the window's
        self.setAcceptDrops(False)
        self.activated.connect(lambda index: self.chosen.emit(index.data(CARD)))
        self.selectionModel().currentChanged.connect(self._tell)
        self.cards.modelReset.connect(self._tell)

    def sizeHint(self) -> QSize:
        """Return the size of few cards: the list takes what room there is."""
        card = self._delegate.size
        return QSize(card.width(), 2 * card.height())

    def dress(self, theme: str) -> None:
        """Draw pictures in the colours of a theme."""
        if theme != self._delegate.theme:
            self._delegate.theme = theme
            self.viewport().update()

    def card(self) -> Card | None:
        """Return the card that keys go to."""
        index = self.currentIndex()
        return index.data(CARD) if index.isValid() else None

    def show_cards(self, cards: list[Card]) -> None:
        """Show other cards; the one that keys went to stays the one, if it is still there."""
        before = self.card()
        if cards == self.cards.cards:
            return
        self.cards.show(cards)
        rows = [row for row, card in enumerate(cards) if before and card.path == before.path]
        if rows:
            self.setCurrentIndex(self.cards.index(rows[0]))

    def focus_first(self) -> None:
        """Take the focus; keys go to the first card where they went to none."""
        if not self.currentIndex().isValid() and self.cards.cards:
            self.setCurrentIndex(self.cards.index(0))
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the cards of a grid share the width; the one that keys go to stays in view."""
        if not self._rows:
            card, width = self._delegate.size, self.viewport().width() - 2
            columns = max(1, width // card.width())
            self.setGridSize(QSize(max(width // columns, 1), card.height() + _MARGIN))
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Delete ask for a card to be removed."""
        card = self.card()
        if event.key() == Qt.Key.Key_Delete and card is not None:
            self.removed.emit(card)
        else:
            super().keyPressEvent(event)

    def _tell(self, *_: object) -> None:
        self.current.emit(self.card())


class _CardDelegate(QStyledItemDelegate):
    """Draws cards."""

    def __init__(self, thumbs: Thumbs, rows: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._thumbs, self._rows, self._parent = thumbs, rows, parent
        self.theme = "dark"

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of a card."""
        return self.size

    @property
    def size(self) -> QSize:
        """Return the size of a card."""
        line = self._parent.fontMetrics().height()
        if self._rows:
            return QSize(180, 2 * line + 2 * _MARGIN + 4)
        return QSize(9 * line, 5 * line + 2 * line + 3 * _MARGIN)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a card."""
        # The stubs of PySide6 leave out what QStyleOption has.
        known: Any = option
        rect: QRect = known.rect.adjusted(1, 1, -1, -1)
        palette: QPalette = known.palette
        card: Card = index.data(CARD)
        state = QStyle.StateFlag
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        role = QPalette.ColorRole
        accent = palette.color(role.Highlight)
        if known.state & (state.State_Selected | state.State_MouseOver):
            fill = QColor(accent) if known.state & state.State_Selected else palette.color(role.Mid)
            fill.setAlpha(90)
            painter.setBrush(fill)
        has_focus = known.state & state.State_HasFocus
        painter.setPen(QPen(accent, 2) if has_focus else Qt.PenStyle.NoPen)
        painter.drawRoundedRect(rect, _ROUND, _ROUND)
        picture, text = self._parts(rect)
        found = self._thumbs.of(card.path)
        self._paint_picture(painter, picture, found if isinstance(found, Thumbnail) else None)
        gone = isinstance(found, FileGoneError)
        plain, dim = palette.color(role.Text), palette.color(role.PlaceholderText)
        line = card.line
        if isinstance(found, Exception):
            self._paint_why(painter, picture, str(found), dim)
            if self._rows:
                line = "gone: Delete removes it from the list" if gone else f"{found}: {line}"
        self._paint_text(painter, text, card.title, line, dim if gone else plain, dim)
        painter.restore()

    def _parts(self, rect: QRect) -> tuple[QRect, QRect]:
        """Return where the picture is, and the text."""
        inner = rect.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        if self._rows:
            picture = QRect(inner.topLeft(), QSize(inner.height() * 3 // 2, inner.height()))
            return picture, inner.adjusted(picture.width() + 2 * _MARGIN, 0, 0, 0)
        high = 2 * self._parent.fontMetrics().height()
        picture = inner.adjusted(0, 0, 0, -high - _MARGIN // 2)
        return picture, QRect(inner.left(), inner.bottom() - high + 1, inner.width(), high)

    def _paint_text(
        self, painter: QPainter, where: QRect, title: str, line: str, ink: QColor, dim: QColor
    ) -> None:
        metrics = painter.fontMetrics()
        top = where.top() + (where.height() - 2 * metrics.height()) // 2
        way = Qt.AlignmentFlag.AlignVCenter
        way |= Qt.AlignmentFlag.AlignLeft if self._rows else Qt.AlignmentFlag.AlignHCenter
        for text, colour in ((title, ink), (line, dim)):
            row = QRect(where.left(), top, where.width(), metrics.height())
            painter.setPen(colour)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, row.width())
            painter.drawText(row, way, shown)
            top += metrics.height()

    def _paint_why(self, painter: QPainter, where: QRect, why: str, dim: QColor) -> None:
        """Say in the place of the picture why there is none; in a row there is room for a mark."""
        painter.setPen(dim)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(where.adjusted(2, 2, -2, -2), flags, "–" if self._rows else why)

    def _paint_picture(self, painter: QPainter, where: QRect, found: Thumbnail | None) -> None:
        in_colours = found is not None and found.pixels.ndim == 3
        dead = QColor(colour_table("dark" if in_colours else self.theme)[0])
        painter.setPen(self._parent.palette().color(QPalette.ColorRole.Mid))
        painter.setBrush(dead)
        painter.drawRoundedRect(where, _ROUND, _ROUND)
        if found is not None:
            paint_thumbnail(painter, where.adjusted(4, 4, -4, -4), found, self.theme)


def paint_thumbnail(painter: QPainter, where: QRect, thumbnail: Thumbnail, theme: str) -> None:
    """Draw a thumbnail in the middle of a rectangle: its pixels are squares of whole pixels of the
    screen."""
    ratio = painter.device().devicePixelRatioF()
    room = QRect(
        QPoint(round(where.left() * ratio), round(where.top() * ratio)),
        QSize(int(where.width() * ratio), int(where.height() * ratio)),
    )
    pixels = thumbnail.within(room.width(), room.height())
    image = image_of(pixels, theme)
    times = min(room.width() // image.width(), room.height() // image.height())
    target = QRect(QPoint(0, 0), image.size() * min(times, round(_LARGEST * ratio)))
    target.moveCenter(room.center())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.scale(1 / ratio, 1 / ratio)
    painter.drawImage(target, image)
    painter.restore()
