"""Rate, lag and latency of the stages."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import current_app
from pydantic import BaseModel, Field
from redis import Redis

from common.durability import told
from common.settings import Durability, Settings
from common.stages import read_pipeline
from common.tweets import StageName
from web.openapi import errors

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


class Pipeline(BaseModel):
    """The stages in the order in which a tweet passes them."""

    middleware: str = Field(description="the stream store in use")
    durability: Durability | None = Field(description="what its acknowledgement means, by the running server")
    stages: list[Stage]


@blueprint.get("/pipeline")
@blueprint.output(Pipeline, description="The stages, in order")
@blueprint.doc(responses=errors(503))
def pipeline() -> Pipeline:
    """Rate, lag and latency of each stage"""
    return read(current_app.extensions["redis"], current_app.extensions["settings"])


def read(redis: Redis, settings: Settings) -> Pipeline:
    """Raises RedisError."""
    return Pipeline.model_validate({
        "middleware": settings.middleware,
        "durability": told(redis, settings.redis_prefix),
        "stages": read_pipeline(redis, settings.redis_prefix),
    })
