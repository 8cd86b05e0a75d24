"""Running a universe on behalf of a person: progress, Ctrl-C, and outputs that survive both."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import click

from bulkbits.cluster import ClusterError
from bulkbits.keeping import keep
from bulkbits.stopping import Stop
from kernels.targets.choose import pick, why_slow
from kernels.targets.contract import Target
from lifesim.engine import Life
from lifesim.errors import DamagedDataError, LifesimError
from lifesim.growing import OutgrownError
from lifesim.outputs import Output
from lifesim.pauses import FOREVER, Progress
from lifesim.start import Start
from lifesim.stream.run import StreamedLife
from lifesim.until import Condition, Found


@dataclass(slots=True)
class RunOutcome:
    """The outcome of a run.

    life: the universe, which may have gone to disk on the way; first: its generation at the
    start; written: paths; errors: one line each; exit_code: of the whole command; found: what a
    run until a condition found.
    """

    life: Life | StreamedLife
    first: int
    interrupted: bool = False
    written: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    exit_code: int = 0
    found: Found | None = None

    def add(self, error: LifesimError | ClusterError | MemoryError) -> None:
        """Note what went wrong: its line, and the exit code, of several the worst."""
        line = f"out of memory: {error}".rstrip(": ") if isinstance(error, MemoryError) else ""
        line = line or str(error)
        if line not in self.errors:
            self.errors.append(line)
        if self.exit_code != DamagedDataError.exit_code:  # the worst of all
            self.exit_code = getattr(error, "exit_code", 2)


def busy(what: str, show: bool = True) -> AbstractContextManager[object]:
    """Say so, on a terminal, while the block takes its time."""
    if not (show and sys.stderr.isatty()):
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def pick_devices(backend: str, devices: Sequence[int], threads: int | None) -> list[Target]:
    """Return a target for each device."""
    runner = _pick(backend, devices, threads)
    return list(runner.members)


def _pick(backend: str, devices: Sequence[int], threads: int | None) -> Target:
    """Return what computes, and say where it is a slow one that nobody asked for."""
    runner = pick(backend, device=devices, threads=threads)
    if runner.is_reference and backend == "auto":
        reason = why_slow(threads=threads)
        click.echo(f"lifesim: running on the slow reference backend: {reason}", err=True)
    return runner


def begin(
    start: Start,
    backend: str,
    devices: Sequence[int],
    threads: int | None,
    *,
    watch: bool,
    memory: int | None = None,
    engine: str = "auto",
) -> Life:
    """Put the universe into its backend. watch, memory, engine: as of Life()."""
    if engine in ("tiles", "hashlife"):
        return Life.from_start(
            start, backend=backend, device=devices, threads=threads, memory=memory, engine=engine
        )
    runner: Target | str = _pick(backend, devices, threads)
    if backend == "cuda":  # said by its name it computes alone
        runner = backend
    return Life.from_start(
        start, watch=watch, backend=runner, device=devices, memory=memory, engine=engine
    )


def drive(
    life: Life | StreamedLife,
    steps: int | None,
    outputs: list[Output],
    *,
    show: bool,
    outgrow: Callable[[Life], StreamedLife] | None = None,
    until: Condition | None = None,
) -> RunOutcome:
    """Run for `steps`, and let the outputs write, with snapshots where they have an `every`.

    until: ends the run sooner, or, where steps is None, only then.

    outgrow: puts a universe that memory holds no longer on disk, where its run goes on.
    steps: None without `until` finishes the run of a universe on disk that was broken off. The
    first Ctrl-C, or what goes wrong, ends the run; then every output still writes what it can:
    of a universe on disk that is between two generations, the snapshots so far. The end of one
    in memory that cannot be written is kept elsewhere, see bulkbits.keeping. Ctrl-C while they
    write gives up what is not yet written. Raises LifesimError, before the run, for
    outputs that cannot be.
    """
    for output in outputs:
        output.check(*life.bounds, life.rule.planes)
    run = _DrivenRun(life, steps, outputs, show, until)
    with Stop() as stop:
        try:
            run.move_on(stop, outgrow)
            run.write()
        finally:
            for output in outputs:
                output.abort()
    return run.outcome


class _DrivenRun:
    """A run and its outputs, whose outcome says what became of them."""

    def __init__(
        self,
        life: Life | StreamedLife,
        steps: int | None,
        outputs: list[Output],
        show: bool,
        until: Condition | None,
    ) -> None:
        self._steps, self._outputs, self._show, self._until = steps, outputs, show, until
        self.outcome = RunOutcome(life, life.generation if until else _first(life, steps))

    def move_on(self, stop: Stop, outgrow: Callable[[Life], StreamedLife] | None) -> None:
        """Run to the end, or until it is stopped or something goes wrong."""
        outcome = self.outcome
        try:
            with _GenerationBar() if self._show else nullcontext() as bar:
                self._run(stop, bar, outgrow)
        except KeyboardInterrupt:
            outcome.interrupted = True
            outcome.exit_code = 130
            if self._until:
                outcome.found = Found(str(self._until), False, outcome.life.generation)
            left_off = _left_off(outcome.life, self._outputs)
            click.echo(f"lifesim: interrupted {left_off}", err=True)
        except (LifesimError, ClusterError, MemoryError) as error:
            outcome.add(error)

    def _run(
        self,
        stop: Stop,
        bar: _GenerationBar | None,
        outgrow: Callable[[Life], StreamedLife] | None,
    ) -> None:
        outcome, steps = self.outcome, self._steps
        every = sorted({output.every for output in self._outputs if output.every})

        def progress(now: Progress) -> None:
            if bar is not None:
                bar.update(now)
            if stop.asked and now.done < now.total:
                if bar is not None and isinstance(outcome.life, StreamedLife):
                    bar.say("stopping after what is under way (again: at once): ")
                raise KeyboardInterrupt

        life = outcome.life
        if every and life.is_whole:
            self._snapshot(life)
        if self._until is not None:
            outcome.found = self._search(life, self._until, every, progress, stop)
            return
        if isinstance(life, StreamedLife) and steps is None:
            life.resume(every=every, progress=progress, on_snapshot=self._snapshot)
            return
        assert steps is not None
        if isinstance(life, StreamedLife):
            life.run(steps, every=every, progress=progress, on_snapshot=self._snapshot)
            return
        try:
            life.run(
                steps,
                every=every,
                progress=progress,
                on_snapshot=self._snapshot,
                stopped=lambda: stop.asked,
            )
            if life.generation < outcome.first + steps:
                raise KeyboardInterrupt
            return
        except OutgrownError:
            if outgrow is None or not life.rule.stays_empty:
                raise
        life = outcome.life = outgrow(life)
        life.resume(every=every, progress=progress, on_snapshot=self._snapshot)

    def _search(
        self,
        life: Life | StreamedLife,
        until: Condition,
        every: Sequence[int],
        progress: Callable[[Progress], None],
        stop: Stop,
    ) -> Found:
        steps, snapshot = self._steps, self._snapshot
        if isinstance(life, StreamedLife):
            return life.run_until(
                until, steps, every=every, progress=progress, on_snapshot=snapshot
            )
        return life.run_until(
            until, steps, every=every, progress=progress, on_snapshot=snapshot,
            stopped=lambda: stop.asked,
        )  # fmt: skip

    def _snapshot(self, now: Life | StreamedLife) -> None:
        passed = now.generation - self.outcome.first
        for output in self._outputs:
            if output.every and passed % output.every == 0:
                output.add(now)

    def write(self) -> None:
        """Have every output write what it can."""
        outcome, life = self.outcome, self.outcome.life
        for output in self._outputs:
            try:
                if isinstance(life, Life) and output.is_of_the_end:
                    _keep(life, output, outcome, self._show)
                else:
                    with busy(f"writing {output.path}", self._show):
                        if life.is_whole:
                            output.close(life)
                        else:
                            output.cut()
            except (LifesimError, MemoryError) as error:
                outcome.add(error)
            outcome.written += output.written


def _keep(life: Life, output: Output, outcome: RunOutcome, show: bool) -> None:
    """Write the end, which only memory has, where the output says or else elsewhere."""

    def save(path: str) -> None:
        with busy(f"writing {path}", show):
            output.save(life, path)

    kept = keep(output.path, save, LifesimError)
    output.written += [kept.path] if kept.path else []
    if kept.error:
        outcome.add(LifesimError(kept.error))


def _first(life: Life | StreamedLife, steps: int | None) -> int:
    """Return the generation at which the run began, from which snapshots are counted, also where
    one that was broken off is taken up again."""
    if isinstance(life, StreamedLife):
        run = life.universe.manifest.run
        if run is not None and steps in (None, run[1] - run[0]):
            return run[0]
    return life.generation


def _left_off(life: Life | StreamedLife, outputs: Sequence[Output]) -> str:
    """Say where a run was interrupted, and how it goes on."""
    text = life.where()
    if isinstance(life, StreamedLife) and (life.universe.phase or life.universe.manifest.run):
        text += f": `lifesim resume {life.universe.path}` goes on"
    if not life.is_whole:
        text += "".join(f"; no {out.path} yet" for out in outputs if not out.has_snapshots)
    return text


def finish(outcome: RunOutcome) -> None:
    """Say what went wrong and exit, if anything did."""
    for line in outcome.errors:
        click.echo(f"lifesim: {line}", err=True)
    if outcome.exit_code:
        sys.exit(outcome.exit_code)


def rate_text(rate: float) -> str:
    """Return cell updates per second, to three digits, with a unit."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if rate >= size:
            return f"{rate / size:.3g} {unit} cell updates/s"
    return f"{rate:.3g} cell updates/s"


class _GenerationBar:
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

    def __enter__(self) -> _GenerationBar:
        self._bar.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._bar.stop()

    def say(self, what: str) -> None:
        self._bar.update(self._task, description=what)

    def update(self, now: Progress) -> None:
        self._bar.update(
            self._task,
            total=None if now.total == FOREVER else now.total,
            completed=now.done,
            generation=now.generation,
            rate=rate_text(now.rate)
            if now.rate
            else f"{now.done / max(now.seconds, 1e-9):.3g} generations/s",
        )
