"""The commands as a person types them: results, exit codes, one line for every mistake."""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import kernels.targets.cpu
from kernels.life import LifeEngine, engine_for, ref
from kernels.life.contract import LifeShape
from kernels.life.rules import LifeRule
from kernels.life.several import cut_strips
from kernels.targets import cpu
from lifesim import cli, outputs, patterns
from lifesim.errors import LifesimError
from lifesim.grid import BitGrid
from lifesim.soup import random_grid
from lifesim.start import place
from tests.commands import COMMAND, Done, refused, spawn
from tests.kernels.life.test_several import OneEmulated

DATA = Path(__file__).parents[2] / "data" / "patterns"
GLIDER, GUN = str(DATA / "glider.rle"), str(DATA / "gosper-gun.rle")

needs_extension = pytest.mark.skipif(not cpu.levels(), reason="the extension is not built")


# What runs say


def test_json(lifesim):
    done = lifesim("run", GLIDER, "--steps", 40, "--size", "64x32", "--json")
    assert (done.code, done.err) == (0, "")
    facts = done.facts
    assert facts["seconds"] >= 0
    assert facts["cell_updates_per_second"] > 0
    assert facts["backend"] in ("cuda", "cpu", "reference")
    assert re.fullmatch("[0-9a-f]{32}", facts["digest"])
    wanted = {
        "generation": 40, "population": 5, "width": 64, "height": 32, "rule": "B3/S23",
        "topology": "plane", "interrupted": False, "written": [], "errors": [],
        "x": 0, "y": 0, "bounds": [64, 32], "edge": {"reached": False},
    }  # fmt: skip
    assert {key: facts[key] for key in wanted} == wanted


def test_text(lifesim):
    done = lifesim("run", GLIDER, "--steps", 40, "--size", "64x32", "--out", "a.rle")
    assert done.code == 0
    assert "generation 40: population 5 in 64x32 (B3/S23, plane)" in done.out
    assert "cell updates/s" in done.out
    assert "wrote a.rle" in done.out


def test_a_soup_is_the_default(lifesim):
    facts = lifesim("run", "--steps", 0, "--json").facts
    assert (facts["width"], facts["height"], facts["topology"]) == (1024, 1024, "torus")
    assert facts["population"] == random_grid(1024, 1024, 0.5, 1).population()
    facts = lifesim(
        "run", "--steps", 0, "--random", "3/8", "--seed", 9, "--size", 99, "--json"
    ).facts
    assert facts["population"] == random_grid(99, 99, 0.375, 9).population()


@pytest.mark.parametrize(
    ("size", "steps"), [("1x1", 5), ("70000x1", 20), ("1x300", 20), ("65x33", 0), ("2x2", 7)]
)
@pytest.mark.parametrize("topology", ["torus", "plane"])
@pytest.mark.parametrize("rule", ["B3/S23", "B0/S8"])
def test_results_are_the_definition_s(lifesim, size, steps, topology, rule):
    args = ["run", "--steps", steps, "--size", size, "--topology", topology, "--rule", rule]
    done = lifesim(*args, "--out", "a.mc", "--json")
    assert done.code == 0
    width, height = map(int, size.split("x"))
    birth, survival = (8, 12) if rule == "B3/S23" else (1, 256)
    soup = random_grid(width, height, 0.5, 1).to_bool()
    wanted = BitGrid.from_bool(ref.run(soup, birth, survival, topology == "torus", steps))
    assert place(patterns.read("a.mc")).grid == wanted
    assert done.facts["population"] == wanted.population()


@needs_extension
def test_the_digest_depends_on_the_universe_only(lifesim):
    args = ["run", "--steps", 150, "--size", "300x200", "--json"]
    found = {
        lifesim(*args, *more).facts["digest"]
        for more in (
            ["--backend", "reference"],
            ["--backend", "cpu"],
            ["--threads", 1],
            ["--threads", 3],
            ["--threads", 7],
            ["--every", 7, "--out", "a.csv"],
            ["--every", 1, "--out", "b.csv"],
            ["--out", "a.rle"],
        )
    }
    assert len(found) == 1
    # Half the way, written and read again.
    lifesim("run", "--steps", 70, "--size", "300x200", "--out", "half.rle.gz")
    rest = lifesim("run", "half.rle.gz", "--steps", 80, "--json").facts
    assert (rest["generation"], rest["digest"]) == (150, found.pop())


