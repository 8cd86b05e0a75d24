"""The arith command, also as `python -m arith`."""

from __future__ import annotations

from bulkbits.begin import begin


def main() -> None:
    """Entry point: see arith.cli."""
    begin("arith")


if __name__ == "__main__":
    main()
