"""ckyparse convert: a grammar in Chomsky normal form."""

from __future__ import annotations

import click

from bulkbits.files import check_out, writing
from bulkbits.options import force_option, out_option
from bulkbits.overwriting import begins
from ckyparse.cli.options import read_grammar, start_option
from ckyparse.cli.reports import say


def _is_grammar(head: bytes) -> bool:
    """Return whether the first line that says something is a production or an instruction."""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        text = line.strip()
        if text and not text.startswith(b"#"):
            return b"->" in text or text.startswith(b"%")
    return False


_GRAMMAR = begins("grammar", _is_grammar)


@click.command("convert")
@click.argument("grammar", metavar="GRAMMAR")
@start_option
@out_option()
@force_option
def command(grammar: str, start: str | None, out: str, force: bool) -> None:
    """Write the grammar in a file in Chomsky normal form, in nltk's syntax.

    The language stays, and so do the probabilities of sentences, but not the trees. Each
    production has two nonterminals or a terminal on its right, but that the start symbol
    has an empty one if the empty string is a sentence. What is useless is left out, and
    named on standard error. A FILE appears when it is whole, or not at all.
    """
    from ckyparse.analysis import is_empty, trimmed
    from ckyparse.cnf import chomsky_normal_form

    check_out(out, _GRAMMAR, [grammar], force)
    read = read_grammar(grammar, start)
    for note in trimmed(read)[1]:
        say(f"{grammar}: {note}")
    if is_empty(read):
        raise click.ClickException(f"{grammar}: there is nothing to write")
    text = str(chomsky_normal_form(read))
    with writing(out) as stream:
        stream.write(text.encode())
