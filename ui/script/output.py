"""Takes what scripts print, on the way to where it is shown."""

from __future__ import annotations

import io
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from ui.script.stopping import uninterrupted

MOST = 1 << 13  # characters that wait to be shown; whoever prints more waits, too
_LOOK = 0.02  # seconds between two looks of a printer that waits
_PIECE = MOST // 4  # characters of a piece at most
_LONGEST = 2000  # characters of a line; the rest of a longer one goes on in the next


class ScriptOutput:
    """Text that waits to be shown, in pieces of one style each, as few as can be.

    Any thread may write, and waits while too much is there. One thread takes. told: is called, by
    any thread, when there is something to take, and not again before it has been taken. halted:
    raises where the thread that writes is to wait no longer.
    """

    def __init__(self, told: Callable[[], None], halted: Callable[[], None]) -> None:
        self._told, self._halted = told, halted
        self._changed = threading.Condition()
        self._pieces: deque[tuple[str, str]] = deque()
        self._length = self._column = 0
        self._is_told = self._closed = False

    @uninterrupted
    def write(self, text: str, style: str = "output") -> None:
        """Add text. style: "output", "error", "command" or "note". Raises what `halted` does."""
        for at in range(0, len(text), _PIECE):
            self._write(text[at : at + _PIECE], style)

    def _write(self, text: str, style: str) -> None:
        while True:
            self._halted()
            with self._changed:
                if self._closed:
                    return
                if self._length < MOST or (self._changed.wait(_LOOK) and self._length < MOST):
                    text = self._broken(text)
                    self._add(text, style)
                    is_told, self._is_told = self._is_told, True
                    break
        if not is_told:
            self._told()

    def _add(self, text: str, style: str) -> None:
        """Add to the last piece, if it has room: to show many small ones takes long."""
        self._length += len(text)
        last, its_style = self._pieces[-1] if self._pieces else ("", style)
        if its_style == style and 0 < len(last) <= _PIECE - len(text):
            text = self._pieces.pop()[0] + text
        self._pieces.append((text, style))

    def _broken(self, text: str) -> str:
        """Break lines that are too long to be laid out in a moment."""
        if self._column + len(text) > _LONGEST:
            lines, room = [], _LONGEST - self._column
            for line in text.split("\n"):
                parts = [line[:room]]
                parts += [line[at : at + _LONGEST] for at in range(room, len(line), _LONGEST)]
                lines.append("\n".join(parts))
                room = _LONGEST
            text = "\n".join(lines)
        end = text.rfind("\n")
        self._column = self._column + len(text) if end < 0 else len(text) - end - 1
        return text

    def take(self, most: int) -> list[tuple[str, str]]:
        """Return pieces (text, style) of about `most` characters in all, each once. What is left
        is told of again."""
        with self._changed:
            taken, count = [], 0
            while self._pieces and count < most:
                taken.append(self._pieces.popleft())
                count += len(taken[-1][0])
            self._length -= count
            self._is_told = bool(self._pieces)
            self._changed.notify_all()
            left = self._is_told
        if left:
            self._told()
        return taken

    def close(self) -> None:
        """Drop what is written from now on; nobody waits any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class _Routing(io.TextIOBase):
    """Writes of some threads go to their outputs, all others where they went before."""

    encoding = "utf-8"

    def __init__(self, before: TextIO, style: str) -> None:
        self.before, self._style = before, style
        self.outputs: dict[int | None, ScriptOutput] = {}

    def write(self, text: str) -> int:
        output = self.outputs.get(threading.get_ident())
        if output is None:
            return self.before.write(text)
        output.write(str(text), self._style)
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() not in self.outputs:
            self.before.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return threading.get_ident() not in self.outputs and self.before.isatty()

    def fileno(self) -> int:
        return self.before.fileno()


_lock = threading.Lock()
_STREAMS = (("stdout", "output"), ("stderr", "error"))


@contextmanager
def routed(thread: threading.Thread, output: ScriptOutput) -> Iterator[None]:
    """Have what a thread writes to standard output and error go to an output, in a block."""
    with _lock:
        for name, style in _STREAMS:
            now = getattr(sys, name)
            routing = now if isinstance(now, _Routing) else _Routing(now, style)
            routing.outputs[thread.ident] = output
            setattr(sys, name, routing)
    try:
        yield
    finally:
        with _lock:
            for name, _ in _STREAMS:
                now = getattr(sys, name)
                if isinstance(now, _Routing):
                    now.outputs.pop(thread.ident, None)
                    if not now.outputs:
                        setattr(sys, name, now.before)
