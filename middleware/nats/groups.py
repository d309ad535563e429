"""The records of consumer groups, in a key-value bucket: a member replaces the revision that it has read."""

from __future__ import annotations

import re

import nats.js.errors
from nats.aio.client import Client
from nats.js.kv import KeyValue

from middleware.errors import MiddlewareError
from middleware.nats.connection import Connection, Refused
from middleware.nats.streams import UNKNOWN

NAMES = re.compile(r"[-/_=.a-zA-Z0-9]+")
"""Of a key, as JetStream takes it."""


class Groups:
    def __init__(self, namespace: str, connection: Connection) -> None:
        self._bucket, self._connection = f"{namespace}_groups", connection
        self._store: KeyValue | None = None

    def record(self, stream: str, group: str) -> GroupRecord:
        """Raises MiddlewareError or Unreachable."""
        if self._store is None:
            self._store = self._connection.run(self._open(self._connection.client))
        return GroupRecord(self._connection, self._store, self._key(stream, group))

    def forget(self, stream: str, group: str) -> None:
        try:
            self._connection.ask(f"STREAM.PURGE.KV_{self._bucket}",
                                 filter=f"$KV.{self._bucket}.{self._key(stream, group)}")
        except Refused as error:
            if error.code != UNKNOWN:
                raise

    async def _open(self, client: Client) -> KeyValue:
        context = client.jetstream()
        try:
            return await context.key_value(self._bucket)
        except nats.js.errors.BucketNotFoundError:
            return await context.create_key_value(bucket=self._bucket, history=1)

    def _key(self, stream: str, group: str) -> str:
        if not NAMES.fullmatch(group):
            raise MiddlewareError(f"a group on NATS is named by letters, digits and -/_=. alone, not {group!r}")
        return f"{stream}.{group}"


class GroupRecord:
    """As a `membership.Record`."""

    def __init__(self, connection: Connection, store: KeyValue, key: str) -> None:
        self._connection, self._store, self._key = connection, store, key
        self._revision: int | None = None

    def read(self) -> bytes | None:
        try:
            entry = self._connection.run(self._store.get(self._key))
        except nats.js.errors.KeyNotFoundError:
            self._revision = None
            return None
        self._revision = entry.revision
        return entry.value

    def replace(self, content: bytes) -> bool:
        try:
            if self._revision is None:
                self._revision = self._connection.run(self._store.create(self._key, content))
            else:
                self._revision = self._connection.run(self._store.update(self._key, content, self._revision))
        except nats.js.errors.KeyWrongLastSequenceError:
            return False
        return True
