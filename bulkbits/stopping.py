"""Signals that ask to stop, for commands that can stop without loss."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class Stop:
    """Takes the first Ctrl-C, or other signal to end, as a request; later ones interrupt."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Stop:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            handler = signal.getsignal(number)
            if callable(handler):  # not where it is ignored, as under nohup
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *reason: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
