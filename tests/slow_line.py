"""A slow line to a server of this machine: bytes come late, both ways."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PIECE = 1 << 14  # bytes that are passed on at once
_IN_FLIGHT = 256  # pieces that a line holds, each way


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float, rate: float
) -> None:
    """Pass bytes on, each delay seconds after it came, and no more than rate bytes a second."""
    loop = asyncio.get_running_loop()
    flying: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_IN_FLIGHT)

    async def take() -> None:
        while data := await reader.read(_PIECE):
            await flying.put((loop.time() + delay, data))
        await flying.put((loop.time() + delay, b""))

    taking = asyncio.create_task(take())
    try:
        while True:
            due, data = await flying.get()
            await asyncio.sleep(due - loop.time())
            if not data:
                return
            writer.write(data)
            await writer.drain()
            if rate:
                await asyncio.sleep(len(data) / rate)
    finally:
        taking.cancel()
        writer.close()


@contextmanager
def slow_line(port: int, round_trip: float, rate: float = 0) -> Iterator[int]:
    """Give the port of a line to a port of this machine.

    round_trip: seconds that a question and its answer take more than without the line. rate: bytes
    a second each way; 0 is as many as come.
    """
    loop = asyncio.new_event_loop()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            there = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(
                _pump(reader, there[1], round_trip / 2, rate),
                _pump(there[0], writer, round_trip / 2, rate),
                return_exceptions=True,
            )

    async def end() -> None:
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    server = loop.run_until_complete(asyncio.start_server(met, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
