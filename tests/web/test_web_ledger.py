"""The ledger as the page reads it: what the process of that name has written, and no longer than it is fresh."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from flask.testing import FlaskClient
from redis import Redis

from common.settings import Settings
from common.telemetry import ledger
from tests.ledger import kept


def test_what_nobody_has_written_is_unknown(client: FlaskClient) -> None:
    body = client.get("/api/v1/ledger").json
    assert (body["state"], body["as_of"], body["since"], body["acknowledged"]) == ("unknown", None, None, None)
    assert [stage["name"] for stage in body["stages"]] == ["enriched", "ranked", "stored", "indexed"]
    assert {value for stage in body["stages"] for name, value in stage.items() if name != "name"} == {None}


def test_what_was_written_is_told(client: FlaskClient, settings: Settings, redis: Redis) -> None:
    written = kept()
    ledger.write(redis, settings.redis_prefix, written)
    body = client.get("/api/v1/ledger").json
    assert datetime.fromisoformat(body["as_of"]).timestamp() == pytest.approx(time.time(), abs=60)
    assert datetime.fromisoformat(body["since"]).timestamp() == 1_700_000_000
    assert {name: body[name] for name in body if name not in ("as_of", "since")} == {
        name: value for name, value in written.items() if name not in ("as_of_us", "since_us")
    }


def test_what_is_old_is_unknown_but_for_when_it_was_written(
    client: FlaskClient, settings: Settings, redis: Redis
) -> None:
    written = kept()
    assert written["as_of_us"]
    written["as_of_us"] -= int(ledger.FRESH_S * 1e6)
    ledger.write(redis, settings.redis_prefix, written)
    body = client.get("/api/v1/ledger").json
    assert (body["state"], body["acknowledged"]) == ("unknown", None)
    assert body["as_of"]


def test_without_redis_it_is_unavailable(lonely: FlaskClient) -> None:
    assert lonely.get("/api/v1/ledger").status_code == 503


def test_metrics(client: FlaskClient, settings: Settings, redis: Redis) -> None:
    def lines() -> list[str]:
        text = client.get("/metrics").text.splitlines()
        return [line for line in text if line.startswith("murmur_ledger_") and "in_flight" not in line]

    assert lines() == []
    ledger.write(redis, settings.redis_prefix, kept())
    told = [line for line in lines() if "enriched" in line or "acknowledged" in line]
    assert told == [
        "murmur_ledger_acknowledged 12345.0", 'murmur_ledger_lost{stage="enriched"} 0.0',
        'murmur_ledger_twice{stage="enriched"} 0.0', 'murmur_ledger_repeated{stage="enriched"} 1.0',
    ]
