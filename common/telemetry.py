"""Counters and latencies of the stages, in Redis, refreshed every second by each process that completes a stage.

A process owns one key, `telemetry:<stage>:<process>`, and always writes its whole content: when Redis loses its data,
the next second brings it back. The set `telemetry` names these keys. `read_stages` merges the processes of a stage.

How far a stage is behind is told by *when the events were sent*, not by comparing counts: counts drift apart when a
process is killed between completing events and reporting them, or completes them again. *published* reports how many
events it sent when; the newest `sent_at_us` that a stage completed tells which of them still wait.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypedDict

import numpy as np
import redis
from hdrh.histogram import HdrHistogram
from redis.backoff import NoBackoff
from redis.retry import Retry

from common.tweets import STAGES

PUBLISHED, ENRICHED = STAGES[:2]

HISTORY_SECONDS = 30
RATE_SECONDS = 5
STALE_SECONDS = 5
"""A process that did not report for this long, and did not say that it ended, counts as unknown."""

SPANS = 600
"""So many seconds in which something was published are remembered: a larger backlog counts as this."""

MAX_LATENCY_MS = 3_600_000
PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}


class StageReading(TypedDict):
    """One stage of `GET /api/v1/pipeline`; None where unknown, never 0."""

    name: str
    rate_per_s: float | None
    lag_events: int | None
    lag_seconds: float | None
    latency_ms: dict[str, float | None]


def new_histogram() -> HdrHistogram:
    """Latencies in ms, 1 ms to 1 h, two significant digits."""
    return HdrHistogram(1, MAX_LATENCY_MS, 2)


def as_histogram(latency_us: np.ndarray) -> np.ndarray:
    """Latencies in ms as the histogram tells them apart (8 bits), so that a batch has few different ones to record."""
    milliseconds = np.clip(latency_us // 1000, 1, MAX_LATENCY_MS)
    surplus_bits = np.maximum(np.frexp(milliseconds)[1] - 8, 0)
    return milliseconds >> surplus_bits << surplus_bits


@lru_cache(maxsize=512)
def decoded(histogram: str) -> HdrHistogram:
    """A finished second is read again and again, by every reader for HISTORY_SECONDS."""
    return HdrHistogram.decode(histogram)


@dataclass
class Second:
    """What a process completed within one second."""

    epoch: int
    count: int = 0
    latencies: HdrHistogram = field(default_factory=new_histogram)
    encoded: str = ""
    """`latencies`, or empty if something came since."""

    def content(self) -> list[Any]:
        self.encoded = self.encoded or self.latencies.encode().decode()
        return [self.epoch, self.count, self.encoded]


class StageTelemetry:
    """Counts one process's part of a stage. `record` is for one thread; a thread of its own writes to Redis.

    `process` is unique among the live processes of the stage and stable across restarts of the same one.
    """

    def __init__(self, address: str, prefix: str, stage: str, process: str) -> None:
        self._redis = redis.Redis.from_url(address, socket_timeout=2, retry=Retry(NoBackoff(), 1))
        self._index = f"{prefix}telemetry"
        self._key = f"{prefix}telemetry:{stage}:{process}"
        self._counted, self._writing = threading.Lock(), threading.Lock()
        self._seconds: deque[Second] = deque(maxlen=HISTORY_SECONDS)
        self._spans: deque[list[int]] = deque(maxlen=SPANS if stage == PUBLISHED else 0)
        self._total, self._sent_high_us = 0, 0
        self._extra: Counter[str] = Counter()
        self._passed_on: dict[str, int] = {}
        self._stopped = threading.Event()
        self._resumed, self._missed = False, False
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
        self._thread.start()

    def record(self, sent_at_us: Iterable[int] | np.ndarray, completed_us: int | None = None) -> None:
        """Counts events sent at `sent_at_us` (µs) as having completed the stage at `completed_us` (default: now)."""
        sent = np.asarray(sent_at_us, dtype=np.int64)
        if not sent.size:
            return
        now = completed_us or time.time_ns() // 1000
        milliseconds, counts = np.unique(as_histogram(now - sent), return_counts=True)
        first, last = int(sent.min()), int(sent.max())
        with self._counted:
            second = self._second(now // 1_000_000, first)
            second.count += int(sent.size)
            second.encoded = ""
            self._total += int(sent.size)
            self._sent_high_us = max(self._sent_high_us, last)
            if self._spans:
                span = self._spans[-1]
                self._spans[-1] = [min(span[0], first), max(span[1], last), span[2] + int(sent.size)]
            for value, count in zip(milliseconds.tolist(), counts.tolist(), strict=True):
                second.latencies.record_value(value, count)

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
            ended = self._stopped.wait(1.0)
            self._write(ended)

    def _write(self, ended: bool) -> None:
        with self._writing:
            try:
                if not self._resumed:
                    self._resume()
                pipe = self._redis.pipeline()
                pipe.set(self._key, self._content(ended))
                pipe.sadd(self._index, self._key)
                pipe.execute()
                self._missed = False
            except redis.RedisError:
                self._missed = True  # telemetry must not stop the stage; the next second tries again

    def _resume(self) -> None:
        """Goes on counting where this process's predecessor ended."""
        if stored := self._redis.get(self._key):
            before = json.loads(stored)
            with self._counted:
                self._total += before["total"]
                self._sent_high_us = max(self._sent_high_us, before["sent_high_us"])
                self._extra.update(before["extra"])
                self._passed_on = before["passed_on"] | self._passed_on
                self._spans = deque([*before["spans"], *self._spans], maxlen=self._spans.maxlen)
        self._resumed = True

    def _content(self, ended: bool) -> str:
        with self._counted:
            return json.dumps({
                "at": time.time(),
                "ended": ended,
                "total": self._total,
                "sent_high_us": self._sent_high_us,
                "extra": self._extra,
                "passed_on": self._passed_on,
                "spans": list(self._spans),
                "seconds": [second.content() for second in self._seconds],
            })