@needs_extension
@pytest.mark.parametrize(
    ("name", "steps", "population"),
    [("r-pentomino", 1103, 116), ("acorn", 5206, 633), ("diehard", 130, 0), ("gosper-gun", 30, 41),
     ("gosper-gun", 3000, 536)],
)  # fmt: skip
def test_histories_that_everyone_knows(lifesim, name, steps, population):
    facts = lifesim("run", DATA / f"{name}.rle", "--steps", steps, "--json").facts
    assert (facts["generation"], facts["population"]) == (steps, population)
    assert facts["topology"] == "plane"


@needs_extension
@pytest.mark.skipif(not shutil.which("bgolly"), reason="bgolly is not installed")
@pytest.mark.parametrize(("size", "rule"), [("200x150", "B3/S23"), ("128x64", "B36/S23")])
def test_bgolly_agrees(lifesim, size, rule):
    lifesim("random", "--size", size, "--rule", rule, "--out", "soup.rle")
    lifesim("run", "soup.rle", "--steps", 300, "--out", "ours.rle")
    command = ["bgolly", "-q", "-q", "-a", "QuickLife", "-m", "300", "-o", "theirs.rle", "soup.rle"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    # Its files do not say where in the universe the cells' bounding box lies.
    ours, theirs = (patterns.read(name).grid for name in ("ours.rle", "theirs.rle"))
    assert ours.population() > 100
    assert ours == theirs


@needs_extension
@pytest.mark.skipif(
    # What it has compiled stays behind when it is uninstalled, as a package of no file.
    getattr(importlib.util.find_spec("lifelib"), "origin", None) is None,
    reason="lifelib is not installed",
)
def test_lifelib_agrees(lifesim):
    # In a process of its own: it compiles itself at first use, and may end the process.
    script = (
        "import sys, lifelib\n"
        "tree = lifelib.load_rules('b3s23').lifetree(memory=500)\n"
        "print(tree.pattern(sys.argv[1])[1000].population)\n"
    )
    lines = Path(GUN).read_text().splitlines()
    body = "".join(line for line in lines if line[0] not in "#x")
    command = [sys.executable, "-c", script, body]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    facts = lifesim("run", GUN, "--steps", 1000, "--json").facts
    assert facts["population"] == int(done.stdout.split()[-1])


# Placing


def test_placing(lifesim):
    def where(*args: object) -> list[int]:
        assert lifesim("run", GLIDER, "--steps", 0, "--out", "a.rle", *args).code == 0
        box = place(patterns.read("a.rle")).grid.bounding_box()
        return [box.x, box.y]

    assert where("--size", 20, "--at", "3,5") == [3, 5]
    assert where("--size", 20, "--center") == [8, 8]
    assert where("--size", 20) == [8, 8]
    torus = ["--topology", "torus", "--size"]
    assert where(*torus, 20, "--at", "-17,23") == [3, 3]
    for plane in (["--size", 20], ["--size", 20, "--topology", "plane"]):
        refused(lifesim("run", GLIDER, "--steps", 0, *plane, "--at", "-1,0"), 2, "leave the 20x20")
    refused(lifesim("run", GLIDER, "--steps", 0, *torus, 2), 2, "3x3 cells, the torus 2x2")


# What runs write


def test_every_kind_of_output(lifesim):
    outs = [f"--out=a.{e}" for e in ("rle", "rle.gz", "mc", "cells", "lif", "png", "gif", "csv")]
    done = lifesim("run", GUN, "--steps", 20, "--size", 64, "--every", 10, *outs, "--json")
    assert done.code == 0
    assert sorted(done.facts["written"]) == sorted(os.listdir())
    assert len(os.listdir()) == 6 * 4 + 2
    want = patterns.read("a.rle").grid
    for name in ("a.rle.gz", "a.mc", "a.cells", "a.lif", "a-00000020.mc"):
        assert patterns.read(name).grid == want
    assert gzip.decompress(Path("a.rle.gz").read_bytes()) == Path("a.rle").read_bytes()
    with Image.open("a.gif") as animation, Image.open("a.png") as picture:
        assert animation.n_frames == 3
        assert animation.size == picture.size
    assert [line.split(",")[0] for line in Path("a.csv").read_text().split()[1:]] == [
        "0",
        "10",
        "20",
    ]


def test_standard_output(lifesim):
    done = lifesim("run", GLIDER, "--steps", 4, "--size", 16, "--out", "-")
    assert done.code == 0
    Path("a.rle").write_text(done.out)
    assert patterns.read("a.rle").generation == 4
    assert "generation 4" in done.err


def test_standard_input():
    process = spawn("run", "-", "--steps", 4, "--size", 16, "--json", stdin=subprocess.PIPE)
    out, err = process.communicate(Path(GLIDER).read_text(), timeout=30)
    assert (process.returncode, err, json.loads(out)["population"]) == (0, "", 5)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_one_output_that_fails_does_not_take_the_others(lifesim, tmp_path_factory, monkeypatch):
    """The end, which only memory has, is kept elsewhere."""
    spare = tmp_path_factory.mktemp("spare")
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    for e in ("rle", "png", "csv", "gif"):
        os.symlink("/dev/full", f"full.{e}")
        args = ["run", GLIDER, "--steps", 6, "--size", 32, "--out", "a.rle", "--out", f"full.{e}"]
        done = lifesim(*args, "--out", "a.csv", *(["--every", 3] if e == "gif" else []), "--json")
        refused(done, 2, f"cannot write full.{e}: No space left on device")
        (error,) = done.facts["errors"]
        says, _, path = error.partition("; it is saved in ")
        assert says == f"cannot write full.{e}: No space left on device"
        if e in ("rle", "png"):
            assert path in done.facts["written"]
            assert os.path.dirname(path) == str(spare)
        if e == "rle":
            assert Path(path).read_bytes() == Path("a.rle").read_bytes()
        assert {"a.rle", "a.csv"} <= set(done.facts["written"])
        assert place(patterns.read("a.rle")).generation == done.facts["generation"]
        for name in os.listdir():
            os.unlink(name)


def test_a_directory_that_cannot_be_made_in_the_end(lifesim, tmp_path_factory, monkeypatch):
    spare = tmp_path_factory.mktemp("spare")
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    make = outputs.make_universe

    def full(path: str, *args: object, **options: object) -> object:
        if not path.startswith(str(spare)):
            raise LifesimError(f"cannot write {path}: No space left on device")
        return make(path, *args, **options)

    monkeypatch.setattr(outputs, "make_universe", full)
    done = lifesim("run", GLIDER, "--steps", 6, "--size", 64, "--out", "end", "--json")
    (name,) = os.listdir(spare)
    says = f"cannot write end: No space left on device; it is saved in {spare / name}"
    assert (done.code, done.facts["errors"]) == (2, [says])
    assert done.facts["written"] == [str(spare / name)]
    assert lifesim("info", spare / name, "--json").facts["generation"] == 6


def test_a_disk_that_fills_up_during_the_run(tmp_path):
    """The run ends there; what was written stays, and what can be finished is."""
    limit = 6000

    def prepare() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    args = ["run", "--steps", 100000, "--size", 200, "--every", 1, "--json"]
    args += ["--out", "a.csv", "--out", "a.gif", "--region", "0,0,16x16", "--scale", "1:1"]
    done = subprocess.run(
        [*COMMAND, *map(str, args)],
        cwd=tmp_path, preexec_fn=prepare, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    facts = json.loads(done.stdout)
    assert 10 < facts["generation"] < 100000
    assert sorted(facts["written"]) == sorted(os.listdir(tmp_path)) == ["a.csv", "a.gif"]
    assert "File too large" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert [int(line.split(",")[0]) for line in lines[1:]] == list(range(facts["generation"] + 1))
    with Image.open(tmp_path / "a.gif") as image:
        assert abs(image.n_frames - facts["generation"]) <= 1


# Ctrl-C


def wait_for(path: Path) -> None:
    for _ in range(3000):
        if path.exists():
            return
        time.sleep(0.01)
    pytest.fail(f"{path.name} did not appear")


@needs_extension
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_writes_what_was_asked_for(tmp_path, number):
    args = ["run", "--steps", 10**9, "--size", 300, "--every", 200, "--json"]
    process = spawn(*args, "--out", "a.rle", "--out", "a.csv", "--out", "a.gif", cwd=tmp_path)
    try:
        wait_for(tmp_path / "a-00000600.rle")
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    facts = json.loads(out)
    stopped = facts["generation"]
    assert err == f"lifesim: interrupted at generation {stopped}\n"
    assert facts["interrupted"]
    assert stopped >= 600
    assert not list(tmp_path.glob(".*"))
    assert sorted(facts["written"]) == sorted(os.listdir(tmp_path))
    again = place(patterns.read(tmp_path / "a.rle"))
    assert again.generation == stopped
    soup = random_grid(300, 300, 0.5, 1)
    life = engine_for(kernels.targets.cpu.CpuTarget()).universe(
        soup.words, LifeShape(300, 300, True), LifeRule(8, 12)
    )
    life.step(stopped)
    assert np.array_equal(again.grid.words, life.words())
    rows = [line.split(",")[0] for line in (tmp_path / "a.csv").read_text().split()[1:]]
    assert rows[:4] == ["0", "200", "400", "600"]
    assert rows[-1] == str(stopped)
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames >= 4


@needs_extension
def test_ctrl_c_again_gives_up_what_is_not_written(tmp_path):
    os.mkfifo(tmp_path / "a.mc")  # nobody reads: writing never ends
    args = ["run", "--steps", 10**9, "--size", 100, "--every", 100, "--out", "b.csv"]
    process = spawn(*args, "--out", "c.png", "--out", "a.mc", cwd=tmp_path)
    try:
        wait_for(tmp_path / "c-00000000.png")
        process.send_signal(signal.SIGINT)
        wait_for(tmp_path / "c.png")
        for _ in range(100):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
                break
            process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    # The last signal may meet the interpreter on its way out.
    assert process.returncode in (130, -signal.SIGINT)
    assert re.fullmatch(r"lifesim: interrupted at generation \d+\nlifesim: interrupted\n", err)
    assert not list(tmp_path.glob(".*"))
    assert (tmp_path / "b.csv").exists()


@needs_extension
def test_ctrl_c_keeps_the_animation(tmp_path):
    process = spawn(
        "render", GUN, "--out", "a.gif", "--size", 200, "--steps", 10**9, "--every", 50,
        cwd=tmp_path,
    )  # fmt: skip
    try:
        for _ in range(6000):
            if any(path.stat().st_size > 10_000 for path in tmp_path.glob(".*")):
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    assert process.returncode == 130
    assert "interrupted at generation" in err
    assert os.listdir(tmp_path) == ["a.gif"]
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames > 2


def test_ctrl_c_while_a_soup_is_made(lifesim, monkeypatch):
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lifesim.soup.Soup.fill_grid", interrupt)
    done = lifesim("random", "--size", 9, "--out", "a.rle")
    assert done == (130, "", "lifesim: interrupted\n")
    assert os.listdir() == []


# What is refused


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("run", "--steps"),
        ("run --steps -1", "--steps"),
        ("run --steps 1e-3", "--steps"),
        ("run --steps 5 --size -3x4", "is no size"),
        ("run --steps 5 --size 0x4", "at least 1x1"),
        ("run --steps 5 --size 9999999999999999999", "is no size"),
        ("run --steps 5 --size 1000000000000x1000000000000", "of disk"),
        ("run --steps 5 --size 1000000000G", "of disk"),
        ("run --steps 5 --topology disc", "--topology"),
        ("run --steps 5 --rule B9/S", "at most 8"),
        ("run --steps 5 --rule Foo", "unknown rule 'Foo'"),
        ("run --steps 5 --random 2", "0 to 1"),
        ("run --steps 5 --random nan", "is no density"),
        ("run --steps 5 --random 1/0", "is no density"),
        ("run --steps 5 --random 1e-999999999", "is no density"),
        ("run --steps 5 --seed -1", "--seed"),
        ("run --steps 5 --at 1,1", "there is none"),
        ("run --steps 5 --center", "there is none"),
        ("run GLIDER --steps 5 --at 1", "is no position"),
        ("run GLIDER --steps 5 --at 1,1 --center", "contradict"),
        ("run GLIDER --steps 5 --random 0.5", "a pattern is given"),
        ("run GLIDER --steps 5 --seed 5", "a pattern is given"),
        ("run nothing.rle --steps 5", "cannot read nothing.rle: No such file"),
        ("run . --steps 5", "no universe"),
        ("run --steps 5 --every 2", "needs an --out"),
        ("run --steps 5 --every 0 --out a.rle", "--every"),
        ("run --steps 5 --json --out -", "both write to standard output"),
        ("run --steps 5 --out a.rle --out ./a.rle", "the same file"),
        ("run --steps 5 --out - --out -", "the same file"),
        ("run --steps 5 --out a.txt", "must end in"),
        ("run --steps 5 --out nowhere/a.rle", "there is no folder"),
        ("run --steps 5 --out a.gif", "needs --every"),
        ("run --steps 5 --out a.rle --palette dark", "that is a picture"),
        ("run --steps 5 --out a.png --palette jet", "unknown palette 'jet'"),
        ("run --steps 5 --out a.png --region 1,2", "unknown region"),
        ("run --steps 5 --out a.png --region 1024,0,2x2", "outside the 1024x1024"),
        ("run --steps 5 --out a.png --scale 1:3", "power of two"),
        ("run --steps 5 --out a.png --scale 1024:1", "too large"),
        ("run --steps 5 --out a.gif --every 1 --size 70000x2 --scale 1:1", "at most 65535"),
        ("run --steps 5 --threads 0", "--threads"),
        ("run --steps 5 --device -1", "--device"),
        ("run --steps 5 --backend abacus", "--backend"),
        ("info", "FILE"),
        ("info nothing.rle", "cannot read"),
        ("convert GLIDER a.txt", "must end in"),
        ("convert GLIDER a.rle --format foo", "unknown pattern format"),
        ("convert GLIDER nowhere/a.rle", "there is no folder"),
        ("convert nothing.rle a.rle", "cannot read"),
        ("random --size 5", "--out"),
        ("random --size 5 --out a.png", "must end in"),
        ("random --size 5 --out a.rle --rule B9/S", "at most 8"),
        ("random --size 1000000000000 --out a.rle", "of memory"),
        ("render GLIDER --out a.rle", "a .png, a .gif or a .mp4"),
        ("render GLIDER --out a.gif", "needs --steps"),
        ("render GLIDER --out a.png --every 3", "for a film"),
        ("render GLIDER --out a.png --scale 16384:1", "too large"),
        ("render GLIDER --out a.png --region 9,9,2x2", "outside the 3x3"),
        ("render GLIDER --out a.png --palette jet", "unknown palette"),
        ("fly", "No such command"),
        ("run --fly", "No such option"),
    ],
)
def test_usage(lifesim, args, says):
    done = lifesim(*(GLIDER if word == "GLIDER" else word for word in args.split()))
    refused(done, 2, says)
    assert os.listdir() == []


