"""How a run ends, over a middleware in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from common.settings import Settings
from common.tweets import RAW
from ingest.archive import files
from ingest.ingester import Ingester
from ingest.manifest import ManifestWriter, read_manifests
from ingest.publisher import Publisher, Stranded
from ingest.resume import dead_runs, recover
from ingest.sources.base import Payload, Source
from tests.ingest.over_memory import RUN, each_once, eventually, payloads, seqs
from tests.memory import Memory


class Stream(Source):
    """Has received `received` tweets when it begins; they cannot be had again."""

    name = "stream"

    def __init__(self, received: int) -> None:
        self._left = payloads(received)

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        taken, self._left = self._left[:len(sent_at_us)], self._left[len(sent_at_us):]
        return taken

    def rest(self) -> list[Payload]:
        return self.take(range(len(self._left)))


class Waiting(Stream):
    """Its server is away until two more groups were asked for, then sends what there is."""

    asked = 0

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        self.asked += 1
        return [] if self.problem() else super().take(sent_at_us)

    def problem(self) -> str:
        return "the server is away" if self.asked < 3 else ""


class Failing(Stream):
    """Ends by an error once nothing is left."""

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        if not self._left:
            raise ConnectionError("the stream is gone")
        return super().take(sent_at_us)


def run(
    settings: Settings, middleware: Memory, source: Source, rate: float, stop: threading.Event, grace_s: float = 0.2
) -> None:
    manifest = ManifestWriter.create(settings, RUN, source.name, {})
    with Publisher(settings, middleware, manifest, stop=stop) as publisher:
        Ingester(settings, source, publisher, rate, grace_s=grace_s).run(None, stop, lambda _: None)
        publisher.finish()


def during(settings: Settings, middleware: Memory, source: Source, stop_when: Callable[[], bool]) -> None:
    """Runs the source, stops it when it is time, and raises what the run raised."""
    failures: list[BaseException] = []
    stop = threading.Event()

    def go() -> None:
        try:
            run(settings, middleware, source, 1e6, stop)
        except BaseException as error:
            failures.append(error)

    running = threading.Thread(target=go)
    running.start()
    assert eventually(stop_when)
    stop.set()
    running.join(10)
    assert not running.is_alive()
    if failures:
        raise failures[0]


def resume(settings: Settings, middleware: Memory) -> None:
    [manifest] = dead_runs(settings)
    with recover(settings, middleware, manifest) as publisher:
        publisher.finish()


def archived(settings: Settings) -> list[int]:
    return [entry.seq for entry in files.read(settings, RUN, 0)]


def test_what_keeps_a_source_is_told_to_the_publisher_before_anything_came_and_until_it_does(
    settings: Settings, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, str]] = []
    tell = publisher.tell
    monkeypatch.setattr(publisher, "tell", lambda problem: (told.append((publisher.total, problem)), tell(problem)))
    Ingester(settings, Waiting(50), publisher, 1e6).run(50, threading.Event(), lambda _: None)
    assert told[:3] == [(0, "the server is away")] * 2 + [(told[2][0], "")]
    assert {problem for _, problem in told[2:]} == {""}
    assert publisher.acknowledged == 50


def test_what_was_received_before_it_is_to_stop_is_published(settings: Settings, middleware: Memory) -> None:
    stop = threading.Event()
    stop.set()
    run(settings, middleware, Stream(9000), 10, stop, grace_s=10)
    assert seqs(middleware, RUN) == each_once(9000)
    assert read_manifests(settings)[RUN].total == 9000


def test_what_was_received_is_archived_when_the_middleware_is_away(settings: Settings, middleware: Memory) -> None:
    """With more groups than wait for the publisher."""
    middleware.down = True
    with pytest.raises(Stranded, match="--resume"):
        during(settings, middleware, Stream(40_000), lambda: len(archived(settings)) > 0)
    assert archived(settings) == list(range(40_000))
    middleware.down = False
    resume(settings, middleware)
    assert seqs(middleware, RUN) == each_once(40_000)


def test_a_client_that_does_not_come_back_holds_nobody_up(
    settings: Settings, middleware: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr("ingest.publisher.Publisher._send", lambda *_: began.set() or go_on.wait(30))
    with pytest.raises(Stranded, match="--resume"):
        during(settings, middleware, Stream(40_000), began.is_set)
    go_on.set()
    assert archived(settings) == list(range(40_000))
    monkeypatch.undo()
    resume(settings, middleware)
    assert seqs(middleware, RUN) == each_once(40_000)


def test_a_source_that_fails_leaves_what_it_brought(settings: Settings, middleware: Memory) -> None:
    with pytest.raises(ConnectionError):
        run(settings, middleware, Failing(5000), 1e6, threading.Event())
    assert seqs(middleware, RUN) == each_once(5000)
    assert not read_manifests(settings)[RUN].finished


def test_what_the_publisher_takes_once_it_was_given_up_is_archived_only(settings: Settings, middleware: Memory) -> None:
    """What was in its way may be archived before it by then: to acknowledge up to it would be to lose that."""
    with ManifestWriter.create(settings, RUN, "stream", {}) as manifest, \
            Publisher(settings, middleware, manifest) as publisher:
        ingester = Ingester(settings, Stream(0), publisher, None)
        ingester._given_up = True
        ingester._publish_group(([1, 2], payloads(2)))
        assert publisher.acknowledged == 0
        assert middleware.events(RAW) == []
    assert [entry.seq for entry in files.read(settings, RUN, 0)] == [0, 1]
