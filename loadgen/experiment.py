"""One experiment on a running stack: load, samples, drain, audit, verdict.

The tweets judged are those scheduled in an interval of whole seconds, after `settle_s` at the same rate. An interval
that leaves the growth of a backlog undecided is doubled, once; one whose failure is beyond doubt may end early.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from typing import Protocol

import redis

from common.settings import Settings
from common.telemetry.latency import KEPT_SECONDS
from common.tweets import STAGES
from loadgen.judge.verdict import DRAIN_SECONDS, LEAST_SECONDS, is_hopeless, judge, must_extend
from loadgen.load.generator_processes import Load, processes_for, remove_runs
from loadgen.load.locust_users import Users
from loadgen.observe.host_memory import hold_free_memory
from loadgen.observe.host_speed import reference_ms
from loadgen.observe.process_cpu import CpuSeconds, between, cpu_seconds, host_cpu, idle_share, per_thousand
from loadgen.observe.samples import PUBLISHED, Audited, Evidence, Offered, Sample, Unjudged
from loadgen.observe.stage_counters import ENRICHED, Counters, Totals, backlogs
from loadgen.report.result import Result, Spec
from search.index import Index, IndexDown

SAMPLE_SECONDS = 0.25
BURST_SECONDS, CATCH_UP_SECONDS = 300.0, 600.0
"""How long a burst may take until everything is searchable, and what is left of an overload before the audit."""

REPORT_SECONDS = 5.0
"""How long a stage may take to say what it completed: Spark says it aside, and each process twice a second."""

LONGEST_SECONDS = float((KEPT_SECONDS - DRAIN_SECONDS - REPORT_SECONDS) // 2 // 60 * 60)
"""Of an interval, which may be doubled: the latencies of its first second are still there when it is judged."""

AUDIT_SECONDS, AUDITED_PER_S = 60.0, 10_000
"""How long an audit may wait for what is missing, and how many tweets it reads in a second at least."""

Audit = Callable[[Sequence[str], float], dict[str, Audited] | Unjudged]
"""Counts the events of runs at every stage, in so many seconds."""

Watch = Callable[[str, Sample | None], None]
"""Is told the phase, and every sample."""


class Stack(Protocol):
    """The running instance that is measured."""

    settings: Settings

    def processes(self) -> dict[str, int] | None:
        """Process ids by name, of all that run; None where nobody sees them. Raises StackBroken."""

    def auditing(self) -> AbstractContextManager[Audit]:
        """An audit of what is published from now on."""


class Experiment:
    """To be run once."""

    def __init__(self, stack: Stack, spec: Spec, watch: Watch) -> None:
        self._stack, self._spec, self._watch = stack, spec, watch
        self._settings = stack.settings
        self._samples: list[Sample] = []
        self._first = self._end = 0
        self._is_burst = spec.seconds < LEAST_SECONDS

    def run(self) -> Result:
        """Raises one of BREAKING (errors.py)."""
        spec, settings = self._spec, self._settings
        self._watch("preparing", None)
        hold_free_memory()
        self._reference_ms = reference_ms()
        started = datetime.now(UTC)
        with ExitStack() as stack:
            self._counters = Counters(settings)
            stack.callback(self._counters.close)
            audit = stack.enter_context(self._stack.auditing())
            self._counters.begin()
            processes = spec.processes or processes_for(spec.rate, os.cpu_count() or 1)
            run = f"load-{started:%Y%m%d-%H%M%S-%f}"
            self._load = Load(settings, run, spec.rate, spec.payload, spec.seed, processes, spec.workload,
                              spec.rate * (spec.settle_s + 2 * spec.seconds))
            stack.callback(remove_runs, settings, self._load.runs)
            stack.enter_context(self._load)
            start = self._load.start()
            self._users = stack.enter_context(Users(settings, spec.users))
            return self._measure(start, audit, started)

    def _measure(self, start: int, audit: Audit, started: datetime) -> Result:
        spec = self._spec
        self._first = start + int(spec.settle_s)
        before = self._stack.processes()
        self._sample_until("settling", self._first)
        used, host, offered, counted = self._cpu(before), host_cpu(), self._offered(), self._counters.since()
        self._end = self._first + int(spec.seconds)
        self._sample_until("measuring", self._end, self._is_hopeless if spec.gives_up else None)
        if gave_up := time.time() < self._end:
            self._end = max(self._first + 1, int(time.time()))
        elif must_extend(self._judged(), spec.rate):
            self._end += int(spec.seconds)
            self._sample_until("extending", self._end)
        self._load.end_at(self._end)
        offered, idle = _difference(self._offered(), offered), idle_share(host, host_cpu())
        spent, tweets = between(used, self._cpu(before)), _published(self._counters.since(), counted)
        self._users.stop()
        gone = self._drain()
        users = self._users.finish()
        if self._is_burst:  # its work is done afterwards
            spent, tweets = between(used, self._cpu(before)), self._load.acknowledged()
        expected = self._load.scheduled(self._end) - self._load.scheduled(self._first)
        unsaid = 0 if None in gone.values() else REPORT_SECONDS
        latency = self._counters.latencies(self._first, self._end, expected, unsaid)
        self._load.stop()
        self._catch_up()
        self._watch("auditing", None)
        evidence = Evidence(
            spec.rate, spec.objective_ms, offered, idle, self._judged(), latency,
            {stage: None if at is None or at > DRAIN_SECONDS else at for stage, at in gone.items()},
            audit(self._load.runs, AUDIT_SECONDS + self._load.acknowledged() / AUDITED_PER_S),
            self._is_burst, gave_up,
        )
        after, since = self._stack.processes(), self._counters.since()
        return Result(
            spec=spec, started_at=started.isoformat(timespec="seconds"), seconds=float(self._end - self._first),
            verdict=judge(evidence), evidence=evidence, samples=self._samples,
            completed_s={s: None if at is None else round(self._end + at - start, 2) for s, at in gone.items()},
            cpu_seconds_per_1000=None if before is None else per_thousand(spent, tweets), tweets=tweets,
            bytes_per_tweet=_mean_bytes(since), index_rows=self._index_rows(), reference_ms=self._reference_ms,
            made_ahead=self._load.made_ahead(),
            others=max(0, since[PUBLISHED]["total"] - self._load.acknowledged()),
            restarted=restarted(before, after), users=users,
        )

    def _sample_until(self, phase: str, end: float, enough: Callable[[Sample], bool] | None = None) -> None:
        """Samples at fixed times until `end`, in seconds since the epoch, and then, or until a sample is enough."""
        over = False
        while not over:
            self._load.check()
            self._users.check()
            over = time.time() >= end
            sample = self._sample()
            self._watch(phase, sample)
            if enough and sample and enough(sample):
                return
            following = (time.time() // SAMPLE_SECONDS + 1) * SAMPLE_SECONDS
            if not over:
                time.sleep(max(0.0, min(following, end) - time.time()))

    def _sample(self) -> Sample | None:
        """None if the counters cannot be read: the other samples go on."""
        now = time.time()
        try:
            backlog = {PUBLISHED: self._load.unpublished(now), **backlogs(self._counters.since())}
        except redis.RedisError:
            return None
        self._samples.append(Sample(now - self._first, backlog))
        return self._samples[-1]

    def _is_hopeless(self, sample: Sample) -> bool:
        return is_hopeless(sample, self._spec.rate, self._spec.seconds, self._spec.objective_ms)

    def _judged(self) -> tuple[Sample, ...]:
        """The samples of the interval, with that of its end."""
        seconds = self._end - self._first
        return tuple(sample for sample in self._samples if 0 <= sample.at <= seconds + SAMPLE_SECONDS)

    def _drain(self) -> dict[str, float | None]:
        """By stage, how many seconds after the end the last sample was that had a backlog; None: all of them have."""
        began = len(self._samples)
        patience = BURST_SECONDS if self._is_burst else DRAIN_SECONDS
        self._sample_until("draining", self._end + patience,
                           lambda sample: self._load.has_ended() and not any(sample.backlog.values()))
        return drained(self._samples[began:], self._end - self._first)

    def _catch_up(self) -> None:
        """What is left of an overload goes through before it is audited, and before the next experiment."""
        self._sample_until("catching up", time.time() + CATCH_UP_SECONDS,
                           lambda sample: not any(sample.backlog.values()))

    def _cpu(self, processes: Mapping[str, int] | None) -> CpuSeconds:
        own = {"experiment": time.process_time()}  # without its children: generators and users stand by themselves
        return {**cpu_seconds({**(processes or {}), **self._users.pids}), **own, **self._load.cpu_seconds()}

    def _offered(self) -> Offered:
        return self._load.offered(time.time())

    def _index_rows(self) -> int | None:
        index = Index.open(self._settings)
        try:
            return index.count()
        except IndexDown:
            return None
        finally:
            index.close()


def restarted(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> list[str] | None:
    """Names of the processes that have another id than before; None where nobody sees them."""
    if before is None or after is None:
        return None
    return sorted(name for name, pid in after.items() if before.get(name, pid) != pid)


def drained(samples: Sequence[Sample], end: float) -> dict[str, float | None]:
    """By stage, how long after `end` its backlog was gone for good, by samples taken since; None if it never was."""
    gone: dict[str, float | None] = {}
    for stage in STAGES:
        zero: float | None = None
        for sample in samples:
            if sample.backlog[stage]:
                zero = None
            elif zero is None:
                zero = round(max(0.0, sample.at - end), 2)
        gone[stage] = zero
    return gone


def _difference(after: Offered, before: Offered) -> Offered:
    counts = (max(0, getattr(after, name) - getattr(before, name)) for name in ("on_schedule", "blocked", "late"))
    on_schedule, blocked, late = counts
    return Offered(on_schedule + blocked + late, on_schedule, blocked, late)


def _published(after: Totals, before: Totals) -> int:
    return after[PUBLISHED]["total"] - before[PUBLISHED]["total"]


def _mean_bytes(since: Totals) -> float | None:
    """Of an event of `tweets-raw`; None if none was enriched."""
    enriched = since[ENRICHED]
    return round(enriched["bytes"] / enriched["total"], 1) if enriched["total"] else None


def warm_up(stack: Stack, rate: float, seconds: float, watch: Watch) -> None:
    """Lets a stack that was just started compile and fill its caches, with other texts; nothing is judged."""
    warming = Spec(rate, seconds=1, settle_s=seconds, seed=0, processes=1)
    Experiment(stack, warming, lambda phase, sample: watch("warming up", sample)).run()
