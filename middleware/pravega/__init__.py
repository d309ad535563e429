"""Pravega 0.13 by its own Java client. A partition is a segment, the namespace a scope."""

from __future__ import annotations

from common.settings import Settings
from middleware.admin import Operator
from middleware.compared import Compared
from middleware.driver import Driver, Middleware


def connect(settings: Settings) -> Middleware:
    from middleware.pravega.admin import PravegaAdmin
    from middleware.pravega.connection import Connection
    from middleware.pravega.data import PravegaData
    from middleware.pravega.spark import PravegaSpark

    connection = Connection(settings)
    data = PravegaData(settings, connection)
    return Middleware(settings, data, PravegaAdmin(settings, connection, data), PravegaSpark(settings, connection),
                      connection.close)


def operator(settings: Settings) -> Operator:
    from middleware.pravega.operator import PravegaOperator

    return PravegaOperator(settings)


def compared(settings: Settings) -> Compared:
    from middleware.pravega.compared import compared

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
    replicated="on two of three bookies at least, so that one of four may be dead, and one of two segment stores; "
               "ZooKeeper, the controller and long-term storage stay single",
)
