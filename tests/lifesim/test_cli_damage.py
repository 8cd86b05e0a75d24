"""Universe directories through the commands: damaged, and verified."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lifesim.store.sealed import seal, unseal
from lifesim.store.tilejob import TileJob
from lifesim.store.universe import Universe
from lifesim.store.workers import TileWorkers
from tests.commands import Done, refused, spawn
from tests.lifesim.directories import (
    GUN,
    dataset_start,
    flip,
    needs_extension,
    tile_file,
    wait_for_generation,
)


def damaged(path: str, how: str) -> Path:
    """Damage a universe, and return the file that is to be named."""
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


@pytest.mark.sample(6)
@pytest.mark.parametrize("how", HOWS)
def test_damage_ends_a_run(lifesim, soup, how):
    """The run ends before it writes anything that is made of it."""
    soup()
    file = damaged("soup", how)
    for args in (["run", "soup", "--steps", 3], ["run", "soup", "--steps", 3]):
        done = lifesim(*args)
        refused(done, 4, str(file) if how != "swapped" else "0001-000[12]")
    refused(lifesim("resume", "soup"), 4, "") if how in ("missing", "manifest") else None


@pytest.mark.sample(5)
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
    with Universe.open(path, writing=True) as universe, TileWorkers(2) as workers:
        box, form = universe.tiling.box(0), universe.manifest.form
        grid = universe.region(box)
        if cell:
            grid.words[3, 0] ^= np.uint64(1 << 7)

        def fetch(y: int, words: np.ndarray) -> None:
            words[:] = grid.words[y : y + len(words)]

        write = partial(universe.directory.writer, 0, universe.generation)
        record = TileJob(write, box, form, fetch, workers).finish()
        assert record
        record = replace(record, population=record.population + population)
        tiles = (record, *universe.manifest.tiles[1:])
        universe.directory.write_manifest(replace(universe.manifest, tiles=tiles))


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
    path.write_bytes(seal({**facts, "version": 6}))
    for args in ("run soup --steps 1", "info soup", "verify soup", "resume soup",
                 "render soup --out a.png", "convert soup a.rle"):  # fmt: skip
        refused(lifesim(*args.split()), 2, "version 6 is newer than this program")


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
