"""`POST /control/experiments`: one rate, one verdict, as `murmur load run` makes it."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import threading
import time
from http import HTTPStatus
from pathlib import Path
from typing import Literal

from flask import Blueprint, current_app
from pydantic import BaseModel, ConfigDict, Field

from chaos.failure import Refused
from common import experiments, modules
from common.control import PATH
from common.experiments import PROGRESS, RESULTS
from common.process.child import await_end, ends_with_parent, python
from common.settings import Settings
from common.storage import files
from control.actions import EXPERIMENT
from control.problems import NotDone, asked

log = logging.getLogger(__name__)

MOST_PER_S, LONGEST_S, SHORTEST_S = 10_000, 300, 10
BEGIN_S, END_S = 60.0, 2.5
"""In which an experiment has begun; which one that is ended has to remove its data, or else that stays, and counts."""

POLL_S = 0.1
LAST_LINES = 3

blueprint = Blueprint("experiments", __name__, url_prefix=PATH)


class Wish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rate_per_s: float = Field(ge=1, le=MOST_PER_S)
    seconds: int = Field(60, ge=SHORTEST_S, le=LONGEST_S)
    workload: Literal["realistic", "cached"] = "realistic"


@blueprint.post("/experiments")
def begin() -> tuple[dict[str, str], int]:
    """Answers when it has begun; what it does, and came to, /api/v1/experiments tells."""
    return {"id": current_app.extensions["experiments"].begin(asked(Wish))}, 202


class Experiments:
    """At most one at a time. It ends with the process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None

    def begin(self, wish: Wish) -> str:
        """Returns the name of its folder when it has begun. Raises Refused, NotDone."""
        folder = experiments.new_folder(self._settings)
        words = json.dumps({"folder": str(folder), "rate": wish.rate_per_s, "seconds": float(wish.seconds),
                            "workload": wish.workload})
        with self._lock:
            if self._running or experiments.is_running(self._settings):
                raise Refused(EXPERIMENT)
            started = threading.Event()
            # The kernel ends it with the thread that starts it, so that is one which waits for it.
            threading.Thread(target=self._run, args=(words, started), name=folder.name, daemon=True).start()
            started.wait(BEGIN_S)
        until = time.monotonic() + BEGIN_S
        while not any((folder / name).exists() for name in (PROGRESS, RESULTS)):
            if self._running is None:
                raise NotDone(HTTPStatus.SERVICE_UNAVAILABLE, "; ".join(
                    ["it did not begin", *files.last_lines(self._log_file(), LAST_LINES)]))
            if time.monotonic() > until:
                raise NotDone(HTTPStatus.SERVICE_UNAVAILABLE, "it has not begun yet: see `murmur logs load`")
            time.sleep(POLL_S)
        return folder.name

    def end(self) -> None:
        """Ends the one that runs."""
        if running := self._running:
            running.terminate()
            await_end([running], END_S)

    def _run(self, words: str, started: threading.Event) -> None:
        try:
            with files.log_file(self._log_file(), self._settings.log_max_bytes) as output:
                # In a session of its own it is none of the processes of this one, whose use is told.
                self._running = subprocess.Popen(
                    ends_with_parent(python(modules.Control.EXPERIMENT, words)), stdin=subprocess.DEVNULL,
                    stdout=output, stderr=output, start_new_session=True,
                    env={**os.environ, "MURMUR_SETTINGS": str(self._settings.settings_file)})
            started.set()
            log.info("an experiment has ended with %d", self._running.wait())
        except OSError:
            log.exception("an experiment did not start")
        finally:
            self._running = None
            started.set()

    def _log_file(self) -> Path:
        return self._settings.log_dir / "load.log"
