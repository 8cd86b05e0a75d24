"""The ckyparse command: results, exit codes, and one line for what goes wrong."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckyparse.cli import blocks as blocks_module
from ckyparse.cli import lines as lines_module
from ckyparse.cli import main
from ckyparse.cli import parse as parse_module
from ckyparse.cli.blocks import blocks
from ckyparse.cli.channel import Channel, StoppedError
from kernels.cky import TooLongError
from kernels.cky import text as text_module

COMMAND = [sys.executable, "-c", "from ckyparse.cli import main; main()"]
DYCK = "S -> '(' S ')' S |\n"
ENGLISH = """S -> NP VP
NP -> 'I' | Det N | NP PP
Det -> 'the' | 'a'
N -> 'man' | 'park' | 'dog'
VP -> V NP | VP PP
V -> 'saw' | 'walked'
PP -> P NP
P -> 'in' | 'with'
"""
COINS = "S -> S S [0.4] | 'a' [0.4] | 'b' [0.2]\n"
CYCLIC = "S -> S | 'a' | S 'b'\n"


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def ckyparse(capsysbinary, monkeypatch: pytest.MonkeyPatch):
    """The command in this process."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(*args: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "argv", ["ckyparse", *map(str, args)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsysbinary.readouterr()
        return Done(stop.value.code, out.decode(errors="surrogateescape"), err.decode())

    return run


@pytest.fixture
def dyck(tmp_path) -> Path:
    return write(tmp_path / "dyck.cfg", DYCK)


@pytest.fixture
def english(tmp_path) -> Path:
    return write(tmp_path / "english.cfg", ENGLISH)


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def refused(done: Done, says: str, code: int = 2) -> None:
    assert done.code == code, done
    assert re.search(says, done.err), done.err
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("ckyparse: ")


def closes(line: str) -> bool:
    depth = 0
    for character in line:
        depth += {"(": 1, ")": -1}.get(character, -math.inf)
        if depth < 0:
            return False
    return depth == 0


# --- accept -----------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["auto", "reference"])
def test_accept(ckyparse, dyck, backend) -> None:
    args = ["accept", "-g", dyck, "--tokens", "chars", "--backend", backend]
    done = ckyparse(*args, stdin=b"()\n(()\n\n()()")
    assert done == Done(1, "1\t()\n0\t(()\n1\t\n1\t()()\n", "")
    assert ckyparse(*args, stdin=b"()\r\n(())\r\n") == Done(0, "1\t()\n1\t(())\n", "")
    assert ckyparse(*args) == Done(0, "", "")


def test_accept_only(ckyparse, dyck) -> None:
    args = ["accept", "-g", dyck, "--tokens", "chars", "--only"]
    stdin = b"()\n(()\n\xff\n()()\r\n"
    done = ckyparse(*args, "accepted", stdin=stdin)
    assert done[:2] == (2, "()\n()()\n")
    assert ckyparse(*args, "rejected", stdin=stdin)[:2] == (2, "(()\n")
    objects = ckyparse(*args, "rejected", "--output", "jsonl", stdin=stdin).out
    assert json.loads(objects) == {"line": 2, "accepted": False, "prefix": 3}


def test_accept_as_objects(ckyparse, english, tmp_path) -> None:
    stdin = b"I saw the dog\nI saw saw\nthe\n\nthe cat walked\n\xff\n"
    args = ["accept", "-g", english, "--output", "jsonl"]
    done = ckyparse(*args, stdin=stdin)
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"line": 1, "accepted": True},
        {"line": 2, "accepted": False, "prefix": 2},
        {"line": 3, "accepted": False, "prefix": 1},
        {"line": 4, "accepted": False, "prefix": 0},
        {"line": 5, "accepted": False, "prefix": 1},
        {"line": 6, "accepted": None},
    ]
    one, two = write(tmp_path / "one", stdin[:24]), write(tmp_path / "two", "I saw I\n")
    done = ckyparse(*args, one, two)
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"file": str(one), "line": 1, "accepted": True},
        {"file": str(one), "line": 2, "accepted": False, "prefix": 2},
        {"file": str(two), "line": 1, "accepted": True},
    ]


