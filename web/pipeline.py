"""Rate, lag and latency of the stages."""

from __future__ import annotations

import time
from collections.abc import Mapping

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, Field
from redis import Redis

from common.settings import Durability, Settings
from common.telemetry import history, retention
from common.telemetry.durability import told
from common.telemetry.limiting import Trend, has_to_wait, limiting
from common.telemetry.stages import newest_source, read_stages, readings, source_problem
from common.tweets import Reader, SourceKind, StageName
from web.openapi import errors

STAGE_OF: dict[Reader, StageName] = {
    "enrich": "enriched", "trending": "ranked", "trending-consumer": "ranked", "search-consumer": "searchable",
}
"""The stage that waits for each reader of a stream."""

blueprint = APIBlueprint("pipeline", __name__, url_prefix="/api/v1", tag="Pipeline")


class Latency(BaseModel):
    """From the moment at which a tweet was meant to be sent, over the last 30 s, in ms; null: nothing came."""

    p50: float | None
    p95: float | None
    p99: float | None


class Stage(BaseModel):
    """What one stage does now; null where unknown, never 0."""

    name: StageName
    rate_per_s: float | None = Field(description="tweets that completed the stage per second")
    lag_events: int | None = Field(description="tweets that were published and have not completed the stage")
    lag_seconds: float | None = Field(description="how far the stage is behind the newest published tweet, in seconds")
    latency_ms: Latency
    retention_used: float | None = Field(
        ge=0, description="share of a stream's retention that lies before the stage's slowest reader: at 1 the stream "
                          "deletes what was not read yet; null: unknown, or nothing is read"
    )


class Limiting(BaseModel):
    """The stage that the others wait for: it adds 4 s or more to the lag of the one before it."""

    stage: StageName
    since: AwareDatetime = Field(description="in steps of 5 s, and not before the history begins")
    trend: Trend = Field(description="what became of the lag that it adds in the last 10 s")


class Pipeline(BaseModel):
    """The stages in the order in which a tweet passes them."""

    middleware: str = Field(description="the stream store in use")
    durability: Durability | None = Field(description="what its acknowledgement means; null: unknown")
    durability_asked: bool | None = Field(
        description="true: the running server says so; false: that is what it was configured with; null: unknown"
    )
    replicas: int = Field(description="copies of each event, as configured; how many are in step now is not asked")
    source: str | None = Field(
        description="the source of the tweets that were published last: bluesky, replay, synthetic, …; null: none were"
    )
    source_kind: SourceKind | None = Field(
        description="how real its tweets are: live, what people write now; pushed, sent here by somebody; recorded "
                    "earlier; invented by a program; null: it is not known"
    )
    source_ended_at: AwareDatetime | None = Field(
        description="when that source ended, or reported for the last time 15 s ago or earlier; null: it is at work, "
                    "or is what is pushed"
    )
    source_problem: str | None = Field(
        description="what keeps a live source that is at work from bringing anything, such as a server that is not "
                    "reached and is tried on; null: nothing does"
    )
    stages: list[Stage]
    limiting: Limiting | None = Field(description="of several, the first whose own lag grows, or else the one with the "
                                                  "largest; null: none has to wait")


class HistoryStage(BaseModel):
    """One stage at one moment; null where it was unknown, never 0."""

    name: StageName
    rate_per_s: float | None
    lag_events: int | None
    lag_seconds: float | None
    latency_ms: Latency


class HistoryPoint(BaseModel):
    at: AwareDatetime
    stages: list[HistoryStage]


class History(BaseModel):
    """In order of time. Points may be missing: nobody told them then."""

    every_s: int = Field(description="seconds from point to point")
    points: list[HistoryPoint]


@blueprint.get("/pipeline")
@blueprint.output(Pipeline, description="The stages, in order")
@blueprint.doc(responses=errors(503))
def pipeline() -> Pipeline:
    """Rate, lag and latency of each stage"""
    return read(current_app.extensions["redis"], current_app.extensions["settings"])


@blueprint.get("/pipeline/history")
@blueprint.output(History, description="The points")
@blueprint.doc(responses=errors(503))
def pipeline_history() -> History:
    """What the stages did in the last 15 minutes"""
    extensions = current_app.extensions
    points = history.read(extensions["redis"], extensions["settings"].redis_prefix, time.time())
    return History.model_validate({"every_s": history.EVERY_S, "points": [point._asdict() for point in points]})


def read(redis: Redis, settings: Settings) -> Pipeline:
    """Raises RedisError."""
    used = retention_used(retention.read(redis, settings.redis_prefix))
    in_force = told(redis, settings.redis_prefix)
    now = time.time()
    stages = read_stages(redis, settings.redis_prefix, now)
    source, found = newest_source(stages), readings(stages, now)
    points = history.read(redis, settings.redis_prefix, now) if has_to_wait(found) else []
    limits = limiting(found, now, points)
    return Pipeline.model_validate({
        "middleware": settings.middleware,
        "durability": in_force.durability,
        "durability_asked": in_force.asked,
        "replicas": settings.replicas,
        "source": source and source.name,
        "source_kind": source and source.kind,
        "source_ended_at": source and source.ended_at,
        "source_problem": source_problem(stages),
        "stages": [{**stage, "retention_used": used.get(stage["name"])} for stage in found],
        "limiting": limits and limits._asdict(),
    })


def retention_used(shares: Mapping[Reader, float | None]) -> dict[str, float]:
    """By stage, the share of its slowest reader; without the stages of which nothing is known."""
    used: dict[str, float] = {}
    for reader, share in shares.items():
        if share is not None:
            used[STAGE_OF[reader]] = max(share, used.get(STAGE_OF[reader], 0.0))
    return used
