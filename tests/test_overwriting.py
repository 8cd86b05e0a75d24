"""Every output of every command: files of its kind are replaced, others and inputs are kept."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import Done, in_process

REFERENCE = ["--backend", "reference"]
RUN = ["lifesim", "run", "in.rle", "--steps", "4", "--quiet", *REFERENCE]
ENUMERATE = ["semigroups", "enumerate", "-g", "in.json", *REFERENCE]
# A command without its output, the option, a name for it, and an input where it may be that.
OUTPUTS = {
    "arith eval": (["arith", "eval", "neg", "in.txt"], "-o", "out.txt", "in.txt"),
    "eval of two": (["arith", "eval", "divmod", "in.txt", "two"], "-o", "out.txt", "two"),
    "shared-primes": (["arith", "shared-primes", "in.txt"], "--save", "out.h5", "in.txt"),
    "ckyparse convert": (["ckyparse", "convert", "in.cfg"], "-o", "out.cfg", "in.cfg"),
    "enumerate": (ENUMERATE, "-o", "out.h5", "in.json"),
    "rules": (ENUMERATE, "--rules-out", "rules", "in.json"),
    "resume to": (["semigroups", "resume", "in.h5", *REFERENCE], "-o", "out.h5", None),
    "resume, rules": (["semigroups", "resume", "in.h5", *REFERENCE], "--rules-out", "r", "in.h5"),
    "semigroups convert": (["semigroups", "convert", "-g", "in.json"], "-o", "out.g", "in.json"),
    "to gap": (["semigroups", "convert", "-g", "in.json", "--to", "gap"], "-o", "a.g", "in.json"),
    "run": (RUN, "--out", "out.rle", "in.rle"),
    "run, macrocell": (RUN, "--out", "out.mc.gz", "in.rle"),
    "run, cells": (RUN, "--out", "out.cells", "in.rle"),
    "run, 1.05": (RUN, "--out", "out.lif", "in.rle"),
    "run, picture": (RUN, "--out", "out.png", None),
    "run, film": ([*RUN, "--every", "2"], "--out", "out.gif", None),
    "run, series": ([*RUN, "--every", "2"], "--out", "out.csv", None),
    "snapshots": ([*RUN, "--every", "2"], "--out", "out.rle", "in.rle"),
    "render": (["lifesim", "render", "in.rle"], "--out", "out.png", None),
    "convert": (["lifesim", "convert", "in.rle"], "", "out.rle", "in.rle"),
    "random": (["lifesim", "random", "--size", "64"], "--out", "out.rle", None),
}


@pytest.fixture
def command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Return a function that runs a command in a folder of inputs."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "in.txt": "15\n77\n",
        "two": "2\n",
        "in.cfg": "S -> 'a' S | 'a'\n",
        "in.json": "[[1, 0, 2]]",
        "in.rle": "x = 3, y = 1\n3o!\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)

    def run(name: str, *args: str) -> Done:
        main = importlib.import_module(f"{name}.cli").main
        return in_process(name, main, capsys, monkeypatch)(*args)

    assert run("semigroups", "enumerate", "full:2", "-o", "in.h5", *REFERENCE).code == 0
    return run


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", OUTPUTS)
def test_what_is_overwritten(name: str, command: Callable[..., Done]) -> None:
    line, option, path, read = OUTPUTS[name]

    def to(path: str, *more: str) -> Done:
        return command(*line, *([option, path] if option else [path]), *more)

    assert to(path).code == 0
    first = Path(path).read_bytes()
    assert first
    assert to(path).code == 0  # one of its own
    Path(path).write_bytes(b"")
    assert to(path).code == 0
    assert Path(path).read_bytes() == first
    Path(path).write_text("Dear diary,\n\ttoday 1 was -> 2\n")
    before = Path(path).read_bytes()
    done = to(path)
    assert done.code == 2
    assert f"cannot write {path}: it is no " in done.err
    assert done.err.endswith(": --force overwrites it\n")
    assert Path(path).read_bytes() == before
    assert to(path, "--force").code == 0
    assert Path(path).read_bytes() == first
    if read:
        before = Path(read).read_bytes()
        done = to(read)
        assert (done.code, Path(read).read_bytes()) == (2, before)
        assert f"cannot write {read}: it is read, too: --force overwrites it" in done.err
        assert to(read, "--force").code == 0


def test_snapshots_keep_what_is_there(command: Callable[..., Done]) -> None:
    Path("out-00000002.rle").write_text("Dear diary")
    done = command(*RUN, "--out", "out.rle", "--every", "2")
    assert done.code == 2
    assert "cannot write out-00000002.rle: it is no pattern: --force overwrites it" in done.err
    assert not os.path.exists("out.rle")
    assert Path("out-00000002.rle").read_text() == "Dear diary"
    assert command(*RUN, "--out", "out.rle").code == 0  # which makes none
    assert command(*RUN, "--out", "out.rle", "--every", "2", "--force").code == 0
    os.rename("in.rle", "out-00000000.rle")
    line = ["out-00000000.rle" if word == "in.rle" else word for word in RUN]
    done = command(*line, "--out", "out.rle", "--every", "2")
    assert "cannot write out-00000000.rle: it is read, too: --force" in done.err


def test_what_is_gone_on_from_is_no_input(command: Callable[..., Done]) -> None:
    """A semigroup's own file, and a set of moduli that grows."""
    assert command("semigroups", "resume", "in.h5", "-o", "./in.h5", *REFERENCE).code == 0
    assert command("arith", "shared-primes", "in.txt", "--save", "set").code == 0
    Path("new").write_text("221\n")
    grown = command("arith", "shared-primes", "new", "--against", "set", "--save", "set")
    assert grown.code == 0
    again = command("arith", "shared-primes", "new", "--against", "set", "--save", "set", "--json")
    assert (again.code, len(again.facts["findings"])) == (1, 1)


def test_devices_and_standard_output(command: Callable[..., Done]) -> None:
    for name in ("arith eval", "ckyparse convert", "semigroups convert", "rules"):
        line, option, _, _ = OUTPUTS[name]
        assert command(*line, option, os.devnull).code == 0
        assert command(*line, option, "-").code == 0
    assert command(*RUN, "--out", "-").code == 0
