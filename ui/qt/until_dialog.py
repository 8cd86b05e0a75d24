"""Asks until when a universe is to run: until a condition is true, or a generation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtWidgets import QLineEdit, QWidget

from lifesim.until import Condition, ConditionError, parse
from ui.numbers import generation_of
from ui.qt.dialogs import Form

_KINDS: list[tuple[object, str]] = [
    ("stable", "it is stable"),
    ("empty", "nothing lives"),
    ("period", "it repeats itself"),
    ("population", "so many cells live"),
    ("generation", "a generation"),
]
_MEANINGS = {
    "stable": "It repeats itself, flies apart into parts that do, or grows evenly.",
    "empty": "The first generation in which nothing lives.",
    "period": "All of it is the same, moved or not, so many generations later.",
    "population": "Looked at in each generation: >1000, >=64, <10, =0 or !=5.",
    "generation": "1000, 64K, 1e6 or 2^40.",
}
# Of a universe on disk, which is looked at now and then.
_MEANINGS_ON_DISK = {
    "stable": "All cells are, at their places, as they were when looked at before.",
    "empty": "The first generation looked at in which nothing lives.",
    "period": "All cells are, at their places, the same so many generations later.",
    "population": "Of the generations looked at: >1000, >=64, <10, =0 or !=5.",
}
_LABELS = {"period": "&Period", "population": "&Live cells", "generation": "&Generation"}
_WRITTEN = {"period": "30", "population": ">1000", "generation": ""}  # at first


@dataclass(frozen=True, slots=True)
class Until:
    """The end of a run: a condition, and the most generations that are made (None is no limit), or
    a generation. looks: generations between two that are looked at, where not each counts."""

    condition: Condition | None
    most: int | None = None
    generation: int | None = None
    looks: int | None = None


class UntilDialog(Form):
    """Asks for a condition or a generation.

    The condition is one of lifesim.until, as `lifesim run --until` takes it.
    """

    def __init__(self, now: int, most: int, looks: int | None, parent: QWidget | None) -> None:
        """Ask for the end of a run of a universe that is at generation `now` and can be taken to
        generation `most`. looks: generations between two that are looked at, at first, of a
        universe on disk; None where each counts."""
        super().__init__("Run until", parent)
        self._meanings = _MEANINGS if looks is None else {**_MEANINGS, **_MEANINGS_ON_DISK}
        self._now, self._most = now, most
        self._written = {**_WRITTEN, "generation": str(now + 1000)}
        self.kind = self.choice("&Until", _KINDS, "stable")
        self.number = self.line(_LABELS["period"], "", lambda _: self._end())
        self.limit = self.line("&At most", "", partial(_limit, most=most))
        self.limit.setPlaceholderText("no limit")
        self.limit.setToolTip("Generations that are made, if the condition is not true before")
        self.looks: QLineEdit | None = None
        if looks is not None:
            self.looks = self.line("Looked at &every", str(looks), partial(_looks, most=most))
            self.looks.setToolTip(
                "Generations: a universe on disk keeps its last one only, so that nothing is "
                "noticed between two looks. Fewer take longer."
            )
        self.kind.currentIndexChanged.connect(self._chosen)
        self._shown = ""
        self._chosen()

    def _chosen(self) -> None:
        """Offer what the kind of end needs."""
        if self._shown in self._written:
            self._written[self._shown] = self.number.text()
        kind = self._shown = str(self.kind.currentData())
        self._offer(self.number, kind in self._written)
        if kind in _LABELS:
            self.fields.labelForField(self.number).setText(_LABELS[kind])  # type: ignore[attr-defined]
            self.number.setAccessibleName(_LABELS[kind].replace("&", ""))
        self.number.setText(self._written.get(kind, ""))
        self.number.setToolTip(self._meanings[kind])
        self.kind.setToolTip(self._meanings[kind])
        self._offer(self.limit, kind != "generation")
        if self.looks:
            self._offer(self.looks, kind != "generation")
        self.check()
        self.fit()

    def _offer(self, line: QLineEdit, offered: bool) -> None:
        """Show a line, or hide it where it means nothing."""
        line.setEnabled(offered)
        self.fields.setRowVisible(line, offered)

    def check(self) -> None:
        """Say what is wrong; where nothing is, what is meant."""
        super().check()
        wrong = bool(self.problem.text())
        self.problem.setProperty("error", wrong)
        self.problem.style().unpolish(self.problem)
        self.problem.style().polish(self.problem)
        if not wrong and hasattr(self, "_shown"):
            self.problem.setText(self._meanings[str(self.kind.currentData())])

    def _end(self) -> Condition | int:
        """Return the condition, or the generation. Raises ConditionError and ValueError."""
        kind, text = str(self.kind.currentData()), self.number.text().strip()
        if kind == "generation":
            generation = generation_of(text, self._most)
            if generation <= self._now:
                raise ValueError(f"the universe is at generation {self._now:,} already")
            return generation
        if kind == "period":
            return parse(f"period:{generation_of(text, self._most)}")
        if kind != "population":
            return parse(kind)
        try:
            return parse(f"population:{text}")
        except ConditionError:
            raise ValueError("write it as >1000, >=64, <10, =0 or !=5") from None

    def value(self) -> Until:
        """Return what has been entered."""
        end = self._end()
        if isinstance(end, int):
            return Until(None, generation=end)
        looks = _looks(self.looks.text(), self._most) if self.looks else None
        return Until(end, _limit(self.limit.text(), self._most), looks=looks)


def _looks(text: str, most: int) -> int:
    """Return the generations between two looks. Raises ValueError."""
    looks = generation_of(text, most)
    if not looks:
        raise ValueError("it is looked at every 1 or more generations")
    return looks


def _limit(text: str, most: int) -> int | None:
    """Return the most generations; None where nothing is written. Raises ValueError."""
    return generation_of(text, most) if text.strip() else None
