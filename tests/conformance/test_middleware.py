"""What every middleware must do, as the docstrings of `middleware/` say it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from deploy.local.middlewares import deployment
from middleware.data import Producer, Start
from middleware.driver import Middleware
from middleware.errors import EventTooLarge, UnknownStream, Unreachable
from middleware.registry import connect, driver
from tests.conformance.reading import group, numbered, publish, read, read_to, skip_on_that_of_the_tests
from tests.conformance.servers import Servers
from tests.stack import kill, standing_still

pytestmark = pytest.mark.timeout(240)


@pytest.mark.in_memory_too
def test_events_of_a_key_keep_their_order(middleware: Middleware, stream: str) -> None:
    with middleware.data.producer(stream) as producer:
        for number in range(5000):
            producer.send(f"key-{number % 7}", b"%d %d" % (number % 7, number))
        producer.flush()
    with middleware.data.consumer(stream, group()) as consumer:
        events = [tuple(map(int, event.split())) for event in read(consumer, 5000)]
    assert sorted(number for _, number in events) == list(range(5000))
    for key in range(7):
        of_key = [number for at, number in events if at == key]
        assert of_key == sorted(of_key)


@pytest.mark.in_memory_too
def test_flush_means_acknowledged(middleware: Middleware, stream: str, servers: Servers) -> None:
    """What was flushed is read by another connection, although the producer is never closed."""
    producer = middleware.data.producer(stream)
    for event in numbered(0, 500):
        producer.send("k", event)
    producer.flush()
    with servers.connect() as other, other.data.consumer(stream, group()) as consumer:
        assert read(consumer, 500) == numbered(0, 500)
    producer.close()


@pytest.mark.in_memory_too
def test_many_more_events_than_may_be_in_flight(middleware: Middleware, stream: str) -> None:
    """`send` holds back instead of failing or using ever more memory."""
    publish(middleware, stream, (b"%d" % number + b"." * 1000 for number in range(40_000)))
    with middleware.data.consumer(stream, group()) as consumer:
        assert len(read(consumer, 40_000, most=10_000)) == 40_000


@pytest.mark.slow
def test_large_events_wait_for_servers_that_stand_still(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    """`send` holds back by bytes, too; and goes on."""
    standing = [pid for name in deployment(middleware.settings.middleware).killed for pid in servers.pids()[name]]
    sent: list[int] = []

    def publish_large(producer: Producer) -> None:
        for number in range(200):
            producer.send("k", b"%d " % number + b"." * 1_000_000)
            sent.append(number)
        producer.flush()

    with middleware.data.producer(stream) as producer, ThreadPoolExecutor(1) as thread:
        producer.send("k", b"-1")
        producer.flush()
        with standing_still(standing):
            published = thread.submit(publish_large, producer)
            held_back_at = await_rest(lambda: len(sent))
        published.result(120)
    assert 0 < held_back_at < 100
    with middleware.data.consumer(stream, group()) as consumer:
        events = read_to(consumer, middleware.data.end(stream), most=10)
    assert [int(event.split()[0]) for event in events] == [*range(-1, 200)]


def await_rest(count: Callable[[], int]) -> int:
    """The count, once it has not changed for a second."""
    found, since = count(), time.monotonic()
    while not found or time.monotonic() < since + 1:
        time.sleep(0.05)
        if count() != found:
            found, since = count(), time.monotonic()
    return found


@pytest.mark.in_memory_too
def test_an_event_at_the_size_limit_and_one_above_it(middleware: Middleware, stream: str, servers: Servers) -> None:
    """The one that is refused takes none along that was sent before."""
    largest = servers.settings().max_event_bytes
    with middleware.data.producer(stream) as producer:
        producer.send("k", b"x")
        with pytest.raises(EventTooLarge):
            producer.send("k", b"x" * (largest + 1))
        producer.send("k", b"x" * largest)
        producer.flush()
    with middleware.data.consumer(stream, group()) as consumer:
        assert [len(event) for event in read(consumer, 2)] == [1, largest]


@pytest.mark.in_memory_too
def test_payloads_are_any_bytes_but_none(middleware: Middleware, stream: str) -> None:
    payloads = [bytes(range(256)), b"\x00", "Ünïcödé 🎉".encode(), b"\n"]
    with middleware.data.producer(stream) as producer, pytest.raises(ValueError, match="empty"):
        producer.send("k", b"")
    publish(middleware, stream, payloads)
    with middleware.data.consumer(stream, group()) as consumer:
        assert read(consumer, len(payloads)) == payloads


@pytest.mark.in_memory_too
def test_keys_are_any_text(middleware: Middleware, stream: str) -> None:
    """Up to 64 KiB in UTF-8, but for halves of surrogate pairs, which are no text; events of each keep their order."""
    keys = ["", "\x00", "a\x00b", " ", "Ünïcödé 🎉", "\u202e\ufeff\uffff", "k" * (64 << 10), "🎉" * (16 << 10)]
    sent = [(key, b"%d %d" % (at, number)) for number in range(3) for at, key in enumerate(keys)]
    with middleware.data.producer(stream) as producer:
        for key, event in sent:
            producer.send(key, event)
        producer.flush()
    with middleware.data.consumer(stream, group()) as consumer:
        events = read(consumer, len(sent))
    assert sorted(events) == sorted(event for _, event in sent)
    for at in range(len(keys)):
        assert [event for event in events if event.startswith(b"%d " % at)] == [b"%d %d" % (at, n) for n in range(3)]


@pytest.mark.in_memory_too
def test_creating_a_stream_again_changes_nothing(middleware: Middleware, stream: str) -> None:
    publish(middleware, stream, numbered(0, 10))
    middleware.admin.create_stream(stream, 2)
    with middleware.data.consumer(stream, group()) as consumer:
        assert read(consumer, 10) == numbered(0, 10)


@pytest.mark.in_memory_too
@pytest.mark.parametrize(("start", "expected"), [("committed", 5), ("head", 0), ("tail", 20)])
def test_a_group_starts_where_it_is_told(middleware: Middleware, stream: str, start: Start, expected: int) -> None:
    """After five of ten events were committed; ten more follow after the start."""
    name = group()
    publish(middleware, stream, numbered(0, 10))
    with middleware.data.consumer(stream, name) as consumer:
        assert read(consumer, 5, most=5) == numbered(0, 5)
    publish(middleware, stream, numbered(10, 10))
    with middleware.data.consumer(stream, name, start=start) as consumer:
        publish(middleware, stream, numbered(20, 5))
        assert read(consumer, 25 - expected) == numbered(expected, 25 - expected)


@pytest.mark.in_memory_too
def test_a_forgotten_group_begins_anew(middleware: Middleware, stream: str) -> None:
    name = group()
    publish(middleware, stream, numbered(0, 10))
    for _ in range(2):
        with middleware.data.consumer(stream, name) as consumer:
            assert read(consumer, 10) == numbered(0, 10)
        middleware.admin.forget_group(stream, name)
    middleware.admin.forget_group(stream, name)


@pytest.mark.in_memory_too
def test_what_was_not_committed_comes_again(middleware: Middleware, stream: str) -> None:
    name = group()
    publish(middleware, stream, numbered(0, 3000))
    with middleware.data.consumer(stream, name) as consumer:
        committed = read(consumer, 700, most=100)
        read(consumer, 1000, most=100, commit=False)
    with middleware.data.consumer(stream, name) as consumer:
        rest = numbered(len(committed), 3000 - len(committed))
        assert read(consumer, len(rest)) == rest


@pytest.mark.in_memory_too
def test_polling_without_commits_reads_on(middleware: Middleware, stream: str) -> None:
    publish(middleware, stream, numbered(0, 500))
    with middleware.data.consumer(stream, group()) as consumer:
        assert read(consumer, 500, commit=False) == numbered(0, 500)
        publish(middleware, stream, numbered(500, 500))
        assert read(consumer, 500, commit=False) == numbered(500, 500)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "restart"])
def test_a_server_that_ends_loses_nothing_acknowledged(
    middleware: Middleware, stream: str, servers: Servers, how: str
) -> None:
    """Each server in turn, under load. Producer and consumer go on by themselves when it is back."""
    ending = deployment(middleware.settings.middleware).killed
    events: list[bytes] = []
    with middleware.data.producer(stream) as producer, middleware.data.consumer(stream, group()) as consumer:
        for round_, server in enumerate(ending):
            for number in range(3000 * round_, 3000 * (round_ + 1)):
                producer.send(str(number % 10), b"%d" % number)
                if number % 3000 == 1500:
                    producer.flush()
                    events += read(consumer, 500, most=100)
                    getattr(servers, how)(server)
            producer.flush()
        wanted = set(numbered(0, 3000 * len(ending)))
        while not wanted <= set(events):  # what could not be committed comes again, and counts once
            events += read(consumer, 1, timeout=120)
    assert set(events) == wanted


@pytest.mark.slow
def test_what_is_in_flight_when_a_server_ends_comes_once(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    """What was stored, and its acknowledgement lost, is sent again."""
    skip_on_that_of_the_tests(middleware, "writes such events twice")
    ending = [*deployment(middleware.settings.middleware).killed] * 3
    sent = 0
    with middleware.data.producer(stream) as producer:
        for server in ending[:max(3, len(ending) // 3)]:
            pids = servers.pids()[server]
            killing = threading.Timer(0.3, kill, [pids])
            killing.start()
            until = time.monotonic() + 1
            while time.monotonic() < until:
                for number in range(sent, sent + 200):
                    producer.send(str(number % 10), b"%d" % number)
                sent += 200
                producer.flush()
    with middleware.data.consumer(stream, group(), start="head") as consumer:
        events = read_to(consumer, middleware.data.end(stream), timeout=120)
    assert sorted(map(int, events)) == [*range(sent)]


@pytest.mark.only("pravega")
def test_no_segment_waits_until_another_is_read(middleware: Middleware, stream: str) -> None:
    """As soon as both have come, in one piece each; the client of Kafka takes turns by itself, piece by piece."""
    with middleware.data.producer(stream) as producer:
        for number in range(20_000):
            producer.send(str(number), b"%d" % number)
        producer.flush()
    with middleware.data.consumer(stream, group()) as consumer:

        def segments(most: int) -> set[str]:
            return {consumer.place(index).split("/")[0] for index in range(len(consumer.poll(most, timeout=10)))}

        come = segments(1)
        while len(come) < 2:
            come |= segments(1)
        assert segments(50) | segments(50) == come


@pytest.mark.in_memory_too
def test_a_stream_that_does_not_exist(middleware: Middleware) -> None:
    calls: list[Callable[[], object]] = [
        lambda: middleware.data.producer("no-such-stream"), lambda: middleware.data.consumer("no-such-stream", "g"),
    ]
    for call in calls:
        with pytest.raises(UnknownStream, match="no-such-stream"):
            call()


def test_a_server_that_is_not_there(servers: Servers) -> None:
    """Every call fails in bounded time and names the address."""
    settings = servers.settings().model_copy(update={"port_base": 1024, "port_block": 0})
    with connect(settings) as nowhere:
        calls: list[Callable[[], object]] = [
            lambda: nowhere.admin.wait_until_ready(1), lambda: nowhere.admin.create_stream("s", 1),
            lambda: nowhere.data.producer("s"), lambda: nowhere.data.consumer("s", "g"),
        ]
        for call in calls:
            with pytest.raises(Unreachable, match=r"127\.0\.0\.1"):
                call()


def test_spark_is_told_how_to_read_and_write(middleware: Middleware, stream: str) -> None:
    binding = middleware.spark.binding(stream)
    assert binding.format
    assert len({binding.event_column, binding.key_column, binding.stream_column}) == 3
    assert any(stream in value for value in binding.read_options.values())
    assert set(driver(middleware.settings.middleware).acknowledgement) == {"page-cache", "fsync"}
