"""Options that several commands share."""

from __future__ import annotations

import sys
from typing import Any

import click

from common.settings import Settings
from deploy.local import state


def instance(command: Any) -> Any:
    """`--instance NAME`: which of the instances side by side."""
    return click.option("--instance", metavar="NAME", help="Name of the instance.  [default: default]")(command)


def as_json(command: Any) -> Any:
    """`--json`: output for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def known(name: str | None) -> Settings:
    """Settings of an instance that was started at least once, by a version that stores as this one does; fails with the
    way out otherwise."""
    settings = Settings.load(instance=name)
    if not settings.settings_file.exists():
        raise click.ClickException(f"there is no instance {settings.instance}: start it with `murmur up`")
    state.recorded(settings)
    return settings


def confirm(question: str, effect: str, yes: bool, as_json: bool) -> None:
    """Goes on if `yes` is given or answered; aborts, or fails where nobody can answer. `effect`: what --yes does."""
    if yes:
        return
    if as_json:
        raise click.ClickException(f"--json shows nothing to be asked about: --yes {effect}")
    if not sys.stdin.isatty():
        raise click.ClickException(f"nobody is there to be asked: --yes {effect}")
    click.confirm(question, abort=True, err=True)
