"""What is written and read, compressed and settled."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from common.settings import Settings
from ingest.archive.files import read
from ingest.archive.writing import Archive, compress, settle, settle_ended
from ingest.manifest import ManifestWriter
from ingest.resume import dead_runs
from tests.ingest.archive.runs import RUN, ended, files, going_on, lines, seqs, write
from tests.ingest.over_memory import eventually


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
    monkeypatch.setattr("ingest.archive.writing.compress", compress_and_stop)
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
    monkeypatch.setattr("ingest.archive.writing.TIDY_AGAIN_SECONDS", 0.01)
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