def test_files_come_in_order_and_a_missing_one_harms_no_other(ckyparse, dyck, tmp_path) -> None:
    one, two = write(tmp_path / "one", "()\n(("), write(tmp_path / "two", "()()\n")
    args = ["accept", "-g", dyck, "--tokens", "chars"]
    done = ckyparse(*args, two, "-", one, stdin=b"(())\n")
    assert done == Done(1, "1\t()()\n1\t(())\n1\t()\n0\t((\n", "")
    done = ckyparse(*args, two, tmp_path / "none", tmp_path, one)
    assert done.code == 2
    assert done.out == "1\t()()\n1\t()\n0\t((\n"
    assert done.err == (
        f"ckyparse: {tmp_path / 'none'}: No such file or directory\n"
        f"ckyparse: {tmp_path}: Is a directory\n"
    )


def test_lines_are_counted_anew_in_each_file(ckyparse, dyck, tmp_path) -> None:
    one = write(tmp_path / "one", "()\n((\n")
    done = ckyparse(
        "accept", "-g", dyck, "--tokens", "chars", "--output", "jsonl", one, one, "-", "-"
    )
    assert [json.loads(line)["line"] for line in done.out.splitlines()] == [1, 2, 1, 2]


def test_start(ckyparse, english) -> None:
    args = ["accept", "-g", english, "--start"]
    assert ckyparse(*args, "NP", stdin=b"the dog\nI saw I\n")[:2] == (1, "1\tthe dog\n0\tI saw I\n")
    refused(ckyparse(*args, "XP"), "XP")


def test_skip_empty(ckyparse, dyck, english) -> None:
    args = ["accept", "--skip-empty", "-g"]
    done = ckyparse(*args, dyck, "--tokens", "chars", stdin=b"\n()\n\r\n\n)\n\xff\n")
    assert done[:2] == (2, "1\t()\n0\t)\n?\t\udcff\n")
    assert ckyparse(*args, english, stdin=b"\n \t\nI saw I\n") == Done(0, "1\tI saw I\n", "")
    assert ckyparse("accept", "-g", english, stdin=b" \n")[:2] == (1, "0\t \n")


@pytest.mark.parametrize(
    ("way", "line"),
    [
        ("space", b"I  saw\tthe dog "),
        (r"regex:\w+", b"I saw, the dog"),
        (r"regex:\w+|,", b"I saw the dog"),
        ("json", rb'["I", "saw", "th\u0065", "dog"]'),
    ],
)
def test_tokens(ckyparse, english, way, line) -> None:
    done = ckyparse("accept", "-g", english, "--tokens", way, stdin=line + b"\n" + line)
    expected = 0 if b"," in line and way == r"regex:\w+" else 1
    text = f"{expected}\t{line.decode()}\n"
    assert done[:2] == (1 - expected, 2 * text)


def test_between_the_matches_of_a_pattern_nothing_is_lost(ckyparse, tmp_path) -> None:
    grammar = write(tmp_path / "g", "S -> 'don' \"'\" 't' | 'é' S\n")
    args = ["accept", "-g", grammar, "--tokens", r"regex:\w+"]
    stdin = "don't\né don ' t\né é!don't\n".encode()
    done = ckyparse(*args, stdin=stdin)
    assert done[:2] == (1, "1\tdon't\n1\té don ' t\n0\té é!don't\n")
    assert "standard input:3:4: unknown token '!'" in done.err
    stdin = "don't\né  don't  ?".encode()
    done = ckyparse(*args[:-1], "regex:(?:t|'|é|don)?", stdin=stdin)  # matches nothing, too
    assert done[:2] == (1, "1\tdon't\n0\té  don't  ?\n")
    assert "standard input:2:11: unknown token '?'" in done.err


def test_lines_that_are_no_json(ckyparse, english) -> None:
    lines = ['["I"', '{"I": 1}', '["I", 1]', "[" * 100_000, '["I", "saw", "I"]', "", "[]", '"I"']
    stdin = "\n".join(lines).encode()
    done = ckyparse("accept", "-g", english, "--tokens", "json", stdin=stdin)
    assert [line[0] for line in done.out.splitlines()] == list("????1?0?")
    assert done.code == 2
    assert done.err.count("not a JSON array of strings") == 6
    assert "standard input:2: not" in done.err


def test_unknown_tokens_reject_a_line_and_are_told(ckyparse, english) -> None:
    stdin = b"I saw the dog\nI saw the cat\ncats and dogs\n"
    done = ckyparse("accept", "-g", english, stdin=stdin)
    assert done.code == 1
    assert [line[0] for line in done.out.splitlines()] == list("100")
    assert done.err == (
        "ckyparse: 2 lines with tokens that the grammar has not: "
        "standard input:2:11: unknown token 'cat'\n"
    )


