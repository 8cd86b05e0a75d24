"""The arith command: results, exit codes, and one line for what goes wrong."""

from __future__ import annotations

import json
import math
import operator
import os
import re
import signal
import stat
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arith import engines
from arith.cli import main, operands
from kernels.backend import BackendUnavailableError
from tests.commands import Done, in_process

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


def test_shared_primes_refuses_bad_input(arith, tmp_path) -> None:
    good, bad = write(tmp_path / "good", 15), write(tmp_path / "bad", 15, "1a5x")
    kept = tmp_path / "set.h5"
    refused(arith("shared-primes", good, bad, "--save", kept), r"bad:2, column 2: 'a' is no digit")
    assert not kept.exists()
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

    @settings(max_examples=10)
    @given(st.lists(st.tuples(*kinds), max_size=10))
    def check(rows: list[tuple]) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
        files = [write(folder / f"{i}", *column) for i, column in enumerate(columns)]
        expected = [text_of(function(*row)) for row in rows]
        assert arith("eval", name, *files) == Done(0, "".join(f"{e}\n" for e in expected), "")

    check()


def test_every_operation_has_an_oracle() -> None:
    from arith.cli.eval import OPERATIONS

    assert set(OPERATIONS) == {*ORACLE, "sum", "prod"}


@given(st.lists(rationals, max_size=10))
@settings(max_examples=20)
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
    out = write(tmp_path / "out", "as it was")
    refused(arith("eval", name, a, b, "-o", out), says)
    assert out.read_text() == "as it was\n"
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "out"]


def test_eval_refuses_bad_usage(arith, tmp_path) -> None:
    a = write(tmp_path / "a", 1)
    refused(arith("eval", "add", a), "add takes 2 files, not 1")
    refused(arith("eval", "add", "-", "-"), "standard input")
    refused(arith("eval", "mull", a, a), "'mull' is not one of")
    refused(arith("eval", "neg", tmp_path / "no"), "no: No such file")
    refused(arith("eval", "neg", a, "-o", tmp_path / "no" / "out"), "No such file")
    refused(arith("eval", "isqrt", write(tmp_path / "b", 4, -4)), "b:2: .*negative")


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


def test_bench(arith) -> None:
    options = ("--bits", "64,200", "--count", 50, "--backend", "cpu")
    facts = json.loads(arith("bench", *options, "--op", "add", "--op", "gcd", "--json").out)
    assert facts["place"] == "cpu"
    assert [(row["operation"], row["bits"]) for row in facts["results"]] == [
        ("add", 64), ("gcd", 64), ("add", 200), ("gcd", 200)
    ]  # fmt: skip
    assert all(row["ns"] > 0 and row["gmpy2_ratio"] > 0 for row in facts["results"])
    lines = arith("bench", *options).out.splitlines()
    assert len(lines) == 2 + 2 * 6
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

    monkeypatch.setattr("arith.cli.entry.LazyGroup.format_commands", interrupt)
    assert arith("--help") == Done(130, "", "arith: interrupted\n")


def test_an_interrupt_ends_it_in_one_line(tmp_path) -> None:
    """Of work that would go on for minutes; standard input keeps it until then."""
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
