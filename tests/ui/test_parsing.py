"""The model of the parsing window, against ckyparse, nltk's parser and plain arithmetic."""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import nltk
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tree import ProbabilisticTree, Tree

from ckyparse import draw
from ckyparse.drawing.layout import NodeBox, TreeLayout, Triangle, lay_out, shown
from ckyparse.grammar import GrammarError
from kernels.cky import cell, cells
from tests import quick
from tests.waiting import until
from ui.parsing import model as parsing
from ui.parsing import sentences
from ui.parsing.export import MOST_OUTLINE, drawn
from ui.parsing.files import FileError, check_source, read_grammar, write
from ui.parsing.model import (
    FoundTree,
    Language,
    Latest,
    SentenceLook,
    Way,
    exact_count,
    look,
    read,
    short_count,
)
from ui.parsing.sentences import (
    ACCEPTED,
    BROKEN,
    REJECTED,
    TOO_LONG,
    Findings,
    SentenceLines,
    TextError,
    examples,
)

CATALAN = "S -> S S | 'a'"
DYCK = "S -> S S | '(' S ')' | '(' ')'"


def judged(language: Language, text: str | bytes, way: Way | None = None) -> Findings:
    lines = SentenceLines(text) if isinstance(text, bytes) else SentenceLines.of(text)
    findings = Findings(language, way or language.likely_tokens, lines)
    for seen in findings.judge(lambda: (0, 1)):
        assert seen is findings
    return findings


def last_look(language: Language, sentence: str, way: Way | None = None) -> SentenceLook:
    results = list(look(language, way or language.likely_tokens, sentence))
    return [result for result in results if isinstance(result, SentenceLook)][-1]


# --- grammars and sentences --------------------------------------------------------


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.name)
def test_examples_are_judged_as_they_say(path: Path) -> None:
    language = read(read_grammar(path))
    beside = path.with_suffix(".examples")
    way, *rows = beside.read_text().splitlines()
    assert language.likely_tokens == way.split()[1]
    lines = SentenceLines.read(beside)
    findings = judged(language, lines.data)
    assert len(lines) == len(rows)
    for index, row in enumerate(rows):
        sign, _, sentence = row.partition(" ")
        assert lines[index] == sentence
        count = {"-": 0, "+inf": math.inf}.get(sign) if sign in ("-", "+inf") else int(sign)
        assert findings.count(index) == count
        assert findings.verdicts[index] == (ACCEPTED if count else REJECTED)
        assert bool(findings.note(index)) == (not count)
        seen = last_look(language, sentence)
        assert (seen.accepted, seen.count) == (bool(count), count)
        if not count:
            assert seen.prefix == findings.prefixes[index]


def test_what_is_counted_at_once_is_in_the_first_look() -> None:
    language = read(CATALAN)
    first, found = look(language, "chars", "aaaa")
    assert isinstance(first, SentenceLook)
    assert isinstance(found, FoundTree)
    assert first.count == 5


def test_chart_and_trees_are_those_of_nltk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_AT_ONCE", 0.0)
    path = next(path for path in examples() if path.name == "english.cfg")
    text = read_grammar(path)
    language = read(text)
    parser = nltk.ChartParser(nltk.CFG.fromstring(text))
    words = ["I", "saw", "the", "man", "on", "the", "hill", "with", "a", "telescope"]
    first, found, last = look(language, "space", " ".join(words))
    assert isinstance(first, SentenceLook)
    assert isinstance(found, FoundTree)
    assert isinstance(last, SentenceLook)
    assert (first.count, last.count) == (None, 5)
    assert last.trees is first.trees is not None
    trees = [next(iter(last.trees.seek(index))) for index in range(5)]
    assert trees[0] == found.tree
    assert {str(tree) for tree in trees} == {str(tree) for tree in parser.parse(words)}
    chart = parser.chart_parse(words)
    for start, end in itertools.combinations(range(len(words) + 1), 2):
        edges = chart.select(span=(start, end), is_complete=True)
        names = {str(edge.lhs()) for edge in edges if not isinstance(edge.lhs(), str)}
        assert set(last.names(start, end)) == names
        filled = 0 if not names else 2 if "S" in names else 1
        assert last.filled[cell(start, end)] == filled


def test_error_has_its_place() -> None:
    with pytest.raises(GrammarError) as caught:
        read("S -> 'a'\nS -> 'b' )\n")
    assert (caught.value.line, caught.value.column) == (2, 10)
    with pytest.raises(GrammarError):
        read("prose, and no grammar")


