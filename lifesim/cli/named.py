"""The argument of a command that is a pattern: a file, a universe directory, or a name."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from lifesim.library.library import PatternLibrary
from lifesim.library.names import file_called


class PatternFile(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A path, or the name of a pattern that comes with this program, in place of which stands the
    path of its file then. What is in the working directory wins."""

    name = "pattern"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the path; one that leads nowhere is left to whoever reads it."""
        return file_called(value) or str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so, and have the shell add files."""
        names = [entry.name for entry in PatternLibrary.of_ours()]
        fitting = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*fitting, CompletionItem(incomplete, type="file")]
