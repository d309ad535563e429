"""`murmur audit`."""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from typing import Any

import click

from audit.process import NotJudged, auditing
from cli.options import as_json as json_option
from cli.options import instance as instance_option
from cli.options import known
from common.settings import Settings
from ingest.manifest import read_manifests

GRACE_SECONDS = 2.0
"""How much longer than the timeout an answer is waited for, that is on its way."""

CLEAN, NOT_CLEAN, NOT_JUDGED, ONLY_LOST = 0, 1, 3, 4

COLUMNS = ("expected", "found", "missing", "duplicated", "already_known", "aged_out", "lost_to_retention", "parked")

RANGES = ("missing_seqs", "lost_buckets")


@click.command()
@click.option("--run", help="Audit this run only (default: every run of the instance).")
@click.option("--timeout", default=120, show_default=True, type=click.IntRange(min=1),
              help="Seconds for all of it, the waiting for the stages to become complete included.")
@instance_option
@json_option
def audit(run: str | None, timeout: int, instance: str | None, as_json: bool) -> None:
    """Count every event of a run at every stage: expected, found, missing, duplicated, already known.

    Judges what was acknowledged when it began, whatever is published meanwhile, and waits until nothing of that is
    missing or the timeout has passed. Expected is what was found, already known (another event brought the tweet
    before) or missing. What aged out of a store that has reached its bound was there, and counts as found. So does what
    was deleted: its row is blank, and the index does not have it. What was given up (`murmur accept-loss`) is lost to
    retention, and what a reader could not read is parked: neither is expected behind that reader.

    \b
    Ends with status
      0  nothing is missing, nothing twice
      1  something is missing or twice
      3  it could not be judged in time: more time may do, or `murmur status` shows what does not answer
      4  nothing is missing or twice but what was lost to retention

    Where Spark's sink is at least once and Spark was restarted since the run began, repeats of enriched events, at
    most a micro-batch for each restart, are shown as `repeated` and are not twice; behind that stage they must not be
    seen.
    """
    settings = known(instance)
    manifests = read_manifests(settings)
    if run and run not in manifests:
        raise click.ClickException(f"there is no run {run!r}; known: {', '.join(manifests) or 'none'}")
    try:
        stages = judged(settings, [run] if run else None, timeout)
    except NotJudged as error:
        if as_json:
            click.echo(json.dumps({"not_judged": str(error)}))
        click.echo(f"not judged: {error}", err=True)
        sys.exit(NOT_JUDGED)
    click.echo(json.dumps({"stages": stages}) if as_json else as_text(stages))
    sys.exit(status(stages))


def judged(settings: Settings, runs: list[str] | None, timeout: float) -> dict[str, dict[str, Any]]:
    """Findings of the runs, or of all, by stage. Raises NotJudged."""
    until = time.monotonic() + timeout
    with auditing(settings, "head", timeout) as process:
        process.follows(until - time.monotonic())
        return process.stages(runs, until - time.monotonic(), GRACE_SECONDS)


def status(stages: dict[str, dict[str, Any]]) -> int:
    if any(stage["missing"] or stage["duplicated"] for stage in stages.values()):
        return NOT_CLEAN
    return ONLY_LOST if any(stage["lost_to_retention"] or stage["lost_buckets"] for stage in stages.values()) else CLEAN


def as_text(stages: dict[str, dict[str, Any]]) -> str:
    shown = [name for name in COLUMNS if name in COLUMNS[:5] or any(stage[name] for stage in stages.values())]
    lines = [f"{'':<10}" + "".join(f"{name:>18}" for name in shown)]
    for name, stage in stages.items():
        detail = ", ".join(f"{key} {value}" for key, value in stage.items() if key not in (*COLUMNS, *RANGES))
        lines.append(f"{name:<10}" + "".join(f"{stage[column]:>18,}" for column in shown) + f"   {detail}".rstrip())
    for name, stage in stages.items():
        lines += [f"{name}: missing of {run}: {first} to {last}" for run, first, last in stage["missing_seqs"]]
        lines += [f"{name}: given up, counts may be too low: buckets from {_utc(first)} to {_utc(last)}"
                  for first, last in stage["lost_buckets"]]
    return "\n".join(lines)


def _utc(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
