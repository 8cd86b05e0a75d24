"""Fixtures that tests of the commands share."""

from __future__ import annotations

import signal
import sys

import pytest

from bulkbits import entry
from lifesim import cli
from lifesim.store.universe import Universe
from tests.commands import Done, refused
from tests.lifesim.directories import full_disk


@pytest.fixture
def lifesim(monkeypatch, capsys, tmp_path):
    """Return a function that calls the entry point in a folder of its own."""
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


@pytest.fixture
def soup(lifesim):
    """Return a function that makes a universe directory from a soup: 256x192 cells in 4x6 tiles
    unless told."""

    def make(path: str = "soup", *args: object, size: str = "256x192", tiles: str = "4x6") -> str:
        done = lifesim("random", "--size", size, "--out", path, "--tiles", tiles, *args)
        assert done == (0, "", ""), done
        return path

    return make


@pytest.fixture
def broken_off(lifesim, soup, monkeypatch):
    """Return a function that makes a universe that stopped on its way from generation 8 to 16 of a
    run of 100."""

    def make(*args: object, files: int = 10) -> str:
        path = soup()
        assert lifesim("run", path, "--steps", 8).code == 0
        with monkeypatch.context() as patch:
            full_disk(patch, files)
            done = lifesim("run", path, "--steps", 100, "--phase", 8, *args)
        refused(done, 2, "the disk is full")
        with Universe.open(path) as universe:
            assert universe.phase
            assert 0 < len(universe.phase.done) < 24
        return path

    return make
