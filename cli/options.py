"""Options that several commands share, and those of invented tweets."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, get_args

import click

from common import control
from common.settings import Settings
from deploy.local import state
from ingest.sources.content import Size, Workload
from middleware.registry import require


def wished(flags: Mapping[str, Any]) -> Settings:
    """The settings with which an instance is to start; refused where the middleware has not what they ask of it."""
    settings = Settings.chosen(**flags)
    try:
        require(settings)  # of which the environment may tell
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return settings


def instance(command: Any) -> Any:
    """`--instance NAME`: which of the instances side by side."""
    return click.option("--instance", metavar="NAME", help="Name of the instance.  [default: default]")(command)


def as_json(command: Any) -> Any:
    """`--json`: output for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def payload(command: Any) -> Any:
    return click.option("--payload", type=click.Choice(get_args(Size)), default="lean", show_default=True,
                        help="Size of invented tweets: about 800 bytes, or 2.5 kB like X's own.")(command)


def workload(command: Any) -> Any:
    return click.option("--workload", type=click.Choice(get_args(Workload)), default="realistic", show_default=True,
                        help="What invented tweets say: new words without end, as in real ones, or some hundred "
                        "sentences again and again.")(command)


def languages(command: Any) -> Any:
    return click.option("--languages", metavar="NAME=SHARE,...", callback=shares,
                        help="Mix of a realistic workload: en, es, pt, ja, in (Indonesian), ko, de, fr.  "
                        "[default: like X's]")(command)


def odd(command: Any) -> Any:
    return click.option("--odd", default=0.0, show_default=True, type=click.FloatRange(0, 1),
                        help="Share of invented tweets that are late, repeated or broken.")(command)


def shares(context: click.Context, option: click.Parameter, value: str | None) -> dict[str, float] | None:
    """Callback of `--languages`."""
    if value is None:
        return None
    from ingest.sources.realistic.vocabulary import LANGUAGES
    parts = [part.partition("=") for part in value.replace(" ", "").split(",")]
    found = {name: share if equals else "1" for name, equals, share in parts}
    if unknown := [name for name in found if name not in LANGUAGES]:
        raise click.BadParameter(f"{unknown[0] or 'nothing'}: choose of {', '.join(LANGUAGES)}")
    try:
        mix = {name: float(share) for name, share in found.items()}
    except ValueError as error:
        raise click.BadParameter(f"{error}: give shares such as en=0.7,de=0.3") from error
    if not all(0 < share < float("inf") for share in mix.values()):
        raise click.BadParameter("each share is a number above 0")
    return mix


def known(name: str | None) -> Settings:
    """Settings of an instance that was started at least once, by a version that stores as this one does; fails with the
    way out otherwise."""
    settings = Settings.load(instance=name)
    if not settings.settings_file.exists():
        raise click.ClickException(f"there is no instance {settings.instance}: start it with `murmur up`")
    state.recorded(settings)
    return settings


def page(settings: Settings) -> str:
    """Address of the page: on a terminal the one that opens its controls, elsewhere, such as in a log, without."""
    return control.page(settings) if sys.stdout.isatty() else settings.url


def confirm(question: str, effect: str, yes: bool, as_json: bool = False) -> None:
    """Goes on if `yes` is given or answered; aborts, or fails where nobody can answer. `effect`: what --yes does."""
    if yes:
        return
    if as_json:
        raise click.ClickException(f"--json shows nothing to be asked about: --yes {effect}")
    if not sys.stdin.isatty():
        raise click.ClickException(f"nobody is there to be asked, and nothing was touched: --yes {effect}")
    click.confirm(question, abort=True, err=True)
