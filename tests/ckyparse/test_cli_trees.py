"""The ckyparse command: trees, their numbers and probabilities, and what is said of a grammar."""

from __future__ import annotations

import json
import math
import os
import re

import pytest

from ckyparse.cli import bench
from ckyparse.cli import parse as parse_module
from tests.ckyparse.commands import COINS, CYCLIC, Done, closes, refused, write

# --- parse, count, prob --------------------------------------------------------------


def test_parse(ckyparse, english) -> None:
    args = ["parse", "-g", english]
    stdin = b"I saw the dog\nsaw I\n\nI saw I\n"
    done = ckyparse(*args, stdin=stdin)
    tree = "(S (NP I) (VP (V saw) (NP (Det the) (N dog))))"
    assert done == Done(1, f"{tree}\n\n\n(S (NP I) (VP (V saw) (NP I)))\n", "")
    done = ckyparse(*args, "--format", "tsv", stdin=stdin)
    assert done.out.splitlines() == [
        f"1\t{tree}",
        "2\t",
        "3\t",
        "4\t(S (NP I) (VP (V saw) (NP I)))",
    ]


def test_trees_of_tokens_that_only_json_can_have(ckyparse, english) -> None:
    """They leave the lines of the output whole."""
    tokens = ["a\nb", "saw", "\ud800"]
    args = ["parse", "-g", english, "--tokens", "json", "--unknown", "I"]
    stdin = json.dumps(tokens).encode()
    tree = r"(S (NP a\nb) (VP (V saw) (NP \ud800)))"
    assert ckyparse(*args, stdin=stdin) == Done(0, tree + "\n", "")
    assert ckyparse(*args, "--format", "tsv", stdin=stdin) == Done(0, f"1\t{tree}\n", "")
    done = ckyparse(*args, "--format", "jsonl", stdin=stdin)
    trees = [["S", ["NP", tokens[0]], ["VP", ["V", "saw"], ["NP", tokens[2]]]]]
    assert json.loads(done.out)["trees"] == trees


@pytest.mark.parametrize("output", ["trees", "tsv", "jsonl"])
def test_trees_are_written_in_whole_lines(ckyparse, english, monkeypatch, output) -> None:
    """So that an interrupt leaves no half of one, unless it is very long."""
    args = ["parse", "-g", english, "--all", "--format", output]
    stdin = b"I saw the dog in the park\n" * 20
    whole = ckyparse(*args, stdin=stdin)
    pieces: list[bytes] = []
    joined = parse_module._joined

    def watched(texts):
        for piece in joined(texts):
            pieces.append(piece)
            yield piece

    monkeypatch.setattr(parse_module, "_joined", watched)
    monkeypatch.setattr(parse_module, "_PIECE", 100)
    assert ckyparse(*args, stdin=stdin) == whole
    assert len(pieces) > 5
    assert all(not piece or piece.endswith(b"\n") for piece in pieces)
    pieces.clear()
    monkeypatch.setattr(parse_module, "_LONG", 10)
    assert ckyparse(*args, stdin=stdin) == whole
    assert len(pieces) >= 20


def test_all_trees_and_a_limit(ckyparse, english) -> None:
    args = ["parse", "-g", english]
    stdin = b"I saw the man in the park with the dog\nsaw\nI saw I\n"
    lines = ckyparse(*args, "--all", stdin=stdin).out.split("\n")
    assert len(set(lines[:5])) == 5
    assert lines[5:] == ["", "", "(S (NP I) (VP (V saw) (NP I)))", "", ""]
    some = ckyparse(*args, "--limit", 2, stdin=stdin).out.split("\n")
    assert some == [*lines[:2], *lines[5:]]
    objects = ckyparse(*args, "--all", "--format", "jsonl", stdin=stdin).out.splitlines()
    facts = [json.loads(line) for line in objects]
    assert [len(each["trees"]) for each in facts] == [5, 0, 1]
    assert facts[2] == {
        "line": 3,
        "accepted": True,
        "trees": [["S", ["NP", "I"], ["VP", ["V", "saw"], ["NP", "I"]]]],
    }


def test_of_infinitely_many_trees_some_are_printed(ckyparse, tmp_path) -> None:
    args = ["parse", "-g", write(tmp_path / "g", CYCLIC)]
    done = ckyparse(*args, "--all", stdin=b"a\nb\n")
    assert done.code == 1
    assert done.out == "(S a)\n(S (S a))\n\n\n"
    assert done.err == (
        "ckyparse: standard input:1: infinitely many trees; printed are those without cycles\n"
    )
    assert ckyparse(*args, "--limit", 1, stdin=b"a\n").out == "(S a)\n\n"
    assert ckyparse(*args, stdin=b"a\n") == Done(0, "(S a)\n", "")


def test_deep_trees(ckyparse, dyck) -> None:
    """Deeper than Python's recursion goes."""
    args = ["parse", "-g", dyck, "--tokens", "chars"]
    stdin = b"()" * 700
    assert ckyparse(*args, stdin=stdin).out.count("(S ( (S ) ) ") == 700
    objects = ckyparse(*args, "--format", "jsonl", stdin=stdin).out
    assert objects.count('["S", "(", ["S"], ")", ') == 700


