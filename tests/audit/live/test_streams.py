"""What the stream store tells, or does not tell."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from audit.live import process, streams
from audit.live.process import Sources
from audit.live.reading import Reading
from audit.live.streams import StreamsReader
from common.tweets import REJECTED, Ingest, RejectedEvent, to_json
from tests.audit.live.scene import GROUPS, Scene


def test_however_much_was_rejected_it_is_read_in_the_end(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    rejected = [to_json(RejectedEvent("x", "", 0, "", Ingest(1, "test", "r", seq), "")) for seq in range(50)]
    scene.send(REJECTED, [("", event) for event in rejected])
    monkeypatch.setattr(streams, "READ_S", 0.0)
    with scene.memory.data.consumer(REJECTED, "slow", start="head") as consumer:
        slow: Any = SimpleNamespace(poll=lambda events, seconds: consumer.poll(10, seconds), passed_over=False,
                                    has_reached=consumer.has_reached)
        reader = StreamsReader(scene.memory, slow, GROUPS)
        told = [reader.read() for _ in range(5)]
    assert [one.rejected is None for one in told] == [True, True, True, True, False]
    assert told[-1].rejected
    assert told[-1].rejected.numbers["r"].size == 50
    assert all(one.positions.ends for one in told)


def test_what_was_read_too_long_ago_tells_nothing(scene: Scene) -> None:
    now = time.monotonic()
    old = Reading(scene.streams.read(), now - process.TELLS_S - 1, now - process.TELLS_S - 1)
    latest = SimpleNamespace(latest=Reading(None, now, now))
    sources: Any = [latest, SimpleNamespace(latest=old), latest, latest, latest]
    parts = Sources(*sources).parts()
    assert parts
    assert (parts.streams, parts.seen) == (None, latest.latest)
