"""The commands on universe directories: made, moved on, broken off, looked at, damaged."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from kernels import cpu
from lifesim import patterns
from lifesim.start import place
from lifesim.store import disk
from lifesim.store.sealed import seal, unseal
from lifesim.store.tilejob import TileJob
from lifesim.store.universe import Universe
from lifesim.store.workers import Workers
from lifesim.stream.plan import Rates
from tests.commands import Done, refused, spawn

DATA = Path(__file__).parents[2] / "data" / "patterns"
ACORN, GUN, GLIDER = (DATA / f"{name}.rle" for name in ("acorn", "gosper-gun", "glider"))

needs_extension = pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")


@pytest.fixture
def soup(lifesim):
    """Makes a universe directory from a soup: 256x192 cells in 4x6 tiles unless told."""

    def make(path: str = "soup", *args: object, size: str = "256x192", tiles: str = "4x6") -> str:
        done = lifesim("random", "--size", size, "--out", path, "--tiles", tiles, *args)
        assert done == (0, "", ""), done
        return path

    return make


@pytest.fixture
def broken_off(lifesim, soup, monkeypatch):
    """Makes a universe that stopped on its way from generation 8 to 16 of a run of 100."""

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


def full_disk(patch: pytest.MonkeyPatch, files: int) -> None:
    """The disk has room for so many more files of tiles."""
    left = [files]
    real = disk.replace

    def refuse(source: str, target: str) -> None:
        if target.endswith(".h5"):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    patch.setattr(disk, "replace", refuse)


def digest_of(lifesim, steps: int, *args: object) -> str:
    done = lifesim("run", "--steps", steps, "--json", *args)
    assert done.code == 0, done
    return done.facts["digest"]


def tile_file(path: str, tile: int = 0) -> Path:
    with Universe.open(path) as universe:
        return Path(universe.tiles_folder) / universe.record(tile).file


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 16
    path.write_bytes(data)


def dataset_start(path: Path, name: str) -> int:
    with h5py.File(path) as file:
        return file[name].id.get_offset()


def pixels(path: str) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image).astype(int)


# Making


@pytest.mark.parametrize(
    "args",
    [[], ["--tiles", "3x5"], ["--compression", "zstd"], ["--no-pyramid"],
     ["--tiles", "4x2", "--compression", "zstd", "--no-pyramid"]],
)  # fmt: skip
@pytest.mark.parametrize("size", ["200x150", "256x192"])
def test_a_soup_on_disk_is_the_soup_in_memory(lifesim, args, size):
    what = ["--size", size, "--seed", 5, "--topology", "plane", "--rule", "HighLife"]
    assert lifesim("random", *what, "--density", "3/8", "--out", "soup", *args) == (0, "", "")
    facts = lifesim("info", "soup", "--json").facts
    assert facts["digest"] == digest_of(lifesim, 0, *what, "--random", "3/8")
    assert (facts["rule"], facts["topology"]) == ("B36/S23", "plane")
    assert facts["compression"] == ("zstd" if "zstd" in args else "none")
    if args != ["--tiles", "3x5"]:  # of which no levels nest
        assert (facts["pyramid"] is None) == ("--no-pyramid" in args)
    if "--tiles" in args:
        assert facts["tiles"] == [int(n) for n in args[1].split("x")]
    assert lifesim("verify", "soup").code == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("--size 64 --out there", "the directory exists and is not empty"),
        ("--size 64 --out there/", "the directory exists and is not empty"),
        ("--size 64 --out file", "there is a file of that name"),
        ("--size 64 --out file/soup", "there is no folder"),
        ("--size 64 --out nowhere/soup", "there is no folder"),
        ("--size 16M --out huge", "of disk, .* are free"),
        ("--size 64 --tiles 2x1 --out soup", "cannot be cut into 2x1"),
        ("--size 64 --tiles 1x65 --out soup", "cannot be cut into 1x65"),
        ("--size 64M --tiles 9999x9999 --compression zstd --out soup", "too many"),
        ("--size 64 --tiles 0x1 --out soup", "no number of sub-universes"),
        ("--size 64 --compression lzma --out soup", "--compression"),
        ("--size 64 --tiles 1x1 --out a.rle", "are for directories"),
        ("--size 64 --no-pyramid --out a.rle", "are for directories"),
    ],
)
def test_directories_that_cannot_be_made(lifesim, args, says):
    Path("file").touch()
    Path("there").mkdir()
    Path("there/a").touch()
    refused(lifesim("random", *args.split()), 2, says)
    assert sorted(os.listdir()) == ["file", "there"]


@pytest.mark.parametrize("name", ["soup/", "./soup", "soup-0.5-1", ".soup"])
def test_names_of_directories(lifesim, name):
    assert lifesim("random", "--size", 64, "--out", name).code == 0
    assert lifesim("info", name).code == 0
    assert lifesim("run", name, "--steps", 3).code == 0


def test_an_empty_directory_will_do(lifesim):
    Path("soup").mkdir()
    assert lifesim("random", "--size", 64, "--out", "soup").code == 0


def test_ctrl_c_while_a_universe_is_made(lifesim, monkeypatch):
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lifesim.soup.Soup.fill", interrupt)
    for command in ("random --size 99 --out soup", "run --size 999 --memory 300K --steps 3"):
        assert lifesim(*command.split()) == (130, "", "lifesim: interrupted\n")
        assert os.listdir() == []


def test_what_a_killed_making_left_is_no_hindrance(lifesim, soup):
    soup()
    os.unlink("soup/manifest.json")
    refused(lifesim("info", "soup"), 2, "it has no manifest.json")
    refused(lifesim("resume", "soup"), 2, "it has no manifest.json")
    soup()
    assert lifesim("verify", "soup").code == 0


# Moving on


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
    """What a kill loses is bounded, also where all the universe is one block."""
    monkeypatch.setattr("lifesim.stream.run._BLOCK_SECONDS", 1e-4)
    monkeypatch.setattr("lifesim.stream.run._BLOCK_SHARE", 0.0)
    monkeypatch.setattr(
        "lifesim.stream.run.measure", lambda universe, backend: Rates(256 * 192 * 7e5, 1e9, 1e9)
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
        ("run soup --steps 5 --device 0,1 --backend reference", "GPUs, but reference"),
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
        ("run --size 64 --steps 5 --device 0,1", "for universes on disk"),
        ("run --size 1024 --memory 1K --steps 5 --device 0,1 --backend reference", "GPUs, but"),
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
    assert place(patterns.read("a.rle"), 0).generation == 0
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


@pytest.mark.parametrize(
    ("pattern", "args", "steps"),
    [
        (ACORN, ["--size", "1024x700"], 300),
        (ACORN, ["--size", "1024x700", "--topology", "plane"], 300),
        (ACORN, ["--size", "1024", "--at", "-3,-2"], 100),
        (ACORN, ["--size", "1000", "--at", "997,500"], 100),
        (GUN, ["--size", "1024", "--topology", "plane", "--at", "0,0"], 200),
        (GUN, ["--size", "1024", "--center", "--rule", "HighLife"], 50),
        (GLIDER, [], 700),
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


# Patterns and directories


def test_a_run_in_memory_into_a_directory(lifesim):
    done = lifesim("run", "--size", 200, "--steps", 30, "--out", "end", "--out", "a.rle", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.facts["written"] == ["end", "a.rle"]
    facts = lifesim("info", "end", "--json").facts
    assert (facts["generation"], facts["digest"]) == (30, done.facts["digest"])
    # It says what it began as.
    checked = lifesim("verify", "end", "--recompute", "--json")
    assert checked.facts["notes"] == ["4 samples made again over 30 generations"]
    more = lifesim("run", "end", "--steps", 20, "--json")
    assert more.facts["digest"] == digest_of(lifesim, 50, "--size", 200)
    assert lifesim("run", GUN, "--steps", 30, "--out", "gun", "--every", 10).code == 0
    assert lifesim("info", "gun", "--json").facts["population"] == 41


@pytest.mark.parametrize("name", sorted(p.name for p in DATA.iterdir() if p.suffix != ".md"))
def test_patterns_come_back_from_directories(lifesim, name):
    cells = lifesim("info", DATA / name, "--json").facts
    assert lifesim("convert", DATA / name, "there") == (0, "", "")
    assert lifesim("convert", "there", "back.rle") == (0, "", "")
    back = lifesim("info", "back.rle", "--json").facts
    for key in ("population", "width", "height", "digest"):
        assert back[key] == cells[key]


@pytest.mark.parametrize("topology", ["torus", "plane"])
@pytest.mark.parametrize("extension", ["rle", "mc", "rle.gz"])
def test_convert_keeps_everything(lifesim, soup, topology, extension):
    soup("soup", "--topology", topology, "--rule", "HighLife", size="250x190")
    assert lifesim("run", "soup", "--steps", 33).code == 0
    assert lifesim("convert", "soup", f"a.{extension}") == (0, "", "")
    assert lifesim("convert", f"a.{extension}", "again", "--tiles", "2x3") == (0, "", "")
    before, after = (lifesim("info", name, "--json").facts for name in ("soup", "again"))
    for key in ("digest", "generation", "rule", "topology", "width", "height", "population"):
        assert after[key] == before[key]
    assert after["tiles"] == [2, 3]
    with Universe.open("soup") as universe:
        assert place(patterns.read(f"a.{extension}"), 0).grid == universe.grid()


def test_convert_to_standard_output(lifesim, soup):
    soup()
    done = lifesim("convert", "soup", "-")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("#CXRLE")


def test_a_pattern_in_a_larger_directory(lifesim):
    assert lifesim("convert", GLIDER, "there", "--size", "300x200", "--no-pyramid").code == 0
    facts = lifesim("info", "there", "--json").facts
    assert (facts["width"], facts["height"], facts["population"]) == (300, 200, 5)
    run = ["--steps", 40, "--json"]
    wanted = lifesim("run", GLIDER, "--size", "300x200", *run).facts
    assert lifesim("run", "there", *run).facts["digest"] == wanted["digest"]


def test_convert_from_directory_to_directory(lifesim, soup):
    soup(size="1000x300", tiles="5x3")
    lifesim("run", "soup", "--steps", 9)
    wanted = lifesim("info", "soup", "--json").facts
    cuts = [["--tiles", "1x1"], ["--tiles", "7x9", "--compression", "zstd"], ["--no-pyramid"]]
    for number, args in enumerate(cuts):
        assert lifesim("convert", "soup", f"other{number}", *args) == (0, "", "")
        facts = lifesim("info", f"other{number}", "--json").facts
        for key in ("digest", "generation", "rule", "topology", "population", "origin"):
            assert facts[key] == wanted[key]
        assert facts["id"] != wanted["id"]
        assert lifesim("verify", f"other{number}", "--recompute").code == 0
    assert lifesim("info", "soup", "--json").facts == wanted


def test_convert_what_memory_does_not_hold(lifesim, soup, monkeypatch):
    soup()
    monkeypatch.setattr("lifesim.grid.available_memory", lambda: 4000)
    refused(lifesim("convert", "soup", "a.rle"), 2, "memory")
    assert os.listdir() == ["soup"]


def test_convert_between_two_generations(lifesim, broken_off):
    broken_off()
    for target in ("a.rle", "other"):
        refused(lifesim("convert", "soup", target), 2, "from generation 8 to 16: `lifesim resume")
    assert os.listdir() == ["soup"]


# Looking


def test_info(lifesim, soup):
    soup("soup", "--compression", "zstd")
    facts = lifesim("info", "soup", "--json").facts
    wanted = {
        "universe": "soup", "width": 256, "height": 192, "rule": "B3/S23", "topology": "torus",
        "origin": "soup of density 1/2, seed 1", "generation": 0, "tiles": [4, 6],
        "compression": "zstd", "pyramid": [3, 5], "run": None, "phase": None,
    }  # fmt: skip
    assert {key: facts[key] for key in wanted} == wanted
    assert facts["bytes"] == sum(path.stat().st_size for path in Path("soup/tiles").iterdir())
    done = lifesim("info", "soup")
    assert (done.code, done.err) == (0, "")
    for text in ("torus 256x192", facts["digest"], f"{facts['population']:,}", "4x6", "zstd"):
        assert text in done.out
    assert "phase" not in done.out


def test_info_between_two_generations(lifesim, broken_off):
    broken_off()
    facts = lifesim("info", "soup", "--json").facts
    assert (facts["generation"], facts["population"], facts["digest"]) == (8, None, None)
    assert facts["run"] == [8, 108]
    assert (facts["phase"]["from"], facts["phase"]["to"]) == (8, 16)
    assert 0 < facts["phase"]["tiles_done"] < 24
    done = lifesim("info", "soup")
    assert re.search("run +to generation 108: `lifesim resume` ends it", done.out)
    assert re.search(r"phase +to generation 16, \d+ of 24 sub-universes to go", done.out)
    assert "population" not in done.out


def test_a_previous_generation_that_is_kept(lifesim, broken_off):
    """Its facts and cells are there, whatever is on the way."""
    broken_off("--keep-previous")
    facts = lifesim("info", "soup", "--json").facts
    assert (facts["generation"], facts["phase"]["to"]) == (8, 16)
    assert facts["digest"] == digest_of(lifesim, 8, "--size", "256x192")
    assert lifesim("convert", "soup", "a.rle") == (0, "", "")
    assert place(patterns.read("a.rle"), 0).generation == 8
    assert lifesim("render", "soup", "--out", "a.png") == (0, "", "")
    assert lifesim("verify", "soup", "--recompute").code == 0
    assert lifesim("resume", "soup").code == 0


REGIONS = ["all", "0,0,128x96", "64,32,512x512", "-64,-128,256x320", "192,128,5000x300",
           "128,320,64x64", "-512,-512,1024x1024"]  # fmt: skip


def whole_pixels(region: str, size: str, k: int) -> bool:
    """Whether every pixel at level k of a pyramid is all inside the region, or all outside."""
    if region == "all" or k < 3:
        return True
    x, y, width, height = (int(n) for n in re.split("[,x]", region))
    right, bottom = (int(n) for n in size.split("x"))
    edges = x, y, min(x + width, right), min(y + height, bottom)
    return not any(edge % (1 << k) for edge in edges)


@pytest.mark.parametrize(("size", "topology"), [("500x390", "torus"), ("512x448", "plane")])
@pytest.mark.parametrize(
    ("tiles", "more"),
    [("3x5", []), ("1x1", ["--compression", "zstd"]), ("3x5", ["--no-pyramid"])],
)
def test_render_draws_what_memory_draws(lifesim, soup, tiles, more, size, topology):
    soup("soup", "--topology", topology, *more, size=size, tiles=tiles)
    assert lifesim("run", "soup", "--steps", 60).code == 0
    assert lifesim("convert", "soup", "soup.rle").code == 0
    with Universe.open("soup") as universe:
        top = universe.manifest.form.top or 99
    for scale in ("4:1", "1:1", "1:2", "1:4", "1:8", "1:16", "1:32", "1:64", "1:512", "1:4096"):
        k = int(scale.partition(":")[2]).bit_length() - 1
        for region in [region for region in REGIONS if whole_pixels(region, size, k)]:
            view = ["--scale", scale, *([] if region == "all" else [f"--region={region}"])]
            for source in ("soup", "soup.rle"):
                done = lifesim("render", source, "--out", f"{source}.png", *view)
                assert (done.code, done.err) == (0, "")
            ours, theirs = pixels("soup.png"), pixels("soup.rle.png")
            assert ours.shape == theirs.shape
            assert np.abs(ours - theirs).max() <= (k > top), (scale, region)


def test_render_of_a_corner_that_is_not_aligned(lifesim, soup):
    soup()
    for region in ("3,5,100x100", "-3,-5,40x40", "250,190,40x40"):
        for scale in ("1:8", "1:16", "1:256"):
            args = ["--region", region, "--scale", scale, "--out", "a.png"]
            assert lifesim("render", "soup", *args) == (0, "", "")


def test_render_between_two_generations(lifesim, broken_off):
    broken_off()
    for scale in ("1:1", "1:8", "1:128"):
        done = lifesim("render", "soup", "--out", "a.png", "--scale", scale)
        assert (done.code, done.out) == (0, "")
        assert done.err == "lifesim: soup: between two generations; some parts are newer\n"


@needs_extension
def test_looking_at_a_universe_that_is_being_run(lifesim, soup):
    soup(size="1024", tiles="2x4")
    process = spawn("run", "soup", "--steps", 10**6, "--phase", 2, "--backend", "cpu")
    try:
        wait_for_generation("soup", 2)
        refused(lifesim("run", "soup", "--steps", 1), 2, f"in use by process {process.pid} on")
        refused(lifesim("resume", "soup"), 2, "in use by process")
        refused(lifesim("verify", "soup"), 2, "in use by process")
        refused(lifesim("convert", "soup", "a.rle"), 2, "in use by process")
        seen = set()
        for i in range(60):
            done = lifesim("info", "soup", "--json")
            assert (done.code, done.err) == (0, "")
            seen.add(done.facts["generation"])
            scale = ("1:1", "1:8", "1:16", "1:1024")[i % 4]
            done = lifesim("render", "soup", "--out", "a.png", "--scale", scale)
            assert done.code == 0, done
        assert len(seen) > 2
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert err.startswith("lifesim: interrupted ")
    assert lifesim("verify", "soup").code == 0


def test_whoever_only_looks_is_not_taken_for_the_last_one_who_wrote(lifesim, soup):
    soup()
    assert lifesim("run", "soup", "--steps", 1).code == 0
    with Universe.open("soup", still=True):
        assert lifesim("verify", "soup").code == 0
        refused(lifesim("run", "soup", "--steps", 1), 2, "in use by another process")
    with Universe.open("soup", writing=True):
        refused(lifesim("verify", "soup"), 2, f"in use by process {os.getpid()} on")


# Broken off


def wait_for_generation(path: str, generation: int) -> None:
    for _ in range(3000):
        with Universe.open(path) as universe:
            if universe.generation >= generation:
                return
        time.sleep(0.01)
    pytest.fail(f"{path} did not move on")


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
    """Also while its universe is made."""
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
    """Where it stopped is none, unless it is one of those of the whole run."""
    lifesim("run", "--size", "256x192", "--steps", 60, "--every", 12, "--out", "whole.csv")
    soup()
    with Universe.open("soup", writing=True) as universe:
        universe.set_run((0, 60))
    # As if it had been broken off at 7 of 60.
    with Universe.open("soup", writing=True) as universe:
        from kernels.choose import pick
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


@pytest.mark.parametrize("keep", [[], ["--keep-previous"]])
def test_a_full_disk(lifesim, soup, monkeypatch, keep):
    """Wherever it fills up: one line, and it goes on when there is room again."""
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


# Damage


def damaged(path: str, how: str) -> Path:
    """Damages a universe; the file that is to be named."""
    if how == "manifest":
        flip(Path(path, "manifest.json"), 200)
        return Path(path, "manifest.json")
    file = tile_file(path, 5)
    if how == "missing":
        file.unlink()
    elif how == "foreign":
        file.write_bytes(b"x" * file.stat().st_size)
    elif how == "truncated":
        os.truncate(file, file.stat().st_size // 2)
    elif how == "empty":
        os.truncate(file, 0)
    elif how == "longer":
        os.truncate(file, file.stat().st_size + 1)
    elif how == "swapped":
        other = tile_file(path, 6)
        other.rename("x")
        file.rename(other)
        Path("x").rename(file)
    elif how == "folder":
        file.unlink()
        file.mkdir()
    elif how == "pipe":
        file.unlink()
        os.mkfifo(file)
    elif how == "link":
        file.unlink()
        file.symlink_to("nowhere")
    else:
        flip(file, dataset_start(file, how) + 9)
    return file


HOWS = ["missing", "foreign", "truncated", "empty", "longer", "swapped", "folder", "pipe", "link",
        "cells", "chunks", "manifest"]  # fmt: skip


@pytest.mark.parametrize("how", HOWS)
def test_damage_ends_a_run(lifesim, soup, how):
    """Before it writes anything that is made of it."""
    soup()
    file = damaged("soup", how)
    for args in (["run", "soup", "--steps", 3], ["run", "soup", "--steps", 3]):
        done = lifesim(*args)
        refused(done, 4, str(file) if how != "swapped" else "0001-000[12]")
    refused(lifesim("resume", "soup"), 4, "") if how in ("missing", "manifest") else None


@pytest.mark.parametrize("how", [*HOWS, "s3", "s5", "header"])
def test_verify_names_what_is_damaged(lifesim, soup, how):
    soup()
    if how == "header":
        file = tile_file("soup", 5)
        flip(file, 40)
    else:
        file = damaged("soup", how)
    done = lifesim("verify", "soup", "--json")
    assert done.code == 4
    if how == "swapped":
        assert len(done.err.splitlines()) == len(done.facts["damaged"]) == 2
        return
    refused(done, 4, str(file))
    if how != "manifest":
        assert len(done.facts["damaged"]) == 1
        refused(lifesim("verify", "soup", "--recompute"), 4, str(file))


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_every_part_of_a_file_is_verified(lifesim, soup, compression):
    soup("soup", "--compression", compression, size="64x40", tiles="1x1")
    file = tile_file("soup")
    good = file.read_bytes()
    for at in random.Random(1).sample(range(len(good)), 40):
        flip(file, at)
        refused(lifesim("verify", "soup"), 4, str(file))
        file.write_bytes(good)
    assert lifesim("verify", "soup").code == 0


def test_verify(lifesim, soup):
    soup()
    done = lifesim("verify", "soup")
    assert (done.code, done.err) == (0, "")
    assert "24 files" in done.out
    assert "all is as it was written" in done.out
    facts = lifesim("verify", "soup", "--json").facts
    assert (facts["files"], facts["damaged"], facts["notes"]) == (24, [], [])
    assert facts["bytes"] == sum(path.stat().st_size for path in Path("soup/tiles").iterdir())


def test_several_damaged_files_are_all_named(lifesim, soup):
    soup()
    for tile in (3, 9):
        flip(tile_file("soup", tile), 5000)
    done = lifesim("verify", "soup", "--json")
    assert done.code == 4
    assert len(done.facts["damaged"]) == len(done.err.splitlines()) == 2


def test_verify_between_two_generations(lifesim, broken_off):
    broken_off()
    done = lifesim("verify", "soup", "--recompute", "--json")
    assert (done.code, done.err) == (0, "")
    assert "`lifesim resume` takes it there" in done.facts["notes"][0]
    assert "between two generations" in lifesim("verify", "soup").out
    with Universe.open("soup") as universe:
        assert universe.phase
        tile = next(tile for tile, record in universe.phase.done.items() if record)
        new = Path(universe.tiles_folder, universe.record(tile, newest=True).file)
        todo = next(tile for tile in range(24) if tile not in universe.phase.done)
        old = Path(universe.tiles_folder, universe.record(todo).file)
    for file in (new, old):
        flip(file, 5000)
        refused(lifesim("verify", "soup"), 4, str(file))
        flip(file, 5000)
    assert lifesim("verify", "soup").code == 0
    old.unlink()
    refused(lifesim("verify", "soup"), 4, str(old))
    refused(lifesim("resume", "soup"), 4, str(old))


def test_recompute(lifesim, soup):
    soup("soup", "--topology", "plane", "--density", "0.37", size="300x200", tiles="2x3")
    lifesim("run", "soup", "--steps", 40)
    done = lifesim("verify", "soup", "--recompute", "--samples", 6, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.facts["notes"] == ["6 samples made again over 40 generations"]
    lifesim("convert", GUN, "gun")
    done = lifesim("verify", "gun", "--recompute")
    assert (done.code, done.err) == (0, "")
    assert "it does not say that it began as a soup (gosper-gun.rle at" in done.out


def forged(path: str, *, population: int = 0, cell: bool = True) -> None:
    """Change a cell of tile 0, or what is kept of it, and make all checksums right again."""
    with Universe.open(path, writing=True) as universe, Workers(2) as workers:
        box, form = universe.tiling.box(0), universe.manifest.form
        grid = universe.region(box)
        if cell:
            grid.words[3, 0] ^= np.uint64(1 << 7)

        def fetch(y: int, words: np.ndarray) -> None:
            words[:] = grid.words[y : y + len(words)]

        write = partial(universe.writer, 0, universe.generation)
        record = TileJob(write, box, form, fetch, workers).finish()
        assert record
        record = replace(record, population=record.population + population)
        tiles = (record, *universe.manifest.tiles[1:])
        universe.write_manifest(replace(universe.manifest, tiles=tiles))


def test_recompute_finds_cells_that_are_not_the_soup_s(lifesim, soup):
    soup(size="64x64", tiles="1x1")
    lifesim("run", "soup", "--steps", 10)
    forged("soup")
    assert lifesim("verify", "soup").code == 0
    done = lifesim("verify", "soup", "--recompute", "--samples", 1)
    refused(done, 4, r"the 64x64 cells at \(0, 0\) are not what the soup becomes in 10 gen")


def test_recompute_finds_facts_that_are_not_the_cells(lifesim, soup):
    soup()
    forged("soup", population=1, cell=False)
    assert lifesim("verify", "soup").code == 0
    done = lifesim("verify", "soup", "--recompute")
    refused(done, 4, "0000-0000.0.h5: its cells have another population or digest")


def test_a_newer_version(lifesim, soup):
    soup()
    path = Path("soup/manifest.json")
    facts = unseal(path.read_bytes())
    assert facts
    path.write_bytes(seal({**facts, "version": 2}))
    for args in ("run soup --steps 1", "info soup", "verify soup", "resume soup",
                 "render soup --out a.png", "convert soup a.rle"):  # fmt: skip
        refused(lifesim(*args.split()), 2, "version 2 is newer than this program")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_only_be_read(lifesim, soup):
    soup()
    for path in ("soup/tiles", "soup"):
        os.chmod(path, 0o500)
    try:
        refused(lifesim("run", "soup", "--steps", 3), 2, "soup.*Permission denied")
        for args in ("info soup", "verify soup", "convert soup a.rle", "render soup --out a.png"):
            assert lifesim(*args.split()).code == 0
    finally:
        for path in ("soup", "soup/tiles"):
            os.chmod(path, 0o700)


@needs_extension
def test_files_that_are_deleted_during_a_run(lifesim, soup):
    soup(size="1024", tiles="2x8")
    process = spawn("run", "soup", "--steps", 10**6, "--phase", 2, "--backend", "cpu")
    try:
        wait_for_generation("soup", 2)
        for path in Path("soup/tiles").iterdir():
            path.unlink(missing_ok=True)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    refused(Done(process.returncode, out, err), process.returncode, "soup/tiles/")
    assert process.returncode in (2, 4)
