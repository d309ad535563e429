"""NATS JetStream by nats-py. A partition is a JetStream stream, the namespace the beginning of its name."""

from __future__ import annotations

from common.settings import Settings
from middleware.admin import Operator
from middleware.compared import Compared
from middleware.driver import Driver, Middleware


def connect(settings: Settings) -> Middleware:
    from middleware.nats.admin import NatsAdmin
    from middleware.nats.connection import Connection
    from middleware.nats.data import NatsData
    from middleware.nats.spark import NatsSpark

    connection = Connection(settings)
    data = NatsData(settings, connection)
    return Middleware(settings, data, NatsAdmin(settings, connection, data), NatsSpark(settings, connection),
                      connection.close)


def operator(settings: Settings) -> Operator:
    from middleware.nats.operator import NatsOperator

    return NatsOperator(settings)


def compared(settings: Settings) -> Compared:
    from middleware.nats.compared import compared

    return compared(settings)


DRIVER = Driver(
    connect=connect,
    operator=operator,
    compared=compared,
    asks_durability=True,
    acknowledgement={
        "fsync": "written to the partition's file and synced to disk before it is acknowledged; survives the machine",
        "page-cache": "written to the partition's file, synced within two minutes: survives the server's process, may "
                      "be lost with the machine",
    },
)
