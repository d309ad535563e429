"""NATS on a real server: answers that are lost, streams that are replaced, events beside the bounds."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from common.settings import Settings
from middleware.errors import EventTooLarge, PublishFailed, StreamReplaced, Unreachable
from middleware.nats.connection import Connection
from middleware.nats.data import NatsData
from middleware.nats.producer import Batches, Event
from middleware.nats.reader import sequence_of
from tests.stack import ROOT, eventually

SERVER = ROOT / ".murmur" / "jars" / "nats" / "bin" / "nats-server"


@contextmanager
def serving(folder: Path, *lines: str, **settings: Any) -> Iterator[NatsData]:
    """A stream `s` on a server with these lines in its configuration, and none of ours."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    configuration = folder / "nats.conf"
    configuration.write_text("\n".join((
        f'listen: "127.0.0.1:{port}"', f'jetstream {{ store_dir: "{folder}/store" }}', *lines
    )))
    chosen = Settings(middleware="nats", middleware_uri=f"nats://127.0.0.1:{port}", publish_group_ms=10_000, **settings)
    with subprocess.Popen([SERVER, "--config", configuration], stderr=subprocess.DEVNULL) as server:
        connection = Connection(chosen)
        try:
            eventually("the server is there", lambda: answers(connection), 30)
            found = NatsData(chosen, connection)
            found.streams.create("s", 1)
            yield found
        finally:
            connection.close()
            server.kill()


@pytest.fixture
def data(tmp_path: Path) -> Iterator[NatsData]:
    with serving(tmp_path) as found:
        yield found


def answers(connection: Connection) -> bool:
    try:
        return bool(connection.ask("INFO"))
    except Unreachable:
        return False


pytestmark = [pytest.mark.server]


def events(data: NatsData) -> list[bytes]:
    end, found = data.end("s"), []
    with data.consumer("s", "all", start="head") as consumer:
        while not consumer.has_reached(end):
            found += consumer.poll(100, 1.0)
    return found


def test_a_batch_whose_answer_is_lost_is_there_once(data: NatsData, monkeypatch: pytest.MonkeyPatch) -> None:
    tried, lost = Batches._try, []

    async def losing(self: Batches, *batch: Any) -> None:
        await tried(self, *batch)
        if not lost:
            lost.append(batch)
            raise TimeoutError

    monkeypatch.setattr(Batches, "_try", losing)
    for sent in ([b"0"], [b"%d" % number for number in range(1, 10)]):  # by itself, and as a batch
        lost.clear()
        with data.producer("s") as producer:
            for event in sent:
                producer.send("k", event)
        assert lost
    assert events(data) == [b"%d" % number for number in range(10)]


