"""The server of `lifesim serve`: a page, its tiles and a line to it, on this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from lifesim.errors import LifesimError
from lifesim.render import PALETTES, palette_table
from ui.web import guard
from ui.web.blocks import Block, Blocks
from ui.web.board import Board
from ui.web.orders import MOST_MESSAGE, BlockKey, OrderError, read_order, whole_number
from ui.web.pool import BusyError, Pool

HOST = "127.0.0.1"
MOST_VIEWERS = 64
_NEWS = 1 / 30  # seconds between two messages to a page at least
_LEAVING = 0.05  # seconds that lines have to close in, at the end
_ASKED = 256  # orders of one page that wait, at most
_THREADS = max(2, min(4, os.cpu_count() or 1))
_KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_PAGES = {"": "page.html", **{name: name for name in ("page.js", "viewer.js", "viewer.css")}}
_FOREVER = "private, max-age=31536000, immutable"


@cache
def asset(name: str) -> bytes:
    """Return a file of the page."""
    return resources.files("ui.web").joinpath("static", name).read_bytes()


def palettes() -> dict[str, list[int]]:
    """Return the colours of the 256 levels by the names of palettes: red, green, blue and so on."""
    return {name: palette_table(name).ravel().tolist() for name in PALETTES}


class Service:
    """The universe that all requests share, its blocks, and who looks on."""

    def __init__(self, board: Board, token: str) -> None:
        """Serve a universe to whoever knows the token."""
        self.board, self.token = board, token
        self.blocks, self.pool = Blocks(board), Pool(_THREADS)
        self.viewers: set[LiveHandler] = set()
        self._making: dict[tuple[int, BlockKey], asyncio.Future[Block]] = {}

    async def block(self, key: BlockKey, version: int) -> Block:
        """Return a block, made once for all who ask for it meanwhile."""
        at = version, key
        under_way = self._making.get(at)
        if under_way is None:
            work = self.pool.call(self.blocks.block, key, version)
            under_way = self._making[at] = asyncio.ensure_future(work)
            under_way.add_done_callback(lambda done: self._made(at, done))
        return await asyncio.shield(under_way)

    def _made(self, at: tuple[int, BlockKey], done: asyncio.Future[Block]) -> None:
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

    def write_error(self, status_code: int, **rest: Any) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        error = rest.get("exc_info", (None, None, None))[1]
        self.finish(
            error.log_message
            if isinstance(error, HTTPError) and error.log_message
            else self._reason
        )


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
        facts = await self.service.pool.call(self.service.board.facts)
        self.write(facts.message())


class _BlockHandler(_Guarded):
    """A block of tiles, whose address says of which version: a browser may keep it forever."""

    async def get(self, token: str, *numbers: str) -> None:
        try:
            version, *place = (whole_number(number) for number in numbers)
            key = BlockKey(*place)
        except OrderError as error:
            raise HTTPError(400, str(error)) from None
        try:
            block = await self.service.block(key, version)
        except BusyError:
            self.set_header("Retry-After", "1")
            raise HTTPError(503, "too much is asked for at once") from None
        except (LifesimError, MemoryError) as error:
            raise HTTPError(500, " ".join(str(error).split()) or "out of memory") from None
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


class LiveHandler(WebSocketHandler):
    """The line to a page: facts go there when they change, orders come from there."""

    def initialize(self, service: Service) -> None:
        """Take over what all requests share."""
        self.service = service
        self._changed = asyncio.Event()
        self._orders: asyncio.Queue[str | bytes] = asyncio.Queue(_ASKED)
        self._tasks: list[asyncio.Task[None]] = []

    def prepare(self) -> None:
        """Refuse whoever does not know the token, comes by another name, or is one too many."""
        if not guard.is_here(self.request.headers.get("Host", "")):
            raise HTTPError(403)
        if not guard.is_token(self.path_args[0], self.service.token):
            raise HTTPError(404)
        if not guard.is_own_page(self.request.headers.get("Origin"), self.request.host):
            raise HTTPError(403)
        if len(self.service.viewers) >= MOST_VIEWERS:
            raise HTTPError(503)

    def check_origin(self, origin: str) -> bool:
        """Tell whether it is a page of this server that asks."""
        return guard.is_own_page(origin, self.request.host)

    def open(self, *arguments: str, **more: str) -> None:
        """Begin to tell the page what there is."""
        self.service.viewers.add(self)
        self.set_nodelay(True)
        self._changed.set()
        self._tasks = [asyncio.create_task(work()) for work in (self._tell, self._obey)]

    def on_message(self, message: str | bytes) -> None:
        """Put an order behind those that wait; a page that sends too many is left."""
        try:
            self._orders.put_nowait(message)
        except asyncio.QueueFull:
            self.close(1008, "too many orders at once")

    def on_close(self) -> None:
        """Forget the page."""
        self.service.viewers.discard(self)
        for task in self._tasks:
            task.cancel()

    def leave(self) -> None:
        """End the line at once: the server ends."""
        stream = self.ws_connection.stream if self.ws_connection else None
        self.close(1001, "the server ends")
        if stream is not None:
            stream.close()

    def changed(self) -> None:
        """Have the page told what there is by now."""
        self._changed.set()

    async def _tell(self) -> None:
        first: dict[str, Any] = {"palettes": palettes()}
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                facts = await self.service.pool.call(self.service.board.facts)
                await self._send({**first, "facts": facts.message()})
                first = {}
            except (LifesimError, MemoryError) as error:
                await self._send({"error": " ".join(str(error).split()) or "out of memory"})
            except BusyError:
                self._changed.set()
            await asyncio.sleep(_NEWS)

    async def _obey(self) -> None:
        while True:
            message = await self._orders.get()
            try:
                order = read_order(message)
                await self.service.pool.call(self.service.board.do, order)
            except (LifesimError, MemoryError) as error:
                await self._send({"error": " ".join(str(error).split()) or "out of memory"})
            except BusyError:
                await self._send({"error": "too much is asked for at once"})

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await self.write_message(json.dumps(message))
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
    server = HTTPServer(
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
        for viewer in tuple(service.viewers):
            viewer.leave()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(server.close_all_connections(), _LEAVING)
