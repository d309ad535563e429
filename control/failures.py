"""`POST /control/failures`: failures on purpose, as `murmur chaos` provokes them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any

from flask import Blueprint, current_app
from pydantic import BaseModel, ConfigDict, Field

from chaos.failure import CACHE, LONGEST_S, Failure, Refused
from chaos.lease import undo_abandoned
from chaos.provoke import provoke
from chaos.record import Record
from chaos.recovery import Telemetry
from common.control import PATH
from common.experiments import disturbing
from common.settings import Settings
from common.telemetry.failures import What
from control.actions import EXPERIMENT, why_not
from control.problems import NotDone, asked

log = logging.getLogger(__name__)

USUAL_S: Mapping[What, float] = {"pause": 10.0, "slow": 30.0, "fill-disk": 30.0}
"""How long what lasts does, unless it is said."""

SHARE = 0.2
"""Of its time, what a slowed process has."""

BEGIN_S = 20.0
"""In which a failure has begun."""

blueprint = Blueprint("failures", __name__, url_prefix=PATH)


class Wish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: What
    process: str = Field(CACHE, max_length=64)
    seconds: float | None = Field(None, gt=0, le=LONGEST_S)


@blueprint.post("/failures")
def fail() -> tuple[dict[str, Any], int]:
    """Answers when the failure has begun; how it ended, /api/v1/failures tells."""
    return current_app.extensions["failures"].begin(asked(Wish)).as_json(), 202


class Failures:
    """Those that were begun here, one of each process at a time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._provoked: set[str] = set()

    def begin(self, wish: Wish) -> Record:
        """Returns when it has begun. Raises NotDone, and as `provoke` does."""
        failure = failure_of(self._settings, wish)
        with self._lock:
            if failure.name in self._provoked:
                raise Refused(f"{failure.name} has not recovered from what was done to it before")
            self._provoked.add(failure.name)
        begun: Future[Record] = Future()
        threading.Thread(target=self._run, args=(failure, begun), name=failure.name, daemon=True).start()
        try:
            return begun.result(BEGIN_S)
        except TimeoutError as error:
            raise NotDone(HTTPStatus.SERVICE_UNAVAILABLE, "it has not begun yet: see `murmur logs control`") from error

    def _run(self, failure: Failure, begun: Future[Record]) -> None:
        """Goes on until the instance has recovered. Ends with the process, which what lasts does not outlive."""
        try:
            undo_abandoned(self._settings.instance_dir)
            with disturbing(self._settings, refusal=Refused(EXPERIMENT)):
                outcome = provoke(self._settings, failure, Telemetry(self._settings).usual(), begun.set_result)
            log.info("%s %s: %s", failure.what, failure.name, outcome.as_json())
        except Exception as error:  # for who waits for it
            if begun.done():
                log.exception("%s %s", failure.what, failure.name)
            else:
                begun.set_exception(error)
        finally:
            with self._lock:
                self._provoked.discard(failure.name)


def failure_of(settings: Settings, wish: Wish) -> Failure:
    """Raises Refused."""
    if wish.kind == "flush-cache" and wish.process != CACHE:
        raise Refused(f"it is {CACHE} that holds what can be made again")
    if wish.kind not in USUAL_S and wish.seconds is not None:
        raise Refused(f"{wish.kind} does not last")
    if reason := why_not(settings, wish.kind, wish.process):
        raise Refused(reason)
    share = SHARE if wish.kind == "slow" else 0.0
    return Failure(wish.kind, wish.process, wish.seconds or USUAL_S.get(wish.kind, 0.0), share)
