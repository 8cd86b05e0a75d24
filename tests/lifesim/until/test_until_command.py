"""`lifesim run --until`: what is said, written and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("kernels._cpu")

from lifesim import patterns
from tests.commands import refused
from tests.lifesim.test_cli_unbounded import digest_of

DATA = Path(__file__).parents[3] / "data" / "patterns"
ACORN, DIEHARD, GUN, PULSAR = (
    DATA / name for name in ("acorn.rle", "diehard.rle", "gosper-gun.rle", "pulsar.cells")
)


def test_a_run_until_it_is_stable(lifesim):
    run = ("run", DIEHARD, "--until", "stable", "--engine", "tiles")
    done = lifesim(*run, "--json", "--out", "a.rle")
    assert done.code == 0
    assert done.facts["until"] == {
        "condition": "stable", "met": True, "never": False, "kind": "empty", "period": 1,
        "displacement": [0, 0], "began": 130, "growth": 0, "ships": 0, "proved": True,
        "observed": None,
    }  # fmt: skip
    assert (done.facts["generation"], done.facts["population"]) == (130, 0)
    assert patterns.read("a.rle").generation == 130
    assert lifesim(*run).out.startswith("stable: empty, from generation 130 on\n")


def test_what_does_not_come_true_within_the_steps(lifesim):
    run = ("run", DIEHARD, "--until", "empty", "--steps", 100)
    done = lifesim(*run, "--json")
    assert (done.code, done.err) == (0, "")
    assert (done.facts["until"]["met"], done.facts["generation"]) == (False, 100)
    assert done.facts["digest"] == digest_of(lifesim, DIEHARD, 100)
    assert lifesim(*run).out.startswith("empty: not met up to generation 100\n")
    done = lifesim("run", PULSAR, "--until", "population:>100")
    assert done.code == 0
    assert done.out.startswith(
        "population:>100: never met: oscillator of period 3, from generation 0"
    )


def test_outputs_are_of_where_it_ends(lifesim):
    run = ("run", DIEHARD, "--until", "population:>=30", "--engine", "tiles")
    done = lifesim(*run, "--every", 20, "--out", "a.csv", "--json")
    end = done.facts["generation"]
    table = [line.split(",")[:2] for line in Path("a.csv").read_text().splitlines()[1:]]
    assert [int(at) for at, _ in table] == [*range(0, end, 20), end]
    assert int(table[-1][1]) == done.facts["population"] >= 30
    assert all(int(count) < 30 for _, count in table[:-1])
    assert "until" in lifesim("run", PULSAR, "--steps", 3, "--json").facts


def test_what_is_refused(lifesim, soup):
    refused(lifesim("run", PULSAR), 2, "'--steps' .or '--until'.")
    refused(lifesim("run", PULSAR, "--until", "dead"), 2, "'dead' is no condition")
    refused(lifesim("run", PULSAR, "--until", "period:0"), 2, "a period is 1 to")
    refused(lifesim("run", soup(), "--until", "empty"), 2, "--until is for universes in memory")
    done = lifesim("run", "--size", "64K", "--memory", "16M", "--until", "empty", "--out", "new")
    refused(done, 2, "--until is for universes in memory")
    assert not Path("new").exists()
    done = lifesim("run", GUN, "--until", "empty", "--memory", "20K", "--engine", "dense")
    assert (done.code, done.err.count("outgrown memory")) == (2, 1)
