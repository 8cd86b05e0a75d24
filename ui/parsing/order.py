"""Which lines a list of sentences shows, and in which order. No Qt here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ui.parsing.sentences import ACCEPTED, BROKEN, REJECTED, TOO_LONG, Findings

Shown = Literal["all", "accepted", "ambiguous", "rejected", "unanswered"]
Key = Literal["verdict", "parses", "probability"]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """An arrangement of lines in a list.

    shown: which lines are shown, by what is known of them. key: what they are sorted by; None for
    their order in the text, which equal lines keep anyway. descending: whether the largest is
    first.
    """

    shown: Shown = "all"
    key: Key | None = None
    descending: bool = False

    @property
    def is_plain(self) -> bool:
        """Tell whether all lines are shown in their order."""
        return self.shown == "all" and self.key is None

    def of(self, findings: Findings) -> npt.NDArray[np.int64] | None:
        """Return the numbers of the lines that are shown, in order; None: all as they are."""
        if self.is_plain:
            return None
        lines = np.flatnonzero(self._chosen(findings)).astype(np.int64)
        if self.key is None:
            return lines
        keys = self._keys(findings)[lines]
        if self.descending:  # stable too: from the last to the first, and the other way round
            return lines[::-1][np.argsort(keys[::-1], kind="stable")[::-1]]
        return lines[np.argsort(keys, kind="stable")]

    def _chosen(self, findings: Findings) -> npt.NDArray[np.bool_]:
        verdicts = findings.verdicts
        if self.shown == "ambiguous":
            return findings.ambiguous
        verdicts_of = {
            "accepted": [ACCEPTED], "rejected": [REJECTED], "unanswered": [TOO_LONG, BROKEN],
        }  # fmt: skip
        if self.shown == "all":
            return np.ones(verdicts.size, np.bool_)
        return np.isin(verdicts, verdicts_of[self.shown])

    def _keys(self, findings: Findings) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        if self.key == "parses":
            return findings.counting_keys()
        if self.key == "probability":
            return findings.probability_keys()
        return findings.verdicts.astype(np.int64)
