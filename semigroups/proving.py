"""Schedule the proofs that what an enumeration finds holds for whole maps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernels.transformations import Enumerator

from .proof import Claim

PATIENCE = 1 << 28  # images that are found, where an enumeration stops, to prove what there is
_FIRST_LOOK = 64  # numbers that are expanded before it is looked whether rules hold
_LOOKS = 4  # times as many before the next time


class ProofSchedule:
    """Keeps how far the rules found are proved for whole maps, and when to look at them again.

    Where rows are images of some points, what is found has to be proved in the end. To notice
    early what does not hold, it is looked for again and again as numbers become more.

    needed: whether rows are images of some points only; else nothing has to be proved, and
    nobody asks.
    checked: numbers that were expanded when all that was found was proved. rules: how many rules
    were checked for that.
    """

    def __init__(self) -> None:
        self.needed = False
        self.checked = self.rules = 0
        self._looked = 0  # numbers that were expanded when nothing was found to fail
        self._next_look = _FIRST_LOOK

    def forget(self) -> None:
        """Begin anew, as the enumeration does."""
        self.checked = self._looked = self.rules = 0
        self._next_look = _FIRST_LOOK

    def covers(self, enumerator: Enumerator) -> bool:
        """Return whether what is found is proved to hold for whole maps."""
        return self.checked == enumerator.expanded

    def is_unsettled(self, enumerator: Enumerator) -> bool:
        """Return whether what is found has to be looked at before it is handed out."""
        if self.checked == enumerator.expanded:
            return False
        return enumerator.finished or self._looked < enumerator.expanded

    def is_due(self, enumerator: Enumerator) -> bool:
        """Return whether so many numbers were expanded that it is time to look."""
        return enumerator.expanded >= self._next_look

    def look(self, enumerator: Enumerator, patience: int = 0) -> npt.NDArray[np.bool_]:
        """Return at which points some rules fail: bool (rules, degree), of none if none does.

        Proves that all rules hold where all is finished, or where that takes less than
        `patience`, in images of points that are found, or less than only to look.
        """
        expanded = enumerator.expanded
        claim = Claim(enumerator, self.checked)
        if (
            not enumerator.finished
            and claim.by_maps > max(patience, claim.by_graphs)
            and claim.is_consistent()
        ):
            self._looked = expanded if patience else self._looked
        else:
            failed = claim.failures()
            if len(failed):
                return failed
            self.checked, self.rules = expanded, self.rules + claim.rules
        self._next_look = _LOOKS * expanded
        return np.empty((0, enumerator.problem.degree), np.bool_)
