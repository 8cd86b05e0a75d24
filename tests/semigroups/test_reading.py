"""Generators in each kind of text: read as what was written, and errors with their places."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semigroups.reading import GeneratorsError, parse_generators, read_generators

Rows = list[list[int]]

spaces = st.sampled_from(["", "", " ", "  ", "\t"])
breaks = st.sampled_from(["", "", " ", "\n", "\r\n", " \r", " # 7, [ ]\n", "\n\t"])
line_ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "  \n", " # 1 0\n", "# [\r\n"])


@st.composite
def generators(draw: st.DrawFn) -> Rows:
    degree = draw(st.integers(1, 6))
    row = st.lists(st.integers(0, degree - 1), min_size=degree, max_size=degree)
    return draw(st.lists(row, min_size=1, max_size=4))


@st.composite
def json_texts(draw: st.DrawFn, rows: Rows) -> str:
    return "".join(
        draw(breaks) + part if part in "[]," else part
        for part in json.dumps(rows).replace(" ", "").replace(",", " , ").split(" ")
    )


@st.composite
def line_texts(draw: st.DrawFn, rows: Rows) -> str:
    text = draw(st.sampled_from(["", "\n", "# none\n\n"]))
    for row in rows:
        comma = draw(st.sampled_from([" ", "\t ", ",", ", ", " ,"]))
        line = comma.join(map(str, row))
        if draw(st.booleans()):
            line = "[" + draw(spaces) + line + draw(spaces) + "]"
        text += draw(spaces) + line + draw(spaces) + draw(line_ends)
    return text.rstrip() if draw(st.booleans()) else text


def shortened(row: list[int]) -> list[int]:
    """Return what GAP prints for it, but from 0: no fixed last points that no other goes to."""
    k = len(row)
    while k and row[k - 1] == k - 1 and k - 1 not in row[: k - 1]:
        k -= 1
    return row[:k]


@st.composite
def gap_texts(draw: st.DrawFn, rows: Rows) -> str:
    """Draw a text as of GAP, at least one of the rows in full, so that they set the degree."""
    full = draw(st.integers(0, len(rows) - 1))
    parts = []
    for k, row in enumerate(rows):
        short = row if k == full else draw(st.sampled_from([row, shortened(row)]))
        if not short and draw(st.booleans()):
            parts.append("IdentityTransformation")
        else:
            a, b, c, d = (draw(breaks) for _ in range(4))
            inner = f"{a},{b}".join(str(p + 1) for p in short)
            parts.append(f"Transformation{a}({b}[{c}{inner}{d}]{a})")
    a, b, c, d = (draw(breaks) for _ in range(4))
    name = draw(st.sampled_from(["", f"gens{a}:={b}", f"{a}S :={b}"]))
    begin, end = draw(
        st.sampled_from(
            [("[", "]"), ("Semigroup(", ")"), ("Monoid (", ")"), ("Semigroup([", "])"), ("", "")]
        )
    )
    stop = draw(st.sampled_from(["", ";", ";;", ";\n", "\n# end"]))
    between = f"{c},{d}" if begin else draw(st.sampled_from([",\n", ";\n", "\n", ";;\ny := "]))
    return name + begin + a + between.join(parts) + b + end + c + stop


@st.composite
def written(draw: st.DrawFn) -> tuple[Rows, str]:
    rows = draw(generators())
    kind = draw(st.sampled_from([json_texts, line_texts, gap_texts]))
    return rows, draw(kind(rows))


@given(written(), st.sampled_from(["text", "bytes", "mark"]))
def test_what_is_written_is_read(case: tuple[Rows, str], form: str) -> None:
    rows, text = case
    mark = b"\xef\xbb\xbf" if form == "mark" else b""
    found = parse_generators(text if form == "text" else mark + text.encode())
    assert found.tolist() == rows
    assert found.dtype == np.uint8
    assert found.flags.c_contiguous


@given(st.data())
def test_a_truncated_text_is_an_error(data: st.DataObject) -> None:
    """Every beginning of a JSON list, or of a list in GAP."""
    rows = data.draw(generators())
    if data.draw(st.booleans()):
        text = json.dumps(rows)
    else:
        parts = [f"Transformation([{', '.join(str(p + 1) for p in row)}])" for row in rows]
        text = f"[ {', '.join(parts)} ]"
    assert parse_generators(text).tolist() == rows
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(GeneratorsError) as error:
        parse_generators(text[:cut])
    assert (error.value.line, error.value.column) > (0, 0)


pieces = st.sampled_from(
    [
        *"[](),;:{} \t\n\r#0123456789-.",
        "Transformation",
        ":=",
        "Monoid",
        "null",
        "ä",
        "\ufeff",
        "\0",
    ]
)


@given(written(), st.data())
def test_a_damaged_text_is_read_or_refused_in_one_line(
    case: tuple[Rows, str], data: st.DataObject
) -> None:
    text = case[1]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(pieces) + text[at + data.draw(st.integers(0, 2)) :]
    try:
        found = parse_generators(text, "x")
    except GeneratorsError as caught:
        error = caught
    else:
        assert found.ndim == 2
        assert found.size
        assert found.max() < found.shape[1]
        return
    assert len(str(error).splitlines()) == 1
    assert str(error).startswith(f"x:{error.line}:{error.column}: " if error.line else "x: ")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert 0 <= error.line <= len(lines)
    if error.line:
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1


NUMBER = "an image, a whole number, was expected, not"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # Nothing there.
        ("", "no generators"),
        (" \n# 1 0\n\t", "no generators"),
        ("[]", "no generators"),
        ("[ # none\n]", "no generators"),
        ("gens := [];", "no generators"),
        ("Semigroup();", "no generators"),
        # Degree 0.
        ("[[]]", "1:3: a generator without points: the degree is 0"),
        ("0\n[ ]", "2:3: a generator without points: the degree is 0"),
        ("Transformation([])", "all generators are without points: the degree is 0"),
        ("[ IdentityTransformation ]", "all generators are without points: the degree is 0"),
        # Degrees differ.
        ("[[1, 0],\n [0, 1, 2]]", "2:3: degrees differ: 3 here, 2 in the first generator"),
        ("1 0\n0 1\n 0\n", "3:2: degrees differ: 1 here, 2 in the first generator"),
        # Not a map.
        ("[[1, 0, 3]]", "1:9: image 3 is out of range: the points are 0 to 2"),
        ("[[1, 0],\n [0,\n  -1]]", "3:3: image -1 is out of range: the points are 0 to 1"),
        ("1 2 3", "1:5: image 3 is out of range: the points are 0 to 2"),
        ("# x\r\n1, 0\r\n[ 1, 2 ]", "3:6: image 2 is out of range: the points are 0 to 1"),
        ("Transformation([2, 3])", "1:20: image 3 is out of range: the points are 1 to 2"),
        ("Transformation([0, 1])", "1:17: image 0 is out of range: the points are 1 to 2"),
        ("0 " + "9" * 5000, f"1:3: image {'9' * 29}… is out of range: the points are 0 to 1"),
        # Not a number.
        ("[[1.0, 0]]", f"1:3: {NUMBER} '1.0'"),
        ("[[0, 1e0]]", f"1:6: {NUMBER} '1e0'"),
        ('[["1", 0]]', f"1:3: {NUMBER} '\"1\"'"),
        ("[[0,, 1]]", f"1:5: {NUMBER} ','"),
        ("[[0, ]]", f"1:6: {NUMBER} ']'"),
        ("[[0, null]]", f"1:6: {NUMBER} 'null'"),
        ("[[[0]]]", f"1:3: {NUMBER} '['"),
        ("[[٠]]", f"1:3: {NUMBER} '٠'"),
        ("1 0\n0 x 1", f"2:3: {NUMBER} 'x'"),
        ("1 0,\n0 1", f"1:5: {NUMBER} the end of the line"),
        ("1;0", f"1:1: {NUMBER} '1;0'"),
        ("Transformation([1, x])", f"1:20: {NUMBER} 'x'"),
        # Lists that do not end, or end too often.
        ("[", "1:2: '[' was expected, not the end of the text"),
        ("[[1, 0],\n[0,", f"2:4: {NUMBER} the end of the text"),
        ("[[1, 0],\n[0", "2:3: ',' or ']' was expected, not the end of the text"),
        ("[[1, 0]\n", "2:1: ',' or ']' was expected, not the end of the text"),
        ("[[1, 0],]", "1:9: '[' was expected, not ']'"),
        ("[[1 0]]", "1:5: ',' or ']' was expected, not '0'"),
        ("[[1, 0]]]", "1:9: ']' after the end of the list"),
        ("[[1, 0]] [[1, 0]]", "1:10: '[' after the end of the list"),
        ("[1, 0\n0, 1]", "1:6: ']' was expected, not the end of the line"),
        ("[1, 0", "1:6: ']' was expected, not the end of the line"),
        ("1, 0]", "1:5: ']' without a '['"),
        ("[1, 0], [0, 1]", "1:7: ',' after the end of a generator"),
        ('{"generators": [[1, 0]]}', "1:1: '[' was expected, not '{'"),
        ("Transformation([1, 2", "1:21: ',' or ']' was expected, not the end of the text"),
        ("Transformation([1, 2]", "1:22: ')' was expected, not the end of the text"),
        ("[Transformation([1])", "1:21: ',' or ']' was expected, not the end of the text"),
        ("[Transformation([1]),];", "1:22: 'Transformation' was expected, not ']'"),
        ("Monoid([Transformation([1])];", "1:29: ')' was expected, not ';'"),
        # Other things that GAP knows.
        ("Transformation([1, 2], [2, 1])", "1:22: ')' was expected, not ','"),
        ("Group((1,2));", "1:1: 'Transformation' was expected, not 'Group'"),
        ("gens := old;", "1:9: 'Transformation' was expected, not 'old'"),
        ("gens", "1:1: 'Transformation' was expected, not 'gens'"),
        ("[true, false]", "1:2: 'Transformation' was expected, not 'true'"),
        ("Transformation{[1]}", "1:15: '(' was expected, not '{'"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(GeneratorsError) as error:
        parse_generators(text, "G")
    assert str(error.value) == ("G:" if message[0].isdigit() else "G: ") + message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[[1, 0],\n[\xff", "2:2: byte 0xff is not UTF-8"),
        (b"# \xc3\xa4 \xe9\r\n0", "1:5: byte 0xe9 is not UTF-8"),
        (b"\xef\xbb\xbf1 0\n\xc3", "2:1: byte 0xc3 is not UTF-8"),
    ],
)
def test_bytes_that_are_no_text(data: bytes, message: str) -> None:
    with pytest.raises(GeneratorsError) as error:
        parse_generators(data, "G")
    assert str(error.value) == f"G:{message}"


@pytest.mark.parametrize(
    ("degree", "dtype"),
    [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.uint32)],
)
@pytest.mark.parametrize("kind", ["json", "lines", "gap"])
def test_the_smallest_type_that_fits(kind: str, degree: int, dtype: type) -> None:
    rows = [list(range(degree)), [degree - 1] * degree]
    if kind == "json":
        text = json.dumps(rows)
    elif kind == "lines":
        text = "\n".join(" ".join(map(str, row)) for row in rows)
    else:
        # One list of full length makes the other, which is empty, an identity.
        text = f"Transformation([]), Transformation({[degree] * degree})"
    found = parse_generators(text)
    assert found.dtype == dtype
    assert np.array_equal(found, rows)


def test_lists_of_gap_leave_off_fixed_points() -> None:
    text = (
        "[ Transformation( [ 2, 1 ] ), IdentityTransformation, Transformation( [ 1, 1, 4, 3 ] ) ]"
    )
    assert parse_generators(text).tolist() == [[1, 0, 2, 3], [0, 1, 2, 3], [0, 0, 3, 2]]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "G.json"
    path.write_bytes(b"\xef\xbb\xbf[[1, 0]]")
    assert read_generators(path).tolist() == [[1, 0]]
    path.write_text("[[1, 2]]")
    with pytest.raises(GeneratorsError) as error:
        read_generators(str(path))
    assert str(error.value) == f"{path}:1:6: image 2 is out of range: the points are 0 to 1"
    for name, reason in [("none", "No such file or directory"), ("", "Is a directory")]:
        with pytest.raises(GeneratorsError) as error:
            read_generators(tmp_path / name)
        assert str(error.value) == f"{tmp_path / name}: cannot be read: {reason}"
    with pytest.raises(GeneratorsError, match="cannot be read: embedded null"):
        read_generators("a\0b")
