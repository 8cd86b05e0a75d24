"""Where the workers of a cluster can be watched, every command says the same way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("distributed")

from arith import cli as arith_cli
from bulkbits.cluster import Cluster
from ckyparse import cli as ckyparse_cli
from kernels.targets.cpu import levels
from lifesim import cli as lifesim_cli
from tests.clusters import InlineCluster
from tests.commands import in_process

DASHBOARD = "http://here:8787/status"
GRAMMAR = "S -> S S | '(' S ')' | '(' ')'\n"

pytestmark = pytest.mark.skipif(not levels(), reason="the extension is not built")


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("moduli").write_text("15\n77\n")
    Path("brackets.cfg").write_text(GRAMMAR)
    Path("lines").write_text("()\n")
    found = InlineCluster(2, backend="cpu", dashboard=DASHBOARD)
    with mock.patch.object(Cluster, "open", return_value=nullcontext(found)):
        yield


COMMANDS = {
    "arith": (arith_cli.main, ["shared-primes", "moduli"], ["--json"]),
    "ckyparse": (
        ckyparse_cli.main,
        ["accept", "-g", "brackets.cfg", "--tokens", "chars", "lines"],
        None,
    ),
    "lifesim": (lifesim_cli.main, ["run", "--size", "64", "--steps", "1"], ["--quiet"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_told_unless_quiet(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main, arguments, quiet = COMMANDS[name]
    said = f"{name}: {DASHBOARD} shows the workers\n"
    run: Any = in_process(name, main, capsys, monkeypatch)
    done = run(*arguments, *(quiet or []), "--cluster", "local:2")
    assert DASHBOARD not in done.err  # of ckyparse: where nobody looks
    if quiet is None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done = run(*arguments, "--cluster", "local:2")
    assert done.code == 0, done
    assert done.err.count(said) == 1
