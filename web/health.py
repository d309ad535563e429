"""Whether the process lives, whether it can do its work, and the pipeline's figures for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from apiflask import APIBlueprint
from flask import Response, current_app
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from sqlalchemy import create_engine, make_url

from common.milvus import check as check_index
from common.settings import Settings
from web.metrics import PipelineCollector
from web.openapi import RETRY_AFTER
from web.problems import RETRY_AFTER_S

CHECK_TIMEOUT_S = 2.0

NOT_READY: Any = {503: {
    "description": "A dependency does not answer: come back after `Retry-After` seconds",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}},
    "headers": RETRY_AFTER,
}}
METRICS: Any = {200: {
    "description": "Prometheus text format",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}}

blueprint = APIBlueprint("health", __name__, tag="Health")


class Alive(BaseModel):
    status: str = Field(description="always ok")


class DependencyState(BaseModel):
    ok: bool
    detail: str | None = Field(description="null if ok, else the kind of failure")


class Readiness(BaseModel):
    ready: bool = Field(description="whether every dependency answers")
    dependencies: dict[str, DependencyState] = Field(description="by name: redis, milvus, database")


@blueprint.get("/healthz")
@blueprint.output(Alive, description="The process is alive")
def healthz() -> dict[str, Any]:
    """Whether the process is alive

    It asks nothing else, so that a dependency's failure does not restart the process.
    """
    return {"status": "ok"}


@blueprint.get("/readyz")
@blueprint.output(Readiness, description="Every dependency answers")
@blueprint.doc(responses=NOT_READY)
def readyz() -> tuple[Readiness, int, dict[str, str]]:
    """Whether every dependency answers"""
    settings: Settings = current_app.extensions["settings"]
    redis = current_app.extensions["redis"]
    checks: dict[str, Callable[[], object]] = {
        "redis": redis.ping,
        "milvus": lambda: check_index(settings.milvus_address, CHECK_TIMEOUT_S),
        "database": lambda: check_database(settings.database_address),
    }
    with ThreadPoolExecutor(len(checks)) as pool:
        states = dict(zip(checks, pool.map(state, checks.values()), strict=True))
    ready = all(each.ok for each in states.values())
    headers = {} if ready else {"Retry-After": str(RETRY_AFTER_S)}
    return Readiness(ready=ready, dependencies=states), 200 if ready else 503, headers


@blueprint.get("/metrics")
@blueprint.doc(responses=METRICS)
def metrics() -> Response:
    """The pipeline for Prometheus

    Read from Redis at every scrape, so every replica answers alike; only `murmur_event_streams` is the replica's own.
    """
    extensions = current_app.extensions
    registry = CollectorRegistry(auto_describe=False)
    registry.register(PipelineCollector(extensions["redis"], extensions["settings"], extensions["broadcast"]))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def state(check: Callable[[], object]) -> DependencyState:
    try:
        check()
    except Exception as error:  # whatever it is, the dependency is not usable
        return DependencyState(ok=False, detail=type(error).__name__)
    return DependencyState(ok=True, detail=None)


def check_database(address: str) -> None:
    """Raises unless the database answers."""
    timeout = "timeout" if make_url(address).get_backend_name() == "sqlite" else "connect_timeout"
    engine = create_engine(address, connect_args={timeout: int(CHECK_TIMEOUT_S)})
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT count(*) FROM (SELECT 1 FROM tweets LIMIT 1) AS one")
    finally:
        engine.dispose()
