"""Universe directories through the commands: made, converted, looked at."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest

from lifesim import patterns
from lifesim.start import place
from lifesim.store.universe import Universe
from tests.commands import refused, spawn
from tests.lifesim.directories import (
    DATA,
    GLIDER,
    GUN,
    digest_of,
    needs_extension,
    pixels,
    wait_for_generation,
)

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


@pytest.mark.sample(60)
@pytest.mark.parametrize(
    "name", sorted(p.name for p in DATA.iterdir() if p.suffix not in (".md", ".rule"))
)
def test_patterns_come_back_from_directories(lifesim, name):
    cells = lifesim("info", DATA / name, "--json").facts
    made = lifesim("convert", DATA / name, "there")
    assert made == (0, "", "")
    assert lifesim("convert", "there", "back.rle") == (0, "", "")
    back = lifesim("info", "back.rle", "--rules", str(DATA), "--json").facts
    for key in ("population", "width", "height", "digest"):
        assert back[key] == cells[key]


@pytest.mark.sample(3)
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
        assert place(patterns.read(f"a.{extension}")).grid == universe.grid()


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
    assert place(patterns.read("a.rle")).generation == 8
    assert lifesim("render", "soup", "--out", "a.png") == (0, "", "")
    assert lifesim("verify", "soup", "--recompute").code == 0
    assert lifesim("resume", "soup").code == 0


REGIONS = ["all", "0,0,128x96", "64,32,512x512", "-64,-128,256x320", "192,128,5000x300",
           "128,320,64x64", "-512,-512,1024x1024"]  # fmt: skip


def whole_pixels(region: str, size: str, k: int) -> bool:
    """Tell whether every pixel at level k of a pyramid is all inside the region, or all outside."""
    if region == "all" or k < 3:
        return True
    x, y, width, height = (int(n) for n in re.split("[,x]", region))
    right, bottom = (int(n) for n in size.split("x"))
    edges = x, y, min(x + width, right), min(y + height, bottom)
    return not any(edge % (1 << k) for edge in edges)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "scales",
    [("4:1", "1:8"), ("1:1", "1:16"), ("1:2", "1:32"), ("1:4", "1:64"), ("1:512", "1:4096")],
    ids="-".join,
)
@pytest.mark.parametrize(
    ("tiles", "more", "size", "topology"),
    [
        ("3x5", [], "500x390", "torus"),
        ("1x1", ["--compression", "zstd"], "512x448", "plane"),
        ("3x5", ["--no-pyramid"], "512x448", "plane"),
    ],
)
def test_render_draws_what_memory_draws(lifesim, soup, tiles, more, size, topology, scales):
    soup("soup", "--topology", topology, *more, size=size, tiles=tiles)
    assert lifesim("run", "soup", "--steps", 60).code == 0
    assert lifesim("convert", "soup", "soup.rle").code == 0
    with Universe.open("soup") as universe:
        top = universe.manifest.form.top or 99
    for i, scale in enumerate(scales):
        k = int(scale.partition(":")[2]).bit_length() - 1
        for region in [region for region in REGIONS[i % 2 :: 2] if whole_pixels(region, size, k)]:
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


# Changing


def test_a_pattern_is_put_into_a_universe(lifesim):
    assert lifesim("random", "--size", "128x64", "--density", 0, "--out", "soup").code == 0
    before = lifesim("info", "soup", "--json").facts
    told = lifesim("paste", "soup", GLIDER, "--at", "120,10")
    assert (told.code, told.out) == (0, "population 0, now 5\n")
    assert lifesim("paste", "soup", GLIDER, "--at", "1,1", "--mode", "copy").code == 0
    facts = lifesim("info", "soup", "--json").facts
    assert facts["population"] == 10
    assert facts["origin"] == before["origin"] + ", edited"
    assert lifesim("verify", "soup").code == 0
    refused = lifesim("run", "--size", "128x64", "--random", 0, "--steps", 5, "--out", "soup")
    assert refused.code == 2, "a run would go on from what it did not begin as"
    undoing = Path("soup/tiles/undo.1.zst")
    data = undoing.read_bytes()
    undoing.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    damaged = lifesim("verify", "soup")
    assert (damaged.code, "undo.1.zst" in damaged.err) == (4, True)
    undoing.write_bytes(data)
    assert lifesim("undo", "soup").out == "undone: pasting; population 5\n"
    assert lifesim("undo", "soup", "--redo").out == "redone: pasting; population 10\n"
    for _ in range(2):
        assert lifesim("undo", "soup").code == 0
    assert lifesim("info", "soup", "--json").facts == before | {"bytes": facts["bytes"]}
    nothing = lifesim("undo", "soup")
    assert (nothing.code, nothing.err) == (2, "lifesim: soup: there is nothing to undo\n")
    assert "leave the 128x64 universe" in lifesim("paste", "soup", GLIDER, "--at", "126,0").err
    assert lifesim("paste", "nowhere", GLIDER, "--at", "0,0").code == 2
    assert lifesim("paste", "soup", GLIDER, "--at", "here").code == 2
    with Universe.open("soup", writing=True):
        assert "in use by process" in lifesim("paste", "soup", GLIDER, "--at", "0,0").err


def test_dead_cells_around_a_pattern_are_not_put(lifesim):
    Path("m.rle").write_text("x = 9, y = 5, rule = B3/S23\n2$2bobo!\n")
    assert lifesim("random", "--size", "64x64", "--density", 1, "--out", "soup").code == 0
    told = lifesim("paste", "soup", "m.rle", "--at", "10,20", "--mode", "copy")
    assert told.out == "population 4,096, now 4,095\n"
    with Universe.open("soup") as universe:
        assert not universe.grid()[11, 20]


def test_a_pattern_far_away_on_a_plane_without_bounds(lifesim):
    assert lifesim("convert", GUN, "gun").code == 0
    assert lifesim("paste", "gun", GLIDER, "--at", "-300,200").code == 0
    facts = lifesim("info", "gun", "--json").facts
    assert (facts["x"], facts["population"]) == (-300, 41)
    assert lifesim("run", "gun", "--steps", 60).code == 0
    assert lifesim("undo", "gun").err == "lifesim: gun: there is nothing to undo\n"
