"""The interface of nltk's parsers, adapted to charts: trees of one sentence after another."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from .chart import Chart
from .tokens import Sentence, UnknownTokenError

if TYPE_CHECKING:
    from nltk.tree import Tree

_AHEAD = 1 << 12  # sentences that parse_sents() reads before it yields the first of them


class NltkInterface(ABC):
    """Adapts what computes charts to nltk.parse.api.ParserI, without loading nltk.

    nltk's interface is a plain class, in which nothing can be registered, and to inherit from
    it would load nltk with this package. So what isinstance() asks an object for, its
    __class__, is a class of both once somebody has loaded that interface; type() stays as it is.
    """

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class, and ParserI as well where that is loaded."""
        api = sys.modules.get("nltk.parse.api")
        return type(self) if api is None else _also(type(self), api.ParserI)

    @abstractmethod
    def charts(self, batch: Iterable[Sentence]) -> Sequence[Chart]:
        """Return a Chart of each sentence. Raises UnknownTokenError."""

    def parse(self, sent: Sentence) -> Iterator[Tree]:
        """Yield all parses of a sentence, one after another, made as they are asked for.

        They are trees of the grammar as it was given, with the tokens as they were given.
        With probabilities they are ProbabilisticTrees, the most probable first; logprob() is
        right, however long the sentence, where prob() is too small for a float. Where there
        is no end of parses they are those in which no node has an equal one above it, of
        the same production over the same tokens. Raises UnknownTokenError at once.
        """
        return self.charts([sent])[0].trees()

    def parse_one(self, sent: Sentence) -> Tree | None:
        """Return the first parse, or None."""
        return next(self.parse(sent), None)

    def parse_all(self, sent: Sentence) -> list[Tree]:
        """Return a list of what parse() yields."""
        return list(self.parse(sent))

    def parse_sents(self, sents: Iterable[Sentence]) -> Iterator[Iterator[Tree]]:
        """Yield what parse() yields for each sentence.

        Reads ahead, ever further, to compute many charts at once.
        """
        waiting = iter(sents)
        ahead, done = 1, 0
        while block := list(islice(waiting, ahead)):
            try:
                charts = self.charts(block)
            except UnknownTokenError as error:
                yield from (chart.trees() for chart in self.charts(block[: error.index]))
                raise UnknownTokenError(done + error.index, error.tokens) from None
            yield from (chart.trees() for chart in charts)
            done += len(block)
            ahead = min(2 * ahead, _AHEAD)


@lru_cache(maxsize=8)
def _also(adapted: type, interface: type) -> type:
    return type(adapted.__name__, (adapted, interface), {"__module__": adapted.__module__})