def test_the_most_probable_tree(ckyparse, tmp_path) -> None:
    grammar = write(tmp_path / "g", "S -> A [0.3] | B [0.7]\nA -> 'x' [1.0]\nB -> 'x' [1.0]\n")
    assert ckyparse("parse", "-g", grammar, stdin=b"x\n").out == "(S (B x))\n"
    done = ckyparse("prob", "-g", grammar, "--best", stdin=b"x\n")
    assert float(done.out.split()[0]) == pytest.approx(math.log(0.7))


def test_count(ckyparse, english, tmp_path) -> None:
    stdin = b"I saw the man in the park with the dog\nsaw\n\xff\nI saw I\n"
    done = ckyparse("count", "-g", english, stdin=stdin)
    assert [line.split("\t")[0] for line in done.out.splitlines()] == ["5", "0", "?", "1"]
    assert done.code == 2
    objects = ckyparse("count", "-g", english, "--format", "jsonl", stdin=stdin).out.splitlines()
    assert [json.loads(line) for line in objects] == [
        {"line": 1, "accepted": True, "count": 5},
        {"line": 2, "accepted": False, "count": 0},
        {"line": 3, "accepted": None},
        {"line": 4, "accepted": True, "count": 1},
    ]
    catalan = write(tmp_path / "catalan", "S -> S S | 'a'\n")
    done = ckyparse("count", "-g", catalan, "--tokens", "chars", stdin=b"a" * 100)
    assert int(done.out.split("\t")[0]) == math.comb(198, 99) // 100


def test_infinite_counts(ckyparse, tmp_path) -> None:
    grammar = write(tmp_path / "g", CYCLIC)
    done = ckyparse("count", "-g", grammar, stdin=b"a b\nb\n")
    assert done == Done(1, "infinite\ta b\n0\tb\n", "")
    done = ckyparse("count", "-g", grammar, "--format", "jsonl", stdin=b"a\n")
    assert json.loads(done.out) == {"line": 1, "accepted": True, "count": "infinite"}


def test_prob(ckyparse, english, tmp_path) -> None:
    grammar = write(tmp_path / "g", COINS)
    args = ["prob", "-g", grammar, "--tokens", "chars"]
    done = ckyparse(*args, stdin=b"ab\naaa\n\nx\n")
    logs = [float(line.split("\t")[0]) for line in done.out.splitlines()]
    assert logs == pytest.approx([math.log(0.032), math.log(2 * 0.4**5), -math.inf, -math.inf])
    assert done.code == 1
    done = ckyparse(*args, "--exact", stdin=b"ab\naaa\n)\n")
    assert [line.split("\t")[0] for line in done.out.splitlines()] == ["4/125", "64/3125", "0"]
    done = ckyparse(*args, "--exact", "--format", "jsonl", stdin=b"a\n)\n")
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"line": 1, "accepted": True, "log": pytest.approx(math.log(0.4)), "probability": "2/5"},
        {"line": 2, "accepted": False, "log": None, "probability": "0"},
    ]
    refused(ckyparse("prob", "-g", english), "no probabilities")
    refused(ckyparse(*args, "--exact", "--best"), "--exact goes with")


def test_probabilities_without_end(ckyparse, tmp_path) -> None:
    grammar = write(tmp_path / "g", "S -> S [1.0] | 'a' [0.005]\n")
    for more in ([], ["--exact"]):
        refused(ckyparse("prob", "-g", grammar, *more, stdin=b"a\n"), "probabilities have no sum")


def test_an_empty_line_whose_probabilities_have_no_sum(ckyparse, tmp_path) -> None:
    grammar = tmp_path / "G.pcfg"
    grammar.write_text("S -> S [1.0] | [0.003] | 'a' 'b' [0.003] ")
    for more in ([], ["--exact"]):
        refused(ckyparse("prob", "-g", grammar, *more, stdin=b"\n"), "probabilities have no sum")
    best = ckyparse("prob", "-g", grammar, "--best", stdin=b"\n")
    assert (best.code, best.out) == (0, f"{math.log(0.003)}\t\n")


# --- info, convert, sample, bench ----------------------------------------------------


def test_info(ckyparse, english, tmp_path) -> None:
    done = ckyparse("info", english)
    assert done.code == 0
    assert re.search(r"productions: +16\n", done.out)
    assert re.search(r"ambiguous: 'I .*' has 2 parses", done.out)
    assert re.search(r"parses: +finite\n", done.out)
    facts = json.loads(ckyparse("info", "--json", write(tmp_path / "c", CYCLIC)).out)
    assert facts["parses"] == "infinite"
    assert facts["language"] == "infinite"
    assert facts["normal_form"]["binary_rules"] == 1