HEAD = "x = 3, y = 3, rule = B3/S23\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "bo$2bo$3", r"a.rle:2:9: .*cut off"),
        (HEAD + "1000000000000000000o!", r"a.rle:2:1: a run count has at most 18 digits"),
        (HEAD + "999999999999999999o!", r"a.rle"),
        (HEAD + "0o!", "a run count of 0"),
        (HEAD + "99999999o!", "the header says 3x3 cells, the body has 99999999x1"),
        (HEAD + "3o%!", r"a.rle:2:3"),
        ("x = 3, y = 3, rule = Foo\n3o!", r"a.rle:1:22: unknown rule"),
        ("x = 3, y = 3, rule = B3/S23:K5*,5*\n3o!", "one pair of edges is twisted"),
        ("x = -3, y = 3\n3o!", r"a.rle:1:1"),
        ("", "cut off"),
        ("\0" * 5000, "a.rle"),
        ("\x1f\x8b\x08", "a.rle"),
    ],
)
@pytest.mark.parametrize("command", ["info", "run --steps 2", "convert TO", "render --out a.png"])
def test_bad_patterns(lifesim, text, says, command):
    Path("a.rle").write_bytes(text.encode("latin-1"))
    first, *rest = command.split()
    rest = ["b.rle" if word == "TO" else word for word in rest]
    refused(lifesim(first, "a.rle", *rest), 2, says)
    assert os.listdir() == ["a.rle"]


