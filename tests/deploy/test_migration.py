"""State of format 1 is brought into today's: at once, once, and whole whenever it was cut off."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from common.settings import Settings
from deploy.local import migration, state
from ingest import manifest_format_1
from ingest.manifest import Manifest, ManifestWriter, read_manifests

HEAD: dict[str, Any] = {
    "source": "synthetic", "started_at_us": 1_790_000_000_000_000, "options": {"rate": 2000, "timestamps": "now"},
}


def migrate(settings: Settings) -> str | None:
    return migration.migrate(settings, manifest_format_1.renew)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of an instance that was made with three partitions."""
    found = Settings(home=tmp_path, instance="one", partitions=3)
    found.save()
    folder = found.state_dir
    (folder / "runs").mkdir(parents=True)
    for query in ("enrich", "trending"):
        (folder / "checkpoints" / query / "offsets").mkdir(parents=True)
        (folder / "checkpoints" / query / "offsets" / "0").write_text("v1\n")
    return Settings(home=tmp_path, instance="one")


def write(settings: Settings, run: str, *records: dict[str, object], torn: str = "") -> Path:
    """A manifest as format 1 has it: a line for the run, and one for each change."""
    path = settings.state_dir / "runs" / f"{run}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in ({"run": run, **HEAD}, *records)) + torn)
    os.utime(path, (HEAD["started_at_us"] / 1e6,) * 2)
    return path


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


def test_runs_are_known_as_they_were_and_can_be_resumed(settings: Settings) -> None:
    write(settings, "done", {"archived": 5}, {"acknowledged": 5}, {"finished": True, "total": 5})
    write(settings, "stuck", {"archived": 4}, {"acknowledged": 3}, {"archived": 9}, torn='{"acknowled')
    write(settings, "resumed", {"acknowledged": 3}, torn='{"arch\n{"archived": 7}\n')
    write(settings, "begun")
    (settings.state_dir / "runs" / "cut-off.jsonl").write_text('{"run": "cut')
    assert "4 manifests" in str(migrate(settings))
    found = read_manifests(settings)
    assert found == {
        "done": Manifest("done", **HEAD, archived=5, acknowledged=5, finished=True, total=5),
        "stuck": Manifest("stuck", **HEAD, archived=9, acknowledged=3),
        "resumed": Manifest("resumed", **HEAD, archived=7, acknowledged=3),
        "begun": Manifest("begun", **HEAD),
    }
    assert found["done"].changed_at_us == HEAD["started_at_us"]
    writer = ManifestWriter.reopen(settings, "stuck")
    assert writer
    with writer:
        writer.acknowledged(9)
    assert read_manifests(settings)["stuck"].acknowledged == 9


def test_trending_counts_anew_and_all_else_is_left_as_it_is(settings: Settings) -> None:
    (settings.state_dir / "tweets.db").write_bytes(b"SQLite")
    before = content(settings.state_dir)
    migrate(settings)
    gone = settings.checkpoint_dir / "trending" / "offsets" / "0"
    assert content(settings.state_dir) == {
        **{path: text for path, text in before.items() if path != gone},
        state.state_file(settings): state.state_file(settings).read_bytes(),
    }
    assert state.made_with(settings)["partitions"] == 3


def test_it_is_done_once(settings: Settings) -> None:
    assert migrate(settings)
    before = content(settings.state_dir)
    assert migrate(settings) is None
    assert content(settings.state_dir) == before


def test_there_is_nothing_to_do_for_a_new_instance(tmp_path: Path) -> None:
    assert migrate(Settings(home=tmp_path, instance="new")) is None
    assert content(tmp_path) == {}


class Killed(BaseException):
    """What nothing catches."""


def cut_off(*_: object, **__: object) -> None:
    raise Killed


@pytest.mark.parametrize("at", ["the second manifest", "the checkpoint", "the state"])
def test_cut_off_anywhere_it_is_done_again(settings: Settings, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    write(settings, "a", {"acknowledged": 5})
    write(settings, "b", {"acknowledged": 6})

    def half(path: Path, *_: object) -> None:
        (path / "offsets" / "0").unlink()
        raise Killed

    original = manifest_format_1.write_anew
    with monkeypatch.context() as patch:
        if at == "the second manifest":
            patch.setattr(
                manifest_format_1, "write_anew", lambda path: cut_off() if path.stem == "b" else original(path)
            )
        elif at == "the checkpoint":
            patch.setattr(shutil, "rmtree", half)
        else:
            patch.setattr(state, "record", cut_off)
        with pytest.raises(Killed):
            migrate(settings)
    assert migrate(settings)
    assert {run: found.acknowledged for run, found in read_manifests(settings).items()} == {"a": 5, "b": 6}
    assert not (settings.checkpoint_dir / "trending").exists()
    assert state.made_with(settings)["partitions"] == 3


@pytest.mark.parametrize("at", ["os.utime", "os.replace", "common.storage.files.sync_folder"])
def test_cut_off_while_a_manifest_is_written_its_age_is_kept(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    write(settings, "a", {"acknowledged": 5})
    with monkeypatch.context() as patch:
        patch.setattr(at, cut_off)
        with pytest.raises(Killed):
            migrate(settings)
    assert migrate(settings)
    found = read_manifests(settings)["a"]
    assert (found.acknowledged, found.changed_at_us) == (5, HEAD["started_at_us"])


@pytest.mark.parametrize("run", ["a", "b"])
def test_a_source_that_goes_on_is_named_and_nothing_is_touched(settings: Settings, run: str) -> None:
    for name in ("a", "b"):
        write(settings, name)
    with (settings.state_dir / "runs" / f"{run}.jsonl").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = content(settings.state_dir)
        with pytest.raises(manifest_format_1.RunGoesOn, match=f"run {run} goes on"):
            migrate(settings)
    assert content(settings.state_dir) == before


def test_what_its_streams_were_made_with_is_told_where_it_is_not_known(settings: Settings) -> None:
    """The last start was on another middleware, for which other settings may have been chosen."""
    Settings(home=settings.home, instance="one", middleware="kafka", partitions=3).save()
    told = migrate(settings)
    assert "partitions 1" in str(told)
    assert "database_url" in str(told)
    assert state.made_with(settings)["partitions"] == 1


def test_nothing_is_assumed_of_what_is_known(settings: Settings) -> None:
    assert "partitions" not in str(migrate(settings))
