"""Costs of parsing, measured on one machine (anew: `python -m benchmarks.costs parsing gpu`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostCosts:
    """Costs of the ways in which the compiled parser multiplies; only ratios matter.

    pair: one of the pairs (A, B) that are in rules, where each of all pairs of a matrix costs 1.
    few: pairs up to which there is no matrix, however many could be.
    entry: an entry of a list, beside 1 for each of its C's.
    table_word: a word of a table of ORs, where a C that is looked up there costs 1.
    """

    pair: float
    few: int
    entry: float
    table_word: float


HOST_COSTS = HostCosts(pair=2.0, few=8, entry=6.5, table_word=3.0)  # of a Xeon with AVX-512


@dataclass(frozen=True, slots=True)
class ChartCosts:
    """Costs of charts on a CUDA device, in clocks of a multiprocessor.

    visit: of sparse.cu, a rule at a split point, for 32 strings of which one may need it.
    step: of sparse.cu, a cell of a group, for each thread of the block.
    tile_split, tile_span: of dense.cu, a tile of pairs for a group of 1024 strings, at each
        split point and once a span.
    scatter_split, scatter_span: of scatter.cu, the same, without what ORs pairs to rows.
    scatter_end: of a span, when all tiles have been computed.
    scatter_rank: 64 pairs to a row each. scatter_entry: one pair that a list names.
    circuit_spans: spans of groups that have taken as much longer without generated code as the
        compiler takes to make it: some 3 s.
    few_tokens: tokens of a part below which its way to the device and back takes longest.
    """

    visit: float
    step: float
    tile_split: float
    tile_span: float
    scatter_split: float
    scatter_span: float
    scatter_end: float
    scatter_rank: float
    scatter_entry: float
    circuit_spans: int
    few_tokens: int


CHART_COSTS = ChartCosts(  # of an H200
    visit=1.0,
    step=1.5,
    tile_split=50.0,
    tile_span=120.0,
    scatter_split=40.0,
    scatter_span=40.0,
    scatter_end=8000.0,
    scatter_rank=64.0,
    scatter_entry=9.3,
    circuit_spans=1 << 28,
    few_tokens=1 << 22,
)


@dataclass(frozen=True, slots=True)
class PartCosts:
    """Costs of handing a part of a batch to one of several devices.

    token: of each token of a string, its way to the engine, as split points.
    worth: split points times rules that a device does while it is handed a part.
    """

    token: float
    worth: float


# Of H200s of one host. A part takes some milliseconds, with weights too.
PART_COSTS = PartCosts(token=64.0, worth=6e12)
WEIGHTED_PART_COSTS = PartCosts(token=64.0, worth=2e9)


@dataclass(frozen=True, slots=True)
class LaunchCosts:
    """Costs of launches of weighted.cu. second: products of weights that take about a second."""

    second: float


LAUNCH_COSTS = LaunchCosts(second=1e12)  # of an H200
