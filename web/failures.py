"""The failures that were provoked on purpose."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, Field

from common.telemetry import failures as told
from common.telemetry.failures import What
from web.ledger import moment
from web.openapi import errors

blueprint = APIBlueprint("failures", __name__, url_prefix="/api/v1", tag="Pipeline")


class Failure(BaseModel):
    """One failure; null where its kind has none, or it is not known yet."""

    process: str
    kind: What
    began_at: AwareDatetime
    ended_at: AwareDatetime | None = Field(
        description="end of what lasts, which may be to come; null: it only happens, as kill and flush-cache do"
    )
    back_after_s: float | None = Field(description="when a killed process did its work again, from the beginning")
    caught_up_after_s: float | None = Field(
        description="when all stages had caught up, from the beginning, or of what lasts from its end"
    )


class Failures(BaseModel):
    """The newest first, 100 at most."""

    failures: list[Failure]


@blueprint.get("/failures")
@blueprint.output(Failures, description="The newest first")
@blueprint.doc(responses=errors(503))
def failures() -> Failures:
    """What was killed or held up on purpose, and how long it took to recover"""
    extensions = current_app.extensions
    records = told.read(extensions["redis"], extensions["settings"].redis_prefix)
    return Failures.model_validate({"failures": [shown(record) for record in records]})


def shown(record: dict[str, Any]) -> dict[str, Any]:
    """A `chaos.record.Record` in the terms of the API."""
    return {
        "process": record["name"], "kind": record["what"], "began_at": moment(record["at_us"]),
        "ended_at": moment(record.get("until_us")), "back_after_s": record.get("back_after_s"),
        "caught_up_after_s": record.get("caught_up_after_s"),
    }
