"""ckyparse info: what can be said of a grammar."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from bulkbits.options import json_option
from ckyparse.cli.options import read_grammar, start_option

if TYPE_CHECKING:
    from ckyparse.grammar import Grammar

_NAMED = 8  # symbols of a list that are shown


@click.command("info")
@click.argument("grammar", metavar="GRAMMAR")
@start_option
@json_option
def command(grammar: str, start: str | None, as_json: bool) -> None:
    """Describe the grammar in a file: its size, its normal forms, its language.

    Useless symbols are noted; all other commands drop them. Sentences have infinitely many
    trees where a symbol derives itself and nothing beside it. Whether a grammar is
    ambiguous cannot be computed for all; what is said of it is true.
    """
    facts = _facts(read_grammar(grammar, start))
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        title = name.replace("_", " ") + ":"
        for line in _lines(name, value):
            click.echo(f"{title:<20} {line}")
            title = ""


def _lines(name: str, value: Any) -> list[str]:
    if name == "nullable":
        more = f" and {len(value) - _NAMED:,} more" if len(value) > _NAMED else ""
        return [", ".join(value[:_NAMED]) + more or "none"]
    if isinstance(value, list):
        return value
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, dict):
        return [", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in value.items())]
    return [f"{value:,}" if isinstance(value, int) else str(value)]


def _facts(grammar: Grammar) -> dict[str, Any]:
    from ckyparse import analysis
    from ckyparse.ambiguity import hints
    from ckyparse.cnf import chomsky_normal_form
    from ckyparse.grammar import Production
    from ckyparse.normal import NormalForm

    kept, notes = analysis.trimmed(grammar)
    facts: dict[str, Any] = {
        "start": str(grammar.start),
        "productions": len(grammar.productions),
        "nonterminals": len(grammar.nonterminals),
        "terminals": len(grammar.terminals),
        "probabilities": grammar.is_probabilistic,
    }
    if analysis.is_empty(grammar):
        return facts | {"language": "empty", "notes": notes}
    rules = NormalForm(grammar).rules
    bare = kept.with_productions(Production(p.lhs, p.rhs) for p in kept.productions)
    cnf = chomsky_normal_form(bare)  # of probabilities not even a sum may exist
    return facts | {
        "longest_right_side": max(len(p.rhs) for p in grammar.productions),
        "nullable": sorted(map(str, analysis.nullable(kept))),
        "normal_form": {
            "symbols": rules.symbols,
            "binary_rules": len(rules.binary),
            "pairs": len(rules.pairs),
            "unit_rules": len(rules.units),
            "lexical_rules": len(rules.lexical),
        },
        "chomsky_normal_form": {
            "nonterminals": len(cnf.nonterminals),
            "productions": len(cnf.productions),
        },
        "language": "finite" if analysis.is_finite(grammar) else "infinite",
        "shortest_sentence": analysis.shortest(kept)[grammar.start],
        "parses": "finite" if analysis.cycle(grammar) is None else "infinite",
        "hints": hints(grammar),
        "notes": notes,
    }
