"""What the processes of the stages have reported to Redis, merged by stage: see reports.py, which writes it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import orjson
import redis
from hdrh.histogram import HdrHistogram

from common.telemetry.latency import decoded, new_histogram
from common.telemetry.reports import ENRICHED, HISTORY_SECONDS, PUBLISHED, scheduled_key
from common.tweets import STAGES, SourceKind

RATE_SECONDS = 5
STALE_SECONDS = 5
"""A process that did not report for this long, and did not say that it ended, counts as unknown."""

SOURCE_ENDED_SECONDS = 15
"""A source whose runs did not report for this long, and did not say that they ended, has ended all the same."""

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}


class StageReading(TypedDict):
    """One stage of `GET /api/v1/pipeline`; None where unknown, never 0."""

    name: str
    rate_per_s: float | None
    lag_events: int | None
    lag_seconds: float | None
    latency_ms: dict[str, float | None]


class Source(NamedTuple):
    """What was published last. `kind` is None of a source that is not known; `ended_at` (s) while one is at work, and
    of what is pushed, which comes whenever somebody pushes."""

    name: str
    kind: SourceKind | None
    ended_at: float | None


@dataclass
class Stage:
    """Sum over the processes of a stage."""

    total: int
    extra: Counter[str]
    """Counters beside the total. They and the total never shrink, but may count an event again after a crash."""

    sent_high_us: int
    source: Source | None
    """Of which the newest events are; published only."""

    problem: str
    """What keeps sources that are at work from bringing anything; published only."""

    starts_us: list[int]
    """When its processes were started (µs since the epoch), as far back as it is remembered."""

    passed_on: dict[str, int]
    spans: list[list[int]]
    """First and last `sent_at_us`, and number, of the events that were published in one second; published only."""

    rate: float | None
    ended: bool
    """Whether all of its processes said that they ended: of *published*, all runs."""

    latencies: HdrHistogram


def read_stages(client: redis.Redis, prefix: str, now: float) -> dict[str, Stage]:
    """The stages that have reported, by name. Raises redis.RedisError."""
    return {name: _merged(of_stage, now) for name, of_stage in _reports(client, prefix).items()}


def read_totals(client: redis.Redis, prefix: str) -> dict[str, Counter[str]]:
    """By stage, how many events completed it (`total`), and its counters beside that. Raises redis.RedisError."""
    totals = {}
    for name, of_stage in _reports(client, prefix).items():
        totals[name] = _extra(of_stage)
        totals[name]["total"] = sum(report["total"] for report in of_stage)
    return totals


def read_sent_high_us(client: redis.Redis, prefix: str, stage: str) -> int | None:
    """`sent_at_us` of the newest event that has completed a stage; None: unknown. Raises redis.RedisError."""
    keys = [key for key in _keys(client, prefix) if key.removeprefix(prefix).split(":")[1] == stage]
    reports = [orjson.loads(content) for content in (client.mget(keys) if keys else []) if content]
    return max((report["sent_high_us"] for report in reports), default=0) or None


def read_scheduled(client: redis.Redis, prefix: str, first: int, end: int) -> dict[str, HdrHistogram]:
    """Latencies by stage of the events scheduled from second `first` up to `end`. Raises redis.RedisError."""
    found = {stage: new_histogram() for stage in STAGES}
    seconds = [str(second) for second in range(first, end)]
    for key in _keys(client, prefix) if seconds else []:
        _, stage, process = key.removeprefix(prefix).split(":", 2)
        for encoded in client.hmget(scheduled_key(prefix, stage, process), seconds):
            if encoded:
                found[stage].add(HdrHistogram.decode(encoded))
    return found


def _keys(client: redis.Redis, prefix: str) -> list[str]:
    return sorted(key.decode() if isinstance(key, bytes) else key for key in client.smembers(f"{prefix}telemetry"))


def _reports(client: redis.Redis, prefix: str) -> dict[str, list[dict[str, Any]]]:
    keys = _keys(client, prefix)
    reports: dict[str, list[dict[str, Any]]] = {}
    for key, content in zip(keys, client.mget(keys) if keys else [], strict=True):
        if content:
            reports.setdefault(key.removeprefix(prefix).split(":")[1], []).append(orjson.loads(content))
    return reports


def _extra(reports: list[dict[str, Any]]) -> Counter[str]:
    """Sums of the named counters; one that is 0 stays, so that its first increase is seen as one."""
    extra: Counter[str] = Counter()
    for report in reports:
        extra.update(report["extra"])
    return extra


def _merged(reports: list[dict[str, Any]], now: float) -> Stage:
    merged = Stage(
        total=sum(report["total"] for report in reports),
        extra=_extra(reports),
        sent_high_us=max(report["sent_high_us"] for report in reports),
        source=_source(reports, now),
        problem="; ".join(sorted({report["problem"] for report in reports if _is_fresh(report, now)} - {""})),
        starts_us=sorted(at for report in reports for at in report["starts_us"]),
        passed_on={},
        spans=[span for report in reports for span in report["spans"]],
        rate=None,
        ended=all(report["ended"] for report in reports),
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
    if newest["ended"] or _is_fresh(newest, now):
        merged.rate = recent / RATE_SECONDS
    return merged


def _source(reports: list[dict[str, Any]], now: float) -> Source | None:
    """A source goes on as long as one of its runs does, be it one that has not published anything yet."""
    newest = max(reports, key=lambda report: int(report["sent_high_us"]))
    if not (newest["source"] and newest["sent_high_us"]):
        return None
    runs = [report for report in reports if report["source"] == newest["source"]]
    goes_on = any(not run["ended"] and now - run["at"] < SOURCE_ENDED_SECONDS for run in runs)
    ended = not goes_on and newest["kind"] != "pushed"
    return Source(newest["source"], newest["kind"], newest["at"] if ended else None)


def _is_fresh(report: dict[str, Any], now: float) -> bool:
    return bool(now - report["at"] < STALE_SECONDS)


def read_pipeline(client: redis.Redis, prefix: str, now: float | None = None) -> list[StageReading]:
    """The stages in order, with rate, lag behind *published* and latency since `sent_at_us`. Raises RedisError."""
    now = time.time() if now is None else now
    return readings(read_stages(client, prefix, now), now)


def readings(stages: dict[str, Stage], now: float) -> list[StageReading]:
    """What `read_pipeline` tells, of stages that were read at `now`."""
    return [_reading(name, stages, now) for name in STAGES]


def newest_source(stages: dict[str, Stage]) -> Source | None:
    """The source of what was published last; None if nothing was."""
    published = stages.get(PUBLISHED)
    return published.source if published else None


def source_problem(stages: dict[str, Stage]) -> str | None:
    """What keeps a source that is at work from bringing anything; None if nothing does."""
    published = stages.get(PUBLISHED)
    return published.problem or None if published else None


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
