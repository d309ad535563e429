"""Posts as people write them, invented, from two hosts that cut connections, through a whole instance: each is there
once, and what is deleted is nowhere. `MURMUR_TEST_LIVE_EVENTS` events in the long test, 180,000 unless told."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from threading import Event, Thread
from typing import Any

import pytest
from websockets.sync.server import ServerConnection

from common.tweets import WINDOWS
from middleware.registry import registry
from search.index import Index
from tests.e2e.invented_life import PER_S, UNFIT, UNSAID, Life, invented
from tests.ingest.sources.jetstream import Behaviour, Jetstream, cuts, fails, sends
from tests.stack import Stack, eventually, lags

log = logging.getLogger(__name__)

EVENTS = int(os.environ.get("MURMUR_TEST_LIVE_EVENTS", "180000"))
SPEED = 20
LATENESS_S = 7200
"""Longer than what happened since the first of the posts was written: all of them are ranked."""

AWAIT_S = 1800

pytestmark = [pytest.mark.server, pytest.mark.slow]


class Hosts:
    """Two that see the same, at so many times the speed at which it happened, or as fast as it is read. They end `cuts`
    connections; the last quarter happens only once it is let go on."""

    def __init__(self, events: int, cuts: int) -> None:
        self.cuts, self.ended = cuts, 0
        self._ends = self._ways_to_end(3 * events // max(12, 2 * cuts))
        self._goes_on, self._closed = Event(), Event()
        self.both = [Jetstream([], *[self._as_planned] * 1000, first_seq=seq) for seq in (1, 5_000_000)]

    @staticmethod
    def _ways_to_end(many: int) -> list[Behaviour]:
        """After a connection that brought nothing the source asks the other host, after one that did the same one."""
        return [cuts(many), sends(0), fails("Gone", many), cuts(50), sends(many), fails("Gone")]

    def _as_planned(self, host: Jetstream, connection: ServerConnection, frames: Iterator[bytes]) -> None:
        """A connection that the client ends does not count: the next one is to end in the same way."""
        if self.ended == self.cuts:
            sends()(host, connection, frames)
        self._ends[self.ended % len(self._ends)](host, connection, frames)
        self.ended += 1

    @contextmanager
    def playing(self, events: list[dict[str, Any]]) -> Iterator[None]:
        player = Thread(target=self._play, args=(events,))
        player.start()
        try:
            yield
        finally:
            self._closed.set()
            self._goes_on.set()
            player.join()

    def go_on(self) -> None:
        self._goes_on.set()

    def _play(self, events: list[dict[str, Any]]) -> None:
        began, before = time.monotonic(), len(events) * 3 // 4
        for number, event in enumerate(events):
            if number == before:
                self._goes_on.wait()
            if self._closed.wait(max(0.0, began + number / PER_S / SPEED - time.monotonic())):
                return
            for host in self.both:
                host.events.append(event)


def taken_in(stack: Stack) -> int:
    return sum(manifest.acknowledged for manifest in stack.manifests().values())


@pytest.mark.parametrize(("middleware", "count", "ends"), [
    *(pytest.param(name, 5_000, 2, marks=pytest.mark.timeout(900)) for name in registry()),
    pytest.param(registry()[0], EVENTS, 10, marks=pytest.mark.timeout(2 * AWAIT_S)),
])
def test_every_post_is_there_once_through_cuts_and_a_kill_and_what_is_deleted_is_nowhere(
    middleware: str, count: int, ends: int
) -> None:
    hosts = Hosts(count, ends)
    one, other = hosts.both
    stack = Stack(f"test-live-{count}", MURMUR_MIDDLEWARE=middleware, MURMUR_ALLOWED_LATENESS_S=str(LATENESS_S),
                  MURMUR_BLUESKY_HOSTS=f"{one.address},{other.address}", MURMUR_INDEX_MAX_ROWS="1000000")
    with one, other, stack.running():
        life, began = invented(count, time.time()), time.monotonic()
        with hosts.playing(life.events):
            take_in(stack, hosts, life)
        seconds = time.monotonic() - began
        log.info("%d events in %.0f s: %.1f times as fast as they happened", count, seconds, count / PER_S / seconds)
        assert hosts.ended == ends
        assert one.requests
        assert other.requests
        audit_is_exact(stack, life)
        each_is_stored_once(stack, life)
        what_is_deleted_is_not_found(stack, life)
        the_ranking_is_that_of(stack, life)


def take_in(stack: Stack, hosts: Hosts, life: Life) -> None:
    """All of it, by an ingester that is killed in the middle and another one."""
    first = stack.start("ingest", "--source", "bluesky", "--run", "killed", "--json")
    try:
        eventually("half of it is published", lambda: taken_in(stack) > life.payloads / 2, AWAIT_S)
    finally:
        first.kill()
        _, said = first.communicate()
    assert first.returncode == -signal.SIGKILL, said
    assert taken_in(stack) < life.payloads
    hosts.go_on()
    second = stack.start("ingest", "--source", "bluesky", "--run", "second", "--json")
    try:
        eventually("all of it is published", lambda: taken_in(stack) >= life.payloads, AWAIT_S)
        second.send_signal(signal.SIGINT)
        _, said = second.communicate(timeout=60)
    finally:
        second.kill()
        second.wait()
    assert second.returncode == 0, said
    assert taken_in(stack) == life.payloads


def audit_is_exact(stack: Stack, life: Life) -> None:
    stages = stack.audit(timeout=AWAIT_S)
    assert {name: (stage["missing"], stage["duplicated"]) for name, stage in stages.items()} == dict.fromkeys(
        ("published", "enriched", "ranked", "stored", "indexed"), (0, 0)), stages
    assert {stages[name]["expected"] for name in ("published", "enriched", "stored", "indexed")} == {life.payloads}
    assert stages["ranked"]["found"] == sum(life.posts.values())
    assert stages["indexed"]["forgotten"] == life.payloads - len(life.alive)


def each_is_stored_once(stack: Stack, life: Life) -> None:
    rows = Counter(tweet_id for tweet_id, in stack.rows("SELECT tweet_id FROM tweets"))
    assert sum(rows.values()) == life.payloads
    assert {rows[post] for post in life.alive | life.gone} == {1}
    stored = {tweet_id for tweet_id, in stack.rows("SELECT tweet_id FROM tweets WHERE text <> ''")}
    assert stored == life.alive
    with closing(Index.open(stack.settings())) as index:
        assert Counter(index.ids()) == Counter(life.alive)


def what_is_deleted_is_not_found(stack: Stack, life: Life) -> None:
    for word in (UNSAID, UNFIT):
        like = f"%{word}%"
        assert stack.rows("SELECT count(*) FROM tweets WHERE text LIKE ? OR clean_text LIKE ?", like, like) == [(0,)]
        hits = stack.get("search", q=f"{word} by the sea", limit=100)["hits"]
        assert hits
        assert not [hit["text"] for hit in hits if word in hit["text"]]
        assert {int(hit["tweet_id"]) for hit in hits} <= life.alive


def the_ranking_is_that_of(stack: Stack, life: Life) -> None:
    """As of its last bucket, for the first of the posts may have left the window."""
    eventually("nothing waits", lambda: (found := lags(stack.get("pipeline")["stages"])) and not any(
        events for events, _ in found.values()), AWAIT_S)

    def is_right() -> bool:
        ranking = stack.get("trending", window="1h", limit=5000)
        as_of = int(datetime.fromisoformat(ranking["as_of"]).timestamp())
        posts, counts = life.ranking(as_of, WINDOWS["1h"])
        assert posts > 0
        assert {each["hashtag"]: each["count"] for each in ranking["hashtags"]} == counts
        return bool(ranking["tweets"] == posts)

    eventually("the ranking is that of the posts", is_right, 60)
