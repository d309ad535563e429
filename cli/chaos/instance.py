"""The instance that failures are provoked of."""

from __future__ import annotations

import click

from chaos.failure import Refused
from chaos.lease import undo_abandoned
from cli import options
from common.experiments import is_experimented_on
from common.settings import Settings


def chosen(name: str | None) -> Settings:
    """Raises Refused while an experiment runs on it, which asks `chaos` itself for what it means to provoke."""
    settings = options.known(name)
    end_abandoned(settings)
    if is_experimented_on(settings):
        raise Refused(f"an experiment runs on instance {settings.instance}, and would take this for its own")
    return settings


def end_abandoned(settings: Settings) -> None:
    """Undoes what killed commands have left done to processes of the instance, and says so."""
    for lease in undo_abandoned(settings.instance_dir):
        click.echo(f"undone, since nobody held it any more: {lease.what} of {lease.name}", err=True)
