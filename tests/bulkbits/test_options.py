"""Options that several commands have are spelled and mean the same in all of them."""

from __future__ import annotations

import importlib
import os
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from bulkbits.options import DRIVER_VARIABLE, DRIVERS, backend_option, named_gpus
from kernels.targets.cuda import driver as drivers
from kernels.targets.cuda import early

GROUPS = ("arith", "ckyparse", "lifesim", "semigroups")
# What else these are called, and what the command line calls the same thing nowhere.
SHORT = {"--out": "-o"}
GONE = ("--jobs", "-j", "--output", "--verbose", "--cpu")
# These say more in a command where they mean something special, but have one spelling and type.
SAME_HELP = ("--threads", "--device", "--driver", "--json", "--quiet", "--force", "--cluster")


def commands() -> Iterator[tuple[str, click.Command]]:
    for name in GROUPS:
        group = importlib.import_module(f"{name}.cli").group
        context = click.Context(group)
        for command in group.list_commands(context):
            yield f"{name} {command}", group.get_command(context, command)


def options() -> dict[str, dict[str, click.Option]]:
    """Return the options of each command, by the spelling and the command."""
    found: dict[str, dict[str, click.Option]] = defaultdict(dict)
    for name, command in commands():
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                for spelling in parameter.opts:
                    found[spelling][name] = parameter
    return found


def test_no_command_spells_them_otherwise() -> None:
    found = options()
    assert len(found["--backend"]) > 10
    assert not set(GONE) & set(found)
    for long, short in SHORT.items():
        assert set(found[long]) == set(found[short])


@pytest.mark.parametrize("spelling", SAME_HELP)
def test_they_mean_the_same(spelling: str) -> None:
    texts = defaultdict(list)
    for name, option in options()[spelling].items():
        texts[option.help, option.name, str(option.type)].append(name)
    # One GPU, or several.
    assert len(texts) == (2 if spelling == "--device" else 1), dict(texts)


def test_memory_is_always_an_amount() -> None:
    found = options()["--memory"]
    assert len(found) >= 5
    assert {option.type.name for option in found.values()} == {"BYTES"}


@pytest.mark.parametrize("before", [None, "pycuda"])
def test_the_driver_layer_is_for_the_command_and_what_it_starts(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (DRIVERS, DRIVER_VARIABLE) == (drivers.NAMES, drivers.VARIABLE)
    monkeypatch.delenv(drivers.VARIABLE, raising=False)
    if before:
        monkeypatch.setenv(drivers.VARIABLE, before)

    @click.command()
    @backend_option()
    def say(backend: str) -> None:
        click.echo(f"{backend} {drivers.named()}")

    run = CliRunner().invoke
    assert run(say, ["--driver", "cuda.core"]).output == "auto cuda.core\n"
    assert os.environ.get(drivers.VARIABLE) == before
    assert run(say, []).output == f"auto {before or ''}\n"
    assert run(say, ["--driver", "opencl"]).exit_code == 2
    without = backend_option(("auto", "cpu"))(click.command()(print))
    assert [option.name for option in without.params] == ["backend"]


@pytest.mark.parametrize(
    ("args", "gpus"),
    [
        ("accept --backend cuda", (0,)),
        ("accept --backend=cuda --device 3 -g x", (3,)),
        ("accept --device=2,0 --backend cuda", (2, 0)),
        ("accept --device 0,1", ()),
        ("accept --backend cpu", ()),
        ("accept --backend cuda --device x", ()),
        ("accept --backend cuda --cluster local:2", ()),
        ("accept --backend cuda --help", ()),
        ("accept --backend", ()),
        ("", ()),
    ],
)
def test_gpus_that_are_named_are_seen_at_once(args: str, gpus: tuple[int, ...]) -> None:
    assert named_gpus(args.split()) == gpus


@pytest.mark.parametrize("name", GROUPS)
def test_they_begin_before_the_subcommand_is_there(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[int, ...]] = []
    monkeypatch.setattr(early, "begin", begun.append)
    group = importlib.import_module(f"{name}.cli").group
    CliRunner().invoke(group, ["none", "--backend", "cuda", "--device", "1"])
    assert begun == [(1,)]
