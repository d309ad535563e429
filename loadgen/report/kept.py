"""One experiment as others see it: what it does while it runs, and its result afterwards, in a folder of its own."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from common.experiments import HELD, PROGRESS
from common.settings import Settings
from common.storage import files
from loadgen.observe.environment import described
from loadgen.observe.samples import Sample
from loadgen.report.result import Result, Spec
from loadgen.report.results import write_results

WRITE_SECONDS = 1.0
"""More often would be work beside what is measured."""

INTERRUPTED = "it was ended before its verdict"


class Kept:
    """Is told how the experiment goes on, and how it ended."""

    def __init__(self, settings: Settings, spec: Spec, folder: Path, called: str) -> None:
        self._folder = folder
        self._about: dict[str, Any] = {
            "kind": "run", "started_at": datetime.now(UTC).isoformat(timespec="seconds"), "command": called,
            "instance": settings.instance, "workload": spec.workload,
        }
        self._asked = {"rate": spec.rate, "seconds": spec.seconds, "payload": spec.payload, "users": spec.users}
        self.environment = described(settings)
        self._phase, self._written = "", 0.0
        self.watch("starting", None)

    @classmethod
    @contextmanager
    def of(cls, settings: Settings, spec: Spec, folder: Path, called: str) -> Iterator[Self]:
        """Held during the block; one that ends with an exception has broken by that, which is raised. `called`: the
        command that does the same."""
        folder.mkdir(parents=True, exist_ok=True)
        with files.locked(folder / HELD, os.O_CREAT):
            kept = cls(settings, spec, folder, called)
            try:
                yield kept
            except BaseException as error:
                kept._finish({**kept._asked, "verdict": "broken", "reason": str(error) or INTERRUPTED})
                raise
        (folder / HELD).unlink()

    def watch(self, phase: str, sample: Sample | None) -> None:
        """A `loadgen.experiment.Watch`."""
        if phase == self._phase and time.monotonic() - self._written < WRITE_SECONDS:
            return
        self._phase, self._written = phase, time.monotonic()
        told = {"at": round(sample.at, 1), "backlog": dict(sample.backlog)} if sample else {"at": None, "backlog": None}
        partial = self._folder / f"{PROGRESS}.partial"
        partial.write_text(json.dumps({**self._about, **self._asked, **self.environment, "phase": phase, **told}))
        partial.replace(self._folder / PROGRESS)  # not synced: after a crash nothing goes on

    def finish(self, result: Result) -> None:
        """Writes results.json."""
        self._finish(result.as_json())

    def _finish(self, experiment: Mapping[str, Any]) -> None:
        write_results(self._folder, {**self._about, "experiments": [experiment], **self.environment})
        (self._folder / PROGRESS).unlink()
