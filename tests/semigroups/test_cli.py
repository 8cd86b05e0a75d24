"""The semigroups command: results, exit codes, and one line for what goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulkbits import overwriting
from kernels.targets import choose
from kernels.targets.contract import BackendUnavailableError, Target
from kernels.targets.costs import StartCosts
from kernels.targets.reference import ReferenceTarget
from kernels.transformations import SemigroupEngine, engine_for
from kernels.transformations.ref import ReferenceSemigroupEngine
from semigroups import Semigroup, bihecke, families, files, full, parse_generators, zero_rook
from semigroups.cli import bench, drive, main
from semigroups.engines import EngineChoice
from semigroups.files import StoredError
from tests.commands import Done, in_process
from tests.quick import examples
from tests.transformations_model import assert_equal_tables

COMMAND = [sys.executable, "-W", "error", "-c", "from semigroups.cli import main; main()"]
REFERENCE = ["--backend", "reference"]


@pytest.fixture
def semigroups(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return in_process("semigroups", main, capsys, monkeypatch)


@pytest.fixture
def enumerated(semigroups):
    """`semigroups enumerate` by the reference."""

    def run(*args: object, stdin: bytes = b"") -> Done:
        return semigroups("enumerate", *REFERENCE, *args, stdin=stdin)

    return run


@pytest.fixture
def stored(enumerated, tmp_path) -> Path:
    """Return the path of a file of all of bihecke:3."""
    assert enumerated("bihecke:3", "--out", tmp_path / "S.h5").code == 0
    return tmp_path / "S.h5"


def refused(done: Done, says: str, code: int = 2) -> None:
    assert done.code == code, done
    assert re.search(says, done.err), done.err
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("semigroups: ")
    assert done.out == ""


@pytest.mark.parametrize("words", [["resume"], ["convert", "-g"]])
def test_a_damaged_file_has_an_exit_code_of_its_own(semigroups, stored: Path, words) -> None:
    with h5py.File(stored, "r+") as file:
        file["generators"][0, 0] ^= 1
        file["right"][-1, 0] ^= 1
    refused(semigroups(*words, stored), "damaged: its digest is another", 4)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


# --- enumerate --------------------------------------------------------------------


def test_what_is_printed(enumerated) -> None:
    asked = ["--levels", "--green", "--idempotents", "--rules"]
    done = enumerated("bihecke:3", *asked)
    assert (done.code, done.err) == (0, "")
    found = Semigroup(bihecke(3), backend="reference")
    expected = (
        "23 elements, with the identity\n4 generators of degree 6\nproved by comparing rows\n"
        "level 0: 1\nlevel 1: 4\nlevel 2: 8\nlevel 3: 10\n"
    )
    for kind in "RLJHD":
        classes = found.green(kind)
        expected += f"{kind}-classes: {len(classes)}, {classes.regular.sum()} of them regular\n"
    expected += f"idempotents: {len(found.idempotents)}\nrules: {len(found.rules)}\n"
    assert done.out.startswith(expected)
    rest = done.out.removeprefix(expected).splitlines()
    assert rest[0].startswith("products: 92 computed, 0 deduced; 0.0 MB moved")
    assert re.fullmatch(r"\d\.\d{3} s, [\d,]+ elements/s, \d\.\d MiB on numpy reference.*", rest[1])
    assert len(rest) == 2
    assert enumerated("bihecke:3").out.splitlines()[3].startswith("products: ")


def test_one_json_object(enumerated) -> None:
    asked = ["--json", "--levels", "--green", "--idempotents", "--rules"]
    facts = enumerated("Bihecke:4", *asked).facts
    for name in ("seconds", "elements_per_second", "bytes_moved", "memory"):
        assert facts.pop(name) > 0
    assert "numpy" in facts.pop("device")
    green = facts.pop("green")
    found = Semigroup(bihecke(4), backend="reference")
    assert green == {
        kind: {"classes": len(classes), "regular": int(classes.regular.sum())}
        for kind in "RLJHD"
        for classes in [found.green(kind)]
    }
    assert facts == {
        "source": "Bihecke:4",
        "degree": 24,
        "generators": 6,
        "monoid": True,
        "base": None,
        "size": 477,
        "finished": True,
        "interrupted": False,
        "certainty": "proved by comparing rows",
        "computed": 477 * 6,
        "deduced": 0,
        "backend": "reference",
        "written": None,
        "levels": [1, 6, 20, 52, 94, 134, 126, 34, 10],
        "idempotents": 251,
        "rules": 268,
    }
    assert not {"levels", "green", "idempotents", "rules"} & set(
        enumerated("bihecke:3", "--json").facts
    )


def test_generators_from_files(enumerated, tmp_path) -> None:
    for text in ("[[1, 0, 2], [0, 0, 2]]", "1 0 2\n0 0 2\n", "[Transformation([2,1]), "
                 "Transformation([1,1,3])];"):  # fmt: skip
        file = write(tmp_path / "G", text)
        assert enumerated("--generators", file, "--json").facts["size"] == 4
        facts = enumerated("-g", "-", "--json", stdin=text.encode()).facts
        assert (facts["size"], facts["source"]) == (4, "-")


def test_one_of_each(enumerated) -> None:
    text = enumerated("-g", "-", "--rules-out", os.devnull, stdin=b"0\n").out
    assert text.startswith("1 element, with the identity\n1 generator of degree 1\n")


def test_the_identity(enumerated) -> None:
    for name, with_it, without in (("bihecke:3", 23, 22), ("symmetric:3", 6, 6)):
        assert enumerated(name, "--json").facts["size"] == with_it
        facts = enumerated(name, "--semigroup", "--json", "--levels").facts
        assert (facts["size"], facts["monoid"]) == (without, False)
        assert facts["levels"][0] == 0
        assert "without the empty product" in enumerated(name, "--semigroup").out


# The image of point 90, which is 1234, tells elements of zero_rook:4 apart.
@pytest.mark.parametrize(("base", "points"), [("auto", 32), ("all", None), ("90", 1), ("0,90", 2)])
def test_bases(enumerated, tmp_path, base, points) -> None:
    """The result is that of whole maps, and says how it was proved."""
    path = tmp_path / "S.h5"
    facts = enumerated("zero_rook:4", "--base", base, "--out", path, "--json").facts
    assert facts["size"] == 209
    whole = Semigroup(zero_rook(4), backend="reference", base="all")
    again = Semigroup.load(path, backend="reference")
    np.testing.assert_array_equal(again.elements(range(209)), whole.elements(range(209)))
    if points is None:
        assert (facts["base"], facts["certainty"]) == (None, "proved by comparing rows")
    else:
        assert 90 in facts["base"]
        assert len(facts["base"]) <= points
        says = rf"images of {len(facts['base'])} points?, proved by checking 25 rules"
        assert re.search(says, facts["certainty"])
        assert files.summary(path).checked == 25


def test_hash_only(enumerated, tmp_path) -> None:
    facts = enumerated("full:3", "--hash-only", "--json", "--out", tmp_path / "S.h5").facts
    assert (facts["size"], facts["certainty"]) == (27, "by 128-bit hashes only")
    assert not files.load(tmp_path / "S.h5").summary.compare


def test_rules_are_written(enumerated, tmp_path) -> None:
    file = tmp_path / "rules"
    assert enumerated("full:3", "--rules-out", file).code == 0
    generators, images = full(3), {}
    lines = file.read_text().splitlines()
    for line in lines:
        sides = []
        for side in line.split("\t"):
            word = tuple(map(int, side.split()))
            images[word] = np.arange(3)
            for letter in word:
                images[word] = generators[letter][images[word]]
            sides.append((len(word), word))
        assert sides[0] > sides[1]
        np.testing.assert_array_equal(images[sides[0][1]], images[sides[1][1]])
    assert len(lines) == len(Semigroup(generators, backend="reference").rules)
    done = enumerated("full:3", "--rules-out", "-")
    assert done.out == file.read_text()
    assert done.err.startswith("27 elements, with the identity\n")
    assert enumerated("full:3", "--rules-out", "-", "--quiet").out == file.read_text()


CUDA = pytest.param("cuda", marks=pytest.mark.gpu)


@pytest.mark.parametrize("backend", ["auto", "reference", CUDA])
def test_backends(semigroups, backend, tmp_path) -> None:
    options = ["--backend", backend, "--out", tmp_path / "S"]
    assert semigroups("enumerate", "bihecke:4", *options, "--json").facts["size"] == 477
    assert_whole(tmp_path / "S", "bihecke:4")


@pytest.mark.parametrize("backend", ["auto", CUDA])
def test_one_backend_goes_on_where_another_stopped(semigroups, backend, tmp_path) -> None:
    path = tmp_path / "S"
    for limit, name in ((100, backend), (300, "reference"), (1000, backend)):
        command = ["resume", path] if path.exists() else ["enumerate", "bihecke:4", "--out", path]
        done = semigroups(*command, "--backend", name, "--limit", limit)
        assert done.code == int(limit < 1000)
    assert_whole(path, "bihecke:4")


# --- what stops, and goes on ------------------------------------------------------


def assert_whole(path: Path, name: str) -> None:
    """The file has what an enumeration at one go finds."""
    whole = Semigroup(families.Family.parse(name), backend="reference")
    whole.run()
    whole.save(path.with_name("whole"))
    assert_equal_tables(files.load(path).tables, files.load(path.with_name("whole")).tables)


def test_limit(enumerated, semigroups, tmp_path) -> None:
    path = tmp_path / "S.h5"
    done = enumerated("bihecke:4", "--limit", 100, "--out", path, "--levels")
    assert done.code == 1
    assert re.fullmatch(
        rf"semigroups: stopped by --limit at \d+ elements; `semigroups resume {path}` goes on\n",
        done.err,
    )
    size = files.summary(path).size
    assert 50 < size <= 100
    assert done.out.startswith(f"{size} elements so far, with the identity\n")
    assert f"level 4: {size - 79}\n" in done.out
    assert f"wrote {path}\n" in done.out
    again = semigroups("resume", path, "--limit", 300, *REFERENCE, "--json")
    assert again.code == 1
    assert size < again.facts["size"] <= 300
    done = semigroups("resume", path, *REFERENCE, "--json", "--idempotents")
    assert (done.code, done.err) == (0, "")
    assert (done.facts["size"], done.facts["idempotents"]) == (477, 251)
    assert done.facts["computed"] < 477 * 6
    assert_whole(path, "bihecke:4")
    done = enumerated("bihecke:3", "--limit", 23, "--json")
    assert (done.code, done.facts["finished"]) == (0, True)


def test_without_out_nothing_is_saved(enumerated, tmp_path) -> None:
    done = enumerated("bihecke:4", "--limit", 100, "--json")
    assert done.code == 1
    assert re.search(r"stopped by --limit at \d+ elements; nothing is saved\n$", done.err)
    assert (done.facts["finished"], done.facts["written"]) == (False, None)


def test_memory(enumerated, semigroups, tmp_path) -> None:
    path = tmp_path / "S.h5"
    done = enumerated("bihecke:4", "--memory", "200K", "--out", path, "--json")
    assert done.code == 1
    size = done.facts["size"]
    assert re.fullmatch(
        rf"semigroups: stopped at {size} elements, level \d+: .*memory.*; "
        rf"`semigroups resume {path}` goes on\n",
        done.err,
    )
    assert 10 < size == files.summary(path).size
    assert done.facts["memory"] <= 200 << 10
    done = semigroups("resume", path, *REFERENCE, "--memory", "10M")
    assert done.code == 0
    assert_whole(path, "bihecke:4")


def test_what_needs_all_is_not_answered(enumerated) -> None:
    asked = ["--green", "--rules", "--idempotents", "--rules-out", "-"]
    done = enumerated("bihecke:4", "--limit", 100, *asked)
    assert done.code == 1
    said = "no answer to --green, --idempotents, --rules, --rules-out: that needs all elements"
    assert said in done.err
    assert done.out == ""
    done = enumerated("bihecke:4", "--limit", 100, *asked[:-2], "--json")
    assert [done.facts[name] for name in ("green", "rules", "idempotents")] == [None] * 3


def test_too_little_memory_for_a_beginning(enumerated, semigroups, stored) -> None:
    refused(enumerated("bihecke:3", "--memory", 100), "out of memory: ")
    before = stored.read_bytes()
    asked = semigroups("resume", stored, *REFERENCE, "--memory", 100, "--rules", "--quiet")
    refused(asked, rf"out of memory: {stored}: ")
    assert stored.read_bytes() == before
    begun = stored.with_name("begun.h5")
    enumerated("bihecke:4", "--limit", 100, "--out", begun)
    before = begun.read_bytes()
    refused(semigroups("resume", begun, *REFERENCE, "--memory", 100), "out of memory: ")
    assert begun.read_bytes() == before


def test_generators_that_do_not_fit_are_not_made(enumerated, semigroups) -> None:
    for done in (
        enumerated("bihecke:12", "--memory", "1G"),
        enumerated("bihecke:9", "--memory", "1M"),
        enumerated("regressive:4294967296"),
        semigroups("convert", "regressive:4294967296"),
    ):
        refused(done, r"out of memory: \w+:\d+: .*generators.* \d[\d,]+ bytes")


def test_resume_of_what_is_finished(semigroups, stored, tmp_path) -> None:
    before = stored.stat().st_mtime_ns, stored.read_bytes()
    done = semigroups("resume", stored, *REFERENCE, "--json", "--levels", "--rules")
    assert done.code == 0
    assert done.err == f"semigroups: {stored}: all elements were found before\n"
    assert (done.facts["levels"], done.facts["computed"]) == ([1, 4, 8, 10], 0)
    assert done.facts["rules"] > 0
    assert (stored.stat().st_mtime_ns, stored.read_bytes()) == before
    assert semigroups("resume", stored, *REFERENCE, "--quiet") == Done(
        0,
        "23 elements, with the identity\n4 generators of degree 6\nproved by comparing rows\n",
        "",
    )
    copy = tmp_path / "T.h5"
    done = semigroups("resume", stored, *REFERENCE, "--out", copy, "--json")
    assert done.code == 0
    assert done.facts["size"] == 23
    assert done.facts["elements_per_second"] == 0  # of this time
    assert_equal_tables(files.load(copy).tables, files.load(stored).tables)


def test_resume_elsewhere(enumerated, semigroups, tmp_path) -> None:
    path, other = tmp_path / "S.h5", tmp_path / "T.h5"
    enumerated("bihecke:4", "--limit", 100, "--out", path)
    before = path.read_bytes()
    assert semigroups("resume", path, "--out", other, *REFERENCE).code == 0
    assert path.read_bytes() == before
    assert_whole(other, "bihecke:4")


def test_a_file_that_cannot_be_written_in_the_end(enumerated, monkeypatch, tmp_path) -> None:
    """Facts that were found are told even where the file cannot be written in the end."""

    def failing(semigroup: Semigroup, path: str) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(Semigroup, "save", failing)
    for options, code in (([], 2), (["--limit", 10], 2)):
        done = enumerated("bihecke:3", *options, "--out", tmp_path / "S.h5", "--levels", "--json")
        assert done.code == code
        assert re.search(
            rf"semigroups: cannot write {tmp_path / 'S.h5'}: No space left on device; and "
            r"cannot write .*-S.h5: No space left on device\n\Z",
            done.err,
        )
        assert done.facts["levels"][:2] == [1, 4]
        assert done.facts["written"] is None
    assert "nothing is saved" in done.err


def test_a_second_interrupt(enumerated, monkeypatch, tmp_path) -> None:
    """While the file is being written: there is no trace of it."""

    class Asked(drive.Stop):
        asked = True

        def __init__(self) -> None:
            self._before = {}

    array, calls = np.ascontiguousarray, []

    def interrupted(*args: object):
        calls.append(args)
        raise KeyboardInterrupt

    monkeypatch.setattr(drive, "Stop", Asked)
    done = enumerated("bihecke:4", "--out", tmp_path / "S.h5")
    assert done.code == 130
    assert "interrupted at " in done.err
    assert "`semigroups resume" in done.err
    (tmp_path / "S.h5").unlink()
    monkeypatch.setattr(files.np, "ascontiguousarray", interrupted)
    refused(enumerated("bihecke:4", "--out", tmp_path / "S.h5"), "^semigroups: interrupted$", 130)
    assert calls
    monkeypatch.setattr(files.np, "ascontiguousarray", array)
    assert os.listdir(tmp_path) == []


def test_what_is_found_outlives_a_full_disk(enumerated, semigroups, tmp_path, monkeypatch) -> None:
    """It is kept where temporary files are, and all questions are answered."""
    spare, path = tmp_path / "spare", tmp_path / "S.h5"
    spare.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    room = overwriting.free_room
    for module in ("bulkbits.hdf5", "semigroups.cli.drive"):
        monkeypatch.setattr(
            f"{module}.free_room",
            lambda of: room(of) if str(of).startswith(str(spare)) else 1000,
        )
    done = enumerated("bihecke:3", "--out", path, "--json", "--green")
    (name,) = os.listdir(spare)
    assert (done.code, done.facts["written"], done.facts["size"]) == (2, str(spare / name), 23)
    assert done.facts["green"]
    early, late = done.err.splitlines()
    assert re.fullmatch(
        rf"semigroups: {path}: [\d,]+ bytes are needed so far, 1,000 are free: make room", early
    )
    assert re.fullmatch(
        rf"semigroups: cannot write {path}: No space left on device: [\d,]+ bytes are needed, "
        rf"1,000 are free; it is saved in {spare / name}",
        late,
    )
    assert os.listdir(tmp_path) == ["spare"]
    assert semigroups("info", spare / name).code == 0


def test_where_the_rest_cannot_be_saved_is_said_first(
    enumerated, semigroups, tmp_path, monkeypatch
) -> None:
    part = tmp_path / "S.h5"
    enumerated("bihecke:3", "--limit", 10, "--out", part)

    def refuse(path: str, *_: object, **options: object) -> None:
        raise OSError(13, "Permission denied", path)

    monkeypatch.setattr("bulkbits.files.check_target", refuse)
    monkeypatch.setattr(Semigroup, "run", None)
    refused(semigroups("resume", part, *REFERENCE), f"cannot write {part}: Permission denied")
    refused(semigroups("resume", tmp_path / "no", "-o", part), "Permission denied")
    monkeypatch.undo()


def test_resuming_what_is_not_there(semigroups, stored) -> None:
    refused(semigroups("resume", "no.h5", "--out", stored), "no.h5: No such file or directory")


def test_how_many_bytes_a_file_takes(tmp_path) -> None:
    found = Semigroup(bihecke(4), backend="reference")
    sizes, told = [], []
    for limit in (100, None):
        found.run(limit)
        found.save(tmp_path / "S")
        now = found.progress
        told.append(files.nbytes_of(now.size, now.expanded, len(found.generators)))
        sizes.append((tmp_path / "S").stat().st_size)
    assert abs((told[1] - told[0]) - (sizes[1] - sizes[0])) < 1000
    assert told[1] < sizes[1] < told[1] + 10_000


def interrupted(number: signal.Signals, *options: object) -> tuple[dict, str]:
    """Send a long enumeration a signal once a terminal shows how far it is; return the facts, and
    all of standard error."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "enumerate", "full:8", *REFERENCE, "--json", *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    shown = b""
    with process, os.fdopen(ours, "rb", buffering=0) as terminal:
        assert process.stdout is not None
        while not re.search(rb"[1-9][\d,]* elements, level \d+, [\d,]+/s, \d+ MiB", shown):
            shown += terminal.read(4096)
        process.send_signal(number)
        out = process.stdout.read()
        with contextlib.suppress(OSError):  # how a terminal ends
            while True:
                shown += terminal.read(4096)
        assert process.wait(timeout=60) == 130
    return json.loads(out), shown.decode().replace("\r\n", "\n")


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_saves_what_is_found(semigroups, tmp_path, number) -> None:
    path = tmp_path / "S.h5"
    facts, text = interrupted(number, "--out", path)
    size = facts["size"]
    assert (facts["interrupted"], facts["written"]) == (True, str(path))
    assert (
        f"semigroups: interrupted at {size:,} elements; `semigroups resume {path}` goes on\n"
    ) in text
    assert os.listdir(tmp_path) == ["S.h5"]
    done = semigroups("resume", path, *REFERENCE, "--limit", size + 100, "--json")
    assert (done.code, files.load(path).summary.size) == (1, done.facts["size"])
    assert size < done.facts["size"] <= size + 100


