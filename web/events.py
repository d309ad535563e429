"""The stream of events that keeps a page live."""

from __future__ import annotations

from collections.abc import Callable

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, request
from redis.exceptions import RedisError

from common.settings import Settings
from web import ledger, pipeline, problems
from web.event_streams import Broadcast, Full, Message, Source, TooMany, Topic
from web.openapi import errors
from web.parameters import refuse_repeated
from web.problems import TooManyRequests, Unavailable
from web.trending import TrendingQuery, read_ranking

RETRY_WHEN_FULL_S = 10

blueprint = APIBlueprint("events", __name__, url_prefix="/api/v1", tag="Events")
blueprint.before_request(refuse_repeated)

DESCRIPTION = """Server-Sent Events. `data` is one line of JSON.

- `trending`: the body of `GET trending` for `window` and `limit`
- `pipeline`: the body of `GET pipeline`
- `ledger`: the body of `GET ledger`
- `problem`: the body of the error that one of them would answer; the stream goes on, and so may the last data

Each is sent at once, then when it changes (at most once a second), and after 5 s even if it has not changed. A client
that reads slowly gets only the newest of each. A comment keeps a silent stream open."""


def register(app: APIFlask) -> None:
    settings: Settings = app.extensions["settings"]
    redis = app.extensions["redis"]

    def read(source: Source) -> Callable[[int], Message]:
        try:
            if source.event == "pipeline":
                message = Message("pipeline", pipeline.read(redis, settings).model_dump_json())
                return lambda limit: message
            if source.event == "ledger":
                account = Message("ledger", ledger.read(redis, settings.redis_prefix).model_dump_json())
                return lambda limit: account
            ranking = read_ranking(redis, settings.redis_prefix, source.window)
            return lambda limit: Message("trending", ranking.cut(limit).model_dump_json())
        except Unavailable as error:
            problem = Message("problem", problems.body(503, error.detail))
        except RedisError:
            problem = Message("problem", problems.body(503, "Redis does not answer."))
        return lambda limit: problem

    app.extensions["broadcast"] = Broadcast(read, settings.web_streams, settings.web_streams_per_client)


@blueprint.get("/events")
@blueprint.input(TrendingQuery, location="query", arg_name="query")
@blueprint.doc(description=DESCRIPTION, responses={
    200: {
        "description": "Events until the client leaves or the server ends",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    **errors(400, 429, 503),
})
def events(query: TrendingQuery) -> Response:
    """Rankings, pipeline and ledger as they change"""
    broadcast: Broadcast = current_app.extensions["broadcast"]
    topics = Topic(Source("trending", query.window), query.limit), Topic(Source("pipeline")), Topic(Source("ledger"))
    try:
        subscription = broadcast.subscribe(request.remote_addr or "", *topics)
    except TooMany:
        raise TooManyRequests("No further event stream is free for you: poll.", RETRY_WHEN_FULL_S) from None
    except Full:
        raise Unavailable("No further event stream is free: ask again later, or poll.", RETRY_WHEN_FULL_S) from None
    response = Response(subscription.frames(), mimetype="text/event-stream", headers={"X-Accel-Buffering": "no"})
    # Not by the iterator: one that was never begun, because the client left early, is not told of its end.
    response.call_on_close(lambda: broadcast.unsubscribe(subscription))
    return response
