"""`murmur chaos`: failures of a running instance that are provoked on purpose, one or a series of them."""

from __future__ import annotations

from importlib import import_module
from random import randrange

import click

from cli import options
from cli.chaos.seconds import Seconds

COMMANDS = ("kill", "pause", "slow", "flush-cache", "fill-disk")
SERIES_S = 3600.0


class ChaosCommands(click.Group):
    """Imports a command when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return getattr(import_module("cli.chaos.single"), name.replace("-", "_")) if name in COMMANDS else None


@click.command(cls=ChaosCommands, invoke_without_command=True)
@click.option("--seed", type=click.IntRange(min=0), help="Of a series: which failures it has.  [default: another one]")
@click.option("--for", "seconds", type=Seconds(SERIES_S), help="Begin a series, and begin failures for so long.")
@options.instance
@options.as_json
@click.pass_context
def chaos(context: click.Context, seed: int | None, seconds: float | None, instance: str | None, as_json: bool) -> None:
    """Provoke failures of a running instance, and tell when it has recovered.

    A command provokes one. What it does to a process for a while ends by itself after 60 s at most, on Ctrl-C, and
    whatever is killed meanwhile: if need be at the next `murmur status`, `up`, `down` or `chaos`.

    Without a command, --for provokes a series: kills, pauses, slowed processes and the loss of what Redis holds, the
    same for the same seed and processes, each once all stages have caught up from the one before. It ends with a table
    and an audit, and with the status of `murmur audit`, or with 1 if something had not recovered or
    could not be provoked.

    Refused while an experiment runs on the instance (`murmur load`).
    """
    if context.invoked_subcommand:
        if seed is not None or seconds or instance or as_json:
            raise click.UsageError("options of a series: those of a command stand behind its name")
        return
    if seconds is None:
        raise click.UsageError("either a command, or --for for a series: see --help")
    from cli.chaos.series import series  # only a series needs an audit

    series(instance, randrange(1 << 16) if seed is None else seed, seconds, as_json)
