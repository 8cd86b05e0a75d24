"""The server of `lifesim serve`: a page, its tiles and a line to it, on this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import weakref
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import click
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from bulkbits.entry import one_line
from lifesim.errors import LifesimError
from ui.web import guard
from ui.web.blocks import Blocks, PictureBlock, palettes
from ui.web.board import Board, Facts, said
from ui.web.feed import Feed, packed
from ui.web.orders import (
    MOST_MESSAGE,
    BlockKey,
    Look,
    OrderError,
    PageOrder,
    Seen,
    read_message,
    whole_number,
)
from ui.web.pool import BusyError, Pool

T = TypeVar("T")

HOST = "127.0.0.1"
MOST_VIEWERS = 64
_NEWS = 1 / 60  # seconds between two messages to a page at least
_LEAVING = 0.05  # seconds that answers have to end in, once their lines are closed
_ASKED = 256  # orders of one page that wait, at most
THREADS = max(2, min(4, os.cpu_count() or 1))  # that draw, and as many that ask the board
_KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_PAGES = {"": "page.html", **{name: name for name in ("page.js", "viewer.js", "viewer.css")}}
_BUSY = "too much is asked for at once"
_FOREVER = "private, max-age=31536000, immutable"


@cache
def asset(name: str) -> bytes:
    """Return a file of the page."""
    return resources.files("ui.web").joinpath("static", name).read_bytes()


class _Server(HTTPServer):
    """An HTTP server that knows all its lines, also those that websockets have taken over."""

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Begin with no line: tornado's servers are made by this method."""
        self._lines: weakref.WeakSet[IOStream] = weakref.WeakSet()
        super().initialize(*args, **kwargs)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Answer a line that somebody has opened."""
        self._lines.add(stream)
        super().handle_stream(stream, address)

    def close_lines(self) -> None:
        """Close all lines at once, whatever still goes over them."""
        for stream in tuple(self._lines):
            stream.close()


class Service:
    """The universe that all requests share, its blocks, and who looks on.

    Facts and orders may wait for a step, so that they have threads of their own: pictures that
    there are must not wait for it.
    """

    def __init__(self, board: Board, token: str) -> None:
        """Serve a universe to whoever knows the token."""
        self.board, self.token = board, token
        self.blocks = Blocks(board)
        self.drawing, self.asking = Pool("drawing", THREADS), Pool("asking", THREADS)
        self.viewers: set[LiveHandler] = set()
        self._making: dict[tuple[int, BlockKey], asyncio.Future[PictureBlock]] = {}

    async def block(self, key: BlockKey, version: int) -> PictureBlock:
        """Return a block, made once for all who ask for it meanwhile."""
        at = version, key
        under_way = self._making.get(at)
        if under_way is None:
            work = self.drawing.call(self.blocks.block, key, version)
            under_way = self._making[at] = asyncio.ensure_future(work)
            under_way.add_done_callback(lambda done: self._made(at, done))
        return await asyncio.shield(under_way)

    def _made(self, at: tuple[int, BlockKey], done: asyncio.Future[PictureBlock]) -> None:
        self._making.pop(at, None)
        if not done.cancelled():
            done.exception()  # whoever asked has been told, or has gone


class _Guarded(RequestHandler):
    """Refuses whoever does not know the token, or comes by another name than this machine's."""

    def initialize(self, service: Service) -> None:
        self.service = service

    def set_default_headers(self) -> None:
        for name, value in guard.HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def prepare(self) -> None:
        if not guard.is_here(self.request.headers.get("Host", "")):
            raise HTTPError(403)
        if not guard.is_token(self.path_args[0], self.service.token):
            raise HTTPError(404)

    async def answer(self, work: Awaitable[T]) -> T:
        """Return what is being made; what cannot be made becomes a status and a line."""
        try:
            return await work
        except BusyError:
            raise HTTPError(503, _BUSY) from None
        except (LifesimError, MemoryError) as error:
            raise HTTPError(500, said(error)) from None

    def write_error(self, status_code: int, **rest: Any) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        if status_code == 503:
            self.set_header("Retry-After", "1")
        error = rest.get("exc_info", (None, None, None))[1]
        says = isinstance(error, HTTPError) and error.log_message
        self.finish(says % error.args if says else self._reason)


