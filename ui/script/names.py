"""The names that scripts have at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import lifesim
from lifesim.grid import BitGrid, Box
from ui.script.life import ShownLife


class ScriptNames(dict[str, Any]):
    """The globals of a script: what it assigns, and before that some names whose values are those
    of the moment in which they are read.

    life: the universe. grid: a copy of the cells that are selected, or of all; to write to it would
    change nothing that is seen, so it is refused. selection: a Box, or None. lazy: names of those
    values.
    """

    lazy = ("grid", "selection")

    def __init__(
        self,
        life: ShownLife,
        selection: Callable[[], Box | None],
        others: Mapping[str, Any],
        name: str,
    ) -> None:
        """Offer some names. others: names and values. name: of the module that the script is."""
        super().__init__(others)
        self.update(life=life, Box=Box, BitGrid=BitGrid, Life=lifesim.Life, input=_no_input)
        self["__name__"] = name
        self["__builtins__"] = __builtins__
        self._life, self._selection = life, selection

    def __missing__(self, name: str) -> Any:
        if name == "selection":
            return self._selection()
        if name == "grid":
            return self._grid()
        raise KeyError(name)

    def _grid(self) -> BitGrid:
        grid = self._life.grid(self._selection())
        grid.words.flags.writeable = False
        return grid


def _no_input(prompt: str = "") -> str:
    """Raise EOFError: there is nobody to type an answer."""
    raise EOFError("scripts in the window cannot ask by input()")
