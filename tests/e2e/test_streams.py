"""What an instance holds in its streams is as docs/streams.md describes it."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest
import requests

from common.tweets import HASHTAG_COUNTS, RAW, REJECTED, STREAMS, hashtag_count
from middleware.registry import connect
from middleware.reread import reread
from tests.contract import differences, streams
from tests.stack import Stack

pytestmark = [pytest.mark.server, pytest.mark.timeout(300), pytest.mark.every_middleware]

TWEETS = 600


def test_every_event_is_as_described(stack: Stack) -> None:
    settings = stack.settings()
    with connect(settings) as middleware:
        before = {stream: middleware.data.end(stream) for stream in STREAMS}
    stack.ingest("--source", "synthetic", "--rate", "300", "--limit", str(TWEETS), "--run", "described")
    pushed = requests.post(f"{stack.url}/api/v1/tweets", timeout=30, data=b'{"data":{}}\n',
                           headers={"Authorization": f"Bearer {settings.ingest_token}"})
    assert pushed.json()["accepted"] == 1
    assert stack.audit("--run", "described")["ranked"]["missing"] == 0
    with connect(settings) as middleware:
        held: dict[str, list[bytes]] = {}
        for stream, position in before.items():
            with closing(reread(middleware, stream, position)) as batches:
                held[stream] = [event for batch in batches for event in batch]
    found = {stream: [why for event in events for why in differences(stream, event)] for stream, events in held.items()}
    assert found == {stream: [] for stream in STREAMS}
    assert len(held[RAW]) > TWEETS
    assert held[REJECTED]
    kinds = Counter(type(hashtag_count(event)).__name__ for event in held[HASHTAG_COUNTS])
    assert len(kinds) == len(streams()[HASHTAG_COUNTS].named("Kind")), kinds
