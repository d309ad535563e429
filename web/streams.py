"""What flows through the streams."""

from __future__ import annotations

import time
from typing import Literal

from apiflask import APIBlueprint
from flask import current_app
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from common.telemetry import newest
from web.openapi import errors
from web.parameters import refuse_repeated

StreamName = Literal["tweets-raw", "tweets-enriched", "tweets-rejected", "hashtag-counts"]

blueprint = APIBlueprint("streams", __name__, url_prefix="/api/v1", tag="Pipeline")
blueprint.before_request(refuse_repeated)


class StreamQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    stream: StreamName = Field(description="which stream")


class StreamEvent(BaseModel):
    at: AwareDatetime = Field(description="when it passed")
    event: str = Field(description=f"its JSON, cut to {newest.EVENT_BYTES} bytes")


class StreamEvents(BaseModel):
    """Events of one stream, one a second at most, newest first."""

    stream: StreamName
    events: list[StreamEvent]


@blueprint.get("/streams")
@blueprint.input(StreamQuery, location="query", arg_name="query")
@blueprint.output(StreamEvents, description="The newest first")
@blueprint.doc(responses=errors(400, 503))
def streams(query: StreamQuery) -> StreamEvents:
    """What passed a stream in the last minute

    A sample, of one event a second at most: whoever writes or reads the stream leaves it. Nothing may have passed, or
    its process may be down.
    """
    extensions = current_app.extensions
    found = newest.read(extensions["redis"], extensions["settings"].redis_prefix, query.stream, time.time())
    return StreamEvents.model_validate({"stream": query.stream, "events": [each._asdict() for each in found]})