def test_a_header_s_claims_cost_nothing(lifesim):
    Path("a.rle").write_text("x = 99999999999999, y = 99999999999999\no!")
    assert lifesim("info", "a.rle", "--json").facts["population"] == 1
    assert lifesim("run", "a.rle", "--steps", 1, "--json").facts["width"] == 0
    Path("a.rle").write_text("x = 1, y = 1, rule = B3/S23:T999999999,999999999\no!")
    assert lifesim("info", "a.rle", "--json").facts["universe"] == [999999999] * 2
    refused(lifesim("run", "a.rle", "--steps", 1), 2, "of disk")
    refused(lifesim("render", "a.rle", "--out", "a.png"), 2, "of memory")


def test_messages_are_one_line_whatever_they_quote(lifesim):
    refused(lifesim("info", "a\nb\x1b[31m.rle"), 2, re.escape(r"a b\x1b[31m.rle"))


def test_info_shows_no_control_characters(lifesim):
    Path("a.rle").write_text("#N \x1b[31mred\nx = 1, y = 1\no!")
    assert "\x1b" not in lifesim("info", "a.rle").out


def test_no_memory_left_during_the_run(lifesim, monkeypatch):
    """The results that were asked for are still written."""

    made = LifeEngine.universe

    def full(*args, **options):
        universe = made(*args, **options)
        real = universe.step

        def step(generations: int) -> None:
            if universe.generation >= 100:
                raise MemoryError
            real(generations)

        universe.step = step
        return universe

    if not cpu.levels():
        pytest.skip("the extension is not built")
    monkeypatch.setattr(LifeEngine, "universe", full)
    args = ["run", "--backend", "cpu", "--size", 64, "--steps", 10**6, "--out", "a.rle", "--json"]
    done = lifesim(*args)
    refused(done, 2, "out of memory")
    assert patterns.read("a.rle").generation == done.facts["generation"] >= 100


