"""Make right calls of all that kernels._cpu binds, each many times, and print what they leave.

A line for each call that leaves memory behind: its name and number in bound.CALLS, bytes of
malloc() and blocks of Python's own. Prints nothing where nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.kernels import bound
from tests.leaks import leaked


def left_of(make: Callable[[], bound.Call]) -> tuple[float, float] | None:
    """Return the bytes and the blocks that a call leaves behind; None where it leaves nothing."""

    def call() -> None:
        function, arguments = make()
        function(*arguments)

    size, blocks = 0.0, 0.0
    for calls_each in (20, 500):  # what a leak leaves grows with them
        size, blocks = leaked(call, calls_each, 3)
        if size < 64 and blocks < 0.5:
            return None
    return size, blocks


def main() -> None:
    for name, calls in bound.CALLS.items():
        for i, make in enumerate(calls):
            left = left_of(make)
            if left:
                print(name, i, *left)


if __name__ == "__main__":
    main()
