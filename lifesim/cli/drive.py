"""Running a universe on behalf of a person: progress, Ctrl-C, and outputs that survive both."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import click

from arith.cli.stopping import Stop
from arith.cluster import ClusterError
from kernels.backend import Backend
from kernels.choose import explain
from kernels.several import SeveralDevices
from lifesim.engine import Life, Progress
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.outputs import Output
from lifesim.start import Start
from lifesim.stream.run import StreamedLife


@dataclass(slots=True)
class Outcome:
    """written: paths; errors: one line each; exit_code: of the whole command."""

    interrupted: bool = False
    written: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    exit_code: int = 0

    def add(self, error: LifesimError | ClusterError | MemoryError) -> None:
        line = f"out of memory: {error}".rstrip(": ") if isinstance(error, MemoryError) else ""
        line = line or str(error)
        if line not in self.errors:
            self.errors.append(line)
        if self.exit_code != DamagedDataError.exit_code:  # the worst of all
            self.exit_code = getattr(error, "exit_code", 2)


def busy(what: str, show: bool = True) -> AbstractContextManager[object]:
    """Says so, on a terminal, while the block takes its time."""
    if not (show and sys.stderr.isatty()):
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def pick_devices(backend: str, devices: Sequence[int], threads: int | None) -> list[Backend]:
    """A backend for each device."""
    runner = _pick(backend, devices, threads)
    return list(runner.backends) if isinstance(runner, SeveralDevices) else [runner]


def _pick(backend: str, devices: Sequence[int], threads: int | None) -> Backend:
    """Says where it is a slow one that nobody asked for."""
    runner, passed_over = explain(backend, device=devices, threads=threads)
    if runner.name == "reference" and passed_over:
        # The last one is of the CPU backend, and says how to get it.
        reason = passed_over[-1].partition(": ")[2]
        click.echo(f"lifesim: running on the slow reference backend: {reason}", err=True)
    return runner


def begin(
    start: Start, backend: str, devices: Sequence[int], threads: int | None, quiet: bool
) -> Life:
    """The universe in its backend; says what the person should know of either."""
    runner = _pick(backend, devices, threads)
    if start.note and not quiet:
        click.echo(f"lifesim: {start.note}", err=True)
    return Life(
        start.grid,
        rule=start.rule,
        topology=start.topology,
        generation=start.generation,
        backend=runner,
    )


def drive(
    life: Life | StreamedLife,
    steps: int | None,
    outputs: Sequence[Output],
    *,
    every: int | None,
    show: bool,
) -> Outcome:
    """Run for `steps`, and let the outputs write, with snapshots where `every` is given.

    steps: None finishes the run of a universe on disk that was broken off. The first
    Ctrl-C, or what goes wrong, ends the run; then every output still writes what it can:
    of a universe on disk that is between two generations, the snapshots so far. Ctrl-C while
    they do so gives up what is not yet written. Raises LifesimError, before the run, for
    outputs that cannot be.
    """
    for output in outputs:
        output.check(life.width, life.height)

    def snapshot(now: Life | StreamedLife) -> None:
        for output in outputs:
            output.add(now)

    outcome = Outcome()
    with Stop() as stop:
        try:
            with _Bar() if show else nullcontext() as bar:

                def progress(now: Progress) -> None:
                    if bar is not None:
                        bar.update(now)
                    if stop.asked and now.done < now.total:
                        if bar is not None and isinstance(life, StreamedLife):
                            bar.say("stopping after what is under way (again: at once): ")
                        raise KeyboardInterrupt

                try:
                    if every is not None and _begins_on_snapshot(life, steps, every):
                        snapshot(life)
                    if isinstance(life, Life):
                        assert steps is not None
                        life.run(steps, every=every, progress=progress, on_snapshot=snapshot)
                    elif steps is None:
                        life.resume(every=every, progress=progress, on_snapshot=snapshot)
                    else:
                        life.run(steps, every=every, progress=progress, on_snapshot=snapshot)
                except KeyboardInterrupt:
                    outcome.interrupted = True
                except (LifesimError, ClusterError, MemoryError) as error:
                    outcome.add(error)
            if outcome.interrupted:
                outcome.exit_code = 130
                click.echo(f"lifesim: interrupted {_left_off(life, outputs)}", err=True)
            for output in outputs:
                try:
                    with busy(f"writing {output.path}", show):
                        if _is_whole(life):
                            output.close(life)
                        else:
                            output.cut()
                except (LifesimError, MemoryError) as error:
                    outcome.add(error)
                outcome.written += output.written
        finally:
            for output in outputs:
                output.abort()
    return outcome


def _begins_on_snapshot(life: Life | StreamedLife, steps: int | None, every: int) -> bool:
    """Whether a run that is taken up again is where one that nothing broke off has a snapshot."""
    if isinstance(life, Life):
        return True
    run = life.universe.manifest.run
    if run is None or steps not in (None, run[1] - run[0]):
        return life.universe.is_whole
    return life.universe.is_whole and (life.generation - run[0]) % every == 0


def _is_whole(life: Life | StreamedLife) -> bool:
    return isinstance(life, Life) or life.universe.is_whole


def _left_off(life: Life | StreamedLife, outputs: Sequence[Output]) -> str:
    """Where a run was interrupted, and how it goes on."""
    text = life.where()
    if isinstance(life, StreamedLife) and (life.universe.phase or life.universe.manifest.run):
        text += f": `lifesim resume {life.universe.path}` goes on"
    if not _is_whole(life):
        text += "".join(f"; no {out.path} yet" for out in outputs if not out.has_snapshots)
    return text


def finish(outcome: Outcome) -> None:
    """Say what went wrong and exit, if anything did."""
    for line in outcome.errors:
        click.echo(f"lifesim: {line}", err=True)
    if outcome.exit_code:
        sys.exit(outcome.exit_code)


def rate_text(rate: float) -> str:
    """Cell updates per second, to three digits, with a unit."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if rate >= size:
            return f"{rate / size:.3g} {unit} cell updates/s"
    return f"{rate:.3g} cell updates/s"


class _Bar:
    """A progress bar on standard error: generation, rate, time left."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}generation {task.fields[generation]:,}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, generation=0, rate="")

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._bar.stop()

    def say(self, what: str) -> None:
        self._bar.update(self._task, description=what)

    def update(self, now: Progress) -> None:
        self._bar.update(
            self._task,
            total=now.total,
            completed=now.done,
            generation=now.generation,
            rate=rate_text(now.rate),
        )
