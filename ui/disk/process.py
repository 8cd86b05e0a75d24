"""A run on disk as its starter sees it: a process that is written to and listened to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_AGAIN = 0.3  # seconds after which another stop() means: at once


class DiskProcess:
    """A process that runs a universe on disk.

    heard: is called with each line that it writes, and with {"error": ...} where it dies of itself.
    ended: is called once it is gone. A thread of its own calls both; any thread may send().
    """

    def __init__(
        self,
        path: str,
        backend: str,
        order: dict[str, Any],
        heard: Callable[[dict[str, Any]], None],
        ended: Callable[[], None],
    ) -> None:
        """Start the process, with its first order. Raises OSError."""
        self._heard, self._ended = heard, ended
        self._stopped: float | None = None
        self._killed = False
        self._writing = threading.Lock()
        # What this process can import, that one can, wherever it has been started.
        paths = os.pathsep.join(os.path.abspath(place) for place in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ui.disk.run", path, backend],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is for the one who started it
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self.send(order)
        self._thread = threading.Thread(target=self._listen, name="disk-run", daemon=True)
        self._thread.start()

    @property
    def stopping(self) -> bool:
        """Tell whether stop() has been called."""
        return self._stopped is not None

    def send(self, order: dict[str, Any]) -> None:
        """Write an order; nothing happens where the process is gone already."""
        assert self._process.stdin
        with self._writing, suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()

    def stop(self) -> None:
        """Have it stop when what is under way is safe; a second time: at once."""
        now = time.monotonic()
        if self._stopped is None:
            self._stopped = now
            self.send({"stop": True})
        elif now > self._stopped + _AGAIN:
            self._kill()

    def close(self, seconds: float) -> None:
        """Stop it, and wait; so long at most, then it is killed."""
        if self._stopped is None:
            self.stop()
        self._thread.join(seconds)
        self._kill()
        self._thread.join()

    def _kill(self) -> None:
        self._killed = True
        self._process.kill()

    def _listen(self) -> None:
        process = self._process
        assert process.stdin
        assert process.stdout
        said, last = False, ""
        for line in process.stdout:
            try:
                facts = json.loads(line)
            except ValueError:
                facts = None
            if not isinstance(facts, dict):
                last = line.strip() or last  # of what it says before it dies
                continue
            said |= "error" in facts
            self._heard(facts)
        code = process.wait()
        process.stdout.close()
        with self._writing, suppress(OSError):
            process.stdin.close()
        if code and not said and not self._killed:
            reason = last or (f"signal {-code}" if code < 0 else f"exit code {code}")
            self._heard({"error": f"the process of the run has died: {reason}"})
        self._ended()
