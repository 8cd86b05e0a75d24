"""Draw a pattern in letters."""

from __future__ import annotations

from lifesim.grid import BitGrid

_DOTS = 0x2800  # the letter of braille without dots, of 2 x 4
_PLACES = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))  # of the bits


def drawn(grid: BitGrid, width: int, height: int) -> list[str]:
    """Return the lines of a picture of at most width x height letters, exact to the cell.

    A letter is a cell where they fit (`O` lives, `.` is dead, other states are digits or `*`), else
    2 x 4 cells in braille. Returns no line where even these do not fit.
    """
    if grid.width <= width and grid.height <= height:
        return ["".join(map(_letter, row)) for row in _states(grid)]
    across, down = -(-grid.width // 2), -(-grid.height // 4)
    if across > width or down > height:
        return []
    cells = _states(grid)
    lines = []
    for y in range(0, grid.height, 4):
        rows = cells[y : y + 4]
        line = ""
        for x in range(0, grid.width, 2):
            bits = sum(
                1 << bit
                for bit, (dx, dy) in enumerate(_PLACES)
                if dy < len(rows) and x + dx < grid.width and rows[dy][x + dx]
            )
            line += chr(_DOTS + bits)
        lines.append(line)
    return lines


def _states(grid: BitGrid) -> list[list[int]]:
    states: list[list[int]] = grid.states().tolist()
    return states


def _letter(state: int) -> str:
    if state < 2:
        return ".O"[state]
    return str(state) if state < 10 else "*"
