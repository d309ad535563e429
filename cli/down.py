"""`murmur down`: stops an instance."""

from __future__ import annotations

import os
import shutil

import click
from pydantic import ValidationError

from chaos.guarded import end_guards
from cli import options
from cli.chaos.instance import end_abandoned
from common.process import manager
from common.settings import ADDRESSES, Place, Settings, SettingsUnreadable
from deploy.local import instances, stack
from deploy.local.processes import class_data_sharing, supervisor
from middleware.registry import registry


@click.command()
@click.option("--wipe", is_flag=True,
              help="Also remove everything that the instance stored in its folder, on every middleware. "
                   "What it stored in servers elsewhere, by a setting, stays.")
@click.option("--yes", is_flag=True, help="Remove it without a question.")
@options.instance
def down(wipe: bool, yes: bool, instance: str | None) -> None:
    """Stop an instance; its data stays unless --wipe is given."""
    settings = found(instance)
    if not settings.instance_dir.exists():
        click.echo(f"there is no instance {settings.instance}")
        return
    if wipe:
        options.confirm(f"Remove everything that instance {settings.instance} stored in {settings.instance_dir}"
                        f"{elsewhere(settings)}?", f"removes everything in {settings.instance_dir}", yes)
    end_guards(settings)
    end_abandoned(settings)  # what is paused ends only when it is killed
    class_data_sharing.end_writing(settings)
    stays = "" if wipe else f"; its data stays in {settings.instance_dir}"
    try:
        if manager.is_running(settings):
            supervisor.stop(settings, stack.processes(settings))
            click.echo(f"instance {settings.instance} is stopped{stays}")
        else:
            click.echo(f"instance {settings.instance} was not running")
    except manager.NotAnswering:  # it is among what is left, with everything that it started
        click.echo(f"the process manager of instance {settings.instance} does not answer: all is killed{stays}")
    except ModuleNotFoundError:  # that of a middleware which Python's path no longer has
        click.echo(f"middleware {settings.middleware} of instance {settings.instance} is not known here: all is killed"
                   f"{stays}")
    for name in instances.end_leftovers(settings):
        click.echo(f"ended a leftover of the instance: {name}")
    if wipe:
        with instances.registry(settings.home):
            shutil.rmtree(settings.instance_dir)
        click.echo(f"instance {settings.instance} is removed{elsewhere(settings)}")


def elsewhere(settings: Settings) -> str:
    """What a wipe leaves, by the settings that name it."""
    named = [name for name in ADDRESSES if getattr(settings, name)]
    return f" (what it stored by {', '.join(named)} stays there)" if named else ""


def found(instance: str | None) -> Settings:
    """Settings of the instance; where they cannot be read or are not valid, what tells where its processes are."""
    try:
        return Settings.load(instance=instance)
    except (SettingsUnreadable, ValidationError):
        if not instance and os.environ.get("MURMUR_SETTINGS"):
            raise  # of which instance is not told
        return told(Place.chosen(instance=instance))


def told(place: Place) -> Settings:
    """What the instance's folder says that ending it, or removing it, goes by; no other setting holds."""
    saved = instances.stored(place.instance_dir)
    known = place.model_dump()
    known |= {name: value for name, value in saved.items() if name in ADDRESSES and isinstance(value, str)}
    if saved.get("middleware") in registry():
        known["middleware"] = saved["middleware"]
    return Settings.model_construct(**known)
