"""`murmur chaos --seed N --for TIME`: a series of failures, and whether anything was lost."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from audit.process import NotJudged
from chaos.provoke import Outcome, names
from chaos.schedule import schedule
from chaos.series import run, table
from cli import audit
from cli.chaos.display import as_table, begun, not_provoked, recovered
from cli.chaos.instance import chosen
from common.settings import Settings

AUDIT_SECONDS = 300.0


def series(instance: str | None, seed: int, seconds: float, as_json: bool) -> None:
    """Ends with the audit's status, or with 1 if that is 0 and something had not recovered or did not begin."""

    def say(line: str) -> None:
        if not as_json:
            click.echo(line)

    with chosen(instance) as settings:
        processes = names(settings)
        say(f"seed {seed}: {', '.join(processes)}")
        ends = run(settings, schedule(seed, processes), seconds, tell=lambda record: say(begun(record)),
                   ended=lambda end: say(f"  {recovered(end)}" if isinstance(end, Outcome) else not_provoked(end)))
        outcomes = [end for end in ends if isinstance(end, Outcome)]
        rows = table([outcome.record for outcome in outcomes])
        say(f"\n{as_table(rows)}\n")
        status, found = audited(settings)
    if as_json:
        click.echo(json.dumps({
            "seed": seed, "failures": [outcome.as_json() for outcome in outcomes],
            "not_provoked": [end.as_json() for end in ends if not isinstance(end, Outcome)],
            "processes": [asdict(row) for row in rows], "audit": found,
        }))
    else:
        click.echo(audit.as_text(found["stages"]) if "stages" in found else f"not judged: {found['not_judged']}")
    sys.exit(status or int(not all(isinstance(end, Outcome) and end.has_recovered for end in ends)))


def audited(settings: Settings) -> tuple[int, dict[str, Any]]:
    """Status and JSON of `murmur audit`."""
    try:
        stages = audit.judged(settings, None, AUDIT_SECONDS)
    except NotJudged as error:
        return audit.NOT_JUDGED, {"not_judged": str(error)}
    return audit.status(stages), {"stages": stages}
