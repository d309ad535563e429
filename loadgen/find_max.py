"""The search for the capacity of a running instance: warm, with room on its disk, and written as it comes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common.settings import Settings
from loadgen.capacity import Search, Watcher, plan_for
from loadgen.observe.environment import check_disk, described
from loadgen.report.page import write_report
from loadgen.report.result import Spec
from loadgen.report.results import command, write_results
from loadgen.stack import Instance, ensure_warm

ORDINARY_RATE = 5700.0
"""Twitter's average: what the disk must have room for before a search begins."""


def search(instance: Instance, spec: Spec, budget_s: float, warm_up_s: float, folder: Path, watcher: Watcher
           ) -> dict[str, Any]:
    """Searches, and keeps results.json and report.html up to date; the content of the former."""
    settings = instance.settings
    check_disk(settings, min(budget_s, 1500) * ORDINARY_RATE)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    environment = described(settings)
    began = datetime.now()
    ensure_warm(instance, spec.rate, warm_up_s, watcher.sampled)
    left_s = budget_s - (datetime.now() - began).total_seconds()
    found = Search(instance, spec, plan_for(spec, spec.rate), left_s, watcher)

    def content() -> dict[str, Any]:
        return as_json(found, started, settings, environment)

    found.run(lambda _: keep(folder, content()), lambda tweets: check_disk(settings, tweets))
    keep(folder, content())
    return content()


def as_json(found: Search, started: str, settings: Settings, environment: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "find-max", "started_at": started, "command": command(),
        "instance": settings.instance, "workload": found.spec.workload, "capacity": vars(found.capacity()),
        "experiments": found.results, **environment,
    }


def keep(folder: Path, content: dict[str, Any]) -> None:
    write_results(folder, content)
    write_report(folder, [content])