def test_exit_code_3(lifesim, monkeypatch):
    monkeypatch.setattr(kernels.targets.cpu, "_cpu", None)
    refused(lifesim("run", "--steps", 1, "--backend", "cpu"), 3, "compiler")
    refused(lifesim("render", GLIDER, "--out", "a.png", "--backend", "cpu"), 3, "compiler")
    if not importlib.util.find_spec("pycuda"):
        refused(lifesim("run", "--steps", 1, "--backend", "cuda"), 3, "pip install")
        refused(lifesim("run", "--steps", 1, "--device", "0,1"), 3, "pip install")
    for what in (["run", "--steps", 1], ["run", "--steps", 1, "--memory", "1K"], ["bench"]):
        args = [*what, "--size", 1024, "--device", "0,1", "--backend", "reference"]
        refused(lifesim(*args), 3, "0,1 are GPUs, not for the reference backend")
    assert os.listdir() == []


def test_a_universe_on_several_devices(lifesim, monkeypatch):
    monkeypatch.setattr("kernels.targets.cuda.target.CudaTarget", OneEmulated)
    monkeypatch.setattr("kernels.life.several.choose_strips", cut_strips)
    args = ["run", "--size", "70x90", "--steps", 20, "--json"]
    for topology in ("torus", "plane"):
        expected = lifesim(*args, "--topology", topology, "--backend", "reference").facts
        found = lifesim(*args, "--topology", topology, "--device", "0,2,1").facts
        assert found["digest"] == expected["digest"]
        assert (found["backend"], found["device"]) == ("cuda", "3 × emulated")


