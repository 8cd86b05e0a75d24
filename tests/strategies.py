"""Hypothesis strategies for grids, rules and patterns."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from lifesim.grid import BitGrid
from lifesim.patterns import Pattern
from lifesim.rule import LIFE, Rule
from lifesim.topology import JoinedEdges, Topology, joined

EDGES = [1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129]

sizes = st.one_of(
    st.tuples(st.integers(1, 20), st.integers(1, 20)),
    st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES)),
    st.tuples(st.just(1), st.integers(1, 200)),
    st.tuples(st.integers(1, 200), st.just(1)),
)
rules = st.one_of(
    st.just(LIFE),
    st.builds(Rule.life_like_of, birth=st.integers(0, 511), survival=st.integers(0, 511)),
)
lines_of_text = st.text(
    st.characters(categories=["L", "N", "P", "Zs"], exclude_characters=":"), max_size=30
).map(lambda text: " ".join(text.split()))


@st.composite
def grids(draw: st.DrawFn) -> BitGrid:
    """Grids of awkward sizes: empty, full, sparse, dense or striped."""
    width, height = draw(sizes)
    seed, kind = draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 5))
    noise = np.random.default_rng(seed).random((height, width))
    if kind == 5:
        return BitGrid.from_bool(np.cumsum(noise < 0.05, axis=1) & 1)
    return BitGrid.from_bool(noise < [0.0, 0.02, 0.3, 0.5, 1.1][kind])


@st.composite
def joined_edges(draw: st.DrawFn, lengths: st.SearchStrategy[int]) -> JoinedEdges:
    """Edges that are joined otherwise than a torus's, of a universe whose sides have such
    lengths."""
    width, height = draw(lengths), draw(lengths)
    kind = draw(st.sampled_from("TKCS"))
    if kind == "S":
        return JoinedEdges(width, width, is_sphere=True)
    if kind == "C":
        return JoinedEdges(width, height, twist=(True, True))
    shift = draw(st.integers(-2 * max(width, height), 2 * max(width, height)))
    across = draw(st.booleans())
    edges = joined(
        JoinedEdges(
            width,
            height,
            twist=(kind == "K" and across, kind == "K" and not across),
            shift=(shift, 0) if across else (0, shift),
        )
    )
    assume(isinstance(edges, JoinedEdges))
    assert isinstance(edges, JoinedEdges)
    return edges


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """Patterns with everything a file can say; bounds only together with a rule."""
    where = st.one_of(st.integers(-100, 100), st.integers(-(10**15), 10**15))
    rule = draw(st.none() | rules)
    topology, size = None, None
    if rule is not None and draw(st.booleans()):
        topology = draw(st.sampled_from(Topology) | joined_edges(st.integers(1, 300)))
        size = draw(st.tuples(st.integers(0, 300), st.integers(0, 300)))
        if isinstance(topology, JoinedEdges):
            size = topology.width, topology.height
    return Pattern(
        draw(grids()),
        draw(where),
        draw(where),
        rule,
        topology,
        size,
        draw(st.one_of(st.just(0), st.integers(0, 10**40))),
        draw(lines_of_text),
        tuple(draw(st.lists(lines_of_text, max_size=3))),
    )


_HURTING = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**32, 2**63 - 1, 2**63, 2**64 - 1]


@st.composite
def integers_that_hurt(draw: st.DrawFn, max_bits: int = 1280) -> int:
    """Draw of either sign: random, all ones, single bits, 2^k +- 1, long carries, few words."""
    kind, bits = draw(st.integers(0, 5)), draw(st.integers(0, max_bits))
    if kind == 0:
        value = draw(st.sampled_from(_HURTING))
    elif kind == 1:
        value = (1 << bits) - 1
    elif kind == 2:
        value = 1 << bits
    elif kind == 3:
        value = (1 << bits) + 1
    elif kind == 4:  # words that are all ones or zeros
        value = 0
        for _ in range(-(-bits // 64)):
            value = value << 64 | draw(st.sampled_from([0, 1, 2**32 - 1, 2**63, 2**64 - 1]))
    else:
        value = draw(st.integers(0, (1 << bits) - 1)) if bits else 0
    return -value if draw(st.booleans()) else value
