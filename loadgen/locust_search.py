"""The maximum with Locust alone: `locust -f loadgen/locustfile.py,loadgen/locust_search.py --headless TweetPusher`.

A shape that climbs as `murmur load find-max` does, by the same strategy, and judges each rate by the same verdict. The
differences: the load is in steps of one pusher, 100 tweets/s; pushers wait for answers, and `sent_at_us` is when the
tweet arrived, so that time before that is not in the latencies but in the first condition only; nothing is audited.
"""

from __future__ import annotations

import math
import time

import gevent
from locust import LoadTestShape

from common.settings import Settings
from loadgen.capacity import CONFIRMATION_SECONDS
from loadgen.errors import Busy
from loadgen.experiment import SAMPLE_SECONDS, drained
from loadgen.judge.rate_search import Attempt, Capacity, Plan, Step, capacity, is_long, next_step
from loadgen.judge.verdict import DRAIN_SECONDS, judge
from loadgen.load.pushed import PUSH_SECONDS, PUSH_TWEETS, PUSHED
from loadgen.observe.process_cpu import host_cpu, idle_share
from loadgen.observe.samples import PUBLISHED, Evidence, Sample
from loadgen.observe.stage_counters import Counters, backlogs

SETTINGS = Settings.load()
RATE = PUSH_TWEETS / PUSH_SECONDS
SETTLE_SECONDS, MEASURE_SECONDS = 20, 60
BUDGET_SECONDS = 25 * 60.0
OBJECTIVE_MS = 2000.0


class RateSearch(LoadTestShape):
    """Users by the next rate of the strategy; ends, with the result on the terminal, when the strategy does."""

    def __init__(self) -> None:
        super().__init__()
        self._plan = Plan(first=RATE, lowest=RATE, tolerance=0.05, attempt_s=100, confirmation_s=160)
        self._history: list[Attempt] = []
        self._attempt: Measurement | None = None
        self._until = time.monotonic() + BUDGET_SECONDS

    def tick(self) -> tuple[int, float] | None:
        """Asked by Locust once a second."""
        if self._attempt and self._attempt.is_over():
            self._judge(self._attempt)
            self._attempt = None
        if self._attempt is None:
            step = next_step(self._plan, self._history, self._until - time.monotonic())
            if isinstance(step, Capacity) or self._is_known(step):
                print(f"by Locust: {capacity(self._plan, self._history)}")
                return None
            try:
                self._attempt = Measurement(step, is_long(step, self._history))
            except Busy as busy:
                print(f"by Locust: {capacity(self._plan, self._history)}, ended early: {busy}")
                return None
        users = self._attempt.users()
        return users, max(1.0, users / 2)

    def _is_known(self, step: Step) -> bool:
        """Whether bisection has come down to single users."""
        tried = {whole(attempt.rate) for attempt in self._history}
        return step.purpose == "bisect" and whole(step.rate) in tried

    def _judge(self, attempt: Measurement) -> None:
        verdict = judge(attempt.evidence())
        # What was tried are whole users, whatever rate the strategy wished.
        self._history.append(Attempt(attempt.rate, attempt.step.purpose, verdict.judgement, verdict.limited_by,
                                     attempt.long))
        print(f"{attempt.rate:>10,.0f}/s  {attempt.step.purpose:<12}{verdict.judgement}  {verdict.reason}")


class Measurement:
    """One rate: settle, measure, drain."""

    def __init__(self, step: Step, long: bool) -> None:
        """Raises Busy."""
        self.step, self.rate, self.long = step, whole(step.rate) * RATE, long
        self._counters = Counters(SETTINGS)
        self._counters.begin()
        self._first = math.ceil(time.time()) + SETTLE_SECONDS
        self._end = self._first + int(CONFIRMATION_SECONDS if long else MEASURE_SECONDS)
        self._pushed = PUSHED.accepted
        self._samples: list[Sample] = []
        self._evidence: Evidence | None = None
        self._task = gevent.spawn(self._measure)

    def users(self) -> int:
        """None of them while it drains."""
        return whole(self.step.rate) if time.time() < self._end else 0

    def is_over(self) -> bool:
        """Raises what went wrong meanwhile."""
        if self._task.ready():
            self._task.get()
        return self._evidence is not None

    def evidence(self) -> Evidence:
        assert self._evidence is not None
        return self._evidence

    def _measure(self) -> None:
        self._sample_until(self._first)
        began, host = PUSHED.on_schedule, host_cpu()
        self._sample_until(self._end)
        seconds = self._end - self._first
        offered = PUSHED.since(began, int(self.rate * seconds))
        idle, counted = idle_share(host, host_cpu()), len(self._samples)
        self._sample_until(self._end + DRAIN_SECONDS)
        judged = tuple(sample for sample in self._samples if 0 <= sample.at <= seconds)
        latencies = self._counters.latencies(self._first, self._end, 0)
        gone = drained(self._samples[counted:], seconds)
        self._counters.close()
        self._evidence = Evidence(self.rate, OBJECTIVE_MS, offered, idle, judged, latencies, gone)

    def _sample_until(self, end: float) -> None:
        while (now := time.time()) < end:
            since = self._counters.since()
            waiting = max(0, PUSHED.accepted - self._pushed - since[PUBLISHED]["total"])
            self._samples.append(Sample(now - self._first, {PUBLISHED: waiting, **backlogs(since)}))
            gevent.sleep(SAMPLE_SECONDS)


def whole(rate: float) -> int:
    """Users for a rate, one at least."""
    return max(1, round(rate / RATE))
