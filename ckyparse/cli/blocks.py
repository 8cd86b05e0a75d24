"""Files in blocks of whole lines, and where such lie in a file."""

from __future__ import annotations

import io
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bulkbits.files import shown
from kernels.cky.text import Bytes

_PATIENCE = 20  # milliseconds between looks at whether results are waited for
_BOM = b"\xef\xbb\xbf"
_NEWLINE = b"\n"[0]
_FEW = 1 << 18  # bytes, that a core's own cache holds


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Lines of one file.

    path: as in messages. text: whole lines, uint8; the last of a file may lack its newline.
    start: the byte of the file where the text begins.
    trouble: why there is no text, if so; it is in place of a line if `line`, else of a file.
    """

    path: str
    text: Bytes
    start: int = 0
    trouble: str = ""
    line: bool = False

    @classmethod
    def lost(cls, path: str, error: OSError) -> TextBlock:
        """Return what is in place of a file, or of its rest."""
        return cls(path, _view(bytearray(), 0), trouble=str(error.strerror or error))

    @property
    def count(self) -> int:
        """Lines."""
        if not self.text.size:
            return int(self.line)
        return _newlines(self.text) + int(self.text[-1] != _NEWLINE)

    def cut(self, size: int) -> Iterator[TextBlock]:
        """Yield it as blocks of so many bytes; of more where a line has more."""
        text, start = self.text, self.start
        while text.size > size:
            end = text[:size].tobytes().rfind(b"\n") + 1
            if not end:
                end = size + text[size:].tobytes().find(b"\n") + 1
                if end == size:
                    break
            yield replace(self, text=text[:end], start=start)
            text, start = text[end:], start + end
        if text.size or not self.text.size:
            yield replace(self, text=text, start=start)


@dataclass(frozen=True)
class Extent:
    """Names so many lines of one file, not read: from the byte `start` up to `stop`.

    path: as in messages. file: where to read it.
    """

    path: str
    file: str
    start: int
    stop: int
    count: int

    def blocks(self, size: int) -> Iterator[TextBlock]:
        """Yield what blocks() of the whole file has of these lines.

        Raises OSError, and EOFError where the file has become shorter.
        """
        with open(self.file, "rb", buffering=0) as file:
            stream = _FilePart(file, self.start, self.stop)
            yield from _BlockReader(self.path, stream, lambda: False, size, self.start).blocks()
        if stream.left:
            raise EOFError("it has become shorter")


def extents(path: str, file: str, size: Callable[[], int]) -> Iterator[Extent]:
    """Yield the lines of a file. size: bytes of the next extent, which has as many lines as fit in
    them; of more where a line has more. Raises OSError."""
    buffer = bytearray(_FEW)
    text = np.frombuffer(buffer, np.uint8)
    with open(file, "rb", buffering=0) as stream:
        start = end = at = lines = 0  # end: of the last whole line
        most = size()
        while True:
            room = start + most - at
            read = stream.readinto(memoryview(buffer)[: room if room > 0 else _FEW])
            if not read:
                break
            if found := _newlines(text[:read]):
                lines += found
                end = at + buffer.rfind(b"\n", 0, read) + 1
            at += read
            if at >= start + most and end > start:
                yield Extent(path, file, start, end, lines)
                start, lines, most = end, 0, size()
        if at > start:
            yield Extent(path, file, start, at, lines + int(end < at))


def blocks(paths: Sequence[str], hungry: Callable[[], bool], size: int) -> Iterator[TextBlock]:
    """Yield the lines of the files, one file after the other; - is standard input.

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
                yield from _BlockReader(name, stream, hungry, size).blocks()
        except OSError as error:
            yield TextBlock.lost(name, error)


def _newlines(text: Bytes) -> int:
    parts = (text[i : i + _FEW] for i in range(0, text.size, _FEW))
    return int(sum(np.count_nonzero(part == _NEWLINE) for part in parts))


def _view(buffer: bytearray, end: int, begin: int = 0) -> Bytes:
    return np.frombuffer(buffer, np.uint8)[begin:end]


class _FilePart(io.RawIOBase):
    """Bytes of a file; left: how many are not read yet."""

    def __init__(self, file: io.RawIOBase, start: int, stop: int) -> None:
        file.seek(start)
        self._file, self.left = file, stop - start

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(memoryview(buffer)[: self.left]) or 0
        self.left -= count
        return count


class _BlockReader:
    """start: the byte of the file that is to be read next."""

    def __init__(
        self, name: str, stream: Any, hungry: Callable[[], bool], size: int, start: int = 0
    ) -> None:
        self.name, self.stream, self.hungry, self.size = name, stream, hungry, size
        self.start = start
        self.poll: select.poll | None = None
        try:
            number = stream.fileno()
        except OSError:  # no file of the system: never waits
            return
        self.poll = select.poll()
        self.poll.register(number, select.POLLIN)

    def blocks(self) -> Iterator[TextBlock]:
        # buffer[:held] has been read and not handed on; its whole lines are buffer[:end]. It
        # begins with this byte of the file.
        buffer, held, end, start = bytearray(self.size), 0, 0, self.start
        over = False
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
                begin = len(_BOM) if not start and buffer.startswith(_BOM) else 0
                yield TextBlock(self.name, _view(buffer, end, begin), start + begin)
                buffer, held, end, start = following, held - end, 0, start + end
            elif not over:
                length, held, over = self.pass_over(buffer)
                end = buffer.rfind(b"\n", 0, held) + 1
                trouble = f"a line of {length} bytes; the longest possible has {self.size}"
                yield TextBlock(self.name, _view(bytearray(), 0), start, trouble, line=True)
                start += length + 1

    def pass_over(self, buffer: bytearray) -> tuple[int, int, bool]:
        """Pass over the line that fills the buffer.

        Return its bytes, how many have then been read behind it, and whether the file is over.
        """
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
        """Return bytes that were read into it; 0 at the end."""
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
