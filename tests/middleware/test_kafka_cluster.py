"""What Kafka's client raises, as one of our errors."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from middleware.base import MiddlewareError, Unreachable
from middleware.kafka.cluster import Cluster


@pytest.mark.parametrize(("code", "raised"), [
    (KafkaError._TIMED_OUT, Unreachable), (KafkaError.COORDINATOR_NOT_AVAILABLE, Unreachable),
    (KafkaError.GROUP_AUTHORIZATION_FAILED, MiddlewareError),
])
def test_no_answer_in_time_is_told_from_a_refusal(code: int, raised: type[MiddlewareError]) -> None:
    cluster = Cluster("127.0.0.1:1")
    with pytest.raises(MiddlewareError, match="cannot") as caught, cluster.raising(MiddlewareError, "cannot"):
        raise KafkaException(KafkaError(code))
    assert caught.type is raised
