"""Users of a running instance, for Locust: `locust -f loadgen/locustfile.py`, with its web page or `--headless`.

Viewers look at the ranking, listeners keep an event stream open, searchers ask now what others ask and now something
of their own, pushers send tweets. Every answer is checked, not only counted. Without `--host` it is the instance that
MURMUR_INSTANCE names (`default`). To find the maximum with Locust alone, add locust_search.py.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable
from typing import Any

import orjson
from locust import FastHttpUser, HttpUser, between, constant, events, task
from locust.env import Environment

from common.settings import Settings
from common.tweets import WINDOWS
from ingest.sources.phrases import load_topics
from ingest.sources.synthetic import Synthetic
from loadgen.load.pushed import PUSH_SECONDS, PUSH_TWEETS, PUSHED
from loadgen.load.response_checks import Wrong, check_events, check_hits, check_pushed, check_ranking

SETTINGS = Settings.load()
FRESH_SHARE = 0.3
"""Of the searches; the others repeat what is asked often, which Redis may know."""

ASKED_OFTEN = ("football", "climate", "new phone", "breakfast", "election", "concert tonight", "train delays",
               "rain tomorrow", "good books", "space telescope", "holiday by the sea", "interest rates")
LISTEN_SECONDS = (15.0, 40.0)


@events.init.add_listener
def use_instance(environment: Environment, **_: Any) -> None:
    """Without `--host`. Exits where there is no instance yet, whose token nobody knows then."""
    if not environment.host and not SETTINGS.settings_file.exists():
        raise SystemExit(f"there is no instance {SETTINGS.instance} yet: start it, or name another with --host")
    environment.host = environment.host or SETTINGS.url


class Viewer(FastHttpUser):
    """Watches the ranking, one window at a time."""

    weight = 4
    wait_time = between(1, 3)
    host = SETTINGS.url

    @task
    def trending(self) -> None:
        window = random.choice(list(WINDOWS))
        with self.client.get(f"/api/v1/trending?window={window}&limit=50", name="trending", catch_response=True) as r:
            if r.status_code == 200:
                check(r, lambda: check_ranking(orjson.loads(r.content), window))


class Listener(HttpUser):
    """Keeps an event stream open, as the page does; where all places are taken, it asks again later."""

    weight = 2
    wait_time = between(1, 5)
    host = SETTINGS.url

    @task
    def listen(self) -> None:
        began, until = time.monotonic(), time.monotonic() + random.uniform(*LISTEN_SECONDS)
        with self.client.get("/api/v1/events", stream=True, name="events", catch_response=True, timeout=30) as r:
            if r.status_code in (429, 503):
                r.success()
                return
            if r.status_code != 200:
                return
            first_s, kinds = None, set()
            for line in r.iter_lines():
                if line.startswith(b"event:"):
                    first_s = first_s or time.monotonic() - began
                    kinds.add(line.partition(b":")[2].strip().decode())
                if time.monotonic() > until:
                    break
            check(r, lambda: check_events(kinds))
            # What counts is when something came, not for how long the user listened.
            r.request_meta["response_time"] = (first_s or time.monotonic() - began) * 1000


class Searcher(FastHttpUser):
    """Searches: mostly for what many ask, which may be cached, at times for something of its own."""

    weight = 4
    wait_time = between(1, 4)
    host = SETTINGS.url
    topics = load_topics()

    @task
    def search(self) -> None:
        fresh = random.random() < FRESH_SHARE
        query = self.something() if fresh else random.choice(ASKED_OFTEN)
        name = "search, fresh" if fresh else "search, repeated"
        with self.client.get("/api/v1/search", params={"q": query, "limit": "10"}, name=name,
                             catch_response=True) as r:
            if r.status_code == 200:
                check(r, lambda: check_hits(orjson.loads(r.content), query, 10))

    def something(self) -> str:
        """Words that nobody is likely to have asked for in this order."""
        topic = random.choice(self.topics)
        sentence = random.choice(random.choice(list(topic.sentences.values())))
        words = sentence.split()
        return " ".join(random.sample(words, min(4, len(words))))[:200] or uuid.uuid4().hex


class TweetPusher(FastHttpUser):
    """Pushes batches of tweets on a schedule of its own: one that is held up sends what is overdue at once."""

    weight = 1
    wait_time = constant(0)
    host = SETTINGS.url

    def on_start(self) -> None:
        self._source = Synthetic(f"push-{uuid.uuid4().hex}", random.randrange(1 << 20))
        self._due = time.time() + random.uniform(0, PUSH_SECONDS)
        self._headers = {"Authorization": f"Bearer {SETTINGS.ingest_token}", "Content-Type": "application/x-ndjson"}

    @task
    def push(self) -> None:
        time.sleep(max(0.0, self._due - time.time()))
        late_s, self._due = time.time() - self._due, self._due + PUSH_SECONDS
        payloads = self._source.take([time.time_ns() // 1000] * PUSH_TWEETS)
        body = b"\n".join(payload.body for payload in payloads)
        with self.client.post("/api/v1/tweets", data=body.decode(), headers=self._headers, name="push",
                              catch_response=True) as r:
            accepted = orjson.loads(r.content)["accepted"] if r.status_code == 200 else 0
            check(r, lambda: check_pushed(r.status_code, accepted, PUSH_TWEETS, SETTINGS.instance))
        PUSHED.add(accepted, late_s)


def check(response: Any, checking: Callable[[], None]) -> None:
    """Counts an answer that is wrong as a failure."""
    try:
        checking()
    except (Wrong, KeyError, TypeError, ValueError) as error:
        response.failure(f"wrong answer: {error!r}")
