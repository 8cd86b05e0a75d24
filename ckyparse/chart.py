"""Charts: what spans what in one sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from bulkbits.plurals import many
from kernels.cky import ChartGroup, Cky, cell, cells
from kernels.cky.batch import Mask
from kernels.cky.weighted.contract import Logs

from .forest import Forest
from .grammar import Nonterminal
from .normal import NormalForm
from .ranked import Ranked
from .tokens import Sentences

if TYPE_CHECKING:
    from nltk.tree import ProbabilisticTree, Tree

# Of a sentence's terminals: float64 (cells, symbols).
Values = Callable[[npt.NDArray[np.uint32]], Logs | None]

_BLOCK = 1 << 26  # bytes of charts that are kept at a time, if a bit took a byte
_STRINGS = 1 << 14
_FEW = 4
_COLUMN = 24  # characters of what spans one token, at most, in a drawing
_WIDTH = 160


class Chart:
    """Holds what every nonterminal of the grammar spans in one sentence.

    One thread at a time may use a chart, as it makes trees as they are asked for; charts of one
    batch are independent, so that each thread may have one of its own.

    tokens: as they were given. terminals: their numbers in normal_form.vocabulary.
    bits: bool (cells, symbols), read-only, of the symbols of normal_form;
    kernels.cky.cell() has the order of the cells. best_values: what computes the
    logarithms of the best probabilities of all spans, if that is quicker than from trees.
    """

    def __init__(
        self,
        normal_form: NormalForm,
        tokens: Sequence[str],
        terminals: Sequence[int],
        bits: Mask,
        best_values: Values | None = None,
    ) -> None:
        self.normal_form, self.bits = normal_form, bits
        self.tokens, self.terminals = tuple(tokens), tuple(terminals)
        self._best_values = best_values
        bits.flags.writeable = False

    @property
    def accepted(self) -> bool:
        """True if the start symbol derives the sentence."""
        if not self.tokens:
            return self.normal_form.nullable(self.normal_form.grammar.start)
        return bool(self.bits[cell(0, len(self.tokens)), self.normal_form.start])

    @cached_property
    def forest(self) -> Forest:
        """The packed forest of all parses."""
        return Forest(self.normal_form, self.tokens, self.bits, self.terminals)

    def symbols(self, start: int, end: int) -> frozenset[Nonterminal]:
        """Return the nonterminals that derive tokens start .. end - 1.

        Raises IndexError where there is no such span of one token or more.
        """
        if not 0 <= start < end <= len(self.tokens):
            raise IndexError(f"no span {start} .. {end} in {len(self.tokens)} tokens")
        row = self.bits[cell(start, end)]
        names = map(self.normal_form.symbol_of, np.flatnonzero(row).tolist())
        return frozenset(name for name in names if name is not None)

    def spans(self, symbol: Nonterminal | str) -> list[tuple[int, int]]:
        """Return where a nonterminal derives tokens start .. end - 1: (start, end), in order.

        Raises KeyError for what is no nonterminal of the grammar.
        """
        name = symbol if isinstance(symbol, Nonterminal) else Nonterminal(str(symbol))
        if name not in self.normal_form.grammar.nonterminals:
            raise KeyError(f"{name} is no nonterminal of the grammar")
        number = self.normal_form.id_of(name)
        if number is None:  # useless, or derives only the empty string
            return []
        ends = range(1, len(self.tokens) + 1)
        return sorted((i, j) for j in ends for i in range(j) if self.bits[cell(i, j), number])

    def trees(self) -> Iterator[Tree]:
        """Yield all parses, each made when asked for; see Forest for those of cyclic grammars.

        Of a grammar with probabilities ProbabilisticTrees, the most probable first.
        """
        if not self.normal_form.grammar.is_probabilistic:
            return self.forest.trees()
        return self._ranked.trees()

    def best(self) -> ProbabilisticTree | None:
        """Return the most probable parse. Raises ValueError for a grammar without probabilities."""
        return next(self._ranked.trees(), None)

    @cached_property
    def _ranked(self) -> Ranked:
        if self._best_values is None or not self.tokens or not self.accepted:
            return Ranked(self.forest)
        return Ranked(self.forest, self._best_values(np.array(self.terminals, np.uint32)))

    def count(self) -> int | float:
        """Return the number of parses; math.inf where there is no end of them."""
        return self.forest.count()

    def __repr__(self) -> str:
        said = "accepted" if self.accepted else "not accepted"
        return f"<Chart of {many(len(self.tokens), 'token')}, {said}>"

    def __str__(self) -> str:
        """Draw the triangle of the chart, the whole sentence at the top, if it is small enough."""
        from .drawing.text import aligned, chart_rows

        n = len(self.tokens)
        if not 0 < 3 * n <= _WIDTH:
            return repr(self)
        rows, widths = chart_rows(self, 0, n)
        if sum(widths) + 2 * n > _WIDTH or max(widths) > _COLUMN:
            return repr(self)
        return aligned(rows, widths)

    def _repr_svg_(self) -> str:
        """Return the picture that notebooks show: of a large chart its beginning."""
        from .drawing import notebook_chart

        return notebook_chart(self)


class Charts(Sequence[Chart]):
    """The charts of a batch, in its order; computed block by block as they are asked for."""

    def __init__(
        self,
        engine: Cky,
        normal_form: NormalForm,
        sentences: Sentences,
        best_values: Values | None = None,
    ) -> None:
        engine.check_lengths(sentences.batch)
        self._best_values = best_values
        self._engine, self._form, self._sentences = engine, normal_form, sentences
        self._starts = _blocks(sentences, normal_form.rules.symbols)
        self._block = -1
        self._found: dict[int, tuple[ChartGroup, int]] = {}

    def __len__(self) -> int:
        return len(self._sentences)

    @overload
    def __getitem__(self, index: int) -> Chart: ...
    @overload
    def __getitem__(self, index: slice) -> list[Chart]: ...
    def __getitem__(self, index: int | slice) -> Chart | list[Chart]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        s = range(len(self))[index]
        block = bisect_right(self._starts, s) - 1
        if block != self._block:
            self._compute(block)
        bits = np.zeros((0, self._form.rules.symbols), np.bool_)
        if s in self._found:
            group, p = self._found[s]
            bits = self._form.completed(group.chart(p))
        sentences = self._sentences
        terminals = sentences.batch[s].tolist()
        return Chart(self._form, sentences.tokens(s), terminals, bits, self._best_values)

    def __repr__(self) -> str:
        return f"<Charts of {many(len(self), 'sentence')}>"

    def _compute(self, block: int) -> None:
        self._block, self._found = -1, {}
        start, end = self._starts[block : block + 2]
        for group in self._engine.charts(self._sentences.batch.take(np.arange(start, end))):
            group = _by_lanes(group)
            for p, s in enumerate(group.indices.tolist()):
                self._found[start + s] = group, p
        self._block = block


def _by_lanes(group: ChartGroup) -> ChartGroup:
    """Return the same with the words of a lane together, where so many charts will be taken out."""
    if group.indices.size < _FEW:
        return group
    words = np.moveaxis(group.words, 2, 0).copy()
    return replace(group, words=np.moveaxis(words, 0, 2))


def _blocks(sentences: Sentences, symbols: int) -> list[int]:
    """Return where blocks start, and the end: of consecutive sentences, at least one to each."""
    starts, size = [0], 0
    for s, length in enumerate(sentences.batch.lengths.tolist()):
        size += cells(length) * symbols
        if s > starts[-1] and (size > _BLOCK or s - starts[-1] == _STRINGS):
            starts.append(s)
            size = cells(length) * symbols
    return [*starts, len(sentences)]
