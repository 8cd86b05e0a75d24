"""Rule files by name: where they are found, and what they say beside the rule."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lifesim.ruletables import RuleFileError, find, folders_for, parse

TABLE = "n_states:{}\nneighborhood:vonNeumann\nsymmetries:none\n"


def write(folder: Path, file: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(text)


def rule(name: str, states: int, more: str = "") -> str:
    return f"@RULE {name}\nsome words\n\n@TABLE\n{TABLE.format(states)}\n{more}"


def test_the_first_folder_counts(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    write(other, "Foo.rule", rule("Foo", 4))
    write(other, "Bar.table", TABLE.format(5))
    folders = [str(one), str(other)]
    found = find("Foo", folders)
    assert found is not None
    assert (found.name, found.cells.states) == ("Foo", 4)
    assert found.path == str(other / "Foo.rule")
    write(one, "Foo.rule", rule("Foo", 3))
    found = find("Foo", folders)
    assert found is not None
    assert found.cells.states == 3
    found = find("Bar", folders)
    assert found is not None
    assert found.cells.states == 5
    write(one, "Bar.tree", "")
    found = find("Bar", folders)  # a table anywhere is before a tree
    assert found is not None
    assert found.cells.states == 5
    assert find("Nothing", folders) is None


def test_a_file_of_colours_alone(tmp_path: Path) -> None:
    """Colours in a file before that of the rule count in place of the rule's own."""
    one, other = tmp_path / "one", tmp_path / "other"
    write(one, "Foo.rule", "@RULE Foo\n@COLORS\n1 9 8 7\n")
    write(other, "Foo.rule", rule("Foo", 3, "@COLORS\n1 1 1 1\n2 2 2 2\n"))
    found = find("Foo", [str(one), str(other)])
    assert found is not None
    assert found.colours == {1: (9, 8, 7)}
    with pytest.raises(RuleFileError, match="no @TABLE"):
        parse(b"@RULE Foo\n@COLORS\n1 9 8 7\n", "Foo.rule")


def test_shared_colours(tmp_path: Path) -> None:
    write(tmp_path, "Some-kind-1.rule", rule("Some-kind-1", 4))
    write(tmp_path, "Some-kind-shared.rule", rule("x", 3, "@COLORS\n3 1 2 3 text\n9 1 2 3\n"))
    found = find("Some-kind-1", [str(tmp_path)])
    assert found is not None
    assert found.colours == {3: (1, 2, 3)}
    write(tmp_path, "Some-kind-1.rule", rule("Some-kind-1", 4, "@COLORS\n1 0 0 1\n"))
    found = find("Some-kind-1", [str(tmp_path)])
    assert found is not None
    assert found.colours == {1: (0, 0, 1)}


def test_colours_and_names() -> None:
    text = rule(
        "Foo",
        4,
        "@COLORS\n\n# words\n0 255 0  0 255 100 shades\n2 5 6 7\n1 300 0 0\n7 1 1 1\nred\n"
        "@NAMES\n0 nothing\n1  a head \n2\nx y\n7 none\n@COLORS\n0 1 1 1\n@ODD\n?",
    )
    found = parse(text.encode(), "Foo.rule")
    assert found.colours == {1: (0, 255, 0), 2: (5, 6, 7), 3: (0, 255, 100)}
    assert found.names == {0: "nothing", 1: "a head"}


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "../x",
        "a\\b",
        "a\0b",
        "x" * 101,
        "a:b",
        ".hidden",
        "a..b",
        "-x",
        "a\nb",
    ],
)
def test_names_that_are_not_looked_for(name: str, tmp_path: Path) -> None:
    with pytest.raises(RuleFileError, match="cannot be the name of a rule file") as refused:
        find(name, [str(tmp_path)])
    assert str(refused.value).isprintable()


def test_what_is_no_file(tmp_path: Path) -> None:
    """A folder or a pipe of that name is refused, and keeps nobody waiting."""
    (tmp_path / "Foo.rule").mkdir()
    with pytest.raises(RuleFileError, match=r"Foo\.rule"):
        find("Foo", [str(tmp_path)])
    os.mkfifo(tmp_path / "Bar.rule")
    with pytest.raises(RuleFileError, match="is not a file"):
        find("Bar", [str(tmp_path)])


def test_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folders = folders_for(["asked", "for"], "patterns/x.rle")
    assert folders[:4] == ["asked", "for", "patterns", str(tmp_path / "bulkbits" / "rules")]
    assert "/usr/share/golly/Rules" in folders
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert folders_for((), "x.rle")[:2] == [".", "/home/me/.config/bulkbits/rules"]
    assert folders_for()[0] == "/home/me/.config/bulkbits/rules"
