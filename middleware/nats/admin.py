"""NATS' administration: streams, groups, retention and durability."""

from __future__ import annotations

import json
import urllib.request

from common.settings import Durability, Settings
from common.storage.held import Held
from common.tweets import RAW, STREAMS
from middleware import membership
from middleware.admin import Admin, await_answer
from middleware.data import Position
from middleware.errors import Unreachable
from middleware.group import Group
from middleware.nats.connection import ANSWER_SECONDS, Connection, Refused
from middleware.nats.consumer import life
from middleware.nats.data import NatsData
from middleware.nats.ports import Port


class NatsAdmin(Admin):
    """Raises Unreachable where the server does not answer within a few seconds."""

    def __init__(self, settings: Settings, connection: Connection, data: NatsData) -> None:
        self._settings, self._connection = settings, connection
        self._data, self._streams, self._groups = data, data.streams, data.groups

    def wait_until_ready(self, timeout: float) -> None:
        await_answer(f"NATS at {self._connection.uri}", lambda: self._connection.ask("INFO"), timeout,
                     (Unreachable, Refused))

    def create_stream(self, stream: str, partitions: int) -> None:
        self._streams.create(stream, partitions)

    def committed(self, stream: str, group: str) -> Position | None:
        found = self._streams.partitions(stream)
        record = self._groups.record(stream, group).read()
        known = None if record is None else Group.from_bytes(record)
        return Position(stream, known.life, known.offsets) if known and known.life == life(found) else None

    def move_group(self, stream: str, group: str, to: Position) -> None:
        membership.move(self._groups.record(stream, group), group, to, to.life)

    def forget_group(self, stream: str, group: str) -> None:
        self._groups.forget(stream, group)

    def held(self, stream: str) -> Held:
        found = self._streams.partitions(stream).values()
        oldest = min((at for one in found if (at := one.oldest_at()) is not None), default=None)
        return Held(stream, sum(one.size for one in found), self._settings.stream_retention_bytes, "bytes", oldest)

    def retention_used(self, stream: str, position: Position) -> float | None:
        """Of the partition that comes off worst, as each has a bound of its own."""
        found = self._streams.partitions(stream)
        unread = max(one.bytes_after(position.offsets.get(number, 0)) for number, one in found.items())
        share = unread / self._streams.bound(len(found))
        return max(1.0, share) if position.lies_before(self._data.head(stream)) else share

    def durability_in_force(self) -> Durability | None:
        """By the running server's own word; None for one elsewhere, of which nobody knows where it is monitored."""
        self._streams.partitions(RAW)
        if not all(map(self._streams.is_synced, STREAMS)):
            return "page-cache"
        if self._settings.middleware_uri:
            return None
        uri = f"http://{self._settings.address(Port.MONITORING)}/varz"
        try:
            with urllib.request.urlopen(uri, timeout=ANSWER_SECONDS) as answer:
                configured = json.load(answer)["jetstream"]["config"]
        except (OSError, ValueError, LookupError) as error:
            raise Unreachable(f"NATS does not tell its durability at {uri}: {error}") from error
        return "fsync" if configured.get("sync_always") else "page-cache"
