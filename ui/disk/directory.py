"""What the directory of a universe tells of who changes it, and how far they are."""

from __future__ import annotations

import os
import socket

from lifesim.store.lock import owner_facts
from lifesim.store.universe import JOURNAL, LOCK, MANIFEST
from ui.disk.parts import Snapshot


def done_share(view: Snapshot) -> float | None:
    """Return the done share, 0 to 1, of a run, by whomever; None where none has been begun."""
    universe = view.universe
    phase, run = universe.phase, universe.manifest.run
    if run is None:
        run = (phase.start, phase.stop) if phase else None
    if run is None:
        return None
    made = float(universe.generation - run[0])
    if phase:
        made += phase.generations * len(phase.done) / len(view.records)
    return min(made / (run[1] - run[0]), 1.0)


def state_of(path: str) -> object:
    """Return a value that is another once the universe has been changed."""
    found: list[tuple[int, int, int] | None] = []
    for name in (MANIFEST, JOURNAL):
        try:
            facts = os.stat(os.path.join(path, name))
            found.append((facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except OSError:
            found.append(None)
    return found


def owner_of(path: str) -> str:
    """Return which process changes the universe, as its lock tells; '' if none seems to."""
    facts = owner_facts(os.path.join(path, LOCK))
    if not facts:
        return ""
    pid, host = facts["pid"], facts["host"]
    if host == socket.gethostname():
        try:
            os.kill(pid, 0)
        except PermissionError:
            pass  # of somebody else, and there
        except (OSError, OverflowError):
            return ""
    return f"process {pid} on {host}"
