"""What is known of a pattern without reading its cells."""

from __future__ import annotations

import re
from dataclasses import dataclass

KINDS = (
    "still life",
    "oscillator",
    "spaceship",
    "gun",
    "puffer",
    "rake",
    "breeder",
    "methuselah",
    "wick",
    "agar",
    "conduit",
    "eater",
    "replicator",
    "other",
)


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """A pattern of a library, by what the first lines of its file say.

    name: what is typed, as "gosper-gun"; in a folder of the user's the path below that folder,
    without the extension. No two entries of a library share it. title: what people read, as
    "Gosper glider gun".
    kind: one of KINDS; "other" where the file does not say it.
    rule: as the file writes it; "B3/S23" where it names none.
    path: the file, absolute.
    discoverer: "" where nobody is named. year: of the discovery.
    width, height: of the pattern in cells, as the file says; None where its first lines do not.
    period: generations after which it repeats itself, moved or not; of a gun those after which it
    fires again, of a puffer or rake those after which its engine repeats itself. 1 of a still life.
    speed: as "c/2 orthogonal", "c/12 diagonal" or "(2,1)c/6"; "" for what does not move.
    lifespan: of a methuselah, the generation from which on it is settled.
    about: a sentence. others: other names that it is known by.
    """

    name: str
    title: str
    kind: str
    rule: str
    path: str
    discoverer: str = ""
    year: int | None = None
    width: int | None = None
    height: int | None = None
    period: int | None = None
    speed: str = ""
    lifespan: int | None = None
    about: str = ""
    others: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """Return width and height as people read them, "36x9"; "" where the file does not say."""
        return f"{self.width}x{self.height}" if self.width is not None else ""

    @property
    def discovered(self) -> str:
        """Return by whom and when it was found, "Bill Gosper, 1970", as far as that is known."""
        return ", ".join(part for part in (self.discoverer, str(self.year or "")) if part)

    def is_called(self, name: str) -> bool:
        """Tell whether this is one of its names, in any case of letters, blanks as hyphens."""
        wanted = key_of(name)
        return any(wanted == key_of(known) for known in (self.name, self.title, *self.others))


def key_of(name: str) -> str:
    """Return a name as it is compared: small letters and digits, the rest as single hyphens."""
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")
