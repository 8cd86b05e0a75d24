"""The four commands beside other programs: pipes that close, streams that are closed, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = ["arith", "ckyparse", "lifesim", "semigroups"]
# Each prints more than fits into a pipe.
LONG = {
    "arith": ["eval", "neg", "numbers.txt"],
    "ckyparse": ["sample", ROOT / "data/grammars/dyck.cfg", "-n", "20000", "--length", "32"],
    "lifesim": ["random", "--size", "2048", "--out", "-"],
    "semigroups": ["words", "S.h5", *map(str, list(range(200)) * 60)],
}
SHORT = {
    "arith": ["eval", "neg", "one.txt"],
    "ckyparse": ["info", ROOT / "data/grammars/dyck.cfg"],
    "lifesim": ["info", ROOT / "data/patterns/acorn.rle"],
    "semigroups": ["families"],
}

CALL = "import sys; from {0}.__main__ import main; sys.argv[0] = '{0}'; main()"

# Ctrl-C comes when a module is asked for.
INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == WHEN:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


def call(name: str, *arguments: object, before: str = "", **options) -> subprocess.Popen:
    """Start a command as its script does, with some lines of Python run before."""
    words = [sys.executable, "-c", before + CALL.format(name), *map(str, arguments)]
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that commands run in."""
    made = tmp_path_factory.mktemp("shell")
    (made / "numbers.txt").write_text("123456789\n" * 200000)
    (made / "one.txt").write_text("1\n")
    done = call("semigroups", "enumerate", "zero_rook:4", "--out", "S.h5", "--quiet", cwd=made)
    said = done.communicate()
    assert done.returncode == 0, said
    return made


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_reader_that_goes_away(name: str, folder: Path) -> None:
    """A command whose reader goes away is killed by SIGPIPE, which a shell shows as 141."""
    process = call(name, *LONG[name], cwd=folder)
    with process, process.stdout as out, process.stderr as err:
        out.read(1)
        out.close()
        assert (err.read(), process.wait()) == ("", -signal.SIGPIPE)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_output_that_is_full_is_named(name: str, folder: Path) -> None:
    """And no file that is read meanwhile."""
    with open("/dev/full", "w") as full:
        process = call(name, *LONG[name], cwd=folder, stdout=full)
        said = process.communicate()[1]
    expected = f"{name}: cannot write standard output: No space left on device\n"
    assert (process.returncode, said) == (2, expected)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_closed_output_is_an_error(name: str, folder: Path) -> None:
    process = call(name, *SHORT[name], cwd=folder, preexec_fn=lambda: os.close(1))
    said = process.communicate()[1]
    assert (process.returncode, said) == (
        2,
        f"{name}: cannot write standard output: Bad file descriptor\n",
    )


def test_closed_output_is_no_error_where_nothing_is_printed(folder: Path) -> None:
    what = ["convert", ROOT / "data/patterns/acorn.rle", "acorn.mc"]
    process = call("lifesim", *what, cwd=folder, preexec_fn=lambda: os.close(1))
    assert process.communicate()[1] == ""
    assert process.returncode == 0
    assert (folder / "acorn.mc").read_bytes().startswith(b"[M2]")


def test_closed_error_output_loses_words_only(folder: Path) -> None:
    process = call("arith", *SHORT["arith"], cwd=folder, preexec_fn=lambda: os.close(2))
    assert process.communicate()[0] == "-1\n"
    assert process.returncode == 0
    process = call("lifesim", "info", "none.rle", cwd=folder, preexec_fn=lambda: os.close(2))
    process.communicate()
    assert process.returncode == 2


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("arith", ["eval", "neg", "-"]),
        ("ckyparse", ["accept", "-g", ROOT / "data/grammars/dyck.cfg", "--tokens", "chars"]),
        ("lifesim", ["info", "-"]),
        ("semigroups", ["enumerate", "--generators", "-"]),
    ],
    ids=NAMES,
)
def test_closed_input_is_an_error(name: str, arguments: list[object], folder: Path) -> None:
    process = call(name, *arguments, cwd=folder, preexec_fn=lambda: os.close(0))
    said = process.communicate()[1]
    assert process.returncode == 2, said
    assert said.startswith(f"{name}: ")
    assert said.endswith("Bad file descriptor\n")
    assert "output" not in said
    assert said.count("\n") == 1


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("when", ["click", "bulkbits.entry", "kernels.signals"])
def test_ctrl_c_before_the_command_is_there(name: str, when: str, folder: Path) -> None:
    before = f"WHEN = {when!r}\n{INTERRUPTED}"
    process = call(name, *SHORT[name], cwd=folder, before=before)
    assert process.communicate() == ("", "")
    assert process.returncode == -signal.SIGINT


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_while_a_subcommand_is_imported(name: str, folder: Path) -> None:
    before = f"WHEN = '{name}.cli.{SHORT[name][0]}'\n{INTERRUPTED}"
    process = call(name, *SHORT[name], cwd=folder, before=before)
    assert process.communicate() == ("", f"{name}: interrupted\n")
    assert process.returncode == 130


def test_ctrl_c_when_all_is_done(folder: Path) -> None:
    late = "import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
    process = call("arith", *SHORT["arith"], cwd=folder, before=late)
    assert process.communicate() == ("-1\n", "")
    assert process.returncode == -signal.SIGINT


def test_ctrl_c_that_is_ignored_stays_so(folder: Path) -> None:
    ignored = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    before = f"{ignored}WHEN = 'click'\n{INTERRUPTED}"
    process = call("arith", *SHORT["arith"], cwd=folder, before=before)
    assert process.communicate() == ("-1\n", "")
    assert process.returncode == 0


INTERRUPTED_AT_LAST = """
import atexit, sys, threading, types
from bulkbits.begin import begin

class Kept:
    def __del__(self): print("taken apart")

kept = Kept()
cli = types.ModuleType("fake.cli")
def main():
    atexit.register(print, "at exit")
    started, ended = threading.Event(), threading.Event()
    def work():
        started.set()
        ended.wait()
        print("a thread's end")
    threading.Thread(target=work).start()
    started.wait()
    print("unflushed", end="")
    threading.Timer(0.05, ended.set).start()
    {}
cli.main = main
sys.modules.update({{"fake": types.ModuleType("fake"), "fake.cli": cli}})
sys.modules["fake"].cli = cli
begin("fake")
"""


@pytest.mark.parametrize("last", ["raise KeyboardInterrupt", "sys.exit(130)"])
def test_ctrl_c_leaves_out_only_what_the_system_does(last: str) -> None:
    """Threads and exit functions have their turn, and what was printed is there."""
    program = INTERRUPTED_AT_LAST.format(last)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 130
    assert sorted(done.stdout.replace("unflushed", "").splitlines()) == [
        "a thread's end",
        "at exit",
    ]
    assert "unflushed" in done.stdout
