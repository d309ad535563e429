"""Whatever comes in: each tweet is published, refused or rejected with its reason, and the next one goes on."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
import requests

from common.tweets import REJECTED
from ingest.sources.base import examine
from ingest.stamp import Stamper
from middleware.registry import connect
from spark_jobs.accept_or_reject import Rules, enrich_event
from tests.odd import payloads
from tests.stack import FUZZ_SECONDS, Stack

pytestmark = [
    pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900 + FUZZ_SECONDS), pytest.mark.every_middleware
]

SAMPLE, SAMPLE_SEED = 200, 20261124
TWEETS_PER_PUSH = 100
PUSHED_REASONS = {"not-json", "not-an-object", "invalid-utf8", "too-large"}
REJECTED_REASONS = {"missing-field", "wrong-type", "future"}


def test_a_sample_of_odd_tweets_comes_through_as_the_rules_say(stack: Stack, tmp_path: Path) -> None:
    """By replay, which leaves every judgement to *enrich*; what it makes of each is known beforehand."""
    sample = list(islice(payloads(SAMPLE_SEED), SAMPLE))
    file = tmp_path / "odd.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in sample))
    before = pids(stack)
    run = stack.ingest("--source", "replay", "--path", str(file))
    assert run["acknowledged"] == SAMPLE
    stages = stack.audit("--run", run["run"])
    assert {name: (s["missing"], s["duplicated"]) for name, s in stages.items()} == dict.fromkeys(stages, (0, 0))
    assert stages["enriched"]["rejected"] == sum(expected(stack, sample).values())
    assert reasons(stack, run["run"]) == expected(stack, sample)
    assert pids(stack) == before


def test_odd_tweets_for_long_stop_nothing(stack: Stack) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    before, odd = pids(stack), payloads(seed)
    refused: Counter[str] = Counter()
    distinct: set[int] = set()
    accepted = sent = 0
    until = time.monotonic() + FUZZ_SECONDS
    while time.monotonic() < until:
        lines = list(islice(odd, TWEETS_PER_PUSH))
        answer = push(stack, lines)
        distinct.update(map(hash, lines))
        accepted, sent = accepted + answer["accepted"], sent + TWEETS_PER_PUSH
        refused.update(line["reason"] for line in answer["refused"])
        assert answer["accepted"] + len(answer["refused"]) == TWEETS_PER_PUSH
    print(f"{sent} sent, {len(distinct)} of them distinct, {accepted} accepted; refused: {dict(refused)}")
    assert accepted >= 0.3 * sent
    assert set(refused) == PUSHED_REASONS
    runs = [run for run, manifest in stack.manifests().items() if manifest.source == "http"]
    for run in runs:
        stages = stack.audit("--run", run, timeout=120 + FUZZ_SECONDS)  # they have up to a hundred hashtags each
        assert {name: (s["missing"], s["duplicated"]) for name, s in stages.items()} == dict.fromkeys(stages, (0, 0))
    rejected = sum((reasons(stack, run) for run in runs), Counter())
    print(f"rejected: {dict(rejected)}")
    assert rejected.keys() >= REJECTED_REASONS
    assert pids(stack) == before


def push(stack: Stack, lines: list[bytes]) -> dict:
    answer = requests.post(f"{stack.url}/api/v1/tweets", data=b"\n".join(lines), timeout=60,
                           headers={"Authorization": f"Bearer {stack.settings().ingest_token}"})
    assert answer.status_code == 200, (answer.status_code, answer.text)
    return answer.json()


def expected(stack: Stack, sample: list[bytes]) -> Counter[str]:
    """By reason, how many of the sample are rejected."""
    settings, now_us = stack.settings(), time.time_ns() // 1000
    stamper = Stamper("replay", "expected", settings.max_event_bytes)
    rules = Rules(
        settings.max_event_bytes, settings.allowed_lateness_s, settings.future_tolerance_s, settings.max_hashtags
    )
    outcomes = (enrich_event(stamper.event(n, now_us, examine(line)), rules, now_us) for n, line in enumerate(sample))
    return Counter(outcome.reason for outcome in outcomes if outcome.reason)


def reasons(stack: Stack, run: str) -> Counter[str]:
    """Of the events of a run in `tweets-rejected`."""
    found: Counter[str] = Counter()
    with connect(stack.settings()) as middleware:
        end = middleware.data.end(REJECTED)
        with middleware.data.consumer(REJECTED, "test-odd", start="head") as consumer:
            while not consumer.has_reached(end):
                events = map(json.loads, consumer.poll(10_000, 0.5))
                found.update(event["reason"] for event in events if event["ingest"] and event["ingest"]["run"] == run)
        middleware.admin.forget_group(REJECTED, "test-odd")
    return found


def pids(stack: Stack) -> dict[str, list[int]]:
    return {name: found[:1] for name, found in stack.pids().items()}