def test_an_interrupt_without_out() -> None:
    facts, text = interrupted(signal.SIGINT)
    assert (facts["interrupted"], facts["written"]) == (True, None)
    assert f"semigroups: interrupted at {facts['size']:,} elements; nothing is saved\n" in text


# --- what is wrong ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "give either a family, as bihecke:5, or --generators FILE"),
        (["full:3", "-g", "G"], "give either a family"),
        (["bihecke"], "bihecke of which n"),
        (["nothing:3"], "unknown family 'nothing'"),
        (["/"], "/ is no family, but a file: write --generators /"),
        (["bihecke:1"], "n is 2 or more"),
        (["-g", "/no/such"], "/no/such: cannot be read: No such file or directory"),
        (["-g", "-"], "standard input: no generators"),
        (["full:3", "--base", "0,3"], "3 is no point: they are 0 to 2"),
        (["full:3", "--base", "x"], "'x' is no base"),
        (["full:3", "--memory", "much"], "'much' is no amount of memory"),
        (["full:3", "--memory", "0"], "'0' is no amount of memory"),
        (["full:3", "--limit", "0"], "--limit"),
        (["full:3", "--out", "/no/such/S.h5"], "cannot write /no/such/S.h5: No such file"),
        (["full:3", "--out", "/"], "cannot write /: this is a directory"),
        (["full:3", "--out", os.devnull], "this is no regular file"),
        (["full:3", "--out", "-"], "HDF5 is not written to standard output"),
        (["full:3", "--rules-out", "/no/such"], "cannot write /no/such: No such file"),
        (["full:3", "--out", "/tmp/x", "--rules-out", "/tmp/../tmp/x"], "name the same file"),
        (["full:3", "--json", "--rules-out", "-"], "both write to standard output"),
    ],
)
def test_bad_arguments(enumerated, args, says) -> None:
    refused(enumerated(*args), says)


