"""Write costs as the Python source that they are kept in."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from benchmarks.costs.fit import Found


def source_of(found: Found) -> str:
    """Return the statement that makes these costs, with the values that the source has beside."""
    head = f"# {found.file}"
    if found.error is not None:
        head += f"; the model is off by {found.error:.0%} (median)"
    lines = [head, f"{found.name} = {type(found.costs).__name__}("]
    for field in fields(found.costs):
        value, before = getattr(found.costs, field.name), getattr(found.source, field.name)
        if field.name in found.measured:
            said = f"in the source {written(before)}"
        else:
            value, said = before, "not measured here"
        lines.append(f"    {field.name}={written(value)},  # {said}")
    return "\n".join([*lines, ")"])


def written(value: Any) -> str:
    """Return a number, or a pair of them, to three digits; integers whole, large powers as such."""
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))})"
    if isinstance(value, int):
        power = value.bit_length() - 1
        return f"1 << {power}" if power > 9 and value == 1 << power else str(value)
    return repr(float(f"{value:.3g}"))
