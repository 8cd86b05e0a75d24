"""Universe directories through the commands: run, broken off, and run on."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from lifesim import patterns
from lifesim.cli import streamed
from lifesim.start import place
from lifesim.store import disk
from lifesim.store.universe import Universe
from lifesim.stream.plan import Rates
from tests.commands import refused, spawn
from tests.lifesim.directories import (
    ACORN,
    GLIDER,
    GUN,
    digest_of,
    full_disk,
    needs_extension,
    wait_for_generation,
)

# Moving on


@pytest.mark.sample(3)
@pytest.mark.parametrize("topology", ["torus", "plane"])
@pytest.mark.parametrize("rule", ["B3/S23", "B0123478/S01234678"])
@pytest.mark.parametrize(
    ("size", "tiles"), [("256x192", "4x6"), ("200x130", "2x5"), ("70x999", "1x7")]
)
def test_runs_equal_those_in_memory(lifesim, soup, size, tiles, topology, rule):
    what = ["--topology", topology, "--rule", rule]
    soup("soup", *what, size=size, tiles=tiles)
    done = lifesim("run", "soup", "--steps", 70, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.facts["digest"] == digest_of(lifesim, 70, "--size", size, *what)
    # Phases shorter and longer than tiles, one that is cut short, and no previous files.
    done = lifesim("run", "soup", "--steps", 31, "--phase", 9, "--keep-previous", "--json")
    assert [phase["generations"] for phase in done.facts["phases"]] == [9, 9, 9, 4]
    assert done.facts["digest"] == digest_of(lifesim, 101, "--size", size, *what)
    facts = lifesim("info", "soup", "--json").facts
    assert (facts["generation"], facts["digest"]) == (101, done.facts["digest"])
    assert len(os.listdir("soup/tiles")) == len(np.prod(facts["tiles"]) * [0])
    assert lifesim("verify", "soup").code == 0


@needs_extension
def test_budgets(lifesim, soup):
    wanted = digest_of(lifesim, 40, "--size", 1024)
    for memory in ("170K", "300K", "1M", "100MB", "2G"):
        soup(memory, size="1024", tiles="4x16")
        args = ["--backend", "cpu", "--memory", memory, "--json"]
        done = lifesim("run", memory, "--steps", 40, *args)
        assert done.code == 0, done
        assert done.facts["digest"] == wanted
    soup(size="1024", tiles="4x16")
    done = lifesim("run", "soup", "--steps", 40, "--memory", "20K")
    refused(done, 2, "a window of one sub-universe and 1 generations needs .* may be taken")
    done = lifesim("run", "soup", "--steps", 400, "--memory", "170K", "--phase", 400)
    refused(done, 2, "a window of one sub-universe and 400 generations needs")
    # Neither has taken it anywhere.
    assert digest_of(lifesim, 40, "--size", 1024) == wanted
    assert lifesim("run", "soup", "--steps", 40, "--json").facts["digest"] == wanted


def test_no_block_takes_long(lifesim, soup, monkeypatch):
    """The part that a kill loses is bounded, also where all the universe is one block."""
    monkeypatch.setattr("lifesim.stream.plan._BLOCK_SECONDS", 1e-4)
    monkeypatch.setattr("lifesim.stream.plan._BLOCK_SHARE", 0.0)
    monkeypatch.setattr(
        "lifesim.stream.executor.measure",
        lambda universe, backend: Rates(256 * 192 * 7e5, 1e9, 1e9),
    )
    soup(tiles="1x1")
    done = lifesim("run", "soup", "--steps", 300, "--json")
    assert (done.code, done.err) == (0, "")
    assert [phase["generations"] for phase in done.facts["phases"]] == [60] * 5
    assert done.facts["digest"] == digest_of(lifesim, 300, "--size", "256x192")


def test_facts_and_text(lifesim, soup):
    soup()
    facts = lifesim("run", "soup", "--steps", 12, "--phase", 6, "--json").facts
    assert facts["universe"] == "soup"
    wanted = {"generation": 12, "width": 256, "height": 192, "rule": "B3/S23", "topology": "torus",
              "interrupted": False, "written": [], "errors": []}  # fmt: skip
    assert {key: facts[key] for key in wanted} == wanted
    assert facts["cell_updates_per_second"] > 0
    first, second = facts["phases"]
    assert first["generations"] == second["generations"] == 6
    assert first["tiles_computed"] == 24
    assert first["cell_updates_with_halos"] >= 256 * 192 * 6
    done = lifesim("run", "soup", "--steps", 0)
    assert (done.code, done.err) == (0, "")
    assert f"digest {facts['digest']}" in done.out
    assert "universe soup" in done.out
    assert "goes on" not in done.out


def test_outputs(lifesim, soup):
    soup()
    outs = [f"--out=a.{e}" for e in ("rle", "mc.gz", "png", "gif", "csv")]
    view = ["--region", "16,32,64x48", "--scale", "1:1", "--every", 7]
    assert lifesim("run", "--size", "256x192", "--steps", 20, *outs, *view).code == 0
    in_memory = {name: Path(name).read_bytes() for name in os.listdir() if name != "soup"}
    assert len(in_memory) == 3 * 4 + 2
    for name in in_memory:
        os.unlink(name)
    done = lifesim("run", "soup", "--steps", 20, *outs, *view, "--json")
    assert (done.code, done.err) == (0, "")
    assert sorted(done.facts["written"]) == sorted(in_memory)
    assert {name: Path(name).read_bytes() for name in os.listdir() if name != "soup"} == in_memory


def test_standard_output(lifesim, soup):
    soup()
    done = lifesim("run", "soup", "--steps", 4, "--out", "-")
    Path("a.rle").write_text(done.out)
    assert patterns.read("a.rle").generation == 4
    assert "universe soup" in done.err


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("run soup --steps 5 --size 256", "has its size"),
        ("run soup --steps 5 --rule B3/S23", "has its size, rule"),
        ("run soup --steps 5 --topology torus", "topology"),
        ("run soup --steps 5 --at 1,1", "is a universe"),
        ("run soup --steps 5 --center", "is a universe"),
        ("run soup --steps 5 --seed 3", "a pattern is given"),
        ("run soup --steps 5 --out other", "moves on where it is, not in other"),
        ("run soup --steps 5 --out other/", "moves on where it is"),
        ("run soup --steps 5 --out one --out two", "two --out name directories"),
        ("run soup --steps 5 --device 0,0", "twice"),
        ("run soup --steps 5 --device x", "names no devices"),
        ("run soup --steps 5 --phase 0", "--phase"),
        ("run soup --steps 5 --memory 0", "no amount of memory"),
        ("run soup --steps 5 --memory much", "no amount of memory"),
        ("run soup --steps 5 --every 2", "needs an --out"),
        ("run soup --steps 5 --out a.gif", "needs --every"),
        ("run soup --steps 5 --out a.png --region 999,0,5x5", "outside"),
        ("run --size 64 --steps 5 --phase 2", "for universes on disk"),
        ("run --size 64 --steps 5 --keep-previous", "for universes on disk"),
        ("run --size 1024 --memory 1K --steps 5 --out a.gif", "needs --every"),
        ("run --size 1024 --memory 9K --steps 5 --out a.png --region 9999,0,5x5", "outside"),
        ("run --size 1024 --memory 1K --steps 5 --out a.txt", "must end in"),
        ("run --size 1024 --memory 20 --steps 5", "may be taken"),
        ("run --size 1024 --memory 100K --steps 5 --out nowhere/a", "there is no folder"),
        ("run --size 16M --memory 1M --steps 5", "of disk"),
        ("resume soup --out other", "moves on where it is"),
        ("resume soup --out a.txt", "must end in"),
        ("resume soup --every 2", "needs an --out"),
        ("resume soup --json --out -", "both write"),
        ("resume soup --out a.rle --palette dark", "that is a picture"),
        ("resume soup --out a.rle --out ./a.rle", "the same file"),
        ("resume nothing", "no universe directory of that name"),
        ("resume .", "it has no manifest.json"),
        ("run . --steps 1", "it has no manifest.json"),
        ("info .", "it has no manifest.json"),
        ("verify .", "it has no manifest.json"),
        ("verify nothing", "no universe directory of that name"),
        ("verify soup --samples 0", "--samples"),
        ("convert . a.rle", "it has no manifest.json"),
        ("convert soup soup", "exists and is not empty"),
        ("convert soup other --size 64", "its own size"),
        ("convert soup other --tiles 5x1", "cannot be cut into"),
        ("convert soup a.rle --tiles 1x1", "for directories"),
        ("convert soup a.rle --size 64", "for directories"),
        ("convert soup a.txt", "must end in"),
        ("convert soup nowhere/other", "there is no folder"),
        ("convert GLIDER other --size 2", "3x3 cells"),
        ("render soup --out a.gif", "needs --steps"),
        ("render soup --out a.gif --steps 5", "`lifesim run` moves it on"),
        ("render soup --out a.png --steps 5", "`lifesim run` moves it on"),
        ("render soup --out a.png --region 256,0,1x1", "outside the 256x192"),
        ("render soup --out a.png --scale 1024:1", "too large"),
        ("render soup --out nowhere/a.png", "there is no folder"),
        ("render . --out a.png", "it has no manifest.json"),
    ],
)
def test_usage(lifesim, soup, args, says):
    soup()
    before = lifesim("info", "soup").out
    words = [str(GLIDER) if word == "GLIDER" else word for word in args.split()]
    refused(lifesim(*words), 2, says)
    assert os.listdir() == ["soup"]
    assert lifesim("info", "soup").out == before
    assert lifesim("run", "soup", "--steps", 1).code == 0  # nobody holds it


def test_nothing_to_resume(lifesim, soup):
    soup()
    done = lifesim("resume", "soup", "--out", "a.rle")
    assert (done.code, done.err) == (0, "lifesim: soup: no run was broken off\n")
    assert place(patterns.read("a.rle")).generation == 0
    assert lifesim("resume", "soup", "--quiet").err == ""


# Universes larger than --memory


def test_a_soup_larger_than_memory(lifesim):
    args = ["run", "--size", 1024, "--random", "3/8", "--memory", "450K", "--json"]
    wanted = {n: digest_of(lifesim, n, "--size", 1024, "--random", "3/8") for n in (20, 50)}
    assert os.listdir() == []
    done = lifesim(*args, "--steps", 20, "--out", "a.rle")
    assert (done.code, done.err) == (0, "")
    assert done.facts["digest"] == wanted[20]
    assert sorted(os.listdir()) == ["a.rle", "soup-1024x1024-0.375-1"]
    again = lifesim(*args, "--steps", 20, "--out", "b.rle")
    assert again.err == "lifesim: soup-1024x1024-0.375-1: is at generation 20 already\n"
    assert (again.code, again.facts["phases"]) == (0, [])
    assert again.facts["digest"] == wanted[20]
    assert Path("b.rle").read_bytes() == Path("a.rle").read_bytes()
    more = lifesim(*args, "--steps", 50)
    assert more.err == "lifesim: soup-1024x1024-0.375-1: goes on from generation 20\n"
    assert (more.code, more.facts["digest"]) == (0, wanted[50])
    refused(lifesim(*args, "--steps", 49), 2, "is at generation 50 already, beyond 49")
    into = [*args, "--steps", 60, "--out", "soup-1024x1024-0.375-1"]
    refused(lifesim(*into, "--seed", 2), 2, "holds another universe")
    refused(lifesim(*into, "--rule", "HighLife"), 2, "holds another universe")
    refused(lifesim(*into, "--topology", "plane"), 2, "holds another universe")
    assert lifesim("verify", "soup-1024x1024-0.375-1", "--recompute").code == 0


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("pattern", "args", "steps"),
    [
        (ACORN, ["--size", "1024x700"], 300),
        (ACORN, ["--size", "1024x700", "--topology", "torus"], 300),
        (ACORN, ["--size", "1024", "--topology", "torus", "--at", "-3,-2"], 100),
        (ACORN, ["--size", "1000", "--topology", "torus", "--at", "997,500"], 100),
        (GUN, ["--size", "1024", "--topology", "plane", "--at", "0,0"], 200),
        (GUN, ["--size", "1024", "--center", "--rule", "HighLife"], 50),
    ],
)
def test_a_pattern_larger_than_memory(lifesim, pattern, args, steps):
    run = ["run", pattern, *args, "--steps", steps, "--json", "--quiet"]
    wanted = lifesim(*run).facts
    for out in ([], ["--out", "there"]):
        done = lifesim(*run, "--memory", "300K", *out)
        assert (done.code, done.err) == (0, ""), done
        name = f"{pattern.stem}-{wanted['width']}x{wanted['height']}"
        assert done.facts["universe"] == (out[1] if out else name)
        for key in ("digest", "population", "generation", "topology", "rule", "width"):
            assert done.facts[key] == wanted[key]
    again = lifesim(*run[:-1], "--memory", "300K")
    assert f"is at generation {steps} already" in again.err
    assert again.facts["phases"] == []


def test_another_pattern_of_the_same_name(lifesim):
    args = ["run", "a.rle", "--size", 1024, "--memory", "400K"]
    Path("a.rle").write_bytes(GLIDER.read_bytes())
    assert lifesim(*args, "--steps", 5).code == 0
    Path("a.rle").write_bytes(ACORN.read_bytes())
    refused(lifesim(*args, "--at", "510,510", "--steps", 9), 2, "holds another universe")


def test_a_plane_that_a_pattern_leaves(lifesim):
    args = ["--size", 1024, "--topology", "plane", "--steps", 5, "--memory", "400K"]
    refused(lifesim("run", ACORN, *args, "--at", "-1,0"), 2, "leave the 1024x1024")
    refused(lifesim("run", ACORN, *args, "--at", "1018,0"), 2, "leave the 1024x1024")
    assert os.listdir() == []


def test_a_directory_that_is_in_the_way(lifesim):
    Path("there").mkdir()
    Path("there/a").touch()
    args = ["run", "--size", 1024, "--steps", 5, "--out", "there"]
    refused(lifesim(*args), 2, "exists and is not empty")
    refused(lifesim(*args, "--memory", "400K"), 2, "exists and is not empty")


# Broken off


@needs_extension
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_killed_again_and_again(lifesim, soup, number):
    """The same command in the end gives what an undisturbed run does."""
    steps = 600
    wanted = digest_of(lifesim, steps, "--size", 1024)
    soup(size="1024", tiles="2x8")
    args = ["run", "soup", "--steps", steps, "--phase", 3, "--backend", "cpu", "--json"]
    kills = 0
    for _ in range(4):
        process = spawn(*args)
        try:
            with Universe.open("soup") as universe:
                now = universe.generation
            wait_for_generation("soup", min(now + 3, steps))
            time.sleep(random.uniform(0, 0.2))
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        if process.returncode == 0:
            assert json.loads(out)["digest"] == wanted
            return
        kills += 1
        if number == signal.SIGKILL:
            assert process.returncode == -number
            continue
        assert process.returncode == 130
        assert json.loads(out)["interrupted"]
        assert re.search(
            r"^lifesim: interrupted (at generation \d+|between generations \d+ and \d+): "
            r"`lifesim resume soup` goes on\n$",
            err,
        )
    assert kills
    assert lifesim("verify", "soup").code == 0
    # One goes on with the command, the other with `lifesim resume`.
    shutil.copytree("soup", "copy")
    resumed = lifesim("resume", "copy", "--json")
    again = lifesim("run", "soup", "--steps", steps, "--json")
    for done in (resumed, again):
        assert (done.code, done.err) == (0, "")
        assert (done.facts["generation"], done.facts["digest"]) == (steps, wanted)
    for path in ("soup", "copy"):
        assert len(os.listdir(f"{path}/tiles")) == 16
        assert sorted(os.listdir(path)) == ["lock", "manifest.json", "tiles"]


@needs_extension
def test_a_run_larger_than_memory_that_is_killed(lifesim, tmp_path):
    """It may be killed while its universe is made, too."""
    args = ["run", "--size", 4096, "--memory", "1M", "--backend", "cpu", "--steps", 40]
    args += ["--phase", 2, "--json"]
    wanted = digest_of(lifesim, 40, "--size", 4096)
    for wait in (0.02, 0.3, 0.2):
        process = spawn(*args)
        try:
            for _ in range(1000):
                if os.path.isdir("soup-4096x4096-0.5-1/tiles") or process.poll() is not None:
                    break
                time.sleep(0.01)
            time.sleep(wait)
            process.kill()
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
    done = lifesim(*args)
    assert (done.code, done.facts["digest"]) == (0, wanted)
    assert lifesim("verify", "soup-4096x4096-0.5-1").code == 0


@needs_extension
def test_ctrl_c_twice(lifesim, soup):
    """The blocks under way are given up."""
    soup(size="4096", tiles="1x4")
    args = ["run", "soup", "--steps", 10**6, "--phase", 50000, "--backend", "cpu"]
    process = spawn(*args, "--out", "a.rle")
    try:
        for _ in range(3000):
            if os.path.exists("soup/journal.jsonl"):
                break
            time.sleep(0.01)
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1]
        assert time.monotonic() - began < 20
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert re.fullmatch(
        r"lifesim: interrupted between generations \d+ and \d+: `lifesim resume soup` goes on; "
        r"no a.rle yet\n",
        err,
    )
    assert lifesim("verify", "soup").code == 0


def test_broken_off_with_outputs(lifesim, soup, monkeypatch):
    """Snapshots so far are written; what needs the end is not, and nothing else is said."""
    soup()
    outs = ["--out=a.csv", "--out=a.gif", "--out=a.rle", "--out=a.png", "--every=8"]
    with monkeypatch.context() as patch:
        full_disk(patch, 2 * 24 + 7)
        done = lifesim("run", "soup", "--steps", 64, "--phase", 8, *outs, "--json")
    refused(done, 2, "soup: the disk is full .* go on with `lifesim resume`")
    assert (done.facts["generation"], done.facts["digest"]) == (16, None)
    numbered = [f"a-000000{n}.{e}" for e in ("rle", "png") for n in ("00", "08", "16")]
    assert sorted(done.facts["written"]) == sorted(["a.csv", "a.gif", *numbered])
    assert sorted(os.listdir()) == sorted(["soup", "a.csv", "a.gif", *numbered])
    rows = [line.split(",")[0] for line in Path("a.csv").read_text().split()[1:]]
    assert rows == ["0", "8", "16"]
    # What is taken up again has its snapshots where the whole run has them.
    done = lifesim("resume", "soup", "--out", "b.csv", "--every", 8, "--json")
    assert (done.code, done.err) == (0, "")
    rows = [int(line.split(",")[0]) for line in Path("b.csv").read_text().split()[1:]]
    assert rows == list(range(24, 65, 8))
    assert done.facts["digest"] == digest_of(lifesim, 64, "--size", "256x192")


@pytest.mark.parametrize("by", ["run", "resume"])
def test_snapshots_of_a_run_that_is_taken_up_again(lifesim, soup, by):
    """The generation where it stopped is none, unless it is one of those of the whole run."""
    lifesim("run", "--size", "256x192", "--steps", 60, "--every", 12, "--out", "whole.csv")
    soup()
    with Universe.open("soup", writing=True) as universe:
        universe.set_run((0, 60))
    # As if it had been broken off at 7 of 60.
    with Universe.open("soup", writing=True) as universe:
        from kernels.targets.choose import pick
        from lifesim.stream.run import StreamedLife

        StreamedLife(universe, [pick("auto")]).run(7)
        universe.set_run((0, 60))
    args = ["--every", 12, "--out", "rest.csv"]
    if by == "run":
        assert lifesim("run", "soup", "--steps", 60, *args).code == 0
    else:
        assert lifesim("resume", "soup", *args).code == 0
    whole, rest = (Path(f"{name}.csv").read_text().split() for name in ("whole", "rest"))
    assert rest == [whole[0], *whole[2:]]


def test_a_run_on_the_way_beyond(lifesim, broken_off):
    broken_off()
    refused(lifesim("run", "soup", "--steps", 7), 2, "to generation 16, beyond 15: `lifesim resume")
    done = lifesim("run", "soup", "--steps", 8, "--json")  # just as far
    assert (done.code, done.facts["generation"]) == (0, 16)
    assert done.facts["digest"] == digest_of(lifesim, 16, "--size", "256x192")
    assert lifesim("resume", "soup").err == "lifesim: soup: no run was broken off\n"


@pytest.mark.sample(1)
@pytest.mark.parametrize("keep", [[], ["--keep-previous"]])
def test_a_full_disk(lifesim, soup, monkeypatch, keep):
    """There is one line wherever it fills up, and it goes on when there is room again."""
    real = disk.write
    soup()
    steps = 0
    for writes in (0, 1, 7, 40):
        left = [writes]

        def write(fd: int, data: object, offset: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            real(fd, data, offset)

        steps += 16
        with monkeypatch.context() as patch:
            patch.setattr(disk, "write", write)
            done = lifesim("run", "soup", "--steps", 16, "--phase", 8, *keep, "--json")
        refused(done, 2, r"^lifesim: soup: the disk is full \([\d,]+ MB free\): make room")
        assert not [name for name in os.listdir("soup/tiles") if name.endswith(".tmp")]
        assert lifesim("verify", "soup").code == 0
        done = lifesim("resume", "soup", "--json")
        assert (done.code, done.err) == (0, "")
        assert done.facts["generation"] == steps
        assert done.facts["digest"] == digest_of(lifesim, steps, "--size", "256x192")


def test_no_room_for_a_phase(lifesim, soup, monkeypatch):
    soup()
    monkeypatch.setattr(disk, "free_bytes", lambda folder: 1000)
    refused(lifesim("run", "soup", "--steps", 5), 2, "the disk is too full")
    refused(lifesim("random", "--size", 1024, "--out", "other"), 2, "of disk")
    refused(lifesim("convert", "soup", "other"), 2, "of disk")
    refused(lifesim("run", "--size", 256, "--steps", 5, "--out", "other"), 2, "of disk")
    assert os.listdir() == ["soup"]


def test_memory_of_a_command_counts_what_it_has_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "resident_memory", lambda: 100)
    assert [streamed.left_for_windows(n) for n in (399, 400, 1000)] == [399, 300, 900]
