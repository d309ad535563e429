"""What Kafka's client raises, as one of our errors."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import NewTopic

from common.settings import Settings
from middleware.errors import MiddlewareError, Unreachable
from middleware.kafka.cluster import Cluster


@pytest.mark.parametrize(("code", "raised"), [
    (KafkaError._TIMED_OUT, Unreachable), (KafkaError.COORDINATOR_NOT_AVAILABLE, Unreachable),
    (KafkaError.GROUP_AUTHORIZATION_FAILED, MiddlewareError),
])
def test_no_answer_in_time_is_told_from_a_refusal(code: int, raised: type[MiddlewareError]) -> None:
    cluster = Cluster(Settings(middleware_uri="127.0.0.1:1"))
    with pytest.raises(MiddlewareError, match="cannot") as caught, cluster.raising(MiddlewareError, "cannot"):
        raise KafkaException(KafkaError(code))
    assert caught.type is raised


class Answers:
    """A client whose creations fail with these codes, one after the other, and then succeed."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)

    def create_topics(self, topics: list[NewTopic], **_: Any) -> dict[str, Future[None]]:
        created: Future[None] = Future()
        if self.codes:
            created.set_exception(KafkaException(KafkaError(self.codes.pop(0))))
        else:
            created.set_result(None)
        return {topic.topic: created for topic in topics}

    def list_topics(self, **_: Any) -> Any:
        return SimpleNamespace(topics={"t": SimpleNamespace(partitions={0: SimpleNamespace(leader=1)})})


@pytest.mark.parametrize("code", [KafkaError.INVALID_REPLICATION_FACTOR, KafkaError._TIMED_OUT])
def test_a_creation_waits_for_a_broker_that_is_fenced(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So `up` fails on no machine that is merely busy: seen there with both."""
    cluster, answers = Cluster(Settings(middleware_uri="127.0.0.1:1")), Answers(code, code)
    monkeypatch.setattr(cluster, "client", lambda: answers)
    monkeypatch.setattr(cluster, "_probe", lambda: None)
    cluster.create(NewTopic("t", num_partitions=1))
    assert not answers.codes


def test_a_creation_that_is_refused_fails_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, answers = Cluster(Settings(middleware_uri="127.0.0.1:1")), Answers(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    monkeypatch.setattr(cluster, "client", lambda: answers)
    monkeypatch.setattr(cluster, "_probe", lambda: None)
    with pytest.raises(MiddlewareError, match="cannot create the topic t"):
        cluster.create(NewTopic("t", num_partitions=1))