@dataclass
class Stage:
    """Sum over the processes of a stage."""

    total: int
    extra: Counter[str]
    """Counters beside the total. They and the total never shrink, but may count an event again after a crash."""

    sent_high_us: int
    passed_on: dict[str, int]
    spans: list[list[int]]
    """First and last `sent_at_us`, and number, of the events that were published in one second; published only."""

    rate: float | None
    latencies: HdrHistogram


def read_stages(client: redis.Redis, prefix: str, now: float) -> dict[str, Stage]:
    """The stages that have reported, by name. Raises redis.RedisError."""
    keys = sorted(key.decode() if isinstance(key, bytes) else key for key in client.smembers(f"{prefix}telemetry"))
    reports: dict[str, list[dict[str, Any]]] = {}
    for key, content in zip(keys, client.mget(keys) if keys else [], strict=True):
        if content:
            reports.setdefault(key.removeprefix(prefix).split(":")[1], []).append(json.loads(content))
    return {name: _merged(of_stage, now) for name, of_stage in reports.items()}


def _merged(reports: list[dict[str, Any]], now: float) -> Stage:
    merged = Stage(
        total=sum(report["total"] for report in reports),
        extra=sum((Counter(report["extra"]) for report in reports), Counter()),
        sent_high_us=max(report["sent_high_us"] for report in reports),
        passed_on={},
        spans=[span for report in reports for span in report["spans"]],
        rate=None,
        latencies=new_histogram(),
    )
    # The current second is not over, and of the one before a report that is a second old may lack the end.
    end, recent = int(now) - 1, 0
    for report in reports:
        for stage, sent in report["passed_on"].items():
            merged.passed_on[stage] = max(merged.passed_on.get(stage, 0), sent)
        for epoch, count, encoded in report["seconds"]:
            if epoch >= int(now) - HISTORY_SECONDS:
                merged.latencies.add(decoded(encoded))
            if end - RATE_SECONDS <= epoch < end:
                recent += count
    newest = max(reports, key=lambda report: report["at"])
    if newest["ended"] or now - newest["at"] < STALE_SECONDS:
        merged.rate = recent / RATE_SECONDS
    return merged


def read_pipeline(client: redis.Redis, prefix: str, now: float | None = None) -> list[StageReading]:
    """The stages in order, with rate, lag behind *published* and latency since `sent_at_us`. Raises RedisError."""
    now = time.time() if now is None else now
    stages = read_stages(client, prefix, now)
    return [_reading(name, stages, now) for name in STAGES]


def _reading(name: str, stages: dict[str, Stage], now: float) -> StageReading:
    stage, published = stages.get(name), stages.get(PUBLISHED)
    latency: dict[str, float | None] = dict.fromkeys(PERCENTILES)
    if stage and stage.latencies.get_total_count():
        latency = {p: float(stage.latencies.get_value_at_percentile(q)) for p, q in PERCENTILES.items()}
    lag_events, lag_seconds = None, None
    if stage and published:
        lag_events, lag_seconds = waiting(published.spans, reached_us(name, stages), now)
    return {
        "name": name,
        "rate_per_s": stage.rate if stage else None,
        "lag_events": lag_events,
        "lag_seconds": lag_seconds,
        "latency_ms": latency,
    }


def reached_us(name: str, stages: dict[str, Stage]) -> int:
    """Up to which `sent_at_us` a stage has done its work; a partition that trails the others does not show.

    What a later stage completed, the earlier ones completed too, even if they were killed before they could say so.
    A later stage that has completed all that *enriched* let through to it is as far as *enriched*.
    """
    if name == PUBLISHED:
        return max(stage.sent_high_us for stage in stages.values())
    enriched = max(stage.sent_high_us for of, stage in stages.items() if of != PUBLISHED)
    own = stages[name].sent_high_us
    if name == ENRICHED:
        return enriched
    passed_on = stages[ENRICHED].passed_on.get(name) if ENRICHED in stages else None
    return enriched if passed_on is not None and own >= passed_on else own


def waiting(spans: list[list[int]], reached: int, now: float) -> tuple[int, float]:
    """How many published events were sent after `reached` (µs), and the age of the oldest of them in seconds.

    Within a span events count as evenly spread.
    """
    events, oldest = 0, 0
    for first, last, count in spans:
        if last > reached:
            part = 1.0 if first > reached else (last - reached) / (last - first)
            events += max(1, round(count * part))
            oldest = min(oldest or last, max(first, reached))
    return events, round(max(0.0, now - oldest / 1e6), 3) if events else 0.0
