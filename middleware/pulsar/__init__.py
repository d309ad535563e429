"""Pulsar 4.0 by its C++ client. A stream is a partitioned topic, the namespace one of the tenant `murmur`."""

from __future__ import annotations

from common.settings import Settings
from middleware.admin import Operator
from middleware.compared import Compared
from middleware.driver import Driver, Middleware


def connect(settings: Settings) -> Middleware:
    from middleware.pulsar.admin import PulsarAdmin
    from middleware.pulsar.connection import Connection
    from middleware.pulsar.data import PulsarData
    from middleware.pulsar.spark import PulsarSpark

    connection = Connection(settings)
    data = PulsarData(settings, connection)
    return Middleware(settings, data, PulsarAdmin(settings, connection, data),
                      PulsarSpark(settings, connection, data.streams), connection.close)


def operator(settings: Settings) -> Operator:
    from middleware.pulsar.operator import PulsarOperator

    return PulsarOperator(settings)


def compared(settings: Settings) -> Compared:
    from middleware.pulsar.compared import compared

    return compared(settings)


DRIVER = Driver(
    connect=connect,
    operator=operator,
    compared=compared,
    acknowledgement={
        "fsync": "in the journal of the bookie and synced to disk before it is acknowledged; survives the machine",
        "page-cache": "written to the bookie's journal, synced within a second: survives its process, may be lost with "
                      "the machine",
    },
)
