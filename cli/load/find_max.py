"""`murmur load find-max`: the highest rate that the running instance sustains."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from cli import options as common_options
from cli.load import options
from cli.load.display import Display, capacity_as_text, unquiet_as_text
from common.experiments import new_folder
from loadgen.experiment import LONGEST_SECONDS
from loadgen.find_max import search
from loadgen.report.result import Spec
from loadgen.stack import running


@click.command()
@click.option("--budget", default=25.0, show_default=True, type=click.FloatRange(min=0), help="Minutes for all of it.")
@options.out
@click.option("--first", default=1000.0, show_default=True, type=click.FloatRange(min=1), help="Rate to begin with.")
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(60, LONGEST_SECONDS),
              help="How long each rate is measured, beside the confirmation.")
@options.slo_ms
@options.users
@common_options.payload
@common_options.workload
@options.settle
@options.warm_up
@options.processes
@common_options.instance
@common_options.as_json
def find_max(slo_ms: float, budget: float, out: Path | None, first: float, seconds: float, users: int, payload: str,
             workload: str, settle_s: float, warm_up_s: float, processes: int | None, instance: str | None,
             as_json: bool) -> None:
    """Find the highest rate that the running instance sustains, and what gives way above it.

    Prints the ladder of rates as they are tried. When the budget ends, the interval so far is the result, marked as not
    converged. An experiment that could not be judged (`broken`) says nothing about its rate, and is made once more.
    What an experiment brought is removed after its audit, as far as it is not bounded anyway.

    Ends with 0 if a rate passed, with 3 if all experiments were broken, and with 1 otherwise.
    """
    found = click.get_current_context().with_resource(running(common_options.known(instance)))
    spec = Spec(first, float(int(seconds)), float(int(settle_s)), slo_ms, payload, workload,  # type: ignore[arg-type]
                users=users, processes=processes)
    folder = out or new_folder(found.settings)
    content = search(found, spec, budget * 60, warm_up_s, folder, Display(quiet=as_json))
    if as_json:
        click.echo(json.dumps(content, allow_nan=False))
    else:
        click.echo(f"{capacity_as_text(content['capacity'])}\n{unquiet_as_text(content['experiments'])}"
                   f"{folder / 'report.html'}")
    if not content["experiments"]:
        raise click.ClickException(f"a budget of {budget:g} minutes allowed no experiment: --budget gives it more")
    sys.exit(options.status(content["capacity"]))
