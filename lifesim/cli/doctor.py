"""lifesim doctor: what this machine has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import click

from bulkbits.cluster import Cluster
from bulkbits.options import (
    check_cluster,
    cluster_option,
    device_option,
    driver_option,
    json_option,
    threads_option,
)
from bulkbits.plurals import many
from lifesim.cli.drive import rate_text
from lifesim.doctor import DoctorReport, SpeedFacts, Unknown, collect, worker_speed


@click.command("doctor")
@device_option
@driver_option
@threads_option
@cluster_option
@json_option
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


def _tell_cluster(cluster: Cluster, speeds: dict[str, SpeedFacts], as_json: bool) -> None:
    """Say which workers there are, and how fast each is."""
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
    where = f"{len(workers)} on {many(hosts, 'host')}"
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


def _facts(report: DoctorReport) -> dict[str, object]:
    """Return a finding as it is, its sizes in bytes; {"problem": why} where there is none."""
    facts = asdict(report)
    for name in facts:
        value = getattr(report, name)
        if isinstance(value, Unknown):
            facts[name] = {"problem": value.reason}
    return facts


def _lines(report: DoctorReport) -> Iterator[tuple[str, str]]:
    def plain(value: str | Unknown) -> str:
        return value.reason if isinstance(value, Unknown) else value

    versions, cpu, kernels = report.versions, report.cpu, report.cpu_kernels
    if isinstance(versions, Unknown):
        yield "versions", versions.reason
    else:
        yield "package", versions.package
        yield "Python", f"{versions.python} on {versions.system}"
    if isinstance(cpu, Unknown):
        yield "CPU", cpu.reason
    else:
        yield "CPU", f"{cpu.model}, {cpu.cores} cores, L2 {_binary(cpu.level2_bytes)}"
        yield "CPU threads", str(cpu.threads)
    if isinstance(kernels, Unknown):
        yield "CPU kernels", kernels.reason
    else:
        levels = ", ".join(kernels.levels)
        yield "CPU kernels", f"built with {kernels.compiler}"
        yield "CPU level", f"{kernels.level} ({kernels.vector_bits} bits) of {levels}"
    if isinstance(report.gpus, Unknown):
        yield "GPU", report.gpus.reason
    else:
        for index, gpu in enumerate(report.gpus):
            yield (
                f"GPU {index}",
                f"{gpu.name}, compute capability {gpu.capability[0]}.{gpu.capability[1]}, "
                f"{gpu.multiprocessors} multiprocessors, {_binary(gpu.memory)}",
            )
    if isinstance(report.driver, Unknown):
        yield "driver", report.driver.reason
    else:
        own = f"{report.driver.version}, " if report.driver.version else ""
        yield "driver", f"{own}CUDA up to {report.driver.cuda}"
    yield "PyCUDA", plain(report.pycuda)
    yield "cuda.core", plain(report.cuda_core)
    yield "GPU reached by", plain(report.reached_by)
    yield "device compiler", plain(report.device_compiler)
    if isinstance(report.memory, Unknown):
        yield "memory", report.memory.reason
    else:
        total = f" of {_binary(report.memory.total)}" if report.memory.total else ""
        yield "memory", f"{_binary(report.memory.available)}{total} available"
    yield "disk", _disk_text(report)
    if isinstance(report.window, Unknown):
        yield "window", report.window.reason
    else:
        where = report.window.display
        shown = f"on display {where}" if where else "but there is no display"
        yield "window", f"PySide6 {report.window.qt}, {shown}"
    if isinstance(report.backend, Unknown):
        yield "backend", report.backend.reason
    else:
        yield "backend", f"{report.backend.name}: {report.backend.description}"
        for reason in report.backend.passed_over:
            yield "passed over", reason
    if isinstance(report.speed, Unknown):
        yield "speed", report.speed.reason
    else:
        side = report.speed.side
        yield "speed", f"{rate_text(report.speed.rate)} on a {side}x{side} soup"


def _disk_text(report: DoctorReport) -> str:
    disk = report.disk
    if isinstance(disk, Unknown):
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
