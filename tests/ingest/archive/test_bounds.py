"""What of the archive goes, and what of it stays."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.settings import Settings
from ingest.archive.bounds import held, prune, remove_source, watch
from ingest.archive.writing import Archive, settle_ended
from ingest.manifest import ManifestWriter
from ingest.resume import dead_runs
from tests.ingest.archive.runs import RUN, archived_bytes, ended, files, going_on, seqs, write
from tests.ingest.over_memory import eventually


def bounded(settings: Settings, max_bytes: int) -> Settings:
    return settings.model_copy(update={"archive_max_bytes": max_bytes})


def test_the_bound_takes_the_oldest_but_spares_what_is_not_acknowledged(settings: Settings) -> None:
    write(settings, 0, 100)
    names = files(settings)
    prune(bounded(settings, 0))
    assert files(settings) == names  # nobody says that any of it is acknowledged
    with going_on(settings, int(names[2].partition(".")[0])) as manifest:
        prune(bounded(settings, 0))
        assert files(settings) == names[2:]
        manifest.acknowledged(100)
        prune(bounded(settings, 0))
        assert files(settings) == names[-1:]


def test_ended_runs_go_whole(settings: Settings) -> None:
    for run in ("ended-1", "ended-2"):
        ended(settings, run, 20)
    with going_on(settings, 100):
        write(settings, 0, 100)
        prune(bounded(settings, 0))
        assert [folder.name for folder in settings.archive_dir.iterdir()] == [RUN]


def test_the_older_of_two_ended_runs_goes_first(settings: Settings) -> None:
    for run in ("ended-1", "ended-2"):
        ended(settings, run, 20)
    newer = sum(path.stat().st_size for path in (settings.archive_dir / "ended-2").iterdir())
    prune(bounded(settings, newer))
    assert [folder.name for folder in settings.archive_dir.iterdir()] == ["ended-2"]


def test_an_archive_within_its_bound_is_left_alone(settings: Settings) -> None:
    ended(settings, RUN)
    names = files(settings)
    prune(settings)
    assert files(settings) == names


def test_the_bound_holds_while_writing(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, archive_rotate_bytes=2000, archive_max_bytes=3000)
    for n in range(5):
        ended(settings, f"ended-{n}")
    with going_on(settings, 1000):
        write(settings, 0, 1000)
    assert archived_bytes(settings) <= 3000 + 2 * 2000


def test_the_bound_holds_where_nothing_can_be_compressed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk only removing makes the room that compressing needs."""
    def fail(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))
    for n in range(5):
        ended(settings, f"ended-{n}")
    assert archived_bytes(settings) > 3000
    monkeypatch.setattr("ingest.archive.writing.compress", fail)
    monkeypatch.setattr("ingest.archive.writing.TIDY_AGAIN_SECONDS", 0.01)
    archive = Archive(bounded(settings, 3000), RUN)
    assert eventually(lambda: archived_bytes(settings) <= 3000, 2)
    archive.close()


def test_several_may_keep_the_bound_at_once(settings: Settings) -> None:
    for n in range(20):
        ended(settings, f"ended-{n}", 30)
    failures: list[BaseException] = []

    def keep() -> None:
        try:
            prune(bounded(settings, 0))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=keep) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(settings.archive_dir.iterdir()) == []


@pytest.mark.parametrize("keep", [prune, lambda settings: settle_ended(settings, threading.Event())])
def test_a_run_that_somebody_removes_meanwhile_is_no_failure(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, keep: Callable[[Settings], None]
) -> None:
    ended(settings, "ended", 30)
    folder, names = settings.archive_dir / "ended", os.listdir

    def meanwhile(look: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def looking(path: Any) -> Any:
            if Path(path) == folder and folder.exists():
                for name in names(folder):
                    (folder / name).unlink()
                folder.rmdir()
            return look(path)

        return looking

    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, meanwhile(getattr(os, name)))
    keep(bounded(settings, 0))
    assert not folder.exists()


