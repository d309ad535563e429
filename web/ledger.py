"""The account of what was acknowledged, as the process `ledger` keeps it."""

from __future__ import annotations

from datetime import UTC, datetime

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, Field
from redis import Redis

from common.telemetry import ledger as kept
from common.telemetry.ledger import StageName, State
from web.openapi import errors

blueprint = APIBlueprint("ledger", __name__, url_prefix="/api/v1", tag="Pipeline")


class LedgerStage(BaseModel):
    """What became of the acknowledged tweets at one stage: they are the sum of the first three. Null: unknown."""

    name: StageName
    accounted: int | None = Field(
        description="tweets that have passed the stage, or of which it is known why they never will: rejected, late, "
                    "known before, lost at an earlier stage"
    )
    in_flight: int | None = Field(description="tweets that are still to come")
    lost: int | None = Field(description="tweets that did not come, though everyone before has passed them")
    twice: int | None = Field(description="tweets that are shown more often than they came")
    repeated: int | None = Field(description="events that came again, and are counted once")


class Ledger(BaseModel):
    """Every acknowledged tweet by what became of it, as of a second ago."""

    state: State = Field(
        description="exact: nothing is lost and nothing is there twice; differs: something is; unknown: some of it was "
                    "not to be read lately; off: an experiment runs, which it is not to disturb"
    )
    as_of: AwareDatetime | None = Field(description="when it was written; null: never")
    since: AwareDatetime | None = Field(description="when the first run began of which it tells; null: none has")
    acknowledged: int | None = Field(description="tweets of all runs that the stream store has acknowledged")
    stages: list[LedgerStage]
    rejected: int | None = Field(description="acknowledged events that were no tweets, or could not be read")
    late: int | None = Field(description="tweets that are not ranked: they came too late, or are deletions")
    aged_out: int | None = Field(description="stored tweets that are too old for the index")


@blueprint.get("/ledger")
@blueprint.output(Ledger, description="The account")
@blueprint.doc(responses=errors(503))
def ledger() -> Ledger:
    """What became of every acknowledged tweet"""
    return read(current_app.extensions["redis"], current_app.extensions["settings"].redis_prefix)


def read(redis: Redis, prefix: str) -> Ledger:
    """Raises RedisError."""
    found = kept.read(redis, prefix)
    return Ledger.model_validate({**found, "as_of": moment(found["as_of_us"]), "since": moment(found["since_us"])})


def moment(us: int | None) -> datetime | None:
    return None if us is None else datetime.fromtimestamp(us / 1e6, UTC)
