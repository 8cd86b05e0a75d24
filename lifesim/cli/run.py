"""lifesim run: the main job."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import click

from lifesim import patterns
from lifesim.cli.choices import RunChoices, running_options
from lifesim.cli.drive import begin, busy, drive, finish
from lifesim.cli.named import PatternFile
from lifesim.cli.options import (
    Density,
    Generations,
    Position,
    universe_options,
)
from lifesim.cli.report import note_oddities, report
from lifesim.cli.streamed import (
    Beginning,
    exceeds_memory,
    holds_run,
    made_universe,
    origin_of,
    steps_to,
    universe_of,
    usual_name,
)
from lifesim.engine import Life
from lifesim.growing import check_space
from lifesim.outputs import Output
from lifesim.patterns import Pattern
from lifesim.pauses import MOST_HASHED
from lifesim.soup import Soup
from lifesim.start import Placement, held_size, placement, soup_placement, start_of
from lifesim.store.universe import Universe
from lifesim.stream.executor import PhaseExecutor
from lifesim.stream.run import StreamedLife
from lifesim.topology import Topology, torus_or_plane
from lifesim.unbounded import ENGINES


@click.command("run")
@click.argument("pattern", required=False, type=PatternFile())
@click.option(
    "--steps",
    type=Generations(most=MOST_HASHED),
    help="Generations: 1000, 64K, 2^20. With --until, the most that are made. [with it no limit]",
)
@click.option(
    "--until",
    metavar="CONDITION",
    help="Stop in the first generation for which it holds: stable, empty, period:N, or "
    "'population:>1000' (also >=, <, <=, = and !=).",
)
@universe_options
@click.option("--random", "density", type=Density(), help="Density of the random soup. [0.5]")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of the soup. [1]")
@click.option("--at", type=Position(), help="Where the pattern's top-left cell goes.")
@click.option("--center", is_flag=True, help="Put the pattern in the middle.")
@click.option(
    "-o",
    "--out",
    "outs",
    multiple=True,
    help="Write the result: a pattern (.rle, .mc, .cells, .lif, also .gz), a picture (.png), "
    "an animation (.gif, .mp4), a series of populations (.csv), a universe directory (no "
    "extension). May be given several times.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    help="How a plane without bounds is kept: dense, a rectangle that grows; tiles, computed where "
    "something changes, on the CPU or one GPU; hashlife, a tree that shares what is equal, on the "
    "CPU. auto: whichever is quickest, found out on the way. [auto]",
)
@running_options
def command(**options: Any) -> None:
    """Run PATTERN (a file, a name of `lifesim patterns`, or - for standard input) for --steps
    generations, or --until CONDITION.

    Without PATTERN the universe starts as a random soup; by a rule of several states its density is
    the share of cells that are not dead, which are in each other state alike. A pattern lies on a
    plane without bounds, unless its file says otherwise, or on one of --size, whose outside is
    dead; --topology joins the edges, to a torus or one of Golly's other bounded grids. Where live
    cells meet an edge that was asked for, this is said, with the generation (`edge` of --json;
    null for soups, which fill all there is). Ctrl-C writes what --out asks for, says where it
    stopped and exits with 130.

    --until stable finds since when the pattern repeats itself, flies apart into parts that do, or
    grows by as much each period, and stops there; it says the period, and whether all this is
    proved or was only seen. To know, it looks about twice as far ahead. --until period:N: since
    when all of it is the same, moved or not, N generations later. --until population looks at
    each generation, which is slower. Where a condition does not come true within --steps, this is
    said (`until` of --json), and the exit code is 0. Snapshots (--every) are made in a second run,
    when it is known where to stop.

    A universe on disk keeps its last generation only, so --until looks at it every 60 generations,
    or every --phase, and stops where the condition is true in one of these (`every` of --json).
    stable and period:N are then about all cells at their places, which is told by digests.

    PATTERN may be a universe directory, which then moves on by so many generations where
    it lies; the same command again finishes a run that was broken off. A universe that
    needs more than --memory, or grows so, is run so too, in the directory that --out names, or one
    named after what it starts from. So is one that a --cluster computes: its workers reach
    the directory by the same path.
    """
    choices = RunChoices(**options)
    choices.check()
    with ExitStack() as held:
        run = _LifeRun(choices, held)
        life = run.goes_on() if choices.is_of_directory else run.begins()
        run.span = life.generation, life.generation + (choices.steps or 0)
        show = choices.shows_progress
        grows = choices.engine in ("auto", "dense") and not choices.until
        outgrow = run.outgrow if grows else None
        outcome = drive(
            life, run.left, run.outputs, show=show, outgrow=outgrow, until=choices.condition
        )
        to_stderr = "-" in choices.outs
        report(
            outcome,
            as_json=choices.as_json,
            notes=run.notes,
            quiet=choices.quiet,
            to_stderr=to_stderr,
            pattern=choices.pattern,
        )
    finish(outcome)


class _LifeRun:
    """A run from what it starts from, in memory or on disk, to its outputs.

    held: what is to be closed when it is over. span: the first and last generation.
    left: generations to come, None to finish a run on disk that was broken off.
    """

    def __init__(self, choices: RunChoices, held: ExitStack) -> None:
        self._choices, self._held = choices, held
        self.outputs: list[Output] = []
        self.notes: Sequence[str] = ()
        self.left: int | None = choices.steps
        self.span = 0, choices.steps or 0

    def goes_on(self) -> StreamedLife:
        """Open the universe directory that is to be moved on."""
        choices = self._choices
        assert choices.pattern is not None
        universe = self._held.enter_context(Universe.open(choices.pattern, writing=True))
        self.outputs = choices.open_outputs(inputs=choices.inputs)
        return self._streamed(universe, self._executor())

    def begins(self) -> Life | StreamedLife:
        """Make the universe of the pattern or soup, or take up a run of it on disk."""
        choices = self._choices
        source = self._source()
        self._placed = placed = self._placement(source)
        choices.check_steps(not any(placed.size))
        self._origin = origin = origin_of(source, placed, choices.pattern)
        named = choices.directories
        self._path = named[0] if named else usual_name(source, placed, choices.pattern)
        on_disk = self._is_on_disk(source)
        if on_disk or named:
            torus_or_plane(placed.topology, f"{self._path}: a universe on disk")
        if not on_disk and (choices.phase or choices.keep_previous):
            raise click.UsageError("--phase and --keep-previous are for universes on disk")
        self.outputs = choices.open_outputs(origin, choices.inputs, named if on_disk else ())
        for output in self.outputs:  # before a universe is made for nothing
            output.check(*placed.size, placed.rule.planes)
        if on_disk:
            return self._begins_on_disk(source)
        with busy("placing the cells", not choices.quiet):
            start = start_of(source, placed)
        watch = isinstance(source, Pattern)
        del source
        return begin(
            start,
            choices.backend,
            choices.devices,
            choices.threads,
            watch=watch,
            memory=choices.memory,
            engine=choices.engine,
        )

    def outgrow(self, life: Life) -> StreamedLife:
        """Put on disk what memory holds no longer."""
        choices, executor = self._choices, self._executor()
        named = choices.directories
        self.outputs[:] = [output for output in self.outputs if output.path not in named]
        if not choices.quiet:
            click.echo(f"lifesim: goes to disk {life.where()}", err=True)
        show = choices.shows_progress
        made = universe_of(life, self._path, self._placed, self._origin, executor, self.span, show)
        return self._streamed(self._held.enter_context(made), executor)

    def _source(self) -> Pattern | Soup:
        choices = self._choices
        if choices.pattern is None:
            return choices.soup
        with busy(f"reading {choices.pattern}", not choices.quiet):
            pattern = patterns.read(choices.pattern, as_squares=choices.takes_squares)
        self.notes = pattern.notes
        if not choices.quiet:
            note_oddities(pattern, choices.pattern)
        return pattern

    def _placement(self, source: Pattern | Soup) -> Placement:
        choices = self._choices
        size, rule, topology = choices.size, choices.chosen_rule, choices.chosen_topology
        if isinstance(source, Soup):
            return soup_placement(size, rule, topology)
        centre, steps = choices.center, choices.steps
        placed = placement(source, size, choices.at, rule, topology, centre=centre, steps=steps)
        torus = placed.topology is Topology.TORUS
        check_space(placed.rule, placed.size, *choices.everies, torus=torus)
        return placed

    def _is_on_disk(self, source: Pattern | Soup) -> bool:
        """Tell whether a universe is computed on disk: by a cluster, as memory does not hold it,
        or as a run of it that outgrew memory was broken off."""
        choices, placed = self._choices, self._placed
        if choices.engine in ("tiles", "hashlife"):
            return False
        size, planes = held_size(source, placed), placed.rule.planes
        if choices.cluster is not None or exceeds_memory(size, choices.memory, planes):
            return True
        if choices.steps is None or choices.until:
            return False
        stop = source.generation + choices.steps
        return not placed.is_bounded and holds_run(self._path, placed, self._origin, stop)

    def _begins_on_disk(self, source: Pattern | Soup) -> StreamedLife:
        choices, executor = self._choices, self._executor()
        beginning = Beginning(source, self._placed, self._origin, choices.steps or 0)
        universe = self._held.enter_context(
            made_universe(
                self._path, beginning, show=choices.shows_progress, budget=executor.check_budget
            )
        )
        self.left = steps_to(universe, source.generation, choices.steps, choices.quiet)
        if choices.until and choices.steps is not None:  # whatever run was broken off
            self.left = source.generation + choices.steps - universe.generation
        return self._streamed(universe, executor)

    def _executor(self) -> PhaseExecutor:
        return self._held.enter_context(self._choices.executor())

    def _streamed(self, universe: Universe, executor: PhaseExecutor) -> StreamedLife:
        choices = self._choices
        return StreamedLife(
            universe, executor, generations=choices.phase, keep_previous=choices.keep_previous
        )