def test_exit_code_4(lifesim, monkeypatch):
    from lifesim.errors import DamagedDataError

    def damaged(*args: object, **options: object) -> None:
        raise DamagedDataError("a.rle: not what it was")

    monkeypatch.setattr("lifesim.patterns.read", damaged)
    refused(lifesim("run", "a.rle", "--steps", 1), 4, "not what it was")


def test_the_slow_reference_says_so(lifesim, monkeypatch):
    monkeypatch.setattr(kernels.targets.cpu, "_cpu", None)
    monkeypatch.setitem(sys.modules, "pycuda", None)
    for args in (
        ["run", "--steps", 2, "--size", 9],
        ["run", "--steps", 2, "--size", 9, "--quiet"],
        ["render", GLIDER, "--out", "a.png"],
    ):
        done = lifesim(*args)
        assert done.code == 0
        assert re.fullmatch(r"lifesim: running on the slow reference .*compiler.*\n", done.err)
    # Who asks for it knows.
    done = lifesim("run", "--steps", 2, "--size", 9, "--backend", "reference")
    assert (done.code, done.err) == (0, "")


def test_nothing_at_all_shows_the_help(lifesim):
    done = lifesim()
    assert done.code == 2
    assert "Commands:" in done.err


@pytest.mark.parametrize("name", [*cli.COMMANDS, ""])
def test_help(lifesim, name):
    done = lifesim(*([name] if name else []), "--help")
    assert done.code == 0
    assert "Usage: lifesim" in done.out


# The other commands


