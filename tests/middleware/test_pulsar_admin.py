"""What a broker refuses that has no bookie for some seconds, as where the disk is full, is made once it has one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from common.settings import Settings
from middleware.errors import Unreachable
from middleware.pulsar.admin import PulsarAdmin
from middleware.pulsar.groups import Groups

AWAY_SECONDS = 3.0


class Broker:
    """Refuses until it has a bookie; takes the place of its connection, its streams and a group's record."""

    namespace = "murmur"

    def __init__(self) -> None:
        self.rest = self
        self.seconds = 0.0
        self.made: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def ask(self, method: str, path: str) -> None:
        if self.seconds < AWAY_SECONDS:
            raise Unreachable("Pulsar cannot answer yet: 500 not enough non-faulty bookies available")
        self.made.append(path)

    def create(self, stream: str, partitions: int) -> None:
        self.ask("PUT", f"{stream}, {partitions}")

    def make_namespace(self, *arguments: object) -> None:
        pass

    def read(self) -> None:
        return None

    def replace(self, content: bytes) -> None:
        self.made.append(content.decode())

    def close(self) -> None:
        pass


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    broker = Broker()
    monkeypatch.setattr("middleware.admin.time.sleep", broker.sleep)
    return broker


def create(broker: Broker) -> None:
    data = SimpleNamespace(streams=broker, groups=None)
    PulsarAdmin(Settings.load(), cast(Any, None), cast(Any, data)).create_stream("stream", 2)


def test_a_stream_is_made_once_there_is_a_bookie(broker: Broker) -> None:
    create(broker)
    assert broker.made == ["stream, 2"]


def test_a_group_is_made_once_there_is_a_bookie(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = Groups(cast(Any, broker), cast(Any, broker))
    monkeypatch.setattr(groups, "record", lambda life, group: broker)
    groups.make("life", "group", b"content")
    assert broker.made == ["persistent/murmur/murmur.groups/life.group", "content"]