@pytest.mark.parametrize("way", ["space", "json", r"regex:\w+", "chars"])
def test_unknown_tokens_as_an_error(ckyparse, english, tmp_path, way) -> None:
    """What comes before is out, and nothing of what comes after."""
    lines = ["I saw the dog", "I saw the cat", "I saw I"]
    if way == "json":
        lines = [json.dumps(line.split()) for line in lines]
    file = write(tmp_path / "lines", "\n".join(lines))
    args = ["accept", "-g", english, "--tokens", way, "--unknown", "error", file]
    done = ckyparse(*args)
    if way == "chars":
        refused(done, r"lines:1:2: unknown token ' '")
        return
    column = 1 if way == "json" else 11
    refused(done, rf"lines:2:{column}: unknown token 'cat'")
    assert done.out == f"1\t{lines[0]}\n"


@pytest.mark.parametrize("unknown", ["reject", "error"])
def test_long_unknown_tokens_are_named_in_part(ckyparse, english, unknown) -> None:
    stdin = b"I saw " + b"x" * 100_000
    done = ckyparse("accept", "-g", english, "--unknown", unknown, stdin=stdin)
    assert re.search(r"standard input:1:7: unknown token 'x{20,40}…'\n$", done.err)


def test_unknown_tokens_as_another(ckyparse, english) -> None:
    args = ["-g", english, "--unknown", "dog"]
    done = ckyparse("accept", *args, stdin=b"I saw the cat\n")
    assert done == Done(0, "1\tI saw the cat\n", "")
    assert "cat" in ckyparse("parse", *args, stdin=b"I saw the cat\n").out
    refused(ckyparse("accept", "-g", english, "--unknown", "cat"), "--unknown cat: no terminal")


def test_what_is_no_utf8_is_named_and_harms_no_other(ckyparse, dyck) -> None:
    stdin = b"()\n" + "é(".encode() + b"\xc3\n(())\n\xff\n"
    done = ckyparse("accept", "-g", dyck, "--tokens", "chars", stdin=stdin)
    assert done.out == "1\t()\n?\té(\udcc3\n1\t(())\n?\t\udcff\n"
    assert done.code == 2
    assert done.err == (
        "ckyparse: standard input:2:3: byte 0xc3 is not UTF-8\n"
        "ckyparse: standard input:4:1: byte 0xff is not UTF-8\n"
    )
    many = ckyparse("accept", "-g", dyck, "--tokens", "chars", stdin=b"\xff\n" * 50)
    assert len(many.err.splitlines()) == 11
    assert "not UTF-8: 40 more" in many.err


def test_nul_bytes_and_byte_order_marks(ckyparse, tmp_path) -> None:
    grammar = write(tmp_path / "g", b"S -> '\0' | '\0' S\n")
    done = ckyparse("accept", "-g", grammar, "--tokens", "chars", stdin=b"\xef\xbb\xbf\0\0\na\0\n")
    assert done[:2] == (1, "1\t\0\0\n0\ta\0\n")


def test_too_long_for_memory(ckyparse, dyck, monkeypatch) -> None:
    from kernels.cky.ref import ReferenceCky

    monkeypatch.setattr(ReferenceCky, "max_length", 6)
    stdin = b"()\n" + b"()" * 4 + b"\n(()())\n" + b"(" * 9
    args = ["-g", dyck, "--tokens", "chars", "--backend", "reference"]
    done = ckyparse("accept", *args, stdin=stdin)
    assert [line[0] for line in done.out.splitlines()] == list("1?1?")
    assert done.code == 2
    assert done.err == (
        "ckyparse: standard input:2: 8 tokens; memory suffices for 6\n"
        "ckyparse: standard input:4: 9 tokens; memory suffices for 6\n"
    )
    assert ckyparse("parse", *args, stdin=stdin).out.count("\n") == 4


def test_memory_is_that_of_charts(ckyparse, dyck) -> None:
    args = ["accept", "-g", dyck, "--tokens", "chars", "--backend", "reference", "--memory"]
    done = ckyparse(*args, "40K", stdin=b"()\n" + b"()" * 20)
    assert done.code == 2
    assert [line[0] for line in done.out.splitlines()] == list("1?")
    refused(ckyparse(*args, "lots"), "no amount of memory")


