"""What lies beyond the edges of a universe, and the words for it."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, replace
from typing import TypeAlias

from lifesim.errors import LifesimError

Size: TypeAlias = tuple[int, int]  # width and height; 0 along an axis without bounds

KNOWN = "torus, plane, unbounded, klein, cross-surface, sphere, or Golly's T30+5,20 K30*,20 C30,20"
_BOUNDS = re.compile(
    r"([TPKCS])([0-9]{1,18})(\*?)([+-][0-9]{1,18})?(?:,([0-9]{1,18})(\*?)([+-][0-9]{1,18})?)?",
    re.IGNORECASE,
)


class TopologyError(LifesimError, ValueError):
    """A text names no topology, or no universe of this size has it."""


class Topology(enum.StrEnum):
    """The way in which the edges of a universe meet. TORUS: opposite edges are joined. PLANE:
    everything outside is dead for ever."""

    TORUS = "torus"
    PLANE = "plane"


@dataclass(frozen=True, slots=True)
class JoinedEdges:
    """The edges of a bounded universe, joined otherwise than a torus's: Golly's bounded grids.

    width, height: of the universe. twist: whether the horizontal edges (top and bottom) are
    reversed before they are joined, and whether the vertical ones are. shift: by how many cells
    the horizontal edges are shifted to the right, and the vertical ones downwards; of a twisted
    pair 0 or 1. is_sphere: the top edge is joined to the left one, the right one to the bottom.

    str() is Golly's text, as T30+5,20. Raises TopologyError for what is no surface of these.
    """

    width: int
    height: int
    twist: tuple[bool, bool] = (False, False)
    shift: tuple[int, int] = (0, 0)
    is_sphere: bool = False

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1:
            raise TopologyError(f"a {self.name} has bounds both ways: no size of it is 0")
        if any(self.shift) and (self.is_sphere or all(self.twist)):
            raise TopologyError(f"a {self.name} has no shift")
        if self.is_sphere and self.width != self.height:
            raise TopologyError(f"a sphere is as high as wide, not {self.width}x{self.height}")
        if all(self.shift):
            raise TopologyError("one pair of edges is shifted, not both")
        if any(s and not t for s, t in zip(self.shift, self.twist, strict=True)) and any(
            self.twist
        ):
            raise TopologyError("the edges of a Klein bottle that are shifted are the twisted ones")

    @property
    def name(self) -> str:
        """Return what people call it."""
        if self.is_sphere:
            return "sphere"
        return ("shifted torus", "Klein bottle", "cross-surface")[sum(self.twist)]

    def __str__(self) -> str:
        if self.is_sphere:
            return f"S{self.width}"
        marks = ["*" if twist else "" for twist in self.twist] if self.letter == "K" else ["", ""]
        shifts = [f"{shift:+d}" if shift else "" for shift in self.shift]
        sides = [
            f"{side}{mark}{shift}"
            for side, mark, shift in zip((self.width, self.height), marks, shifts, strict=True)
        ]
        return self.letter + ",".join(sides)

    @property
    def letter(self) -> str:
        """Return the letter by which Golly names it."""
        return "S" if self.is_sphere else "TKC"[sum(self.twist)]

    def transposed(self) -> JoinedEdges:
        """Return edges that are joined in the same way, of a universe with rows for columns."""
        return JoinedEdges(
            self.height, self.width, self.twist[::-1], self.shift[::-1], self.is_sphere
        )

    def resized(self, size: Size) -> Edges:
        """Return edges that are joined in the same way, of a universe of another size."""
        if size == (self.width, self.height):
            return self
        return joined(replace(self, width=size[0], height=size[1]))


Edges: TypeAlias = Topology | JoinedEdges


def joined(edges: JoinedEdges) -> Edges:
    """Return edges with the least shift that is the same, Topology.TORUS where they are a torus's.

    As in Golly, a shift keeps its sign. Of a twisted pair all shifts are one, and none where the
    number of cells is odd: the surface is the same.
    """
    sides = edges.width, edges.height
    if any(edges.twist):
        shifts = (
            int(bool(s) and side % 2 == 0) for s, side in zip(edges.shift, sides, strict=True)
        )
    else:
        pairs = zip(edges.shift, sides, strict=True)
        shifts = (abs(s) % side * (-1 if s < 0 else 1) for s, side in pairs)
    edges = replace(edges, shift=(next(shifts), next(shifts)))
    return edges if edges.is_sphere or any(edges.twist + edges.shift) else Topology.TORUS


def parse_bounds(text: str) -> tuple[Edges, Size]:
    """Read the bounds of a universe as they stand in Golly's rules behind the colon.

    T30,20 is a torus, P30,20 a plane, K a Klein bottle, C a cross-surface, S30 a sphere; one
    number is both sides; 0 is an axis without bounds, of T and P only. T30+5,20 shifts the
    horizontal edges, T30,20-2 the vertical ones. K30*,20 twists the horizontal edges, K30,20*
    or K30,20 the vertical ones; K30*+1,20 also shifts them. Raises TopologyError.
    """
    match = _BOUNDS.fullmatch(text)
    if match is None:
        raise TopologyError(f"{_shown(text)} are no bounds: write T30,20 P30,20 K30*,20 C30,20 S30")
    letter, width = match[1].upper(), int(match[2])
    size = width, width if match[5] is None else int(match[5])
    twist = bool(match[3]), bool(match[6])
    shift = int(match[4] or 0), int(match[7] or 0)
    if letter == "S" and match[5] is not None:
        raise TopologyError(f"{_shown(text)}: a sphere has one number, as S30")
    if letter != "K" and any(twist):
        raise TopologyError(f"{_shown(text)}: only a Klein bottle says which edges are twisted")
    try:
        if letter == "P":
            if any(shift):
                raise TopologyError("a plane has no shift")
            return Topology.PLANE, size
        if letter == "T" and not all(size):
            if any(shift):
                raise TopologyError("a torus that is shifted has bounds both ways")
            return Topology.TORUS, size
        if letter == "K":
            if all(twist):
                raise TopologyError("of a Klein bottle one pair of edges is twisted, not both")
            twist = twist if any(twist) else (False, True)
        elif letter == "C":
            twist = True, True
        return joined(JoinedEdges(*size, twist, shift, letter == "S")), size
    except TopologyError as error:
        raise TopologyError(f"{_shown(text)}: {error}") from None


def bounds_text(edges: Edges, size: Size) -> str:
    """Return bounds as parse_bounds() reads them."""
    if isinstance(edges, JoinedEdges):
        return str(edges)
    return f"{'T' if edges is Topology.TORUS else 'P'}{size[0]},{size[1]}"


def topology_of(asked: Edges | str, size: Size | None, otherwise: Size) -> tuple[Edges, Size]:
    """Return how edges meet, and the size of the universe.

    asked: what somebody says: a topology, its name, or Golly's bounds in one word. size: that
    they say beside it. otherwise: the size where they say none. Raises TopologyError.
    """
    if isinstance(asked, JoinedEdges):
        size = size or (asked.width, asked.height)
        return asked.resized(size), size
    if isinstance(asked, Topology) or asked in list(Topology):
        return Topology(asked), size or otherwise
    if asked == "unbounded":
        if size is not None and any(size):
            raise TopologyError("a plane without bounds has no size: leave it out")
        return Topology.PLANE, (0, 0)
    if asked in _NAMED:
        size = size or otherwise
        if not all(size):
            raise TopologyError(f"a {_NAMED[asked].name} has a size: --size says which")
        return joined(replace(_NAMED[asked], width=size[0], height=size[1])), size
    edges, own = _parse_word(asked)
    if size is not None and size != own:
        raise TopologyError(f"{asked} says its size, which is not {size[0]}x{size[1]}")
    return edges, own


def check_topology(text: str) -> None:
    """Raise TopologyError for a text that topology_of() knows with no size whatever."""
    if text not in (*Topology, "unbounded", *_NAMED):
        _parse_word(text)


def described(edges: Edges) -> str:
    """Return what people call a topology, and where that does not say all, Golly's text for it."""
    return f"{edges.name} {edges}" if isinstance(edges, JoinedEdges) else str(edges)


def torus_or_plane(edges: Edges, what: str) -> Topology:
    """Return edges that are a torus's or a plane's. what: where there are no others. Raises
    TopologyError, which says so."""
    if isinstance(edges, JoinedEdges):
        raise TopologyError(f"{what} is a torus or a plane, not a {edges.name}")
    return edges


def _parse_word(text: str) -> tuple[Edges, Size]:
    if not _BOUNDS.match(text):
        raise TopologyError(f"{_shown(text)} is no topology: known are {KNOWN} ...")
    return parse_bounds(text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


_NAMED = {
    "klein": JoinedEdges(1, 1, twist=(True, False)),
    "cross-surface": JoinedEdges(1, 1, twist=(True, True)),
    "sphere": JoinedEdges(1, 1, is_sphere=True),
}
