from dataclasses import replace
from pathlib import Path

import pytest

from common.settings import Settings
from ingest.manifest import (
    STATE_BYTES,
    ManifestWriter,
    RunExists,
    held,
    manifest_path,
    read_manifests,
    unreadable,
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path)


def test_what_is_written_is_read(settings: Settings) -> None:
    writer = ManifestWriter.create(settings, "run-1", "synthetic", {"seed": 3})
    writer.archived(20)
    writer.acknowledged(12)
    size = writer.path.stat().st_size
    found = read_manifests(settings)["run-1"]
    assert (found.source, found.options, found.archived, found.acknowledged) == ("synthetic", {"seed": 3}, 20, 12)
    assert (found.finished, found.total) == (False, None)
    writer.acknowledged(20)
    writer.finish()
    found = read_manifests(settings)["run-1"]
    assert (found.finished, found.total) == (True, 20)
    assert writer.path.stat().st_size == size


def test_a_living_run_is_not_reopened_and_a_dead_one_is(settings: Settings) -> None:
    writer = ManifestWriter.create(settings, "run-1", "synthetic", {})
    writer.acknowledged(5)
    assert ManifestWriter.reopen(settings, "run-1") is None
    writer.close()
    again = ManifestWriter.reopen(settings, "run-1")
    assert again is not None
    assert again.manifest.acknowledged == 5
    again.finish()
    again.close()
    assert ManifestWriter.reopen(settings, "run-1") is None


@pytest.mark.parametrize("torn", range(-2 * STATE_BYTES, 0, 7))
@pytest.mark.parametrize("noise", [b"\0", b"9"])
def test_what_was_on_disk_before_a_write_that_was_cut_off_holds(settings: Settings, torn: int, noise: bytes) -> None:
    """Whichever place of the file it spoilt, the state of the acknowledgement before is still there."""
    with ManifestWriter.create(settings, "run-1", "synthetic", {"seed": 3}) as writer:
        for count in (4, 5):
            writer.acknowledged(count)
    content = writer.path.read_bytes()
    place = len(content) + torn
    writer.path.write_bytes(content[:place] + noise + content[place + 1:])
    found = read_manifests(settings)["run-1"]
    assert found.acknowledged in (4, 5)
    reopened = ManifestWriter.reopen(settings, "run-1")
    assert reopened
    with reopened as again:
        assert again.manifest == found
        again.acknowledged(6)
        assert read_manifests(settings)["run-1"].acknowledged == 6
        again.acknowledged(7)
    assert read_manifests(settings)["run-1"] == replace(found, acknowledged=7)


def test_a_manifest_does_not_grow(settings: Settings) -> None:
    with ManifestWriter.create(settings, "run-1", "synthetic", {}) as writer:
        size = writer.path.stat().st_size
        for count in range(1000):
            writer.archived(count + 1)
            writer.acknowledged(count)
        assert writer.path.stat().st_size == size
        writer.acknowledged(1 << 62)
        writer.finish()
        assert writer.path.stat().st_size == size
    assert read_manifests(settings)["run-1"].total == 1 << 62


def finished(settings: Settings, run: str) -> None:
    with ManifestWriter.create(settings, run, "synthetic", {}) as writer:
        writer.finish()


def test_the_oldest_finished_runs_without_archive_are_forgotten(settings: Settings) -> None:
    settings = settings.model_copy(update={"manifests_max": 4})
    with ManifestWriter.create(settings, "alive", "synthetic", {}), \
            ManifestWriter.create(settings, "dead", "synthetic", {}):
        finished(settings, "archived")
        (settings.archive_dir / "archived").mkdir(parents=True)
        for n in range(3):
            finished(settings, f"run-{n}")
        assert list(read_manifests(settings)) == ["alive", "dead", "archived", "run-2"]
        assert (held(settings).holds, held(settings).bound) == (4, 4)
        assert held(settings).oldest_at == read_manifests(settings)["alive"].started_at_us / 1e6


def test_the_lock_ends_with_the_writer_whatever_happens(settings: Settings) -> None:
    with pytest.raises(RuntimeError), ManifestWriter.create(settings, "run-1", "synthetic", {}):
        raise RuntimeError
    again = ManifestWriter.reopen(settings, "run-1")
    assert again
    again.close()
    again.close()


def test_a_run_that_did_not_even_begin_is_none(settings: Settings) -> None:
    writer = ManifestWriter.create(settings, "run-1", "synthetic", {})
    writer.path.write_bytes(b'{"run": "ru')
    assert read_manifests(settings) == {}
    assert unreadable(settings, read_manifests(settings)) == []


def test_one_that_was_written_and_cannot_be_read_is_told_from_that(settings: Settings) -> None:
    finished(settings, "run-1")
    path = manifest_path(settings, "run-1")
    path.write_bytes(path.read_bytes().replace(b"#", b"?"))
    assert unreadable(settings, read_manifests(settings)) == [path]


def test_a_name_is_used_once(settings: Settings) -> None:
    ManifestWriter.create(settings, "run-1", "synthetic", {})
    with pytest.raises(RunExists, match="run-1"):
        ManifestWriter.create(settings, "run-1", "synthetic", {})


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x" * 65, 'q"', "a/b"])
def test_a_name_is_that_of_a_file(settings: Settings, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a run"):
        ManifestWriter.create(settings, name, "synthetic", {})
