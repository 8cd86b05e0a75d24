"""The commands as tests call them."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

COMMAND = [sys.executable, "-c", "from lifesim.cli import main; main()"]


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def facts(self) -> dict:
        return json.loads(self.out)


def in_process(
    name: str,
    main: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Done]:
    """Return a function that calls a command by its main(), in this process."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(*args: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "argv", [name, *map(str, args)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return Done(stop.value.code, printed.out, printed.err)

    return run


def spawn(*args: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def refused(done: Done, code: int, says: str) -> None:
    assert done.code == code, done
    assert re.search(says, done.err), done.err
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("lifesim: ")
