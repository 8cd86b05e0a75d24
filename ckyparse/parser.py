"""CKYParser: sentences to trees one by one, as nltk's parsers, and batches to numbers in bulk."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.cky import Batch, Rules
from kernels.cky.batch import Mask
from kernels.cky.weighted import INSIDE, VITERBI, Semiring, Weights
from kernels.cky.weighted.contract import Logs
from kernels.cky.weighted.semirings import WRAPPING
from kernels.targets.contract import Target

from .chart import Charts
from .engines import ParserEngines
from .forest import Forest
from .grammar import Grammar
from .nltk_interface import NltkInterface
from .normal import NormalForm
from .sums import TooSmallError
from .tokens import Sentence, Sentences, Tokens, Vocabulary

if TYPE_CHECKING:
    from nltk.grammar import CFG

    from arith import RationalArray

    from .counts import Counts

Progress = Callable[[int], None]
Sents: TypeAlias = Sentences | Batch | Iterable[Sentence]

_DIVERGES = "probabilities have no sum: those of a cycle in the grammar multiply to 1 or more"


class CKYParser(NltkInterface):
    r"""Parses with one grammar: trees as nltk's parsers make them, and whole batches at once.

    grammar: a Grammar; a CFG or PCFG of nltk; a grammar in nltk's syntax, as a str with
        "->" in it; or the path of a file of one.
    backend: "auto", "cuda", "cpu" or "reference", or what kernels.targets.choose.pick() makes;
        "auto" takes a GPU for large batches, if there is one, which starts in the background.
        device: which GPU; several, as (0, 1), share the work of each batch. threads: of the CPU.
    memory: bytes for charts at any one time, on each device; by default what there is to
        spare.
    unknown: what becomes of a token that the grammar has not: "error" raises
        UnknownTokenError, a ValueError like that of nltk's parsers; "reject" accepts no
        sentence that has it; anything else is the terminal to take in its place.

    Any number of threads may use one parser at once.

    It is an nltk.parse.api.ParserI, to isinstance() too, and loads nltk for trees only.

    A batch is an iterable of sentences, or what encode() made of one. A sentence is a
    sequence of tokens or a str: of one-character tokens, or with tokens="space" of what
    blanks separate. These are the space, tab, \n, \v, \f and \r; other white space, as the
    no-break space, belongs to tokens. Results are in the order of the batch, the same on
    every backend.

    Raises GrammarError for what is no grammar, ValueError where `unknown` is no terminal,
    BackendUnavailableError on first use where the backend cannot run. Any method raises
    TooLongError, a MemoryError, for a sentence whose chart does not fit in memory.
    """

    def __init__(
        self,
        grammar: Grammar | CFG | str | os.PathLike[str],
        *,
        backend: str | Target = "auto",
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
        self._engines = ParserEngines(backend, device, threads, memory)

    def __reduce__(self) -> tuple[Callable[..., CKYParser], tuple[object, ...]]:
        return _made, (self._grammar, self._options)

    def grammar(self) -> Grammar | CFG:
        """Return the grammar as it was given; a Grammar where that was a str or a path."""
        return self._grammar

    # --- in bulk --------------------------------------------------------------

    def encode(self, batch: Iterable[Sentence], tokens: Tokens = "chars") -> Sentences:
        """Return a batch as numbers, for several calls. Raises UnknownTokenError."""
        return self.vocabulary.encode(batch, tokens)

    def accepts(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> Mask:
        """Return which sentences the grammar derives: bool (count,)."""
        coded = self._coded(batch, tokens).batch
        form = self.normal_form
        result = self._engines.plain(self._rules, coded).accept(coded, form.start, progress)
        result[coded.lengths == 0] = form.nullable(form.grammar.start)
        return result

    def prefixes(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the tokens of the longest prefix that some sentence of the grammar starts with.

        int32 (count,): of an accepted sentence its length. Of another one, if it is less,
        the next token is the first wrong one; else the sentence ends too soon.
        """
        coded = self._coded(batch, tokens).batch
        rules, symbol = self._prefixes
        return self._engines.plain(rules, coded).longest(coded, symbol, progress)

    def counts(self, batch: Sents, *, tokens: Tokens = "chars", wrapped: bool = False) -> Counts:
        """Return the number of parses of each sentence: exact ints, or math.inf.

        wrapped: modulo 2**64 instead, which takes one pass however long the numbers are.
        """
        from arith import IntArray

        from .counts import Counts
        from .values import integers

        coded, form = self._coded(batch, tokens).batch, self.normal_form
        infinite = np.zeros(len(coded), np.bool_)
        if self._infinite is not None:
            rules, symbol = self._infinite
            infinite = self._engines.plain(rules, coded).accept(coded, symbol)
        engine = self._engines.weighted(self._rules, coded)
        if wrapped:
            finite = IntArray(engine.values(coded, form.start, self._counting, WRAPPING))
        else:
            finite = integers(engine, coded, form.start, self._counting)
        empty = form.empty_count()
        if empty == math.inf:
            infinite |= coded.lengths == 0
        elif isinstance(empty, int) and empty:
            empty = empty % (1 << 64) if wrapped else empty
            finite = IntArray.where(coded.lengths == 0, empty, finite)
        if infinite.any():
            finite = IntArray.where(infinite, 0, finite)
        return Counts(finite, infinite)

    def log_probabilities(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> Logs:
        """Return the natural logarithm of the probability of each sentence: float64 (count,).

        It is that of all its parses together; -inf where there are none. Raises ValueError
        where probabilities of productions are smaller than floats can be, or have no sum.
        """
        empty = self.normal_form.empty_probability()
        return self._logs(batch, tokens, self._inside, empty, INSIDE, progress)

    def best_log_probabilities(
        self, batch: Sents, *, tokens: Tokens = "chars", progress: Progress | None = None
    ) -> Logs:
        """Return the natural logarithm of the probability of the most probable parse: float64
        (count,). charts() has the parse itself."""
        best = self._empty.best()
        empty = 0.0 if best is None else float(best[1])
        return self._logs(batch, tokens, self._best, empty, VITERBI, progress)

    def probabilities(self, batch: Sents, *, tokens: Tokens = "chars") -> RationalArray:
        """Return the probability of each sentence, exactly.

        Raises NotRationalError where the grammar has empty productions whose probabilities
        are irrational, as roots of polynomials can be.
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
        """Return a Chart of each sentence, computed as they are asked for, many at a time."""
        sentences = self._coded(batch, tokens)
        form = self.normal_form
        best = self._best_values if form.grammar.is_probabilistic and form.is_whole else None
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

    def _best_values(self, terminals: npt.NDArray[np.uint32]) -> Logs | None:
        """Return the logarithms of the best values of all spans; None where floats will not do."""
        try:
            weights = self._best
        except TooSmallError:
            return None
        batch = Batch(terminals, np.array([0, terminals.size], np.int64))
        engine = self._engines.weighted(self._rules, batch)
        return engine.chart(terminals, weights, VITERBI)

    def _logs(
        self,
        batch: Sents,
        tokens: Tokens,
        weights: Weights,
        empty: float,
        semiring: Semiring,
        progress: Progress | None,
    ) -> Logs:
        """Return logarithms of values. empty: the probability of the empty sentence."""
        coded, form = self._coded(batch, tokens).batch, self.normal_form
        engine = self._engines.weighted(self._rules, coded)
        result = engine.values(coded, form.start, weights, semiring, progress)
        nothing = coded.lengths == 0
        if empty == math.inf and nothing.any():
            raise ValueError(_DIVERGES)
        result[nothing] = math.log(empty) if empty else -math.inf
        return result

    @cached_property
    def _empty(self) -> Forest:
        """The forest of the sentence without tokens."""
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


def _made(grammar: Grammar | CFG, options: dict[str, Any]) -> CKYParser:
    return CKYParser(grammar, **options)


def _grammar(given: Grammar | CFG | str | os.PathLike[str]) -> Grammar | CFG:
    if isinstance(given, os.PathLike) or (isinstance(given, str) and "->" not in given):
        return Grammar.read(given)
    return Grammar.fromstring(given) if isinstance(given, str) else given
