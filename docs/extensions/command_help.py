"""Shows the help of each subcommand of a command: the directive `command-help`."""

from __future__ import annotations

import importlib

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH = 86


class CommandHelp(SphinxDirective):
    """Gives a section with the text of --help for each subcommand of the command named."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        name = self.arguments[0]
        group = importlib.import_module(f"{name}.cli").group
        top = click.Context(group, info_name=name)
        sections: list[nodes.Node] = []
        for line in group.list_commands(top):
            command = group.get_command(top, line)
            inner = click.Context(command, info_name=line, parent=top, max_content_width=WIDTH)
            inner.terminal_width = WIDTH
            title = f"{name} {line}"
            section = nodes.section(ids=[nodes.make_id(title)], names=[title])
            section += nodes.title(title, title)
            text = command.get_help(inner)
            section += nodes.literal_block(text, text, language="text")
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of this extension."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
