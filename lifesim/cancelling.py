"""Reading that is given up when nobody wants its result any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lifesim.errors import LifesimError

_is_cancelled: ContextVar[Callable[[], bool]] = ContextVar("is_cancelled", default=lambda: False)


class ReadCancelledError(LifesimError):
    """Reading was given up, as nobody wants the result any more."""


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Have what this thread reads within the block given up when is_cancelled says so."""
    token = _is_cancelled.set(is_cancelled)
    try:
        yield
    finally:
        _is_cancelled.reset(token)


def go_on() -> None:
    """Look, between two steps, whether reading is to be given up. Raises ReadCancelledError."""
    if _is_cancelled.get()():
        raise ReadCancelledError("cancelled")
