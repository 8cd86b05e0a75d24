"""ckyparse convert: a grammar in Chomsky normal form."""

from __future__ import annotations

import click

from arith.cli.files import writing
from ckyparse.cli.options import start_option
from ckyparse.cli.reports import say


@click.command("convert")
@click.argument("grammar", metavar="GRAMMAR")
@start_option
@click.option("-o", "--output", default="-", metavar="FILE", help="[standard output]")
def command(grammar: str, start: str | None, output: str) -> None:
    """Write the grammar in a file in Chomsky normal form, in nltk's syntax.

    The language stays, and so do the probabilities of sentences, but not the trees. Each
    production has two nonterminals or a terminal on its right, but that the start symbol
    has an empty one if the empty string is a sentence. What is useless is left out, and
    named on standard error. A FILE appears when it is whole, or not at all.
    """
    from ckyparse.analysis import is_empty, trimmed
    from ckyparse.cnf import chomsky_normal_form
    from ckyparse.grammar import Grammar

    read = Grammar.read(grammar, start)
    for note in trimmed(read)[1]:
        say(f"{grammar}: {note}")
    if is_empty(read):
        raise click.ClickException(f"{grammar}: there is nothing to write")
    text = str(chomsky_normal_form(read))
    with writing(output) as stream:
        stream.write(text.encode())
