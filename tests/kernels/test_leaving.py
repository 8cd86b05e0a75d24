"""Ctrl-C amid computations of GMP, none of which can be interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("kernels._cpu")

ROOT = Path(__file__).parent.parent.parent
BEGIN = """
import sys
from arith import IntArray
one = IntArray([1])
def of(bits, more=1): return (one << bits) - more
"""
# Each would take a minute at least, and most of it in one call.
LONG = {
    "powmod": "x, e, m = of(10**6), of(10**6, 7), of(10**6, 5)\nbegin()\nx.powmod(e, m)",
    "several powmod": (
        "x, e, m = (IntArray([(1 << 16000) - k] * 40) for k in (3, 5, 7))\nbegin()\n"
        "for _ in range(99): x.powmod(e, m)"
    ),
    "gcd": "x, y = IntArray([3]) ** (4 * 10**7), IntArray([7]) ** (22 * 10**6)\nbegin()\nx.gcd(y)",
    "divmod": "x, y = of(2 * 10**9, 3), of(10**9, 5)\nbegin()\nfor _ in range(9): x // y",
    "multiply": "x, y = of(10**9, 3), of(10**9, 5)\nbegin()\nfor _ in range(9): x * y",
    "isqrt": "x = of(2 * 10**9, 3)\nbegin()\nfor _ in range(9): x.isqrt()",
    "to_lines": "x = of(10**9, 3)\nbegin()\nx.to_lines()",
    "from_lines": "x = '7' * (3 * 10**8)\nbegin()\nIntArray.from_lines(x)",
    "in a thread": (
        "import threading\nx, e, m = of(10**6), of(10**6, 7), of(10**6, 5)\nbegin()\n"
        "t = threading.Thread(target=lambda: x.powmod(e, m), daemon=True)\nt.start()\nt.join()"
    ),
}
QUICK = ("powmod", "several powmod", "in a thread")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in LONG]
)
def test_ctrl_c_comes_through(name: str) -> None:
    code = f"{BEGIN}\ndef begin():\n    print('begun', flush=True)\n{LONG[name]}"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as child:  # fmt: skip
        try:
            assert child.stdout is not None
            assert child.stderr is not None
            assert child.stdout.readline() == "begun\n"
            time.sleep(0.5)  # into the call
            assert child.poll() is None
            began = time.monotonic()
            child.send_signal(signal.SIGINT)
            said = child.stderr.read()
            assert child.wait(60) == -signal.SIGINT
            took = time.monotonic() - began
        finally:
            child.kill()
    assert "KeyboardInterrupt" in said
    assert took < 5  # 0.1 s where nothing else runs
