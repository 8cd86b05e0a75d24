"""Numbers on the command line: counts of generations, and amounts of memory; and empty values."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifesim import BitGrid, Life
from lifesim.rule import RuleError
from tests.commands import refused
from tests.lifesim.directories import ACORN, dataset_start, flip, tile_file

COUNTS = {"0": 0, "1000": 1000, "1K": 1024, "2k": 2048, "1e3": 1000, "1E+3": 1000, "2^10": 1024,
          "10^3": 1000, "5^0": 1, "0e9": 0, "007": 7}  # fmt: skip


@pytest.mark.parametrize("text", list(COUNTS))
def test_counts_of_generations(lifesim, text):
    done = lifesim("run", "--size", "8x8", "--steps", text, "--json")
    assert (done.code, done.facts["generation"]) == (0, COUNTS[text])


@pytest.mark.parametrize(
    "text",
    ["", "-1", "1e-3", "1.5", "1.5e3", "1,000", "K", "1KK", "2^-1", "2^", "^2", "1e", "1e1e1",
     "1 000", "٣", "0x10", "inf", "nan", "1_000", " 1"],
)  # fmt: skip
@pytest.mark.parametrize("option", ["--steps", "--every", "--phase"])
def test_what_is_no_count(lifesim, option, text):
    args = {"--steps": "5", "--every": "1", "--phase": "1"} | {option: text}
    pairs = [part for item in args.items() for part in item]
    refused(lifesim("run", "--size", "8x8", "--out", "a.rle", *pairs), 2, "no number of gen")


@pytest.mark.parametrize(
    "text", ["1e19", "2^60", "9e999999999", "9" * 30, "2^999999999", "999999999G"]
)
def test_counts_that_are_too_large(lifesim, text):
    refused(lifesim("run", "--size", "8x8", "--steps", text), 2, "out of range")


def test_counts_everywhere(lifesim):
    where = "--size", 64, "--out", "a.csv"
    assert lifesim("run", ACORN, "--steps", "2^3", "--every", "2e0", *where).code == 0
    lines = Path("a.csv").read_text().split()
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "2", "4", "6", "8"]
    assert lifesim("render", ACORN, "--steps", "1K", "--every", "2^9", "--out", "a.gif").code == 0
    refused(lifesim("render", ACORN, "--steps", "1.5", "--out", "a.png"), 2, "1K|64K")
    for bad in ("0", "0e3"):
        refused(lifesim("run", "--steps", 1, "--every", bad, "--out", "a.csv"), 2, "out of range")
    assert lifesim("random", "--size", 64, "--out", "soup").code == 0
    assert (
        lifesim("run", "soup", "--steps", "2^4", "--phase", "1e1", "--json").facts["generation"]
        == 16
    )
    assert lifesim("resume", "soup", "--every", "1K", "--out", "b.csv").code == 0


def test_little_memory_is_told_as_it_is(lifesim):
    done = lifesim("run", ACORN, "--size", 128, "--steps", 5, "--memory", 1)
    refused(done, 2, r"needs [1-9][\d.]* (KiB|bytes) of memory, 1 byte may be taken")


def test_damage_is_not_to_be_resumed(lifesim, soup):
    """No message tells to go on with a run that would end at the same place."""
    soup()
    flip(tile_file("soup", 5), dataset_start(tile_file("soup", 5), "cells"))
    for args in (("run", "soup", "--steps", 3), ("resume", "soup")):
        done = lifesim(*args)
        assert done.code == 4
        assert "resume" not in done.out + done.err


@pytest.mark.parametrize("text", ["", " "])
def test_empty_rules(lifesim, text):
    """An empty rule is not taken for none."""
    lifesim("random", "--size", 8, "--out", "a.rle")
    for args in (
        ("run", "a.rle", "--steps", 1), ("run", "--size", 8, "--steps", 1), ("view", "a.rle"),
        ("random", "--size", 8, "--out", "b.rle"), ("bench", "--size", 8, "--seconds", 0.01),
    ):  # fmt: skip
        refused(lifesim(*args, "--rule", text), 2, "unknown rule ''")
    with pytest.raises(RuleError):
        Life(BitGrid(8, 8), rule=text)


@pytest.mark.parametrize("option", ["--region", "--scale", "--palette"])
def test_empty_views(lifesim, option):
    lifesim("random", "--size", 8, "--out", "a.rle")
    refused(lifesim("render", "a.rle", "--out", "a.png", option, ""), 2, "unknown|write it")
    refused(
        lifesim("run", "--size", 8, "--steps", 1, "--out", "a.png", option, ""), 2, "unknown|write"
    )
    refused(
        lifesim("run", "--size", 8, "--steps", 1, "--out", "a.rle", option, ""), 2, "is a picture"
    )
