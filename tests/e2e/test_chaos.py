"""A series of failures on purpose, while tweets come in: all catch up from each, and nothing is missing or twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
import redis

from chaos.schedule import schedule
from common.telemetry.failures import FAILURES
from middleware.registry import registry
from tests.stack import Stack, eventually, has_caught_up

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(3600)]

SEED, RATE, SECONDS = 7, 50, 180


@pytest.fixture(params=registry())
def instance(request: pytest.FixtureRequest) -> Iterator[Stack]:
    instance = Stack(f"test-chaos-{request.param}", MURMUR_MIDDLEWARE=request.param)
    with instance.running():
        yield instance


def all_pass(stages: list[dict[str, Any]]) -> bool:
    return has_caught_up(stages) and all(stage["latency_ms"]["p95"] is not None for stage in stages)


def test_a_series_is_that_of_its_seed_and_loses_nothing(instance: Stack) -> None:
    with instance.source(RATE):
        eventually("tweets come through", lambda: all_pass(instance.get("pipeline")["stages"]), 300)
        words = ("--seed", str(SEED), "--for", f"{SECONDS}s", "--json")
        found = json.loads(instance.murmur("chaos", *words, timeout=2400))  # which ends well: the audit is exact
    stages, failures = found["audit"]["stages"], found["failures"]
    assert {name: (stage["missing"], stage["duplicated"]) for name, stage in stages.items()} == dict.fromkeys(
        ("published", "enriched", "ranked", "stored", "indexed"), (0, 0))
    assert stages["published"]["found"] > 0
    assert len(failures) > 1
    planned = [each.failure for each in islice(schedule(SEED, instance.pids()), len(failures))]
    assert [(one["what"], one["name"]) for one in failures] == [(one.what, one.name) for one in planned]
    assert [one for one in failures if "caught_up_after_s" not in one] == []
    assert [one for one in failures if one["what"] == "kill" and "back_after_s" not in one] == []
    assert sum(row["times"] for row in found["processes"]) == len(failures)
    settings = instance.settings()
    with redis.Redis.from_url(settings.redis_address) as client:
        kept = client.lrange(f"{settings.redis_prefix}{FAILURES}", 0, -1)
    assert all(one.pop("flows") and one.pop("recovered") for one in failures)
    assert [json.loads(record) for record in kept] == failures[::-1]
