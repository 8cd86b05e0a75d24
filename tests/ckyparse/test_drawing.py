"""Drawings of trees and charts: read back from SVG, LaTeX and text."""

from __future__ import annotations

import re
import shutil
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tree import Tree

from bulkbits.widths import cells, ems
from ckyparse import CKYParser, Grammar, Nonterminal, Production, draw
from ckyparse.chart import Chart
from ckyparse.cli.parse import _WRITTEN
from ckyparse.drawing import MOST_TOKENS, shown_part
from ckyparse.drawing.latex import _ESCAPES, escaped
from ckyparse.drawing.layout import BLANK, elided, fitted, printable, shown
from ckyparse.forest import Forest
from tests.ckyparse.commands import Done
from tests.quick import examples
from tests.svg import texts

WORDS = ["I", "saw", "the", "man", "with", "a", "telescope"]

labels = st.one_of(
    st.text(max_size=6),
    st.text("\\{}$&#_%^~<>|\"'`-,[]=!?.; \t\n\0\ud800\u202e漢é", max_size=8),
)
trees = st.recursive(
    st.builds(lambda label: Tree(label, []), labels),
    lambda below: st.builds(Tree, labels, st.lists(st.one_of(labels, below), max_size=4)),
    max_leaves=12,
)
HOSTILE = Tree(
    "</svg><script>&amp;",
    [
        Tree("a{b}\\%$#_^~", ["]]>", "]", "},", "\\end{forest}"]), Tree("''--!`", []), " ", "",
        ' a  "b" ',
    ],
)  # fmt: skip


def parts(tree: Tree) -> Iterator[tuple[int, str]]:
    """Yield depth and label of all parts from the root down; nothing is an ε."""
    waiting: list[tuple[int, Any]] = [(0, tree)]
    while waiting:
        depth, part = waiting.pop()
        if not isinstance(part, Tree):
            yield depth, printable(part)
            continue
        yield depth, printable(part.label())
        below = list(part) or ["ε"]
        waiting += [(depth + 1, child) for child in reversed(below)]


@settings(max_examples=examples(60), deadline=None)
@given(trees)
@example(HOSTILE)
def test_any_tree_is_a_document_with_all_of_its_labels(tree: Tree) -> None:
    found = texts(draw(tree).svg())
    assert sorted(found) == sorted(shown(label) for _, label in parts(tree))


@settings(max_examples=examples(60), deadline=None)
@given(trees)
@example(HOSTILE)
def test_any_tree_is_an_outline(tree: Tree) -> None:
    lines = draw(tree).text().split("\n")
    found = list(parts(tree))
    assert len(lines) == len(found)
    for line, (depth, label) in zip(lines, found, strict=True):
        assert line[3 * depth :] == label
        assert re.fullmatch("((│  |   )*(├─ |└─ ))?", line[: 3 * depth])


@pytest.mark.parametrize("is_left", [False, True])
def test_the_outline_of_a_deep_tree_is_made_line_by_line(is_left: bool) -> None:
    depth = 3000
    tree = Tree("x", ["y"])
    for _ in range(depth):
        tree = Tree("x", [tree, "z"] if is_left else ["z", tree])
    tracemalloc.start()
    try:
        count, longest = 0, 0
        for text in _WRITTEN["text"](tree):
            count, longest = count + 1, max(longest, len(text))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 2 * depth + 3  # an empty line is the last
    assert longest == 3 * (depth + 1) + len("y\n")
    assert most < 1 << 24  # all lines together are 27 million characters, of two bytes


# --- LaTeX -------------------------------------------------------------------------------

_UNESCAPED = {written: character for character, written in _ESCAPES.items()} | {r"\ ": " "}
_PIECES = re.compile(
    "|".join(map(re.escape, sorted(_UNESCAPED, key=len, reverse=True)))
    + r"|\$\\varepsilon\$|[^\\{}$&#%_^~]"
)


def label_of(written: str) -> str:
    """Return what LaTeX prints; nothing but known escapes and harmless characters may occur."""
    end, label = 0, ""
    assert not re.search(r"^ |(?<!\\) $|  ", written)  # blanks that would be dropped
    for match in _PIECES.finditer(written):
        assert match.start() == end, written
        end = match.end()
        label += _UNESCAPED.get(match.group(), match.group())
    assert end == len(written), written
    return "ε" if label == r"$\varepsilon$" else label


