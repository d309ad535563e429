"""The instance that failures are provoked of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from chaos.failure import Refused
from chaos.lease import undo_abandoned
from cli import options
from common.experiments import disturbing
from common.settings import Settings


@contextmanager
def chosen(name: str | None) -> Iterator[Settings]:
    """No experiment begins on it during the block. Raises Refused while one runs."""
    settings = options.known(name)
    end_abandoned(settings)
    refusal = Refused(f"an experiment runs on instance {settings.instance}, and would take this for its own")
    with disturbing(settings, refusal=refusal):
        yield settings


def end_abandoned(settings: Settings) -> None:
    """Undoes what killed commands have left done to processes of the instance, and says so."""
    for lease in undo_abandoned(settings.instance_dir):
        click.echo(f"undone, since nobody held it any more: {lease.what} of {lease.name}", err=True)