def test_lines_longer_than_a_block_are_passed_over(ckyparse, dyck, monkeypatch) -> None:
    monkeypatch.setattr(lines_module, "BLOCK_BYTES", 16)
    stdin = (
        b"()\n" + b"(" * 50 + b"\n(())\n" + b"(" * 16 + b"\n" + b")" * 15 + b"\n()\n" + b"(" * 99
    )
    done = ckyparse("accept", "-g", dyck, "--tokens", "chars", stdin=stdin)
    assert done.out == f"1\t()\n?\t\n1\t(())\n?\t\n0\t{')' * 15}\n1\t()\n?\t\n"
    assert done.code == 2
    assert [line.split(";")[0] for line in done.err.splitlines()] == [
        "ckyparse: standard input:2: a line of 50 bytes",
        "ckyparse: standard input:4: a line of 16 bytes",
        "ckyparse: standard input:7: a line of 99 bytes",
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("()x", max_size=6), max_size=30), st.integers(8, 60), st.booleans())
def test_results_do_not_depend_on_blocks(lines, size, last) -> None:
    """In order, for any cut."""
    text = "\n".join(lines) + ("\n" if last and lines else "")
    found = run_blocks(text.encode(), size)
    assert b"".join(found).decode() == text
    assert all(len(block) <= size for block in found)
    assert all(block.endswith(b"\n") for block in found[:-1])


def run_blocks(data: bytes, size: int) -> list[bytes]:
    class Chunks(io.RawIOBase):
        """Gives few bytes at a time."""

        def __init__(self) -> None:
            self.left = io.BytesIO(data)

        def readinto(self, buffer) -> int:
            return self.left.readinto(memoryview(buffer)[:7])

    reader = blocks_module._Reader("x", Chunks(), lambda: True, size)
    return [block.text.tobytes() for block in reader.blocks()]


