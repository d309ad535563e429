"""`murmur ready`: whether the process of a container does its work."""

from __future__ import annotations

import click
import psutil

from cli import options
from deploy.local import stack

FIRST = 1
"""Process id of a container's first process, which starts the main one at once."""


@click.command()
@click.argument("name")
@options.instance
def ready(name: str, instance: str | None) -> None:
    """Ask process NAME, the main one of this container, for its work: ends with 1 if it does not do it."""
    process = stack.process(options.known(instance), name)
    try:
        done, why = process.ready(psutil.Process(FIRST).create_time()), "not yet"
    except Exception as error:  # whatever the client raises means "not yet": see Probe
        done, why = False, str(error)
    if not done:
        raise click.ClickException(f"{name} is not ready: {why}")