def test_it_says_what_it_holds(settings: Settings) -> None:
    assert (held(settings).holds, held(settings).oldest_at) == (0, None)
    write(settings, 0, 100)
    found = held(settings)
    assert found.holds == sum(path.stat().st_size for path in (settings.archive_dir / RUN).iterdir())
    assert (found.bound, found.unit, found.oldest_at) == (settings.archive_max_bytes, "bytes", 5e-6)


def of_source(settings: Settings, run: str, source: str, count: int = 100, finished: bool = True) -> ManifestWriter:
    """A run that was written and acknowledged; whoever has the writer has the run."""
    manifest = ManifestWriter.create(settings, run, source, {})
    write(settings, 0, count, run)
    manifest.acknowledged(count)
    if finished:
        manifest.finish()
        manifest.close()
    return manifest


def age(settings: Settings, hours: float, run: str) -> None:
    for path in (settings.archive_dir / run).iterdir():
        at = time.time() - hours * 3600
        os.utime(path, (at, at))


def runs(settings: Settings) -> set[str]:
    return {folder.name for folder in settings.archive_dir.iterdir()}


def test_what_live_sources_sent_goes_after_a_day_and_nothing_else_does(settings: Settings) -> None:
    for source in ("bluesky", "wikimedia", "x", "synthetic", "http"):
        of_source(settings, source, source)
        of_source(settings, f"{source}-new", source)
        age(settings, 24, source)
        age(settings, 22, f"{source}-new")
    prune(settings)
    assert runs(settings) == {
        "bluesky-new", "wikimedia-new", "x-new", "synthetic", "synthetic-new", "http", "http-new"}
    prune(settings.model_copy(update={"live_archive_kept_h": 2}))
    assert runs(settings) == {"synthetic", "synthetic-new", "http", "http-new"}


def test_compressing_makes_no_file_younger(settings: Settings) -> None:
    of_source(settings, "bluesky", "bluesky")
    age(settings, 30, "bluesky")
    settle_ended(settings, threading.Event())
    assert all(path.name.endswith(".zst") for path in (settings.archive_dir / "bluesky").iterdir())
    prune(settings)
    assert runs(settings) == set()


def test_age_spares_what_is_not_acknowledged_and_takes_the_newest_file_that_is(settings: Settings) -> None:
    """Of a run whose process is gone, or that has been silent for so long."""
    with of_source(settings, "dead", "bluesky", finished=False) as manifest:
        names = sorted(path.name for path in (settings.archive_dir / "dead").iterdir())
        manifest.acknowledged(99)
        age(settings, 30, "dead")
        prune(settings)
        assert [path.name for path in (settings.archive_dir / "dead").iterdir()] == names[-1:]
        manifest.acknowledged(100)
        prune(settings)
        assert runs(settings) == set()


def test_somebody_looks_for_what_is_too_old_though_nobody_writes(settings: Settings) -> None:
    of_source(settings, "bluesky", "bluesky")
    age(settings, 30, "bluesky")
    watch(settings)
    assert eventually(lambda: not runs(settings))


def test_a_source_can_be_removed_whole_but_for_what_a_living_run_writes(settings: Settings) -> None:
    of_source(settings, "ended", "bluesky")
    of_source(settings, "other", "http")
    of_source(settings, "dead", "bluesky", finished=False).close()
    with of_source(settings, "alive", "bluesky", finished=False):
        newest = sorted(path.name for path in (settings.archive_dir / "alive").iterdir())[-1]
        before = archived_bytes(settings)
        removed = remove_source(settings, "bluesky")
        assert removed.going_on == ["alive"]
        assert removed.files > 3
        assert removed.bytes == before - archived_bytes(settings)
        assert runs(settings) == {"other", "alive"}
        assert [path.name for path in (settings.archive_dir / "alive").iterdir()] == [newest]
    assert remove_source(settings, "bluesky").going_on == []
    assert runs(settings) == {"other"}


def test_a_dead_run_whose_archive_was_removed_can_be_gone_on_with(settings: Settings) -> None:
    of_source(settings, RUN, "bluesky", finished=False).close()
    remove_source(settings, "bluesky")
    (writer,) = dead_runs(settings)
    with writer:
        assert (writer.manifest.acknowledged, seqs(settings)) == (100, [])
