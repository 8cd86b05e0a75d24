"""The rows of the table of record for Life, as Markdown and as JSON: for benchmarks/life.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.life_model import (
    CONWAY_OPERATIONS,
    LOP3_MULTIPROCESSORS,
    LOP3_RATE,
    MOVES,
    TABLE_OPERATIONS,
    PassCost,
    SoupCase,
    cuda_limit,
)
from lifesim.rule import LIFE


@dataclass(frozen=True, slots=True)
class Row:
    """rate, tile: cell updates per second. of_limit: share of the device's limit."""

    case: SoupCase
    problem: str = ""
    rate: float = 0.0
    median: float = 0.0
    tile: float | None = None
    ratio: float | None = None
    of_limit: float | None = None
    cost: PassCost | None = None

    @property
    def bandwidth(self) -> float:
        """Bytes per second to and from memory."""
        if self.cost is None:
            return 0.0
        return (
            self.cost.traffic * self.rate / (self.case.width * self.case.height * self.cost.steps)
        )


@dataclass(frozen=True, slots=True)
class Threads:
    """Rates on all cores beside those on one, of one run, and the tile loop's likewise."""

    case: SoupCase
    threads: int
    one: float
    all: float
    ratio: float
    tile_one: float | None = None
    tile_all: float | None = None
    tile_ratio: float | None = None


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """`lifesim run` in a process of its own. whole: its rate with start-up and soup."""

    case: SoupCase
    steps: int
    rate: float
    whole: float
    tile: float | None
    ratio: float | None


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main_table(rows: Sequence[Row], cuda: bool) -> str:
    unit, size = ("10¹²/s", 1e12) if cuda else ("10⁹/s", 1e9)
    beside = ["of the limit"] if cuda else [f"tile loop, {unit}", "ratio"]
    head = ["universe", unit, "median", *beside, "generations a pass", "useful", "memory, GB/s"]

    def line(row: Row) -> list[str]:
        if row.problem:
            return [str(row.case), row.problem, *("" for _ in head[2:])]
        tile = [number(row.tile, size), number(row.ratio)]
        compared = [percent(row.of_limit)] if cuda else tile
        cost = row.cost
        planned = [str(cost.steps), percent(cost.useful)] if cost else ["–", "–"]
        rates = [number(row.rate, size), number(row.median, size)]
        return [str(row.case), *rates, *compared, *planned, number(row.bandwidth, 1e9)]

    return table(head, [line(row) for row in rows])


def number(value: float | None, size: float = 1.0) -> str:
    return "–" if value is None else f"{value / size:.3g}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def limit_text(count: int) -> str:
    """Return how the limit of a device with so many multiprocessors comes about."""
    limits = ", ".join(
        f"{cuda_limit(count, words, LIFE) / 1e12:.1f} ×10¹² with {words}" for words in (3, 4)
    )
    return (
        f"The limit: {LOP3_RATE / 1e12:g} ×10¹² lane-operations/s × {count} / "
        f"{LOP3_MULTIPROCESSORS} multiprocessors × 32 cells / ({CONWAY_OPERATIONS} + {MOVES} / "
        f"words a lane), {TABLE_OPERATIONS} for {CONWAY_OPERATIONS} with other rules: for "
        f"B3/S23 {limits} words."
    )


def thread_table(results: Sequence[Threads]) -> str:
    head = ["universe", "1 thread, 10⁹/s", "all", "ratio", "tile loop, 1", "all", "ratio"]

    def line(t: Threads) -> list[str]:
        tiles = [number(t.tile_one, 1e9), number(t.tile_all, 1e9), number(t.tile_ratio)]
        return [str(t.case), number(t.one, 1e9), number(t.all, 1e9), number(t.ratio), *tiles]

    return table(head, [line(t) for t in results])


def end_table(results: Sequence[EndToEnd]) -> str:
    head = ["lifesim run", "generations", "10⁹/s", "tile loop", "ratio", "whole process, 10⁹/s"]

    def line(e: EndToEnd) -> list[str]:
        rates = [number(e.rate, 1e9), number(e.tile, 1e9), number(e.ratio), number(e.whole, 1e9)]
        return [str(e.case), str(e.steps), *rates]

    return table(head, [line(e) for e in results])


def row_facts(row: Row) -> dict[str, object]:
    case = row.case
    facts: dict[str, object] = {"width": case.width, "height": case.height}
    facts |= {"topology": str(case.topology), "rule": str(case.rule)}
    if row.problem:
        return facts | {"problem": row.problem}
    facts |= {"rate": row.rate, "median": row.median, "tile_loop": row.tile, "ratio": row.ratio}
    facts |= {"of_limit": row.of_limit, "bytes_per_second": row.bandwidth}
    if row.cost:
        facts |= {"generations_a_pass": row.cost.steps, "useful": row.cost.useful}
    return facts
