"""The source in docs/sources.md: it is as short as the page says, and it runs."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from common.settings import Settings
from common.tweets import ENRICHED, RAW
from ingest.manifest import read_manifests
from ingest.sources.base import examine
from tests.ingest.over_memory import memory, settings_in
from tests.stack import ROOT
from tests.test_streams import check_enriched, check_flow

BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/sources.md").read_text(), re.DOTALL)


def test_a_first_source_has_twenty_lines() -> None:
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 20


def test_it_publishes_tweets_of_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in(tmp_path)
    middleware = memory(settings)
    monkeypatch.setattr(Settings, "load", lambda: settings)
    monkeypatch.setattr("middleware.registry.connect", lambda _: middleware)
    exec(compile("\n".join(BLOCKS), "docs/sources.md", "exec"), {"__name__": "documented"})
    events = middleware.events(RAW)
    assert len(events) == 3
    for event in events:
        stamped = orjson.loads(event)
        assert stamped["ingest"]["source"] == "load"
        assert check_flow(examine(orjson.dumps({"data": stamped["data"]}))).stream == ENRICHED
        outcome = check_enriched(event, stamped["ingest"]["sent_at_us"])
        assert (outcome.stream, outcome.late) == (ENRICHED, False)
        assert orjson.loads(outcome.event)["hashtags"] == ["load"]
    sent = sorted(orjson.loads(event)["ingest"]["sent_at_us"] for event in events)
    assert all(later - earlier >= 1_000_000 for earlier, later in pairwise(sent))
    assert read_manifests(settings)["load-1"].total == 3
