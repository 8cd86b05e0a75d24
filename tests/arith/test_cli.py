"""The arith command: results, exit codes, and one line for what goes wrong."""

from __future__ import annotations

import base64
import io
import json
import math
import operator
import os
import re
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import h5py
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import IntArray, RationalArray, engines
from arith.cli import bench, keyfiles, main, operands
from arith.cli.keyfiles import contents
from arith.factors import StoredModuli
from arith.keys import KeyFileError
from bulkbits import hdf5
from kernels.targets.contract import BackendUnavailableError
from tests.commands import Done, in_process
from tests.quick import examples
from tests.waiting import until

COMMAND = [sys.executable, "-c", "from arith.cli import main; main()"]


@pytest.fixture
def arith(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return in_process("arith", main, capsys, monkeypatch)


def refused(done: Done, says: str, code: int = 2) -> None:
    assert done.code == code, done
    assert re.search(says, done.err), done.err
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("arith: ")


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


# --- shared-primes ----------------------------------------------------------------


def test_nothing_shared(arith, tmp_path) -> None:
    done = arith("shared-primes", write(tmp_path / "a", 15, 77, "0xdd"))
    assert done == Done(0, "3 moduli: nothing shared\n", "")


def test_a_table_of_what_is_shared(arith, tmp_path) -> None:
    a, b = write(tmp_path / "a", 15, 77), write(tmp_path / "b", "# b", 77, 35, 0)
    done = arith("shared-primes", a, b)
    assert done.code == 1
    assert done.err == ""
    rows = re.sub(r"\s+", " ", re.sub("[^ -~]", " ", done.out.replace("\n", " ")))
    for expected in (
        "5 moduli: 4 findings",
        f"no modulus 0 {b}:4",
        f"same modulus 77 {a}:2 {b}:2",
        f"shared prime 5 {a}:1 {b}:3",
        f"shared prime 7 {a}:2 {b}:2 {b}:3",
    ):
        assert expected in rows
    many = arith("shared-primes", write(tmp_path / "c", *[21] * 20))
    assert "and 16 more" in many.out


def test_long_values_are_shortened_in_the_table_only(arith, tmp_path) -> None:
    prime = 2**521 - 1
    a = write(tmp_path / "a", 3 * prime, 5 * prime)
    assert "0x1fffffffffff…ffff (521 bits)" in arith("shared-primes", a).out
    [found] = json.loads(arith("shared-primes", "--json", a).out)["findings"]
    assert found == {
        "kind": "shared prime",
        "value": hex(prime),
        "moduli": [f"{a}:1", f"{a}:2"],
        "stored": [],
    }


def test_a_damaged_set_has_an_exit_code_of_its_own(arith, tmp_path) -> None:
    kept = tmp_path / "set"
    assert arith("shared-primes", "-", "--save", kept, stdin=b"15\n77\n").code == 0
    with h5py.File(kept, "r+") as file:
        file["moduli/limbs"][0] ^= 2
        file["products/limbs"][0] ^= 2
    refused(arith("shared-primes", "-", "--against", kept, stdin=b"221\n"), "damaged", 4)


def test_against_and_save(arith, tmp_path) -> None:
    old, kept, more = tmp_path / "old", tmp_path / "kept.h5", tmp_path / "more.h5"
    write(old, 15, 77)
    assert arith("shared-primes", old, "--save", kept).code == 0
    done = arith("shared-primes", "-", "--against", kept, "--save", more, "--json", stdin=b"22\n")
    assert done.code == 1
    facts = json.loads(done.out)
    assert facts["moduli"] == 1
    assert facts["passed_over"] == {}
    assert facts["findings"] == [
        {"kind": "even", "value": "0x2", "moduli": ["standard input:1"], "stored": []},
        {
            "kind": "shared prime",
            "value": "0xb",
            "moduli": ["standard input:1"],
            "stored": [{"number": 2, "name": f"{old}:2"}],
        },
    ]
    table = arith("shared-primes", write(tmp_path / "new", 33), "--against", more).out
    for place in (f"{old}:1", f"{old}:2", "standard input:1"):
        assert place in table.replace("│\n│ ", "")


def failing(monkeypatch: pytest.MonkeyPatch, good: Path) -> None:
    """Fill the disk but in one folder, which is that of temporary files."""
    write = hdf5.Writer.write

    def full(writer: hdf5.Writer, name: str, array: object, offset: int = 0) -> None:
        if not os.readlink(f"/proc/self/fd/{writer._raw.fileno()}").startswith(str(good)):
            raise OSError(28, "No space left on device")
        write(writer, name, array, offset)

    monkeypatch.setattr(hdf5.Writer, "write", full)
    monkeypatch.setattr(tempfile, "tempdir", str(good))


@pytest.mark.parametrize("lines", [(15, 35, 77), (15, 77)])
def test_findings_outlive_a_set_that_cannot_be_saved(arith, tmp_path, monkeypatch, lines) -> None:
    good, spare, kept = write(tmp_path / "good", *lines), tmp_path / "spare", tmp_path / "set.h5"
    spare.mkdir()
    expected = arith("shared-primes", good, "--json")
    failing(monkeypatch, spare)
    done = arith("shared-primes", good, "--save", kept, "--json")
    assert done.out == expected.out
    assert done.code == (1 if len(lines) == 3 else 2)
    (name,) = os.listdir(spare)
    says = f"arith: cannot write {kept}: No space left on device; it is saved in {spare / name}\n"
    assert done.err == says
    assert not kept.exists()
    monkeypatch.undo()
    assert len(StoredModuli(spare / name).moduli()) == len(lines)


def test_where_a_set_cannot_be_saved_is_said_first(arith, tmp_path, monkeypatch) -> None:
    good = write(tmp_path / "good", 15, 35)
    monkeypatch.setattr("arith.cli.shared_primes.shared_factors", None)
    for path, says in (
        (tmp_path / "no" / "set", "No such file or directory"),
        (tmp_path, "this is a directory"),
        (os.devnull, "this is no regular file"),
        (good, "it is read, too: --force overwrites it"),
    ):
        refused(arith("shared-primes", good, "--save", path), f"cannot write {path}: {says}")


def test_findings_are_printed_before_the_set_is_saved(arith, tmp_path, monkeypatch, capsys) -> None:
    good = write(tmp_path / "good", 15, 35)

    def killed(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("arith.cli.shared_primes.save_moduli", killed)
    done = arith("shared-primes", good, "--save", tmp_path / "set", "--json")
    assert done.code == 130
    assert len(done.facts["findings"]) == 1


def test_shared_primes_refuses_bad_input(arith, tmp_path) -> None:
    good, bad = write(tmp_path / "good", 15), write(tmp_path / "bad", 15, "1a5x")
    kept = tmp_path / "set.h5"
    done = arith("shared-primes", good, bad, "--save", kept)
    refused(
        done, r"bad:2, column 2: 'a' is no digit \(the file's 1 numbers are passed over, too\)$"
    )
    assert StoredModuli(kept).moduli().to_ints() == [15]
    refused(arith("shared-primes", tmp_path / "no"), "no: No such file or directory")
    refused(arith("shared-primes", tmp_path), "Is a directory")
    refused(arith("shared-primes", good, "--against", good), "good: ")
    refused(arith("shared-primes", good, "--against", tmp_path / "no"), "no: No such file")
    refused(arith("shared-primes", good, "--save", tmp_path / "no" / "set"), "No such file")
    refused(arith("shared-primes"), "Missing argument.*--help")
    refused(arith("shared-primes", "-", stdin=b""), "standard input: there is no key")


def test_shared_primes_on_several_devices_or_machines(arith, tmp_path, monkeypatch) -> None:
    good = write(tmp_path / "good", 15, 35)
    refused(arith("shared-primes", good, "--device", "1,1"), "names a device twice")
    both = ("--cluster", "local:2", "--device", "1")
    refused(arith("shared-primes", good, *both), "contradict each other")
    refused(arith("shared-primes", good, "--device", "1", "--backend", "cpu"), "no use for")
    asked = []

    def named(place: str):
        asked.append(place)
        if place == "cuda:3":
            raise BackendUnavailableError("no CUDA device 3: there are 3")

    monkeypatch.setattr(engines, "named", named)
    refused(arith("shared-primes", good, "--device", "2,3,0"), "no CUDA device 3", 3)
    assert asked == ["cuda:2", "cuda:3"]
    pytest.importorskip("distributed")
    refused(arith("shared-primes", good, "--cluster", "nowhere"), "neither local:N, nor")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_a_full_device_is_named(arith, tmp_path) -> None:
    a = write(tmp_path / "a", 1, 2)
    refused(arith("eval", "neg", a, "-o", "/dev/full"), "^arith: /dev/full: No space left")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_keys_that_cannot_be_read_are_told(arith, tmp_path) -> None:
    pytest.importorskip("cryptography")
    bad = tmp_path / "bad.pem"
    bad.write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    says = f"arith: {bad}:1: this public key cannot be read"
    done = arith("shared-primes", bad, write(tmp_path / "a", 15, 77))
    assert (done.code, done.out) == (2, "2 moduli: nothing shared\n")
    assert done.err.startswith(says)
    done = arith("shared-primes", write(tmp_path / "b", 15, 21), bad, "--json")
    assert (done.code, done.err) == (1, "")
    facts = json.loads(done.out)
    assert facts["unreadable"][0].startswith(f"{bad}:1: this public key cannot be read")
    assert [each["value"] for each in facts["findings"]] == ["0x3"]
    refused(arith("shared-primes", bad, bad), "bad.pem:1: this public key cannot be read")


JWK = '{\n"kty": "RSA",\n"n": "AQAB",\n"e": "AQAB"\n}\n'
COMPRESSED = (  # a point of NIST P-256, as nobody writes it
    b"ecdsa-sha2-nistp256 "
    + base64.b64encode(
        b"".join(
            struct.pack(">I", len(part)) + part
            for part in (b"ecdsa-sha2-nistp256", b"nistp256", b"\2" + bytes(31) + b"\5")
        )
    )
)


def key_files(folder: Path) -> dict[Path, str]:
    """Yield what is no readable public key, in files and not, and what is said of each."""
    folder.mkdir()
    files: dict[str, tuple[bytes, str]] = {
        "jwk": (JWK.encode(), ":1, column 1: '{' is no key and no number"),
        "elf": (b"\x7fELF\x02\x01\x01\0" * 99 + b"\n15\n", ":1, column 1: "),
        "binary": (b"15\n\0\n21\n", ":2, column 1: "),
        "empty": (b"", ": there is no key and no number in it"),
        "private": (
            b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
            ":1: a private key, which is not read; `ssh-keygen -y` or `openssl pkey -pubout` ",
        ),
        "compressed": (COMPRESSED + b" me@here\n", ":1: this ecdsa-sha2-nistp256 key cannot"),
        "der": (b"\x30\x82\x01\x0a\x02\x82", ": neither a public key nor a certificate"),
        "prose": (b"Keys\n15\n21\n", r":1, column 1: 'K' is no .*2 numbers are passed over"),
        "long line": (b"1" * 3_000_000, ": a line of more than 1,048,576 bytes"),
        "long": (b"\x30\x84" + b"1" * 6_000_000, ": this has more than 4,194,304 bytes"),
        "evil\n\x1b[31mname": (b"x", r"1, column 1: 'x' is no key"),
    }
    found = {}
    for name, (data, says) in files.items():
        (folder / name).write_bytes(data)
        found[folder / name] = says
    found[folder] = ": Is a directory"
    found[folder / "missing"] = ": No such file or directory"
    os.mkfifo(folder / "pipe")
    found[folder / "pipe"] = ": an empty pipe, or one that nobody writes to"
    with socket.socket(socket.AF_UNIX) as end:
        here = os.getcwd()
        os.chdir(folder)  # a socket's path is short
        end.bind("socket")
        os.chdir(here)
    found[folder / "socket"] = ": No such device or address"
    (folder / "loop").symlink_to("loop")
    found[folder / "loop"] = ": Too many levels of symbolic links"
    if os.geteuid():
        (folder / "secret").touch(0)
        found[folder / "secret"] = ": Permission denied"
    found[Path("/dev/zero")] = ":1, column 1: "
    return found


def test_whatever_is_no_key_is_noted_and_passed_over(arith, tmp_path) -> None:
    pytest.importorskip("cryptography")
    bad = key_files(tmp_path / "files")
    a, b = write(tmp_path / "a", 15), write(tmp_path / "b", 77)
    done = arith("shared-primes", a, *bad, b)
    assert (done.code, done.out) == (2, "2 moduli: nothing shared\n")
    lines = done.err.splitlines()
    assert len(lines) == len(bad)
    for line, (path, says) in zip(lines, bad.items(), strict=True):
        assert line.isprintable()
        assert line.startswith("arith: ")
        assert re.search(("" if "\n" in path.name else re.escape(f"{path}")) + says, line), line
    done = arith("shared-primes", a, *bad, write(tmp_path / "c", 21), "--json")
    assert (done.code, done.err) == (1, "")
    assert len(done.facts["unreadable"]) == len(bad)
    assert [each["value"] for each in done.facts["findings"]] == ["0x3"]
    for path in bad:
        done = arith("shared-primes", path)
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), path
        done = arith("shared-primes", path, path, "--json")
        assert (done.code, done.err, len(done.facts["unreadable"])) == (2, "", 2), path
    some = list(bad)[:3]
    refused(arith("shared-primes", *some), r"jwk:1, .* \(and 2 more that cannot be read\)$")


def test_one_bad_key_among_very_many(arith, tmp_path) -> None:
    primes = [p for p in range(3, 30_000, 2) if all(p % q for q in range(3, int(p**0.5) + 1, 2))]
    good = [write(tmp_path / f"{i:04}.txt", primes[2 * i] * primes[2 * i + 1]) for i in range(1500)]
    bad = tmp_path / "0700.jwk"
    bad.write_text(JWK)
    done = arith("shared-primes", *good[:700], bad, *good[700:])
    assert (done.code, done.out) == (2, "1,500 moduli: nothing shared\n")
    assert (
        done.err
        == f"arith: {bad}:1, column 1: '{{' is no key and no number (and 4 lines besides)\n"
    )


def test_a_key_file_takes_a_part_of_memory_at_most(monkeypatch) -> None:
    """So that standard input may go on for ever."""
    monkeypatch.setattr(keyfiles, "_UNASKED", 1 << 21)
    monkeypatch.setattr(keyfiles, "available_memory", lambda: 1 << 24)
    endless = io.BufferedReader(Endless(b"15\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(endless))
    says = r"^standard input: too large: more than [\d,]+ bytes, 16,777,216 are available$"
    with pytest.raises(KeyFileError, match=says):
        contents("-")


def test_a_pipe_that_is_written_to_is_read_to_its_end(arith, tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = "".join(f"{i}\n" for i in range(100_001, 140_001, 2))  # more than a pipe holds
    with subprocess.Popen(["tee", pipe], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as tee:
        assert tee.stdin is not None
        keys = threading.Thread(target=lambda: tee.communicate(lines.encode()))
        descriptor = os.open(pipe, os.O_RDONLY)  # so that the other end is open, too
        keys.start()
        data = contents(str(pipe))
        os.close(descriptor)
        keys.join()
    assert data.decode() == lines


def test_keys_of_other_kinds_are_told(arith, tmp_path) -> None:
    pytest.importorskip("cryptography")
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBAVyq2hzvQKCJqXJuN3aSeAmmZDLr2zWDWyfOp8IZgb me@here"
    done = arith("shared-primes", write(tmp_path / "a", key, key))
    assert done == Done(
        0, "0 moduli: nothing shared\n", "arith: passed over what is no RSA key: 2 Ed25519\n"
    )


# --- eval -------------------------------------------------------------------------

integers = st.integers(-(1 << 130), 1 << 130)
rationals = st.builds(Fraction, integers, st.integers(1, 1 << 70))
small = st.integers(0, 90)

ORACLE = {
    "add": (operator.add, [rationals, rationals]),
    "sub": (operator.sub, [rationals, integers]),
    "mul": (operator.mul, [integers, rationals]),
    "div": (lambda a, b: Fraction(a) / b, [integers, integers.filter(bool)]),
    "floordiv": (operator.floordiv, [integers, integers.filter(bool)]),
    "mod": (operator.mod, [rationals, rationals.filter(bool)]),
    "divmod": (divmod, [integers, rationals.filter(bool)]),
    "pow": (operator.pow, [integers, small]),
    "powmod": (pow, [integers, small, integers.filter(bool)]),
    "invert": (
        lambda a, m: pow(a, -1, m),
        [st.integers(1, 1 << 80), st.sampled_from([2**89 - 1, 1 - 2**127, 1, -1])],
    ),
    "muladd": (lambda a, b, c: a * b + c, [integers] * 3),
    "gcd": (math.gcd, [integers, integers]),
    "lcm": (math.lcm, [integers, integers]),
    "shift": (lambda a, b: a << b if b >= 0 else a >> -b, [integers, st.integers(-200, 200)]),
    "isqrt": (math.isqrt, [st.integers(0, 1 << 300)]),
    "neg": (operator.neg, [rationals]),
    "abs": (abs, [rationals]),
    "bit_length": (int.bit_length, [integers]),
    "cmp": (lambda a, b: (a > b) - (a < b), [rationals, integers]),
}


def text_of(result: object) -> str:
    return " ".join(map(str, result)) if isinstance(result, tuple) else str(result)


@pytest.mark.parametrize("name", ORACLE)
def test_eval_is_pythons_arithmetic(name: str, tmp_path_factory, arith, monkeypatch) -> None:
    folder = tmp_path_factory.mktemp("eval")
    function, kinds = ORACLE[name]
    monkeypatch.setattr(operands, "BATCH_LINES", 3)

    @settings(max_examples=examples(10))
    @given(st.lists(st.tuples(*kinds), max_size=10))
    def check(rows: list[tuple]) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
        files = [write(folder / f"{i}", *column) for i, column in enumerate(columns)]
        expected = [text_of(function(*row)) for row in rows]
        assert arith("eval", name, *files) == Done(0, "".join(f"{e}\n" for e in expected), "")

    check()


def test_every_operation_has_an_oracle() -> None:
    from arith.cli.eval import CALCULATIONS

    assert set(CALCULATIONS) == {*ORACLE, "sum", "prod"}


@given(st.lists(rationals, max_size=10))
@settings(max_examples=examples(20))
def test_sum_and_prod_go_over_all_batches(tmp_path_factory, values: list[Fraction]) -> None:
    file = write(tmp_path_factory.mktemp("fold") / "a", *values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operands, "BATCH_LINES", 3)
        for name, expected in (("sum", sum(values)), ("prod", math.prod(values))):
            out = file.with_name(name)
            patch.setattr(sys, "argv", ["arith", "eval", name, str(file), "-o", str(out)])
            patch.setattr(signal, "signal", lambda *_: None)
            with pytest.raises(SystemExit) as stop:
                main()
            assert not stop.value.code
            assert out.read_text() == f"{expected}\n"


def test_one_number_stands_for_many(arith, tmp_path) -> None:
    a, one = write(tmp_path / "a", 1, "", "# no", "0x10", -3), write(tmp_path / "one", 5)
    assert arith("eval", "sub", a, one).out == "-4\n11\n-8\n"
    assert arith("eval", "sub", one, a).out == "4\n-11\n8\n"
    assert arith("eval", "shift", a, one).out == "32\n512\n-96\n"
    assert arith("eval", "powmod", one, one, a, "--hex").out == "0x0\n0x5\n-0x1\n"
    assert arith("eval", "mul", one, one).out == "25\n"
    assert arith("eval", "add", one, write(tmp_path / "none")).out == ""
    assert arith("eval", "div", "-", one, "--hex", stdin=b"10\n-64/3\n").out == "0x2\n-0x40/0xf\n"


@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        ("floordiv", ["1", "0x", "3"], "b:2, column 3: a digit is missing"),
        ("floordiv", ["1", "#", "12y", "3"], "b:3, column 3: 'y' is no digit"),
        ("div", ["1", "2", " 3/4z"], "b:3, column 5: 'z' is no digit"),
        ("div", ["1", "2", "3/"], "b:3, column 3: a digit is missing"),
        ("div", ["1", "2", "/3"], "b:3, column 1: a digit is missing"),
        ("div", ["1", "2", "3/0"], "b:3: the denominator is zero"),
        ("div", ["1", "2", "3/#"], "b:3, column 3: '#' is no digit"),
        ("div", ["1", "2/ #5", "3"], "b:2, column 4: '#' is no digit"),
        ("div", ["1", "#", "3/-2"], "b:3, column 3: '-' is no digit"),
        ("div", ["1", "2", "3/ +2"], r"b:3, column 4: '\+' is no digit"),
        ("div", ["1", "2", "3/-"], "b:3, column 3: '-' is no digit"),
        ("add", ["1", "2", "1.5"], r"b:3, column 2: '\.' is no digit"),
        ("mod", ["1", "", "0", "1"], "a:2, .*b:3: division by zero"),
        ("gcd", ["1", "5/3", "1"], "b:2: gcd takes integers"),
        ("pow", ["1", "2", "-1"], "a:3, .*b:3: negative exponent"),
        ("pow", ["1", "99999999999999", "1"], "out of memory: "),
        ("add", ["1", "2"], "a has more numbers than .*b"),
        ("add", ["1", "2", "3", "4", "5"], "b has more numbers than .*a"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_eval_names_the_line_and_writes_nothing(
    arith, tmp_path, monkeypatch, name: str, lines: list[str], says: str, batch: int
) -> None:
    monkeypatch.setattr(operands, "BATCH_LINES", batch)
    a, b = write(tmp_path / "a", 11, 12, 13), write(tmp_path / "b", *lines)
    out = write(tmp_path / "out", "# as it was")
    refused(arith("eval", name, a, b, "-o", out), says)
    assert out.read_text() == "# as it was\n"
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "out"]


def numbers_of(data: bytes) -> list[int | Fraction]:
    """Return the numbers of an operand's file."""
    taken = operands.Operand(io.BytesIO(data), "a", "host").take(None)
    return [] if taken is None else list(taken)


@given(st.lists(st.text("019/#+- z\t\v\f\r\0é", max_size=6), max_size=4))
@settings(max_examples=examples(80))
def test_what_eval_takes_is_what_a_rational_array_takes(lines: list[str]) -> None:
    """Or it says what is wrong, in one line; lines are those between line feeds."""
    data = "\n".join(lines).encode()
    bodies = [line.strip(b" \t\n\r\v\f").decode() for line in data.split(b"\n")]
    bodies = [body for body in bodies if body and not body.startswith("#")]
    try:
        expected = list(RationalArray(bodies))
    except (ValueError, ZeroDivisionError):
        expected = None
    if expected is None:
        with pytest.raises(click.ClickException, match=r"^a:\d+(, column \d+)?: [^\n]+$"):
            numbers_of(data)
    else:
        assert numbers_of(data) == expected


class Endless(io.RawIOBase):
    """The same bytes for ever; counts what was read."""

    def __init__(self, byte: bytes) -> None:
        self.byte, self.read_so_far = byte, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer) // len(self.byte) * len(self.byte)
        buffer[:size] = self.byte * (size // len(self.byte))
        self.read_so_far += size
        return size


@pytest.mark.parametrize("byte", [b"\0", b"y", b"1", b"#", b" ", b"/"])
def test_a_line_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch, byte: bytes) -> None:
    monkeypatch.setattr(operands, "MOST_BYTES", 1 << 20)
    endless = Endless(byte)
    says = r"^a:1, column 1: .* is no digit$" if byte in b"\0y" else r"^a:1: this line is longer"
    with pytest.raises(click.ClickException) as caught:
        operands.Operand(io.BufferedReader(endless), "a", "host").take(None)
    assert re.match(says, caught.value.message)
    assert endless.read_so_far < (1 << 22 if byte not in b"\0y" else 1 << 26)


def test_eval_of_a_device_that_never_ends(arith) -> None:
    refused(arith("eval", "neg", "/dev/zero"), r"/dev/zero:1, column 1: '\\x00' is no digit")


@pytest.mark.parametrize("blanks", [0, 3, 1 << 16, (1 << 16) - 1, 1 << 17])
def test_lines_that_are_read_in_pieces(blanks: int) -> None:
    value, comment = 7**60000, b"# " + b"x 1\t" * 50000
    digits = IntArray([value]).to_lines().strip().encode()
    lines = [b"5", b" " * blanks + digits, comment, b" " * blanks + comment, b"-" + digits, b"8"]
    assert numbers_of(b"\n".join(lines)) == [5, value, -value, 8]
    lines[4] += b"z" * 70000
    column = len(digits) + 2
    with pytest.raises(click.ClickException, match=rf"^a:5, column {column}: 'z' is no digit$"):
        numbers_of(b"\n".join(lines))


def test_eval_refuses_bad_usage(arith, tmp_path) -> None:
    a = write(tmp_path / "a", 1)
    refused(arith("eval", "add", a), "add takes 2 files, not 1")
    refused(arith("eval", "add", "-", "-"), "standard input")
    refused(arith("eval", "mull", a, a), "'mull' is not one of")
    refused(arith("eval", "neg", tmp_path / "no"), "no: No such file")
    refused(arith("eval", "neg", a, "-o", tmp_path / "no" / "out"), "No such file")
    refused(arith("eval", "isqrt", write(tmp_path / "b", 4, -4)), "b:2: .*negative")
    refused(arith("eval", "gcd", a, a, "--bits", 8), "gcd takes no --bits, only add, sub, mul do")
    refused(arith("eval", "add", a, a, "--bits", 0), "0 is not in the range")
    c = write(tmp_path / "c", 4, "1/3")
    refused(arith("eval", "add", a, c, "--bits", 8), "c:2: add takes integers")


def test_eval_modulo_a_power_of_two(arith, tmp_path) -> None:
    a, b = write(tmp_path / "a", 200, 3, -1), write(tmp_path / "b", 100, 5, 0)
    assert arith("eval", "add", a, b, "--bits", 8).out == "44\n8\n255\n"
    assert arith("eval", "sub", a, b, "--bits", 16, "--hex").out == "0x64\n0xfffe\n0xffff\n"
    assert arith("eval", "mul", a, b, "--bits", 10, "--backend", "reference").out == "544\n15\n0\n"


def test_a_backend_that_is_missing_is_exit_3(arith, tmp_path, monkeypatch) -> None:
    def missing(place: str):
        raise BackendUnavailableError(f"no {place} here")

    monkeypatch.setattr(engines, "named", missing)
    a = write(tmp_path / "a", 1)
    refused(arith("eval", "neg", a, "--backend", "cuda"), "no cuda here", 3)
    refused(arith("bench", "--backend", "cuda"), "no cuda:0 here", 3)


def test_eval_writes_what_is_no_file_directly(arith, tmp_path) -> None:
    assert arith("eval", "neg", write(tmp_path / "a", 1), "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


# --- bench, the command as such -----------------------------------------------------


def test_bench(arith, monkeypatch) -> None:
    monkeypatch.setattr(bench, "SECONDS", 0.005)
    monkeypatch.setattr(bench, "_LOOP", 20)
    options = ("--bits", "64,200", "--count", 50, "--backend", "cpu")
    facts = json.loads(arith("bench", *options, "--op", "add", "--op", "gcd", "--json").out)
    assert facts["place"] == "cpu"
    assert [(row["operation"], row["bits"]) for row in facts["results"]] == [
        ("add", 64), ("gcd", 64), ("add", 200), ("gcd", 200)
    ]  # fmt: skip
    for row in facts["results"]:
        assert row["rate"] == pytest.approx(1e9 / row["ns"])
        assert row["peers"]["gmpy2"]["ratio"] > 0
        assert (row["count"], row["reference"]) == (50, None)
    [row] = arith("bench", "--bits", 256, "--op", "gcd", *options[2:], "--json").facts["results"]
    assert row["reference"]["figure"] == "86.4"
    assert row["ratio"] == pytest.approx(row["rate"] * 86.4e-9)
    lines = arith("bench", *options).out.splitlines()
    assert len([line for line in lines if line.startswith("| ")]) == 2 + 2 * 8
    refused(arith("bench", "--bits", "12,x"), "'12,x' are no sizes")
    refused(arith("bench", "--bits", "0"), "sizes are 1 to")


def test_help_and_version(arith) -> None:
    assert arith("--version").out.startswith("arith, version ")
    for name in ("shared-primes", "eval", "bench"):
        assert arith(name, "--help").out.startswith(f"Usage: arith {name}")
    refused(arith("nonsense"), "No such command")
    assert arith().code == 2


def test_an_interrupt_before_anything_is_run(arith, monkeypatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bulkbits.entry.LazyGroup.format_commands", interrupt)
    assert arith("--help") == Done(130, "", "arith: interrupted\n")


def test_an_interrupt_ends_it_in_one_line(tmp_path) -> None:
    """Interrupt work that would go on for minutes; standard input keeps it until then."""
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "eval", "neg", "-", "-o", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write("1\n2\n3\n")
    process.stdin.flush()
    while not any(name.endswith(".tmp") for name in os.listdir(tmp_path)):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed = process.communicate(timeout=60)
    assert (process.returncode, *printed) == (130, "", "arith: interrupted\n")
    assert os.listdir(tmp_path) == []


def test_what_a_killed_command_left_is_removed_by_the_next(arith, tmp_path) -> None:
    out = tmp_path / "out"
    with subprocess.Popen(
        [*COMMAND, "eval", "neg", "-", "-o", str(out)], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"1\n2\n3\n")
        process.stdin.flush()
        until(lambda: any(name.endswith(".tmp") for name in os.listdir(tmp_path)))
        process.kill()
    (left,) = os.listdir(tmp_path)
    assert left.endswith(".tmp")
    assert arith("eval", "neg", "-", "-o", tmp_path / "other", stdin=b"1\n").code == 0
    assert sorted(os.listdir(tmp_path)) == sorted([left, "other"])
    assert arith("eval", "neg", "-", "-o", out, stdin=b"1\n").code == 0
    assert sorted(os.listdir(tmp_path)) == ["other", "out"]