def test_bad_generators(enumerated) -> None:
    for text, says in (
        (b"[[0, 1], [0]]", "1:11: degrees differ: 1 here, 2 in the first generator"),
        (b"[[0, 2]]", "1:6: image 2 is out of range"),
        (b"[[0, 1", "was expected, not the end of the text"),
        (b"\xff", "is not UTF-8"),
        (b"[[]]", "the degree is 0"),
    ):
        refused(enumerated("-g", "-", stdin=text), f"standard input:.*{says}")


@pytest.mark.parametrize("command", ["resume", "words", "find", "info"])
def test_files_that_are_none(semigroups, stored, tmp_path, command) -> None:
    maps = [write(tmp_path / "maps", "[[0, 1, 2, 3, 4, 5]]")] if command == "find" else []

    def run(path: object) -> Done:
        return semigroups(
            command, path, *maps, *(REFERENCE if command in ("resume", "find") else [])
        )

    stored.write_bytes(stored.read_bytes()[:-100])
    refused(run(stored), rf"^semigroups: {stored}: .*truncated")
    if command != "info":  # which takes them for a family, and generators
        refused(run(tmp_path / "no"), f"{tmp_path / 'no'}: No such file or directory")
        refused(run(write(tmp_path / "text", "[[0]]")), "text: this is no HDF5 file")
        refused(run(tmp_path), "Is a directory")


