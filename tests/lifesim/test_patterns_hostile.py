"""Small files that ask for much: memory bounded by what was read, and one line that says why
not."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lifesim import patterns
from lifesim.errors import LifesimError
from lifesim.patterns import PatternError
from tests.quick import examples

GLIDER = b"x = 3, y = 3\nbo$2bo$3o!\n"
SPAN = 400 << 20  # of addresses, beyond those that Python and numpy have: what a bomb may take


def read(data: bytes, name: str = "a") -> patterns.Pattern:
    return patterns.read(io.BytesIO(data), name=name)


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def tree(root: int) -> bytes:
    lines = [b"[M2]", b"********$" * 8]
    lines += [b"%d %d %d %d %d" % (n, n - 3, n - 3, n - 3, n - 3) for n in range(4, root + 1)]
    return b"\n".join(lines) + b"\n"


def packed(start: bytes, filler: bytes) -> bytes:
    """Return 480 MiB of text in a small file: gzip data may be several streams one after the
    other."""
    return gzip.compress(start) + gzip.compress(filler * (1 << 20), 1) * (480 // len(filler))


def bombs() -> dict[str, bytes]:
    blanks = b" " * (36 << 20)
    return {
        "run": b"x = 3, y = 3\n40000000000o!",
        "smaller run": b"x = 3, y = 3\n4000000000o!",
        "wide": b"x = 3, y = 3\n99999999999o!",
        "tall": b"x = 3, y = 3\n" + b"o40000000$" * 9 + b"o!",
        "no header": b"20000000000o!",
        "105": b"#Life 1.05\n#P 0 0\n*\n#P 200000 200000\n*\n",
        "106": b"#Life 1.06\n0 0\n200000 200000\n",
        "mc": tree(17),
        "mcl": b"#MCell 4.20\n#L 20000000000A\n",
        "lines": b"[M2]\n" + b"$\n" * 5_000_000,
        "gz lines": packed(b"[M2]\n", b"$\n"),
        "gz": packed(b"x = 3, y = 3\n", b" "),
        "gz of nothing": packed(b"", b"\0"),
        "zip": zipped({"a.rle": b"x = 3, y = 3\n" + blanks}),
        "zip of gz": zipped({"a.rle": packed(b"", b" ")}),
        "gz of zip": gzip.compress(zipped({"a.rle": blanks})),
    }


LIMITED = """
import resource, sys
from lifesim import patterns
from lifesim.errors import LifesimError
import lifesim.patterns.archive, kernels.runs, gzip, zipfile
import kernels.targets.memory
# The limit is to be kept by what is read, not by looking at it.
kernels.targets.memory._left_of_process = lambda _: []
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for path in sys.argv[2:]:
    try:
        print(patterns.read(path))
    except LifesimError as error:
        print(str(error).removeprefix(path))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_small_file_takes_little_memory_of_the_machine(tmp_path: Path) -> None:
    files = bombs()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    paths = [str(tmp_path / name) for name in files]
    command = [sys.executable, "-c", LIMITED, str(SPAN), *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = dict(zip(files, done.stdout.splitlines(), strict=True))
    for name in ("run", "smaller run", "wide", "tall"):
        assert ": the header says 3x3 cells, the body has " in said[name]
    for name in ("no header", "105", "106", "mc", "mcl"):
        assert " of memory, " in said[name], said[name]
    for name in ("lines", "gz lines"):
        assert (
            said[name].startswith(": nearly all lines are empty") or "times as many" in said[name]
        )
    for name in ("gz", "gz of nothing", "zip"):
        assert "hold more than 128 times as many" in said[name]
    assert said["zip of gz"].startswith("/a.rle:1:1: unknown character"), said["zip of gz"]
    assert said["gz of zip"] == ": a zip archive in gzip data: decompress it first"


def test_what_a_header_says_may_be_large_and_empty() -> None:
    far = b"x = 100000, y = 30000\no29998$99998bo!"
    grid = read(far).grid
    assert (grid.width, grid.height, grid.population()) == (99999, 29999, 2)
    with pytest.raises(PatternError, match=r"^a:1:1: the header says 10x10 cells, the body has"):
        read(far.replace(b"100000, y = 30000", b"10, y = 10"))


@pytest.mark.parametrize(
    ("text", "size", "notes"),
    [
        (b"x = 3, y = 3\nbo$2bo$3o!", (3, 3), []),
        (b"x = 3, y = 3\nbo$2bo$3o", (3, 3), ["no '!' ends the pattern: it may be cut off"]),
        (b"bo$2bo$3o\n", (3, 3), ["no '!' ends the pattern: it may be cut off"]),
        (b"x = 2, y = 3\nbo$2bo$3o!", (3, 3), ["the header says 2x3 cells, the body has 3x3"]),
        (b"x = 3, y = 1\nbo$2bo$3o!", (3, 3), ["the header says 3x1 cells, the body has 3x3"]),
        (b"x = 0, y = 0\nbo$2bo$3o!", (3, 3), ["the header says 0x0 cells, the body has 3x3"]),
        (b"x = 1, y = 1\n1000o$$o", (1000, 3), [
            "the header says 1x1 cells, the body has 1000x3",
            "no '!' ends the pattern: it may be cut off",
        ]),
    ],
)  # fmt: skip
def test_rle_that_golly_takes_is_taken_and_noted(text, size, notes) -> None:
    pattern = read(text)
    assert (pattern.grid.width, pattern.grid.height) == size
    assert list(pattern.notes) == notes


# Archives


def test_the_only_pattern_of_an_archive() -> None:
    others = {
        "readme.txt": b"Read me",
        "Life.rule": b"@RULE Life",
        "__MACOSX/._glider.rle": b"\0\5",
        "folder/": b"",
        "inner.zip": zipped({"b.rle": GLIDER}),
    }
    for name in ("glider.rle", "folder/glider.RLE", "../../glider.rle", "/etc/glider.rle"):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            pattern = read(zipped({**others, name: GLIDER}, method), "a.zip")
            assert pattern.grid == read(GLIDER).grid


WIRES = b"@RULE Wires\n@TABLE\nn_states:3\nneighborhood:Moore\nsymmetries:none\n"


def test_an_archive_has_the_rule_of_its_pattern() -> None:
    cells = b"x = 2, y = 1, rule = Wires\nAB!\n"
    files = {"a/b.rle": cells, "deep/" * 30 + "Wires.rule": WIRES, "Wires.tree": b"no tree"}
    pattern = read(zipped(files), "a.zip")
    assert (str(pattern.rule), pattern.rule and pattern.rule.states) == ("Wires", 3)
    with pytest.raises(PatternError, match="unknown rule 'Wires'"):  # once it is read
        read(cells)
    with pytest.raises(PatternError, match=r"a\.zip/Wires\.rule, line 3"):
        read(zipped(files | {"deep/" * 30 + "Wires.rule": WIRES.replace(b"3", b"x")}), "a.zip")


def test_a_pattern_of_an_archive_by_its_path(tmp_path: Path) -> None:
    """A path goes on into an archive, as in what errors call a member."""
    folder = tmp_path / "Folder.zip"
    folder.mkdir()
    two = folder / "two.ZIP"
    cells = b"x = 2, y = 1, rule = Wires\nAB!\n"
    members = {"a.rle": GLIDER, "deep/in it/b.rle": cells, "../c.rle": GLIDER, "Wires.rule": WIRES}
    two.write_bytes(zipped(members))
    assert patterns.read(two / "a.rle").grid == read(GLIDER).grid
    assert patterns.read(f"{two}/../c.rle").grid == read(GLIDER).grid
    assert str(patterns.read(two / "deep/in it/b.rle").rule) == "Wires"
    (folder / "one.zip").write_bytes(gzip.compress(GLIDER))
    for path, message in (
        (two, "the archive holds 3 patterns: a.rle, "),
        (two / "b.rle", "two.ZIP: the archive holds no pattern b.rle, but a.rle, "),
        (two / "Wires.rule", "the archive holds no pattern Wires.rule, but "),
        (two / "", "the archive holds 3 patterns: "),
        (folder / "one.zip" / "a.rle", "one.zip: this is no zip archive"),
        (folder / "none.zip" / "a.rle", "cannot read "),
        (folder / "a.rle", "cannot read "),
    ):
        with pytest.raises(LifesimError, match=re.escape(message)):
            patterns.read(path)


BAD_ARCHIVES = [
    (zipped({"b.rle": GLIDER, "b.rule": bytes(17 << 20)}), "a.zip: too many rule files"),
    (zipped({"b.rle": GLIDER, **{f"{i}.tree": b"" for i in range(17)}}), "a.zip: too many rule"),
    (zipped({}), "a.zip: the content fits none of the pattern formats"),
    (zipped({"b.txt": GLIDER}), "a.zip: the archive holds no pattern"),
    (zipped({"b.zip": zipped({"b.rle": GLIDER})}), "a.zip: the archive holds no pattern"),
    (
        zipped({f"{i}.rle": GLIDER for i in range(5)}),
        "a.zip: the archive holds 5 patterns: 0.rle, 1.rle, 2.rle, ...: name one, as a.zip/0.rle",
    ),
    (
        zipped({"b\n\x1b[2J.rle": b"x = 3, y = 3\n?"}),
        r"a.zip/b??[2J.rle:2:1: unknown character '?'",
    ),
    (zipped({"b.rle": GLIDER}, zipfile.ZIP_LZMA), "a.zip/b.rle: packed by another method"),
    (zipped({f"{i:09}.txt": b"" for i in range(20_000)}), "a.zip: too large an archive"),
    (zipped({"b.rle": GLIDER})[:-30], "a.zip: damaged zip archive: it is cut off"),
    (zipped({"b.rle": GLIDER})[:40], "a.zip: damaged zip archive: it is cut off"),
    (zipped({"b.rle": GLIDER}).replace(b"o$", b"b$", 1), "a.zip: damaged zip archive: "),
]


@pytest.mark.parametrize(("data", "message"), BAD_ARCHIVES, ids=range(len(BAD_ARCHIVES)))
def test_archives_that_are_refused(data: bytes, message: str) -> None:
    if message.endswith("archive: ") and b"b$2bo" not in data:  # deflated: damage the bytes
        data = zipped({"b.rle": GLIDER}, zipfile.ZIP_STORED).replace(b"bo$", b"ob$", 1)
    with pytest.raises(PatternError) as caught:
        read(data, "a.zip")
    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(zipped({"b.rle": GLIDER}))
    for magic, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        struct.pack_into("<H", data, data.index(magic) + at, 1)
    with pytest.raises(PatternError, match=r"^a\.zip/b\.rle: encrypted"):
        read(bytes(data), "a.zip")


@settings(deadline=10_000, max_examples=examples(100))
@given(
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=5),
    st.integers(1, 400),
)
@example(zipfile.ZIP_STORED, [(10, 255)], 400)
def test_damaged_archives_are_read_or_refused(method, changes, size) -> None:
    data = bytearray(zipped({"a.rle": GLIDER, "b.txt": b"text"}, method))
    for at, value in changes:
        data[at % len(data)] = value
    message = ""
    try:
        assert read(bytes(data[:size]), "a.zip").grid.width < 1 << 20
    except LifesimError as error:
        message = str(error)
    assert "\n" not in message


