"""What a command says where the compiled kernels are missing."""

from __future__ import annotations

import click

from kernels.targets.contract import BackendUnavailableError


def say_if_slow() -> None:
    """Say where numbers are computed by Python itself though nobody asked for that."""
    from arith import engines

    try:
        if engines.host().name == "reference":
            engines.named("cpu")
    except BackendUnavailableError as error:
        click.echo(f"arith: running on the slow reference backend: {error}", err=True)