class _AssetHandler(_Guarded):
    """The page and what it is made of."""

    def get(self, token: str, name: str) -> None:
        if self.request.path == f"/{token}":  # the page's own addresses begin with a slash more
            self.redirect(f"/{token}/")
            return
        if name not in _PAGES:
            raise HTTPError(404)
        file = _PAGES[name]
        self.set_header("Content-Type", f"{_KINDS[file.rpartition('.')[2]]}; charset=utf-8")
        self.write(asset(file))


class _FactsHandler(_Guarded):
    """The facts of now, for programs."""

    async def get(self, token: str) -> None:
        facts = await self.answer(self.service.asking.call(self.service.board.facts))
        self.write(facts.message())


class _BlockHandler(_Guarded):
    """A block of tiles, whose address says of which version: a browser may keep it forever."""

    async def get(self, token: str, *numbers: str) -> None:
        try:
            version, *place = (whole_number(number) for number in numbers)
            key = BlockKey(*place)
        except OrderError as error:
            raise HTTPError(400, str(error)) from None
        block = await self.answer(self.service.block(key, version))
        self.set_header("X-Version", str(block.version))
        self.set_header("X-Channels", str(block.channels))
        self.set_header("X-Whole", "1" if block.is_whole else "0")
        self.set_header("ETag", f'"{block.tag}"')
        if block.is_whole and block.version == version:
            self.set_header("Cache-Control", _FOREVER)
        if self.check_etag_header():
            self.set_status(304)
            return
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Content-Encoding", "gzip")
        self.write(block.body)


