"""Rules by the names that people and files call them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kernels.life.rules import CellRule, LifeRule, MapRule, NineCellRule
from lifesim.families import family, nearest
from lifesim.rules import counted, files, jvn, named, ranges, strings, tables
from lifesim.rules.errors import RuleError as RuleError
from lifesim.rules.errors import shown

# Which texts a notation's reader is for, and that reader.
_NOTATIONS: tuple[tuple[Callable[[str], bool], Callable[[str], tuple[CellRule, str]]], ...] = (
    (tables.looks, tables.read),
    (jvn.looks, jvn.read),
    (ranges.looks, ranges.read),
    (counted.looks, counted.read),
    (strings.looks_like_map, strings.read_map),
    (strings.looks_like_wolfram, strings.read_wolfram),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by the name that people and files call it by.

    cells: what it says of cells, as engines take it. name: the text of it in its usual form, which
    parse() reads again. colours: red, green and blue, 0 to 255, of states for which its file names
    them, or its authors; they make no rule another.
    """

    cells: CellRule
    name: str
    colours: Mapping[int, tuple[int, int, int]] = field(default_factory=dict, compare=False)

    @classmethod
    def life_like_of(cls, birth: int, survival: int) -> Rule:
        """Return a Life-like rule; birth and survival are sets of counts, as of LifeRule.

        Raises ValueError as that does.
        """
        return cls(LifeRule(birth, survival), f"B{_digits(birth)}/S{_digits(survival)}")

    @classmethod
    def parse(
        cls, text: str, folders: Sequence[str] | None = None, *, beside: str | None = None
    ) -> Rule:
        """Read B3/S23, b3s23, 23/3 (survival first), B3 (nothing survives), B2-a/S12 (Hensel's
        letters), B2/S34H, 345/2/4 (Generations), R5,C0,M1,S34..58,B34..45,NM (Larger than Life),
        W110, a MAP string, a name such as HighLife or JvN29, or the name of a rule file.

        folders: where rule files are; None takes those of lifesim.rules.files.look_in(), that of
        the file `beside`, the user's own and Golly's. Raises RuleError for anything else, with the
        column of what is wrong where there is one.
        """
        name = text.strip()
        known = named.find(name)
        spelled = known.rule if known else name
        try:
            cells, usual = _read(spelled)
            return cls(cells, usual, jvn.colours_of(usual))
        except RuleError:
            file = files.find(name, folders, beside)
            if file is None:
                raise
        return cls(file.cells, file.name, file.colours)

    def __str__(self) -> str:
        return self.name

    @property
    def states(self) -> int:
        """Return how many states a cell can be in."""
        return self.cells.states

    @property
    def planes(self) -> int:
        """Return the number of bit planes that hold the states."""
        return self.cells.planes

    @property
    def stays_empty(self) -> bool:
        """Tell whether a universe without live cells stays without."""
        return self.cells.stays_empty

    @property
    def space_blinks(self) -> bool:
        """Tell whether empty space is alive in every odd generation, and empty in every even one:
        by a rule of two states and nine cells with B0 and without S8."""
        cells = self.nine_cells
        return cells is not None and not self.stays_empty and not cells.table >> 511 & 1

    @property
    def exchanged(self) -> Rule | None:
        """Return the Life-like rule that does the same with both states exchanged, None of rules
        that are not Life-like."""
        if not isinstance(self.cells, LifeRule):
            return None
        counts = [(n, 8 - n) for n in range(9)]
        birth = sum((~self.cells.survival >> other & 1) << n for n, other in counts)
        survival = sum((~self.cells.birth >> other & 1) << n for n, other in counts)
        return Rule.life_like_of(birth, survival)

    @property
    def nine_cells(self) -> NineCellRule | None:
        """Return the cells' rule where it has two states and a cell's next one follows from its own
        and those of its eight neighbours; else None."""
        return self.cells if isinstance(self.cells, LifeRule | MapRule) else None

    @property
    def is_of_planes(self) -> bool:
        """Tell whether tiles and HashLife compute it on a plane without bounds: two states, nine
        cells, and nothing born of nothing."""
        return self.nine_cells is not None and self.stays_empty

    @property
    def life_like(self) -> LifeRule:
        """Return the cells' rule where it is a Life-like one. Raises RuleError where it is not."""
        if not isinstance(self.cells, LifeRule):
            raise RuleError(f"{self} is not a Life-like rule, as B3/S23 is")
        return self.cells


def _read(text: str) -> tuple[CellRule, str]:
    """Return what a rule says, and its usual name."""
    said = family(text)
    if said:
        raise RuleError(f"rule {shown(text)} is {said}")
    for looks, read in _NOTATIONS:
        if looks(text):
            return read(text)
    close = nearest(text, named.names())
    hint = f"is {close!r} meant? Else write it as B3/S23" if close else "write it as B3/S23"
    is_file = not close and files.could_be_one(text)
    hint += f", or have a file {text}.rule in a folder of rules" if is_file else ""
    raise RuleError(f"unknown rule {shown(text)}: {hint}")


def _digits(neighbours: int) -> str:
    return "".join(str(n) for n in range(9) if neighbours >> n & 1)


LIFE = Rule.life_like_of(0b1000, 0b1100)
