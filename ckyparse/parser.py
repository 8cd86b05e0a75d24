"""CKYParser: sentences to trees one by one, as nltk's parsers, and batches to numbers in bulk."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.backend import Backend
from kernels.cky import Batch, Rules
from kernels.cky.batch import Mask
from kernels.cky.weighted import Weights
from kernels.cky.weighted.engine import Kind, Logs

from .chart import Charts
from .engines import Engines
from .forest import Forest
from .grammar import Grammar
from .normal import NormalForm
from .tokens import Sentence, Sentences, Tokens, UnknownTokenError, Vocabulary

if TYPE_CHECKING:
    from nltk.grammar import CFG
    from nltk.tree import Tree

    from arith import RationalArray

    from .counts import Counts

Progress = Callable[[int], None]
Sents: TypeAlias = Sentences | Batch | Iterable[Sentence]

_DIVERGES = "probabilities have no sum: those of a cycle in the grammar multiply to 1 or more"
_AHEAD = 1 << 12  # sentences that parse_sents() reads before it yields the first of them


class CKYParser:
    """Parses with one grammar: trees as nltk's parsers make them, and whole batches at once.

    grammar: a Grammar; a CFG or PCFG of nltk; a grammar in nltk's syntax, as a str with
        "->" in it; or the path of a file of one.
    backend: "auto", "cuda", "cpu" or "reference", or what kernels.choose.pick() makes; "auto"
        takes a GPU for large batches, if there is one. device: which GPU; several, as
        (0, 1), share the work of each batch. threads: of the CPU.
    memory: bytes for charts at any one time, on each device; by default what there is to
        spare.
    unknown: what becomes of a token that the grammar has not: "error" raises
        UnknownTokenError, a ValueError like that of nltk's parsers; "reject" accepts no
        sentence that has it; anything else is the terminal to take in its place.

    It is an nltk.parse.api.ParserI, to isinstance() too, and loads nltk for trees only.

    A batch is an iterable of sentences, or what encode() made of one. A sentence is a
    sequence of tokens or a str: of one-character tokens, or with tokens="space" of what
    white space separates. Results are in the order of the batch, the same on every backend.

    Raises GrammarError for what is no grammar, ValueError where `unknown` is no terminal,
    BackendUnavailableError on first use where the backend cannot run. Any method raises
    TooLongError, a MemoryError, for a sentence whose chart does not fit in memory.
    """

    def __init__(
        self,
        grammar: Grammar | CFG | str | os.PathLike[str],
        *,
        backend: str | Backend = "auto",
        device: int | Sequence[int] = 0,
        threads: int | None = None,
        memory: int | None = None,
        unknown: str = "error",
    ) -> None:
        if memory is not None and (not isinstance(memory, int) or memory < 1):
            raise ValueError(f"memory is a number of bytes, not {memory!r}")
        self._grammar = _grammar(grammar)
        ours = self._grammar if isinstance(self._grammar, Grammar) else Grammar.of(self._grammar)
        self.normal_form = NormalForm(ours)
        self._rules = self.normal_form.rules  # now, and not when a sentence waits
        self.vocabulary = Vocabulary(self.normal_form.vocabulary, unknown)
        self._options: dict[str, Any] = {
            "backend": backend,
            "device": device,
            "threads": threads,
            "memory": memory,
            "unknown": unknown,
        }
        self._engines = Engines(backend, device, threads, memory)

    # --- as nltk's parsers ---------------------------------------------------

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """A ParserI for isinstance(); whoever asks for that has loaded it."""
        api = sys.modules.get("nltk.parse.api")
        return CKYParser if api is None else _joined(api.ParserI)

    def __reduce__(self) -> tuple[Callable[..., CKYParser], tuple[object, ...]]:
        return _made, (self._grammar, self._options)

    def grammar(self) -> Grammar | CFG:
        """The grammar as it was given; a Grammar where that was a str or a path."""
        return self._grammar

    def parse(self, sent: Sentence) -> Iterator[Tree]:
        """All parses of a sentence, one after another, made as they are asked for.

        They are trees of the grammar as it was given, with the tokens as they were given.
        With probabilities they are ProbabilisticTrees, the most probable first. Where there
        is no end of parses they are those in which no node has an equal one above it, of
        the same production over the same tokens. Raises UnknownTokenError at once.
        """
        return self.charts([sent])[0].trees()

    def parse_one(self, sent: Sentence) -> Tree | None:
        """The first parse, or None."""
        return next(self.parse(sent), None)

    def parse_all(self, sent: Sentence) -> list[Tree]:
        """A list of what parse() yields."""
        return list(self.parse(sent))

    def parse_sents(self, sents: Iterable[Sentence]) -> Iterator[Iterator[Tree]]:
        """parse() of each; reads ahead, ever further, to compute many charts at once."""
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

    # --- in bulk --------------------------------------------------------------

    def encode(self, batch: Iterable[Sentence], tokens: Tokens = "chars") -> Sentences:
        """A batch as numbers, for several calls. Raises UnknownTokenError."""
        return self.vocabulary.encode(batch, tokens)

    def accepts(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> Mask:
        """Which sentences the grammar derives: bool (count,)."""
        coded = self._coded(batch, tokens).batch
        form = self.normal_form
        result = self._engines.plain(self._rules, coded).accept(coded, form.start, progress)
        result[coded.lengths == 0] = form.nullable(form.grammar.start)
        return result

    def prefixes(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> npt.NDArray[np.int32]:
        """Tokens of the longest prefix that some sentence of the grammar starts with.

        int32 (count,): of an accepted sentence its length. Of another one, if it is less,
        the next token is the first wrong one; else the sentence ends too soon.
        """
        coded = self._coded(batch, tokens).batch
        rules, symbol = self._prefixes
        return self._engines.plain(rules, coded).longest(coded, symbol, progress)

    def counts(self, batch: Sents, *, tokens: Tokens = "chars") -> Counts:
        """The number of parses of each sentence: exact ints, or math.inf."""
        from arith import IntArray

        from .counts import Counts
        from .values import integers

        coded, form = self._coded(batch, tokens).batch, self.normal_form
        infinite = np.zeros(len(coded), np.bool_)
        if self._infinite is not None:
            rules, symbol = self._infinite
            infinite = self._engines.plain(rules, coded).accept(coded, symbol)
        engine = self._engines.weighted(self._rules, coded)
        finite = integers(engine, coded, form.start, self._counting)
        empty = form.empty_count()
        if empty == math.inf:
            infinite |= coded.lengths == 0
        elif isinstance(empty, int) and empty:
            finite = IntArray.where(coded.lengths == 0, empty, finite)
        if infinite.any():
            finite = IntArray.where(infinite, 0, finite)
        return Counts(finite, infinite)

    def log_probabilities(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> Logs:
        """The natural logarithm of the probability of each sentence: float64 (count,).

        It is that of all its parses together; -inf where there are none.
        """
        empty = self.normal_form.empty_probability()
        return self._logs(batch, tokens, self._inside, empty, "inside", progress)

    def best_log_probabilities(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> Logs:
        """The natural logarithm of the probability of the most probable parse: float64
        (count,). charts() has the parse itself."""
        best = self._empty.best()
        empty = 0.0 if best is None else float(best[1])
        return self._logs(batch, tokens, self._best, empty, "viterbi", progress)

    def probabilities(self, batch: Sents, *, tokens: Tokens = "chars") -> RationalArray:
        """The probability of each sentence, exactly.

        Raises NotRationalError where the grammar has empty productions whose probabilities
        are roots of polynomials.
        """
        from arith import RationalArray

        from .values import rationals

        coded, form = self._coded(batch, tokens).batch, self.normal_form
        engine = self._engines.weighted(self._rules, coded)
        result = rationals(engine, coded, form.start, self._exact)
        empty = coded.lengths == 0
        if not empty.any():
            return result
        probability = self._empty.probability()
        if not isinstance(probability, Fraction):
            raise ValueError(_DIVERGES)
        return RationalArray.where(empty, probability, result)

    def charts(self, batch: Sents, *, tokens: Tokens = "chars") -> Charts:
        """A Chart of each sentence, computed as they are asked for, many at a time."""
        sentences = self._coded(batch, tokens)
        form = self.normal_form
        best = self._best_values if form.grammar.is_probabilistic else None
        engine = self._engines.plain(self._rules, sentences.batch)
        return Charts(engine, form, sentences, best)

    # --------------------------------------------------------------------------

    def _coded(self, batch: Sents, tokens: Tokens) -> Sentences:
        if isinstance(batch, Sentences):
            if batch.vocabulary is not self.vocabulary:
                raise ValueError("the sentences were encoded by another parser")
            return batch
        if isinstance(batch, Batch):
            return Sentences(batch, self.vocabulary)
        return self.encode(batch, tokens)

    def _best_values(self, terminals: npt.NDArray[np.uint32]) -> Logs:
        batch = Batch(terminals, np.array([0, terminals.size], np.int64))
        engine = self._engines.weighted(self._rules, batch)
        return engine.chart(terminals, self._best, "viterbi")

    def _logs(
        self,
        batch: Sents,
        tokens: Tokens,
        weights: Weights,
        empty: float,
        kind: Kind,
        progress: Progress | None,
    ) -> Logs:
        """empty: the probability of the empty sentence."""
        coded, form = self._coded(batch, tokens).batch, self.normal_form
        engine = self._engines.weighted(self._rules, coded)
        result = engine.logs(coded, form.start, weights, kind, progress)
        result[coded.lengths == 0] = math.log(empty) if empty else -math.inf
        return result

    @cached_property
    def _empty(self) -> Forest:
        """Of the sentence without tokens."""
        return Forest(self.normal_form, (), np.zeros((0, self._rules.symbols), np.bool_))

    @cached_property
    def _prefixes(self) -> tuple[Rules, int]:
        return self.normal_form.prefixes()

    @cached_property
    def _infinite(self) -> tuple[Rules, int] | None:
        return self.normal_form.infinite()

    @cached_property
    def _counting(self) -> Weights:
        return self.normal_form.counting()[0]

    @cached_property
    def _inside(self) -> Weights:
        return _finite(self.normal_form.probabilities())

    @cached_property
    def _exact(self) -> Weights:
        return _finite(self.normal_form.exact())

    @cached_property
    def _best(self) -> Weights:
        return self.normal_form.best()


def _finite(weights: Weights) -> Weights:
    for values in (weights.units, weights.loops):
        if any(value == math.inf for value in values):
            raise ValueError(_DIVERGES)
    return weights


@lru_cache(maxsize=1)
def _joined(interface: type) -> type:
    return type("CKYParser", (CKYParser, interface), {"__module__": __name__})


def _made(grammar: Grammar | CFG, options: dict[str, Any]) -> CKYParser:
    return CKYParser(grammar, **options)


def _grammar(given: Grammar | CFG | str | os.PathLike[str]) -> Grammar | CFG:
    if isinstance(given, os.PathLike) or (isinstance(given, str) and "->" not in given):
        return Grammar.read(given)
    return Grammar.fromstring(given) if isinstance(given, str) else given
