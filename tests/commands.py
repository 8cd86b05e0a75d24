"""The commands as tests call them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from typing import NamedTuple

COMMAND = [sys.executable, "-c", "from lifesim.cli import main; main()"]


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def facts(self) -> dict:
        return json.loads(self.out)


def spawn(*args: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


def refused(done: Done, code: int, says: str) -> None:
    assert done.code == code, done
    assert re.search(says, done.err), done.err
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("lifesim: ")
