"""Kafka by librdkafka. A stream is a topic, the namespace the prefix of its name."""

from __future__ import annotations

from common.settings import Settings
from middleware.admin import Operator
from middleware.compared import Compared
from middleware.driver import Driver, Middleware


def connect(settings: Settings) -> Middleware:
    from middleware.kafka.admin import KafkaAdmin
    from middleware.kafka.cluster import Cluster
    from middleware.kafka.data import KafkaData
    from middleware.kafka.spark import KafkaSpark

    cluster = Cluster(settings)
    data = KafkaData(settings, cluster)
    return Middleware(settings, data, KafkaAdmin(settings, cluster, data), KafkaSpark(settings, cluster), cluster.close)


def operator(settings: Settings) -> Operator:
    from middleware.kafka.operator import KafkaOperator

    return KafkaOperator(settings)


def compared(settings: Settings) -> Compared:
    from middleware.kafka.compared import compared

    return compared(settings)


DRIVER = Driver(
    connect=connect,
    operator=operator,
    compared=compared,
    asks_durability=True,
    acknowledgement={
        "fsync": "appended by all in-sync replicas and flushed to disk before it is acknowledged; survives the machine",
        "page-cache": "appended by all in-sync replicas, in the memory of their operating system: survives the "
                      "broker's process, may be lost with the machine",
    },
    replicated="on two of three brokers at least, so that one of them may be dead; all are controllers too, so none "
               "is single",
)
