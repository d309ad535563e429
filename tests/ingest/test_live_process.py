"""A live source in a process of its own that is killed, over a middleware in memory that outlives it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from ingest.manifest import read_manifests
from ingest.sources.live import identifier
from tests.ingest.over_memory import settings_in
from tests.ingest.over_memory_processes import KEPT
from tests.ingest.sources.jetstream import Jetstream, commit, cuts, did, fails, paced, rkey, sends
from tests.stack import ROOT, eventually

MODULE = "tests.ingest.over_memory_processes"
POSTS, EVERY = 5000, 50
"""One of so many is deleted right behind its successor."""


@contextmanager
def ingesting(hosts: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as said:
        process = subprocess.Popen([sys.executable, "-m", MODULE, hosts], cwd=ROOT, stdout=said, stderr=said)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def kept(home: Path) -> list[dict[str, Any]]:
    """The stream, but for a line that is being written."""
    *whole, _ = (home / KEPT).read_bytes().split(b"\n") if (home / KEPT).exists() else [b""]
    return [orjson.loads(line.partition(b" ")[2]) for line in whole]


def posts(events: list[dict[str, Any]]) -> Counter[str]:
    return Counter(event["data"]["id"] for event in events if "id" in event["data"])


def made() -> list[dict[str, Any]]:
    events = []
    for number in range(POSTS):
        events.append(commit(number))
        if number % EVERY == 1:
            events.append(commit(number - 1, "delete", time=events[-1]["time"]))
    return events


def test_every_post_is_in_the_stream_once_through_two_cuts_and_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME_OF_THE_TEST", str(tmp_path))
    ids = [identifier(did(number % 50), rkey(number)) for number in range(POSTS)]
    one = Jetstream(made(), paced(1000, cuts(0)), *[fails("Gone")] * 100)
    other = Jetstream(made(), paced(1000, sends(10)), paced(10**6, sends()), first_seq=90_000, ahead_s=2)
    log = tmp_path / "log"
    with one, other:
        hosts = f"{one.address},{other.address}"
        with ingesting(hosts, log):
            eventually("half of it is there", lambda: len(posts(kept(tmp_path))) > POSTS / 2)
        at_the_kill = len(posts(kept(tmp_path)))
        with ingesting(hosts, log) as process:
            eventually("all of it is there", lambda: len(posts(kept(tmp_path))) == POSTS)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0, log.read_text()
    assert POSTS / 2 < at_the_kill < POSTS
    events = kept(tmp_path)
    assert posts(events) == Counter(ids)
    places = {event["data"]["id"]: at for at, event in enumerate(events) if "id" in event["data"]}
    deleted = {event["data"]["delete"]["tweet"]["id"]: at for at, event in enumerate(events)
               if "delete" in event["data"]}
    assert sorted(deleted) == sorted(ids[::EVERY])
    assert all(places[post] < at for post, at in deleted.items())
    first, second = read_manifests(settings_in(tmp_path)).values()
    assert (first.finished, second.finished) == (True, True)
    assert (first.total or 0) + (second.total or 0) == len(events) == POSTS + POSTS // EVERY
    assert other.cursors[-1] == int(kept_position(events, first.run).split(" ")[1])


def test_of_two_that_are_started_at_once_one_takes_it_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_OF_THE_TEST", str(tmp_path))
    log = tmp_path / "log"
    with (Jetstream(map(commit, range(50))) as host, ingesting(host.address, log) as one,
          ingesting(host.address, log) as other):
        eventually("one of them ends", lambda: {one.poll(), other.poll()} - {None})
        refused, works = (one, other) if one.poll() is not None else (other, one)
        assert (refused.returncode, works.poll()) == (1, None)
        assert "takes in bluesky already" in log.read_text()
        eventually("the other has all", lambda: len(posts(kept(tmp_path))) == 50)
        works.send_signal(signal.SIGINT)
        assert works.wait(60) == 0
    assert set(posts(kept(tmp_path)).values()) == {1}


def kept_position(events: list[dict[str, Any]], run: str) -> str:
    """Of the last event of a run."""
    last = max((event["ingest"] for event in events if event["ingest"]["run"] == run), key=lambda stamp: stamp["seq"])
    return str(last["position"])
