"""Parsing as a window shows it: grammars, batches of sentences, one sentence. No Qt here.

What takes long is a job: an iterator of results, so that it can be left between any two.
Latest runs jobs in a thread of its own, and leaves one when another is asked for.
"""

from __future__ import annotations

import math
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ckyparse.analysis import is_empty
from ckyparse.chart import Chart
from ckyparse.cli.tokenise import PlainTokenizer
from ckyparse.grammar import Grammar, parse, undefined_note
from ckyparse.parser import CKYParser
from kernels.cky import TooLongError
from kernels.cky.text import ABSENT, between_blanks
from kernels.targets.cpu import core_count
from ui.numbers import power_of_ten, raised

if TYPE_CHECKING:
    from nltk.tree import ProbabilisticTree, Tree

Way = Literal["space", "chars"]

# Nothing is begun that would keep a person waiting for more than a few seconds, on one core.
_STEPS = 3e10  # rules at split points
_FEW = 16  # rules take no longer than that many
COUNTING = 4.0  # seconds for a number of parses
_AT_ONCE = 0.001  # of them that nobody notices
_SPLIT, _RULE = 5e-9, 0.14e-9  # of them for a split point, and each rule there
_TOKENS = 30  # whose numbers of parses are likely to fit in a word
_CHART = 1 << 28  # bytes of the chart of one sentence
_KEPT = 512  # trees
_ON_THE_WAY = 256  # trees passed between two looks at whether they are still wanted


