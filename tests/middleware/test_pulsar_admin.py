"""A stream is made as soon as the broker can: it may be without a bookie for some seconds, and then refuses at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from common.settings import Settings
from middleware.errors import Unreachable
from middleware.pulsar.admin import PulsarAdmin

AWAY_SECONDS = 5.0


def test_a_stream_is_made_once_there_is_a_bookie(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("middleware.pulsar.admin.time.sleep", lambda seconds: clock.append(clock.pop() + seconds))

    def create(stream: str, partitions: int) -> None:
        if clock[0] < AWAY_SECONDS:
            raise Unreachable("Pulsar cannot answer yet: 500 not enough non-faulty bookies available")

    data = SimpleNamespace(streams=SimpleNamespace(create=create), groups=None)
    PulsarAdmin(Settings.load(), cast(Any, None), cast(Any, data)).create_stream("stream", 1)
    assert clock[0] >= AWAY_SECONDS
