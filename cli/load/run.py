"""`murmur load run`: one experiment, one verdict."""

from __future__ import annotations

import json
import sys

import click

from cli import options as common_options
from cli.load import options
from cli.load.display import Display, as_text
from loadgen.errors import BREAKING
from loadgen.experiment import LONGEST_SECONDS, Experiment
from loadgen.judge.verdict import LEAST_SECONDS
from loadgen.observe.environment import check_disk, described
from loadgen.report.result import Spec
from loadgen.stack import ensure_warm, running


@click.command()
@click.option("--rate", required=True, type=click.FloatRange(min=0, min_open=True), help="Tweets per second.")
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(1, LONGEST_SECONDS),
              help="How long the interval that is judged lasts; below 60 it is a burst, without a judgement of growth.")
@options.slo_ms
@options.users
@common_options.payload
@common_options.workload
@options.settle
@options.warm_up
@options.processes
@common_options.instance
@common_options.as_json
def run(rate: float, seconds: float, slo_ms: float, users: int, payload: str, workload: str, settle_s: float,
        warm_up_s: float, processes: int | None, instance: str | None, as_json: bool) -> None:
    """Run one experiment on the running instance, and judge whether the rate was sustained.

    Prints the five conditions with their figures, latencies to each stage and CPU seconds per 1,000 tweets of every
    process. What could not be judged is `broken`, never a pass: an audit that did not come to its end, too few samples.
    Of a burst it is not asked whether a backlog grows.

    Ends with 0 for `pass`, 3 for `broken`, and 1 for every other verdict.
    """
    found = click.get_current_context().with_resource(running(common_options.known(instance)))
    display = Display(quiet=as_json)
    check_disk(found.settings, rate * (settle_s + 2 * seconds))
    ensure_warm(found, rate, warm_up_s, display.sampled)
    spec = Spec(
        rate, float(int(seconds)), 0.0 if seconds < LEAST_SECONDS else float(int(settle_s)), slo_ms,
        payload, workload, users=users, processes=processes,  # type: ignore[arg-type]
    )
    try:
        result = Experiment(found, spec, display.sampled).run()
    except BREAKING as error:
        click.echo(json.dumps({"verdict": "broken", "reason": str(error)}) if as_json else f"broken: {error}",
                   err=not as_json)
        sys.exit(options.BROKEN)
    finally:
        display.close()
    if as_json:
        click.echo(json.dumps({**result.as_json(), "environment": described(found.settings)}, allow_nan=False))
    else:
        click.echo(as_text(result))
    sys.exit({"pass": 0, "broken": options.BROKEN}.get(result.verdict.judgement, 1))
