"""The ckyparse command, also as `python -m ckyparse`."""

from __future__ import annotations

from bulkbits.begin import begin


def main() -> None:
    """Entry point: see ckyparse.cli."""
    begin("ckyparse")


if __name__ == "__main__":
    main()
