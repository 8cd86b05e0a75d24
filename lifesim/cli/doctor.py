"""lifesim doctor: what this machine has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import click

from arith.cli.devices import check_cluster, cluster_option
from arith.cluster import Cluster
from lifesim.cli.drive import rate_text
from lifesim.doctor import Problem, Report, Speed, collect, worker_speed


@click.command("doctor")
@click.option("--device", type=click.IntRange(0), default=0, help="Which GPU. [0]")
@click.option("--threads", type=click.IntRange(1, 4096), help="CPU threads. [all cores]")
@cluster_option
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
def command(device: int, threads: int | None, cluster: str | None, as_json: bool) -> None:
    """Say what this machine has, which backend is taken, and why.

    What is missing is a finding like any other: the exit code is 0. With --cluster, say what
    each worker has; a cluster that cannot be used, or of different code, is refused with 3.
    """
    if cluster is not None:
        check_cluster(cluster, (device,))
        with Cluster.open(cluster, threads=threads) as found:
            _tell_cluster(found, found.everywhere(worker_speed), as_json)
        return
    report = collect(device, threads)
    if as_json:
        click.echo(json.dumps(_facts(report)))
        return
    _echo(_lines(report))


def _echo(findings: Iterable[tuple[str, str]]) -> None:
    lines = list(findings)
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        click.echo(f"{name:<{width}}  {text}")


def _tell_cluster(cluster: Cluster, speeds: dict[str, Speed], as_json: bool) -> None:
    """What workers there are, and how fast each is."""
    workers = cluster.workers
    if as_json:
        facts = {
            "scheduler": cluster.address,
            "dashboard": cluster.dashboard,
            "workers": [asdict(w) | {"speed": asdict(speeds[w.name])} for w in workers],
        }
        click.echo(json.dumps(facts))
        return
    code, hosts = workers[0].code, len({worker.host for worker in workers})
    where = f"{len(workers)} on {hosts} host{'s' * (hosts > 1)}"
    total = sum(speed.rate for speed in speeds.values())
    lines = [
        ("scheduler", cluster.address),
        ("dashboard", cluster.dashboard or "none"),
        ("package", f"{code}, the same here, on the scheduler and on all workers"),
        ("workers", f"{where}, {rate_text(total)} in all"),
    ]
    for each in workers:
        lines.append(
            (
                f"worker {each.name}",
                f"{each.host}, process {each.pid}, Python {each.code.python}, {each.backend}: "
                f"{each.description}, {_binary(each.memory)} for it, "
                f"{rate_text(speeds[each.name].rate)}",
            )
        )
    _echo(lines)


def _facts(report: Report) -> dict[str, object]:
    """A finding as it is, its sizes in bytes; {"problem": why} where there is none."""
    facts = asdict(report)
    for name in facts:
        value = getattr(report, name)
        if isinstance(value, Problem):
            facts[name] = {"problem": value.reason}
    return facts


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    def plain(value: str | Problem) -> str:
        return value.reason if isinstance(value, Problem) else value

    versions, cpu, kernels = report.versions, report.cpu, report.cpu_kernels
    if isinstance(versions, Problem):
        yield "versions", versions.reason
    else:
        yield "package", versions.package
        yield "Python", f"{versions.python} on {versions.system}"
    if isinstance(cpu, Problem):
        yield "CPU", cpu.reason
    else:
        yield "CPU", f"{cpu.model}, {cpu.cores} cores, L2 {_binary(cpu.level2_bytes)}"
        yield "CPU threads", str(cpu.threads)
    if isinstance(kernels, Problem):
        yield "CPU kernels", kernels.reason
    else:
        levels = ", ".join(kernels.levels)
        yield "CPU kernels", f"built with {kernels.compiler}"
        yield "CPU level", f"{kernels.level} ({kernels.vector_bits} bits) of {levels}"
    if isinstance(report.gpus, Problem):
        yield "GPU", report.gpus.reason
    else:
        for index, gpu in enumerate(report.gpus):
            yield (
                f"GPU {index}",
                f"{gpu.name}, compute capability {gpu.capability[0]}.{gpu.capability[1]}, "
                f"{gpu.multiprocessors} multiprocessors, {_binary(gpu.memory)}",
            )
    if isinstance(report.driver, Problem):
        yield "driver", report.driver.reason
    else:
        own = f"{report.driver.version}, " if report.driver.version else ""
        yield "driver", f"{own}CUDA up to {report.driver.cuda}"
    yield "PyCUDA", plain(report.pycuda)
    yield "device compiler", plain(report.device_compiler)
    if isinstance(report.memory, Problem):
        yield "memory", report.memory.reason
    else:
        total = f" of {_binary(report.memory.total)}" if report.memory.total else ""
        yield "memory", f"{_binary(report.memory.available)}{total} available"
    yield "disk", _disk_text(report)
    if isinstance(report.backend, Problem):
        yield "backend", report.backend.reason
    else:
        yield "backend", f"{report.backend.name}: {report.backend.description}"
        for reason in report.backend.passed_over:
            yield "passed over", reason
    if isinstance(report.speed, Problem):
        yield "speed", report.speed.reason
    else:
        side = report.speed.side
        yield "speed", f"{rate_text(report.speed.rate)} on a {side}x{side} soup"


def _disk_text(report: Report) -> str:
    disk = report.disk
    if isinstance(disk, Problem):
        return disk.reason
    how = "direct" if disk.direct else "through the system's cache"
    return (
        f"write {_megabytes(disk.write)}, read {_megabytes(disk.read)} ({how}), "
        f"{_binary(disk.free)} free in {disk.folder}"
    )


def _megabytes(rate: float) -> str:
    return f"{rate / 1e6:,.0f} MB/s"


def _binary(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"