def test_many_blocks_and_jobs_keep_the_order(ckyparse, dyck, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(lines_module, "BLOCK_BYTES", 1 << 12)
    rng = np.random.default_rng(7)
    lines = ["".join("()x"[i] for i in rng.integers(0, 3, rng.integers(0, 9))) for _ in range(9000)]
    file = write(tmp_path / "lines", "".join(f"{line}\n" for line in lines))
    done = ckyparse("accept", "-g", dyck, "--tokens", "chars", "--jobs", 3, file)
    assert done.out == "".join(f"{int(closes(line))}\t{line}\n" for line in lines)
    assert done.code == 1


@pytest.mark.parametrize("most", [1, 2, 7])
def test_many_short_lines_are_parted(ckyparse, dyck, monkeypatch, most) -> None:
    stdin = b"()\n\n(x)\n\xff\r\n\n)x\n(())\r\n" + b"\n" * 20 + b"(\xff)"
    for output in ("tsv", "jsonl"):
        args = ["accept", "-g", dyck, "--tokens", "chars", "--output", output]
        expected = ckyparse(*args, stdin=stdin)
        with monkeypatch.context() as patch:
            patch.setattr(lines_module, "BLOCK_LINES", most)
            assert ckyparse(*args, stdin=stdin) == expected


def test_the_same_without_the_extension(ckyparse, dyck, monkeypatch) -> None:
    stdin = b"()\n(x)\n\xff\n\n"
    args = ["accept", "-g", dyck, "--tokens", "chars", "--backend", "reference"]
    expected = ckyparse(*args, stdin=stdin)
    monkeypatch.setattr(text_module, "_cpu", None)
    assert ckyparse(*args, stdin=stdin) == expected


# --- parse, count, prob -----------------------------------------------------------


def test_parse(ckyparse, english) -> None:
    args = ["parse", "-g", english]
    stdin = b"I saw the dog\nsaw I\n\nI saw I\n"
    done = ckyparse(*args, stdin=stdin)
    tree = "(S (NP I) (VP (V saw) (NP (Det the) (N dog))))"
    assert done == Done(1, f"{tree}\n\n\n(S (NP I) (VP (V saw) (NP I)))\n", "")
    done = ckyparse(*args, "--output", "tsv", stdin=stdin)
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
    assert ckyparse(*args, "--output", "tsv", stdin=stdin) == Done(0, f"1\t{tree}\n", "")
    done = ckyparse(*args, "--output", "jsonl", stdin=stdin)
    trees = [["S", ["NP", tokens[0]], ["VP", ["V", "saw"], ["NP", tokens[2]]]]]
    assert json.loads(done.out)["trees"] == trees


@pytest.mark.parametrize("output", ["trees", "tsv", "jsonl"])
def test_trees_are_written_in_whole_lines(ckyparse, english, monkeypatch, output) -> None:
    """So that an interrupt leaves no half of one, unless it is very long."""
    args = ["parse", "-g", english, "--all", "--output", output]
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
    objects = ckyparse(*args, "--all", "--output", "jsonl", stdin=stdin).out.splitlines()
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
    objects = ckyparse(*args, "--output", "jsonl", stdin=stdin).out
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
    objects = ckyparse("count", "-g", english, "--output", "jsonl", stdin=stdin).out.splitlines()
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
    done = ckyparse("count", "-g", grammar, "--output", "jsonl", stdin=b"a\n")
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
    done = ckyparse(*args, "--exact", "--output", "jsonl", stdin=b"a\n)\n")
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


# --- info, convert, sample, bench ----------------------------------------------------------


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
    """What comes out is a grammar that says the same of lines."""
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


def test_bench(ckyparse) -> None:
    pytest.importorskip("nltk")
    done = ckyparse(
        "bench", "--grammar", "4,10", "--length", 4, "--count", 40, "--json", "--jobs", 1
    )
    [result] = json.loads(done.out)["results"]
    assert result["count"] == 40
    assert result["microseconds"] > 0
    assert 0 <= result["accepted"] <= 1
    table = ckyparse("bench", "--grammar", "4,10", "--length", 4, "--count", 40).out
    assert re.search(r"4,10 +4 +40 +[\d.]+% +[\d.]+ +[\d,]+x", table)
    refused(ckyparse("bench", "--grammar", "2,9"), "N\\*\\*3")


# --- bad grammars and options -----------------------------------------------------


def test_what_is_no_grammar(ckyparse, tmp_path) -> None:
    for command in (["accept", "-g"], ["info"], ["sample"]):
        bad = write(tmp_path / "bad.cfg", "S -> 'a'\nT -> 'b\n")
        refused(ckyparse(*command, bad), r"bad.cfg:2:6: ")
        refused(ckyparse(*command, tmp_path / "none"), "none: .*No such file")
        refused(ckyparse(*command, write(tmp_path / "latin", b"S -> '\xe9'")), "not UTF-8")
    undefined = write(tmp_path / "undefined", "S -> 'a' T\n")
    refused(ckyparse("accept", "-g", undefined), r"undefined:1:10: .*T")
    sums = write(tmp_path / "sums", "S -> 'a' [0.5] | 'b' [0.2]\n")
    refused(ckyparse("prob", "-g", sums), "0.7")


def test_options_that_make_no_sense(ckyparse, dyck) -> None:
    for args, says in [
        (["--tokens", "regex"], "pattern"),
        (["--tokens", "regex:("], "no regular expression"),
        (["--tokens", "words"], "none of"),
        (["--tokens", "space:x"], "none of"),
        (["--jobs", "0"], "jobs"),
        (["--output", "trees"], "trees"),
        (["--backend", "abacus"], "abacus"),
    ]:
        refused(ckyparse("accept", "-g", dyck, *args), says)
    refused(ckyparse("accept"), "--grammar")


def test_no_backend(ckyparse, dyck, monkeypatch) -> None:
    from kernels import choose
    from kernels.backend import BackendUnavailableError

    def unavailable(*args):
        raise BackendUnavailableError("no GPU here")

    monkeypatch.setattr(choose, "_make", unavailable)
    refused(ckyparse("accept", "-g", dyck, "--backend", "cuda", stdin=b"()"), "no GPU here", 3)


def test_backend_device_and_jobs_are_asked_for(ckyparse, dyck, monkeypatch) -> None:
    from kernels import choose
    from kernels.reference import ReferenceBackend

    asked = []

    def make(*args):
        asked.append(args)
        return ReferenceBackend()

    monkeypatch.setattr(choose, "_make", make)
    args = ["--tokens", "chars", "--backend", "cuda", "--device", 3, "--jobs", 5]
    assert ckyparse("accept", "-g", dyck, *args, stdin=b"()\n") == Done(0, "1\t()\n", "")
    assert set(asked) == {("cuda", 3, 5)}


def test_help_needs_no_numpy() -> None:
    code = "import sys; sys.argv[1:] = ['--help']\nfrom ckyparse.cli import main\ntry: main()\n"
    code += "except SystemExit: pass\nassert not {'numpy', 'nltk', 'rich'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "accept" in done.stdout


# --- streams ----------------------------------------------------------------------


def spawn(*args: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **options,
    )


def test_results_come_while_the_input_waits_and_an_interrupt_ends_it(dyck) -> None:
    process = spawn("accept", "-g", dyck, "--tokens", "chars")
    assert process.stdin is not None
    assert process.stdout is not None
    for line, answer in ((b"()\n", b"1\t()\n"), (b")\n", b"0\t)\n")):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == answer
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"ckyparse: interrupted\n")


