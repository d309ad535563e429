"""Stores that reach their bounds: what aged out is told from what is lost, and an experiment from a failure.

Where a test takes something away, it does so behind the back of everything, and puts nothing back: each looks at a run
of its own.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator

import pytest

from search.index import Index
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(600)]

DATABASE_ROWS, INDEX_ROWS = 2000, 500
TWEETS = 5000


@pytest.fixture(scope="module")
def bounded() -> Iterator[Stack]:
    instance = Stack("test-bounds", MURMUR_DATABASE_MAX_ROWS=str(DATABASE_ROWS), MURMUR_INDEX_MAX_ROWS=str(INDEX_ROWS))
    with instance.running():
        yield instance


@pytest.fixture
def run(bounded: Stack) -> str:
    """More tweets than the stores hold, after some others."""
    bounded.ingest("--source", "synthetic", "--rate", "500", "--limit", "300")
    run = bounded.ingest("--source", "synthetic", "--rate", "1000", "--limit", str(TWEETS))["run"]
    stages = bounded.audit("--run", run)
    assert not any(stage["missing"] or stage["duplicated"] for stage in stages.values()), stages
    return run


def audited(stack: Stack, run: str) -> tuple[int, dict[str, dict]]:
    """Status and stages of an audit that does not wait for long."""
    process = stack.start("audit", "--run", run, "--timeout", "20", "--json")
    output, errors = process.communicate(timeout=60)
    assert output, errors
    return process.returncode, json.loads(output)["stages"]


def delete(stack: Stack, run: str, seq: int) -> None:
    with sqlite3.connect(stack.status()["database"]["path"], timeout=30) as database:
        database.execute("DELETE FROM tweets WHERE run = ? AND seq = ?", (run, seq))


def test_what_the_bounds_let_go_aged_out(bounded: Stack, run: str) -> None:
    status, stages = audited(bounded, run)
    assert status == 0
    assert stages["stored"]["aged_out"] == TWEETS - DATABASE_ROWS
    assert TWEETS - 2 * INDEX_ROWS <= stages["indexed"]["aged_out"] <= TWEETS - INDEX_ROWS
    del stages["ranked"]  # by buckets, which hold the tweets of other runs too
    assert {name: stage["found"] for name, stage in stages.items()} == dict.fromkeys(stages, TWEETS)


def test_a_row_taken_from_the_database_is_missing_by_its_number(bounded: Stack, run: str) -> None:
    taken = TWEETS - DATABASE_ROWS + 700
    delete(bounded, run, taken)
    status, stages = audited(bounded, run)
    assert (status, stages["stored"]["missing_seqs"]) == (1, [[run, taken, taken]])


def test_a_row_taken_from_the_index_is_missing_by_its_number(bounded: Stack, run: str) -> None:
    (tweet_id, position), = bounded.rows("SELECT tweet_id, position FROM tweets WHERE run = ? AND seq = ?", run,
                                         TWEETS - 10)
    index = Index.open(bounded.settings())
    index.delete(index.shard_of(position), [tweet_id])
    index.close()
    status, stages = audited(bounded, run)
    assert (status, stages["indexed"]["missing_seqs"]) == (1, [[run, TWEETS - 10, TWEETS - 10]])


def test_an_experiment_that_goes_beyond_the_bounds_has_lost_nothing(bounded: Stack) -> None:
    output = bounded.murmur("load", "run", "--rate", "600", "--seconds", "10", "--slo-ms", "60000", "--warm-up", "0",
                            "--json", timeout=400, check=False)
    found = json.loads(output.strip().splitlines()[-1])
    assert found["conditions"]["audit"]["holds"], found["reason"]
    assert found["audit"]["stored"]["aged_out"] == found["audit"]["stored"]["expected"] - DATABASE_ROWS
    assert found["audit"]["stored"]["missing"] == found["audit"]["indexed"]["missing"] == 0


def test_an_audit_beside_a_source_ends_and_judges_what_there_was(bounded: Stack, run: str) -> None:
    source = bounded.start("ingest", "--source", "synthetic", "--rate", "2000", "--run", f"beside-{run}")
    try:
        eventually("the source is at work", lambda: bounded.acknowledged(f"beside-{run}") > 0)
        process = bounded.start("audit", "--timeout", "60", "--json")
        try:
            output, errors = process.communicate(timeout=65)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    finally:
        source.terminate()
        source.communicate(timeout=60)
    assert process.returncode == 0, (output, errors)
    assert json.loads(output)["stages"]["published"]["expected"] >= TWEETS
