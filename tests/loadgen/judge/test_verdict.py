"""One table of what can go wrong, and what must be named for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from audit.ledgers.run import Finding
from common.tweets import STAGES
from loadgen.judge.verdict import is_hopeless, judge, must_extend
from loadgen.observe.samples import Audited, Evidence, Latency, Offered, Sample, Unjudged

RATE = 1000.0
AUDITED = ("published", "enriched", "ranked", "stored", "indexed")


def samples(growth: Mapping[str, float] | None = None, seconds: float = 60, noise: float = 30, per_s: int = 4
            ) -> tuple[Sample, ...]:
    """`growth` in tweets/s, by stage."""
    random, growth = np.random.default_rng(1), growth or {}
    return tuple(
        Sample(n / per_s, {s: int(500 + growth.get(s, 0) * n / per_s + random.normal(0, noise)) for s in STAGES})
        for n in range(int(seconds * per_s) + 1)
    )


def latency(**p99: float | None) -> dict[str, Latency]:
    usual = {"published": 80.0, "enriched": 600.0, "ranked": 1200.0, "searchable": 900.0} | p99
    return {stage: Latency(60_000, 60_000, p99=value) for stage, value in usual.items()}


AUDIT = {stage: Audited(80_000, 0, 0) for stage in AUDITED}
KILLED = Unjudged("the process of the audit ended")
GOOD = Evidence(
    rate=RATE, objective_ms=2000, offered=Offered(60_000, 59_990, 0, 10), idle_cpu=0.3, samples=samples(),
    latency=latency(), drained_s=dict.fromkeys(STAGES, 1.5), audit=AUDIT,
)
BLOCKED, LATE = Offered(60_000, 50_000, 9_000, 1_000), Offered(60_000, 50_000, 0, 10_000)
GROWS = {"enriched": 100.0, "ranked": 105.0, "searchable": 103.0}
"""A slow stage passes its growth on to those behind it."""

LOST = {**AUDIT, "indexed": Audited(80_000, 3, 0)}

CASES = {
    "all is well": (GOOD, "pass", None, None),
    "just on schedule": (replace(GOOD, offered=Offered(1000, 990, 0, 10)), "pass", None, None),
    "held up in send": (replace(GOOD, offered=BLOCKED), "fail", "published", "offered"),
    "held up on a busy host": (replace(GOOD, offered=BLOCKED, idle_cpu=0), "fail", "published", "offered"),
    "a slow generator": (replace(GOOD, offered=LATE), "generator-limited", "generator", "offered"),
    "a slow generator makes latency look bad": (
        replace(GOOD, offered=LATE, latency=latency(published=9e3, ranked=9e3, searchable=9e3),
                samples=samples({"published": 90})), "generator-limited", "generator", "offered"),
    "a slow generator hides no loss": (replace(GOOD, offered=LATE, audit=LOST), "fail", "searchable", "audit"),
    "a slow generator hides no growing backlog": (
        replace(GOOD, offered=LATE, samples=samples(GROWS)), "fail", "enriched", "backlog"),
    "no idle CPU": (replace(GOOD, offered=LATE, idle_cpu=0.01), "host-saturated", "host", "offered"),
    "the first stage that grows": (replace(GOOD, samples=samples(GROWS)), "fail", "enriched", "backlog"),
    "only search grows": (replace(GOOD, samples=samples({"searchable": 50})), "fail", "searchable", "backlog"),
    "only ranking grows": (replace(GOOD, samples=samples({"ranked": 50})), "fail", "ranked", "backlog"),
    "publishing grows": (replace(GOOD, samples=samples({"published": 50})), "fail", "published", "backlog"),
    "growth below 1 %": (replace(GOOD, samples=samples({"searchable": 5})), "pass", None, None),
    "growth explains latency and loss": (
        replace(GOOD, samples=samples({"searchable": 50}), latency=latency(searchable=None), audit=LOST,
                drained_s={**GOOD.drained_s, "searchable": None}), "fail", "searchable", "backlog"),
    "still undecided after the extension": (
        replace(GOOD, samples=samples({"ranked": 10}, seconds=120)), "fail", "ranked", "backlog"),
    "late to ranked, by Spark": (
        replace(GOOD, latency=latency(enriched=1700, ranked=2100)), "fail", "enriched", "latency"),
    "late to ranked, by ranking": (replace(GOOD, latency=latency(ranked=5000)), "fail", "ranked", "latency"),
    "late to searchable": (replace(GOOD, latency=latency(searchable=2001)), "fail", "searchable", "latency"),
    "late from the beginning": (
        replace(GOOD, latency=latency(published=5e3, enriched=5.1e3, ranked=5.2e3, searchable=5.3e3)),
        "fail", "published", "latency"),
    "given up": (replace(GOOD, samples=samples(seconds=9), gave_up=True), "fail", "ranked", "latency"),
    "what never arrived is infinitely late": (
        replace(GOOD, latency=latency(searchable=None)), "fail", "searchable", "latency"),
    "nothing gets past Spark": (
        replace(GOOD, latency=latency(enriched=None, ranked=None, searchable=None)), "fail", "enriched", "latency"),
    "something is lost": (replace(GOOD, audit=LOST), "fail", "searchable", "audit"),
    "something is ranked twice": (
        replace(GOOD, audit={**AUDIT, "ranked": Audited(80_000, 0, 1)}), "fail", "ranked", "audit"),
    "it does not drain": (
        replace(GOOD, drained_s={**GOOD.drained_s, "ranked": None}), "fail", "ranked", "drain"),
    "a burst is not asked for a slope": (
        replace(GOOD, samples=samples(GROWS, seconds=10), is_burst=True), "pass", None, None),
    "a second has hardly a sample": (replace(GOOD, samples=samples(seconds=0), is_burst=True), "pass", None, None),
    "too few samples for a slope": (replace(GOOD, samples=samples(per_s=1)), "broken", None, "backlog"),
    "hardly a sample in a minute": (replace(GOOD, samples=samples(seconds=0)), "broken", None, "backlog"),
    "the audit was killed": (replace(GOOD, audit=KILLED), "broken", None, "audit"),
    "the audit of a burst was killed": (
        replace(GOOD, samples=samples(seconds=0), is_burst=True, audit=KILLED), "broken", None, "audit"),
    "no audit was asked for": (replace(GOOD, audit=None), "pass", None, None),
    "what failed for sure failed, without an audit too": (
        replace(GOOD, latency=latency(searchable=2001), audit=KILLED), "fail", "searchable", "latency"),
    "what aged out is no loss": (
        replace(GOOD, audit={**AUDIT, "stored": Audited(80_000, 0, 0, aged_out=70_000)}), "pass", None, None),
}


@pytest.mark.parametrize(("evidence", "judgement", "limited_by", "condition"), CASES.values(), ids=CASES)
def test_verdict(evidence: Evidence, judgement: str, limited_by: str | None, condition: str | None) -> None:
    verdict = judge(evidence)
    assert (verdict.judgement, verdict.limited_by, verdict.condition) == (judgement, limited_by, condition)
    assert bool(verdict.reason) is (judgement != "pass")
    assert list(verdict.findings) == ["offered", "backlog", "latency", "audit", "drain"]


def test_what_was_not_asked_is_told_from_what_could_not_be_judged() -> None:
    burst = judge(replace(GOOD, samples=samples(seconds=1), is_burst=True)).findings["backlog"]
    few = judge(replace(GOOD, samples=samples(seconds=60, per_s=1))).findings["backlog"]
    short = judge(replace(GOOD, samples=samples(seconds=59.5))).findings["backlog"]
    assert (burst.holds, burst.asked) == (None, False)
    assert "not asked" in burst.figure
    for finding in (few, short):
        assert (finding.holds, finding.asked) == (None, True)
        assert "120 over 60 s are needed" in finding.figure


def test_the_reason_of_what_is_broken_is_told() -> None:
    assert judge(replace(GOOD, audit=KILLED)).reason == "audit: not audited: the process of the audit ended"


def test_repeats_that_are_legitimate_are_told() -> None:
    verdict = judge(replace(GOOD, audit={**AUDIT, "enriched": Audited(80_000, 0, 0, repeated=12)}))
    assert verdict.judgement == "pass"
    assert "12 repeated" in verdict.findings["audit"].figure


def test_buckets_that_were_given_up_are_told() -> None:
    verdict = judge(replace(GOOD, audit={**AUDIT, "ranked": Audited(80_000, 0, 0, lost_buckets=((45, 50),))}))
    assert verdict.judgement == "pass"
    assert "ranked: 1 range(s) of buckets given up" in verdict.findings["audit"].figure


def test_what_an_audit_tells_of_a_stage_comes_to_the_verdict() -> None:
    stage = {"expected": 9, "missing": 1, "duplicated": 2, "aged_out": 3, "repeated": 4, "lost_to_retention": 5,
             "parked": 6, "lost_buckets": [[45, 50]]}
    assert vars(Audited.of({**stage, "found": 8, "hashtags_found": 7})) == stage
    assert Audited.of(Finding(9, 8, 1).as_json()) == Audited(9, 1, 0, lost_buckets=[])


@pytest.mark.parametrize(("growth", "extend"), [(0, False), (10, True), (50, False)])
def test_only_what_is_undecided_is_extended(growth: float, extend: bool) -> None:
    assert must_extend(samples({"ranked": growth}), RATE) is extend


def test_what_grows_for_sure_is_not_extended_for_the_rest() -> None:
    assert not must_extend(samples({"ranked": 10, "searchable": 50}), RATE)


def test_extending_decides() -> None:
    undecided = {"searchable": 9.0}
    assert must_extend(samples(undecided, noise=150), RATE)
    assert judge(replace(GOOD, samples=samples(undecided, seconds=120, noise=150))).judgement == "pass"


@pytest.mark.parametrize(("at", "backlog", "hopeless"), [
    (30, {"searchable": 14_100}, True),
    (30, {"searchable": 13_900}, False),
    (30, {"ranked": 8_000, "published": 6_100}, True),
    (30, {"searchable": 8_000, "ranked": 6_100}, False),  # the same tweets at two stages
    (13, {"searchable": 900_000}, False),  # most of them were scheduled before the interval
    (15, {"searchable": 900_000}, True),
    (-5, {"searchable": 900_000}, False),
])
def test_an_interval_is_hopeless_with_a_fifth_of_its_tweets_late(
    at: float, backlog: dict[str, int], hopeless: bool
) -> None:
    sample = Sample(at, dict.fromkeys(STAGES, 0) | backlog)
    assert is_hopeless(sample, RATE, 60, 2000) is hopeless
