from pathlib import Path

import pytest

from common.settings import Settings
from ingest.manifest import ManifestWriter, RunExists, read_manifests


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path)


def test_what_is_written_is_read(settings: Settings) -> None:
    writer = ManifestWriter.create(settings, "run-1", "synthetic", {"seed": 3})
    writer.archived(20)
    writer.acknowledged(12)
    found = read_manifests(settings)["run-1"]
    assert (found.source, found.options, found.archived, found.acknowledged) == ("synthetic", {"seed": 3}, 20, 12)
    assert (found.finished, found.total) == (False, None)
    writer.acknowledged(20)
    writer.finish()
    found = read_manifests(settings)["run-1"]
    assert (found.finished, found.total) == (True, 20)


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


@pytest.mark.parametrize("torn", [b"{", b'{"acknowledged": 9', b"\x00\x00"])
def test_a_torn_last_line_is_passed_over(settings: Settings, torn: bytes) -> None:
    writer = ManifestWriter.create(settings, "run-1", "synthetic", {})
    writer.acknowledged(5)
    writer.close()
    with writer.path.open("ab") as file:
        file.write(torn)
    assert read_manifests(settings)["run-1"].acknowledged == 5
    again = ManifestWriter.reopen(settings, "run-1")
    assert again is not None
    again.acknowledged(6)
    assert read_manifests(settings)["run-1"].acknowledged == 6


def test_a_run_that_did_not_even_begin_is_none(settings: Settings) -> None:
    writer = ManifestWriter.create(settings, "run-1", "synthetic", {})
    writer.path.write_bytes(b'{"run": "ru')
    assert read_manifests(settings) == {}


def test_a_name_is_used_once(settings: Settings) -> None:
    ManifestWriter.create(settings, "run-1", "synthetic", {})
    with pytest.raises(RunExists, match="run-1"):
        ManifestWriter.create(settings, "run-1", "synthetic", {})


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x" * 65, 'q"', "a/b"])
def test_a_name_is_that_of_a_file(settings: Settings, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a run"):
        ManifestWriter.create(settings, name, "synthetic", {})
