"""The choices of a person for a run: the options of `lifesim run` and `lifesim resume`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import click

from bulkbits.options import (
    check_cluster,
    cluster_option,
    force_option,
    json_option,
    many_devices_options,
    quiet_option,
)
from kernels.targets.cpu import levels
from lifesim.cli.options import (
    check_outs,
    check_steps,
    chosen_edges,
    every_option,
    periods,
    streaming_options,
    view_of,
    view_options,
)
from lifesim.cli.streamed import opened_executor
from lifesim.outputs import Output, is_directory_name, open_output
from lifesim.rule import Rule
from lifesim.soup import Soup
from lifesim.stream.executor import PhaseExecutor
from lifesim.until import Condition, parse

_Function = TypeVar("_Function", bound=Callable[..., Any])


def running_options(function: _Function) -> _Function:
    """Add the options of CommonChoices, but --out."""
    for option in (
        quiet_option,
        json_option,
        cluster_option,
        many_devices_options,
        streaming_options,
        view_options,
        every_option,
        force_option,
    ):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonChoices:
    """The options that say what is written, who computes and how it is done on disk.

    The fields are the options of `lifesim resume` by their names; None where one was not given.
    """

    outs: tuple[str, ...]
    force: bool
    everies: tuple[int, ...]
    region: str | None
    scale: str | None
    palette: str | None
    memory: int | None
    phase: int | None
    keep_previous: bool
    backend: str
    devices: tuple[int, ...]
    threads: int | None
    cluster: str | None
    as_json: bool
    quiet: bool

    @property
    def shows_progress(self) -> bool:
        """Tell whether there is a terminal to show progress on, and nobody minds."""
        return not self.quiet and sys.stderr.isatty()

    @property
    def directories(self) -> list[str]:
        """Return the outputs that are universe directories."""
        return [path for path in self.outs if is_directory_name(path)]

    def check(self) -> None:
        """Raise UsageError for options that contradict each other, RenderError for no view."""
        check_cluster(self.cluster, self.devices)
        self._check_outputs()

    def _check_outputs(self) -> None:
        view = (self.region, self.scale, self.palette)
        periods(self.outs, self.everies)
        check_outs(self.outs, as_json=self.as_json, view=view != (None,) * 3)
        self._check_directories()
        view_of(*view)

    def _check_directories(self) -> None:
        pass

    def open_outputs(
        self, origin: str = "", inputs: Sequence[str] = (), leaving: Collection[str] = ()
    ) -> list[Output]:
        """Return the outputs in the order of --out, except those that are in `leaving`.

        Raises LifesimError for one that cannot be written (open_output).
        """
        view = view_of(self.region, self.scale, self.palette)
        return [
            open_output(path, every, view, origin, inputs, self.force)
            for path, every in zip(self.outs, periods(self.outs, self.everies), strict=True)
            if path not in leaving
        ]

    def executor(self) -> AbstractContextManager[PhaseExecutor]:
        """Return who computes a universe on disk (opened_executor)."""
        return opened_executor(
            self.cluster, self.backend, self.devices, self.threads, self.memory, self.quiet
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeChoices(CommonChoices):
    """The options of `lifesim resume`."""

    directory: str

    def _check_directories(self) -> None:
        for path in self.directories:
            raise click.UsageError(f"{self.directory} moves on where it is, not in {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChoices(CommonChoices):
    """The options of `lifesim run`: besides the others' what is run and how far.

    pattern: a file, "-", a universe directory, or None for a soup.
    """

    pattern: str | None
    steps: int | None
    until: str | None
    size: tuple[int, int] | None
    topology: str | None
    rule: str | None
    density: Fraction | None
    seed: int | None
    at: tuple[int, int] | None
    center: bool
    engine: str

    @property
    def inputs(self) -> list[str]:
        """Return the files that are read, which no output may overwrite."""
        return [] if self.pattern is None else [self.pattern]

    @property
    def is_of_directory(self) -> bool:
        """Tell whether it is a universe on disk that is run."""
        return self.pattern is not None and os.path.isdir(self.pattern)

    @property
    def takes_squares(self) -> bool | None:
        """Tell whether a macrocell file is taken as it is, as a list of squares; None: where it is
        too wide for a grid."""
        plain = not (self.at or self.center or self.size or self.topology)
        if not plain or not levels() or self.engine == "dense":
            return False
        if self.engine == "hashlife":
            return True
        return None if self.engine == "tiles" or self.backend in ("auto", "cpu") else False

    @property
    def chosen_rule(self) -> Rule | None:
        """Return --rule without its bounds. Raises RuleError, and UsageError as chosen_edges()."""
        return chosen_edges(self.rule, self.topology)[0]

    @property
    def chosen_topology(self) -> str | None:
        """Return --topology, or the bounds of --rule. Raises as chosen_rule does."""
        return chosen_edges(self.rule, self.topology)[1]

    @property
    def condition(self) -> Condition | None:
        """Return --until. Raises ConditionError."""
        return None if self.until is None else parse(self.until)

    @property
    def soup(self) -> Soup:
        """Return the soup that the universe starts from where there is no pattern."""
        density = Fraction(1, 2) if self.density is None else self.density
        return Soup(density, 1 if self.seed is None else self.seed)

    def check(self) -> None:
        """Raise UsageError for options that contradict each other, RenderError for no view and
        RuleError for no rule."""
        check_cluster(self.cluster, self.devices)
        if self.pattern is None and (self.at or self.center):
            raise click.UsageError("--at and --center place a pattern; there is none")
        if self.pattern is not None and (self.density is not None or self.seed is not None):
            raise click.UsageError("--random and --seed make a soup; a pattern is given")
        if self.at and self.center:
            raise click.UsageError("--at and --center contradict each other")
        if self.steps is None and self.until is None:
            raise click.UsageError("Missing option '--steps' (or '--until').")
        self._check_outputs()
        _ = self.condition  # read now, so that a wrong one is refused before all else
        self._check_engine()
        rule = self.chosen_rule
        if self.is_of_directory:
            if self.size or rule or self.chosen_topology or self.at or self.center:
                raise click.UsageError(
                    f"{self.pattern} is a universe: it has its size, rule and topology"
                )
            for path in self.directories:
                raise click.UsageError(f"{self.pattern} moves on where it is, not in {path}")

    def check_steps(self, is_any: bool) -> None:
        """Raise UsageError for more generations than are made. is_any: whether any number is."""
        check_steps(self.steps or 0, is_any)

    def _check_engine(self) -> None:
        plane = not (self.pattern is None or self.is_of_directory or self.size or self.cluster)
        self.check_steps(self.engine == "hashlife" or (self.engine == "auto" and plane))
        if self.engine in ("auto", "dense"):
            return
        if not plane:
            raise click.UsageError(
                f"--engine {self.engine} runs a pattern on a plane without bounds, in memory"
            )
        if (edges := self.chosen_topology) not in (None, "plane", "unbounded"):
            raise click.UsageError(f"--engine {self.engine} knows no bounds: not {edges}")

    def _check_directories(self) -> None:
        if len(self.directories) > 1:
            raise click.UsageError("two --out name directories")
