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

    base: of BASES. exponent: base^exponent generations, `most` at the utmost.
    """

    base: int = 2
    exponent: int = 0
    most: int = MOST

    def __post_init__(self) -> None:
        if self.base not in BASES or not 0 <= self.exponent <= top(self.base, self.most):
            raise ValueError(f"no speed: {self.base}^{self.exponent}")

    @property
    def generations(self) -> int:
        """Return how many generations lie between two pictures."""
        return int(min(self.base**self.exponent, self.most))

    @property
    def is_fastest(self) -> bool:
        """Tell whether it goes no faster."""
        return self.exponent == top(self.base, self.most)

    def changed(self, steps: int) -> RunSpeed:
        """Return a speed faster by so many powers, as far as it goes; slower where negative."""
        top_ = top(self.base, self.most)
        return replace(self, exponent=min(max(self.exponent + steps, 0), top_))

    def with_base(self, base: int) -> RunSpeed:
        """Return the speed of another base that is next to this one, but not above it."""
        exponent = 0
        while exponent < top(base, self.most) and base ** (exponent + 1) <= self.generations:
            exponent += 1
        return RunSpeed(base, exponent, self.most)

    def within(self, most: int) -> RunSpeed:
        """Return the speed, or the fastest there is, where there are other limits."""
        return RunSpeed(self.base, min(self.exponent, top(self.base, most)), most)

    def __str__(self) -> str:
        if self.exponent == 0:
            return "1"
        exact = self.base**self.exponent == self.generations
        return f"{self.base}^{self.exponent}" if exact else f"{self.generations:,}"


def top(base: int, most: int = MOST) -> int:
    """Return the least exponent that reaches `most`."""
    exponent = 0
    while base**exponent < most:
        exponent += 1
    return exponent
