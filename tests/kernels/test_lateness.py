"""How late Ctrl-C comes in each long call, in CPU time: that of a busy machine is another's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("kernels._cpu")

ROOT = Path(__file__).parent.parent.parent
LATEST = 0.2  # seconds of CPU time

# A timer looks how long signals have to wait all through the call; then the call is broken off
# at some moments. The longest of both together is how late Ctrl-C may come.
PROBE = """
import os, random, signal, sys, time
import numpy as np
if hasattr(os, "sched_setaffinity"):  # one thread, or CPU time is that of all
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
rng = np.random.default_rng(1)

def probe(call, *, whole=True):
    seen, waits, stops = [0.0], [], []
    leave = [1 << 60]

    def tick(number, frame):
        now = time.process_time()
        waits.append(now - seen[0])
        seen[0] = now
        leave[0] -= 1
        if leave[0] == 0:
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, tick)
    for trial in range(4):
        if trial:
            leave[0] = random.randrange(1, 40)
        elif not whole:
            continue
        ticks = len(waits)
        seen[0] = began = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        try:
            call()
        except KeyboardInterrupt:
            stops.append(time.process_time() - seen[0])
        leave[0] = 1 << 60  # where the call was over before
        signal.setitimer(signal.ITIMER_REAL, 0)
        if not trial:
            waits.append(time.process_time() - seen[0])
        assert trial or time.process_time() - began > 0.1, "too short to say anything"
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    print(max(waits, default=0.0) + max(stops, default=0.0), flush=True)
"""

SEMIGROUPS = """
from kernels.targets.cpu import CpuTarget
from kernels.transformations import EnumerationProblem, CayleyTables
from kernels.transformations.cpu.engine import CpuSemigroupEngine

def start(generators, memory, tables=None):
    maps = np.array(generators, np.uint16 if len(generators[0]) > 256 else np.uint8)
    points = np.arange(maps.shape[1], dtype=np.uint32)
    problem = EnumerationProblem(maps, points, memory=memory)
    return CpuSemigroupEngine(CpuTarget()).start(problem, tables)

def transformations(most):
    n = 8
    turn, swap, join = (*range(1, n), 0), (1, 0, *range(2, n)), (0, 0, *range(2, n))
    return start((turn, swap, join), 3 << 29), most
"""

CALLS = {
    # Elements whose words have up to 90,000 letters.
    "long words": SEMIGROUPS
    + """
cycle = np.arange(16384)
cycle[:401], cycle[401:900] = np.roll(cycle[:401], 1), np.roll(cycle[401:900], 1)
e = start([cycle], 1 << 28)
while not e.finished: e.expand_on()
assert e.size == 401 * 499
numbers = np.array([90_000, 80_000, 70_000])  # each from its first letter on
probe(lambda: e.maps(numbers))
""",
    "enumerating": SEMIGROUPS
    + """
e, most = transformations(12_000_000)
def grow():
    while e.size < most: e.expand_on()
probe(grow)
numbers = np.arange(0, e.size, 5)
probe(lambda: e.array("right"), whole=False)
""",
    "going on": SEMIGROUPS
    + """
e, most = transformations(4_000_000)
while e.size < most: e.expand_on()
problem, arrays = e.problem, [e.array(name) for name in CayleyTables.ARRAYS]
starts = list(e.starts)
del e
probe(lambda: CpuSemigroupEngine(CpuTarget()).start(problem, CayleyTables(starts, *arrays)))
""",
    "normalising": """
from arith import RedundantInt
x = RedundantInt(3, backend="cpu") - (1 << 2 * 10**9)
probe(x.to_int)
y = -x
probe(lambda: x + y, whole=False)
probe(x.copy, whole=False)
""",
    "a number from an int": """
from arith import RedundantInt
n = (1 << 2 * 10**9) - 1
probe(lambda: RedundantInt(n, backend="cpu", word=16))
""",
    "adding in place": """
from arith import RedundantInt
x = RedundantInt((1 << 3 * 10**9) - 1, backend="cpu")
def add():
    global x
    for _ in range(20): x += 1
probe(add)
""",
    "reading runs": """
from kernels import runs
text = b"bo" * (1 << 26)
probe(lambda: runs.Walk().go(text, 0, len(text)))
words = np.zeros((1, 1 << 21), np.uint64)
probe(lambda: runs.Walk(words, 1 << 27).go(text, 0, len(text)))
""",
    "writing runs": """
from kernels import runs
words = rng.integers(0, 2**63, (1, 1 << 21), np.uint64)
probe(lambda: runs.Writer(0, 64 << 21).write(words))
words = words.reshape(1 << 11, 1 << 10)
probe(lambda: runs.Writer(0, 64 << 10).write(words))
""",
    "densities of long rows": """
from kernels import cells
words = rng.integers(0, 2**63, (8, 1 << 21), np.uint64)
levels = np.empty((4, 32 << 21), np.uint8)
probe(lambda: [cells.densities(words, 0, 1, levels) for _ in range(8)])
ages = np.empty((4, 32 << 21), np.uint16)
shades = np.arange(256, dtype=np.uint8)
probe(lambda: [cells.ages(words, 0, 1, ages, levels, shades) for _ in range(4)])
def survey():
    for _ in range(60): cells.survey(words, 0, 0)
