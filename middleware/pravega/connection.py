"""The connection to Pravega's controller, made when it is first needed."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

from common.settings import Settings
from middleware.errors import MiddlewareError, UnknownStream, Unreachable
from middleware.pravega import jvm
from middleware.pravega.jvm import pairs, raising
from middleware.pravega.ports import Port

CONNECT_SECONDS = 2.0
CALL_SECONDS = 10.0


class Connection:
    """Raises Unreachable where the controller does not take connections."""

    def __init__(self, settings: Settings) -> None:
        self.uri = settings.middleware_uri or f"tcp://{settings.address(Port.CONTROLLER)}"
        self.scope = settings.namespace
        self._jars, self._options = settings.jar_dir / "pravega-client", settings.jvm_options
        self._client: Any = None

    def client(self) -> Any:
        """A murmuration.pravega.Connection, made once; probes first, because the client tries for long where nobody
        listens."""
        if self._client is None:
            self._probe()
            self._client = jvm.connection(self._jars, self.uri, self.scope, CALL_SECONDS, self._options)
        return self._client

    def require(self, stream: str) -> None:
        """Raises UnknownStream or Unreachable."""
        with raising(Unreachable, f"cannot look for the stream {stream} at {self.uri}"):
            known = self.client().exists(stream)
        if not known:
            raise UnknownStream(f"no stream {stream!r} in the scope {self.scope!r}: `murmur up` creates the streams")

    def first_offsets(self, stream: str) -> dict[int, int]:
        """By segment that has events left."""
        with raising(Unreachable, f"cannot find the first events of {stream}"):
            return pairs(self.client().head(stream))

    def record(self, stream: str, group: str) -> GroupRecord:
        with raising(Unreachable, f"cannot look for the group {group} of {stream}"):
            return GroupRecord(self.client().group(stream, group), f"the group {group} of {stream}")

    def forget_group(self, stream: str, group: str) -> None:
        with raising(MiddlewareError, f"cannot remove the group {group} of {stream}"):
            self.client().group(stream, group).remove()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _probe(self) -> None:
        address = urlsplit(self.uri)
        try:
            socket.create_connection((address.hostname, address.port), CONNECT_SECONDS).close()
        except OSError as error:
            raise Unreachable(f"Pravega does not answer at {self.uri}: {error}; is the instance up?") from error


class GroupRecord:
    """A group's record in the scope's table of groups, as a `membership.Record`."""

    def __init__(self, record: Any, named: str) -> None:
        """`record`: a murmuration.pravega.GroupRecord."""
        self._record, self._named = record, named

    def read(self) -> bytes | None:
        with raising(Unreachable, f"cannot read {self._named}"):
            content = self._record.read()
        return None if content is None else bytes(content)

    def replace(self, content: bytes) -> bool:
        with raising(Unreachable, f"cannot change {self._named}"):
            return bool(self._record.replace(content))