@dataclass(frozen=True, eq=False)
class Language:
    """A grammar, ready to parse with. Made by read().

    parser: for batches. looker: the same for one sentence, as two threads must not share one.
    """

    grammar: Grammar
    parser: CKYParser
    looker: CKYParser
    is_empty: bool
    note: str  # what is odd about it; "" if nothing is

    @cached_property
    def rules(self) -> int:
        """Count the binary rules of the normal form, 1 at least."""
        return max(1, len(self.parser.normal_form.rules.binary))

    @cached_property
    def longest(self) -> int:
        """Return the most tokens that a sentence is parsed with here."""
        # Of a rejected sentence it is asked, too, how far it is right.
        rules = self.rules + len(self.parser.normal_form.prefixes()[0].binary)
        by_time = (6 * _STEPS / max(_FEW, rules)) ** (1 / 3)
        by_room = math.sqrt(2 * _CHART / max(1, self.parser.normal_form.rules.symbols))
        return int(min(by_time, by_room))

    def counting(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return about how many seconds it takes to count parses."""
        n = lengths.astype(np.float64)
        return (_SPLIT + _RULE * self.rules) * n**3 / 6 * np.maximum(1, n / _TOKENS)

    @cached_property
    def likely_tokens(self) -> Way:
        """Return what the tokens of a line are, where nobody says: by the grammar's terminals."""
        return "chars" if all(len(token) == 1 for token in self.grammar.terminals) else "space"

    def tokenizer(self, way: Way) -> PlainTokenizer:
        """Return a tokenizer to the numbers of the grammar's vocabulary."""
        numbers = self.parser.vocabulary.numbers
        return PlainTokenizer(numbers, ABSENT, chars=way == "chars", threads=core_count())


def read(text: str, backend: str = "auto") -> Language:
    """Return the language that a text says, in nltk's syntax. Raises GrammarError."""
    grammar = parse(text, source="")
    parser, looker = (CKYParser(grammar, backend=backend, unknown="reject") for _ in range(2))
    return Language(grammar, parser, looker, is_empty(grammar), undefined_note(grammar))


def split(sentence: str, way: Way) -> list[str]:
    """Return the tokens of a line, as ckyparse.cli has them."""
    return list(sentence) if way == "chars" else between_blanks(sentence)


# --- one sentence -----------------------------------------------------------------


class Trees:
    """The parses of one sentence by number, from 0 on, made as they are asked for.

    end: how many there are, None as long as nobody has come to the last one. Of a cyclic
    grammar they are those in which nothing repeats itself, see ckyparse.forest.
    """

    def __init__(self, chart: Chart) -> None:
        self._chart = chart
        self._kept: OrderedDict[int, Tree] = OrderedDict()
        self._rest = chart.trees()
        self._next = 0
        self.end: int | None = None

    def seek(self, index: int) -> Iterator[Tree | int | None]:
        """Yield, as a job, now and then how far it has come, then the tree; None where there is
        none."""
        if self.end is not None and index >= self.end:
            yield None
            return
        if index in self._kept:
            yield self._kept[index]
            return
        if index < self._next:
            self._rest, self._next = self._chart.trees(), 0
        while self._next <= index:
            tree = next(self._rest, None)
            if tree is None:
                self.end = self._next
                yield None
                return
            self._kept[self._next] = tree
            self._next += 1
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            if self._next % _ON_THE_WAY == 0:
                yield self._next
        yield self._kept[index]


class FoundTree(NamedTuple):
    """A tree, or how far the search for it has come: made by Trees.seek()."""

    number: int
    tree: Tree | int | None


@dataclass(frozen=True, eq=False)
class SentenceLook:
    """The facts that are known of one sentence.

    log: the natural logarithm of its probability, that of all its parses together; None where it
    is not known, or the grammar has no probabilities.
    """

    language: Language = field(repr=False)
    tokens: tuple[str, ...]
    accepted: bool = False
    prefix: int = 0
    unknown: tuple[str, ...] = ()
    count: int | float | None = None
    log: float | None = None
    hard: bool = False
    chart: Chart | None = None
    filled: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    trees: Trees | None = None
    problem: str = ""

    def names(self, start: int, end: int) -> list[str]:
        """Return the nonterminals that span these tokens, sorted."""
        return sorted(name.name for name in self.chart.symbols(start, end)) if self.chart else []

    @property
    def verdict(self) -> str:
        """Return the verdict, in one line."""
        if self.problem:
            return self.problem
        if not self.accepted:
            return f"rejected: {fault(self.tokens, self.prefix, self.unknown)}"
        if self.count is None:
            return "accepted, too many parses to count here" if self.hard else "accepted"
        parses = "1 parse" if self.count == 1 else f"{short_count(self.count)} parses"
        more = "" if self.log is None else f", probability {probability_of(self.log)}"
        return f"accepted, {parses}{more}"


def look(language: Language, way: Way, sentence: str) -> Iterator[SentenceLook | FoundTree]:
    """Yield, as a job, a SentenceLook, then the first tree if there is one, then the SentenceLook
    with the count, if the first one has none: what is counted at once needs no second look."""
    parser, tokens = language.looker, tuple(split(sentence, way))
    if len(tokens) > language.longest:
        yield SentenceLook(language, tokens, problem=_too_long(len(tokens), language.longest))
        return
    unknown = tuple(dict.fromkeys(t for t in tokens if t not in parser.vocabulary.numbers))
    try:
        chart = parser.charts([tokens])[0]
        prefix = len(tokens) if chart.accepted else int(parser.prefixes([tokens])[0])
    except TooLongError as error:
        yield SentenceLook(language, tokens, problem=_too_long(error.length, error.longest))
        return
    filled = _filled(chart)
    if not chart.accepted:
        yield SentenceLook(
            language, tokens, False, prefix, unknown, count=0, chart=chart, filled=filled
        )
        return
    seconds = float(language.counting(np.array([len(tokens)]))[0])
    hard = seconds > COUNTING
    trees = Trees(chart)
    found = SentenceLook(
        language, tokens, True, prefix, unknown, hard=hard, chart=chart, filled=filled, trees=trees
    )
    if seconds <= _AT_ONCE:
        found = _counted(found)
    yield found
    yield from tree(found, 0)


def tree(look: SentenceLook, index: int) -> Iterator[SentenceLook | FoundTree]:
    """Yield, as a job, a tree of a sentence, and then its count, if that is not known yet."""
    if look.trees is not None:
        for found in look.trees.seek(index):
            yield FoundTree(index, found)
    if look.accepted and look.count is None and not look.hard:
        yield _counted(look)


def _counted(look: SentenceLook) -> SentenceLook:
    """Return a look with the number of parses, and the probability if there is such."""
    language, tokens, log = look.language, [look.tokens], None
    if language.grammar.is_probabilistic:
        # Weights may have no sum, or be too small for floats.
        with suppress(ValueError):
            log = float(language.looker.log_probabilities(tokens)[0])
    return replace(look, count=language.looker.counts(tokens)[0], log=log)


def _filled(chart: Chart) -> npt.NDArray[np.uint8]:
    form = chart.normal_form
    named = [form.symbol_of(symbol) is not None for symbol in range(chart.bits.shape[1])]
    result = np.zeros(len(chart.bits), np.uint8)
    result[chart.bits[:, np.array(named, np.bool_)].any(axis=1)] = 1
    if form.start < chart.bits.shape[1]:
        result[chart.bits[:, form.start]] = 2
    return result


def _too_long(length: int, longest: int) -> str:
    return f"too long: {length:,} tokens; with this grammar {longest:,} can be parsed here"


def fault(tokens: Sequence[str], prefix: int, unknown: Container[str]) -> str:
    """Return what is wrong with a rejected sentence."""
    if not tokens:
        return "it is empty"
    if prefix == len(tokens):
        return "it ends too soon"
    token = tokens[prefix]
    name = repr(token if len(token) <= 40 else token[:39] + "…")
    if token in unknown:
        return f"the grammar has no {name} (token {prefix + 1})"
    if not prefix:
        return f"no sentence begins with {name}"
    return f"{name} cannot come there (token {prefix + 1})"


# --- threads ----------------------------------------------------------------------

Job = Callable[[], Iterable[object]]


class Latest:
    """A thread that does what it was last asked for, and gives up what it was asked before.

    land: is called by the thread with the number of the job and each of its results, or
    the exception that ended it. What is no longer wanted does not land.
    """

    def __init__(self, name: str, land: Callable[[int, object], None]) -> None:
        self._land = land
        self._changed = threading.Condition()
        self._job: Job | None = None
        self._closed = False
        self._busy = False
        self.serial = 0
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def ask(self, job: Job | None) -> int:
        """Ask for a job, and return its number. None asks for nothing but to give up."""
        with self._changed:
            self.serial += 1
            self._job = job
            self._changed.notify()
            return self.serial

    @property
    def is_busy(self) -> bool:
        """Tell whether a job is under way or waits."""
        with self._changed:
            return self._busy or self._job is not None

    def close(self, seconds: float = 5.0) -> None:
        """Give up, and wait for as long at most."""
        with self._changed:
            self._closed = True
            self.serial += 1
            self._job = None
            self._changed.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.wait_for(lambda: self._closed or self._job is not None)
                if self._closed or self._job is None:
                    return
                job, serial, self._job = self._job, self.serial, None
                self._busy = True
            self._do(job, serial)

    def _do(self, job: Job, serial: int) -> None:
        try:
            for result in job():
                if serial != self.serial:
                    return
                self._land(serial, result)
        except Exception as error:
            if serial == self.serial:
                self._land(serial, error)


# --- numbers ----------------------------------------------------------------------

_DIGITS = 15  # of numbers that are shown whole
_WRITTEN = 4000  # digits, at most: longer ones are not written out


def short_count(count: int | float | None) -> str:
    """Return a count as 1,234; 1.2346 × 10⁵⁰; infinitely many; or, not counted, "uncounted"."""
    if count is None:
        return "uncounted"
    if count == math.inf:
        return "infinitely many"
    whole = int(count)
    if whole < 10**_DIGITS:
        return f"{whole:,}"
    power = int(whole.bit_length() * math.log10(2))
    while 10**power > whole:
        power -= 1
    leading = (10 * whole // 10 ** (power - 4) + 5) // 10
    if leading == 10**5:
        leading, power = 10**4, power + 1
    return f"{leading // 10**4}.{leading % 10**4:04} × {power_of_ten(power)}"


def probability(tree: ProbabilisticTree) -> str:
    """Return the probability of a tree with six digits, however small it is."""
    value = tree.prob()
    if value >= sys.float_info.min or tree.logprob() == -math.inf:
        return raised(f"{value:.6g}")
    return _tiny(tree.logprob() * math.log10(2))


def probability_of(log: float) -> str:
    """Return a probability with six digits, however small it is, of its natural logarithm."""
    value = math.exp(log) if log < math.log(sys.float_info.max) else math.inf
    if value >= sys.float_info.min or log == -math.inf:
        return raised(f"{value:.6g}")
    return _tiny(log / math.log(10))


def _tiny(digits: float) -> str:
    """Return a number as 1.23456 × 10⁻⁴⁰⁰, of its logarithm to the base 10."""
    power = math.floor(digits + 5e-7)
    leading = max(1.0, 10 ** (digits - power))
    return f"{leading:.5f} × {power_of_ten(power)}"


def exact_count(count: int | float | None) -> str:
    """Return all digits, if they can be read at all."""
    if count is None or count == math.inf or count >= 10**_WRITTEN:
        return short_count(count)
    return f"{int(count):,}"
