"""Spark dies between writing a batch and noting that it did, and writes it again: a sink that is at least once does so.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from common.process import manager
from common.tweets import RAW
from middleware.registry import connect
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(600)]

TWEETS = 500


def forget_last_commit(checkpoint: Path) -> None:
    """As if Spark had been killed after the last batch was written: it plans the same batch and writes it again."""
    commits = checkpoint / "commits"
    last = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
    (commits / str(last)).unlink()
    (commits / f".{last}.crc").unlink(missing_ok=True)


@pytest.mark.every_middleware
def test_a_batch_that_spark_writes_twice_counts_once(stack: Stack) -> None:
    """Both queries repeat their last batch; nothing that a user sees changes. The audit calls it repeated, unless the
    sink is exactly once, which has it in the stream once."""
    settings = stack.settings()
    with connect(settings) as middleware:
        exactly_once = middleware.spark.binding(RAW).exactly_once
    run = stack.ingest("--source", "synthetic", "--rate", "5000", "--limit", str(TWEETS))["run"]
    first = stack.audit("--run", run)
    assert {name: (s["missing"], s["duplicated"]) for name, s in first.items()} == dict.fromkeys(first, (0, 0))
    ranking = Counter(stack.ranking())

    asked = manager.ask(settings, manager.ENDED_SECONDS)
    asked.stopProcess("spark")
    for query in ("enrich", "trending"):
        forget_last_commit(settings.checkpoint_dir / query)
    asked.startProcess("spark", False)
    ready = settings.state_dir / "spark.ready"
    eventually("Spark has run its batches again", ready.exists, 240)

    stages = stack.audit("--run", run)
    assert (stages["enriched"].get("repeated", 0) == 0) is exactly_once
    for name in stages:
        assert (stages[name]["missing"], stages[name]["duplicated"]) == (0, 0), name
    assert stages["ranked"]["found"] == TWEETS
    assert Counter(stack.ranking()) == ranking
