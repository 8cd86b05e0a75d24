"""Run the semigroups command, also as `python -m semigroups`."""

from __future__ import annotations

from bulkbits.begin import begin


def main() -> None:
    """Entry point: see semigroups.cli."""
    begin("semigroups")


if __name__ == "__main__":
    main()
