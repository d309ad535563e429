"""`murmur load find-max`: the highest rate that the running instance sustains."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from cli import options as common_options
from cli.load import options
from cli.load.display import Display, capacity_as_text, unquiet_as_text
from common.settings import Settings
from loadgen.capacity import Search, plan_for, write_results
from loadgen.observe.environment import check_disk, described
from loadgen.report.page import write_report
from loadgen.report.result import Spec
from loadgen.stack import Instance, ensure_warm, running

ORDINARY_RATE = 5700.0
"""Twitter's average: what the disk must have room for before a search begins."""


@click.command()
@click.option("--budget", default=25.0, show_default=True, type=click.FloatRange(min=0), help="Minutes for all of it.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False),
              help="Folder for results.json and report.html.  [default: load-<time>]")
@click.option("--first", default=1000.0, show_default=True, type=click.FloatRange(min=1), help="Rate to begin with.")
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(min=60),
              help="How long each rate is measured, beside the confirmation.")
@options.slo_ms
@options.users
@options.payload
@options.settle
@options.warm_up
@options.processes
@common_options.instance
@common_options.as_json
def find_max(slo_ms: float, budget: float, out: Path | None, first: float, seconds: float, users: int, payload: str,
             settle_s: float, warm_up_s: float, processes: int | None, instance: str | None, as_json: bool) -> None:
    """Find the highest rate that the running instance sustains, and what gives way above it.

    Prints the ladder of rates as they are tried. When the budget ends, the interval so far is the result, marked as not
    converged. An experiment that could not be judged (`broken`) says nothing about its rate, and is made once more.
    What an experiment brought is removed after its audit, as far as it is not bounded anyway.

    Ends with 0 if a rate passed, with 3 if none did because experiments were broken, and with 1 otherwise.
    """
    found = running(instance)
    spec = Spec(first, float(int(seconds)), float(int(settle_s)), slo_ms, payload,  # type: ignore[arg-type]
                users=users, processes=processes)
    folder = out or Path(f"load-{datetime.now():%Y%m%d-%H%M%S}")
    content = search(found, spec, budget * 60, warm_up_s, folder, Display(quiet=as_json))
    if as_json:
        click.echo(json.dumps(content, allow_nan=False))
    else:
        click.echo(f"{capacity_as_text(content['capacity'])}\n{unquiet_as_text(content['experiments'])}"
                   f"{folder / 'report.html'}")
    if not content["experiments"]:
        raise click.ClickException(f"a budget of {budget:g} minutes allowed no experiment: --budget gives it more")
    if content["capacity"]["highest_pass"]:
        sys.exit(0)
    sys.exit(options.BROKEN if content["experiments"][-1]["verdict"] == "broken" else 1)


def search(instance: Instance, spec: Spec, budget_s: float, warm_up_s: float, folder: Path, display: Display
           ) -> dict[str, Any]:
    """Searches, and keeps results.json and report.html up to date; the content of the former."""
    settings = instance.settings
    check_disk(settings, min(budget_s, 1500) * ORDINARY_RATE)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    environment = described(settings)
    began = datetime.now()
    ensure_warm(instance, spec.rate, warm_up_s, display.sampled)
    left_s = budget_s - (datetime.now() - began).total_seconds()
    found = Search(instance, spec, plan_for(spec, spec.rate), left_s, display)

    def content() -> dict[str, Any]:
        return as_json(found, started, settings, environment)

    found.run(lambda _: keep(folder, content()), lambda tweets: check_disk(settings, tweets))
    keep(folder, content())
    return content()


def as_json(found: Search, started: str, settings: Settings, environment: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "find-max", "started_at": started, "command": " ".join(["murmur", *sys.argv[1:]]),
        "instance": settings.instance, "capacity": vars(found.capacity()), "experiments": found.results, **environment,
    }


def keep(folder: Path, content: dict[str, Any]) -> None:
    write_results(folder, content)
    write_report(folder, [content])
