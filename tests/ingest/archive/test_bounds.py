import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from common.settings import Settings
from ingest.archive import Archive, compress, held, prune, read, remove_source, settle, settle_ended, watch
from ingest.manifest import ManifestWriter
from ingest.resume import dead_runs
from ingest.sources.base import examine
from ingest.stamp import Stamper
from tests.ingest.over_memory import eventually

RUN = "run-1"
STAMPER = Stamper("synthetic", RUN, 1 << 20)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, archive_rotate_bytes=2000, archive_max_bytes=1 << 20)


def lines(first: int, count: int) -> list[bytes]:
    return [STAMPER.line(seq, 5, examine(b'{"data":{"id":"%d"}}' % seq)) for seq in range(first, first + count)]


def write(settings: Settings, first: int, count: int, run: str = RUN) -> None:
    archive = Archive(settings, run)
    for seq in range(first, first + count):
        archive.append(lines(seq, 1), seq)
    archive.close()


@contextmanager
def going_on(settings: Settings, acknowledged: int, run: str = RUN) -> Iterator[ManifestWriter]:
    with ManifestWriter.create(settings, run, "synthetic", {}) as manifest:
        manifest.acknowledged(acknowledged)
        yield manifest


def ended(settings: Settings, run: str, count: int = 100) -> None:
    """A run that was written and finished."""
    with going_on(settings, count, run) as manifest:
        write(settings, 0, count, run)
        manifest.finish()


def files(settings: Settings) -> list[str]:
    return sorted(path.name for path in (settings.archive_dir / RUN).iterdir())


def archived_bytes(settings: Settings) -> int:
    return held(settings).holds or 0


def seqs(settings: Settings, from_seq: int = 0) -> list[int]:
    return [entry.seq for entry in read(settings, RUN, from_seq)]


def test_everything_written_is_read_in_order(settings: Settings) -> None:
    write(settings, 0, 100)
    assert seqs(settings) == list(range(100))
    assert seqs(settings, 37) == list(range(37, 100))
    assert seqs(settings, 100) == []


def test_full_files_are_compressed_and_named_by_their_first_event(settings: Settings) -> None:
    archive = Archive(settings, RUN)
    for seq in range(100):
        archive.append(lines(seq, 1), seq)
    assert eventually(lambda: files(settings)[-2].endswith(".zst"))
    archive.close()
    names = files(settings)
    assert len(names) > 3
    assert [name.endswith(".zst") for name in names] == [True] * (len(names) - 1) + [False]
    assert names[0] == "000000000000.jsonl.zst"


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_last_line_is_passed_over_and_its_number_used_again(settings: Settings, cut: int) -> None:
    write(settings, 0, 10)
    last = settings.archive_dir / RUN / files(settings)[-1]
    last.write_bytes(last.read_bytes()[:-cut])
    assert seqs(settings) == list(range(9))
    write(settings, 9, 5)
    assert seqs(settings) == list(range(14))


def test_a_torn_first_line_leaves_nothing(settings: Settings) -> None:
    folder = settings.archive_dir / RUN
    folder.mkdir(parents=True)
    (folder / "000000000000.jsonl").write_bytes(b'{"ingest":{"sent')
    write(settings, 0, 3)
    assert seqs(settings) == [0, 1, 2]


def test_a_compression_that_was_cut_off_changes_nothing(settings: Settings) -> None:
    write(settings, 0, 10)
    plain = settings.archive_dir / RUN / "000000000000.jsonl"
    content = plain.read_bytes()
    compress(plain)
    plain.write_bytes(content)  # as if killed between the two steps
    (settings.archive_dir / RUN / "000000000000.partial").write_bytes(b"half")
    assert seqs(settings) == list(range(10))


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
    monkeypatch.setattr("ingest.archive.compress", fail)
    monkeypatch.setattr("ingest.archive.TIDY_AGAIN_SECONDS", 0.01)
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


def test_what_ended_runs_left_is_settled_at_the_next_start(settings: Settings) -> None:
    ended(settings, "ended-1")
    folder = settings.archive_dir / "ended-1"
    (folder / "000000000050.partial").write_bytes(b"half")
    assert any(path.suffix == ".jsonl" for path in folder.iterdir())
    with going_on(settings, 0, "alive") as alive:
        write(settings, 0, 10, "alive")
        alive.finish()
        settle_ended(settings, threading.Event())  # it is finished, and still in somebody's hands
        assert {path.suffix for path in (settings.archive_dir / "alive").iterdir()} == {".jsonl"}
    assert {path.suffix for path in folder.iterdir()} == {".zst"}
    assert [entry.seq for entry in read(settings, "ended-1", 0)] == list(range(100))


def test_settling_many_files_ends_when_it_is_to_stop(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as were left when there was no room to compress them."""
    folder, stop = settings.archive_dir / RUN, threading.Event()
    folder.mkdir(parents=True)
    for seq in range(5):
        (folder / f"{seq:012d}.jsonl").write_bytes(lines(seq, 1)[0])

    def compress_and_stop(path: Path) -> None:
        compress(path)
        stop.set()
    monkeypatch.setattr("ingest.archive.compress", compress_and_stop)
    settle(folder, stop)
    assert [path.suffix for path in sorted(folder.iterdir())] == [".zst"] + [".jsonl"] * 4


def test_runs_that_may_be_resumed_are_not_locked_meanwhile(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who resumes would take a run for alive whose lock is held, be it for a moment."""
    with going_on(settings, 10, "died"):
        write(settings, 0, 10, "died")
    ended(settings, "ended")
    seen: list[list[str]] = []
    claim = ManifestWriter.claim

    def look_beside(path: Path) -> ManifestWriter | None:
        writer = claim(path)
        monkeypatch.setattr(ManifestWriter, "claim", claim)
        runs = list(dead_runs(settings))
        seen.append([run.manifest.run for run in runs])
        for run in runs:
            run.close()
        monkeypatch.setattr(ManifestWriter, "claim", look_beside)
        return writer
    monkeypatch.setattr(ManifestWriter, "claim", look_beside)
    settle_ended(settings, threading.Event())
    assert seen == [["died"]]


def test_tidying_that_fails_is_tried_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.archive.TIDY_AGAIN_SECONDS", 0.01)
    blocked = settings.archive_dir / RUN / "000000000000.jsonl.zst"
    blocked.mkdir(parents=True)  # nothing can be renamed to that name
    archive = Archive(settings, RUN)
    for seq in range(100):
        archive.append(lines(seq, 1), seq)
    assert eventually(lambda: (settings.archive_dir / RUN / "000000000000.jsonl").exists())
    blocked.rmdir()
    assert eventually(lambda: blocked.is_file())
    archive.close()
    assert seqs(settings) == list(range(100))


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


def test_a_live_source_begins_another_file_in_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the oldest event of a file is not much older than the newest; even if the old file was removed."""
    roomy = settings.model_copy(update={"archive_rotate_bytes": 1 << 20})
    for source, expected in (("bluesky", 2), ("synthetic", 1)):
        archive = Archive(roomy, source, source)
        archive.append(lines(0, 1), 0)
        an_hour_later = time.time() + 3601
        with monkeypatch.context() as later:
            later.setattr(time, "time", lambda at=an_hour_later: at)
            archive.append(lines(1, 1), 1)
            archive.append(lines(2, 1), 2)
        archive.close()
        assert len(list((settings.archive_dir / source).iterdir())) == expected


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
