"""The race of engines: whoever is fastest leads, and trials take a small part of the time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesim.race import Race
from tests.quick import examples

NAMES = ("a", "b", "c")


def run(race, rate, generations, *, move=0.001, step=0.01, worth=lambda name, rate: True):
    """Run a race of engines that make rate(name, generation) generations a second, and return the
    seconds that each had."""
    had = dict.fromkeys(race.names, 0.0)
    done = 0
    while done < generations:
        name = race.choose(generations - done, worth)
        if name != race.engine:
            race.moved(name, move)
        made = max(1, round(rate(race.engine, done) * step))
        race.add(made, made / rate(race.engine, done))
        had[race.engine] += made / rate(race.engine, done)
        done += made
    return had


@settings(max_examples=examples(60), deadline=None)
@given(st.permutations([100.0, 1000.0, 30000.0]), st.integers(0, 2))
def test_the_fastest_leads(rates, first):
    speeds = dict(zip(NAMES, rates, strict=True))
    race = Race(NAMES, NAMES[first])
    best = max(speeds, key=speeds.__getitem__)
    had = run(race, lambda name, done: speeds[name], int(60 * speeds[best]))
    assert race.engine == best or race._leader == best
    assert had[best] > 0.8 * sum(had.values())


def test_who_becomes_fast_takes_over():
    race = Race(NAMES, "a")
    rates = {"a": 1000.0, "b": 100.0, "c": 1.0}
    had = run(race, lambda name, done: 1e6 if name == "c" and done > 2e5 else rates[name], 10**8)
    assert race._leader == "c"
    assert had["c"] > 50


def test_short_runs_try_nothing():
    had = run(Race(NAMES, "a"), lambda name, done: 1e5, 1500, step=0.0005)
    assert had == {"a": pytest.approx(0.015), "b": 0, "c": 0}


def test_what_is_quick_has_a_short_run_soon():
    rates = {"a": 1e5, "b": 1e7, "c": 1e3}
    had = run(Race(NAMES, "a"), lambda name, done: rates[name], 4000, move=0.0002, step=0.0002)
    assert had["a"] == pytest.approx(0.001, abs=0.0003)  # alone it would take 40 times as long
    assert sum(had.values()) < 0.002


@pytest.mark.parametrize("seconds", [0.02, 0.05, 0.1, 1.0, 10.0])
def test_trials_take_a_part_of_a_run(seconds):
    rates = {"a": 1e5, "b": 9e4, "c": 9e4}  # not much slower: they are tried again soon
    had = run(Race(NAMES, "a"), lambda name, done: rates[name], int(1e5 * seconds), step=0.0002)
    assert had["a"] > 0.5 * seconds
    assert had["b"] > 0


def test_what_is_not_worth_it_is_not_tried():
    race = Race(NAMES, "a")
    had = run(race, lambda name, done: 1e4, 10**5, worth=lambda name, rate: name != "b")
    assert not had["b"]
    assert had["c"]


def test_refusals_and_escapes():
    race = Race(NAMES, "a")
    race.add(1000, 0.1)
    assert race.choose(10**9, lambda name, rate: True) == "b"
    race.refused("b", 0.01)
    assert race.engine == "a"
    race.add(1000, 0.1)
    assert race.choose(10**9, lambda name, rate: True) == "c"
    race.moved("c", 0.01)
    assert race.patience < math.inf
    assert race.gave_up() == ["a", "b"]
    race.lead("a", 0.01)
    assert race.engine == "a"
    assert race.patience == math.inf
    race.add(1000, 0.1)
    assert race.choose(10**9, lambda name, rate: True) == "b"
    race.refused("b", 0.0)
    race.add(1000, 0.05)
    assert race.choose(10**9, lambda name, rate: True) == "a"  # c gave up a moment ago
