"""Reading back what is in the stream already, over a middleware in memory."""

from __future__ import annotations

import orjson
import pytest

from common.tweets import RAW
from ingest.publisher import Publisher
from ingest.readback import Mark, published
from ingest.sources.base import examine
from ingest.stamp import Stamper
from middleware.errors import Unreachable
from tests.ingest.over_memory import RUN, each_once, eventually, others, publish, seqs
from tests.memory import Memory


def test_ends_where_the_stream_ended_though_others_go_on(middleware: Memory) -> None:
    others(middleware, RUN, 0, 20)
    middleware.on_poll = lambda: others(middleware, "other", 0, 5)
    assert published(middleware, RUN, 5) == set(range(5, 20))


def test_two_publishers_do_not_wait_for_each_other(middleware: Memory) -> None:
    """Each goes on publishing as soon as it has read, while the other reads."""
    others(middleware, "run-1", 0, 20)
    others(middleware, "run-2", 0, 20)

    def go_on() -> None:
        middleware.on_poll = lambda: others(middleware, "run-2", 20, 5)
        assert published(middleware, "run-2", 0) >= set(range(20))
    middleware.on_poll = go_on
    assert published(middleware, "run-1", 0) == set(range(20))


def test_events_of_a_source_with_positions_are_found(middleware: Memory) -> None:
    with middleware.data.producer(RAW) as producer:
        for seq, position in enumerate(["host 1 2", '[{"topic":"a}"}]', ""]):
            payload = examine(b'{"data":{}}')._replace(position=position)
            producer.send("", Stamper("test", RUN, 1 << 20).event(seq, 5, payload))
    assert published(middleware, RUN, 0) == {0, 1, 2}


def test_an_empty_stream_holds_nothing(middleware: Memory) -> None:
    assert published(middleware, RUN, 0) == set()
    assert middleware.logs[RAW].groups == {}


def test_looks_at_the_stamp_only(middleware: Memory) -> None:
    forged = examine(b'{"run":"run-1","seq":5},"data":{"x":{"run":"run-1","seq":5}}}')
    nested = examine(b'{"a":{"ingest":{"sent_at_us":5,"source":"x","run":"run-1","seq":5}}}')
    with middleware.data.producer(RAW) as producer:
        for seq, payload in enumerate([forged, nested, examine(b'{"b":{"run":"run-1","seq":5}}')]):
            producer.send("", Stamper("test", "other", 1 << 20).event(seq, 5, payload))
    assert published(middleware, RUN, 0) == set()


def test_goes_on_where_retention_overtakes_it(middleware: Memory) -> None:
    others(middleware, RUN, 0, 20)
    polls = iter([1, 2])

    def retention() -> None:
        if next(polls, 0) == 1:
            for n, partition in enumerate(middleware.logs[RAW].partitions):
                middleware.truncate(RAW, partition.head + 1, n)
    middleware.on_poll = retention
    kept = {orjson.loads(e)["ingest"]["seq"] for part in middleware.logs[RAW].partitions for e in part.events[1:]}
    assert published(middleware, RUN, 0) == kept


def test_gives_up_in_time(middleware: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.readback.POLL_EVENTS", 1)
    others(middleware, RUN, 0, 20)
    with pytest.raises(Unreachable):
        published(middleware, RUN, 0, timeout=0)


def test_a_place_that_was_found_while_a_group_is_sent_counts_from_the_next_one_on(middleware: Memory) -> None:
    mark = Mark(middleware.data)
    mark.move()
    others(middleware, RUN, 0, 20)
    mark.close()
    assert mark.position is None
    mark.move()
    assert mark.position is not None


class TestReadingBackAfterAFailure:
    """Begins where the stream ended when everything sent was acknowledged."""

    def test_does_not_read_what_was_there_before(
        self, middleware: Memory, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        others(middleware, "other", 0, 1000)
        until_marked(publisher)
        assert polls_of_a_failure(middleware, publisher, monkeypatch) < 5

    def test_does_not_read_what_the_run_itself_published_long_ago(
        self, middleware: Memory, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        until_marked(publisher)
        publish(publisher, 1000)
        monkeypatch.setattr("ingest.readback.MARK_SECONDS", 0.0)
        behind = middleware.data.end(RAW)

        def marked() -> bool:
            publish(publisher, 1)
            return not publisher._mark.position.lies_before(behind)

        assert eventually(marked)
        assert polls_of_a_failure(middleware, publisher, monkeypatch) < 5

    @pytest.mark.parametrize("taken", [True, False])
    def test_finds_what_was_taken(self, middleware: Memory, publisher: Publisher, taken: bool) -> None:
        until_marked(publisher)
        middleware.flush_failures.append(taken)
        publish(publisher, 50)
        assert seqs(middleware, RUN) == each_once(publisher.total)

    def test_begins_at_the_head_where_retention_took_that_place(self, middleware: Memory, publisher: Publisher) -> None:
        until_marked(publisher)
        middleware.flush_failures.append(True)
        for n, partition in enumerate(middleware.logs[RAW].partitions):
            middleware.truncate(RAW, partition.end + 3, n)
        publish(publisher, 50)
        assert set(seqs(middleware, RUN).values()) == {1}

    def test_begins_at_the_head_of_a_stream_that_was_made_anew(self, middleware: Memory, publisher: Publisher) -> None:
        others(middleware, "other", 0, 20)
        until_marked(publisher)
        middleware.delete_stream(RAW)
        middleware.admin.create_stream(RAW, 2)
        middleware.flush_failures.append(True)
        before = publisher.total
        publish(publisher, 50)
        assert seqs(middleware, RUN) == dict.fromkeys(range(before, before + 50), 1)


def until_marked(publisher: Publisher) -> None:
    def marked() -> bool:
        publish(publisher, 1)
        return publisher._mark.position is not None

    assert eventually(marked)


def polls_of_a_failure(middleware: Memory, publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a stream is polled after a failure to publish a group, for ten events each."""
    polls: list[None] = []
    monkeypatch.setattr("ingest.readback.POLL_EVENTS", 10)
    middleware.on_poll = lambda: polls.append(None)
    middleware.flush_failures.append(True)
    publish(publisher, 5)
    assert seqs(middleware, RUN) == each_once(publisher.total)
    return len(polls)