def missing(name: str, device: int, threads: int | None) -> Target:
    if name == "reference":
        return ReferenceTarget()
    raise BackendUnavailableError(f"there is no {name}")


def test_no_backend(semigroups, stored, monkeypatch) -> None:
    monkeypatch.setattr(choose, "_make", missing)
    for command in (["enumerate", "full:3"], ["resume", stored]):
        refused(semigroups(*command, "--backend", "cuda"), "there is no cuda", 3)


def test_the_slow_backend_is_told(semigroups, stored, monkeypatch) -> None:
    monkeypatch.setattr(choose, "_make", missing)
    said = "semigroups: running on the slow reference backend: there is no cpu\n"
    for command in (["enumerate", "full:3"], ["resume", stored, "--out", f"{stored}.2"]):
        done = semigroups(*command)
        assert (done.code, done.err) == (0, said)
        assert semigroups(*command, "--quiet").err == ""
        assert semigroups(*command, *REFERENCE).err == ""


def test_auto_begins_on_the_cpu_and_goes_on_elsewhere(semigroups, monkeypatch) -> None:
    """The CPU's and the GPU's part are taken by the reference and the CPU."""
    pytest.importorskip("kernels._cpu")
    place = choose.pick("cpu", threads=1)

    def larger(engines: EngineChoice) -> SemigroupEngine | None:
        return engine_for(place) if engines.backend == "auto" else None

    monkeypatch.setattr(EngineChoice, "first", lambda engines: ReferenceSemigroupEngine())
    monkeypatch.setattr(EngineChoice, "larger", larger)
    for patience, name in ((1000.0, "reference"), (-1.0, "cpu")):
        monkeypatch.setattr("semigroups.running.START_COSTS", StartCosts(patience))
        facts = semigroups("enumerate", "bihecke:4", "--json", "--quiet", "--threads", 1).facts
        assert (facts["size"], facts["backend"]) == (477, name)
        assert name == "reference" or facts["device"] == place.describe()


