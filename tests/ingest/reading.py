"""What stands in the stream store."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import orjson

from common.settings import Settings
from common.tweets import RAW
from middleware.registry import connect
from middleware.reread import reread


def published(settings: Settings, run: str) -> list[dict[str, Any]]:
    """The events of a run in `tweets-raw`."""
    with connect(settings) as middleware, closing(reread(middleware, RAW)) as batches:
        events = [orjson.loads(event) for batch in batches for event in batch]
    return [event for event in events if event["ingest"]["run"] == run]
