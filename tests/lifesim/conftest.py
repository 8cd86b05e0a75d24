"""What tests of the commands share."""

from __future__ import annotations

import signal
import sys

import pytest

from arith.cli import entry
from lifesim import cli
from tests.commands import Done


@pytest.fixture
def lifesim(monkeypatch, capsys, tmp_path):
    """Calls the entry point in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(entry, "_mend_streams", lambda: None)

    def call(*args: object) -> Done:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["lifesim", *map(str, args)])
        before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)}
        try:
            with pytest.raises(SystemExit) as stop:
                cli.main()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        said = capsys.readouterr()
        return Done(stop.value.code or 0, said.out, said.err)

    return call
