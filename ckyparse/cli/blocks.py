"""Files in blocks of whole lines."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from arith.cli.files import shown
from kernels.cky.text import Bytes

_PATIENCE = 20  # milliseconds between looks at whether results are waited for
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class Block:
    """Lines of one file.

    path: as in messages. text: whole lines, uint8; the last of a file may lack its newline.
    trouble: why there is no text, if so; it is in place of a line if `line`, else of a file.
    """

    path: str
    text: Bytes
    trouble: str = ""
    line: bool = False


def blocks(paths: Sequence[str], hungry: Callable[[], bool], size: int) -> Iterator[Block]:
    """The lines of the files, one file after the other; - is standard input.

    A block has as many lines as fit in `size` bytes. It has fewer at a file's end, and where
    a pipe or terminal has no more for now while someone waits for results, as hungry() says.
    A line that does not fit is passed over, a file that cannot be read too: a block tells.
    It never waits for long without a call of hungry(), which may raise.
    """
    for path in paths:
        name = shown(path)
        try:
            with ExitStack() as stack:
                if path == "-":
                    buffered: Any = sys.stdin.buffer
                    stream = getattr(buffered, "raw", buffered)
                else:
                    stream = stack.enter_context(open(path, "rb", buffering=0))
                yield from _Reader(name, stream, hungry, size).blocks()
        except OSError as error:
            yield Block(name, _view(bytearray(), 0), str(error.strerror or error))


def _view(buffer: bytearray, end: int, begin: int = 0) -> Bytes:
    return np.frombuffer(buffer, np.uint8)[begin:end]


class _Reader:
    def __init__(self, name: str, stream: Any, hungry: Callable[[], bool], size: int) -> None:
        self.name, self.stream, self.hungry, self.size = name, stream, hungry, size
        self.poll: select.poll | None = None
        try:
            number = stream.fileno()
        except OSError:  # no file of the system: never waits
            return
        self.poll = select.poll()
        self.poll.register(number, select.POLLIN)

    def blocks(self) -> Iterator[Block]:
        # buffer[:held] has been read and not handed on; its whole lines are buffer[:end].
        buffer, held, end = bytearray(self.size), 0, 0
        first, over = True, False
        while not over:
            while held < self.size and self.more(end > 0):
                count = self.read(memoryview(buffer)[held:])
                if not count:
                    over, end = True, held
                    break
                end = buffer.rfind(b"\n", held, held + count) + 1 or end
                held += count
            if end:
                following = bytearray(self.size)
                following[: held - end] = memoryview(buffer)[end:held]
                begin = len(_BOM) if first and buffer.startswith(_BOM) else 0
                yield Block(self.name, _view(buffer, end, begin))
                buffer, held, end = following, held - end, 0
            elif not over:
                length, held, over = self.pass_over(buffer)
                end = buffer.rfind(b"\n", 0, held) + 1
                trouble = f"a line of {length} bytes; the longest possible has {self.size}"
                yield Block(self.name, _view(bytearray(), 0), trouble, line=True)
            first = False

    def pass_over(self, buffer: bytearray) -> tuple[int, int, bool]:
        """Of the line that fills the buffer: its bytes, how many have then been read behind it,
        and whether the file is over."""
        length = self.size
        while self.more(False) and (count := self.read(buffer)):
            newline = buffer.find(b"\n", 0, count)
            if newline >= 0:
                held = count - newline - 1
                buffer[:held] = buffer[newline + 1 : count]
                return length + newline, held, False
            length += count
        return length, 0, True

    def read(self, buffer: bytearray | memoryview) -> int:
        """Bytes that were read into it; 0 at the end."""
        while (count := self.stream.readinto(buffer)) is None:  # a pipe that does not wait
            self.more(False)
        return int(count)

    def more(self, lines: bool) -> bool:
        """Waits for more to read; False if there are lines and someone waits for them."""
        patience = 0
        while self.poll is not None and not self.poll.poll(patience):
            if self.hungry() and lines:
                return False
            patience = _PATIENCE
        return True
