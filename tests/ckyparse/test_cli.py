"""The ckyparse command: which lines are sentences, and one line for what goes wrong."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckyparse.cli import blocks as blocks_module
from ckyparse.cli import lines as lines_module
from ckyparse.cli import main
from kernels.cky import text as text_module
from tests.ckyparse.commands import Done, closes, refused, write
from tests.quick import examples

# --- accept --------------------------------------------------------------------------


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
    objects = ckyparse(*args, "rejected", "--format", "jsonl", stdin=stdin).out
    assert json.loads(objects) == {"line": 2, "accepted": False, "prefix": 3}


def test_accept_as_objects(ckyparse, english, tmp_path) -> None:
    stdin = b"I saw the dog\nI saw saw\nthe\n\nthe cat walked\n\xff\n"
    args = ["accept", "-g", english, "--format", "jsonl"]
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
        "accept", "-g", dyck, "--tokens", "chars", "--format", "jsonl", one, one, "-", "-"
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
    """Lines before the error are out, and nothing of what comes after."""
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


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.text("()x", max_size=6), max_size=30), st.integers(8, 60), st.booleans())
def test_results_do_not_depend_on_blocks(lines, size, last) -> None:
    """Lines come in order, cut into blocks of any size."""
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

    reader = blocks_module._BlockReader("x", Chunks(), lambda: True, size)
    return [block.text.tobytes() for block in reader.blocks()]


def test_many_blocks_and_jobs_keep_the_order(ckyparse, dyck, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(lines_module, "BLOCK_BYTES", 1 << 12)
    rng = np.random.default_rng(7)
    lines = ["".join("()x"[i] for i in rng.integers(0, 3, rng.integers(0, 9))) for _ in range(9000)]
    file = write(tmp_path / "lines", "".join(f"{line}\n" for line in lines))
    done = ckyparse("accept", "-g", dyck, "--tokens", "chars", "--threads", 3, file)
    assert done.out == "".join(f"{int(closes(line))}\t{line}\n" for line in lines)
    assert done.code == 1


@pytest.mark.parametrize("most", [1, 2, 7])
def test_many_short_lines_are_parted(ckyparse, dyck, monkeypatch, most) -> None:
    stdin = b"()\n\n(x)\n\xff\r\n\n)x\n(())\r\n" + b"\n" * 20 + b"(\xff)"
    for output in ("tsv", "jsonl"):
        args = ["accept", "-g", dyck, "--tokens", "chars", "--format", output]
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


# --- bad grammars and options --------------------------------------------------------


def test_what_is_no_grammar(ckyparse, tmp_path) -> None:
    for command in (["accept", "-g"], ["info"], ["sample"]):
        bad = write(tmp_path / "bad.cfg", "S -> 'a'\nT -> 'b\n")
        refused(ckyparse(*command, bad), r"bad.cfg:2:6: ")
        refused(ckyparse(*command, tmp_path / "none"), "none: .*No such file")
        refused(ckyparse(*command, write(tmp_path / "latin", b"S -> '\xe9'")), "not UTF-8")
    sums = write(tmp_path / "sums", "S -> 'a' [0.5] | 'b' [0.2]\n")
    refused(ckyparse("prob", "-g", sums), "0.7")


def test_nonterminals_without_productions_are_named_once(ckyparse, tmp_path) -> None:
    path = write(tmp_path / "G.cfg", "S -> 'a'\nS -> 'a' T | U\n")
    what = "these nonterminals have no productions, so that they derive nothing"
    said = f"{path}:2: {what}: 'T', 'U'"
    done = ckyparse("accept", "-g", path, stdin=b"a\na a\n")
    assert done == Done(1, "1\ta\n0\ta a\n", f"ckyparse: {said}\n")
    assert ckyparse("parse", "-g", path, stdin=b"a\n") == Done(0, "(S a)\n", f"ckyparse: {said}\n")
    assert ckyparse("sample", path, "-n", "1") == Done(0, "a\n", f"ckyparse: {said}\n")
    for command in ("info", "convert"):
        done = ckyparse(command, path)
        assert done.code == 0
        assert done.err.count(said) == 1


def test_options_that_make_no_sense(ckyparse, dyck) -> None:
    for args, says in [
        (["--tokens", "regex"], "pattern"),
        (["--tokens", "regex:("], "no regular expression"),
        (["--tokens", "words"], "none of"),
        (["--tokens", "space:x"], "none of"),
        (["--threads", "0"], "threads"),
        (["--format", "trees"], "trees"),
        (["--backend", "abacus"], "abacus"),
    ]:
        refused(ckyparse("accept", "-g", dyck, *args), says)
    refused(ckyparse("accept"), "--grammar")


def test_no_backend(ckyparse, dyck, monkeypatch) -> None:
    from kernels.targets import choose
    from kernels.targets.contract import BackendUnavailableError

    def unavailable(*args):
        raise BackendUnavailableError("no GPU here")

    monkeypatch.setattr(choose, "_make", unavailable)
    refused(ckyparse("accept", "-g", dyck, "--backend", "cuda", stdin=b"()"), "no GPU here", 3)


def test_backend_device_and_jobs_are_asked_for(ckyparse, dyck, monkeypatch) -> None:
    from kernels.targets import choose
    from kernels.targets.reference import ReferenceTarget

    asked = []

    def make(*args):
        asked.append(args)
        return ReferenceTarget()

    monkeypatch.setattr(choose, "_make", make)
    args = ["--tokens", "chars", "--backend", "cuda", "--device", 3, "--threads", 5]
    assert ckyparse("accept", "-g", dyck, *args, stdin=b"()\n") == Done(0, "1\t()\n", "")
    assert set(asked) == {("cuda", 3, 5)}


def test_help_needs_no_numpy() -> None:
    code = "import sys; sys.argv[1:] = ['--help']\nfrom ckyparse.cli import main\ntry: main()\n"
    code += "except SystemExit: pass\nassert not {'numpy', 'nltk', 'rich'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "accept" in done.stdout


def test_a_gpu_that_starts_is_not_waited_for_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr("kernels.targets.cuda.early.under_way", lambda: True)
    monkeypatch.setattr("ckyparse.cli.os._exit", ended.append)
    monkeypatch.setattr(sys, "argv", ["ckyparse", "--version"])
    with pytest.raises(SystemExit):
        main()
    assert ended == [0]
