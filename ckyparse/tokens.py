"""Sentences of tokens to batches of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kernels.cky import Batch
from kernels.cky.text import between_blanks

Tokens = Literal["chars", "space"]
Sentence = str | Iterable[str]
UNKNOWN = 0xFFFFFFFF  # the number of a token that the grammar has not


class UnknownTokenError(ValueError):
    """A sentence has tokens that are no terminals of the grammar.

    index: of the sentence in its batch. tokens: those that are unknown, in their order.
    """

    def __init__(self, index: int, tokens: Sequence[str]) -> None:
        words = ", ".join(map(repr, tokens))
        # As nltk's parsers say it: existing code may look for these words.
        super().__init__(
            f"sentence {index + 1}: Grammar does not cover some of the input words: {words}"
        )
        self.index, self.tokens = index, tuple(tokens)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.index, self.tokens), vars(self)


@dataclass(frozen=True, eq=False)
class Sentences:
    """A batch as numbers, made once for several calls of one parser.

    batch: the numbers. vocabulary: that they are of. rows: the sentences as they were
    given, a str of characters or a sequence of tokens; None where only numbers were.
    """

    batch: Batch
    vocabulary: Vocabulary = field(repr=False)
    rows: Sequence[Sequence[str]] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.batch)

    def tokens(self, s: int) -> tuple[str, ...]:
        """Return the tokens of a sentence as given, or its terminals, "" for unknown ones."""
        if self.rows is not None:
            return tuple(self.rows[s])
        names = self.vocabulary.names
        return tuple(names.get(number, "") for number in self.batch[s].tolist())


class Vocabulary:
    """The terminals of a grammar, by number, and what becomes of other tokens.

    numbers: token → number below 2**32 - 1. unknown: "error" raises UnknownTokenError,
    "reject" accepts no sentence with such a token, anything else is the terminal that
    stands in for them.

    Raises ValueError where that is no terminal.
    """

    def __init__(self, numbers: Mapping[str, int], unknown: str = "error") -> None:
        self.numbers, self.unknown = numbers, unknown
        self._other = UNKNOWN
        if unknown not in ("error", "reject"):
            if unknown not in numbers:
                raise ValueError(f"{unknown!r} is to stand for unknown tokens, but no terminal")
            self._other = numbers[unknown]

    def encode(self, sentences: Iterable[Sentence], tokens: Tokens = "chars") -> Sentences:
        r"""Return a batch as numbers. A sentence is a sequence of tokens, or a str.

        tokens: what those of a str are: its characters, as for nltk's parsers, or, with
            "space", what spaces, tabs, \n, \v, \f and \r separate, as in the command; other
            white space, as the no-break space, belongs to tokens.

        Raises UnknownTokenError for the first sentence with unknown tokens, where that is
        an error.
        """
        if tokens not in ("chars", "space"):
            raise ValueError(f"tokens are 'chars' or 'space', not {tokens!r}")
        if isinstance(sentences, str):
            raise TypeError("a batch is a sequence of sentences, not a str")
        rows: list[Any] = list(sentences)
        joined = tokens == "chars" and set(map(type, rows)) <= {str}
        if not joined:
            rows = [_listed(row, tokens) for row in rows]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        if joined:
            terminals = self._of_characters("".join(rows))
        else:
            found = map(self.numbers.get, chain.from_iterable(rows), repeat(self._other))
            terminals = np.fromiter(found, np.uint32, int(offsets[-1]))
        batch = Batch(terminals, offsets)
        if self.unknown == "error":
            self._check(batch, rows)
        return Sentences(batch, self, rows)

    @cached_property
    def names(self) -> dict[int, str]:
        """Number → token."""
        return {number: token for token, number in self.numbers.items()}

    def _of_characters(self, text: str) -> npt.NDArray[np.uint32]:
        """Look up all characters at once, through a table."""
        if text.isascii():
            codes: npt.NDArray[Any] = np.frombuffer(text.encode("ascii"), np.uint8)
        else:
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return self._table.take(codes, mode="clip")

    @cached_property
    def _table(self) -> npt.NDArray[np.uint32]:
        """Code of a character → number; the last is that of all characters above."""
        codes = {ord(token): n for token, n in self.numbers.items() if len(token) == 1}
        table = np.full(max(codes, default=0) + 2, self._other, np.uint32)
        for code, number in codes.items():
            table[code] = number
        return table

    def _check(self, batch: Batch, rows: list[Sequence[str]]) -> None:
        unknown = np.flatnonzero(batch.terminals == UNKNOWN)
        if unknown.size:
            s = int(np.searchsorted(batch.offsets, unknown[0], "right")) - 1
            raise UnknownTokenError(s, [t for t in rows[s] if t not in self.numbers])


def _listed(row: Sentence, tokens: Tokens) -> Sequence[str]:
    if isinstance(row, str):
        return row if tokens == "chars" else between_blanks(row)
    return row if isinstance(row, list) else list(row)
