"""The ledger of a whole instance: exact at rest, as the audit is; and it sees what is planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from common.tweets import ENRICHED
from ingest.manifest import ManifestWriter
from middleware.registry import connect, registry
from tests.stack import Stack, eventually

DEFAULT, *OTHERS = registry()

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]

TWEETS = 2000
AT_REST = {"in_flight": 0, "lost": 0, "twice": 0}


@pytest.fixture(scope="module", params=[DEFAULT, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def own(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Of its own: other tests leave differences behind."""
    instance = Stack("test-ledger", MURMUR_MIDDLEWARE=request.param)
    with instance.running():
        yield instance


def test_it_is_exact_as_the_audit_is_and_sees_what_is_planted(own: Stack) -> None:
    def once(what: str, wished: Callable[[dict[str, Any]], bool]) -> dict[str, dict[str, Any]]:
        found = eventually(what, lambda: (told := own.get("ledger")) and wished(told) and told, 120)
        return {stage["name"]: stage for stage in found["stages"]}

    def rests(ledger: dict[str, Any]) -> bool:
        return ledger["acknowledged"] >= TWEETS and all(stage["in_flight"] == 0 for stage in ledger["stages"])

    once("it is known that nothing is lost", lambda ledger: ledger["state"] == "exact")
    own.ingest("--source", "synthetic", "--rate", "500", "--limit", str(TWEETS), "--run", "a")
    stages = once("all has arrived", lambda ledger: rests(ledger) and ledger["state"] == "exact")
    assert stages == {
        name: {"name": name, "accounted": TWEETS, "repeated": 0, **AT_REST}
        for name in ("enriched", "ranked", "stored", "indexed")
    }
    own.audit_is_exact(TWEETS, 120)

    with connect(own.settings()) as middleware:
        with middleware.data.consumer(ENRICHED, "test-ledger", start="head") as consumer:
            (event,) = eventually("an event is read", lambda: consumer.poll(1, 1.0))
        with middleware.data.producer(ENRICHED) as producer:
            producer.send("", event)
            producer.flush()
    stages = once("the repeat is counted", lambda ledger: ledger["stages"][0]["repeated"] == 1)
    assert {name: stage["lost"] for name, stage in stages.items()} == dict.fromkeys(stages, 0)

    with ManifestWriter.create(own.settings(), "without-event", "test", {}) as manifest:
        manifest.acknowledged(1)
    stages = once("a tweet without event is lost", lambda ledger: ledger["state"] == "differs" and rests(ledger))
    assert {name: stage["lost"] for name, stage in stages.items()} == {**dict.fromkeys(stages, 0), "enriched": 1}
    assert "lost 1, twice 0, repeated 1" in own.murmur("status")
