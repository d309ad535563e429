"""`murmur up`: starts an instance and returns when all of it works."""

from __future__ import annotations

import time
from typing import Any

import click

from cli import options, streams
from cli.chaos.instance import end_abandoned
from common import control
from common.process import manager
from common.settings import Settings, read
from common.tweets import STREAMS
from deploy.local import checkout, instances, stack, state
from deploy.local.processes import class_data_sharing, supervisor
from deploy.local.processes.spec import Process
from deploy.local.processes.wait_ready import Deaths, await_ready
from middleware.registry import connect, registry

STREAMS_SECONDS = 120.0
LOOK_SECONDS = 2.0
"""How often the servers are looked at while the stream store is waited for."""


@click.command()
@click.option("--middleware", type=click.Choice(registry()),
              help=f"Stream store.  [default: {Settings.model_fields['middleware'].default}]")
@click.option("--durability", type=click.Choice(["page-cache", "fsync"]),
              help="What an acknowledgement means: may be lost with the machine, or on disk.  [default: fsync]")
@click.option("--servers-only", is_flag=True, help="Start the stream store, Redis and Milvus, and nothing of ours.")
@options.instance
def up(middleware: str | None, durability: str | None, servers_only: bool, instance: str | None) -> None:
    """Start an instance, and wait until all of it works.

    Starts no source of tweets: that is `murmur ingest`. On an instance that runs, starts what is missing.
    """
    checkout.require("`murmur up`")
    given = {"middleware": middleware, "durability": durability, "instance": instance}
    flags: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    wished = options.wished(flags)
    if manager.is_running(wished):
        settings = Settings.load(instance=instance)
        state.recorded(settings)
        end_abandoned(settings)
        refuse_change(wished)
        if not control.token_file(settings).exists():  # an earlier version has started it
            control.make(settings)
        click.echo(f"instance {settings.instance} runs already, on {settings.middleware} ({settings.durability})")
    else:
        settings = instances.reserve(flags)
        for name in instances.end_leftovers(settings):
            click.echo(f"ended a leftover of the instance: {name}")
        end_abandoned(settings)
        instances.check_ports(settings)
        state.record(settings)
        control.make(settings)
    try:
        bring_up(settings, servers_only)
    except KeyboardInterrupt:
        click.echo(f"\ninstance {settings.instance} goes on starting: `murmur status --instance {settings.instance}` "
                   f"shows how far it is, `murmur down --instance {settings.instance}` ends it", err=True)
        raise


def refuse_change(wished: Settings) -> None:
    """Fails when a setting was chosen otherwise than the instance runs with: it would not take effect."""
    running = read(wished.settings_file)
    chosen = wished.model_dump(mode="json", include=wished.model_fields_set)
    if changed := [name for name, value in chosen.items() if running.get(name, value) != value]:
        named = ", ".join(name if name in state.SECRET else f"{name} {running[name]}" for name in changed)
        raise click.ClickException(
            f"instance {wished.instance} runs with other settings ({named}): end it first with `murmur down --instance "
            f"{wished.instance}`, or start another beside it with --instance; its data stays in either case"
        )


def bring_up(settings: Settings, servers_only: bool) -> None:
    """Configures, starts what does not run, and waits: the servers first, since most of ours waits for them."""
    began = time.monotonic()
    configure(settings)
    servers = stack.servers(settings)
    ours = [] if servers_only else stack.applications(settings)
    if not manager.is_running(settings):
        supervisor.write_configuration(settings, servers + [process for process in ours if process.early])
        replicas = f", {settings.replicas} replicas" if settings.replicas > 1 else ""
        click.echo(f"starting instance {settings.instance} on {settings.middleware} ({settings.durability}{replicas}), "
                   f"logs in {settings.log_dir}")
        supervisor.start(settings)
    deaths = Deaths(settings, servers, warn=lambda name, why: click.echo(
        f"warning: {name} {why}; the other copies go on without it (see `murmur logs {name} --instance "
        f"{settings.instance}`)", err=True))
    show_progress(settings, servers, deaths, began)
    if ours:
        supervisor.write_configuration(settings, servers + ours)
        supervisor.add_missing(settings)
    create_streams(settings, deaths)
    show_progress(settings, ours, deaths, began)
    class_data_sharing.begin_writing(settings)
    click.echo(f"ready: {options.page(settings)}" if ours else "ready: servers only")


def configure(settings: Settings) -> None:
    """Installs the servers first, if this is the first time that their middleware is chosen."""
    if not checkout.is_set_up(settings.middleware):
        click.echo(f"installing what {settings.middleware} needs, once:")
        checkout.set_up(settings.middleware)
    stack.write_configuration(settings)


def show_progress(settings: Settings, waited_for: list[Process], deaths: Deaths, began: float) -> None:
    def show(process: Process, state: str) -> None:
        click.echo(f"  {process.name:<16} {state} after {time.monotonic() - began:5.1f} s")

    def show_late(process: Process) -> None:
        show(process, f"not ready (see `murmur logs {process.name} --instance {settings.instance}`)")

    for process in await_ready(settings, waited_for, deaths, tell=show_late):
        show(process, "ready")


def create_streams(settings: Settings, deaths: Deaths) -> None:
    """Raises NotReady, too, if a server dies again and again meanwhile."""
    with connect(settings.model_copy(update={"jvm_options": class_data_sharing.of_clients(settings)})) as middleware:
        streams.create(middleware, STREAMS_SECONDS, LOOK_SECONDS, meanwhile=lambda _: deaths.look())
    click.echo(f"  {len(STREAMS)} streams exist")
