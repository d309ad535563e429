"""`POST /control/tweets`: one typed tweet, through the endpoint that takes everybody's."""

from __future__ import annotations

import secrets
import time
from http import HTTPStatus
from typing import Annotated

import requests
from flask import Blueprint, current_app, json
from pydantic import BaseModel, ConfigDict, StringConstraints

from chaos.failure import Refused
from common import push
from common.control import PATH
from common.experiments import disturbing
from common.settings import Port, Settings
from common.tweets import X_EPOCH_MS, rfc3339
from control.actions import EXPERIMENT
from control.problems import NotDone, asked

MOST_CHARACTERS = 1000
ANSWER_S = 20.0

AUTHOR = "control"

blueprint = Blueprint("tweets", __name__, url_prefix=PATH)


class Typed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MOST_CHARACTERS)]


@blueprint.post("/tweets")
def publish() -> tuple[dict[str, str], int]:
    """Answers with its id when it is published."""
    text, settings = asked(Typed).text, current_app.extensions["settings"]
    now_ms = time.time_ns() // 1_000_000
    tweet_id = str(now_ms - X_EPOCH_MS << 22 | secrets.randbits(22))
    with disturbing(settings, refusal=Refused(EXPERIMENT)):
        push_tweet(settings, {
            "id": tweet_id, "text": text, "created_at": rfc3339(now_ms * 1000), "author_id": AUTHOR,
        })
    return {"id": tweet_id}, 201


def push_tweet(settings: Settings, tweet: dict[str, str]) -> None:
    """Returns when it is acknowledged. Raises NotDone."""
    headers = {"Authorization": f"Bearer {settings.ingest_token}", "Host": settings.host_names[0]}
    try:
        response = requests.post(f"http://{settings.address(Port.INGEST)}{push.PATH}", json.dumps({"data": tweet}),
                                 headers=headers, timeout=ANSWER_S)
    except requests.RequestException as error:
        raise NotDone(HTTPStatus.SERVICE_UNAVAILABLE, "ingest-http does not answer: nobody knows whether it has "
                                                      "published the tweet") from error
    if not response.ok:  # its own status would speak of the page's request
        raise NotDone(HTTPStatus.BAD_GATEWAY, f"ingest-http refused it: {response.status_code} {said(response)}")
    if refused := push.Pushed.model_validate(response.json()).refused:
        raise NotDone(HTTPStatus.BAD_REQUEST, f"the tweet was refused: {refused[0].reason}")


def said(response: requests.Response) -> str:
    """Why, as problem+json tells, or the name of the status."""
    try:
        return str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return response.reason
