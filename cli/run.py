"""`murmur run`: one process of an instance in the foreground, as a container has it."""

from __future__ import annotations

import os

import click

from cli import options, streams
from common.process import manager
from deploy.local import checkout, instances, stack, state
from deploy.local.processes import supervisor
from deploy.local.processes.spec import READERS
from middleware.registry import connect

SERVES_SECONDS, LOOK_SECONDS = 600.0, 10.0
"""How long the stream store is waited for, and how often that is told."""


@click.command()
@click.argument("name")
@options.instance
def run(name: str, instance: str | None) -> None:
    """Become process NAME of an instance: for a container, which has nothing else in it.

    Settings come from the environment. What the process reads is written first. Those that read streams wait until the
    stream store serves, and create the streams that are missing.
    """
    checkout.require("`murmur run`")
    flags = {"instance": instance} if instance else {}
    wished = options.wished(flags)
    stack.process(wished, name)  # before anything is written
    if manager.is_running(wished):
        raise click.ClickException(f"instance {wished.instance} runs on this machine: `murmur down` first")
    instances.occupy(wished)
    settings = instances.reserve(flags)
    with instances.registry(settings.home):  # the others write the same
        state.record(settings)
        stack.write_configuration(settings, name)
    process = stack.process(settings, name)
    if process.stage == READERS:
        with connect(settings) as middleware:  # where that fails, whoever supervises this starts it again
            streams.create(middleware, SERVES_SECONDS, LOOK_SECONDS, meanwhile=lambda error: click.echo(
                f"waiting for {settings.middleware}: {error}", err=True))
    os.environ.update({**supervisor.known(settings), **process.environment})
    os.chdir(checkout.ROOT)
    os.execv(process.command[0], process.command)