def test_a_batch_that_the_server_has_stored_in_part_is_completed(
    data: NatsData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the disk got full under it: what is atomic is then the first messages of it, and the id is known."""
    tried, lost = Batches._try, []

    async def in_part(self: Batches, batch: list[Event], name: str) -> None:
        if not lost:
            lost.append(name)
            await tried(self, batch[:stored], name)
            raise TimeoutError
        await tried(self, batch, name)

    monkeypatch.setattr(Batches, "_try", in_part)
    expected = []
    for stored in (2, 5, 9, 10):
        lost.clear()
        with data.producer("s") as producer:
            for number in range(10):
                producer.send("k", b"%d of %d" % (number, stored))
                expected.append(b"%d of %d" % (number, stored))
        assert lost
    assert events(data) == expected


def test_a_batch_of_which_a_message_is_lost_is_sent_again_as_a_whole(
    data: NatsData, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer, lost = data.producer("s"), []
    (batches,) = producer._batches.values()  # type: ignore[attr-defined]
    published = batches._client.publish

    async def losing(subject: str, *rest: Any, headers: dict[str, str] | None = None, **more: Any) -> None:
        if not lost and headers and headers.get("Nats-Batch-Sequence") == "3":
            lost.append(subject)
            return
        await published(subject, *rest, headers=headers, **more)

    monkeypatch.setattr(batches._client, "publish", losing)
    for number in range(10):
        producer.send("k", b"%d" % number)
    producer.close()
    assert lost
    assert events(data) == [b"%d" % number for number in range(10)]


def test_a_stream_that_is_gone_is_told_at_once_and_the_producer_can_be_used_on(data: NatsData) -> None:
    with data.producer("s") as producer:
        data.streams.delete("s")
        producer.send("k", b"lost")
        with pytest.raises(PublishFailed, match=r"murmur\.s\.0\.app is gone: `murmur up` creates it"):
            producer.flush()
        data.streams.create("s", 1)
        producer.send("k", b"kept")
        producer.flush()
    assert events(data) == [b"kept"]


@pytest.mark.timeout(60)
def test_who_waits_in_flush_is_told_that_another_has_closed_the_connection(
    data: NatsData, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: Batches, *batch: Any) -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr(Batches, "_try", never)
    producer = data.producer("s")
    producer.send("k", b"0")
    closing = threading.Timer(0.5, data._connection.close)
    closing.start()
    with pytest.raises(PublishFailed, match="the connection to NATS was closed with 1 events in flight"):
        producer.flush()
    closing.join()


def test_a_group_of_a_stream_that_was_made_anew_begins_anew(data: NatsData) -> None:
    with data.producer("s") as producer:
        for number in range(10):
            producer.send("k", b"old %d" % number)
    with data.consumer("s", "g") as consumer:
        while not consumer.has_reached(data.end("s")):
            consumer.poll(10, 1.0)
        consumer.commit()
        data.streams.delete("s")
        data.streams.create("s", 1)
        with data.producer("s") as producer:
            for number in range(20):
                producer.send("k", b"new %d" % number)
        polls: list[list[bytes]] = []
        with pytest.raises(StreamReplaced):
            polls.extend(iter(lambda: consumer.poll(100, 1.0), None))
        assert not any(polls)
    with data.consumer("s", "g") as consumer:
        found: list[bytes] = []
        while not consumer.has_reached(data.end("s")):
            found += consumer.poll(100, 1.0)
    assert found == [b"new %d" % number for number in range(20)]


def test_an_event_that_is_larger_than_what_is_asked_for_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, "max_payload: 12MB", max_event_bytes=8 << 20) as data:
        sent = [b"1", b"." * (5 << 20), b"3"]
        with data.producer("s") as producer:
            for event in sent:
                producer.send("k", event)
        assert events(data) == sent


def test_an_event_that_the_server_does_not_take_is_refused_before_it_is_sent(data: NatsData) -> None:
    with data.producer("s") as producer:
        with pytest.raises(EventTooLarge, match="max_payload"):
            producer.send("k", b"." * (1 << 20))
        producer.send("k", b"kept")
    assert events(data) == [b"kept"]


def test_a_stream_whose_creation_was_interrupted_is_made_as_a_whole(data: NatsData) -> None:
    data.streams.add("t", range(3, 0, -1), 4)  # all but the last step
    data.streams.create("t", 2)
    assert list(data.streams.partitions("t")) == [0, 1]


@pytest.mark.parametrize("reply", ["$JS.ACK.murmur_s_0.c.1.17.3.1795881122458197000.5",
                                   "$JS.ACK.domain.hash.murmur_s_0.c.1.17.3.1795881122458197000.5"])
def test_the_sequence_of_a_message_is_in_its_reply_subject(reply: str) -> None:
    assert sequence_of(reply) == 17


def test_an_empty_loop_is_not_kept(data: NatsData) -> None:
    """Whoever closes the connection leaves no thread that runs on."""
    loop = data._connection.loop
    data._connection.close()
    eventually("the loop has stopped", lambda: not loop.is_running(), 5)
    assert isinstance(loop, asyncio.AbstractEventLoop)
