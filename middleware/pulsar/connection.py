"""The connection to Pulsar: its client, made when it is first needed, and its administration."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pulsar

from common.settings import Settings
from middleware.errors import MiddlewareError, UnknownStream, Unreachable
from middleware.pulsar.offsets import Place
from middleware.pulsar.ports import Port
from middleware.pulsar.rest import ANSWER_SECONDS, Rest

CONNECT_SECONDS = 2.0
TENANT = "murmur"

QUEUE = 256
"""Events that a reader has fetched of a partition and not handed out, or one published group: it knows no bound by
bytes."""


class Connection:
    """`middleware_uri` is the addresses of broker and administration: pulsar://HOST:PORT,http://HOST:PORT."""

    def __init__(self, settings: Settings) -> None:
        service, _, admin = settings.middleware_uri.partition(",")
        self.service = service or f"pulsar://{settings.address(Port.BROKER)}"
        self.rest = Rest(admin or f"http://{settings.address(Port.ADMIN)}")
        self.namespace = settings.namespace
        self._client: pulsar.Client | None = None

    def client(self) -> pulsar.Client:
        """Never before a fork.

        It tells of every connection, and of every attempt at one, in threads of its own, which must not wait for
        Python's lock while that ends: so it tells nobody, since what fails is raised, and is closed before.
        """
        if self._client is None:
            self._client = pulsar.Client(
                self.service, operation_timeout_seconds=round(ANSWER_SECONDS),
                connection_timeout_ms=round(CONNECT_SECONDS * 1000),
                logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull),
            )
            atexit.register(self.close)
        return self._client

    def reader(self, topic: str, at: Place, queue: int = QUEUE) -> pulsar.Reader:
        """From the event at a place on; where retention has passed that, from what is left, and maybe from an earlier
        event on. Raises Unreachable or UnknownStream."""
        with self.raising(f"cannot read {topic}"):
            before = pulsar.MessageId(-1, at.ledger, at.entry - (at.nth == 0), at.nth - 1)
            return self.client().create_reader(topic, before, receiver_queue_size=queue)

    def producer(self, topic: str, **options: Any) -> pulsar.Producer:
        """Raises Unreachable or UnknownStream."""
        with self.raising(f"cannot write to {topic}"):
            return self.client().create_producer(topic, **options)

    @contextmanager
    def raising(self, what: str) -> Iterator[None]:
        """Turns what the client raises into one of ours, with the address."""
        try:
            yield
        except pulsar.TopicNotFound as cause:
            raise UnknownStream(f"{what} (Pulsar at {self.service}): there is no such topic") from cause
        except pulsar.PulsarException as cause:
            raise Unreachable(f"{what} (Pulsar at {self.service}): {cause}") from cause

    def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            atexit.unregister(self.close)
            try:
                client.close()
            except pulsar.PulsarException as error:
                raise MiddlewareError(f"cannot close the connection to {self.service}: {error}") from error
