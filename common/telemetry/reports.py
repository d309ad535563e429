"""Counters and latencies of the stages, in Redis, refreshed twice a second by each process that completes a stage.

A process owns the key `telemetry:<stage>:<process>`, of which it always writes the whole content, and the hash
`scheduled:<stage>:<process>`, of which it writes what changed, and all when it is gone: so what Redis loses is back
soon. The set `telemetry` names the processes. stages.py merges the processes of a stage.

How far a stage is behind is told by *when the events were sent*, not by comparing counts: counts drift apart when a
process is killed between completing events and reporting them, or completes them again. *published* reports how many
events it sent when; the newest `sent_at_us` that a stage completed tells which of them still wait.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from common.telemetry import newest
from common.telemetry.latency import KEPT_SECONDS, Encoder, ScheduledLatencies, tallied
from common.tweets import STAGES, SourceKind

PUBLISHED, ENRICHED = STAGES[:2]

HISTORY_SECONDS = 30
SPANS = 600
"""So many seconds in which something was published are remembered: a larger backlog counts as this."""

ENDED = "ended"
"""Stands for all processes of a stage that ended for good."""

WRITE_SECONDS = 0.5
"""How often each process writes."""

STARTS = 100
"""So many starts of a process are remembered."""


def scheduled_key(prefix: str, stage: str, process: str) -> str:
    """Where a process keeps its latencies by scheduled second: a hash of encoded histograms."""
    return f"{prefix}scheduled:{stage}:{process}"


@dataclass
class Second:
    """What a process completed within one second."""

    epoch: int
    count: int = 0
    latencies: Counter[int] = field(default_factory=Counter)
    """Events by latency in ms."""
    encoded: str = ""
    """`latencies`, or empty if something came since."""

    def content(self, encode: Encoder) -> list[Any]:
        self.encoded = self.encoded or encode(self.latencies)
        return [self.epoch, self.count, self.encoded]


class StageTelemetry:
    """Counts one process's part of a stage. `record` is for one thread; a thread of its own writes to Redis.

    `process` is unique among the live processes of the stage and stable across restarts of the same one. Of *published*
    it is the run; those that ended are folded into one, so that their totals stay and their number does not grow.
    `source` is what that run publishes, and empty of other stages; `kind` is None of one that is not known.
    """

    def __init__(self, address: str, prefix: str, stage: str, process: str, source: str = "",
                 kind: SourceKind | None = None) -> None:
        self._redis = redis.Redis.from_url(address, socket_timeout=2, retry=Retry(NoBackoff(), 1))
        self._prefix, self._stage = prefix, stage
        self._index = f"{prefix}telemetry"
        self._key = f"{prefix}telemetry:{stage}:{process}"
        self._encode = Encoder()
        self._scheduled, self._scheduled_key = ScheduledLatencies(self._encode), scheduled_key(prefix, stage, process)
        self._counted, self._writing = threading.Lock(), threading.Lock()
        self._seconds: deque[Second] = deque(maxlen=HISTORY_SECONDS)
        self._spans: deque[list[int]] = deque(maxlen=SPANS if stage == PUBLISHED else 0)
        self.source, self._kind = source, kind
        self._total, self._sent_high_us = 0, 0
        self.problem = ""
        """What keeps that source from bringing anything; empty: nothing does. It may be set from any thread."""
        self._extra: Counter[str] = Counter()
        self._starts_us = [int(psutil.Process().create_time() * 1e6)]
        self._passed_on: dict[str, int] = {}
        self._newest: dict[str, bytes] = {}
        """Stream → the newest of its events that was not left in Redis yet."""
        self._left_at = 0.0
        self._stopped = threading.Event()
        self._resumed, self._missed = False, False
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
        self._thread.start()

    def record(
        self, sent_at_us: Iterable[int] | np.ndarray, completed_us: int | None = None, counts: np.ndarray | None = None
    ) -> None:
        """Counts events sent at `sent_at_us` (µs) as having completed the stage at `completed_us` (default: now).

        `counts`: how many events each of these times stands for (default: one).
        """
        sent = np.asarray(sent_at_us, dtype=np.int64)
        if not sent.size:
            return
        now = completed_us or time.time_ns() // 1000
        tally = tallied(sent, np.ones(sent.size, np.int64) if counts is None else counts, now)
        events = sum(count for _, _, count in tally)
        first, last = int(sent.min()), int(sent.max())
        with self._counted:
            second = self._second(now // 1_000_000, first)
            second.count += events
            second.encoded = ""
            self._total += events
            self._sent_high_us = max(self._sent_high_us, last)
            if self._spans:
                span = self._spans[-1]
                self._spans[-1] = [min(span[0], first), max(span[1], last), span[2] + events]
            for _, milliseconds, count in tally:
                second.latencies[milliseconds] += count
            self._scheduled.record(tally)

    def add(self, **extra: int) -> None:
        """Adds to named counters beside the total, such as rejected=1."""
        with self._counted:
            self._extra.update(extra)

    def pass_on(self, **sent_high_us: int) -> None:
        """Tells, by later stage, when the newest event that this stage lets through to it was sent (µs).

        A stage that has completed all that was let through is not behind, whatever was rejected or left out after.
        """
        with self._counted:
            for stage, sent in sent_high_us.items():
                self._passed_on[stage] = max(self._passed_on.get(stage, 0), sent)

    def show(self, stream: str, events: Sequence[bytes]) -> None:
        """Events of a stream, for whoever wants to see what flows: of the last ones one a second is kept for that."""
        if events:
            self._newest[stream] = events[-1]

    def save(self) -> None:
        """Writes now. A consumer calls it before it commits, so that what is committed was also reported.

        Does nothing while Redis is away.
        """
        if not self._missed:
            self._write(ended=False)

    def close(self) -> None:
        """Reports for the last time: from now on the rate is known to be zero."""
        self._stopped.set()
        self._thread.join(timeout=5)

    def _second(self, epoch: int, sent_us: int) -> Second:
        if not self._seconds or self._seconds[-1].epoch < epoch:
            self._seconds.append(Second(epoch))
            self._spans.append([sent_us, sent_us, 0])
        return self._seconds[-1]

    def _run(self) -> None:
        ended = False
        while not ended:
            ended = self._stopped.wait(WRITE_SECONDS)
            self._write(ended)

    def _write(self, ended: bool) -> None:
        with self._writing:
            changed: dict[str, str] = {}
            try:
                if not self._resumed:
                    self._resume()
                content = self._content(ended)
                with self._counted:
                    gone = self._scheduled.forget(int(time.time()) - KEPT_SECONDS)
                    changed = self._scheduled.changed()
                pipe = self._redis.pipeline()
                pipe.set(self._key, content)
                pipe.sadd(self._index, self._key)
                pipe.hlen(self._scheduled_key)
                if gone:
                    pipe.hdel(self._scheduled_key, *gone)
                if changed:
                    pipe.hset(self._scheduled_key, mapping=changed)  # type: ignore[arg-type]
                    pipe.expire(self._scheduled_key, 2 * KEPT_SECONDS)
                if (now := time.time()) >= self._left_at + newest.EVERY_SECONDS:
                    left, self._newest, self._left_at = self._newest, {}, now
                    for stream, event in left.items():
                        newest.leave(pipe, self._prefix, stream, event, now)
                kept = pipe.execute()[2]
                self._missed = False
                if not kept and len(self._scheduled) > len(changed):  # Redis has lost its data
                    self._scheduled.change_all()
            except redis.RedisError:
                self._missed = True  # telemetry must not stop the stage; the next write tries again
                self._scheduled.failed(changed)

    def _resume(self) -> None:
        """Goes on counting where this process's predecessor ended."""
        if self._stage == PUBLISHED:
            fold_ended(self._redis, self._prefix, self._stage, time.time() - KEPT_SECONDS)
        scheduled: Any = self._redis.hgetall(self._scheduled_key)
        if stored := self._redis.get(self._key):
            before = json.loads(stored)
            with self._counted:
                self._total += before["total"]
                self._sent_high_us = max(self._sent_high_us, before["sent_high_us"])
                self._extra.update(before["extra"])
                self._passed_on = before["passed_on"] | self._passed_on
                self._starts_us = [*before["starts_us"], *self._starts_us][-STARTS:]
                self._spans = deque([*before["spans"], *self._spans], maxlen=self._spans.maxlen)
                self._scheduled.restore(scheduled)
        self._resumed = True

    def _content(self, ended: bool) -> str:
        with self._counted:
            return json.dumps({
                "at": time.time(),
                "ended": ended,
                "source": self.source,
                "kind": self._kind,
                "problem": "" if ended else self.problem,
                "total": self._total,
                "sent_high_us": self._sent_high_us,
                "extra": self._extra,
                "starts_us": self._starts_us,
                "passed_on": self._passed_on,
                "spans": list(self._spans),
                "seconds": [second.content(self._encode) for second in self._seconds],
            })


