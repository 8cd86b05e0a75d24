"""The bytes of files that are said to hold keys, whatever they are, without waiting for ever."""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO

from arith.keys import MOST_LINE, KeyFileError
from bulkbits.files import shown
from kernels.targets.memory import available_memory

_PIECE = 1 << 20
_MOST_DER = 1 << 22  # bytes: more than a certificate with the longest modulus has
_UNASKED = 1 << 26  # bytes that are read without a look at memory


def contents(path: str) -> bytes:
    """Return what a file holds, or standard input for `-`.

    Of what is surely no key only the beginning, by which arith.keys refuses it. Raises
    KeyFileError where it cannot be read, and for what no key file is: a pipe that nobody
    writes to, a line or a DER key that is longer than any key, more than fits in memory.
    """
    try:
        if path == "-":
            return _read(sys.stdin.buffer, shown(path))
        # Not waiting for somebody to write to a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with open(descriptor, "rb", buffering=0) as stream:
            start = b""
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                # None: somebody has it open, and has written nothing yet.
                start = stream.read(_PIECE)
                if start == b"":
                    raise KeyFileError(f"{path}: an empty pipe, or one that nobody writes to")
            os.set_blocking(descriptor, True)
            return _read(stream, path, start or b"")
    except OSError as error:
        raise KeyFileError(f"{shown(path)}: {error.strerror or error}") from None


def _read(stream: BinaryIO, name: str, start: bytes = b"") -> bytes:
    data = bytearray(start)
    asked, line = _UNASKED, 0  # line: where the last one that is there begins
    while piece := stream.read(_PIECE):
        data += piece
        if data[:1] == b"\x30" and data[1:2] >= b"\x80":
            if len(data) > _MOST_DER:
                raise KeyFileError(f"{name}: this has more than {_MOST_DER:,} bytes, no key has")
        elif b"-----BEGIN " not in data[: 2 * _PIECE]:
            if b"\0" in piece:
                break
            line = max(line, data.rfind(b"\n", max(line, len(data) - len(piece))) + 1)
            if len(data) - line > MOST_LINE:
                raise KeyFileError(f"{name}: a line of more than {MOST_LINE:,} bytes; no key has")
        if len(data) > asked:
            asked += _UNASKED
            if len(data) > (room := available_memory()) // 4:
                raise KeyFileError(
                    f"{name}: too large: more than {len(data):,} bytes, {room:,} are available"
                )
    return bytes(data)
