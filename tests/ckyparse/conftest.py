"""The ckyparse command and grammars for it."""

from __future__ import annotations

import io
import signal
import sys
from pathlib import Path

import pytest

from tests.ckyparse.commands import DYCK, ENGLISH, Done, write


@pytest.fixture
def ckyparse(capsysbinary, monkeypatch: pytest.MonkeyPatch):
    """The command in this process."""
    from ckyparse.cli import main

    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(*args: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "argv", ["ckyparse", *map(str, args)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsysbinary.readouterr()
        return Done(stop.value.code, out.decode(errors="surrogateescape"), err.decode())

    return run


@pytest.fixture
def dyck(tmp_path) -> Path:
    return write(tmp_path / "dyck.cfg", DYCK)


@pytest.fixture
def english(tmp_path) -> Path:
    return write(tmp_path / "english.cfg", ENGLISH)
