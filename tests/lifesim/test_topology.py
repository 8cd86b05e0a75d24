"""Topologies by their names and by Golly's texts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesim import patterns
from lifesim.topology import (
    JoinedEdges,
    Topology,
    TopologyError,
    bounds_text,
    check_topology,
    described,
    joined,
    parse_bounds,
    topology_of,
    torus_or_plane,
)
from tests.strategies import joined_edges

BGOLLY = shutil.which("bgolly")
# What Golly 3.3 makes of a text, None where it refuses it.
TEXTS = {
    "T30": "T30,30",
    "t30,20": "T30,20",
    "T030,020": "T30,20",
    "T30,0": "T30,0",
    "P0,20": "P0,20",
    "T30+5,20": "T30+5,20",
    "T30+5": "T30+5,30",
    "T30+35,20": "T30+5,20",
    "T30-35,20": "T30-5,20",
    "T30+30,20": "T30,20",
    "T30+0,20": "T30,20",
    "T30,20-2": "T30,20-2",
    "T30,20+25": "T30,20+5",
    "T1+1,1": "T1,1",
    "K30,20": "K30,20*",
    "K30": "K30,30*",
    "K30*": "K30*,30",
    "k30*,20": "K30*,20",
    "K30*+1,20": "K30*+1,20",
    "K30*+2,20": "K30*+1,20",
    "K30*-2,20": "K30*+1,20",
    "K30*+0,20": "K30*,20",
    "K31*+1,20": "K31*,20",
    "K30,20*-3": "K30,20*+1",
    "K30,21*+1": "K30,21*",
    "C30,20": "C30,20",
    "C30": "C30,30",
    "S30": "S30",
    "T30+5,20+2": None,
    "T30+5,0": None,
    "T0,20+1": None,
    "T30*,20": None,
    "P30+5,20": None,
    "K30*,20*": None,
    "K30*,20+1": None,
    "K30+1,20*": None,
    "K0*,20": None,
    "K30*,0": None,
    "C30,0": None,
    "C30+1,20": None,
    "S0": None,
    "S30,30": None,
    "S30+1": None,
    "X30,20": None,
    "T30x20": None,
    "T30,20,10": None,
    "T30+5+5,20": None,
}


@pytest.mark.parametrize(("text", "same"), TEXTS.items())
def test_bounds_are_read_as_golly_reads_them(text: str, same: str | None) -> None:
    if same is None:
        with pytest.raises(TopologyError) as caught:
            parse_bounds(text)
        assert text in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    edges, size = parse_bounds(text)
    assert bounds_text(edges, size) == same
    assert parse_bounds(same) == (edges, size)


@pytest.mark.skipif(BGOLLY is None, reason="bgolly is not installed")
def test_golly_reads_them_so(tmp_path: Path) -> None:
    for text, same in TEXTS.items():
        file, out = tmp_path / "a.rle", tmp_path / "out.rle"
        file.write_text(f"x = 1, y = 1, rule = B3/S23:{text}\no!\n")
        out.unlink(missing_ok=True)
        command = [str(BGOLLY), "-q", "-q", "-m", "0", "-o", str(out), str(file)]
        subprocess.run(command, capture_output=True, timeout=60, check=False)
        written = out.read_text().splitlines()[0].rpartition(":")[2] if out.exists() else None
        assert written == same, text
        if same is not None:
            read = patterns.read(out)
            assert (read.topology, read.size) == parse_bounds(text)


def test_huge_numbers() -> None:
    edges, size = parse_bounds("T100000000000000003+99999999999999999,7")
    assert (str(edges), size[0]) == ("T100000000000000003+99999999999999999,7", 10**17 + 3)
    with pytest.raises(TopologyError, match="are no bounds"):
        parse_bounds("T" + "9" * 40)


@given(joined_edges(st.integers(1, 40)))
def test_texts_say_all(edges: JoinedEdges) -> None:
    size = edges.width, edges.height
    assert parse_bounds(str(edges)) == (edges, size)
    assert topology_of(str(edges), None, (0, 0)) == (edges, size)
    assert joined(edges) == edges.resized(size) == edges
    assert edges.transposed().transposed() == edges
    assert described(edges) == f"{edges.name} {edges}"
    check_topology(str(edges))


def test_names() -> None:
    size = 30, 20
    named = {
        "torus": Topology.TORUS,
        "plane": Topology.PLANE,
        "klein": JoinedEdges(*size, twist=(True, False)),
        "cross-surface": JoinedEdges(*size, twist=(True, True)),
        "T30+5,20": JoinedEdges(*size, shift=(5, 0)),
        "P30,20": Topology.PLANE,
    }
    for name, edges in named.items():
        check_topology(name)
        assert topology_of(name, None, size) == (edges, size)
        assert topology_of(name, size, (7, 7)) == (edges, size)
    assert topology_of("unbounded", None, size) == (Topology.PLANE, (0, 0))
    assert topology_of("sphere", (7, 7), size) == (JoinedEdges(7, 7, is_sphere=True), (7, 7))
    assert topology_of(JoinedEdges(9, 9, shift=(0, 5)), (9, 4), size)[0] == JoinedEdges(
        9, 4, shift=(0, 1)
    )
    assert topology_of(JoinedEdges(9, 9, shift=(0, 5)), (9, 5), size)[0] is Topology.TORUS
    for wrong in ["", "Torus", "K", "T30+5,20+5", "sphere30", "disc", "\n"]:
        with pytest.raises(TopologyError):
            check_topology(wrong)


def test_where_only_tori_and_planes_are() -> None:
    assert torus_or_plane(Topology.PLANE, "a page") is Topology.PLANE
    with pytest.raises(TopologyError, match="a page is a torus or a plane, not a Klein bottle"):
        torus_or_plane(JoinedEdges(3, 3, twist=(True, False)), "a page")
