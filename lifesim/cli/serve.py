"""lifesim serve: the browser. It is made of this package, so it is found by its name only."""

from __future__ import annotations

import importlib

import click

from bulkbits.ownership import check

check("ui")
command: click.Command = importlib.import_module("ui.web.cli").command