def test_progress_on_a_terminal(dyck, tmp_path) -> None:
    file = write(tmp_path / "lines", "()\n" * 1000)
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*COMMAND, "accept", "-g", str(dyck), "--tokens", "chars", str(file)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=60,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # that of a terminal without its other end
        while piece := os.read(ours, 1 << 16):
            shown += piece
    os.close(ours)
    assert done.stdout == b"1\t()\n" * 1000
    assert b"1,000 lines" in shown
    assert b"100%" in shown


def test_an_interrupt_while_the_input_waits(dyck) -> None:
    """Nothing of threads or leaks is said, though standard input stays open."""
    process = spawn("accept", "-g", dyck, "--tokens", "chars")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        process.stdin.write(b"()\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"1\t()\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"ckyparse: interrupted\n"


def test_an_interrupt_while_nobody_reads(dyck, tmp_path) -> None:
    """The pipe is full, so that the thread that writes is stuck."""
    file = write(tmp_path / "lines", "()\n" * 400_000)
    process = spawn("accept", "-g", dyck, "--tokens", "chars", file)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        assert process.stdout.read(4) == b"1\t()"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"ckyparse: interrupted\n"


def test_a_pipe_that_is_closed_ends_it(dyck, tmp_path) -> None:
    file = write(tmp_path / "lines", "()\n" * 400_000)
    process = spawn("accept", "-g", dyck, "--tokens", "chars", file)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stderr:
        process.stdout.read(4)
        process.stdout.close()
        assert process.wait(timeout=60) == 1
        assert process.stderr.read() == b""


def test_a_full_disk_is_told(dyck) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        process = spawn("accept", "-g", dyck, "--tokens", "chars", stdout=full)
        _, err = process.communicate(b"()\n", timeout=60)
    assert process.returncode == 2
    assert err.startswith(b"ckyparse: cannot write standard output: ")


# --- the parts --------------------------------------------------------------------


def test_a_channel_is_bounded_and_keeps_the_order() -> None:
    channel: Channel[int] = Channel(2)
    found = []

    def receive() -> None:
        for item in channel:
            assert item - len(found) <= 0
            found.append(item)

    thread = threading.Thread(target=receive)
    thread.start()
    for i in range(1000):
        channel.put(i)
    channel.close()
    thread.join(timeout=60)
    assert found == list(range(1000))


def test_a_channel_stops_and_fails() -> None:
    channel: Channel[int] = Channel(1)
    channel.put(1)
    channel.stop()
    with pytest.raises(StoppedError):
        channel.put(2)
    assert list(channel) == []
    failing: Channel[int] = Channel(1)
    failing.put(1)
    failing.close(OSError("gone"))
    received = iter(failing)
    assert next(received) == 1
    with pytest.raises(OSError, match="gone"):
        next(received)


def test_a_block_waits_for_more_only_while_nobody_waits_for_it() -> None:
    read, written = os.pipe()
    hungry = threading.Event()
    with open(read, "rb", buffering=0) as stream, open(written, "wb", buffering=0) as pipe:
        reader = blocks_module._Reader("x", stream, hungry.is_set, 1 << 10)
        found = reader.blocks()
        pipe.write(b"one\ntwo\nthr")
        hungry.set()
        assert next(found).text.tobytes() == b"one\ntwo\n"
        hungry.clear()
        later = threading.Timer(
            0.1, lambda: (pipe.write(b"ee\n"), pipe.write(b"four"), pipe.close())
        )
        later.start()
        assert next(found).text.tobytes() == b"three\nfour"
        assert next(found, None) is None
        later.join()


def test_unreadable_files_are_blocks_that_tell(tmp_path) -> None:
    [block] = blocks([str(tmp_path / "none")], lambda: True, 100)
    assert (block.trouble, block.line) == ("No such file or directory", False)


def test_an_engine_that_cannot_say_which_is_too_long_fails(ckyparse, dyck, monkeypatch) -> None:
    """No endless loop where a string is too long that does not look so."""
    from ckyparse.parser import CKYParser

    def refuse(self, batch):
        raise TooLongError(0, 2, 2)

    monkeypatch.setattr(CKYParser, "accepts", refuse)
    done = ckyparse("accept", "-g", dyck, "--tokens", "chars", stdin=b"()\n")
    refused(done, "out of memory: string 1 has 2 tokens")