@pytest.mark.parametrize(
    ("sentence", "prefix", "note"),
    [
        ("John saw", 2, "it ends too soon"),
        ("man slept", 0, "no sentence begins with 'man'"),
        ("John slept the dog", 2, "'the' cannot come there (token 3)"),
        ("John saw zebras", 2, "the grammar has no 'zebras' (token 3)"),
        ("", 0, "it is empty"),
    ],
)
def test_why_not(sentence: str, prefix: int, note: str) -> None:
    path = next(path for path in examples() if path.name == "english.cfg")
    language = read(read_grammar(path))
    findings = judged(language, sentence + "\n")
    assert (int(findings.prefixes[0]), findings.note(0)) == (prefix, note)
    seen = last_look(language, sentence)
    assert seen.verdict == f"rejected: {note}"
    assert seen.trees is None


def test_numbers_beyond_words() -> None:
    language = read(CATALAN)
    findings = judged(language, "a" * 100 + "\n" + "a" * 3 + "\nb\n")
    catalan = math.comb(198, 99) // 100
    assert [findings.count(i) for i in range(3)] == [catalan, 2, 0]
    assert last_look(language, "a" * 100).count == catalan
    assert exact_count(catalan) == f"{catalan:,}"
    assert findings.summary() == "3 sentences: 2 accepted, 1 rejected, 2 ambiguous"


def test_no_end_of_parses() -> None:
    language = read("S -> S | 'a' | S S")
    findings = judged(language, "a\naa\nb\n")
    assert [findings.count(i) for i in range(3)] == [math.inf, math.inf, 0]
    said = "3 sentences: 2 accepted, 1 rejected, 2 ambiguous (2 with infinitely many parses)"
    assert findings.summary() == said
    seen = last_look(language, "aa")
    assert seen.verdict == "accepted, infinitely many parses"
    assert seen.trees is not None
    index = 0
    while next(iter(seen.trees.seek(index))) is not None:
        index += 1
    assert seen.trees.end == index == len(list(language.looker.parse("aa")))


def test_as_many_are_ambiguous_as_are_shown_to_be() -> None:
    findings = judged(read("S -> S S | 'a' | T 'c'\nT -> T | 'a'"), "a\naaa\nac\nb\n")
    assert [findings.count(i) for i in range(4)] == [1, 2, math.inf, 0]
    assert findings.ambiguous.tolist() == [False, True, True, False]
    assert findings.summary().endswith(" 2 ambiguous (1 with infinitely many parses)")


def test_too_long_is_said_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_STEPS", 1e5)
    language = read(CATALAN)
    longest = language.longest
    assert 20 < longest < 60
    findings = judged(language, f"a\n{'a' * (longest + 1)}\naa\n{'a' * longest}\n")
    assert findings.verdicts.tolist() == [ACCEPTED, TOO_LONG, ACCEPTED, ACCEPTED]
    assert findings.count(1) is None
    assert str(longest) in findings.note(1)
    assert "1 too long" in findings.summary()
    (seen,) = look(language, "chars", "a" * (longest + 1))
    assert isinstance(seen, SentenceLook)
    assert seen.problem == seen.verdict
    assert seen.chart is None
    assert str(longest) in seen.problem


def test_hard_counts_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_AT_ONCE", 1e-5)
    monkeypatch.setattr(parsing, "COUNTING", 2e-5)
    monkeypatch.setattr(sentences, "COUNTING", 2e-5)
    language = read(CATALAN)
    findings = judged(language, "a" * 50 + "\naaa\n")
    assert findings.verdicts.tolist() == [ACCEPTED, ACCEPTED]
    assert [findings.count(0), findings.count(1)] == [None, 2]
    assert findings.is_counted(0)
    seen = last_look(language, "a" * 50)
    assert (seen.accepted, seen.count) == (True, None)
    assert "too many" in seen.verdict


def test_lines_that_are_no_text() -> None:
    language = read(DYCK)
    findings = judged(language, b"()\n\xff(\n((\n")
    assert findings.verdicts.tolist() == [ACCEPTED, BROKEN, REJECTED]
    assert findings.note(1) == "not UTF-8"
    assert findings.count(1) == 0


def test_an_empty_batch() -> None:
    findings = judged(read(DYCK), b"")
    assert findings.summary() == "no sentences"