def group(text: str, at: int) -> tuple[str, int]:
    """Return what stands between braces, and where it ends; as TeX reads a group."""
    assert text[at] == "{"
    depth, place = 1, at + 1
    while depth:
        if text[place] == "\\":
            place += 1  # \{ and \} are no groups
        else:
            depth += (text[place] == "{") - (text[place] == "}")
        place += 1
    return text[at + 1 : place - 1], place


def forest_parts(text: str) -> Iterator[tuple[int, str]]:
    inner = text.removeprefix(r"\begin{forest} ").removesuffix(r" \end{forest}")
    assert len(inner) == len(text) - len(r"\begin{forest}  \end{forest}")
    at = depth = 0
    while at < len(inner):
        if inner[at] == "[":
            written, at = group(inner, at + 1)
            yield depth, label_of(written)
            depth += 1
        else:
            assert inner[at] == "]"
            depth, at = depth - 1, at + 1
    assert depth == 0


def qtree_parts(text: str) -> Iterator[tuple[int, str]]:
    at, depth = len(r"\Tree "), 0
    assert text.startswith(r"\Tree [.")
    while at < len(text):
        if text[at] == "]":
            depth, at = depth - 1, at + 2  # a blank after it
            continue
        opened = text.startswith("[.", at)
        written, at = group(text, at + 2 if opened else at)
        assert text[at] == " "
        yield depth, label_of(written)
        at, depth = at + 1, depth + opened
    assert depth == 0


@pytest.mark.parametrize(("package", "read"), [("forest", forest_parts), ("qtree", qtree_parts)])
def test_any_tree_is_latex(package: str, read: Callable[..., Any]) -> None:
    @settings(max_examples=examples(60), deadline=None)
    @given(trees)
    @example(HOSTILE)
    def check(tree: Tree) -> None:
        written = draw(tree).latex(package)
        assert "\n" not in written
        assert list(read(written)) == list(parts(tree))

    check()


def test_a_chart_is_a_tabular() -> None:
    parser = CKYParser("S -> S S | '{' | '&'")
    (chart,) = parser.charts([["{", "&", "{"]])
    lines = draw(chart).latex().split("\n")
    assert lines[0] == r"\begin{tabular}{*{6}{c}}"
    assert lines[-1] == r"\end{tabular}"
    for line, cells_ in zip(lines[1:-1], (1, 2, 3, 3), strict=True):
        assert line.endswith(r" \\")
        spans = [int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", line)]
        assert spans[-cells_:] == [2] * cells_
        assert sum(spans[:-cells_]) == 3 - cells_  # half of what is missing
        assert line.count(" & ") == len(spans) - 1
    assert lines[-2] == (
        r"\multicolumn{2}{c}{\{} & \multicolumn{2}{c}{\&} & \multicolumn{2}{c}{\{} \\"
    )


@pytest.mark.slow
def test_latex_compiles(tmp_path: Path) -> None:
    if shutil.which("kpsewhich") is None or any(
        subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True).returncode
        for name in ("forest", "qtree", "tikz-qtree")
    ):
        pytest.skip("needs a LaTeX with forest and qtree")
    hostile = Tree(
        "".join(set(_ESCAPES) - {BLANK}), ["a\n", " a  b ", Tree("", ["[", "],=", ";.:"])]
    )
    (chart,) = CKYParser("data/grammars/english.cfg").charts([WORDS])
    for package in ("qtree", "tikz-qtree"):
        drawings = [draw(hostile).latex("qtree"), draw(hostile).latex(), draw(chart).latex()]
        (tmp_path / "a.tex").write_text(
            rf"\documentclass{{article}}\usepackage{{forest}}\usepackage{{{package}}}"
            r"\begin{document}" + "\n\n".join(drawings) + r"\end{document}"
        )
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]


# --- charts and sizes --------------------------------------------------------------------


def test_a_chart_has_its_names_tokens_and_colours() -> None:
    parser = CKYParser("S -> A B | 'a'\nA -> 'a' | 'x'\nB -> 'b' | '<b>'")
    (chart,) = parser.charts([["a", "<b>"]])
    assert texts(draw(chart).svg()) == ["S", "A, S", "B", "a", "<b>"] or texts(
        draw(chart).svg()
    ) == ["A, S", "S", "B", "a", "<b>"]
    assert draw(chart).text() == "S\nA, S  B\na     <b>"
    assert str(chart) == draw(chart).text()
    assert texts(chart._repr_svg_())[-1] == "2 tokens, accepted"
    part = draw(chart, 1, 2)
    assert part.text() == "B\n<b>"
    assert texts(part.svg()) == ["B", "<b>"]
    assert texts(part._repr_svg_())[-1] == "2 tokens, accepted; shown are tokens 2 to 2"
    for start, end in ((0, 3), (-1, 1), (2, 1)):
        with pytest.raises(IndexError, match="no tokens"):
            draw(chart, start, end)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(labels, min_size=2, max_size=5, unique=True), labels)
