"""CKY parsing of whole batches of sentences, one bit per sentence, with any context-free grammar.

>>> from ckyparse import CKYParser
>>> parser = CKYParser("S -> S S | '(' S ')' | '(' ')'")
>>> parser.accepts(["()", "(()())", ")("])
array([ True,  True, False])
>>> parser.counts(["()()()", "()" * 40])
Counts([2, 680425371729975800390])
>>> for tree in parser.parse("(())"):
...     print(tree)
(S ( (S ( )) ))
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # typing's own would be most of the time of importing this
if TYPE_CHECKING:
    from typing import Any

    from kernels.cky import TooLongError

    from .chart import Chart, Charts
    from .cnf import chomsky_normal_form
    from .counts import Counts
    from .drawing import draw
    from .grammar import Grammar, GrammarError, GrammarWarning, Nonterminal, Production
    from .normal import NormalForm
    from .parser import CKYParser
    from .sums import NotRationalError
    from .tokens import Sentences, UnknownTokenError

__all__ = [
    "CKYParser",
    "Chart",
    "Charts",
    "Counts",
    "Grammar",
    "GrammarError",
    "GrammarWarning",
    "Nonterminal",
    "NormalForm",
    "NotRationalError",
    "Production",
    "Sentences",
    "TooLongError",
    "UnknownTokenError",
    "chomsky_normal_form",
    "draw",
]

_HOME = {
    "CKYParser": "ckyparse.parser",
    "Chart": "ckyparse.chart",
    "Charts": "ckyparse.chart",
    "Counts": "ckyparse.counts",
    "NormalForm": "ckyparse.normal",
    "NotRationalError": "ckyparse.sums",
    "Sentences": "ckyparse.tokens",
    "TooLongError": "kernels.cky",
    "UnknownTokenError": "ckyparse.tokens",
    "chomsky_normal_form": "ckyparse.cnf",
    "draw": "ckyparse.drawing",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `ckyparse --help` must not wait for numpy."""
    if name not in __all__:
        raise AttributeError(f"module 'ckyparse' has no attribute {name!r}")
    from bulkbits.ownership import check

    check("kernels")
    return getattr(importlib.import_module(_HOME.get(name, "ckyparse.grammar")), name)
