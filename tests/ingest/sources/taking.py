"""Takes from a live source what comes."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ingest.sources.base import Payload, Source
from tests.stack import eventually

FAST = 0.01
"""Waits are this much shorter."""

WAIT_SECONDS = 60


def take(source: Source, count: int) -> list[Payload]:
    taken: list[Payload] = []

    def enough() -> bool:
        taken.extend(source.take([0] * 1000))
        return len(taken) >= count

    eventually(f"{count} payloads come", enough, WAIT_SECONDS)
    return taken


def ids(payloads: Sequence[Payload]) -> list[str]:
    return [orjson.loads(payload.body)["data"]["id"] for payload in payloads]
