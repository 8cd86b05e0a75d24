"""The lifesim command, also as `python -m lifesim`."""

from __future__ import annotations

from arith.command import begin


def main() -> None:
    """Entry point: see lifesim.cli."""
    begin("lifesim")


if __name__ == "__main__":
    main()
