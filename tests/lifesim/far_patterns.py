"""Macrocell files of planes that no rectangle in memory holds."""

from __future__ import annotations


def far_gliders(level: int) -> bytes:
    """Return a macrocell file with a glider in each of the four corners of a root."""
    lines, kinds = [b"[M2] (a test)", b"#R B3/S23"], []
    lines.append(b".*$..*$***$")
    for corner in range(4):
        child = 1
        for at in range(4, level):
            four = [0] * 4
            four[corner] = child
            lines.append(b"%d %d %d %d %d" % (at, *four))
            child = len(lines) - 2
        kinds.append(child)
    lines.append(b"%d %d %d %d %d" % (level, *kinds))
    return b"\n".join(lines) + b"\n"
