"""What is done before the server's own process begins, and how that is configured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from common.settings import Settings
from deploy.local import pulsar
from deploy.local.pulsar import server


def configured(**given: object) -> dict[str, str]:
    """What the server reads; in a folder that `given` names."""
    settings = Settings(middleware="pulsar", **given)  # type: ignore[arg-type]
    pulsar.render_configuration(settings)
    lines = pulsar.configuration(settings).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_a_server_that_has_lost_its_folder_does_not_begin_anew_by_itself(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, middleware="pulsar")
    (pulsar.folder(settings) / "metadata").mkdir(parents=True)
    server.require_folder(settings)
    shutil.rmtree(pulsar.folder(settings))
    with pytest.raises(SystemExit, match="murmur down --wipe --instance default"):
        server.require_folder(settings)


def test_the_rest_of_a_beginning_that_was_killed_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bookie is a process that tells that it is there, and what it was ended by."""
    settings = Settings(home=tmp_path, middleware="pulsar")
    rest = pulsar.folder(settings) / "bookkeeper" / "current" / "VERSION"
    rest.parent.mkdir(parents=True)
    rest.touch()
    ended = pulsar.folder(settings) / "ended"
    begin = ("bash", "-c", f"trap 'touch {ended}; exit' TERM; echo \"New bookie 'one' has been created.\"; "
                           "while true; do sleep 0.05; done")
    monkeypatch.setattr(server, "java", lambda *arguments, **options: begin)
    server.format_folder(settings)
    assert not rest.exists()
    assert ended.exists(), "in an orderly way"
    assert server.formatted(settings).exists()


@pytest.mark.parametrize("command", [("false",), ("sleep", "60")])
def test_a_bookie_that_ends_or_hangs_is_no_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    settings = Settings(home=tmp_path, middleware="pulsar")
    monkeypatch.setattr(server, "java", lambda *arguments, **options: command)
    monkeypatch.setattr(server, "BOOKIE_SECONDS", 0.5)
    with pytest.raises(SystemExit, match="did not begin"):
        server.format_folder(settings)
    assert not server.formatted(settings).exists()


@pytest.mark.parametrize(("durability", "synced"), [("fsync", "true"), ("page-cache", "false")])
def test_durability_decides_whether_the_journal_is_synced(tmp_path: Path, durability: str, synced: str) -> None:
    """It is written in either class."""
    found = configured(home=tmp_path, durability=durability)
    assert (found["journalWriteData"], found["journalSyncData"]) == ("true", synced)


def test_it_listens_on_loopback_and_is_found_by_its_name_in_a_container(tmp_path: Path) -> None:
    alone = configured(home=tmp_path)
    assert "0.0.0.0" not in alone.values()
    assert (alone["bindAddress"], alone["advertisedAddress"]) == ("127.0.0.1", "127.0.0.1")
    container = configured(home=tmp_path, bind_address="0.0.0.0", service_hosts=True)
    assert (container["bindAddress"], container["advertisedAddress"]) == ("0.0.0.0", "broker")
    for found in (alone, container):  # the broker is the bookie's only client
        assert found["listeningInterface"] == "lo"


@pytest.mark.parametrize(("given", "mib"), [
    ({}, "16"), ({"stream_retention_bytes": 64 << 20}, "8"), ({"stream_retention_bytes": 1}, "1"),
    ({"stream_retention_bytes": 64 << 20, "partitions": 4}, "2"),
])
def test_ledgers_are_small_where_little_is_kept(tmp_path: Path, given: dict[str, int], mib: str) -> None:
    assert configured(home=tmp_path, **given)["managedLedgerMaxSizePerLedgerMbytes"] == mib


@pytest.mark.parametrize("largest", [1 << 20, 32 << 20])
def test_the_largest_event_fits_with_its_key_through_broker_and_bookie(tmp_path: Path, largest: int) -> None:
    found = configured(home=tmp_path, max_event_bytes=largest)
    assert int(found["maxMessageSize"]) >= largest + (64 << 10)
    assert int(found["nettyMaxFrameSizeBytes"]) > int(found["maxMessageSize"])
