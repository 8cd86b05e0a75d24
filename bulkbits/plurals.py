"""Numbers of things in words.

>>> from bulkbits.plurals import many
>>> many(1, "picture"), many(1200, "picture"), many(0, "box", "boxes")
('1 picture', '1,200 pictures', '0 boxes')
"""

from __future__ import annotations


def many(number: float, what: str, several: str = "") -> str:
    """Return a number of things. several: the word for more than one, where it is not that for one
    and an s."""
    text = f"{number:g}" if isinstance(number, float) else f"{number:,}"
    return f"{text} {what}" if number == 1 else f"{text} {several or what + 's'}"