# --- the others -------------------------------------------------------------------


def test_info_of_a_family(semigroups) -> None:
    done = semigroups("info", "Renner A:7")
    assert done.code == 0
    assert re.sub(" +", " ", done.out).startswith(
        "family: zero_rook:7\ndegree: 130,922\ngenerators: 7\nmemory: 3,665,816 bytes\nfits: yes\n"
    )
    facts = semigroups("info", "bihecke:12", "--json").facts
    assert facts["memory"] == 22 * 479001600 * 4
    refused(semigroups("info", "no_such:3"), "unknown family 'no_such'")
    refused(semigroups("info", "S.h5"), r"^semigroups: S\.h5: no such file; a family is written")


def test_info_of_files(semigroups, enumerated, stored, tmp_path) -> None:
    facts = semigroups("info", stored, "--json").facts
    assert facts.pop("memory") > 23 * 40
    assert facts == {
        "file": str(stored),
        "degree": 6,
        "generators": 4,
        "monoid": True,
        "size": 23,
        "finished": True,
        "levels": [1, 4, 8, 10],
        "points_compared": 6,
        "hash_only": False,
        "rules_checked": 0,
    }
    part = tmp_path / "part"
    done = enumerated("full:3", "--semigroup", "--limit", 9, "--out", part, "--json", "--levels")
    text = re.sub(" +", " ", semigroups("info", part).out)
    assert f"size: {done.facts['size']}\nfinished: no\n" in text
    assert f"levels: {' '.join(map(str, done.facts['levels']))}\n" in text
    maps = write(tmp_path / "maps", "1 0\n1 1\n")
    told = semigroups("info", maps, "--json").facts
    assert told == {"file": str(maps), "degree": 2, "generators": 2, "memory": 4}
    assert semigroups("info", "-", "--json", stdin=b"0 0\n").facts["generators"] == 1


