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
        "observed": None, "every": None,
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
    done = lifesim("run", GUN, "--until", "empty", "--memory", "20K", "--engine", "dense")
    assert (done.code, done.err.count("outgrown memory")) == (2, 1)


def test_on_disk_it_is_looked_at_now_and_then(lifesim, soup):
    path = soup()
    done = lifesim("run", path, "--until", "population:<1000000", "--phase", 7, "--json")
    facts = done.facts["until"]
    assert (facts["met"], facts["every"], done.facts["generation"]) == (True, 7, 0)
    done = lifesim("run", path, "--until", "population:<0", "--phase", 7, "--steps", 20)
    assert done.out.startswith("population:<0: not met up to generation 20 (looked at every 7 gen")


def test_what_memory_does_not_hold_runs_until_a_condition_on_disk(lifesim):
    run = (
        "run",
        "--size",
        "2K",
        "--memory",
        "1M",
        "--until",
        "population:<1000000",
        "--out",
        "new",
    )
    done = lifesim(*run, "--json")
    assert done.facts["universe"] == "new"
    assert (done.facts["until"]["met"], done.facts["generation"] % 60) == (True, 0)
    again = lifesim(*run, "--steps", 600, "--json")
    assert again.facts["generation"] == done.facts["generation"]
    refused(lifesim(*run, "--steps", 1), 2, "is at generation .* already, beyond 1")