def test_many_sentences_come_by_and_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "_FIRST", 64)
    monkeypatch.setattr(sentences, "_SLICE", 256)
    monkeypatch.setattr(sentences, "_COUNTED", 8)
    language = read(DYCK)
    rows = ["()" * (i % 7) + "(" * (i % 3 == 1) for i in range(300)]
    findings = Findings(language, "chars", SentenceLines.of("\n".join(rows)))
    steps, seen_early = 0, False
    for _ in findings.judge(lambda: (292, 300)):
        steps += 1
        # Those that are looked at are counted before others.
        seen_early |= findings.judged == 300 and findings.is_counted(299) and findings.seen == 0
    assert steps > 20
    assert seen_early
    expected = language.parser.counts(rows)
    assert [findings.count(i) for i in range(300)] == list(expected)
    assert findings.prefixes[[r.endswith("(") for r in rows]].tolist() == [
        len(r) for r in rows if r.endswith("(")
    ]


@given(st.text(alphabet="ab \t\n\r\v\f\u2003é(", max_size=60), st.sampled_from(["space", "chars"]))
@settings(max_examples=quick.examples(60))
def test_lines_and_tokens_are_those_of_the_command(text: str, way: Way) -> None:
    language = _AB
    lines = SentenceLines.of(text)
    tokenizer = language.tokenizer(way)
    batch = tokenizer.encode(lines.bytes).batch
    assert len(batch) == len(lines)
    for index in range(len(lines)):
        tokens = parsing.split(lines[index], way)
        assert tokens == tokenizer.words(lines.raw(index))
        assert len(tokens) == batch.lengths[index]


_AB = read("S -> 'a' S | 'b'")


def test_lists_of_sentences() -> None:
    lines = SentenceLines.of("a\r\nb\rc")
    assert [lines[i] for i in range(3)] == ["a", "b", "c"]
    assert lines.plus(SentenceLines.of("d\n")).data == b"a\nb\nc\nd\n"
    assert lines.without(np.array([0, 2])).data == b"b\n"
    assert lines.replaced(1, "x\ny").data == b"a\nx y\nc\n"
    assert lines.replaced(2, "").data == b"a\nb\n\n"
    assert len(SentenceLines.of("")) == 0
    assert len(SentenceLines.of("\n")) == 1


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sentences, "MOST_BYTES", 100)
    monkeypatch.setattr(sentences, "MOST_LINES", 10)
    with pytest.raises(TextError, match="too many"):
        SentenceLines.of("\n" * 11)
    with pytest.raises(TextError, match="too much"):
        SentenceLines.of("a" * 101)
    path = tmp_path / "much.txt"
    path.write_bytes(b"a" * 60)
    with pytest.raises(TextError, match="too much"):
        SentenceLines.read_all([path, path, tmp_path / "which there is no need to read"])
    path.write_bytes(b"a" * 200)
    with pytest.raises(TextError, match="more than"):
        SentenceLines.read(path)


def test_files_one_after_the_other(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("b", "a", "c")]
    for path in paths:
        path.write_bytes(path.name.encode() * 2)
    assert SentenceLines.read_all(paths).data == b"bb\naa\ncc\n"
    assert SentenceLines.read_all([]).data == b""
    calls = iter([False, True])
    assert SentenceLines.read_all(paths, lambda: next(calls)).data == b"bb\naa\n"