@pytest.mark.parametrize("options", [[], ["--semigroup"], ["--limit", 200]])
def test_words(semigroups, enumerated, tmp_path, options) -> None:
    path = tmp_path / "S.h5"
    enumerated("bihecke:4", *options, "--out", path)
    found = Semigroup.load(path, backend="reference")
    size = found.current_size
    lines = semigroups("words", path, "--images").out.splitlines()
    assert len(lines) == size
    for i, line in enumerate(lines):
        number, word, images = line.split("\t")
        assert (int(number), tuple(map(int, word.split()))) == (i, found.word(i))
        assert list(map(int, images.split())) == found.element(i).tolist()
    done = semigroups("words", path, 7, 0, 7)
    assert done.out.splitlines() == [lines[i].rpartition("\t")[0] for i in (7, 0, 7)]
    refused(semigroups("words", path, 3, size), f"no element {size}: there are {size}, from 0")


def test_find(semigroups, enumerated, stored, tmp_path) -> None:
    found = Semigroup.load(stored, backend="reference")
    text = json.dumps([found.element(i).tolist() for i in (3, 22, 0)] + [[5, 4, 3, 2, 1, 0]])
    maps = write(tmp_path / "maps", text)
    done = semigroups("find", stored, maps, *REFERENCE)
    assert done == Done(1, "3\n22\n0\n-\n", "")
    done = semigroups("find", stored, "-", *REFERENCE, stdin=b"0 1 2 3 4 5\n")
    assert done == Done(0, "0\n", "")
    refused(semigroups("find", stored, "-", stdin=b"0 1\n"), "maps of 2 points, not 6 as in")
    part = tmp_path / "part"
    enumerated("bihecke:3", "--limit", 10, "--out", part)
    done = semigroups("find", part, maps, *REFERENCE)
    assert (done.code, done.out) == (1, "3\n-\n0\n-\n")
    assert re.search(r"part: not all elements are found, but \d+\n$", done.err)


