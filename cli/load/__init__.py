"""`murmur load`: experiments on a running instance, the search for its capacity, comparisons of middleware."""

from __future__ import annotations

import signal
from importlib import import_module

import click

COMMANDS = {"run": "run", "find-max": "find_max", "compare": "compare"}
"""Name → module of this package, and the command in it."""


class LoadCommands(click.Group):
    """Imports a command when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return getattr(import_module(f"cli.load.{COMMANDS[name]}"), COMMANDS[name]) if name in COMMANDS else None


@click.command(cls=LoadCommands)
def load() -> None:
    """Drive the whole pipeline and judge what it sustains.

    `run` and `find-max` measure the running instance that --instance names, `compare` starts instances of its own.
    """
    # As with Ctrl-C, an experiment then ends its generators and removes its data.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
