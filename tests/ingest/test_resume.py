"""An ingester process that is killed loses nothing, and its successor repeats nothing."""

from __future__ import annotations

import gzip
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from consumers.runner import Retry
from deploy.local.middlewares import deployment
from ingest.manifest import Manifest, ManifestWriter, read_manifests
from tests.conformance.servers import Servers
from tests.ingest.reading import published
from tests.stack import eventually

pytestmark = [pytest.mark.server, pytest.mark.timeout(240)]


def manifest(servers: Servers, run: str) -> Manifest:
    return read_manifests(servers.settings())[run]


def kill_at(servers: Servers, run: str, acknowledged: int, *words: str) -> None:
    """Starts an ingester and kills it once so many events are acknowledged."""
    ingester = servers.start("ingest", "--run", run, *words)
    try:
        eventually("it publishes", lambda: run in read_manifests(servers.settings())
                   and manifest(servers, run).acknowledged >= acknowledged)
    finally:
        ingester.kill()
        ingester.communicate()
    assert not manifest(servers, run).finished


def assert_each_once(servers: Servers, run: str, count: int) -> list[dict]:
    # As every consumer does: who looks for a server that was killed may do so a little longer than a writer.
    events = Retry(threading.Event())("reading it back", lambda: published(servers.settings(), run))
    assert Counter(event["ingest"]["seq"] for event in events) == Counter(range(count))
    assert (manifest(servers, run).finished, manifest(servers, run).total) == (True, count)
    return events


@pytest.mark.slow
def test_a_synthetic_run_goes_on_to_its_limit(servers: Servers) -> None:
    kill_at(servers, "killed", 1500, "--source", "synthetic", "--rate", "1000", "--limit", "4000")
    assert servers.ingest("--resume")["acknowledged"] == 4000
    events = assert_each_once(servers, "killed", 4000)
    assert len({event["data"]["id"] for event in events}) == 4000


def test_a_run_killed_twice(servers: Servers) -> None:
    kill_at(servers, "twice", 500, "--source", "synthetic", "--rate", "1000", "--limit", "3000")
    resuming = servers.start("ingest", "--resume")
    eventually("it goes on", lambda: manifest(servers, "twice").acknowledged >= 1200)
    resuming.kill()
    resuming.communicate()
    assert servers.ingest("--resume")["acknowledged"] == 3000
    assert_each_once(servers, "twice", 3000)


@pytest.mark.slow
def test_a_replay_goes_on_behind_the_lines_done(servers: Servers, tmp_path: Path) -> None:
    file = tmp_path / "tweets.jsonl.gz"
    lines = [b'{"data":{"id":"%d","text":"t"}}' % n if n % 10 else b"bad %d" % n for n in range(3000)]
    file.write_bytes(gzip.compress(b"\n\n".join(lines)))
    kill_at(servers, "replayed", 800, "--source", "replay", "--rate", "500", "--path", str(file), "--timestamps", "now")
    result = servers.ingest("--resume")
    assert (result["acknowledged"], result["run"]) == (3000, "replayed")
    events = sorted(assert_each_once(servers, "replayed", 3000), key=lambda event: event["ingest"]["seq"])
    assert [event["data"]["id"] if "data" in event else None for event in events] == [
        str(n) if n % 10 else None for n in range(3000)]


@pytest.mark.slow
def test_what_was_not_archived_is_not_missed_and_what_was_published_not_repeated(servers: Servers) -> None:
    """The manifest forgot what was acknowledged last: those events are in the stream already."""
    kill_at(servers, "forgetful", 1000, "--source", "synthetic", "--rate", "1000", "--limit", "2000")
    writer = ManifestWriter.reopen(servers.settings(), "forgetful")
    assert writer
    with writer:
        writer.acknowledged(100)
    assert servers.ingest("--resume")["acknowledged"] == 2000
    assert_each_once(servers, "forgetful", 2000)


def test_a_run_that_lives_is_left_alone(servers: Servers) -> None:
    ingester = servers.start("ingest", "--source", "synthetic", "--rate", "50", "--run", "alive")
    try:
        eventually("it publishes", lambda: "alive" in read_manifests(servers.settings())
                   and manifest(servers, "alive").acknowledged > 0)
        assert servers.ingest("--resume")["run"] == ""
        ingester.send_signal(signal.SIGTERM)
        output, errors = ingester.communicate(timeout=30)
    finally:
        ingester.kill()
    assert ingester.returncode == 0, errors
    assert_each_once(servers, "alive", manifest(servers, "alive").acknowledged)
    assert "alive" in output


@pytest.mark.slow
def test_a_server_killed_meanwhile_is_waited_for(servers: Servers) -> None:
    ingester = servers.start("ingest", "--source", "synthetic", "--rate", "1000", "--limit", "4000", "--run", "outage")
    try:
        eventually("it publishes", lambda: "outage" in read_manifests(servers.settings())
                   and manifest(servers, "outage").acknowledged > 500)
        servers.kill(deployment(servers.settings().middleware).killed[0])
        _, errors = ingester.communicate(timeout=120)
    finally:
        ingester.kill()
    assert ingester.returncode == 0, errors
    assert_each_once(servers, "outage", 4000)