def test_any_names_and_tokens_of_a_chart(names: list[str], token: str) -> None:
    start, *others = map(Nonterminal, names)
    rules = [Production(start, (start, name)) for name in others]
    rules += [Production(name, (token,)) for name in (start, *others)]
    (chart,) = CKYParser(Grammar(start, rules), backend="reference").charts([[token] * 2])
    found = texts(draw(chart).svg())
    assert found[-2:] == [elided(shown(token), lambda text: 13 * ems(text), 164)] * 2
    assert draw(chart).text().split("\n")[-1].startswith(printable(token).rstrip())
    rows = draw(chart).latex().split("\n")
    assert len(rows) == 5
    inner = re.findall(r"\\multicolumn\{2\}\{c\}\{(.*?)\}(?: & | \\\\$)", rows[2])
    assert inner == [r"{,} ".join(map(escaped, sorted(names)))] * 2


def test_the_empty_sentence() -> None:
    (chart,) = CKYParser("S -> 'a' |").charts([[]])
    assert texts(chart._repr_svg_()) == ["0 tokens, accepted"]
    assert draw(chart).text() == ""
    assert texts(draw(next(chart.trees())).svg()) == ["S", "ε"]


def test_what_is_large_is_shown_in_part_or_refused() -> None:
    parser = CKYParser("S -> S S | 'a'")
    (chart,) = parser.charts([["a"] * (MOST_TOKENS + 1)])
    with pytest.raises(ValueError, match="201 tokens is too large to be drawn"):
        draw(chart)
    assert len(draw(chart, 1).text().split("\n")) == MOST_TOKENS + 1
    found = texts(chart._repr_svg_())
    assert found[-1] == "201 tokens, accepted; shown are tokens 1 to 16"
    assert found.count("a") == 16
    assert len(chart._repr_svg_()) < 20_000
    tree = next(chart.trees())
    small, said = shown_part(tree)
    assert "401 nodes over 201 tokens; shown are the upper" in said
    assert len(texts(draw(tree)._repr_svg_())) < 200
    assert "…" in small.leaves()
    assert shown_part(small) == (small, "")
    deep = Tree("x", ["y"])
    for _ in range(20_000):
        deep = Tree("x", [deep])
    assert draw(deep).latex().count("[{x}") == 20_001
    assert repr(draw(deep)) == "<Drawing of a tree with the root x>"
    assert len(draw(deep)._repr_svg_()) < 5_000
    assert shown_part(deep)[0].height() <= 26


def test_a_forest_says_how_many_trees_it_has() -> None:
    def caption(grammar: str, sentence: str) -> str:
        (chart,) = CKYParser(grammar).charts([sentence])
        return texts(chart.forest._repr_svg_())[-1]

    assert caption("S -> S S | 'a'", "a") == "the only tree"
    assert caption("S -> S S | 'a'", "a" * 5) == "the first of 14 trees"
    assert caption("S -> S | 'a'", "a") == "the first of infinitely many trees"
    assert caption("S -> 'a' 'a'", "a") == "no trees over 1 token"
    many = caption("S -> S S | 'a'", "a" * 90)
    assert many.startswith(
        "the first of the trees, which are not counted; 179 nodes over 90 tokens"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "the first of the trees, which are not counted"),
        ("N0 -> N1\nN1 -> N0", "trees over 20 tokens: trees() yields them"),
    ],
)
def test_trees_of_many_rules_are_not_counted(
    more: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"N{i}" for i in range(20)]
    pairs = " | ".join(f"{a} {b}" for a in names for b in names)
    rules = [f"{name} -> {pairs if name == 'N0' else 'N0 N0'} | 'a'" for name in names]
    parser = CKYParser("\n".join(["S -> N0", *rules, more]))
    long, short = parser.charts(["a" * 20, "a" * 3])
    few = "infinitely many" if more else f"{short.count():,}"
    assert texts(short.forest._repr_svg_())[-1] == f"the first of {few} trees"
    monkeypatch.setattr(Forest, "count", None)  # 20 tokens are few, but with so many rules
    assert texts(long.forest._repr_svg_())[-1] == said


