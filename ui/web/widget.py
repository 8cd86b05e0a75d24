"""A universe in a notebook: the page's Viewer as a widget, over the notebook's own messages."""

from __future__ import annotations

import contextlib
import threading
from functools import cache
from importlib import resources
from typing import Any

from lifesim.engine import Life
from lifesim.errors import LifesimError
from lifesim.store.universe import Universe
from ui.web.blocks import Blocks, palettes
from ui.web.board import Board, Facts, said
from ui.web.feed import Feed
from ui.web.orders import BlockKey, OrderError, look_of, order_of, seen_of, whole_number

_MANY = 1 << 12  # pixels: a widget is no higher
_MOST_VIEWS = 16  # of one widget that are sent pictures

_UNSEEN = (
    "A universe, to be seen where JupyterLab itself has anywidget: install it there, too, "
    "and reload the page."
)


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


class WidgetLink:
    """Answers what the Viewers of one widget ask. Whoever sends may be any page of a notebook.

    send: sends a message and its bytes to all pages; one for a single Viewer has its name.
    """

    def __init__(self, board: Board, send: Any) -> None:
        """Answer by a board."""
        self.board, self._blocks, self._send = board, Blocks(board), send
        self._telling = threading.Lock()  # of who uses feeds; and so the newest facts come last
        self._feeds: dict[str, Feed] = {}  # by the names of Viewers

    def hear(self, message: Any) -> None:
        """Do what a message asks for, and answer; an answer has the number of the question."""
        if not isinstance(message, dict):
            return
        try:
            if message.get("ask") == "facts":
                self._send({"palettes": palettes()})
                self._meet(message.get("from"))
                self.tell()
            elif message.get("ask") == "block":
                self._answer(message.get("id"), message)
            elif "order" in message:
                self.board.do(order_of(message["order"]))
            elif isinstance(message.get("from"), str):
                self._hear_of_pictures(message["from"], message)
        except (LifesimError, MemoryError) as error:
            self._send({"id": message.get("id"), "error": said(error)})

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

    def _meet(self, name: Any) -> None:
        """Keep a Viewer in mind, and forget the one that has been known for longest."""
        if not isinstance(name, str) or not 0 < len(name) <= 32:
            return
        with self._telling:
            self._feeds[name] = Feed()
            while len(self._feeds) > _MOST_VIEWS:
                del self._feeds[next(iter(self._feeds))]

    def _hear_of_pictures(self, name: str, message: dict[str, Any]) -> None:
        with self._telling:
            feed = self._feeds.get(name)
            if feed is None:
                return
            if "look" in message:
                feed.look(look_of(message["look"]))
            elif "seen" in message:
                was_full = not feed.has_room
                feed.seen(seen_of(message["seen"]).frame)
                if was_full and feed.has_room:
                    self._tell_one(name, feed, self.board.facts())
            elif "leave" in message:
                del self._feeds[name]

    def tell(self) -> None:
        """Send the facts of now, and to each Viewer the pictures that it looks at. One that has not
        drawn those that it has is told more when it has."""
        with self._telling:
            facts = self.board.facts()
            if not self._feeds:
                self._send({"facts": facts.message()})
            for name, feed in self._feeds.items():
                if feed.has_room:
                    self._tell_one(name, feed, facts)

    def _tell_one(self, name: str, feed: Feed, facts: Facts) -> None:
        frame = feed.begin(facts.version)
        if frame is not None:
            try:
                for keys in frame.parts:
                    blocks = [self._blocks.block(key, facts.version) for key in keys]
                    told = facts.message() if keys is frame.parts[-1] else None
                    part, bodies = frame.part(keys, blocks, told)
                    self._send({"to": name, "part": part}, bodies)
                return
            except (LifesimError, MemoryError) as error:
                self._send({"to": name, "error": said(error)})
        self._send({"to": name, "facts": facts.message()})
        feed.version = facts.version


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
            self._link = WidgetLink(board, self.send)
            self.on_msg(lambda widget, content, buffers: self._link.hear(content))
            board.listen(self._link.tell)

        def __repr__(self) -> str:
            """Return what a notebook shows that cannot show the widget."""
            return _UNSEEN

        def close(self) -> None:
            board = self._link.board
            board.forget(self._link.tell)
            board.close()
            with contextlib.suppress(Exception):  # there may be no notebook any more
                super().close()

    return UniverseWidget