@settings(max_examples=examples(20))
@given(data=st.data())
def test_lines_of_every_syntax_are_read_back(data) -> None:
    from semigroups.cli.convert import _lines

    degree = data.draw(st.integers(1, 5))
    images = st.lists(st.integers(0, degree - 1), min_size=degree, max_size=degree)
    maps = np.array(data.draw(st.lists(images, min_size=1, max_size=4)), np.uint8)
    for syntax in ("json", "lines", "gap"):
        np.testing.assert_array_equal(parse_generators("".join(_lines(maps, syntax))), maps)


def test_convert(semigroups, stored, tmp_path) -> None:
    assert semigroups("convert", "full:3").out == "[[1, 2, 0],\n[1, 0, 2],\n[0, 1, 0]]\n"
    lines = semigroups("convert", "-g", "-", "--to", "lines", stdin=b"[[1, 0], [0, 0]]").out
    assert lines == "1 0\n0 0\n"
    file = tmp_path / "G.g"
    assert semigroups("convert", "-g", stored, "--to", "gap", "-o", file).code == 0
    np.testing.assert_array_equal(parse_generators(file.read_text()), bihecke(3))
    refused(semigroups("convert", "-g", file, "-o", tmp_path / "no" / "x"), "No such file")


def test_families(semigroups) -> None:
    lines = semigroups("families").out.splitlines()
    assert [line.split(":")[0] for line in lines if line[0] != " "] == list(families.FAMILIES)