def fold_ended(client: redis.Redis, prefix: str, stage: str, before: float) -> None:
    """Adds the reports of those processes of a stage that ended before `before` (s) to that of the process `ended`.

    For processes that are not started again. Raises RedisError.
    """
    index, sum_key = f"{prefix}telemetry", f"{prefix}telemetry:{stage}:{ENDED}"
    for key in (name.decode() if isinstance(name, bytes) else name for name in client.smembers(index)):
        *_, of_stage, process = key.removeprefix(prefix).split(":", 2)
        if of_stage != stage or process == ENDED:
            continue

        def fold(pipe: Any, key: str = key, process: str = process) -> None:
            report, folded = (json.loads(found) if found else None for found in pipe.mget(key, sum_key))
            pipe.multi()
            if report and report["ended"] and report["at"] < before:
                pipe.set(sum_key, json.dumps(_added(folded, report)))
                pipe.sadd(index, sum_key)
                pipe.srem(index, key)
                pipe.delete(key, scheduled_key(prefix, stage, process))

        client.transaction(fold, key, sum_key)


def _added(folded: dict[str, Any] | None, report: dict[str, Any]) -> dict[str, Any]:
    """What of both is still of interest when their latest seconds no longer are."""
    both = [folded, report] if folded else [report]
    newest = max(both, key=lambda each: int(each["sent_high_us"]))
    passed_on: Counter[str] = Counter()
    for each in both:
        passed_on |= Counter(each["passed_on"])
    return {
        "at": newest["at"],
        "ended": True,
        "source": newest["source"],
        "kind": newest["kind"],
        "problem": "",
        "total": sum(each["total"] for each in both),
        "sent_high_us": max(each["sent_high_us"] for each in both),
        "extra": sum((Counter(each["extra"]) for each in both), Counter[str]()),
        "starts_us": [],
        "passed_on": passed_on,
        "spans": sorted(span for each in both for span in each["spans"])[-SPANS:],
        "seconds": [],
    }
