"""Experiments on a running stack: what is slowed or paused on purpose is named for it.

Rates are low, so that every machine sustains them; the objective is high, so that latency decides nothing.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psutil
import pytest

from common.tweets import STAGES
from deploy.local.middlewares import deployment
from ingest.manifest import read_manifests, runs_dir
from tests.stack import Stack, eventually, standing_still

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

PATIENT = ("--slo-ms", "60000", "--settle", "10", "--warm-up", "15")


def load_run(stack: Stack, *words: str) -> dict[str, Any]:
    output = stack.murmur("load", "run", *PATIENT, *words, "--json", timeout=600, check=False)
    return json.loads(output.strip().splitlines()[-1])


def test_a_sustained_rate_passes_and_shows_where_its_time_goes(stack: Stack) -> None:
    found = load_run(stack, "--rate", "100", "--seconds", "60", "--users", "3")
    assert found["verdict"] == "pass", found["reason"]
    assert all(condition["holds"] for condition in found["conditions"].values())
    for stage in STAGES:
        latency = found["latency_ms"][stage]
        assert latency["arrived"] == latency["expected"] == 100 * found["seconds"], stage
        assert 0 < latency["p50"] <= latency["p99"] <= latency["longest"]
    used = found["cpu_seconds_per_1000"]
    assert {"spark/java", "spark/java/python", "search", "trending", "generator-0", "users"} <= set(used)
    assert 400 < found["bytes_per_tweet"] < 1500
    assert found["index_rows"] >= 6000
    assert found["locust"]["Aggregated"]["requests"] > 0
    assert found["locust"]["Aggregated"]["errors"] == {}
    assert found["environment"]["durability"] == "fsync"
    assert "ingest_token" not in json.dumps(found["environment"])


def data_of_experiments(stack: Stack) -> list[Path]:
    settings = stack.settings()
    return [path for folder in (settings.archive_dir, runs_dir(settings)) for path in folder.glob("load-*")]


def acknowledged(stack: Stack) -> int:
    """Tweets of the experiment that is going on; 100 are sent in a second, for 10 s before it is measured."""
    return sum(manifest.acknowledged for run, manifest in read_manifests(stack.settings()).items()
               if run.startswith("load-"))


def begun(stack: Stack, *words: str) -> subprocess.Popen[str]:
    """An experiment that sends tweets."""
    process = stack.start("load", "run", *PATIENT, "--warm-up", "0", "--rate", "100", "--seconds", "60", *words)
    eventually("it sends tweets or ends", lambda: process.poll() is not None or len(data_of_experiments(stack)) == 2,
               timeout=180)
    if process.poll() is not None:
        pytest.fail("".join(("the experiment ended before it sent anything: ", *process.communicate())))
    return process


def held_store(stack: Stack) -> AbstractContextManager[None]:
    store, *_ = deployment(stack.settings().middleware).killed
    return standing_still(stack.pids()[store])


def test_what_an_experiment_leaves_is_removed(stack: Stack) -> None:
    assert load_run(stack, "--rate", "100", "--seconds", "5")["tweets"] > 0
    assert not data_of_experiments(stack)


@pytest.mark.parametrize("asked_by", [signal.SIGINT, signal.SIGTERM])
def test_an_experiment_that_is_asked_to_end_leaves_nothing(stack: Stack, asked_by: signal.Signals) -> None:
    process = begun(stack)
    process.send_signal(asked_by)
    output, errors = process.communicate(timeout=10)
    assert (process.returncode, output) == (1, ""), errors
    assert not data_of_experiments(stack)


def test_an_experiment_is_interrupted_in_time_while_the_stream_store_is_held(stack: Stack) -> None:
    """Generators and audit wait within a client that does not hear."""
    process = begun(stack, "--users", "3")
    with held_store(stack):
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=10)
    assert (process.returncode, output) == (1, ""), errors
    assert not data_of_experiments(stack)


def test_an_experiment_whose_audit_is_killed_is_broken_and_no_pass(stack: Stack) -> None:
    process = begun(stack, "--json")
    eventually("the interval has begun", lambda: acknowledged(stack) > 1500)
    for child in psutil.Process(process.pid).children(recursive=True):
        if "audit.follow" in child.cmdline():
            child.kill()
    output, errors = process.communicate(timeout=600)
    found = json.loads(output.strip().splitlines()[-1])
    assert (found["verdict"], found["condition"], process.returncode) == ("broken", "audit", 3), (found, errors)
    assert "ended" in found["reason"]


def test_one_tweet_withheld_from_the_database_on_purpose_is_a_failure(stack: Stack) -> None:
    process = begun(stack, "--json")
    eventually("the interval has begun", lambda: acknowledged(stack) > 1500)
    newest = "SELECT run, seq FROM tweets WHERE run LIKE 'load-%' ORDER BY position DESC LIMIT 1 OFFSET 100"
    (run, seq), = eventually("tweets of it are stored", lambda: stack.rows(newest))
    with sqlite3.connect(stack.status()["database"]["path"], timeout=30) as database:
        database.execute("DELETE FROM tweets WHERE run = ? AND seq = ?", (run, seq))
    output, errors = process.communicate(timeout=600)
    found = json.loads(output.strip().splitlines()[-1])
    assert (found["verdict"], found["condition"], process.returncode) == ("fail", "audit", 1), (found, errors)
    assert found["audit"]["stored"]["missing"] == 1


def test_a_generator_slowed_on_purpose_is_named(stack: Stack) -> None:
    slowed = {"MURMUR_SLOW_STAGE": "generator", "MURMUR_SLOW_STAGE_US": "20000"}  # 50 tweets/s
    stack.environment.update(slowed)
    try:
        found = load_run(stack, "--rate", "100", "--seconds", "60")
    finally:
        for name in slowed:
            del stack.environment[name]
    assert (found["verdict"], found["limited_by"]) in (("generator-limited", "generator"), ("host-saturated", "host"))
    assert found["conditions"]["offered"]["detail"]["blocked"] < found["conditions"]["offered"]["detail"]["late"]


def test_a_paused_stream_store_is_a_failure_of_published(stack: Stack) -> None:
    process = begun(stack, "--json")
    eventually("the interval has begun", lambda: acknowledged(stack) > 1500)
    with held_store(stack):
        time.sleep(20)
    output, errors = process.communicate(timeout=600)
    found = json.loads(output.strip().splitlines()[-1])
    assert (found["verdict"], found["limited_by"]) == ("fail", "published"), (found["reason"], errors)


@pytest.fixture
def slow_search() -> Iterator[Stack]:
    """A stack whose search consumer takes 20 ms for each tweet."""
    instance = Stack("test-slow", MURMUR_SLOW_STAGE="searchable", MURMUR_SLOW_STAGE_US="20000")
    with instance.running():
        yield instance


def test_a_stage_slowed_on_purpose_is_named(slow_search: Stack, tmp_path: Path) -> None:
    """Also by a search, whose budget is over before it can converge."""
    output = slow_search.murmur(
        "load", "find-max", "--first", "80", "--budget", "5.5", "--slo-ms", "60000", "--settle", "5", "--warm-up", "5",
        "--out", str(tmp_path), "--json", timeout=800, check=False,
    )
    found = json.loads(output.strip().splitlines()[-1])
    assert not found["capacity"]["converged"]
    failed = [e for e in found["experiments"] if e["verdict"] == "fail"]
    assert failed
    assert {e["limited_by"] for e in failed} == {"searchable"}
    assert json.loads((tmp_path / "results.json").read_text()) == found
    assert "searchable" in (tmp_path / "report.html").read_text()
