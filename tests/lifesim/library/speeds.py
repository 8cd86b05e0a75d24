"""Write speeds as people who study Life do."""

from __future__ import annotations

from math import gcd


def speed_text(dx: int, dy: int, period: int) -> str:
    """Return the speed of what moves by (dx, dy) cells in `period` generations.

    As "c/2 orthogonal" or "2c/5 orthogonal" along a row or column, "c/4 diagonal", and
    "(2,1)c/6" for other directions; "" for what stays where it is. c is a cell a generation.

    >>> speed_text(-2, 0, 4), speed_text(1, 1, 4), speed_text(-1, -2, 6)
    ('c/2 orthogonal', 'c/4 diagonal', '(2,1)c/6')
    """
    far, near = sorted((abs(dx), abs(dy)), reverse=True)
    common = gcd(far, near, period) or 1
    far, near, time = far // common, near // common, period // common
    over = "c" if time == 1 else f"c/{time}"
    if not far:
        return ""
    if near not in (0, far):
        return f"({far},{near}){over}"
    times = "" if far == 1 else str(far)
    return f"{times}{over} {'diagonal' if near else 'orthogonal'}"