def test_an_empty_language_is_told(ckyparse, tmp_path) -> None:
    grammar = write(tmp_path / "g", "S -> S 'a'\nT -> 'b'\n")
    done = ckyparse("info", grammar)
    assert re.search(r"language: +empty\n", done.out)
    assert "S derives no string of terminals" in done.out
    done = ckyparse("accept", "-g", grammar, stdin=b"a\n\n")
    assert done[:2] == (1, "0\ta\n0\t\n")
    assert done.err == f"ckyparse: {grammar}: the language is empty, no sentence will be accepted\n"
    refused(ckyparse("sample", grammar), "empty")


def test_useless_symbols_are_noted(ckyparse, tmp_path) -> None:
    done = ckyparse("info", write(tmp_path / "g", "S -> 'a' | U\nU -> U 'b'\nV -> 'c'\n"))
    assert re.search(r"notes: .*U dropped: it derives no string", done.out)
    assert "V dropped: S does not lead to it" in done.out


def test_convert(ckyparse, dyck, english, tmp_path) -> None:
    """The grammar that comes out says the same of lines."""
    for grammar in (dyck, english):
        out = tmp_path / "cnf"
        assert ckyparse("convert", grammar, "-o", out) == Done(0, "", "")
        text = out.read_text()
        assert ckyparse("convert", grammar).out == text
        assert re.fullmatch(r"(%start S0?\n)?(\S+ ->( \S+ \S+| '\S+'|)\n)+", text)
        lines = ckyparse("sample", grammar, "-n", 20).out + ") (\nsaw I\n\n"
        for each in (grammar, out):
            done = ckyparse("accept", "-g", each, "--only", "accepted", stdin=lines.encode())
            assert len(done.out.splitlines()) == 20 + (grammar == dyck)
    notes = ckyparse("convert", write(tmp_path / "g", "S -> 'a'\nT -> 'b'\n"))
    assert notes[:2] == (0, "%start S\nS -> 'a'\n")
    assert "T dropped" in notes.err


def test_what_cannot_be_converted_leaves_no_file(ckyparse, tmp_path) -> None:
    out = tmp_path / "cnf"
    grammar = write(tmp_path / "g", "S -> S 'a'\n")
    done = ckyparse("convert", grammar, "-o", out)
    assert done.code == 2
    assert "the language is empty" in done.err
    refused(ckyparse("convert", write(grammar, "S -> "), "-o", tmp_path / "no" / "cnf"), "No such")
    assert os.listdir(tmp_path) == ["g"]


def test_sample(ckyparse, dyck, english) -> None:
    done = ckyparse("sample", dyck, "-n", 20, "--tokens", "chars", "--length", "4-8", "--seed", 5)
    lines = done.out.splitlines()
    assert len(lines) == 20
    assert all(closes(line) and 4 <= len(line) <= 8 for line in lines)
    again = ckyparse("sample", dyck, "-n", 20, "--tokens", "chars", "--length", "4-8", "--seed", 5)
    assert again == done
    text = ckyparse("sample", english, "--tokens", "json", "--length", 4).out
    assert {len(json.loads(line)) for line in text.splitlines()} == {4}
    stdin = ckyparse("sample", english, "-n", 30).out.encode()
    assert ckyparse("accept", "-g", english, stdin=stdin).code == 0
    refused(ckyparse("sample", dyck, "--length", 3), "no sentence has 3 tokens")
    refused(ckyparse("sample", dyck, "--length", "5-3"), "less than")
    assert ckyparse("sample", dyck, "-n", 0) == Done(0, "", "")


def test_bench(ckyparse, monkeypatch) -> None:
    pytest.importorskip("nltk")
    monkeypatch.setattr(bench, "SECONDS", 0.02)
    done = ckyparse(
        "bench", "--grammar", "4,10", "--length", 4, "--count", 40, "--json", "--threads", 1
    )
    [result] = json.loads(done.out)["results"]
    assert result["count"] == 40
    assert result["microseconds"] > 0
    assert 0 <= result["accepted"] <= 1
    assert result["peers"]["nltk"]["ratio"] > 0
    monkeypatch.setattr(bench, "_RANDOM", ((4, 10),))
    table = ckyparse("bench", "--length", 2, "--count", 40, "--threads", 1).out
    assert r"| S -> S S \| a " in table
    monkeypatch.setattr(bench, "_PATIENCE", 0.0)
    done = ckyparse("bench", "--grammar", "4,10", "--length", 4, "--count", 40, "--json")
    assert json.loads(done.out)["results"][0]["peers"] == {}
    refused(ckyparse("bench", "--grammar", "2,9"), "N\\*\\*3")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["bench", "--grammar", "32"], "write nonterminals and rules as in 32,8192"),
        (["bench", "--grammar", "a,b"], "write nonterminals and rules as in 32,8192"),
        (["sample", "G", "--length", "x"], "'x' is no length: write 8, or 3-12"),
        (["sample", "G", "--length", "1-2-3"], "'1-2-3' is no length"),
        (["sample", "G", "--length", "5-3"], "the second is less than the first"),
        (["parse", "-g", "G", "--all", "--cluster", "local:1"], "needs a --limit"),
    ],
)
def test_arguments_that_make_no_sense(ckyparse, dyck, arguments, says) -> None:
    refused(ckyparse(*(dyck if each == "G" else each for each in arguments)), says)
