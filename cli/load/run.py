"""`murmur load run`: one experiment, one verdict."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from cli import options as common_options
from cli.load import options
from cli.load.display import Display, as_text
from loadgen.errors import BREAKING
from loadgen.experiment import LONGEST_SECONDS
from loadgen.report.result import Spec
from loadgen.report.results import command
from loadgen.single import measure, settled
from loadgen.stack import running


@click.command()
@click.option("--rate", required=True, type=click.FloatRange(min=0, min_open=True), help="Tweets per second.")
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(1, LONGEST_SECONDS),
              help="How long the interval that is judged lasts; below 60 it is a burst, without a judgement of growth.")
@options.out
@options.slo_ms
@options.users
@common_options.payload
@common_options.workload
@options.settle
@options.warm_up
@options.processes
@common_options.instance
@common_options.as_json
def run(rate: float, seconds: float, out: Path | None, slo_ms: float, users: int, payload: str, workload: str,
        settle_s: float, warm_up_s: float, processes: int | None, instance: str | None, as_json: bool) -> None:
    """Run one experiment on the running instance, and judge whether the rate was sustained.

    Prints the five conditions with their figures, latencies to each stage and CPU seconds per 1,000 tweets of every
    process. What could not be judged is `broken`, never a pass: an audit that did not come to its end, too few samples.
    Of a burst it is not asked whether a backlog grows.

    Ends with 0 for `pass`, 3 for `broken`, and 1 for every other verdict.
    """
    found = click.get_current_context().with_resource(running(common_options.known(instance)))
    display = Display(quiet=as_json)
    spec = Spec(rate, float(int(seconds)), settled(settle_s, seconds), slo_ms,
                payload, workload, users=users, processes=processes)  # type: ignore[arg-type]
    try:
        result, kept = measure(found, spec, warm_up_s, command(), out, display.sampled)
    except BREAKING as error:
        click.echo(json.dumps({"verdict": "broken", "reason": str(error)}) if as_json else f"broken: {error}",
                   err=not as_json)
        sys.exit(options.BROKEN)
    finally:
        display.close()
    if as_json:
        click.echo(json.dumps({**result.as_json(), "environment": kept.environment}, allow_nan=False))
    else:
        click.echo(as_text(result))
    sys.exit({"pass": 0, "broken": options.BROKEN}.get(result.verdict.judgement, 1))
