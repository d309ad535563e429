"""How SQLite and PostgreSQL are connected to, and what they make of a commit."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event

from common.settings import Durability

CONNECT_SECONDS = 10
"""In which PostgreSQL, unless its URL says otherwise, accepts a connection: a held server would never refuse it."""

FULL = 2
"""SQLite's `synchronous` from which on every commit is synced, in WAL mode too."""


def engine_of(url: str) -> Engine:
    """Connects at its first use. A transaction that is to write says so by the option `writes`."""
    if not url.startswith("sqlite"):
        given = sa.make_url(url)
        bounded = given.update_query_dict({"connect_timeout": str(CONNECT_SECONDS), **given.query})
        # Rows as tuples, as in SQLite; what people wrote stands in no message, and so in no log.
        return sa.create_engine(bounded, pool_pre_ping=True, paramstyle="format", hide_parameters=True)
    engine = sa.create_engine(url, hide_parameters=True)
    # The driver's own transactions begin too late for "select, then insert"; so they are switched off.
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None
    # A page holds 20 tweets instead of 5: less of it stays empty, and there is less to write. Must come first. Texts
    # that go are written over.
    for pragma in ("page_size = 16384", "busy_timeout = 30000", "journal_mode = WAL", "synchronous = FULL",
                   "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def durability(engine: Engine) -> Durability:
    """What a commit survives, by what the database says of the connections of this engine."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            synced = connection.exec_driver_sql("PRAGMA synchronous").scalar_one() >= FULL
        else:
            ways = [connection.exec_driver_sql(f"SHOW {name}") for name in ("fsync", "synchronous_commit")]
            synced = "off" not in [way.scalar_one() for way in ways]
    return "fsync" if synced else "page-cache"