def test_how_much_of_files_has_been_read(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"a\n")
    large.write_bytes(b"b\n" * (5 << 19))
    told: list[float] = []
    lines = SentenceLines.read_all([small, large], progress=told.append)
    assert lines.data == small.read_bytes() + large.read_bytes()
    assert told == [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def test_files(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="cannot be read"):
        SentenceLines.read(tmp_path / "none")
    with pytest.raises(FileError, match="cannot be read"):
        read_grammar(tmp_path)
    path = tmp_path / "picture"
    path.write_bytes(b"GIF\0\xff")
    with pytest.raises(TextError, match="no text"):
        SentenceLines.read(path)
    with pytest.raises(FileError, match=":1: no grammar: not UTF-8"):
        read_grammar(path)
    write(path, b"S -> 'a'")
    assert read_grammar(path) == "S -> 'a'"
    with pytest.raises(FileError, match="cannot be written"):
        write(tmp_path / "no" / "where", b"")
    assert [p.name for p in tmp_path.iterdir()] == ["picture"]


# --- trees ----------------------------------------------------------------------


def test_trees_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_KEPT", 3)
    monkeypatch.setattr(parsing, "_ON_THE_WAY", 4)
    language = read(CATALAN)
    seen = last_look(language, "aaaaaa")
    every = list(language.looker.parse("aaaaaa"))
    assert len(every) == 42
    assert seen.trees is not None
    for index in (0, 41, 5, 6, 4, 20, 0):
        *way, found = seen.trees.seek(index)
        assert found == every[index]
        assert all(isinstance(step, int) for step in way)
    assert len(list(seen.trees.seek(41))) > 5  # it can be left on its way
    assert list(seen.trees.seek(42))[-1] is None
    assert seen.trees.end == 42
    assert list(seen.trees.seek(10**9)) == [None]


def measure(text: str) -> float:
    return 10 + 7.0 * len(text)


def check_layout(tree: Tree, layout: TreeLayout) -> None:
    nodes = layout.nodes
    assert [n.label for n in nodes if n.kind == "token"] == tree.leaves()
    tokens = [n for n in nodes if n.kind == "token"]
    assert [n.start for n in tokens] == list(range(len(tokens)))
    assert len({n.y for n in tokens}) <= 1
    assert nodes[0].parent == -1
    assert (nodes[0].start, nodes[0].end) == (0, len(tokens))
    children: dict[int, list[NodeBox]] = {}
    rows: dict[float, list[NodeBox]] = {}
    for index, node in enumerate(nodes):
        rows.setdefault(node.y, []).append(node)
        assert node.x - node.width / 2 >= -1e-6
        assert node.x + node.width / 2 <= layout.width + 1e-6
        assert node.height / 2 <= node.y <= layout.height - node.height / 2
        assert node.width == measure(node.text)
        if index:
            above = nodes[node.parent]
            assert node.parent < index
            assert above.y + above.height <= node.y
            assert above.start <= node.start <= node.end <= above.end
            children.setdefault(node.parent, []).append(node)
    for row in rows.values():
        row.sort(key=lambda n: n.x)
        for one, other in itertools.pairwise(row):
            assert one.x + one.width / 2 <= other.x - other.width / 2
    for index, below in children.items():
        assert below == sorted(below, key=lambda n: n.x)
        left = min(n.x - n.width / 2 for n in below)
        right = max(n.x + n.width / 2 for n in below)
        wide = nodes[index].width / 2
        assert min(left, nodes[index].x - wide) <= nodes[index].x
        assert left - wide <= nodes[index].x <= right + wide


trees = st.recursive(
    st.text("xyz", min_size=1, max_size=9),
    lambda inner: st.builds(Tree, st.text("ABC", max_size=12), st.lists(inner, max_size=4)),
    max_leaves=25,
).map(lambda t: t if isinstance(t, Tree) else Tree("R", [t]))


@given(trees)
@settings(max_examples=quick.examples(80))
def test_no_boxes_overlap_and_children_are_below(tree: Tree) -> None:
    check_layout(tree, lay_out(tree, measure))


def test_deep_and_wide_trees() -> None:
    deep = Tree("S", ["a"])
    for _ in range(5000):
        deep = Tree("S", ["a", deep])
    check_layout(Tree("S", ["a"] * 3000), lay_out(Tree("S", ["a"] * 3000), measure))
    layout = lay_out(deep, measure)
    assert len(layout.nodes) == 2 * 5001
    assert layout.nodes[-1].end == 5001
    assert (0, 5001) in layout.spans


def test_empty_productions_are_drawn() -> None:
    layout = lay_out(Tree("S", [Tree("A", []), "b"]), measure)
    assert [(n.text, n.kind) for n in layout.nodes] == [
        ("S", "node"), ("A", "node"), ("ε", "empty"), ("b", "token"),
    ]  # fmt: skip
    assert layout.spans == {(0, 1)}


def test_labels_that_cannot_be_drawn_as_they_are() -> None:
    assert shown("a" * 1000) == "a" * 39 + "…"
    assert shown(" ") == "␣"
    assert shown("\x00") == "\\x00"


# --- the triangle -----------------------------------------------------------------


@given(st.integers(1, 12), st.data())
def test_each_point_of_a_cell_is_in_it(tokens: int, data: st.DataObject) -> None:
    triangle = Triangle(tokens, 10, 7)
    spans = list(itertools.combinations(range(tokens + 1), 2))
    corners = {triangle.corner(*span) for span in spans}
    assert len(corners) == len(spans) == cells(tokens)
    start, end = data.draw(st.sampled_from(spans))
    x, y = triangle.corner(start, end)
    # Above the middle of its tokens.
    assert x + 5 == pytest.approx((start + end) / 2 * 10)
    assert 0 <= x <= triangle.width - 10
    assert 0 <= y <= triangle.height - 7
    for dx, dy in itertools.product((0.1, 5, 9.9), (0.1, 6.9)):
        assert triangle.at(x + dx, y + dy) == (start, end)
    everything = list(triangle.visible(0, 0, triangle.width, triangle.height))
    assert sorted(everything) == spans


def test_what_is_in_view_is_what_touches_it() -> None:
    triangle = Triangle(40, 10, 7)
    view = 130.0, 60.0, 210.0, 120.0
    seen = list(triangle.visible(*view))
    touching = [
        span
        for span in itertools.combinations(range(41), 2)
        for x, y in [triangle.corner(*span)]
        if x < view[2] and x + 10 > view[0] and y < view[3] and y + 7 > view[1]
    ]
    assert sorted(seen) == sorted(touching)
    assert triangle.at(-1, 3) is None
    assert triangle.at(200, -1) is None
    assert Triangle(0, 10, 7).at(0, 0) is None
    assert triangle.at(35, triangle.height + 3) == (3, 4)  # a token


def test_the_picture_of_far_cells_is_that_of_near_ones() -> None:
    triangle = Triangle(30, 10, 7)
    values = (np.arange(cells(30)) % 250).astype(np.uint8)
    picture = triangle.picture(values, 3.0, 5.0, 2.5, 130, 90)
    for row, column in itertools.product(range(90), range(130)):
        x, y = 3.0 + 2.5 * (column + 0.5), 5.0 + 2.5 * (row + 0.5)
        span = triangle.at(x, y) if y < triangle.height else None
        assert picture[row, column] == (255 if span is None else values[cell(*span)])


# --- numbers and threads ------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"), (1234, "1,234"), (None, "uncounted"), (math.inf, "infinitely many"),
        (10**15 - 1, "999,999,999,999,999"), (10**15, "1.0000 × 10¹⁵"),
        (10**50, "1.0000 × 10⁵⁰"), (10**50 - 1, "1.0000 × 10⁵⁰"),
        (123456789 * 10**20, "1.2346 × 10²⁸"),
    ],
)  # fmt: skip
def test_counts_as_people_read_them(count: int | float | None, text: str) -> None:
    assert short_count(count) == text
    assert exact_count(count) == (f"{count:,}" if isinstance(count, int) else text)


