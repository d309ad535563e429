"""A middleware of files: a partition is one to which events are appended, and a server of its own keeps them.

It lies outside the application, which finds it by Python's path. Its members are as alive as their connections, so a
group needs neither leases nor names.
"""

from __future__ import annotations

from common.settings import Settings
from middleware.admin import Operator
from middleware.driver import Driver, Middleware


def connect(settings: Settings) -> Middleware:
    from middleware.files.admin import FilesAdmin
    from middleware.files.connection import Connection, address_of
    from middleware.files.data import FilesData
    from middleware.files.spark import FilesSpark

    connection = Connection(address_of(settings))
    data = FilesData(settings, connection)
    return Middleware(settings, data, FilesAdmin(settings, connection, data), FilesSpark(settings, data),
                      connection.close)


def operator(settings: Settings) -> Operator:
    from middleware.files.operator import FilesOperator

    return FilesOperator(settings)


DRIVER = Driver(
    connect=connect,
    operator=operator,
    asks_durability=True,
    acknowledgement={
        "fsync": "appended to the file of its partition and synced to disk; survives the machine",
        "page-cache": "appended to the file of its partition, not synced: survives the server's process only",
    },
)
