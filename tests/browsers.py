"""Headless Chromium, driven by its DevTools protocol; skips where there is none."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until


class Browser:
    """One page of a browser of its own. A context manager."""

    def __init__(self, width: int = 1200, height: int = 800, *, ratio: float = 1) -> None:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            pytest.skip("needs Chromium")
        pytest.importorskip("tornado")
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self._loop = asyncio.new_event_loop()
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--remote-debugging-port=0",
                "--remote-allow-origins=*",
                f"--user-data-dir={self._folder.name}",
                f"--window-size={width},{height}",
                f"--force-device-scale-factor={ratio}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._connect()
        self.do("Page.enable")
        self.do("Runtime.enable")
        self.do("Network.enable")
        self.do("Log.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}
        self.do("Emulation.setDeviceMetricsOverride", **size)

    def _connect(self) -> None:
        from tornado.websocket import websocket_connect

        said = Path(self._folder.name) / "DevToolsActivePort"
        until(lambda: said.exists() and said.read_text().count("\n") >= 1)
        port = said.read_text().split("\n")[0]

        def pages() -> list[dict[str, Any]]:
            with (
                suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer,
            ):
                return [one for one in json.load(answer) if one["type"] == "page"]
            return []

        until(pages)
        address = pages()[0]["webSocketDebuggerUrl"]
        self._line = self._loop.run_until_complete(
            self._begun(lambda: websocket_connect(address, max_message_size=1 << 28))
        )

    async def _begun(self, make: Callable[[], Any]) -> Any:
        return await make()

    def do(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        return self._loop.run_until_complete(self._do(method, parameters))

    async def _do(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        await self._line.write_message(
            json.dumps({"id": self._number, "method": method, "params": parameters})
        )
        while True:
            text = await asyncio.wait_for(self._line.read_message(), 60)
            assert text is not None, "the browser has gone"
            message = json.loads(text)
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, address: str) -> None:
        """Go to an address, and wait until the page is loaded."""
        self.do("Page.navigate", url=address)
        until(lambda: self.value("document.readyState") == "complete")

    def value(self, code: str) -> Any:
        """Return the value of an expression in the page, of a promise what it comes to."""
        made = self.do("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in made, made["exceptionDetails"]
        return made["result"].get("value")

    def until(self, code: str) -> None:
        """Wait until an expression in the page is true."""
        until(lambda: self.value(code))

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Press, move or release the mouse, or turn its wheel."""
        self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, *points: tuple[float, float]) -> None:
        """Press the left button at the first point, go over the others, and release it."""
        self.mouse("mousePressed", *points[0], button="left", buttons=1, clickCount=1)
        for point in points[1:]:
            self.mouse("mouseMoved", *point, button="left", buttons=1)
        self.mouse("mouseReleased", *points[-1], button="left", clickCount=1)

    def problems(self) -> list[Any]:
        """Return the exceptions and errors that the page has had."""
        self.value("0")
        return [
            event["params"]
            for event in self.events
            if event["method"] == "Runtime.exceptionThrown"
            or (
                event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"
            )
        ]

    def picture(self, path: Path) -> None:
        """Write what is seen as a PNG."""
        made = self.do("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(made["data"]))

    def close(self) -> None:
        """End the browser."""
        with suppress(Exception):
            self.do("Browser.close")

        async def leave() -> None:
            self._line.close()
            with suppress(TimeoutError):
                while await asyncio.wait_for(self._line.read_message(), 5) is not None:
                    pass

        self._loop.run_until_complete(leave())
        self._loop.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()
