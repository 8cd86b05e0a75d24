"""The lifesim command, also as `python -m lifesim`."""

from __future__ import annotations

from bulkbits.begin import begin


def main() -> None:
    """Run the command (lifesim.cli)."""
    begin("lifesim")


if __name__ == "__main__":
    main()
