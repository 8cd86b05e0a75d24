"""Finding by a few letters, as the window does it: bulkbits.fuzzy."""

from __future__ import annotations

from bulkbits.fuzzy import ranked, score

__all__ = ["ranked", "score"]
