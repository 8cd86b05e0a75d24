"""Amounts of memory on the command line."""

from __future__ import annotations

import re
from typing import Any

import click


class Memory(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Bytes: 4G, 512M, 300000; K, M, G and T stand for powers of 1024."""

    name = "BYTES"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the number of bytes."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]{1,18})([kKmMgGtT]?)(?:i?[bB])?", value)
        if not match or not int(match[1]):
            self.fail(f"{value!r} is no amount of memory: write it as 4G or 512M", param, ctx)
        return int(match[1]) << 10 * " kmgt".index(match[2].lower() or " ")