def test_counts_beyond_reading() -> None:
    assert short_count(7 * 10**9000) == exact_count(7 * 10**9000) == "7.0000 × 10⁹⁰⁰⁰"


def test_probabilities_that_are_no_floats() -> None:
    def shown_of(**known: float) -> str:
        return parsing.probability(ProbabilisticTree("S", ["a"], **known))

    assert shown_of(prob=0.021) == "0.021"
    assert shown_of(logprob=-2000 * math.log2(10)) == "1.00000 × 10⁻²⁰⁰⁰"
    assert shown_of(logprob=math.log2(2.5) - 2000 * math.log2(10)) == "2.50000 × 10⁻²⁰⁰⁰"
    assert shown_of(logprob=-math.inf) == "0"


def test_the_latest_wins() -> None:
    landed: list[tuple[int, object]] = []
    begun, go = threading.Event(), threading.Event()
    worker = Latest("test", lambda serial, result: landed.append((serial, result)))

    def slow() -> Iterator[str]:
        begun.set()
        go.wait(10)
        yield "stale"
        raise AssertionError("it was not left")

    worker.ask(slow)
    assert begun.wait(10)
    worker.ask(lambda: iter(["never begun"]))
    last = worker.ask(lambda: iter(["one", "two"]))
    go.set()
    until(lambda: len(landed) == 2)
    assert landed == [(last, "one"), (last, "two")]

    def fails() -> Iterator[str]:
        yield "first"
        raise ValueError("so it is")

    worker.ask(fails)
    until(lambda: len(landed) == 4)
    assert str(landed[3][1]) == "so it is"
    assert worker.ask(lambda: iter(["still alive"])) == last + 2
    until(lambda: len(landed) == 5)
    worker.ask(None)
    worker.close()
    assert not any(thread.name == "test" for thread in threading.enumerate())


def test_pipes_are_neither_waited_for_nor_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe.cfg"
    os.mkfifo(path)
    with pytest.raises(FileError, match="it is a pipe"):
        check_source(path)
    with pytest.raises(FileError, match="this is no regular file"):
        write(path, b"S -> 'a'")
    assert path.is_fifo()
    check_source(tmp_path / "nowhere.cfg")


def test_trees_that_are_too_deep_for_text_are_refused() -> None:
    tree = Tree("x", ["y"])
    for _ in range(MOST_OUTLINE // 10_000):
        tree = Tree("x", [tree])
    assert drawn(tree, "text") == draw(tree).text() + "\n"
    for _ in range(5_000):
        tree = Tree("x", [tree])
    with pytest.raises(FileError, match="more than 16 million characters is too large"):
        drawn(tree, "text")
    assert drawn(tree, "forest").count("{x}") == MOST_OUTLINE // 10_000 + 5_001
