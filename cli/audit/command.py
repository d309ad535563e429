"""`murmur audit`."""

from __future__ import annotations

import json
import sys
import time

import click

from cli.audit.collect import Collector, collecting
from cli.audit.ledger import Finding
from cli.options import as_json as json_option
from cli.options import instance as instance_option
from cli.options import known
from common.garbage import collect_never
from ingest.manifest import read_manifests

SETTLE_SECONDS = 2.0
"""Once nothing is missing, how long repeats are still waited for."""


@click.command()
@click.option("--run", help="Audit this run only (default: every run of the instance).")
@click.option("--timeout", default=120, show_default=True, help="Seconds to wait for the stages to become complete.")
@instance_option
@json_option
def audit(run: str | None, timeout: int, instance: str | None, as_json: bool) -> None:
    """Count every event of a run at every stage: expected, found, missing, duplicated, already known.

    Waits until nothing is missing or the timeout has passed. Ends with status 1 if anything is missing or twice.
    """
    collect_never()
    settings = known(instance)
    manifests = read_manifests(settings)
    if run:
        if run not in manifests:
            raise click.ClickException(f"there is no run {run!r}; known: {', '.join(manifests) or 'none'}")
        manifests = {run: manifests[run]}
    with collecting(settings, manifests) as collector:
        stages = complete(collector, timeout)
    _print(stages, as_json)
    sys.exit(0 if all(finding.clean for finding in stages.values()) else 1)


def complete(collector: Collector, timeout: float) -> dict[str, Finding]:
    """The findings once nothing is missing and time for repeats has passed, or when the time is over."""
    deadline = time.monotonic() + timeout
    while True:
        collector.drain()
        stages = collector.check()
        missing = {name: finding.missing for name, finding in stages.items() if finding.missing}
        if not missing or time.monotonic() > deadline:
            break
        click.echo(f"waiting for {', '.join(f'{count} {name}' for name, count in missing.items())}", err=True)
        time.sleep(1)
    time.sleep(SETTLE_SECONDS)
    collector.drain()
    return collector.check()


def _print(stages: dict[str, Finding], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"stages": {name: finding.as_json() for name, finding in stages.items()}}))
        return
    columns = ("expected", "found", "missing", "duplicated", "already_known")
    click.echo(f"{'':<10}" + "".join(f"{column:>15}" for column in columns))
    for name, finding in stages.items():
        detail = ", ".join(f"{key} {count}" for key, count in finding.detail.items())
        click.echo(f"{name:<10}" + "".join(f"{getattr(finding, column):>15,}" for column in columns) + f"   {detail}")
