"""`lifesim patterns`, and names of patterns in the other commands."""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from lifesim.cli import group
from lifesim.library import KINDS, PatternLibrary


def named(name: str) -> str:
    found = PatternLibrary.of_ours().find(name)
    assert found is not None
    return found.path


def test_the_list(lifesim):
    done = lifesim("patterns")
    rows = done.out.splitlines()
    assert rows[0].split() == [
        "name",
        "kind",
        "size",
        "period",
        "speed",
        "discovered",
        "by",
        "rule",
    ]
    assert len(rows) - 1 == len(list(PatternLibrary.of_ours()))
    assert done.err == f"{len(rows) - 1} patterns; `lifesim patterns NAME` says all about one\n"
    assert not any(character in done.out for character in "\x1b…")


@pytest.mark.parametrize("words", [(), ("--kind", "gun"), ("--search", "p30 gun")])
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_has_a_line_for_each(words: tuple[str, ...], columns: int) -> None:
    """However narrow it is, no line is wider, and each has a name that can be typed."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "lifesim", "patterns", *words]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, text=True) as process:
        os.close(theirs)
        said = b""
        with suppress(OSError):  # which is how a terminal ends
            while piece := os.read(ours, 1 << 16):
                said += piece
        os.close(ours)
        assert process.stderr is not None
        notes = process.stderr.read()
    lines = re.sub("\x1b\\[[0-9;]*m", "", said.decode()).splitlines()
    kind = words[1] if words[:1] == ("--kind",) else None
    found = PatternLibrary.of_ours().search(words[1] if words and not kind else "", kind=kind)
    assert [line.split()[0] for line in lines] == ["name", *(entry.name for entry in found)]
    assert max(map(len, lines)) <= columns
    assert ("discovered by" in lines[0]) == (columns == 200 or (columns == 80 and bool(words)))
    assert ("a wider terminal shows" in notes) == ("discovered by" not in lines[0])


def test_what_is_looked_for(lifesim):
    found = lifesim("patterns", "c/7", "--kind", "spaceship", "--json").facts
    assert {entry["name"] for entry in found} == {"loafer", "lobster", "weekender"}
    assert found == lifesim("patterns", "--search", "c/7", "--kind", "spaceship", "--json").facts
    assert set(found[0]) == {
        "name", "title", "kind", "rule", "path", "discoverer", "year", "width", "height", "period",
        "speed", "lifespan", "about", "others",
    }  # fmt: skip
    [one] = lifesim("patterns", "bosco", "--rule", "Bosco", "--json").facts
    assert one["name"] == "bosco"
    for kind in KINDS:
        assert lifesim("patterns", "--kind", kind, "--json").facts


def test_all_about_one(lifesim):
    done = lifesim("patterns", "Glider")
    about, picture = done.out.rsplit("\n\n", 1)
    assert picture == ".O.\n..O\nOOO\n"
    assert "speed      c/4 diagonal\n" in about
    assert f"file       {named('glider')}\n" in about
    assert "discovered Richard K. Guy, 1969\n" in about
    [facts] = lifesim("patterns", "glider", "--json").facts
    assert (facts["name"], facts["population"], facts["period"]) == ("glider", 5, 4)
    assert len(lifesim("patterns", "--search", "glider", "--json").facts) > 5


def test_what_there_is_not(lifesim):
    done = lifesim("patterns", "gosper-gnu")
    assert done.code == 2
    assert done.err.startswith(
        "lifesim: there is no pattern with 'gosper-gnu' in it: is gosper-gun "
    )
    assert lifesim("patterns", "gosper-gnu", "--json").facts == []
    assert lifesim("patterns", "glider", "--search", "gun").code == 2
    assert lifesim("patterns", "--rule", "B3/S29").code == 2
    assert lifesim("patterns", "--kind", "cannon").code == 2
    assert lifesim("patterns", "--folder", "missing").code == 2


def test_a_folder_of_ones_own(lifesim):
    Path("mine/deep").mkdir(parents=True)
    Path("mine/deep/a\x1b[31m.rle").write_text("#N Red\n#C Kind: gun\nx = 3, y = 1\n3o!\n")
    os.symlink("/etc/passwd", "mine/b.rle")
    done = lifesim("patterns", "--folder", "mine")
    assert done.code == 0
    Path("none").mkdir()
    assert lifesim("patterns", "--folder", "none").err == "lifesim: there is no pattern in none\n"
    assert "deep/a\N{REPLACEMENT CHARACTER}[31m  gun    3x1" in done.out
    assert "b.rle is a link out of the folder" in done.err
    assert "\x1b" not in done.out + done.err
    assert lifesim("patterns", "--folder", "mine", "red").out.endswith("\n\nOOO\n")
    [facts] = lifesim("patterns", "--folder", "mine", "--json").facts
    assert facts["title"] == "Red"


def test_names_stand_for_files(lifesim):
    run = lifesim("run", "gosper-gun", "--steps", 60, "--json")
    assert (run.facts["pattern"], run.facts["population"]) == (named("gosper-gun"), 46)
    assert lifesim("run", "--size", 8, "--steps", 1, "--json").facts["pattern"] is None
    assert lifesim("info", "Gosper glider gun", "--json").facts["file"] == named("gosper-gun")
    assert lifesim("convert", "glider", "-", "--format", "cells").out.endswith(".O.\n..O\nOOO\n")
    assert lifesim("render", "galaxy", "--out", "galaxy.png").code == 0
    assert Path("galaxy.png").stat().st_size > 0


def test_what_is_in_the_folder_wins(lifesim):
    Path("glider").write_text("x = 3, y = 1\n3o!\n")
    facts = lifesim("info", "glider", "--json").facts
    assert (facts["file"], facts["population"]) == ("glider", 3)


@pytest.mark.parametrize("command", ["run --steps 1", "info", "render --out a.png", "convert"])
def test_unknown_names(lifesim, command):
    words = command.split()
    out = ["b.rle"] if command == "convert" else []
    done = lifesim(*words, "gosper-gnu", *out)
    assert done.code == 2
    said = "lifesim: cannot read gosper-gnu: No such file or directory; is gosper-gun meant?\n"
    assert done.err == said


def test_names_that_are_meant_are_not_those_that_filters_leave_out(lifesim):
    assert lifesim("patterns", "copprehead").err.endswith(": is copperhead meant?\n")
    for more in ["--kind", "gun"], ["--rule", "B36/S23"]:
        done = lifesim("patterns", "copperhead", *more)
        assert done.code == 2
        assert done.err.endswith("with 'copperhead' in it\n")


def test_our_files_are_not_written_over(lifesim):
    done = lifesim("convert", "glider", named("glider"))
    assert done.code == 2
    assert "is read by the same command" in done.err or "cannot write" in done.err


def test_a_shell_completes_names():
    asked = {
        "_LIFESIM_COMPLETE": "bash_complete",
        "COMP_WORDS": "lifesim info gosper-g",
        "COMP_CWORD": "2",
    }
    done = CliRunner().invoke(group, env=asked, prog_name="lifesim")
    assert "plain,gosper-gun" in done.output.splitlines()


def test_json_is_one_line(lifesim):
    out = lifesim("patterns", "--json").out
    assert out.count("\n") == 1
    assert json.loads(out)