def test_bench(semigroups, monkeypatch) -> None:
    monkeypatch.setattr(bench, "_libsemigroups", lambda: None)
    monkeypatch.setattr(bench, "SECONDS", 0.01)
    done = semigroups("bench", "bihecke:3", "full:3", *REFERENCE, "--json")
    results = done.facts["results"]
    assert [result["operation"] for result in results] == ["bihecke:3", "full:3"]
    assert [result["elements"] for result in results] == [23, 27]
    for result in results:
        assert result["rate"] == pytest.approx(result["elements"] / result["seconds"])
        assert (result["deduced"], result["peers"]) == (0, {})
        assert result["bytes_moved"] > 0
    assert results[0]["computed"] == 23 * 4
    text = semigroups("bench", "full:2", *REFERENCE).out
    assert "| full:2 " in text
    refused(semigroups("bench", "full:x"), "'x' is no n of full")

    found = (22, 0.5)  # the identity is no product there
    monkeypatch.setattr(bench, "_libsemigroups", lambda: lambda maps: found)
    [result] = semigroups("bench", "bihecke:3", *REFERENCE, "--json").facts["results"]
    assert result["peers"]["libsemigroups"]["rate"] == pytest.approx(23 / 0.5)
    found = (None, 5.0)
    [result] = semigroups("bench", "bihecke:3", *REFERENCE, "--json").facts["results"]
    assert result["peers"] == {}
    found = (21, 1.0)
    refused(semigroups("bench", "bihecke:3", *REFERENCE, "--json"), "finds 21 elements, not 23")


def test_beside_libsemigroups(semigroups) -> None:
    pytest.importorskip("libsemigroups_pybind11")
    done = semigroups("bench", "bihecke:3", "symmetric:3", *REFERENCE, "--json")
    assert all(r["peers"]["libsemigroups"]["ratio"] > 0 for r in done.facts["results"])


def test_errors_of_files_are_values() -> None:
    assert issubclass(StoredError, ValueError)
