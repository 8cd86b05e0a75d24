"""A server for tests, in a thread of its own, and what a page would ask of it."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import numpy.typing as npt

TOKEN = "t0ken"


class Served:
    """A server that is being asked. port: where it listens."""

    def __init__(self, port: int) -> None:
        self.port = port

    def get(self, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Return status, headers and body of an address, as they come. Host is this machine."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            line.request("GET", path, headers=named)
            answer = line.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            line.close()

    def facts(self) -> dict[str, Any]:
        status, _, body = self.get(f"/{TOKEN}/facts")
        assert status == 200
        return json.loads(body)

    def tiles(self, version: int, *place: int) -> npt.NDArray[np.uint8]:
        """Return the tiles of a block."""
        status, headers, body = self.get(self.block(version, *place))
        assert status == 200, body
        tiles = np.frombuffer(gzip.decompress(body), np.uint8)
        colours = (3,) if headers["X-Channels"] == "3" else ()
        return tiles.reshape(-1, 256, 256, *colours)

    def block(self, version: int, *place: int) -> str:
        return f"/{TOKEN}/blocks/{version}/" + "/".join(map(str, place))


class Page:
    """The websocket of a page."""

    def __init__(self, served: Served, **headers: str) -> None:
        from tornado.httpclient import HTTPRequest
        from tornado.websocket import websocket_connect

        host = f"127.0.0.1:{served.port}"
        headers = {"Origin": f"http://{host}", **headers}
        self._loop = asyncio.new_event_loop()
        self._is_over = False

        async def begin() -> Any:
            address = f"ws://{host}/{TOKEN}/live"
            return await websocket_connect(HTTPRequest(address, headers=headers))

        try:
            self._line = self._loop.run_until_complete(begin())
        except BaseException:
            self._loop.close()
            raise

    def hear(self) -> dict[str, Any] | None:
        """Return the next message; None where the server has closed the line. One with pictures
        has a part, whose bytes are those after its JSON."""

        async def next_one() -> Any:
            return await asyncio.wait_for(self._line.read_message(), 60)

        text = self._loop.run_until_complete(next_one())
        self._is_over = text is None
        if isinstance(text, bytes):
            length = 4 + int.from_bytes(text[:4], "big")
            return {"part": {**json.loads(text[4:length]), "bytes": text[length:]}}
        return None if text is None else json.loads(text)

    @property
    def close_code(self) -> int | None:
        """Return why the server has closed the line, as numbers of websockets say it."""
        return self._line.close_code

    def hear_until(self, key: str, is_it: Any = lambda value: True) -> Any:
        """Return the first value of that key which is right."""
        while (message := self.hear()) is not None:
            if key in message and is_it(message[key]):
                return message[key]
        raise AssertionError("the line was closed")

    def say(self, message: Any) -> None:
        text = message if isinstance(message, str) else json.dumps(message)

        async def write() -> None:
            await self._line.write_message(text)

        self._loop.run_until_complete(write())

    def close(self) -> None:
        async def end() -> None:
            self._line.close()
            while not self._is_over and await self._line.read_message() is not None:
                pass

        self._loop.run_until_complete(end())
        self._loop.close()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


@contextmanager
def serving(board: Any) -> Iterator[Served]:
    """Serve a board, which is closed afterwards."""
    from ui.web.server import serve

    ports: queue.Queue[int] = queue.Queue()
    stops: queue.Queue[Any] = queue.Queue()

    async def work() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task
        stops.put(lambda: loop.call_soon_threadsafe(task.cancel))
        await serve(board, 0, TOKEN, ports.put)

    def run() -> None:
        with asyncio.Runner() as runner, suppress(asyncio.CancelledError):
            runner.run(work())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield Served(ports.get(timeout=60))
    finally:
        stops.get(timeout=60)()
        thread.join()
        board.close()
