"""What a user reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import pytest

from cli.load.display import as_text, capacity_as_text, unquiet_as_text
from loadgen.judge.verdict import judge
from loadgen.report.result import Result, Spec
from tests.loadgen.judge.test_verdict import BLOCKED, GOOD


def result(**changed: Any) -> Result:
    evidence = replace(GOOD, **changed)
    return Result(
        spec=Spec(1000), started_at="2026-01-01T00:00:00+00:00", seconds=60, verdict=judge(evidence), evidence=evidence,
        samples=evidence.samples, completed_s={"published": 60.1, "enriched": None, "ranked": 61.0, "searchable": 62.0},
        cpu_seconds_per_1000={"spark/java": 0.25, "search": 0.125}, tweets=60_000, bytes_per_tweet=651.0,
        index_rows=80_000, reference_ms=21.5,
    )


def test_a_pass() -> None:
    text = click.unstyle(as_text(result()))
    for wanted in ("1,000 tweets/s (realistic, lean) for 60 s: pass\n", "p99 to ranked 1,200 ms", "0.375",
                   "651 bytes per tweet", "80,000 rows", "reference work 21.5 ms", "enriched never",
                   "60,000 of 60,000"):
        assert wanted in text
    assert "FAILS" not in text


def test_a_failure() -> None:
    text = click.unstyle(as_text(result(offered=BLOCKED)))
    assert "fail, limited by published" in text
    assert "offered   FAILS  83.33% of the tweets on schedule, the others met back-pressure in send" in text


def test_a_result_is_json() -> None:
    content = result().as_json()
    assert (content["verdict"], content["limited_by"], content["rate"]) == ("pass", None, 1000)
    assert content["conditions"]["backlog"]["holds"] is True
    assert len(content["backlog"]["at"]) == len(content["backlog"]["ranked"]) == len(GOOD.samples)
    assert content["peak_backlog"]["ranked"] > 500


def test_what_nobody_sees_is_unknown_and_not_zero() -> None:
    unseen = replace(result(), cpu_seconds_per_1000=None, restarted=None)
    text = click.unstyle(as_text(unseen))
    assert "unknown: each process is in a container of its own" in text
    assert "together" not in text
    assert (unseen.as_json()["cpu_seconds_per_1000"], unseen.as_json()["restarted"]) == (None, None)


KNOWN = {"highest_pass": 5000.0, "lowest_fail": 5200.0, "limited_by": "ranked", "confirmed": True, "converged": True}
TEXTS = {
    "capacity: [5,000, 5,200) tweets/s, converged, highest pass confirmed, limited by ranked": {},
    "capacity: [5,000, unknown) tweets/s, not converged, highest pass not confirmed": {
        "lowest_fail": None, "limited_by": None, "confirmed": False, "converged": False},
    "nothing passed; the lowest rate that failed is 5,200 tweets/s, limited by ranked": {"highest_pass": None},
    "nothing passed": {"highest_pass": None, "lowest_fail": None},
}


@pytest.mark.parametrize(("text", "changed"), TEXTS.items())
def test_capacity(text: str, changed: dict[str, Any]) -> None:
    assert capacity_as_text({**KNOWN, **changed}) == text


@pytest.mark.parametrize(("took", "said"), [
    ([], ""), ([20.0], ""), ([20.0, 21.9], ""), ([20.0, 21.0, 22.1], "the reference work took 20.0 to 22.1 ms"),
])  # fmt: skip
def test_a_machine_that_was_not_quiet(took: list[float], said: str) -> None:
    text = unquiet_as_text([{"reference_ms": each} for each in took] + [{"verdict": "broken"}])
    assert said in text
    assert bool(said) == bool(text)
