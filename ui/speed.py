"""How many generations lie between two pictures: powers of a base."""

from __future__ import annotations

from dataclasses import dataclass, replace

BASES = (2, 4, 8, 10)
MOST = 1 << 20
RATES: tuple[float | None, ...] = (
    1.0,
    2.0,
    5.0,
    10.0,
    20.0,
    30.0,
    60.0,
    None,
)  # pictures a second; None: all


@dataclass(frozen=True, slots=True)
class RunSpeed:
    """The speed of a run, in generations between two pictures.

    base: of BASES. exponent: base^exponent generations, MOST at the utmost.
    """

    base: int = 2
    exponent: int = 0

    def __post_init__(self) -> None:
        if self.base not in BASES or not 0 <= self.exponent <= top(self.base):
            raise ValueError(f"no speed: {self.base}^{self.exponent}")

    @property
    def generations(self) -> int:
        """Return how many generations lie between two pictures."""
        return int(min(self.base**self.exponent, MOST))

    def changed(self, steps: int) -> RunSpeed:
        """Return a speed faster by so many powers, as far as it goes; slower where negative."""
        return replace(self, exponent=min(max(self.exponent + steps, 0), top(self.base)))

    def with_base(self, base: int) -> RunSpeed:
        """Return the speed of another base that is next to this one, but not above it."""
        exponent = 0
        while exponent < top(base) and base ** (exponent + 1) <= self.generations:
            exponent += 1
        return RunSpeed(base, exponent)

    def __str__(self) -> str:
        if self.exponent == 0:
            return "1"
        exact = self.base**self.exponent == self.generations
        return f"{self.base}^{self.exponent}" if exact else f"{self.generations:,}"


def top(base: int) -> int:
    """Return the least exponent that reaches MOST."""
    exponent = 0
    while base**exponent < MOST:
        exponent += 1
    return exponent