class LiveHandler(_Guarded, WebSocketHandler):
    """The line to a page: facts and pictures go there when they change, orders come from there."""

    def initialize(self, service: Service) -> None:
        """Take over what all requests share."""
        super().initialize(service)
        self._changed = asyncio.Event()
        self._orders: asyncio.Queue[PageOrder] = asyncio.Queue(_ASKED)
        self._tasks: list[asyncio.Task[None]] = []
        self._feed = Feed()
        self._is_behind = False  # whether the page is told more when it has drawn what it has

    def prepare(self) -> None:
        """Refuse also pages of others, and whoever is one too many."""
        super().prepare()
        if not guard.is_own_page(self.request.headers.get("Origin"), self.request.host):
            raise HTTPError(403)
        if len(self.service.viewers) >= MOST_VIEWERS:
            raise HTTPError(503)

    def open(self, *arguments: str, **more: str) -> None:
        """Begin to tell the page what there is."""
        self.service.viewers.add(self)
        self.set_nodelay(True)
        self._changed.set()
        self._tasks = [
            asyncio.create_task(self._unless_it_fails(work)) for work in (self._tell, self._obey)
        ]

    async def on_message(self, message: str | bytes) -> None:
        """Take note of what the page looks at and has drawn, and put an order behind those that
        wait; a page that sends too many is left. The next message is read after this one."""
        try:
            match read_message(message):
                case Look() as look:
                    self._feed.look(look)
                case Seen(frame):
                    self._feed.seen(frame)
                    if self._is_behind and self._feed.has_room:
                        self._changed.set()
                case order:
                    self._orders.put_nowait(order)
        except OrderError as error:
            await self._send({"error": said(error)})
        except asyncio.QueueFull:
            self.close(1008, "too many orders at once")

    def on_close(self) -> None:
        """Forget the page."""
        self.service.viewers.discard(self)
        for task in self._tasks:
            task.cancel()

    def changed(self) -> None:
        """Have the page told what there is by now."""
        self._changed.set()

    async def _unless_it_fails(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do work that has no end. Where it ends by a fault of this program that is said here, and
        the line is closed: a page would wait for nothing."""
        try:
            await work()
        except Exception as error:
            name = type(error).__name__
            click.echo(f"lifesim: {one_line(f'a page is left: {name}: {error}')}", err=True)
            self.close(1011, "the server has failed")

    async def _tell(self) -> None:
        first: dict[str, Any] = {"palettes": palettes()}
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._is_behind = not self._feed.has_room
            if self._is_behind:
                continue
            try:
                facts = await self.service.asking.call(self.service.board.facts)
                if first or not await self._show(facts):
                    await self._send({**first, "facts": facts.message()})
                    self._feed.version = facts.version
                first = {}
            except (LifesimError, MemoryError) as error:
                await self._send({"error": said(error)})
            except BusyError:
                self._changed.set()
            due = max(due + _NEWS, loop.time())
            await asyncio.sleep(due - loop.time())

    async def _show(self, facts: Facts) -> bool:
        """Send what the page looks at, with the facts; return whether there was anything to send.
        Of what cannot be read the page is told that, and it asks for it by itself."""
        frame = self._feed.begin(facts.version)
        if frame is None:
            return False
        for keys in frame.parts:
            try:
                blocks = await asyncio.gather(
                    *(self.service.block(key, facts.version) for key in keys)
                )
            except (LifesimError, MemoryError) as error:
                await self._send({"error": said(error)})
                return False
            told = facts.message() if keys is frame.parts[-1] else None
            await self._send(packed(*frame.part(keys, blocks, told)))
        return True

    async def _obey(self) -> None:
        while True:
            order = await self._orders.get()
            try:
                await self.service.asking.call(self.service.board.do, order)
            except (LifesimError, MemoryError) as error:
                await self._send({"error": said(error)})
            except BusyError:
                await self._send({"error": _BUSY})

    async def _send(self, message: dict[str, Any] | bytes) -> None:
        is_packed = isinstance(message, bytes)
        try:
            await self.write_message(message if is_packed else json.dumps(message), is_packed)
        except WebSocketClosedError:
            self.close()


def application(service: Service) -> Application:
    """Return the addresses that are served."""
    number = "(-?[0-9]{1,97})"
    shared = {"service": service}
    return Application(
        [
            (r"/([^/]{1,64})/facts", _FactsHandler, shared),
            (r"/([^/]{1,64})/live", LiveHandler, shared),
            (r"/([^/]{1,64})/blocks/" + "/".join([number] * 6), _BlockHandler, shared),
            (r"/([^/]{1,64})/([a-z.]{0,20})", _AssetHandler, shared),
            (r"/(.*)()", _AssetHandler, shared),
        ],
        websocket_max_message_size=MOST_MESSAGE,
        websocket_ping_interval=20,
        log_function=lambda handler: None,
        compress_response=False,
    )


async def serve(board: Board, port: int, token: str, ready: Callable[[int], None]) -> None:
    """Serve a universe until it is cancelled.

    port: 0 is any that is free. ready: is told the port when it can be looked at. Raises
    LifesimError for a port that cannot be had.
    """
    service = Service(board, token)
    server = _Server(
        application(service),
        idle_connection_timeout=120,
        max_header_size=1 << 14,
        max_body_size=1 << 10,
        max_buffer_size=1 << 20,
    )
    try:
        listening = socket.create_server((HOST, port), backlog=128)
    except OSError as error:
        raise LifesimError(f"port {port}: {error.strerror or error}") from None
    loop = asyncio.get_running_loop()

    def changed() -> None:
        for viewer in tuple(service.viewers):
            viewer.changed()

    def heard() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(changed)

    board.listen(heard)
    try:
        listening.setblocking(False)
        server.add_socket(listening)
        ready(listening.getsockname()[1])
        await asyncio.Event().wait()
    finally:
        board.forget(heard)
        server.stop()
        for pool in service.drawing, service.asking:
            pool.close()
        for viewer in tuple(service.viewers):
            viewer.close(1001, "the server ends")
        server.close_lines()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(server.close_all_connections(), _LEAVING)
