"""Which lines a list of sentences shows, and in which order. No Qt here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ui.parsing.sentences import ACCEPTED, BROKEN, REJECTED, TOO_LONG, Findings

Kind = Literal["all", "accepted", "ambiguous", "rejected", "unanswered"]
Key = Literal["verdict", "parses", "probability"]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """An arrangement of lines in a list.

    kind: only lines of which this is known are shown. key: what they are sorted by, None for
    their order in the text, which those that are equal keep. descending: the largest first; the
    order of the text is kept then too.
    """

    kind: Kind = "all"
    key: Key | None = None
    descending: bool = False

    @property
    def is_plain(self) -> bool:
        """Tell whether all lines are shown in their order."""
        return self.kind == "all" and self.key is None

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
        if self.kind == "ambiguous":
            return findings.ambiguous
        kinds = {
            "accepted": [ACCEPTED], "rejected": [REJECTED], "unanswered": [TOO_LONG, BROKEN],
        }  # fmt: skip
        if self.kind == "all":
            return np.ones(verdicts.size, np.bool_)
        return np.isin(verdicts, kinds[self.kind])

    def _keys(self, findings: Findings) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        if self.key == "parses":
            return findings.counting_keys()
        if self.key == "probability":
            return findings.probability_keys()
        return findings.verdicts.astype(np.int64)