probe(survey)
""",
    "Life": """
from lifesim import Life
from lifesim.soup import random_grid
for width, height in ((1 << 15, 1 << 15), (1 << 25, 32)):
    life = Life(random_grid(width, height, 0.3, 1), backend="cpu")
    probe(lambda: life.run(512))
""",
    "charts": """
from kernels.cky import Batch, Rules
from kernels.cky.cpu.engine import CpuCky
from kernels.targets.cpu import CpuTarget
def rules(count, symbols):
    rows = rng.integers(0, symbols, (count, 3))
    return Rules.make(symbols, 2, rows, [(a, a % 2) for a in range(symbols)])
for count, symbols, length in ((40_000, 300, 100), (3000, 1500, 100), (30, 10, 400)):
    parser = CpuCky.of(CpuTarget(), rules(count, symbols), 1 << 29)
    batch = Batch.of(rng.integers(0, 2, (40, length)))
    probe(lambda: parser.accept(batch, 0))
    probe(lambda: [None for _ in parser.charts(batch)], whole=False)
""",
    "weighted charts": """
from kernels.cky import Batch, Rules
from kernels.cky.weighted import INSIDE, VITERBI, Weights
from kernels.cky.weighted.cpu.engine import CpuWeighted
from kernels.targets.cpu import CpuTarget
rows = rng.integers(0, 300, (40_000, 3))
rules = Rules.make(300, 2, rows, [(a, a % 2) for a in range(300)])
weights = Weights(*(np.full(n, 0.001) for n in (len(rules.binary), 0, 300)), np.ones(300))
parser = CpuWeighted.of(CpuTarget(), rules, 1 << 29)
batch = Batch.of(rng.integers(0, 2, (6, 60)))
probe(lambda: parser.values(batch, 0, weights, INSIDE))
ones = Weights(*(np.full(n, 1, object) for n in (len(rules.binary), 0, 300, 300)))
probe(lambda: parser.residues(batch, 0, ones, [2**31 - 1, 2**30 + 3]), whole=False)
probe(lambda: parser.chart(batch.terminals[:60], weights, VITERBI), whole=False)
""",
    "HashLife": """
from kernels.life.rules import LifeRule
from kernels.plane.hashlife.cpu.engine import HashPlaneEngine
from kernels.targets.cpu import CpuTarget
plane = HashPlaneEngine(CpuTarget(1)).universe(LifeRule(24, 24), 1 << 27)
places = np.array([[i, j] for i in range(80) for j in range(80)])
plane.put(places, rng.integers(0, 2**64, (6400, 64), np.uint64))

def run():
    enough = plane.statistics()["collections"] + 24
    try:
        while plane.statistics()["collections"] < enough:
            plane.step(1 << 10)  # chaos: the tree grows, and is collected again and again
    except MemoryError:
        pass

probe(run)
""",
    "long lines": """
from arith import IntArray
text = "f" * (2 * 10**8)
probe(lambda: IntArray.from_lines(text, 16))
x = IntArray.from_lines(text, 16)
probe(lambda: x.to_lines(16))
n = int(x[0])
probe(lambda: int(x[0]), whole=False)
probe(lambda: IntArray([n]), whole=False)
text = "7" * 10**8
probe(lambda: IntArray.from_lines(text), whole=False)
x = IntArray([3]) ** (2 * 10**8)
probe(lambda: x.to_lines(), whole=False)
""",
}


@pytest.mark.first
@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_comes_soon(name: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", PROBE + CALLS[name]], cwd=ROOT, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    late = [float(line) for line in child.stdout.split()]
    assert late
    assert max(late) <= LATEST, late


TWICE = """
import zlib

def digest():
    # Where an enumeration pauses is a matter of time; what it has found until then is not.
    assert e.left_known > 500_000 and e.expanded > 500_000
    known = {"right": 500_000, "left": 500_000}
    return [zlib.crc32(e.array(name, 0, known.get(name, most))) for name in CayleyTables.ARRAYS]

def interrupt(number, frame):
    raise KeyboardInterrupt

e, most = transformations(6_000_000)
while e.size < most: e.expand_on()
expected = digest()
e, most = transformations(6_000_000)
missed = 0
signal.signal(signal.SIGALRM, interrupt)
while True:
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            while e.size < most: e.expand_on()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        break
    except KeyboardInterrupt:
        missed += 1
maps = e.maps(np.arange(0, most, 997))
assert missed > 10, missed
assert digest() == expected
assert e.positions(maps).tolist() == list(range(0, most, 997))
"""


@pytest.mark.slow
def test_a_table_that_was_left_half_filled_is_gone_on_with() -> None:
    subprocess.run([sys.executable, "-c", PROBE + SEMIGROUPS + TWICE], cwd=ROOT, check=True)
