"""The processes of the instance, as its controls see them."""

from __future__ import annotations

import time

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, Field

from common.telemetry import processes as told
from web.openapi import errors

blueprint = APIBlueprint("processes", __name__, url_prefix="/api/v1", tag="Pipeline")


class Process(BaseModel):
    """One process, with all that it has started; null where unknown, never 0."""

    name: str
    state: str = Field(description="running, starting, backoff, exited, stopping, stopped, fatal; or paused")
    pid: int | None = Field(description="null: it does not run")
    up_since: AwareDatetime | None
    restarts: int = Field(ge=0, description="how often it was started anew since the instance was started")
    cpu_share: float | None = Field(ge=0, description="CPU time over the last second, as a share of one core")
    memory_bytes: int | None = Field(ge=0, description="resident, shared memory counted for each")


class Processes(BaseModel):
    """In the order of their names."""

    as_of: AwareDatetime | None = Field(
        description="null: nobody tells, as in containers, or nobody has for 5 s; `processes` is empty then"
    )
    processes: list[Process]


@blueprint.get("/processes")
@blueprint.output(Processes, description="The processes as of a second ago")
@blueprint.doc(responses=errors(503))
def processes() -> Processes:
    """Which processes run, since when, and what they use"""
    extensions = current_app.extensions
    reading = told.read(extensions["redis"], extensions["settings"].redis_prefix)
    if reading is None or reading["as_of"] < time.time() - told.STALE_S:
        return Processes(as_of=None, processes=[])
    found = sorted(reading["processes"], key=lambda one: one["name"])
    return Processes.model_validate({"as_of": reading["as_of"], "processes": found})
