"""`murmur ingest` of a live source, over a middleware in memory, and `murmur record`."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from cli import ingest as cli
from cli.ingest import Reporter
from cli.main import murmur
from common.settings import Settings
from common.tweets import RAW
from ingest.ingester import Progress
from ingest.manifest import ManifestWriter, read_manifests
from ingest.publisher import Publisher
from ingest.sources.base import examine
from ingest.sources.bluesky import Position
from tests.ingest.over_memory import memory, settings_in
from tests.ingest.sources.jetstream import BEGAN, Jetstream, commit, post
from tests.memory import Memory


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """A command takes them for itself."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def host() -> Iterator[Jetstream]:
    with Jetstream(map(commit, range(300))) as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path, host: Jetstream, monkeypatch: pytest.MonkeyPatch) -> Settings:
    made = settings_in(tmp_path, bluesky_hosts=host.address)
    monkeypatch.setattr(cli.options, "known", lambda _: made)
    return made


@pytest.fixture
def middleware(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Memory:
    made = memory(settings)
    monkeypatch.setattr(cli, "connect", lambda _: made)
    return made


def ingest(*words: str) -> Result:
    return CliRunner().invoke(murmur, ["ingest", *words])


def ids(middleware: Memory) -> Counter[str]:
    return Counter(orjson.loads(event)["data"]["id"] for event in middleware.events(RAW))


def test_a_further_run_goes_on_where_the_last_one_ended(host: Jetstream, middleware: Memory) -> None:
    assert ingest("--source", "bluesky", "--limit", "100", "--run", "one").exit_code == 0
    result = ingest("--source", "bluesky", "--limit", "150", "--run", "two")
    assert result.exit_code == 0, result.output
    assert "run two: 150 tweets published" in result.output
    assert ids(middleware) == Counter(dict.fromkeys(ids(middleware), 1))
    assert len(ids(middleware)) == 250
    assert host.cursors == [None, 100]


def test_a_run_whose_process_died_is_published_first(settings: Settings, host: Jetstream, middleware: Memory) -> None:
    payload = examine(b'{"data":{"id":"5"}}')._replace(position=str(Position(host.address, 100, 1795770010000000)))
    with Publisher(settings, middleware, ManifestWriter.create(settings, "died", "bluesky", {})) as publisher:
        publisher.keep([5], [payload])
    assert middleware.events(RAW) == []
    result = ingest("--source", "bluesky", "--limit", "10", "--run", "next")
    assert result.exit_code == 0, result.output
    assert len(ids(middleware)) == 11
    assert ids(middleware)["5"] == 1
    assert host.cursors == [100]
    assert read_manifests(settings)["died"].finished


def test_it_does_not_go_on_behind_a_run_that_is_being_finished(settings: Settings, middleware: Memory) -> None:
    """By `murmur ingest --resume`."""
    with ManifestWriter.create(settings, "living", "bluesky", {}):
        result = ingest("--source", "bluesky")
    assert result.exit_code == 1
    assert "another process takes in or finishes the run living of bluesky" in result.output
    assert list(read_manifests(settings)) == ["living"]


@pytest.mark.parametrize("words", [
    ("--source", "bluesky", "--speed", "1"), ("--source", "replay", "--speed", "1", "--rate", "5", "file"),
    ("--source", "replay", "--speed", "0", "file"), ("--source", "bluesky", "file"),
])
def test_options_that_do_not_go_together_are_refused(words: tuple[str, ...], middleware: Memory) -> None:
    assert ingest(*words).exit_code == 2


def test_progress_tells_what_is_left_out(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "REPORT_SECONDS", 1e-9)
    report = Reporter(quiet=False)
    report(Progress(9, 7, 1, 0, False, {"repeated": 1200, "adult": 3, "updates": 0}))
    report(Progress(9, 7, 1, 0, False, {"repeated": 0}))
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("7 published  1 refused  left out: 1,200 repeated, 3 adult")
    assert second.endswith("1 refused")


def test_a_recording_is_its_owners_and_a_replay_takes_it(
    tmp_path: Path, host: Jetstream, middleware: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("MURMUR_BLUESKY_HOSTS", host.address)
    monkeypatch.delenv("MURMUR_SETTINGS", raising=False)
    host.events = [post(number, text=f"line\n{number}") for number in range(50)]
    out = tmp_path / "out.jsonl"
    words = ["record", "--source", "bluesky", "--minutes", "0.1", "--out", str(out)]
    result = CliRunner().invoke(murmur, words)
    assert result.exit_code == 0, result.output
    assert f"{out}: 50 events" in result.output
    assert out.stat().st_mode & 0o777 == 0o600
    again = CliRunner().invoke(murmur, words)
    assert again.exit_code == 1
    assert "there is a file" in again.output
    assert ingest("--source", "replay", "--speed", "100", str(out)).exit_code == 0
    events = sorted(map(orjson.loads, middleware.events(RAW)), key=lambda event: event["ingest"]["seq"])
    assert [event["data"]["text"] for event in events] == [f"line\n{number}" for number in range(50)]
    assert {tuple(event["ingest"]) for event in events} == {("sent_at_us", "source", "run", "seq")}
    assert events[0]["data"]["created_at"] == BEGAN.isoformat(timespec="milliseconds").replace("+00:00", "Z")