def test_only_trees_and_charts_are_drawn() -> None:
    with pytest.raises(TypeError, match="not a str"):
        draw("tree")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="drawn whole"):
        draw(Tree("S", []), 0, 1)
    with pytest.raises(ValueError, match="not by 'tikz'"):
        draw(Tree("S", [])).latex("tikz")


@given(st.text("ijmWx漢é\u0301", max_size=12), st.floats(0, 12))
@settings(max_examples=examples(60))
def test_what_is_cut_off_fits(text: str, width: float) -> None:
    cut = elided(text, ems, width)
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))
    assert ems(cut) <= width or cut == "…"
    lines = fitted([text, "second", "third"], ems, max(width, 8)).split("\n")
    assert len(lines) <= 2


def test_widths_in_a_terminal() -> None:
    assert [cells(text) for text in ("", "abc", "漢字", "e\u0301")] == [0, 3, 4, 1]


# --- the command -------------------------------------------------------------------------


def test_the_command_draws(ckyparse: Callable[..., Done], english: str) -> None:
    args = ["parse", "-g", english]
    stdin = b"I saw the dog\nsaw\n"
    tree = Tree.fromstring("(S (NP I) (VP (V saw) (NP (Det the) (N dog))))")
    outputs = {
        "svg": draw(tree).svg(), "forest": draw(tree).latex(),
        "qtree": draw(tree).latex("qtree"), "text": draw(tree).text() + "\n",
    }  # fmt: skip
    for name, drawn in outputs.items():
        done = ckyparse(*args, "--format", name, stdin=stdin)
        assert done == Done(1, f"{drawn}\n\n", "")
    done = ckyparse(*args, "--format", "svg", "--all", stdin=b"I saw the dog in the park\n")
    lines = done.out.split("\n")
    assert [bool(line) for line in lines] == [True] * (len(lines) - 2) + [False, False]
    assert len(lines) > 3
    for line in lines[:-2]:
        assert "park" in texts(line)


def test_the_command_draws_charts(ckyparse: Callable[..., Done], english: str) -> None:
    args = ["parse", "-g", english, "--chart"]
    done = ckyparse(*args, "text", stdin=b"I saw\n\nI zz saw\n\xff\n")
    incomplete, unknown = ".\nNP  V\nI   saw\n\n", ".\n.   .\nNP  .   V\nI   zz  saw\n\n"
    assert done.out == f"{incomplete}\n{unknown}\n"
    assert done.code == 2
    assert "not UTF-8" in done.err
    (line, last) = ckyparse(*args, "svg", stdin=b"I saw the dog\n").out.split("\n")
    assert texts(line)[-4:] == ["I", "saw", "the", "dog"]
    assert last == ""
    done = ckyparse(*args, "latex", stdin=b"I saw the dog\n")
    assert done.out.startswith(r"\begin{tabular}{*{8}{c}}")
    assert done.out.endswith("\\end{tabular}\n\n")
    for more in (["--all"], ["--best"], ["--limit", "2"], ["--format", "svg"]):
        done = ckyparse(*args, "svg", *more, stdin=b"")
        assert done.code == 2
        assert more[0] in done.err
        assert "not charts" in done.err
    done = ckyparse(*args, "svg", "--cluster", "localhost:1", stdin=b"")
    assert done.code == 2
    assert "--chart cannot be used with --cluster" in done.err


def test_lines_that_are_too_long_for_a_chart(
    ckyparse: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    init = Chart.__init__

    def counted(self: Chart, *args: Any) -> None:
        made.append(args)
        init(self, *args)

    monkeypatch.setattr(Chart, "__init__", counted)
    args = ["parse", "-g", "data/grammars/dyck.cfg", "--tokens", "chars", "--chart", "text"]
    long = "()" * (MOST_TOKENS // 2)
    done = ckyparse(*args, stdin=f"{long}(\n()\n".encode())
    assert done.code == 2
    assert done.err == "ckyparse: standard input:1: 201 tokens; a chart has 200 at most\n"
    assert done.out.startswith("\nS\n")
    assert len(made) == 1
    done = ckyparse(*args, stdin=long.encode())
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == MOST_TOKENS + 2
