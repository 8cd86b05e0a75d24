"""A universe as pages see it: facts, pictures by versions, and what may be asked of it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from bulkbits.entry import one_line
from lifesim.errors import LifesimError
from lifesim.grid import Box
from ui.picture.sources import PictureSource
from ui.web.orders import PageOrder


class BoardError(LifesimError):
    """Raised for what cannot be done to this universe, in one line; nothing has changed."""


def said(error: Exception) -> str:
    """Return one line for pages that says what went wrong."""
    return one_line(str(error)) or "out of memory"


class Shot(NamedTuple):
    """A picture source, and the version that it is of. Nobody changes it."""

    version: int
    source: PictureSource


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a universe at one moment, as a page is told them.

    version: grows whenever something else is to be seen. name: of the file, or ''. bounded:
    whether nothing can live outside of the box. dead: the red, green and blue of dead cells where
    tiles are colours; None where they are densities. plays: whether generations are made when a
    page asks for them. draws: whether a page may change cells. undo: whether there is a change to
    take back. progress: done share, 0 to 1, of a run on disk; None where none is known of. problem:
    what went wrong last, or ''.
    """

    version: int
    generation: int
    population: int | None
    box: Box
    bounded: bool
    rule: str
    states: int
    dead: tuple[int, ...] | None = None
    name: str = ""
    running: bool = False
    speed: int = 1
    plays: bool = False
    draws: bool = False
    undo: bool = False
    progress: float | None = None
    problem: str = ""

    def message(self) -> dict[str, Any]:
        """Return the facts as JSON has them; numbers of any size are texts."""
        made = asdict(self)
        made["generation"] = str(self.generation)
        made["population"] = None if self.population is None else str(self.population)
        made["box"] = [str(number) for number in self.box]
        return made


class Board(ABC):
    """A universe that is shown. Any thread may call any method."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._listening = threading.Lock()

    @abstractmethod
    def facts(self) -> Facts:
        """Return the facts of now. May wait for the generations that are just being made."""

    @abstractmethod
    def shot(self, version: int) -> Shot:
        """Return the pictures of a version, or, where they are gone, of the newest one."""

    @abstractmethod
    def do(self, order: PageOrder) -> None:
        """Do what a page asks for; waits for the generations that are just being made. Raises
        LifesimError for what is not allowed or cannot be done."""

    @abstractmethod
    def close(self) -> None:
        """End all threads, or after 0.1 s leave them to end by themselves."""

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function, from any thread, whenever facts() are others, until forget()."""
        with self._listening:
            self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Stop calling a function."""
        with self._listening:
            self._listeners = [one for one in self._listeners if one != listener]

    def tell(self) -> None:
        """Call all who listen."""
        with self._listening:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()