# MCell


MCELL = (
    b"#MCell 4.20\n#GAME Life\n#RULE 23/3\n#BOARD 20x11\n#WRAP 1\n#D Glider\n#L .A$2.\n#L A$3A\n"
)


def test_mcell_of_lifes_rules_is_read() -> None:
    pattern = read(MCELL.replace(b"23/3", b"23/36"), "a.lif")
    assert pattern.grid == read(GLIDER).grid
    assert (pattern.x, pattern.y, pattern.size) == (-1, -1, (20, 11)), "in the middle, as in Golly"
    assert (str(pattern.rule), str(pattern.topology)) == ("B36/S23", "torus")
    assert pattern.comments == ("Glider",)
    assert str(read(MCELL.replace(b"WRAP 1", b"WRAP 0")).topology) == "plane"
    assert read(MCELL.replace(b"#BOARD 20x11\n", b"")).size is None
    assert read(b"#MCell 4.20\r\n#L 5.A\r\n").grid.population() == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"23/3", b"2 to 3", "a:3:1: rule '2 to 3', column 6: one set"),
        (b"Life", b"Rules table", "a:3:1: MCell's game 'Rules table' is not supported"),
        (b"Life", b"Special rules", "a:3:1: MCell's game 'Special rules' is not supported"),
        (b"#GAME Life", b"#GOLLY WireWorm", "a:2:1: unknown rule 'WireWorm'"),
        (b"20x11", b"20", "a:4:1: '#BOARD 20' is not #BOARD WIDTHxHEIGHT"),
        (b"20x11", b"0x11", "a:4:1: '#BOARD 0x11' is not #BOARD WIDTHxHEIGHT"),
        (b"3A", b"3B", "a:8:7: 'B' is no cell by a rule of two states"),
        (b"3A", b"0A", "a:8:6: a run count of 0"),
        (b"3A", b"3", "a:9:1: the pattern is cut off"),
        (b"#D", b"D", "a:6:1: 'D Glider' is no line of an MCell file"),
    ],
)
def test_other_mcell_is_refused_by_name(old: bytes, new: bytes, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        read(MCELL.replace(old, new))
    assert str(caught.value).startswith(message)


def test_life105_blocks_without_a_place() -> None:
    acorn = b"#Life 1.05\n#D Acorn\n#P\n.*\n...*\n**..***\n"
    assert read(acorn).grid.population() == 7
    assert read(acorn.replace(b"#P", b"#P 0 0")) == read(acorn)
    two = read(b"#Life 1.05\n#P 5 6\n*\n#P\n*\n")  # as in Golly the second goes on below
    assert (two.x, two.y, two.grid.width, two.grid.height) == (5, 6, 1, 2)


# Names


def test_a_misspelt_file_gets_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "Gosper-gun.rle").write_bytes(GLIDER)
    (tmp_path / "other.rle").write_bytes(GLIDER)
    with pytest.raises(LifesimError) as caught:
        patterns.read(tmp_path / "gosper-gum.rle")
    assert str(caught.value).endswith(
        f"No such file or directory; is {tmp_path}/Gosper-gun.rle meant?"
    )
    for name in ("nothing like it", "missing/a.rle", "other.rle/a"):
        with pytest.raises(LifesimError) as caught:
            patterns.read(tmp_path / name)
        assert "meant" not in str(caught.value)


def test_a_script_is_called_one() -> None:
    with pytest.raises(PatternError, match=r"^a\.lua: a script, which makes a pattern in Golly"):
        read(b"local g = golly()\n", "a.lua")


def test_commands_say_what_was_odd_in_a_file(lifesim) -> None:
    Path("cut.rle").write_bytes(b"x = 2, y = 3\nbo$2bo$3o")
    notes = [
        "the header says 2x3 cells, the body has 3x3",
        "no '!' ends the pattern: it may be cut off",
    ]
    assert json.loads(lifesim("info", "cut.rle", "--json").out)["notes"] == notes
    shown = lifesim("info", "cut.rle").out
    assert all(note in shown for note in notes)
    for command in ("convert cut.rle whole.rle", "render cut.rle --out cut.png"):
        done = lifesim(*command.split())
        assert done.code == 0
        assert [line for line in done.err.splitlines() if "cut.rle" in line] == [
            f"lifesim: cut.rle: {note}" for note in notes
        ]
    assert json.loads(lifesim("info", "whole.rle", "--json").out)["notes"] == []
