"""Finding patterns of a library in a thread, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifesim.library import PatternEntry, PatternLibrary
from lifesim.library.library import rule_name
from tests.waiting import until
from ui.start import finder
from ui.start.cards import card_of_file, short_path
from ui.start.facts import card_of, facts_of
from ui.start.finder import Finder, FoundPatterns, Wanted


def library(folder: Path, count: int = 3) -> PatternLibrary:
    for number in range(count):
        rule = "B3/S23" if number else "b36/s23"
        kind = ("gun", "oscillator")[number % 2]
        text = f"#N Thing {number}\n#C Kind: {kind}\nx = 1, y = 1, rule = {rule}\no!\n"
        (folder / f"{number}.rle").write_text(text)
    return PatternLibrary.of_folder(folder)


def test_what_fits_is_found(tmp_path: Path) -> None:
    told: list[FoundPatterns] = []
    finder = Finder(told.append)
    patterns = library(tmp_path)
    finder.look(Wanted(patterns))
    until(lambda: told)
    assert [entry.title for entry in told[0].entries] == ["Thing 0", "Thing 1", "Thing 2"]
    assert told[0].kinds == ("oscillator", "gun")
    assert told[0].rules == ("B3/S23", "B36/S23")
    assert told[0].summary == "3 patterns"
    for wanted, titles, summary in (
        (Wanted(patterns, "2"), ["Thing 2"], "1 pattern"),
        (Wanted(patterns, kind="oscillator"), ["Thing 1"], "1 pattern"),
        (Wanted(patterns, rule="B36/S23"), ["Thing 0"], "1 pattern"),
        (Wanted(patterns, "qqq"), [], "Nothing fits."),
        (Wanted(patterns, kind="teapot"), [], "unknown kind 'teapot'"),
    ):
        told.clear()
        finder.look(wanted)
        until(lambda: told)
        assert [entry.title for entry in told[0].entries] == titles
        assert told[0].summary.startswith(summary)
    finder.close()


def test_a_large_folder_is_told_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "_OFTEN", 4)
    monkeypatch.setattr(finder, "MOST_SHOWN", 6)
    told: list[FoundPatterns] = []
    looking = Finder(told.append)
    looking.look(Wanted(library(tmp_path, 9)))
    until(lambda: told and told[-1].is_whole)
    assert [found.summary for found in told] == [
        "4 so far…", "8 so far…", "9 patterns, of which the first 6 are shown",
    ]  # fmt: skip
    assert [len(found.entries) for found in told] == [4, 6, 6]
    looking.close()


def test_an_empty_folder(tmp_path: Path) -> None:
    told: list[FoundPatterns] = []
    looking = Finder(told.append)
    looking.look(Wanted(PatternLibrary.of_folder(tmp_path)))
    until(lambda: told)
    assert told[0].summary == "There are no pattern files."
    looking.close()
    looking.look(Wanted(PatternLibrary.of_folder(tmp_path)))
    assert looking._thread is not None
    looking._thread.join(60)
    assert len(told) == 1


def test_what_is_said_of_a_pattern() -> None:
    entry = PatternEntry(
        "gun", "A gun", "gun", "B3/S23", "/a/gun.rle", "Bill Gosper", 1970, 36, 9, 30,
        others=("p30 gun",),
    )  # fmt: skip
    assert card_of(entry).line == "p30  36 × 9"
    facts = dict(facts_of(entry))
    assert facts["Found by"] == "Bill Gosper, 1970"
    assert facts["File"] == "/a/gun.rle"
    assert "Speed" not in facts
    assert dict(facts_of(entry, is_ours=True))["Name"] == "gun"
    bare = PatternEntry("a", "a", "other", "B3/S23", "/a")
    assert card_of(bare).line == ""
    assert [label for label, _ in facts_of(bare)] == ["Rule", "File"]
    assert rule_name("life:T9,9") == "B3/S23"
    assert rule_name("nonsense") is None


def test_cards_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    card = card_of_file("/home/me/patterns/gun.rle")
    assert (card.title, card.line, card.tip) == ("gun.rle", "~/patterns", card.path)
    assert short_path("/home/me/a" * 9, 20) == "…" + ("/home/me/a" * 9)[-19:]
    assert short_path("/home/men") == "/home/men"