@pytest.mark.parametrize(
    "name", ["acorn.rle", "gosper-gun.rle", "highlife-replicator.rle", "pulsar.cells", "quasar.rle"]
)
def test_info_and_convert(lifesim, name):
    facts = lifesim("info", DATA / name, "--json").facts
    for target in ("a.rle", "a.mc.gz", "a.life", "a.lif", "a.cells"):
        assert lifesim("convert", DATA / name, target) == (0, "", "")
        again = lifesim("info", target, "--json").facts
        for key in ("population", "width", "height", "digest"):
            assert again[key] == facts[key]
    assert f"population {facts['population']:,}" in lifesim("info", "a.rle").out


def test_convert_to_standard_output(lifesim):
    done = lifesim("convert", GLIDER, "-", "--format", "cells")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(".O.\n..O\nOOO\n")


def test_random(lifesim):
    args = ["random", "--size", "100x30", "--density", "3/8", "--seed", 4]
    assert lifesim(*args, "--topology", "plane", "--rule", "HighLife", "--out", "a.rle").code == 0
    start = place(patterns.read("a.rle"))
    assert start.grid == random_grid(100, 30, 0.375, 4)
    assert (str(start.rule), start.topology) == ("B36/S23", "plane")
    assert lifesim(*args, "--out", "-").out.startswith("#CXRLE Pos=")


def test_render(lifesim):
    assert lifesim("render", GLIDER, "--out", "a.png", "--scale", "1:1") == (0, "", "")
    with Image.open("a.png") as image:
        assert np.array_equal(np.asarray(image) > 0, patterns.read(GLIDER).grid.to_bool())
    args = ["render", GUN, "--out", "a.gif", "--steps", 60, "--every", 20, "--region", "0,0,8x8"]
    assert lifesim(*args, "--scale", "2:1", "--palette", "viridis").code == 0
    with Image.open("a.gif") as image:
        assert (image.n_frames, image.size) == (4, (16, 16))
    assert sorted(os.listdir()) == ["a.gif", "a.png"]


# Streams that end


def shell(script: str) -> Done:
    command = " ".join(f"'{word}'" for word in COMMAND)
    script = script.replace("LIFESIM", command).replace("GLIDER", GLIDER)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_standard_output_that_is_full():
    for args in ("info GLIDER", "run --steps 1 --size 9 --json", "convert GLIDER -"):
        refused(shell(f"LIFESIM {args} > /dev/full"), 2, "cannot write standard output: No space")


def test_a_reader_that_goes_away():
    done = shell("set -o pipefail; LIFESIM random --size 2000 --out - | head -1")
    assert done.out.startswith("#CXRLE")
    assert (done.code, done.err) == (128 + signal.SIGPIPE, "")


def test_closed_streams():
    refused(shell("LIFESIM info GLIDER >&-"), 2, "cannot write standard output")
    assert shell("LIFESIM info nothing.rle 2>&-") == (2, "", "")
    refused(shell("LIFESIM info - <&-"), 2, "cannot read standard input")


def test_streams_that_cannot_show_a_name(tmp_path):
    (tmp_path / "a.rle").write_text("#N \u751f\nx = 1, y = 1\no!", encoding="utf-8")
    done = shell(f"cd {tmp_path}; PYTHONIOENCODING=latin-1 LIFESIM info a.rle")
    assert (done.code, done.err) == (0, "")
    assert r"\u751f" in done.out


def test_help_needs_no_numpy():
    code = "import sys; sys.argv = ['lifesim', '--help']; import lifesim.cli as c\n"
    code += "try: c.main()\nexcept SystemExit: pass\nsys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@needs_extension
def test_the_bar_on_a_terminal(tmp_path):
    """The bar shows generation, rate and time left; the report comes after it."""
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "run", "--steps", "100000000", "--size", "2000"],
        stdout=subprocess.PIPE, stderr=slave, cwd=tmp_path, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(slave)
    seen = b""
    try:
        end = time.monotonic() + 30
        while time.monotonic() < end and b"cell updates/s" not in seen:
            seen += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(master, 4096):
                seen += part
        assert process.wait(30) == 130
    finally:
        process.kill()
        os.close(master)
        assert process.stdout is not None
        process.stdout.close()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert re.search(r"generation [\d,]{3,}.*%.*[GMT] cell updates/s.*\d:\d\d:\d\d", shown)
    assert "interrupted at generation" in shown
