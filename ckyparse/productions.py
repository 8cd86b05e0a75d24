"""Symbols and productions, what grammars are made of, and what is said of bad ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from bulkbits.exit_codes import ExitCode


class GrammarError(ValueError):
    """Says why something is no grammar; its text is one line, "G.cfg:3:14: ...".

    source: the file, or what stands for one; "" where there is none. line, column: from 1;
    0 where the whole is meant.
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, message: str, source: str = "", line: int = 0, column: int = 0) -> None:
        place = [source] if source else []
        if line:
            place += [str(line), str(column)] if column else [str(line)]
        super().__init__(": ".join([":".join(place), message] if place else [message]))
        self.message, self.source, self.line, self.column = message, source, line, column


class GrammarWarning(UserWarning):
    """Warns that nonterminals have no productions, as nltk lets them have none.

    Productions with such a nonterminal on the right derive nothing; it may be a misspelt one.
    """


@dataclass(frozen=True, slots=True, order=True)
class Nonterminal:
    """A symbol with productions. A terminal is a plain str."""

    name: str

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)


Symbol = Nonterminal | str


@dataclass(frozen=True, slots=True)
class Production:
    """lhs → rhs; an empty rhs derives the empty string.

    probability: exact, None in a grammar without. line, column: where it stands in its
    file, from 1; 0 where there is none. They make no difference to what equals what.
    """

    lhs: Nonterminal
    rhs: tuple[Symbol, ...]
    probability: Fraction | None = None
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    def __str__(self) -> str:
        """Write one line, as nltk would read it but for symbols that it could not read."""
        words = [self.lhs.name, "->"]
        for symbol in self.rhs:
            if isinstance(symbol, Nonterminal):
                words.append(symbol.name)
            elif "\n" in symbol or ("'" in symbol and '"' in symbol):
                words.append(repr(symbol))
            else:
                words.append(f'"{symbol}"' if "'" in symbol else f"'{symbol}'")
        if self.probability is not None:
            words.append(f"[{decimal(self.probability)}]")
        return " ".join(words)


def decimal(number: Fraction) -> str:
    """Return a number of at least 0 exactly: "0.25", or "1/3" where a decimal has no end."""
    denominator, places = number.denominator, 0
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        places = max(places, power)
    if denominator != 1:
        return str(number)
    places = max(places, 1)
    digits = str(number.numerator * 10**places // number.denominator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"
