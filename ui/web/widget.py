"""A universe in a notebook: the page's Viewer as a widget, over the notebook's own line."""

from __future__ import annotations

import contextlib
import threading
from functools import cache
from importlib import resources
from typing import Any

from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.render import PALETTES, palette_table
from lifesim.store.universe import Universe
from ui.web.blocks import Blocks
from ui.web.board import Board
from ui.web.orders import BlockKey, OrderError, order_of, whole_number

_MANY = 1 << 12  # pixels: a widget is no higher


class NoWidgetError(LifesimError):
    """Raised where the library for widgets is missing, or there is nothing to show."""


def show(universe: Any, *, draws: bool = True, height: int = 420) -> Any:
    """Return a widget that shows a Life or a Universe.

    draws: whether it may change the cells of a Life. height: in pixels. A Life stays the caller's,
    who may run it, too; of a Universe what is on disk is shown, whoever moves it on. Raises
    NoWidgetError without anywidget.
    """
    if not 100 <= height <= _MANY:
        raise ValueError(f"a widget is 100 to {_MANY} pixels high, not {height}")
    widget = _widget_class()
    board: Board
    if isinstance(universe, Life):
        from ui.web.living import LifeBoard

        board = LifeBoard(universe, draws=draws)
    elif isinstance(universe, Universe):
        from ui.web.stored import StoredBoard

        board = StoredBoard(universe.path)
    else:
        raise NoWidgetError(f"a Life or a Universe is shown, not {type(universe).__name__}")
    return widget(board, height)


def script() -> str:
    """Return the widget's JavaScript as one module: a notebook loads no second one."""
    folder = resources.files("ui.web").joinpath("static")
    viewer = folder.joinpath("viewer.js").read_text("utf-8").replace("export class", "class")
    return viewer + folder.joinpath("widget.js").read_text("utf-8")


class Line:
    """Answers what the Viewers of one widget ask. Whoever sends may be any page of a notebook.

    send: sends a message and its bytes to all pages.
    """

    def __init__(self, board: Board, send: Any) -> None:
        """Answer by a board."""
        self.board, self._blocks, self._send = board, Blocks(board), send
        self._telling = threading.Lock()

    def hear(self, message: Any) -> None:
        """Do what a message asks for, and answer; an answer has the number of the question."""
        if not isinstance(message, dict):
            return
        number = message.get("id")
        try:
            if message.get("ask") == "facts":
                self._send({"palettes": _palettes()})
                self.tell()
            elif message.get("ask") == "block":
                self._answer(number, message)
            elif "order" in message:
                self.board.do(order_of(message["order"]))
        except (LifesimError, MemoryError) as error:
            text = " ".join(str(error).split()) or "out of memory"
            self._send({"id": number, "error": text})

    def _answer(self, number: Any, message: dict[str, Any]) -> None:
        place = message.get("place")
        if not isinstance(place, list) or len(place) != 5:
            raise OrderError("a block has five numbers")
        key = BlockKey(*(whole_number(one) for one in place))
        block = self._blocks.block(key, whole_number(message.get("version")))
        found: dict[str, Any] = {
            "version": block.version,
            "channels": block.channels,
            "whole": block.is_whole,
            "tag": block.tag,
            "same": message.get("tag") == block.tag,
        }
        self._send({"id": number, "block": found}, [] if found["same"] else [block.body])

    def tell(self) -> None:
        """Send the facts of now."""
        with self._telling:  # so that the newest come last
            self._send({"facts": self.board.facts().message()})


@cache
def _palettes() -> dict[str, list[int]]:
    return {name: palette_table(name).ravel().tolist() for name in PALETTES}


@cache
def _widget_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise NoWidgetError("a widget needs anywidget: pip install 'bulkbits[notebook]'") from None
    style = resources.files("ui.web").joinpath("static", "viewer.css").read_text("utf-8")

    class UniverseWidget(anywidget.AnyWidget):
        """A universe in a notebook. close() ends what it started; the Life stays as it is."""

        _esm = script()
        _css = style
        height = traitlets.Int(420).tag(sync=True)

        def __init__(self, board: Board, height: int) -> None:
            super().__init__(height=height)
            self._line = Line(board, self.send)
            self.on_msg(lambda widget, content, buffers: self._line.hear(content))
            board.listen(self._line.tell)

        def close(self) -> None:
            board = self._line.board
            board.forget(self._line.tell)
            board.close()
            with contextlib.suppress(Exception):  # there may be no notebook any more
                super().close()

    return UniverseWidget
